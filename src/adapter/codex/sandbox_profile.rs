//! Defines what codex's own sandbox lets commands write: one permission profile for each access.
//!
//! Codex protects `.git` by itself, but not this program's folder; a profile in its configuration can protect both.

use serde_json::Value;

use crate::adapter::{SessionSpec, TurnAccess};

/// The profile in which nothing can be written.
const READ_ONLY_PROFILE: &str = "agent-collab-before";
/// The profile in which the repository can be written, but not git's folder and this program's folder.
const WORKSPACE_PROFILE: &str = "agent-collab-execute";

/// Returns the name of the profile for an access.
pub(super) fn profile_name(access: TurnAccess) -> &'static str {
    match access {
        TurnAccess::ReadOnly => READ_ONLY_PROFILE,
        TurnAccess::Workspace => WORKSPACE_PROFILE,
    }
}

/// Returns the arguments that define both profiles and make the stricter one the default.
pub(super) fn profile_arguments(session: &SessionSpec) -> Vec<String> {
    let own =
        state_folder_in_repository(session).map(|own| format!(",{}=\"read\"", Value::from(own)));
    let own = own.unwrap_or_default();
    let hidden = session
        .hidden_folders
        .iter()
        .filter_map(|folder| folder.to_str());
    let hidden: String = hidden
        .map(|folder| format!(",{}=\"none\"", Value::from(folder)))
        .collect();
    let read = format!(r#"{{":root"="read"{hidden}}}"#);
    let write = format!(r#"{{":root"="read",":workspace_roots"={{"."="write"{own}}}{hidden}}}"#);
    let mut arguments = vec![
        "-c".to_owned(),
        format!("default_permissions={READ_ONLY_PROFILE:?}"),
    ];
    for (name, files) in [(READ_ONLY_PROFILE, read), (WORKSPACE_PROFILE, write)] {
        let files = format!("permissions.{name}.filesystem={files}");
        let network = format!("permissions.{name}.network={{enabled=false}}");
        arguments.extend(["-c".to_owned(), files, "-c".to_owned(), network]);
    }
    arguments
}

/// Returns this program's folder relative to the repository; `None` if it is elsewhere.
fn state_folder_in_repository(session: &SessionSpec) -> Option<&str> {
    let folder = session.staging.ancestors().nth(2)?;
    let below = folder.strip_prefix(&session.cwd).ok()?;
    below.to_str().filter(|below| !below.is_empty())
}
