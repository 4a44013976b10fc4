//! Checks that the settings codex says it follows are no weaker than what was asked.
//!
//! Refuses to repair them: a managed configuration of the user's may forbid what we ask for, and
//! then no prompt is sent.

use serde_json::Value;

use super::launch::{APPROVAL_POLICY, APPROVALS_REVIEWER};
use super::profile;
use super::wire::{Named, OpenedThread, Sandbox, Settings};
use crate::adapter::Access;

/// Checks a thread as it was opened: always read-only.
pub(super) fn check_opened(opened: &OpenedThread) -> Result<(), String> {
    check_approvals(&opened.approval_policy, &opened.approvals_reviewer)?;
    check_profile(opened.active_permission_profile.as_ref(), Access::ReadOnly)?;
    check_sandbox(&opened.sandbox, Access::ReadOnly)
}

/// Checks the settings of a running turn.
pub(super) fn check_running(settings: &Settings, access: Access) -> Result<(), String> {
    check_approvals(&settings.approval_policy, &settings.approvals_reviewer)?;
    check_profile(settings.active_permission_profile.as_ref(), access)?;
    check_sandbox(&settings.sandbox_policy, access)
}

/// The older words for a sandbox do not say that this program's folder is held; the profile's name does.
fn check_profile(active: Option<&Named>, access: Access) -> Result<(), String> {
    let wanted = profile::name(access);
    match active {
        Some(active) if active.id == wanted => Ok(()),
        Some(active) => Err(refusal("permission profile", wanted, &active.id)),
        None => Err(refusal("permission profile", wanted, &"none")),
    }
}

fn check_approvals(policy: &Value, reviewer: &Value) -> Result<(), String> {
    if policy != APPROVAL_POLICY {
        return Err(refusal("approval policy", APPROVAL_POLICY, policy));
    }
    if reviewer != APPROVALS_REVIEWER {
        return Err(refusal("approvals reviewer", APPROVALS_REVIEWER, reviewer));
    }
    Ok(())
}

fn check_sandbox(sandbox: &Sandbox, access: Access) -> Result<(), String> {
    let held = match (sandbox, access) {
        (Sandbox::ReadOnly { network_access }, Access::ReadOnly | Access::Workspace) => {
            !network_access
        }
        (
            Sandbox::WorkspaceWrite {
                writable_roots,
                network_access,
                exclude_tmpdir_env_var,
                exclude_slash_tmp,
            },
            Access::Workspace,
        ) => {
            let closed = !network_access && *exclude_tmpdir_env_var && *exclude_slash_tmp;
            closed && writable_roots.is_empty()
        }
        (Sandbox::WorkspaceWrite { .. }, Access::ReadOnly) | (Sandbox::Other, _) => false,
    };
    if held {
        return Ok(());
    }
    let wanted = match access {
        Access::ReadOnly => "read-only, no network",
        Access::Workspace => "the repository only, no temporary folders, no network",
    };
    Err(refusal("sandbox", wanted, &format!("{sandbox:?}")))
}

fn refusal(what: &str, wanted: &str, found: &impl std::fmt::Display) -> String {
    format!(
        "codex does not follow the {what} that was asked for ({wanted}) but {found}; look for a managed configuration (requirements.toml, managed_config.toml) that forbids it"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(policy: &str, sandbox: Value, access: Access, wanted: &str) {
        let settings: Settings = serde_json::from_value(json!({
            "approvalPolicy": policy,
            "approvalsReviewer": "user",
            "sandboxPolicy": sandbox,
            "activePermissionProfile": { "id": profile::name(access), "extends": null },
        }))
        .unwrap();
        let found = check_running(&settings, access);
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
        "look for a managed configuration (requirements.toml, managed_config.toml) that forbids it";

    #[test]
    fn what_was_asked_for_or_stricter_holds() {
        let read_only = json!({"type": "readOnly", "networkAccess": false});
        check("on-request", read_only.clone(), Access::ReadOnly, "held");
        check("on-request", read_only, Access::Workspace, "held");
        check(
            "on-request",
            workspace(json!([]), false),
            Access::Workspace,
            "held",
        );
    }

    #[test]
    fn another_approval_policy_is_refused() {
        for policy in ["never", "untrusted"] {
            check(
                policy,
                json!({"type": "readOnly"}),
                Access::ReadOnly,
                &format!(
                    "codex does not follow the approval policy that was asked for (on-request) but \"{policy}\"; {HINT}"
                ),
            );
        }
    }

    #[test]
    fn a_wider_sandbox_is_refused() {
        let read_only =
            "codex does not follow the sandbox that was asked for (read-only, no network) but";
        let workspace_only = "codex does not follow the sandbox that was asked for (the repository only, no temporary folders, no network) but";
        check(
            "on-request",
            json!({"type": "dangerFullAccess"}),
            Access::ReadOnly,
            &format!("{read_only} Other; {HINT}"),
        );
        check(
            "on-request",
            json!({"type": "readOnly", "networkAccess": true}),
            Access::ReadOnly,
            &format!("{read_only} ReadOnly {{ network_access: true }}; {HINT}"),
        );
        check(
            "on-request",
            workspace(json!(["/etc"]), false),
            Access::Workspace,
            &format!(
                "{workspace_only} WorkspaceWrite {{ writable_roots: [\"/etc\"], network_access: false, exclude_tmpdir_env_var: true, exclude_slash_tmp: true }}; {HINT}"
            ),
        );
    }
}
