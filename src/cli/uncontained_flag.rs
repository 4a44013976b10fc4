//! `--uncontained`: the flag that skips the questions about commands that no sandbox contains.

use clap::Args;

use crate::permission::UncontainedCommandPolicy;

/// Whether agents may work where nothing holds them.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct UncontainedArguments {
    /// If no sandbox can contain an agent, let rules, approvals and the mode decide its commands instead of asking
    /// you each time, and let root work in a repository of another user
    #[arg(long)]
    pub uncontained: bool,
}

impl UncontainedArguments {
    /// Returns the policy for commands that no sandbox contains.
    pub fn uncontained_commands(self) -> UncontainedCommandPolicy {
        if self.uncontained {
            UncontainedCommandPolicy::FollowRules
        } else {
            UncontainedCommandPolicy::AskEach
        }
    }
}
