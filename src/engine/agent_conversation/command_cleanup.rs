//! What a turn's commands left running is ended with the turn, before anybody looks at what it did.
//!
//! Refuses to know how processes are found.

use std::time::Duration;

use super::AgentConversation;
use crate::adapter::AdapterEvent;
use crate::process::{CliProcesses, RunningChild};

/// How long those may take after TERM.
const CLEANUP_GRACE: Duration = Duration::from_millis(500);

impl AgentConversation {
    /// Notes who is there before the turn's first call: the CLI answers for these.
    pub(super) async fn record_cli_servers(&mut self, event: &AdapterEvent) {
        let is_call = matches!(
            event,
            AdapterEvent::ApprovalRequested { .. }
                | AdapterEvent::HookApprovalRequested { .. }
                | AdapterEvent::ToolStarted { .. }
        );
        if !is_call || self.cli.is_some() || self.children.is_simulated() {
            return;
        }
        let Some(root) = self.child.as_ref().map(RunningChild::identity) else {
            return;
        };
        let look = tokio::task::spawn_blocking(move || CliProcesses::take_snapshot(root));
        self.cli = look.await.ok();
    }

    /// Ends what the turn's calls left running. Nothing is left to do where the CLI itself has ended: its whole family
    /// ends with it.
    pub(super) async fn terminate_commands(&mut self) {
        let (Some(cli), true) = (self.cli.take(), self.child.is_some()) else {
            return;
        };
        let alive = cli.terminate_leftover_commands(CLEANUP_GRACE).await;
        if !alive.is_empty() {
            tracing::warn!(?alive, "commands of a turn outlive it");
        }
    }
}
