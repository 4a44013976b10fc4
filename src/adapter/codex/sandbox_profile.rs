//! What codex's own sandbox lets commands write: a profile of this program's for each access.
//!
//! codex by itself keeps `.git` from being written, but not this program's folder; a profile of its configuration
//! can say so. Refuses to know what becomes of a call.

use serde_json::Value;

use crate::adapter::{SessionSpec, TurnAccess};

/// The profile in which nothing is written.
const READ_ONLY_PROFILE: &str = "agent-collab-before";
/// The profile in which the repository is, but not git's folder and this program's.
const WORKSPACE_PROFILE: &str = "agent-collab-execute";

/// The name of the profile for an access.
pub(super) fn profile_name(access: TurnAccess) -> &'static str {
    match access {
        TurnAccess::ReadOnly => READ_ONLY_PROFILE,
        TurnAccess::Workspace => WORKSPACE_PROFILE,
    }
}

/// The arguments that define both profiles, and make the stricter one count where nothing is said.
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

/// This program's folder below the repository; `None` where it lies elsewhere.
fn state_folder_in_repository(session: &SessionSpec) -> Option<&str> {
    let folder = session.staging.ancestors().nth(2)?;
    let below = folder.strip_prefix(&session.cwd).ok()?;
    below.to_str().filter(|below| !below.is_empty())
}
