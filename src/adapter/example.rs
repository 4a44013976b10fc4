//! Builds an example session for tests; each test changes what matters to it.

use std::collections::BTreeMap;

use super::{CliSpec, RepositoryTrust, SessionSpec};
use crate::domain::ids::SessionId;

impl SessionSpec {
    /// Returns a new conversation with this program in `/repo`, which the user does not trust.
    pub fn example(program: &str) -> Self {
        Self {
            session: SessionId::new("ses_1"),
            fresh_id: "11111111-1111-4111-8111-111111111111".to_owned(),
            external_id: None,
            cwd: "/repo".into(),
            staging: "/repo/.agent-collab/turns/ses_1".into(),
            cli: CliSpec {
                program: program.to_owned(),
                args: Vec::new(),
                env: BTreeMap::new(),
                model: None,
            },
            trust: RepositoryTrust::Untrusted,
            hook_command: None,
            tool_server: None,
            hidden_folders: Vec::new(),
        }
    }
}
