//! Checks that the settings reported by codex are no weaker than what was asked for.
//!
//! Weaker settings are not repaired, because a managed configuration may forbid what we ask for; then no prompt is
//! sent.

use serde_json::Value;

use super::app_server_protocol::{
    CodexObjectId, CodexSandboxPolicy, CodexThreadSettings, ThreadOpenResponse,
};
use super::launch_parameters::{APPROVAL_POLICY, APPROVALS_REVIEWER};
use super::sandbox_profile;
use crate::adapter::TurnAccess;

/// Checks the settings of a newly opened thread, which must be read-only.
pub(super) fn check_opened_thread(opened: &ThreadOpenResponse) -> Result<(), String> {
    check_approvals(&opened.approval_policy, &opened.approvals_reviewer)?;
    check_profile(
        opened.active_permission_profile.as_ref(),
        TurnAccess::ReadOnly,
    )?;
    check_sandbox(&opened.sandbox, TurnAccess::ReadOnly)
}

/// Checks the settings of a running turn.
pub(super) fn check_turn_settings(
    settings: &CodexThreadSettings,
    access: TurnAccess,
) -> Result<(), String> {
    check_approvals(&settings.approval_policy, &settings.approvals_reviewer)?;
    check_profile(settings.active_permission_profile.as_ref(), access)?;
    check_sandbox(&settings.sandbox_policy, access)
}

/// Checks the profile by its name: the older sandbox settings do not show whether this program's folder is protected.
fn check_profile(active: Option<&CodexObjectId>, access: TurnAccess) -> Result<(), String> {
    let wanted = sandbox_profile::profile_name(access);
    match active {
        Some(active) if active.id == wanted => Ok(()),
        Some(active) => Err(mismatch_message("permission profile", wanted, &active.id)),
        None => Err(mismatch_message("permission profile", wanted, &"none")),
    }
}

fn check_approvals(policy: &Value, reviewer: &Value) -> Result<(), String> {
    if policy != APPROVAL_POLICY {
        return Err(mismatch_message("approval policy", APPROVAL_POLICY, policy));
    }
    if reviewer != APPROVALS_REVIEWER {
        return Err(mismatch_message(
            "approvals reviewer",
            APPROVALS_REVIEWER,
            reviewer,
        ));
    }
    Ok(())
}

fn check_sandbox(sandbox: &CodexSandboxPolicy, access: TurnAccess) -> Result<(), String> {
    let held = match (sandbox, access) {
        (
            CodexSandboxPolicy::ReadOnly { network_access },
            TurnAccess::ReadOnly | TurnAccess::Workspace,
        ) => !network_access,
        (
            CodexSandboxPolicy::WorkspaceWrite {
                writable_roots,
                network_access,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
            },
            TurnAccess::Workspace,
        ) => {
            let closed = !network_access && *exclude_tmpdir_env_var && *exclude_slash_tmp;
            closed && writable_roots.is_empty()
        }
        (CodexSandboxPolicy::WorkspaceWrite { .. }, TurnAccess::ReadOnly)
        | (CodexSandboxPolicy::Other, _) => false,
    };
    if held {
        return Ok(());
    }
    let wanted = match access {
        TurnAccess::ReadOnly => "read-only, no network",
        TurnAccess::Workspace => "the repository only, no temporary folders, no network",
    };
    Err(mismatch_message("sandbox", wanted, &format!("{sandbox:?}")))
}

fn mismatch_message(what: &str, wanted: &str, found: &impl std::fmt::Display) -> String {
    format!(
        "codex ignores the requested {what} ({wanted}) and uses {found}; look for a managed configuration (requirements.toml, managed_config.toml) that forces it"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(policy: &str, sandbox: Value, access: TurnAccess, wanted: &str) {
        let settings: CodexThreadSettings = serde_json::from_value(json!({
            "approvalPolicy": policy,
            "approvalsReviewer": "user",
            "sandboxPolicy": sandbox,
            "activePermissionProfile": { "id": sandbox_profile::profile_name(access), "extends": null },
        }))
        .unwrap();
        let found = check_turn_settings(&settings, access);
        assert_eq!(
            found
                .as_ref()
                .map_or_else(|text| text.as_str(), |()| "held"),
            wanted
        );
    }

    fn workspace(roots: Value, network: bool) -> Value {
        json!({
            "type": "workspaceWrite",
            "writableRoots": roots,
            "networkAccess": network,
            "excludeTmpdirEnvVar": true,
            "excludeSlashTmp": true,
        })
    }

    const HINT: &str =
        "look for a managed configuration (requirements.toml, managed_config.toml) that forces it";

    #[test]
    fn what_was_asked_for_or_stricter_holds() {
        let read_only = json!({"type": "readOnly", "networkAccess": false});
        check(
            "on-request",
            read_only.clone(),
            TurnAccess::ReadOnly,
            "held",
        );
        check("on-request", read_only, TurnAccess::Workspace, "held");
        check(
            "on-request",
            workspace(json!([]), false),
            TurnAccess::Workspace,
            "held",
        );
    }

    #[test]
    fn another_approval_policy_is_refused() {
        for policy in ["never", "untrusted"] {
            check(
                policy,
                json!({"type": "readOnly"}),
                TurnAccess::ReadOnly,
                &format!(
                    "codex ignores the requested approval policy (on-request) and uses \"{policy}\"; {HINT}"
                ),
            );
        }
    }

    #[test]
    fn a_wider_sandbox_is_refused() {
        let read_only = "codex ignores the requested sandbox (read-only, no network) and uses";
        let workspace_only = "codex ignores the requested sandbox (the repository only, no temporary folders, no network) and uses";
        check(
            "on-request",
            json!({"type": "dangerFullAccess"}),
            TurnAccess::ReadOnly,
            &format!("{read_only} Other; {HINT}"),
        );
        check(
            "on-request",
            json!({"type": "readOnly", "networkAccess": true}),
            TurnAccess::ReadOnly,
            &format!("{read_only} ReadOnly {{ network_access: true }}; {HINT}"),
        );
        check(
            "on-request",
            workspace(json!(["/etc"]), false),
            TurnAccess::Workspace,
            &format!(
                "{workspace_only} WorkspaceWrite {{ writable_roots: [\"/etc\"], network_access: false, exclude_tmpdir_env_var: true, exclude_slash_tmp: true }}; {HINT}"
            ),
        );
    }
}
