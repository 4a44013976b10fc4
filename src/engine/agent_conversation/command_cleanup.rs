//! Stops the commands that a turn left running, before the turn's changes are checked.

use std::time::Duration;

use super::AgentConversation;
use crate::adapter::AdapterEvent;
use crate::process::{CliProcesses, RunningChild};

/// How long the commands may take to exit after SIGTERM.
const CLEANUP_GRACE: Duration = Duration::from_millis(500);

impl AgentConversation {
    /// Records the processes that exist before the turn's first call: they belong to the CLI and stay.
    pub(super) async fn record_cli_servers(&mut self, event: &AdapterEvent) {
        let is_call = matches!(
            event,
            AdapterEvent::ApprovalRequested(_) | AdapterEvent::ToolStarted { .. }
        );
        if !is_call || self.cli.is_some() || self.children.is_simulated() {
            return;
        }
        let Some(root) = self.child.as_ref().map(RunningChild::identity) else {
            return;
        };
        let turn_started_at = self.turn_started_at;
        let look =
            tokio::task::spawn_blocking(move || CliProcesses::take_snapshot(root, turn_started_at));
        self.cli = look.await.ok();
    }

    /// Stops what the turn's calls left running. There is nothing to do if the CLI itself has ended: its whole process
    /// tree ends with it.
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
