//! One task from its place in the queue to its end: a conversation of its own, and nothing left of it afterwards.
//!
//! Refuses to know the run: what the agent says and asks is passed on, what it is answered comes in by the
//! conversation's own queue.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::Said;
use super::controller::{Controller, Ended, NotAdmitted, Tries};
use super::plot::Plot;
use crate::adapter::{AdapterEvent, CliTurnOutcome, TurnFailure, TurnFailureKind};
use crate::domain::discussion::STANCE_INFO;
use crate::domain::ids::SessionId;
use crate::domain::task::{NO_SUMMARY_ERROR, TaskOutcome};
use crate::domain::turn::Role;
use crate::engine::journal::Journal;
use crate::engine::live::{Ask, Live, Parts, Told, TurnAsk};
use crate::store::{StoreError, TamperGuard};

/// How many messages of a child's conversation may wait.
const TOLD: usize = 64;
/// What an agent is asked that ended without a word.
const SUM_UP: &str = "Your last message was empty, and only your last message reaches who gave you the task. \
                      Say now, without any further call, what you found or did.";

/// One task with everything that it takes.
pub(super) struct Errand {
    pub(super) session: SessionId,
    pub(super) adapter: String,
    pub(super) controller: Controller,
    pub(super) cancel: CancellationToken,
    pub(super) patience: Patience,
    pub(super) folder: Folder,
    /// The tree of its own, to be laid down before its agent begins.
    pub(super) plot: Option<Arc<Plot>>,
    pub(super) parts: Parts,
    pub(super) ask: TurnAsk,
    pub(super) asks: (mpsc::Sender<Ask>, mpsc::Receiver<Ask>),
    pub(super) said: mpsc::Sender<(SessionId, Said)>,
    pub(super) guard: TamperGuard,
}

/// How long a task may take, and how often it is tried.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Patience {
    /// How long from its place on.
    pub(in crate::engine) limit: Duration,
    /// The key of the configuration that says so.
    pub(in crate::engine) key: &'static str,
    /// The tries that are left when it fails for what can pass.
    pub(in crate::engine) tries: Tries,
}

/// A folder that goes with this value.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes it, empty.
    pub(super) fn make(path: PathBuf) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let folder = Self(path);
        folder.clear()?;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder.0)?;
        Ok(folder)
    }

    fn clear(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = self.clear() {
            tracing::warn!(%error, "the folder of a child stays");
        }
    }
}

/// A conversation that is being had, from the side of who listens.
struct Talk {
    session: SessionId,
    asks: mpsc::Sender<Ask>,
    told: mpsc::Receiver<(Role, Told)>,
    said: mpsc::Sender<(SessionId, Said)>,
    /// The conversation's id at the CLI, once it told.
    external_id: Option<String>,
}

impl Errand {
    /// Does the task. Whatever becomes of it is told last, after all that it took is given back.
    pub(super) async fn run(self) {
        let (session, said, guard) = (self.session.clone(), self.said.clone(), self.guard.clone());
        let (end, took) = self.end().await;
        let checked = tokio::task::spawn_blocking(move || Journal::check(&guard)).await;
        let tampered = checked.unwrap_or_else(|panicked| {
            let source = io::Error::other(panicked.to_string());
            let path = std::path::Path::new(".agent-collab");
            Err(StoreError::from_io(
                "compare with what was written",
                path,
                source,
            ))
        });
        let ended = Said::Ended {
            end,
            took,
            tampered,
        };
        // Nobody listens any more only when the program is about to end.
        let _nobody = said.send((session, ended)).await;
    }

    async fn end(self) -> (TaskOutcome, Duration) {
        let admitted = match self.controller.admit(&self.adapter, &self.cancel).await {
            Ok(admitted) => admitted,
            Err(why) => return (not_begun(why), Duration::ZERO),
        };
        let _nobody = self.said.send((self.session.clone(), Said::Began)).await;
        if let Some(plot) = &self.plot {
            let laid = tokio::select! {
                laid = plot.lay() => laid,
                () = self.cancel.cancelled() => return (how(Ended::Cancelled, &self.patience), admitted.since()),
            };
            if let Err(error) = laid {
                return (TaskOutcome::Failed { error }, admitted.since());
            }
        }
        let (tell, told) = mpsc::channel(TOLD);
        let (asks, asked) = self.asks;
        let live = tokio::spawn(Live::new(self.parts, asked, tell).run());
        let live = AbortOnDropHandle::new(live);
        let mut talk = Talk {
            session: self.session,
            asks,
            told,
            said: self.said,
            external_id: None,
        };
        let work = talk.task(self.ask, self.patience.tries);
        let limit = self.patience.limit;
        let ended = admitted.run(limit, &self.cancel, work).await;
        talk.end().await;
        let _ended = live.await;
        drop(self.folder);
        (how(ended, &self.patience), admitted.since())
    }
}

impl Talk {
    /// Has the task done; what can pass is tried again, and who says nothing is asked once more.
    async fn task(&mut self, ask: TurnAsk, mut tries: Tries) -> TaskOutcome {
        let mut ask = ask;
        let text = loop {
            match self.turn(again(&ask, None, self.external_id.clone())).await {
                Ok(text) => break text,
                Err(end) => match tries.pause().filter(|_| may_pass(&end)) {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return failed(end),
                },
            }
        };
        if !text.trim().is_empty() {
            return TaskOutcome::from_last_message(&text);
        }
        ask = again(&ask, Some(SUM_UP), self.external_id.clone());
        match self.turn(ask).await {
            Ok(text) => TaskOutcome::from_last_message(&text),
            Err(_) => TaskOutcome::Failed {
                error: NO_SUMMARY_ERROR.to_owned(),
            },
        }
    }

    /// Has one turn; the agent's last words.
    async fn turn(&mut self, ask: TurnAsk) -> Result<String, CliTurnOutcome> {
        let lost = || {
            let lost = "the conversation ended in the middle of the task";
            CliTurnOutcome::Failed(TurnFailure::new(TurnFailureKind::Protocol, lost))
        };
        if self.asks.send(Ask::Turn(Box::new(ask))).await.is_err() {
            return Err(lost());
        }
        let mut words = String::new();
        while let Some((_, told)) = self.told.recv().await {
            match told {
                Told::Event(AdapterEvent::TurnEnded(CliTurnOutcome::Completed { final_text })) => {
                    return Ok(with_reasons(&words, final_text));
                }
                Told::Event(AdapterEvent::Text { ref text, .. }) => {
                    if !is_bare_stance(text) && !text.trim().is_empty() {
                        words.clone_from(text);
                    }
                    self.pass_on(told).await;
                }
                Told::Event(AdapterEvent::TurnEnded(end)) => return Err(end),
                Told::Gone => return Err(lost()),
                told => {
                    if let Told::Event(AdapterEvent::SessionOpened { external_id }) = &told {
                        self.external_id = Some(external_id.clone());
                    }
                    self.pass_on(told).await;
                }
            }
        }
        Err(lost())
    }

    async fn pass_on(&self, told: Told) {
        let said = Said::Told(told);
        let _nobody = self.said.send((self.session.clone(), said)).await;
    }

    /// Ends the conversation and waits until its process is gone; what it still says reaches nobody.
    async fn end(mut self) {
        let gone = async {
            while let Some((_, told)) = self.told.recv().await {
                if matches!(told, Told::Gone) {
                    return;
                }
            }
        };
        // Side by side: it may wait to be heard before it hears.
        let (_gone, ()) = tokio::join!(self.asks.send(Ask::End), gone);
    }
}

/// A stance alone is not all of a speech: its reasons are what was said before it in the same turn.
fn with_reasons(words: &str, last: String) -> String {
    match is_bare_stance(&last) && !words.is_empty() {
        true => format!("{words}\n\n{last}"),
        false => last,
    }
}

fn is_bare_stance(text: &str) -> bool {
    let info = text.trim().strip_prefix("```");
    info.is_some_and(|info| {
        info.trim_start_matches('`')
            .trim_start()
            .starts_with(STANCE_INFO)
    })
}

/// The same turn once more, perhaps with other words, in the conversation that there is by now.
fn again(ask: &TurnAsk, prompt: Option<&str>, external_id: Option<String>) -> TurnAsk {
    let mut session = ask.session.clone();
    session.external_id = external_id.or(session.external_id);
    session.fresh_id = uuid::Uuid::new_v4().to_string();
    let mut turn = ask.turn.clone();
    turn.prompt = prompt.map_or(turn.prompt, str::to_owned);
    TurnAsk {
        session,
        turn,
        conversation: ask.conversation,
        recovery: ask.recovery.clone(),
        holder: ask.holder.clone(),
        limit: ask.limit,
        patience: ask.patience,
    }
}

fn may_pass(end: &CliTurnOutcome) -> bool {
    match end {
        CliTurnOutcome::Failed(failure) => matches!(
            failure.kind,
            TurnFailureKind::RateLimit | TurnFailureKind::Service | TurnFailureKind::Connection
        ),
        CliTurnOutcome::Completed { .. } | CliTurnOutcome::Interrupted => false,
    }
}

fn failed(end: CliTurnOutcome) -> TaskOutcome {
    match end {
        CliTurnOutcome::Failed(failure) => TaskOutcome::Failed {
            error: failure.message,
        },
        CliTurnOutcome::Completed { .. } | CliTurnOutcome::Interrupted => TaskOutcome::Declined {
            error: "a call of it was refused, and its turn ended with that".to_owned(),
        },
    }
}

fn not_begun(why: NotAdmitted) -> TaskOutcome {
    let error = match why {
        NotAdmitted::Cancelled => "it was stopped before it began",
        NotAdmitted::Closed => "the program ends and begins no task any more",
    };
    TaskOutcome::Cancelled {
        error: error.to_owned(),
    }
}

fn how(ended: Ended<TaskOutcome>, patience: &Patience) -> TaskOutcome {
    match ended {
        Ended::Done(end) => end,
        Ended::TimedOut => TaskOutcome::Timeout {
            error: format!(
                "it took longer than {}, {} s",
                patience.key,
                patience.limit.as_secs()
            ),
        },
        Ended::Cancelled => TaskOutcome::Cancelled {
            error: "it was stopped".to_owned(),
        },
    }
}
