//! Performs the effects of a run: turns, documents, git, tests, permissions, and the record of it all.
//!
//! It owns the run and everything that the run's effects need. It refuses to know who watches or
//! answers: a front end feeds it the user's events and reads what was recorded.

pub mod answering;
mod asking;
mod awaited;
mod blocking;
pub mod changes;
pub mod children;
pub mod codex_rules;
mod collect;
mod conflict;
pub mod containing;
pub mod diagnosis;
pub mod discussion;
pub mod documents;
mod draft;
mod execution;
mod feeding;
pub mod git;
mod granting;
mod history;
pub mod journal;
pub mod live;
pub mod log_sinks;
pub mod lying;
mod moving;
pub mod news;
pub mod onlooker;
pub mod outputs;
mod perform;
pub mod probe;
mod prompting;
pub mod reads;
mod role_session;
pub mod scratch;
pub mod setup;
pub mod staging;
mod steering;
pub mod test_run;
mod told;
mod tools;
mod trouble;
pub mod undo;
mod writing;

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::adapter::CliTurnOutcome;
use crate::domain::discussion::CheckRun;
use crate::domain::event::Event;
use crate::domain::ids::{DiscussionId, RequestId, SessionId, Sha256, TurnId};
use crate::domain::phase::Gate;
use crate::domain::run::RunState;
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::{Role, TurnOrder};
use crate::permission::loop_detector::LoopDetector;
use crate::process::SpawnError;
use crate::store::{EventLogRecord, StoreError, TamperedFile, document_files as documents_on_disk};

use awaited::Awaited;
use git::{Repository, Runnable};
use journal::Journal;
use live::{Ask, Told};
use setup::Setup;
use staging::Staging;

pub use children::{Caller, NotDeleted, TaskAsk, TaskRefused, subagent};
use children::{Children, Said};
pub use discussion::{DiscussionAsk, DiscussionRefused};
pub use granting::{Granted, Shown};
pub use trouble::with_hint;
use trouble::{Troubles, failed, troubled};
use writing::PutOff;

/// How many messages of live conversations and of tasks may wait.
const INBOX: usize = 256;

/// What the engine cannot go on after.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The disk refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// Git refused what the engine needs of it.
    #[error("failed to {what}: {message}")]
    Git {
        /// What was tried.
        what: String,
        /// What git said.
        message: String,
    },
}

/// Something that came back to the engine.
#[derive(Debug)]
pub enum Inward {
    /// A live conversation told something.
    Told(Role, Told),
    /// A task is done, and this is what happened.
    Event(Box<Event>),
    /// The tree before a turn is stored, and what git and the tests would run was noted.
    Stored {
        /// What happened.
        event: Box<Event>,
        /// What would be run.
        runnable: Runnable,
    },
    /// The work of a child session told something.
    Said(SessionId, Said),
    /// An agent's server wants something.
    Knock(tools::door::Knock),
    /// A tool's call that waited came to something.
    ToolDone(RequestId, tools::Later),
    /// A tool's call was decided.
    ToolDecided(RequestId, crate::adapter::CallDecision),
    /// The user answered what a tool's call waits for; `None` where nobody does.
    ToolAnswered(RequestId, Option<BTreeMap<String, String>>),
    /// A tool's call has waited as long as it may.
    ToolDue(RequestId),
    /// The usage limit is over for which this question waits.
    LimitPassed(u32),
    /// A discussion is to be looked at again.
    DiscussionDue(DiscussionId),
    /// A command that was to settle something in a discussion is through.
    Checked(DiscussionId, CheckRun),
    /// A document that could not be written is to be tried again.
    CollectAgain(TurnId),
    /// The documents can be written again, or why not.
    Pen(Result<documents::Pen, StoreError>),
    /// A turn ended and the program's own files were compared.
    TurnChecked {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        end: CliTurnOutcome,
        /// What differed and was restored.
        tampered: Result<Vec<TamperedFile>, StoreError>,
    },
}

/// How a run's time in this program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The run is over.
    Finished,
    /// The program cannot go on with it.
    Halted(String),
}

/// Both ends of a bounded channel.
type Mailbox<T> = (mpsc::Sender<T>, mpsc::Receiver<T>);

/// The one owner of a run.
pub struct Engine {
    setup: Arc<Setup>,
    journal: Journal,
    repository: Option<Repository>,
    lives: BTreeMap<Role, mpsc::Sender<Ask>>,
    /// The child sessions whose tasks are being done.
    children: Children,
    /// The discussions that go on.
    discussions: discussion::Discussions,
    /// The turn that a live conversation is at.
    at_work: Option<AtWork>,
    /// Whether its CLI has told the turn's end; what it asks from then on is declined.
    turn_is_over: bool,
    /// Whether the run was taken up again by this program and has not recorded a step yet.
    resumed: bool,
    /// What git and the tests would run beside the tree, as it was before the execution's first turn.
    runnable: Option<Runnable>,
    /// The document of a completed turn, until it is committed.
    held: Option<Held>,
    /// What waits to be written into the documents, and what waits behind it.
    put_off: Option<PutOff>,
    /// What agents asked for and nobody has answered yet.
    awaited: Awaited,
    /// The tools that agents call.
    tools: tools::Tools,
    told: Mailbox<(Role, Told)>,
    done: Mailbox<Inward>,
    tasks: JoinSet<()>,
    recorded: Vec<EventLogRecord<Event>>,
    deltas: Vec<TextDelta>,
    /// Stops git and tests under way.
    cancel: CancellationToken,
    /// Stops the tests before the first step.
    baseline_stop: CancellationToken,
    /// Stops what is still to be done when all else is stopped; nobody does.
    last_things: CancellationToken,
    /// Held by whoever changes the user's tree or compares it while an agent may be at work.
    tree_lock: Arc<tokio::sync::Mutex<()>>,
    outcome: Option<Outcome>,
    troubles: Troubles,
}

/// The turn that a live conversation is at.
#[derive(Debug)]
struct AtWork {
    order: TurnOrder,
    prompt_sha256: Sha256,
    /// What goes out in place of the prompt where the CLI has lost the conversation.
    with_recovery: String,
    staging: Staging,
    /// The last calls of its agent.
    calls: LoopDetector,
    /// Tools that its CLI was started without.
    removed: &'static [&'static str],
    /// The tasks in the background of whose end its prompt tells.
    reports: Vec<SessionId>,
}

/// The document of a completed turn, until it is committed.
#[derive(Debug, Clone)]
struct Held {
    order: TurnOrder,
    final_text: String,
    staging: Staging,
    /// What the user's text and the turn's were merged into, in the turn's place.
    merged: Option<String>,
    /// How often the disk refused it.
    n_refused: u8,
}

impl Engine {
    /// Makes the owner of a run that stands in a journal.
    pub fn new(
        setup: Setup,
        journal: Journal,
        repository: Option<Repository>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            children: Children::new(&setup),
            discussions: discussion::Discussions::default(),
            tools: tools::Tools::of(&journal.state().run),
            setup: Arc::new(setup),
            journal,
            repository,
            lives: BTreeMap::new(),
            at_work: None,
            turn_is_over: false,
            resumed: false,
            runnable: None,
            held: None,
            put_off: None,
            awaited: Awaited::default(),
            told: mpsc::channel(INBOX),
            done: mpsc::channel(INBOX),
            tasks: JoinSet::new(),
            recorded: Vec::new(),
            deltas: Vec::new(),
            baseline_stop: cancel.child_token(),
            cancel,
            last_things: CancellationToken::new(),
            tree_lock: Arc::default(),
            outcome: None,
            troubles: Troubles::default(),
        }
    }

    /// What is known of the run.
    pub fn state(&self) -> &RunState {
        self.journal.state()
    }

    /// Where the run's files lie.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The repository that trees go to.
    pub fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref()
    }

    /// How it ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// What holds the CLI of each role: the adapter's name, then what the kernel holds and what only its protocol does.
    pub fn holding(&self) -> Vec<(String, (String, String))> {
        containing::told(&self.setup.kernel, &self.setup.config)
    }

    /// Tells whether an agent of a role runs with nothing to hold it.
    pub fn is_uncontained(&self) -> bool {
        let setup = &self.setup;
        !setup.children.is_simulated() && containing::is_uncontained(&setup.kernel, &setup.config)
    }

    /// Records which agents the user's configuration makes or changes; nothing where it does neither.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn register_agents(&mut self) -> Result<(), EngineError> {
        let profiles = &self.setup.permissions.profiles;
        let mode = |name: &String| {
            Some((
                name.clone(),
                profiles.find_by_name(name).ok()?.mode.name().to_owned(),
            ))
        };
        let agents: BTreeMap<String, String> =
            self.setup.config.agents.keys().filter_map(mode).collect();
        match agents.is_empty() {
            true => Ok(()),
            false => self.feed(Event::AgentsRegistered { agents }),
        }
    }

    /// Lets whoever watches know of the event with which the record began.
    pub fn tell_first(&mut self, record: EventLogRecord<Event>) {
        self.recorded.insert(0, record);
    }

    /// Takes what was recorded since the last call, in order.
    pub fn take_recorded(&mut self) -> Vec<EventLogRecord<Event>> {
        std::mem::take(&mut self.recorded)
    }

    /// Takes the pieces of text that came since the last call, in order.
    pub fn take_deltas(&mut self) -> Vec<TextDelta> {
        std::mem::take(&mut self.deltas)
    }

    /// Waits for what comes back next. Cancel safe.
    pub async fn next(&mut self) -> Inward {
        let limit = self.limit();
        let discussion = self.discussions.due();
        tokio::pin!(discussion);
        loop {
            tokio::select! {
                biased;
                id = moving::passed(limit), if limit.is_some() => return Inward::LimitPassed(id),
                Some(inward) = self.done.1.recv() => return inward,
                Some((role, told)) = self.told.1.recv() => return Inward::Told(role, told),
                (session, said) = self.children.next() => return Inward::Said(session, said),
                inward = self.tools.next() => return inward,
                id = &mut discussion => return Inward::DiscussionDue(id),
                Some(ended) = self.tasks.join_next() => {
                    if let Err(panicked) = ended
                        && !panicked.is_cancelled()
                    {
                        let event = failed("do a piece of work", panicked);
                        return Inward::Event(Box::new(event));
                    }
                }
                else => return std::future::pending().await,
            }
        }
    }

    /// Takes in what came back.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn take(&mut self, inward: Inward) -> Result<(), EngineError> {
        match inward {
            Inward::Told(role, told) => self.on_told(role, told),
            Inward::Event(event) => self.feed(*event),
            Inward::Said(session, said) => self.on_said(session, said),
            Inward::Stored { event, runnable } => {
                // What the first look of an execution found is what later changes are told against.
                self.runnable.get_or_insert(runnable);
                self.feed(*event)
            }
            Inward::Knock(knock) => self.on_knock(knock),
            Inward::ToolDone(request, later) => self.on_tool_done(&request, later),
            Inward::ToolDecided(request, answer) => self.on_tool_decided(&request, answer),
            Inward::ToolAnswered(request, answers) => self.on_tool_answered(&request, answers),
            Inward::ToolDue(request) => self.on_tool_due(&request),
            Inward::LimitPassed(id) => self.feed(Event::LimitPassed { id }),
            Inward::DiscussionDue(id) => self.go_on_discussing(&id),
            Inward::Checked(id, run) => self.on_checked(&id, run),
            Inward::CollectAgain(turn) => self.collect_again(&turn),
            Inward::Pen(pen) => self.on_pen(pen),
            Inward::TurnChecked {
                turn,
                end,
                tampered,
            } => self.on_turn_checked(&turn, &end, tampered),
        }
    }

    /// Says that no run goes on here: what was asked for on a command line is all that is done.
    pub fn work_alone(&mut self) {
        self.children.work_alone();
    }

    /// Sends other instructions of the project from now on, each with its path.
    pub fn instruct(&mut self, instructions: Vec<(String, String)>) {
        Arc::make_mut(&mut self.setup).instructions = instructions;
    }

    /// Takes the run up again after an end of the program.
    ///
    /// # Errors
    /// The record of the run cannot be kept.
    pub fn resume(&mut self, gate: Gate) -> Result<(), EngineError> {
        self.resumed = true;
        self.complete_log()?;
        self.settle_children()?;
        for edit in self.notice_edits() {
            self.feed(edit)?;
        }
        if let Some(found) = self.find_draft()? {
            self.feed(found)?;
        }
        self.feed(Event::RunResumed { gate })
    }

    /// Writes the last event's entry into log.md where the end of the program came between the two.
    fn complete_log(&self) -> Result<(), EngineError> {
        let last = self.journal.last()?;
        let iteration = self.state().iteration;
        let Some(entry) = last.and_then(|record| history::entry(&record, iteration)) else {
            return Ok(());
        };
        let log = documents_on_disk::read_document(&self.journal.layout().log())?;
        let log = log.map(|log| String::from_utf8_lossy(&log.bytes).into_owned());
        if !log.unwrap_or_default().contains(&entry) {
            self.journal.log_entry(&entry)?;
        }
        Ok(())
    }

    /// Lets the conversations end by themselves: the run is over and nobody says anything more.
    pub fn dismiss(&mut self) {
        for asks in std::mem::take(&mut self.lives).into_values() {
            // A full queue is no reason to wait: dropping the sender ends the task as well.
            let _full = asks.try_send(Ask::End);
        }
    }

    /// Ends all conversations and waits until their processes are gone.
    pub async fn shut_down(&mut self) {
        self.end_discussions();
        self.cancel.cancel();
        self.end_children().await;
        for asks in self.lives.values() {
            // A full queue is no reason to wait: dropping the sender below ends the task as well.
            let _full = asks.try_send(Ask::End);
        }
        let mut left = self.lives.len();
        self.lives.clear();
        while left > 0 {
            match self.told.1.recv().await {
                Some((_, Told::Gone)) => left -= 1,
                Some((role, told)) => self.keep_untold(role, told),
                None => break,
            }
        }
        self.tasks.shutdown().await;
    }

    fn finish(&mut self, outcome: Outcome) {
        self.outcome.get_or_insert(outcome);
    }
}
