//! The full-screen program: one loop that takes signals and keys first, then what comes back, and
//! draws a frame when something changed.
//!
//! It owns the terminal, the view and the run. It decides nothing about the workflow and nothing about
//! what is drawn: keys become actions in `tui`, actions become events here, the run does the rest.

mod again;
mod badges;
mod beginning;
mod calls;
mod changes;
mod children;
mod clipboard;
mod discussing;
mod documents;
mod drawing;
mod editor;
mod ending;
mod farewell;
mod files;
mod frames;
mod front;
mod ground;
mod hands;
mod input;
mod instructing;
mod keeping;
mod needed;
mod news;
mod outside;
mod past;
mod paste_tail;
mod previews;
mod reading;
mod rewriting;
mod signals;
mod telling;
mod viewing;
mod waiting;
mod waiting_texts;
mod watch;
mod welcome;
mod written;

use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use crossterm::event::{Event as Input, EventStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::types::Motion;
use crate::domain::changes::Scope;
use crate::domain::ids::RunId;
use crate::domain::run::{Busy, State};
use crate::domain::undo::Offer;
use crate::engine::{Engine, Inward};
use crate::process::become_subreaper;
use crate::store::StoreError;
use crate::store::input_history_file::InputHistoryFile;
use crate::tui::{Action, DocumentKind, Screen, ScreenSettings};

use super::changes::Looked;
use super::history::Finished;
use super::socket::{Asked, Socket, next_asked};
use super::start::{Occupied, Refusal, Wishes};
use super::terminal::{self, Terminal};
use super::zone;
use beginning::{Begin, Opened};
use ending::End;
use frames::{Frames, Wanted};
use input::next_input;
use news::News;
use reading::Read;
use signals::{Signalled, Signals};
use telling::Telling;
use viewing::{Glance, Views};
use waiting::{next_change, next_inward, sleep_to};
use watch::Watch;

/// How many keys are taken in before the next look at the rest.
const BATCH: usize = 128;

/// What the screen is opened for.
#[derive(Debug, Clone)]
pub struct Opening {
    /// What to start.
    pub wishes: Wishes,
    /// What begins by itself.
    pub first: First,
}

/// What begins by itself when the screen opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum First {
    /// Nothing: the user is asked for a goal.
    AskForGoal,
    /// Nothing, and nothing can: the run is only looked at.
    View,
    /// The same with a finished run.
    Read {
        /// Its directory's name in the history.
        name: String,
    },
    /// The unfinished run, without a question.
    TakeUp,
    /// An unfinished run of the history, which lies here again then.
    BringBack {
        /// Its directory's name in the history.
        name: String,
    },
    /// The demo.
    Demo {
        /// Its goal; `None` where a demo is opened again and goes on like any run.
        goal: Option<String>,
    },
}

/// Opens the screen and returns the exit code once it is closed: 0 done or left, 1 error, 5 cancelled,
/// 130 interrupted by a signal.
///
/// # Errors
/// There is no usable terminal, or what is found there stands in the way of any run.
pub async fn run(opening: Opening) -> Result<u8, Refusal> {
    let failed = |what: &'static str| {
        move |error: io::Error| Refusal::error(format!("cannot {what}: {error}"), "")
    };
    become_subreaper().map_err(failed("look after child processes"))?;
    let signals = Signals::listen().map_err(failed("listen for signals"))?;
    terminal::give_back_on_panic();
    let terminal = Terminal::take().map_err(failed("use the terminal"))?;
    let mut shell = Shell::new(opening, signals, terminal);
    let end = shell.play().await;
    shell.closing(end).await
}

/// The terminal, the view, the run, and what is under way.
struct Shell {
    wishes: Wishes,
    first: First,
    terminal: Terminal,
    /// `None` while an editor has the terminal.
    input: Option<EventStream>,
    signals: Signals,
    screen: Screen,
    settings: ScreenSettings,
    frames: Frames,
    wanted: Wanted,
    /// What happened and is shown with the next frame of news.
    unseen: Vec<News>,
    tick_at: Option<Instant>,
    /// Where commands from outside come in, while the directory is ours.
    socket: Option<Socket>,
    /// `None` until the directory is ours, and while a run is being begun.
    occupied: Option<Occupied>,
    engine: Option<Engine>,
    /// The unfinished run that is asked about, as it was left.
    lying: Option<Box<State>>,
    /// A run that is to begin.
    beginning: Option<Begin>,
    /// The goal that waits until the user has said whether the repository's instructions reach agents.
    asked: Option<Begin>,
    /// Whether all is there that a goal needs of the run at hand.
    is_checked: bool,
    /// What was said last to stand in the way.
    told: Option<String>,
    tasks: JoinSet<Done>,
    /// Cancelled when the screen closes, for what reads much beside the loop.
    closed: CancellationToken,
    watch: Option<Watch>,
    documents: documents::Looking,
    /// What is looked at, over everything else.
    views: Views,
    /// Whether what was recorded of the run before is on the screen, or on its way there.
    past_is_shown: bool,
    /// What came before what the screen holds.
    earlier: past::Earlier,
    /// The question whose preview the screen has.
    previewed: Option<u32>,
    /// The call that the screen has exactly: its run, and which of that run's.
    shown_call: Option<(RunId, u32)>,
    /// The child's session that was read last.
    story: Option<children::Story>,
    /// Until when a running turn may end by its CLI's protocol; set once the user wants to leave.
    leave_at: Option<Instant>,
    telling: Telling,
    motion: Motion,
    ground: ground::Asked,
    paste_tail: paste_tail::PasteTail,
    /// Where what the user writes is kept; `None` where it is not.
    written: Option<InputHistoryFile>,
    keeping: keeping::Keeping,
}

/// What work beside the loop brought.
enum Done {
    /// The directory was looked at and taken.
    Opened(Box<Result<Opened, Refusal>>),
    /// The branch that is checked out, where there is one.
    Branch(Option<String>),
    /// It was looked whether all is there that a run needs, and which runs were finished last.
    LookedAround(Box<crate::tui::Welcome>, Vec<Finished>),
    /// The files of the repository.
    Files(Result<Vec<String>, crate::engine::git::GitError>),
    /// A run was begun, or why not.
    Begun(Box<beginning::Attempt>),
    /// It was looked whether all is there that a goal needs.
    Checked(Result<(), Refusal>),
    /// A run of the history was made the one that lies here, or why not.
    BroughtBack(Box<again::Attempt>),
    /// A page of what was recorded of the run before.
    Past(past::Whose, Result<Box<past::Page>, StoreError>),
    /// The documents were read.
    Read(Result<Read, StoreError>),
    /// The editor ended.
    Edited(DocumentKind, io::Result<std::process::ExitStatus>),
    /// The program in which a text was opened has ended.
    TextClosed(&'static str, io::Result<std::process::ExitStatus>),
    /// All that a tool said was read; `None` where the disk does not have it.
    CallRead(
        Box<crate::tui::LongCall>,
        crate::tui::Viewer,
        Result<Option<String>, StoreError>,
    ),
    /// A text was given to tmux for the clipboard.
    Copied(String, Result<(), String>),
    /// A theme was kept, or not.
    ThemeKept(keeping::Kept),
    /// What undoing would do, or why it cannot be done.
    Offered(Result<Vec<Offer>, String>),
    /// Changes were looked at.
    Looked(Scope, Box<Result<Looked, Refusal>>),
    /// A run was written down as one page: where, or why not.
    Exported(Result<PathBuf, Refusal>),
    /// A line of the plan was written anew, or why not.
    Rewritten(Result<(), String>),
    /// A child's session was read.
    ChildRead(Box<children::Story>, Result<(), StoreError>),
    /// A text that the user asked for under this title, or why there is none.
    Told(&'static str, Box<Result<String, Refusal>>),
    /// The finished runs.
    History(Result<Vec<Finished>, StoreError>),
    /// A run that is only looked at was read on.
    Seen(Box<Glance>),
    /// The instance that held the directory is gone.
    Freed,
}

/// What the loop reacts to.
enum Next {
    Signalled(Signalled),
    Panicked,
    Input(Option<io::Result<Input>>),
    Asked(Asked),
    Done(Result<Done, JoinError>),
    Inward(Inward),
    DocumentChanged,
    Due,
}

impl Shell {
    fn new(opening: Opening, signals: Signals, terminal: Terminal) -> Self {
        let Opening { wishes, first } = opening;
        let settings = ScreenSettings {
            demo: matches!(first, First::Demo { .. }),
            repository: wishes.cwd.to_string_lossy().into_owned(),
            theme: terminal::theme(),
            utc_offset: zone::local().to_offset(jiff::Timestamp::now()).seconds(),
            ..ScreenSettings::default()
        };
        Self {
            wishes,
            first,
            terminal,
            input: None,
            signals,
            screen: Screen::new(settings.clone()),
            settings,
            frames: Frames::default(),
            wanted: Wanted::ForUser,
            unseen: Vec::new(),
            tick_at: None,
            socket: None,
            occupied: None,
            engine: None,
            lying: None,
            beginning: None,
            asked: None,
            is_checked: false,
            told: None,
            tasks: JoinSet::new(),
            closed: CancellationToken::new(),
            watch: None,
            documents: documents::Looking::default(),
            views: Views::default(),
            past_is_shown: false,
            earlier: past::Earlier::default(),
            previewed: None,
            shown_call: None,
            story: None,
            leave_at: None,
            telling: Telling::default(),
            motion: Motion::default(),
            ground: ground::Asked::default(),
            paste_tail: paste_tail::PasteTail::default(),
            written: None,
            keeping: keeping::Keeping::default(),
        }
    }

    /// Runs until something ends it. The first frame waits for nothing.
    async fn play(&mut self) -> End {
        if let Err(error) = self.draw() {
            return End::TerminalGone(error);
        }
        self.input = Some(EventStream::new());
        self.ask_ground();
        self.open();
        loop {
            let next = self.next().await;
            let ended = self.take(next).and_then(|ended| match ended {
                None => match self.fit_turn_hold()? {
                    None => self.draw_if_due(),
                    end => Ok(end),
                },
                Some(end) => Ok(Some(end)),
            });
            match ended {
                Ok(None) => {}
                Ok(Some(end)) | Err(end) => return end,
            }
        }
    }

    async fn next(&mut self) -> Next {
        let due = self.next_due();
        let Self {
            signals,
            input,
            socket,
            engine,
            tasks,
            watch,
            ..
        } = self;
        tokio::select! {
            biased;
            signalled = signals.next() => Next::Signalled(signalled),
            () = terminal::panicked() => Next::Panicked,
            input = next_input(input) => Next::Input(input),
            asked = next_asked(socket) => Next::Asked(asked),
            () = sleep_to(due) => Next::Due,
            () = next_change(watch) => Next::DocumentChanged,
            Some(done) = tasks.join_next() => Next::Done(done),
            inward = next_inward(engine) => Next::Inward(inward),
        }
    }

    fn take(&mut self, next: Next) -> Result<Option<End>, End> {
        match next {
            Next::Signalled(signalled) => self.on_signal(signalled),
            Next::Panicked => Ok(Some(End::Panicked)),
            Next::Input(input) => self.on_inputs(input),
            Next::Asked(asked) => self.on_asked(asked),
            Next::Done(done) => self.on_done(done),
            Next::Inward(inward) => self.on_inwards(inward),
            Next::DocumentChanged => {
                match self.views.follows() {
                    true => self.views.on_changed(Instant::now()),
                    false => self.documents.on_changed(Instant::now()),
                }
                Ok(None)
            }
            Next::Due => self.on_due(),
        }
    }

    /// Does something beside the loop, which hears what came of it. In memory of its own: the runtime moves what it
    /// is given several times, and would be there once for each kind.
    fn beside(&mut self, work: impl Future<Output = Done> + Send + 'static) {
        let work: Pin<Box<dyn Future<Output = Done> + Send>> = Box::pin(work);
        self.tasks.spawn(work);
    }

    /// What is known of the run, where there is one.
    fn state(&self) -> Option<&State> {
        self.engine.as_ref().map(Engine::state)
    }

    /// Tells whether an agent or the program itself is at something.
    fn is_at_work(&self) -> bool {
        self.state().is_some_and(is_at_work)
    }

    /// Makes the next frame needed, whatever it shows.
    fn touch(&mut self) {
        self.screen.touch();
        if let Some(viewing) = self.views.top_mut() {
            viewing.front().0.touch();
        }
    }

    fn on_due(&mut self) -> Result<Option<End>, End> {
        let now = Instant::now();
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_due(self.terminal.due()) {
            self.catch_up().map_err(End::TerminalGone)?;
        }
        if is_due(self.tick_at) {
            self.touch();
        }
        if is_due(self.documents.due()) {
            self.read_documents();
        }
        if is_due(self.views.due()) {
            self.look_again();
        }
        Ok(is_due(self.leave_at).then_some(End::Left))
    }

    fn act(&mut self, actions: Vec<Action>) -> Result<Option<End>, End> {
        for action in actions {
            if let Some(end) = self.on_action(action)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn on_done(&mut self, done: Result<Done, JoinError>) -> Result<Option<End>, End> {
        // Somebody waits for each of these.
        self.wanted = Wanted::ForUser;
        match done {
            Ok(Done::Opened(opened)) => self.on_opened(*opened),
            Ok(Done::Branch(branch)) => self.on_branch(branch),
            Ok(Done::LookedAround(welcome, runs)) => self.on_looked_around(*welcome, runs),
            Ok(Done::Files(files)) => self.on_files(files),
            Ok(Done::Begun(attempt)) => self.on_begun(*attempt),
            Ok(Done::Checked(checked)) => self.on_checked(checked),
            Ok(Done::BroughtBack(attempt)) => self.on_brought_back(*attempt),
            Ok(Done::Past(whose, page)) => self.on_past(whose, page),
            Ok(Done::Read(read)) => self.on_read(read),
            Ok(Done::Edited(document, ended)) => self.on_edited(document, ended),
            Ok(Done::TextClosed(what, ended)) => self.on_text_closed(what, ended),
            Ok(Done::CallRead(call, with, read)) => self.on_call_read(&call, with, read),
            Ok(Done::Copied(text, ended)) => self.on_copied(&text, ended),
            Ok(Done::ThemeKept(kept)) => self.on_theme_kept(kept),
            Ok(Done::Offered(offers)) => {
                self.on_offered(offers);
                Ok(None)
            }
            Ok(Done::Looked(scope, looked)) => {
                self.on_looked(scope, *looked);
                Ok(None)
            }
            Ok(Done::Exported(written)) => self.on_exported(written),
            Ok(Done::Rewritten(written)) => self.on_rewritten(written),
            Ok(Done::ChildRead(story, read)) => self.on_child_read(*story, read),
            Ok(Done::Told(title, told)) => Ok(self.on_told(title, *told)),
            Ok(Done::History(runs)) => self.on_history(runs),
            Ok(Done::Seen(glance)) => self.on_seen(*glance),
            Ok(Done::Freed) => self.on_freed(),
            Err(_) => Ok(Some(End::Panicked)),
        }
    }
}

fn is_at_work(state: &State) -> bool {
    // A turn that is held back has not begun.
    let is_busy = |busy: &Busy| !matches!(busy, Busy::Held { .. });
    state.running.is_some() || state.busy.as_ref().is_some_and(is_busy)
}
