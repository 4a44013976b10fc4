//! Handles commands from other processes: carries them out on a headless run, sends them to an instance, or applies
//! them to a stored run if no instance runs.
//!
//! The meaning of a command is defined by the screen, which turns it into events.

use std::path::Path;

use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::engine::{Engine, EngineError, EngineOutcome};
use crate::store::{InstanceLock, LockHolder, WorkdirLayout};
use crate::tui::{Action, Screen, ScreenSettings, check_remote_command};

use super::discussion_command::{self, is_discussion_request};
use super::ipc_socket::{self, IpcRequest, IpcServer, PendingIpcRequest};
use super::startup::{self, ExistingRun, LockedProject, RunCommitMode, StartError, StartOptions};
use super::task_command::{self, is_task_request};

/// The command input of a headless run.
#[derive(Debug, Default)]
pub struct RemoteControl {
    /// The socket; `None` if it does not listen.
    socket: Option<IpcServer>,
    /// Whether a command closed the gate, so that there is a user to open it again.
    paused: bool,
}

/// What a headless run does after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterCommand {
    Continue,
    Leave,
}

impl RemoteControl {
    /// Starts to listen; returns a notice for the user, if any.
    pub fn listen(&mut self, occupied: &LockedProject) -> Option<String> {
        let (killed, notice) = occupied.find_killed_instances();
        match IpcServer::listen(&occupied.layout, killed) {
            Ok(socket) => {
                self.socket = Some(socket);
                notice
            }
            Err(error) => Some(format!(
                "`agent-collab send` cannot reach this instance: {error}"
            )),
        }
    }

    pub async fn close(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
    }

    /// Waits for the next command. Cancel safe.
    pub async fn next_request(&mut self) -> PendingIpcRequest {
        ipc_socket::next_request_if_listening(&mut self.socket).await
    }

    /// Returns whether to wait at a question that no flag answers: the user who closed the gate opens it again.
    pub fn may_wait(&self, kind: &QuestionKind) -> bool {
        self.paused && matches!(kind, QuestionKind::Gate { .. })
    }

    /// Carries out a command on a headless run, and answers it.
    ///
    /// # Errors
    /// The run's log cannot be written.
    pub fn handle_request(
        &mut self,
        asked: PendingIpcRequest,
        engine: &mut Engine,
    ) -> Result<AfterCommand, EngineError> {
        if is_task_request(&asked.request) {
            task_command::handle_request(asked, Some(engine))?;
            return Ok(AfterCommand::Continue);
        }
        if is_discussion_request(&asked.request) {
            discussion_command::handle_request(asked, Some(engine))?;
            return Ok(AfterCommand::Continue);
        }
        let actions = match parse_actions(&asked.request, Some(engine.state())) {
            Ok(actions) => actions,
            Err(why) => {
                asked.reply(Err(why));
                return Ok(AfterCommand::Continue);
            }
        };
        for action in actions {
            match action {
                Action::Event(event) => {
                    if let Some(why) = input_blocker(engine) {
                        asked.reply(Err(why));
                        return Ok(AfterCommand::Continue);
                    }
                    if let Event::GateChanged { gate } = event {
                        self.paused = gate == Gate::Manual;
                    }
                    engine.apply_event(event)?;
                }
                Action::Quit(_) => {
                    asked.reply(Ok(()));
                    return Ok(AfterCommand::Leave);
                }
                _ => {
                    asked.reply(Err("only a run with a screen can do that".to_owned()));
                    return Ok(AfterCommand::Continue);
                }
            }
        }
        asked.reply(halt_reason(engine).map_or(Ok(()), Err));
        Ok(AfterCommand::Continue)
    }
}

/// Returns why a run accepts no events any more; `None` if it does.
fn input_blocker(engine: &Engine) -> Option<String> {
    match engine.outcome() {
        Some(EngineOutcome::Finished) => Some("the run is finished".to_owned()),
        Some(EngineOutcome::Halted(_)) | None => halt_reason(engine),
    }
}

/// Returns why a run cannot continue in this program; `None` if it can.
pub(super) fn halt_reason(engine: &Engine) -> Option<String> {
    match engine.outcome() {
        Some(EngineOutcome::Halted(reason)) => Some(format!("this run cannot continue: {reason}")),
        Some(EngineOutcome::Finished) | None => None,
    }
}

fn parse_actions(request: &IpcRequest, state: Option<&RunState>) -> Result<Vec<Action>, String> {
    let mut screen = Screen::new(ScreenSettings::default());
    screen.perform_remote_command(&request.command, &request.text, state)
}

/// Sends a command to the instance that runs in this directory. If none runs, stops or cancels the stored run under the
/// lock.
///
/// # Errors
/// The command was not carried out; the text says why and what to do.
pub async fn send_command(wishes: &StartOptions, request: &IpcRequest) -> Result<(), StartError> {
    let sent = (request.command.as_str(), request.text.as_str());
    check_remote_command(sent.0, sent.1)
        .map_err(|why| StartError::new(why, "`agent-collab send --help` lists them"))?;
    let found = startup::inspect_project(wishes).await?;
    let layout = startup::run_layout(&found.root, &found.loaded.config)?;
    match InstanceLock::read_holder(&layout)? {
        Some(held) => send_to_instance(&layout, held, request).await,
        None => apply_to_stored_run(&layout, found, wishes, request).await,
    }
}

async fn send_to_instance(
    layout: &WorkdirLayout,
    held: LockHolder,
    request: &IpcRequest,
) -> Result<(), StartError> {
    let answer = ipc_socket::send_to_lock_holder(layout, &held, request).await?;
    if answer.accepted {
        Ok(())
    } else {
        let why = answer.why.unwrap_or_else(|| "no reason given".to_owned());
        Err(StartError::new(
            format!("not done: {why}"),
            "`agent-collab status` shows the state of the run",
        ))
    }
}

async fn apply_to_stored_run(
    layout: &WorkdirLayout,
    found: startup::ProjectContext,
    wishes: &StartOptions,
    request: &IpcRequest,
) -> Result<(), StartError> {
    let nobody = |root: &Path| format!("no agent-collab runs in {}", root.display());
    if !matches!(
        startup::find_unfinished_run(layout)?,
        ExistingRun::Unfinished(..)
    ) {
        return Err(StartError::new(
            format!("{} and there is no unfinished run", nobody(&found.root)),
            startup::START_HINT,
        ));
    }
    if !matches!(request.command.as_str(), "cancel" | "stop") {
        return Err(StartError::new(
            nobody(&found.root),
            "resume the run with `agent-collab resume`, or `agent-collab --resume` on the screen; `cancel` and `stop` work now",
        ));
    }
    let mut occupied = startup::lock_project(found)?;
    let started = startup::reopen_run(&mut occupied, wishes, RunCommitMode::Disabled).await?;
    let mut engine = started.engine;
    let done = end_stored_run(&mut engine, request).await;
    engine.shut_down().await;
    done
}

async fn end_stored_run(engine: &mut Engine, request: &IpcRequest) -> Result<(), StartError> {
    let state = engine.state();
    let (run, before) = (state.run.clone(), state.phase);
    let actions = parse_actions(request, Some(state))
        .map_err(|why| StartError::new(format!("not done: {why}"), ""))?;
    startup::clear_leftovers(&run).await;
    for action in actions {
        if let Action::Event(event @ (Event::RunStopped | Event::RunCancelled)) = action {
            engine
                .apply_event(event)
                .map_err(|error| StartError::new(&error, "everything recorded so far is kept"))?;
        }
    }
    if engine.state().phase == before {
        Err(StartError::new(
            format!("not done: nothing to end in phase {}", before.label()),
            "resume the run first with `agent-collab resume`",
        ))
    } else {
        Ok(())
    }
}
