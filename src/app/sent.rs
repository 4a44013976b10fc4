//! Commands from outside: what a headless run makes of one, how one is sent, and what becomes of it
//! where no instance runs.
//!
//! Refuses to know what a command means: the screen's own reading makes the events.

use std::path::Path;

use crate::domain::event::Event;
use crate::domain::phase::Gate;
use crate::domain::question::QuestionKind;
use crate::domain::run::State;
use crate::engine::{Engine, EngineError, Outcome};
use crate::store::{InstanceLock, LockHolder, WorkdirLayout};
use crate::tui::{Action, Screen, ScreenSettings, check_sent};

use super::discussions::{self, is_about_discussions};
use super::socket::{self, Asked, Request, Socket};
use super::start::{self, Commits, Lies, Occupied, Refusal, Wishes};
use super::tasks::{self, is_about_tasks};

/// What comes to a headless run from outside.
#[derive(Debug, Default)]
pub struct Outside {
    /// Where it comes in; `None` where nothing listens.
    socket: Option<Socket>,
    /// Whether the gate was closed from outside, so that somebody is there to open it.
    paused: bool,
}

/// What a headless run does after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It goes on.
    GoOn,
    /// It ends.
    Leave,
}

impl Outside {
    /// Begins to listen, and says what the user should know.
    pub fn listen(&mut self, occupied: &Occupied) -> Option<String> {
        let (killed, notice) = occupied.killed_instances();
        match Socket::listen(&occupied.layout, killed) {
            Ok(socket) => {
                self.socket = Some(socket);
                notice
            }
            Err(error) => Some(format!(
                "`agent-collab send` cannot reach this instance: {error}"
            )),
        }
    }

    /// Listens no more.
    pub async fn close(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.close().await;
        }
    }

    /// Waits for the next command. Cancel safe.
    pub async fn next(&mut self) -> Asked {
        socket::next_asked(&mut self.socket).await
    }

    /// Tells whether a question that no flag answers is waited at: who closed the gate opens it again.
    pub fn may_wait(&self, kind: &QuestionKind) -> bool {
        self.paused && matches!(kind, QuestionKind::Gate { .. })
    }

    /// Carries a command out on a run without a screen, and answers it.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn carry_out(&mut self, asked: Asked, engine: &mut Engine) -> Result<Then, EngineError> {
        if is_about_tasks(&asked.request) {
            tasks::carry_out(asked, Some(engine))?;
            return Ok(Then::GoOn);
        }
        if is_about_discussions(&asked.request) {
            discussions::carry_out(asked, Some(engine))?;
            return Ok(Then::GoOn);
        }
        let actions = match actions(&asked.request, Some(engine.state())) {
            Ok(actions) => actions,
            Err(why) => {
                asked.answer(Err(why));
                return Ok(Then::GoOn);
            }
        };
        for action in actions {
            match action {
                Action::Event(event) => {
                    if let Some(why) = over(engine) {
                        asked.answer(Err(why));
                        return Ok(Then::GoOn);
                    }
                    if let Event::GateChanged { gate } = event {
                        self.paused = gate == Gate::Manual;
                    }
                    engine.feed(event)?;
                }
                Action::Quit(_) => {
                    asked.answer(Ok(()));
                    return Ok(Then::Leave);
                }
                _ => {
                    asked.answer(Err("only a run with a screen does that".to_owned()));
                    return Ok(Then::GoOn);
                }
            }
        }
        asked.answer(halted(engine).map_or(Ok(()), Err));
        Ok(Then::GoOn)
    }
}

/// Why a run takes nothing in any more; `None` where it does.
fn over(engine: &Engine) -> Option<String> {
    match engine.outcome() {
        Some(Outcome::Finished) => Some("the run is over".to_owned()),
        Some(Outcome::Halted(_)) | None => halted(engine),
    }
}

/// Why a run cannot go on in this program; `None` where it can.
pub(super) fn halted(engine: &Engine) -> Option<String> {
    match engine.outcome() {
        Some(Outcome::Halted(reason)) => Some(format!("this run cannot go on: {reason}")),
        Some(Outcome::Finished) | None => None,
    }
}

fn actions(request: &Request, state: Option<&State>) -> Result<Vec<Action>, String> {
    let mut screen = Screen::new(ScreenSettings::default());
    screen.on_sent((&request.command, &request.text), state)
}

/// Sends a command to the instance that runs in this directory. Where none runs, a run that lies there
/// is stopped or cancelled under the lock.
///
/// # Errors
/// It was not done; the text says why and what to do.
pub async fn send(wishes: &Wishes, request: &Request) -> Result<(), Refusal> {
    let sent = (request.command.as_str(), request.text.as_str());
    check_sent(sent).map_err(|why| Refusal::error(why, "`agent-collab send --help` lists them"))?;
    let found = start::find(wishes).await?;
    let layout = start::layout(&found.root, &found.loaded.config)?;
    match InstanceLock::read_holder(&layout)? {
        Some(held) => to_instance(&layout, held, request).await,
        None => to_stored_run(&layout, found, wishes, request).await,
    }
}

async fn to_instance(
    layout: &WorkdirLayout,
    held: LockHolder,
    request: &Request,
) -> Result<(), Refusal> {
    let answer = socket::put(layout, &held, request).await?;
    match answer.accepted {
        true => Ok(()),
        false => {
            let why = answer
                .why
                .unwrap_or_else(|| "it did not say why".to_owned());
            Err(Refusal::error(
                format!("not done: {why}"),
                "`agent-collab status` shows where the run stands",
            ))
        }
    }
}

async fn to_stored_run(
    layout: &WorkdirLayout,
    found: start::Found,
    wishes: &Wishes,
    request: &Request,
) -> Result<(), Refusal> {
    let nobody = |root: &Path| format!("no agent-collab runs in {}", root.display());
    if !matches!(start::unfinished(layout)?, Lies::Unfinished(..)) {
        return Err(Refusal::error(
            format!("{}, and no unfinished run lies there", nobody(&found.root)),
            start::BEGINS_ONE,
        ));
    }
    if !matches!(request.command.as_str(), "cancel" | "stop") {
        return Err(Refusal::error(
            nobody(&found.root),
            "`agent-collab resume` takes the run up, `agent-collab --resume` on the screen; `cancel` and `stop` work without",
        ));
    }
    let mut occupied = start::occupy(found)?;
    let begun = start::reopen(&mut occupied, wishes, Commits::NotMade).await?;
    let mut engine = begun.engine;
    let done = end_stored_run(&mut engine, request).await;
    engine.shut_down().await;
    done
}

async fn end_stored_run(engine: &mut Engine, request: &Request) -> Result<(), Refusal> {
    let state = engine.state();
    let (run, before) = (state.run.clone(), state.phase);
    let actions = actions(request, Some(state))
        .map_err(|why| Refusal::error(format!("not done: {why}"), ""))?;
    start::clear_away(&run).await;
    for action in actions {
        if let Action::Event(event @ (Event::Stopped | Event::Cancelled)) = action {
            engine
                .feed(event)
                .map_err(|error| Refusal::error(&error, "what was recorded so far is kept"))?;
        }
    }
    match engine.state().phase == before {
        true => Err(Refusal::error(
            format!("not done: nothing is under way in phase {before} that could be ended so"),
            "`agent-collab resume` takes the run up first",
        )),
        false => Ok(()),
    }
}
