//! Starts a conversation's process: its sandbox, its hook's socket, and the retry when the start fails.

use tokio::time::Instant;

use super::hook_socket::HookSocket;
use super::{AgentConversation, ConversationEvent, HANDSHAKE_TIMEOUT};
use crate::adapter::{AdapterEvent, CliExit, TurnFailureKind};
use crate::process::{self, PRIVATE_TMPDIR, SpawnError, SpawnSpec, StopLadder};

impl AgentConversation {
    /// Starts the CLI; if that fails, the turn fails with a message that says what to do.
    pub(super) async fn launch_cli(&mut self) -> bool {
        if let Err(error) = self.start_hook_socket() {
            let message = format!("cannot create the socket for the CLI's requests: {error}");
            self.fail_turn(TurnFailureKind::Refused, message).await;
            return false;
        }
        let Some(ask) = &self.turn else {
            return false;
        };
        let launch = self.adapter.prepare_launch(&ask.session, &ask.turn);
        let contained = ask.sandbox.sandbox_spec(&launch, self.marker.run());
        let mut spec =
            SpawnSpec::new(launch.program, launch.cwd, self.marker.clone()).args(launch.args);
        spec.env = launch.env;
        spec.env_remove = launch.env_remove;
        if contained.is_some() {
            spec = spec.env("TMPDIR", PRIVATE_TMPDIR);
        }
        spec.sandbox.clone_from(&contained);
        self.sandbox = contained;
        self.process_lifetime = launch.lifetime;
        self.cli = None;
        match self.children.spawn(&spec).await {
            Ok(child) => {
                self.child = Some(child);
                self.ready = false;
                self.deadlines.handshake = Some(Instant::now() + HANDSHAKE_TIMEOUT);
                true
            }
            Err(error) => {
                let message = format!("{error}\nhint: {}", error.hint());
                // Too many processes or too little memory may pass; a missing program will not appear by itself.
                let kind = match error {
                    SpawnError::Refused { .. } => TurnFailureKind::Service,
                    _ => TurnFailureKind::Refused,
                };
                self.fail_turn(kind, message).await;
                false
            }
        }
    }

    /// Opens the socket for the CLI's hook and passes the hook's command to its session.
    fn start_hook_socket(&mut self) -> std::io::Result<()> {
        let traits = self.adapter.traits();
        let Some(ask) = &mut self.turn else {
            return Ok(());
        };
        if traits.hook_denial.is_none() || self.children.is_simulated() {
            return Ok(());
        }
        let hook = HookSocket::listen(self.marker.run())?;
        ask.session.hook_command = Some(hook.hook_command(traits.cli_name)?);
        self.hook = Some(hook);
        Ok(())
    }

    /// Stops the process and starts the turn again in a new conversation.
    pub(super) async fn relaunch_in_new_conversation(&mut self, lost: Option<String>) {
        if let Some(reason) = lost {
            self.send_event(ConversationEvent::Adapter(AdapterEvent::SessionLost {
                reason,
            }))
            .await;
            if let Some(ask) = &mut self.turn {
                ask.turn.prompt = format!("{}\n\n{}", ask.recovery, ask.turn.prompt);
            }
        }
        if let Some(ask) = &mut self.turn {
            ask.session.external_id = None;
            ask.session.fresh_id = uuid::Uuid::new_v4().to_string();
        }
        self.terminate_child(StopLadder::brief()).await;
        self.relaunch().await;
    }

    /// Starts the process again for the turn that it was started for.
    pub(super) async fn relaunch(&mut self) {
        if self.launch_cli().await {
            self.start_turn().await;
        }
    }

    /// Returns true if the process ended because its sandbox could not be set up, and another try may help: a
    /// socket of another program disappeared just when it was to be hidden.
    pub(super) fn may_retry_sandbox_setup(&self, exit: &process::ChildExit) -> bool {
        self.n_failed_setups + 1 < process::MAX_SANDBOX_SETUPS
            && exit.is_sandbox_setup_failure(self.sandbox.as_ref())
    }
}

/// Converts the exit of a child to the adapters' type.
pub(super) fn to_cli_exit(exit: process::ChildExit) -> CliExit {
    CliExit {
        code: exit.code,
        signal: exit.signal,
        stderr_tail: exit.stderr_tail,
    }
}
