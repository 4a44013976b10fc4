//! Runs that are only looked at: one of the history, or one that another instance works on.
//!
//! Nothing is locked, nothing of them is written, and no engine runs. What changes is told by the system; each
//! look reads only what is new. A view lies over the screen, which goes on behind it.

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::app::history::{self, Finished};
use crate::app::start::{self, Found, Ground, Refusal, Unfinished, Wishes};
use crate::domain::run::State;
use crate::engine::onlooker::{Onlooker, Seen};
use crate::store::{InstanceLock, LockHolder, StoreError, WorkdirLayout};
use crate::tui::{PastRun, Screen, ScreenSettings};

use super::badges::{elsewhere, past, resting, row};
use super::documents::SETTLE;
use super::ending::End;
use super::front::Front;
use super::past::{Earlier, Page, Whose, last_page};
use super::reading::{Read, read_all};
use super::watch::Watch;
use super::{Done, First, Shell};

/// A directory that is only looked at.
pub struct Sight {
    layout: WorkdirLayout,
    what: What,
    repository: String,
    branch: Option<String>,
    ground: Ground,
}

/// What there is to look at.
#[derive(Debug)]
enum What {
    /// A finished run.
    Past(Box<Finished>),
    /// The run that another instance works on.
    Held(LockHolder),
    /// The run that nobody works on.
    Resting,
}

/// One look at a run, made beside the loop.
pub struct Glance {
    id: u64,
    onlooker: Onlooker,
    seen: Seen,
    /// The end of the log, where the run was taken up there.
    page: Option<Result<Box<Page>, StoreError>>,
    documents: Option<Result<Read, StoreError>>,
}

/// What is looked at, over the screen's own run.
#[derive(Default)]
pub struct Views {
    /// What the program was opened for. As large as everything else of the screen, and seldom there.
    base: Option<Box<Viewing>>,
    /// A finished run over it, or over the screen.
    opened: Option<Box<Viewing>>,
    /// The finished runs that were listed last.
    listed: Vec<Finished>,
    n_opened: u64,
    wish: Wish,
    /// Where the trees of what is looked at lie, where the program was opened to look.
    pub ground: Option<Ground>,
}

/// What is done as soon as the directory was looked at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Wish {
    #[default]
    Nothing,
    /// The finished runs are listed.
    History,
}

/// One run that is looked at.
pub struct Viewing {
    id: u64,
    settings: ScreenSettings,
    screen: Screen,
    state: Option<State>,
    layout: WorkdirLayout,
    /// `None` while it looks.
    onlooker: Option<Onlooker>,
    due: Option<Instant>,
    /// The trouble that was told last.
    problem: Option<String>,
    /// What came before what the screen holds.
    earlier: Earlier,
}

impl Sight {
    /// The same with the branch that is checked out.
    pub fn on_branch(self, branch: Option<String>) -> Self {
        Self { branch, ..self }
    }
}

impl Views {
    /// What the user sees, where it is a view.
    pub fn top(&self) -> Option<&Viewing> {
        self.opened.as_deref().or(self.base.as_deref())
    }

    /// The same, to be changed.
    pub fn top_mut(&mut self) -> Option<&mut Viewing> {
        self.opened.as_deref_mut().or(self.base.as_deref_mut())
    }

    /// What the program was opened for, and the run that was opened over it or over the screen.
    pub fn base_and_opened(&mut self) -> (Option<&mut Viewing>, Option<&mut Viewing>) {
        (self.base.as_deref_mut(), self.opened.as_deref_mut())
    }

    /// Closes all views. What is looked at beside the loop comes too late for any that is opened later.
    fn close_all(&mut self) {
        let n_opened = self.n_opened;
        *self = Self::default();
        self.n_opened = n_opened;
    }

    /// The run in front, where it is a view: what is known of it and where it lies.
    pub fn run_in_front(&self) -> Option<(Option<State>, WorkdirLayout)> {
        let top = self.top()?;
        Some((top.state.clone(), top.layout.clone()))
    }

    /// Takes the finished runs that the screen names by itself, unless they were listed since.
    pub fn name_runs(&mut self, runs: Vec<Finished>) {
        if self.listed.is_empty() {
            self.listed = runs;
        }
    }

    /// Tells whether another run is looked at over the program's own.
    pub fn is_over(&self) -> bool {
        self.opened.is_some()
    }

    /// Tells whether the program was opened to look.
    pub fn follows(&self) -> bool {
        self.base.is_some()
    }

    /// When to look again, where something changed.
    pub fn due(&self) -> Option<Instant> {
        let base = self.base.as_ref().filter(|base| base.onlooker.is_some());
        base.and_then(|base| base.due)
    }

    /// Notes that something changed.
    pub fn on_changed(&mut self, now: Instant) {
        if let Some(base) = &mut self.base {
            base.due.get_or_insert(now + SETTLE);
        }
    }

    /// Whose past is read when somebody scrolls up; where it lies.
    pub fn whose_past(&self) -> Option<(Whose, WorkdirLayout)> {
        let top = self.top()?;
        Some((Whose::View(top.id), top.layout.clone()))
    }

    /// A view's screen, and what came before what it holds.
    pub fn past_of(&mut self, id: u64) -> Option<(&mut Screen, &mut Earlier)> {
        let viewing = self.by_id(id)?;
        Some((&mut viewing.screen, &mut viewing.earlier))
    }

    fn by_id(&mut self, id: u64) -> Option<&mut Viewing> {
        let mut all = self.base.iter_mut().chain(&mut self.opened);
        let found = all.find(|viewing| viewing.id == id)?;
        Some(found)
    }

    fn next(&mut self, layout: WorkdirLayout, settings: ScreenSettings) -> Box<Viewing> {
        self.n_opened += 1;
        Box::new(Viewing {
            id: self.n_opened,
            screen: Screen::new(settings.clone()),
            settings,
            state: None,
            onlooker: Some(Onlooker::at_the_end(layout.clone())),
            layout,
            due: None,
            problem: None,
            earlier: Earlier::default(),
        })
    }
}

impl Viewing {
    /// The screen and what it draws.
    pub fn front(&mut self) -> Front<'_> {
        (&mut self.screen, self.state.as_ref())
    }

    /// Tells whether a frame is needed.
    pub fn is_dirty(&self) -> bool {
        self.screen.is_dirty()
    }

    fn take(&mut self, seen: Seen, documents: Option<Result<Read, StoreError>>) {
        if seen.anew {
            self.screen = Screen::new(self.settings.clone());
            self.earlier = Earlier::default();
        }
        for record in &seen.records {
            self.screen.on_event(record.at, &record.event);
        }
        self.state = seen.state;
        let mut problem = seen.problem;
        match documents {
            Some(Ok(read)) => self.screen.on_documents(read.texts()),
            Some(Err(error)) => problem = problem.or(Some(error.to_string())),
            None => {}
        }
        if problem != self.problem {
            self.problem.clone_from(&problem);
            if let Some(problem) = problem {
                self.screen.on_notice(&problem);
            }
        }
        self.screen.touch();
    }
}

/// What there is to look at, where the directory is not to be taken. Changes nothing. Blocks.
///
/// # Errors
/// The directory cannot be looked at, or holds no such run.
pub fn sight(found: &Found, (wishes, first): (&Wishes, &First)) -> Result<Option<Sight>, Refusal> {
    let layout = start::layout(&found.root, &found.loaded.config)?;
    let held = InstanceLock::read_holder(&layout)?;
    let what = match (first, held) {
        (First::Demo { .. }, _) => return Ok(None),
        (First::Read { name }, _) => What::Past(Box::new(history::named(&layout, name)?)),
        // Who wants the run archived is told who works on it.
        (_, Some(_)) if wishes.unfinished == Unfinished::Archive => return Ok(None),
        (_, Some(held)) => What::Held(held),
        (First::View, None) if !layout.workdir().is_dir() => {
            return Err(Refusal::error(
                format!("there is no run to look at in {}", found.root.display()),
                "`agent-collab` without --view begins one",
            ));
        }
        (First::View, None) => What::Resting,
        (First::AskForGoal | First::TakeUp | First::BringBack { .. }, None) => return Ok(None),
    };
    Ok(Some(Sight {
        layout,
        what,
        repository: found.root.to_string_lossy().into_owned(),
        branch: None,
        ground: Ground::of(found),
    }))
}

impl Shell {
    /// Opens a view as what the program was opened for.
    pub(super) fn view(&mut self, sight: Sight) -> Result<Option<End>, End> {
        let Sight {
            layout,
            what,
            repository,
            branch,
            ground,
        } = sight;
        self.views.ground = Some(ground);
        let (theme, look) = self.screen.dress();
        let utc_offset = self.settings.utc_offset;
        let settings = |read_only| ScreenSettings {
            theme: theme.clone(),
            look: look.clone(),
            utc_offset,
            repository: repository.clone(),
            branch: branch.clone(),
            read_only: Some(read_only),
            ..ScreenSettings::default()
        };
        match what {
            What::Past(run) => {
                let viewing = self.views.next(run.layout.clone(), settings(past(&run)));
                self.views.base = Some(viewing);
            }
            What::Resting => {
                let viewing = self.views.next(layout.clone(), settings(resting()));
                self.views.base = Some(viewing);
                self.follow(&layout);
            }
            What::Held(held) => {
                let mut viewing = self.views.next(layout.clone(), settings(elsewhere(&held)));
                viewing.screen.on_notice(&format!(
                    "another agent-collab works in this repository ({held}): you look at its run and see what it does; when it ends, you can take over"
                ));
                self.views.base = Some(viewing);
                self.follow(&layout);
                self.await_end(layout);
            }
        }
        self.look_again();
        Ok(None)
    }

    fn follow(&mut self, layout: &WorkdirLayout) {
        match Watch::follow(layout) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => {
                if let Some(base) = &mut self.views.base {
                    base.screen
                        .on_notice(&format!("what changes is not seen: {error}"));
                }
            }
        }
    }

    /// Waits beside the loop for the end of the instance that holds the directory.
    fn await_end(&mut self, layout: WorkdirLayout) {
        let (tell, told) = oneshot::channel();
        // The wait cannot be called off, so it is no task: the program's end does not wait for it.
        std::thread::spawn(move || {
            if let Err(error) = InstanceLock::wait_until_free(&layout) {
                tracing::warn!(%error, "the end of the other instance is not seen");
                return;
            }
            // Nobody listens any more when the view was closed.
            let _closed = tell.send(());
        });
        self.beside(async move {
            match told.await {
                Ok(()) => Done::Freed,
                Err(_) => std::future::pending().await,
            }
        });
    }

    pub(super) fn on_freed(&mut self) -> Result<Option<End>, End> {
        if let Some(base) = &mut self.views.base {
            base.screen.on_read_only(resting());
            base.settings.read_only = Some(resting());
            base.screen.on_free();
        }
        self.look_again();
        Ok(None)
    }

    /// Closes all views and starts as if the program had just been opened.
    pub(super) fn take_over(&mut self, first: First) -> Result<Option<End>, End> {
        let (front, _) = self.front();
        // What the terminal told of its ground is not asked for again.
        (self.settings.theme, self.settings.look) = front.dress();
        self.views.close_all();
        self.watch = None;
        self.first = first;
        self.screen = Screen::new(self.settings.clone());
        self.open();
        Ok(None)
    }

    /// Closes the view in front; the program ends with what it was opened for.
    pub(super) fn close_view(&mut self) -> Option<End> {
        self.screen.touch();
        match self.close_opened() {
            Some(()) => None,
            None => Some(End::Left),
        }
    }

    /// Closes the run that was opened over another, where there is one; the theme and the mouse stay as they were
    /// chosen there.
    pub(super) fn close_opened(&mut self) -> Option<()> {
        let dress = self.views.opened.take()?.screen.dress();
        let (front, _) = self.front();
        front.dress_in(dress);
        Some(())
    }

    /// Reads on what the program was opened to look at.
    pub(super) fn look_again(&mut self) {
        if let Some(id) = self.views.base.as_ref().map(|base| base.id) {
            self.look(id);
        }
    }

    /// Reads a run on beside the loop, unless that is under way.
    fn look(&mut self, id: u64) {
        let Some(viewing) = self.views.by_id(id) else {
            return;
        };
        let Some(mut onlooker) = viewing.onlooker.take() else {
            viewing.due = Some(Instant::now());
            return;
        };
        viewing.due = None;
        self.tasks.spawn_blocking(move || {
            let seen = onlooker.look();
            let last = seen.untold;
            let page = last.map(|last| last_page(onlooker.layout(), last));
            // The documents are shown as they lie there once all is told.
            let documents = (!seen.more).then(|| read_all(onlooker.layout()));
            Done::Seen(Box::new(Glance {
                id,
                onlooker,
                seen,
                page,
                documents,
            }))
        });
    }

    pub(super) fn on_seen(&mut self, glance: Glance) -> Result<Option<End>, End> {
        let Glance {
            id,
            onlooker,
            seen,
            page,
            documents,
        } = glance;
        let Some(viewing) = self.views.by_id(id) else {
            return Ok(None);
        };
        let more = seen.more;
        viewing.onlooker = Some(onlooker);
        viewing.take(seen, documents);
        if more {
            self.look(id);
        }
        page.map_or(Ok(None), |page| self.on_past(Whose::View(id), page))
    }

    /// Lists the finished runs beside the loop.
    pub(super) fn show_history(&mut self) -> Result<Option<End>, End> {
        let seen = self.views.base.as_ref().map(|base| &base.layout);
        let layout = self.occupied.as_ref().map(|occupied| &occupied.layout);
        let Some(layout) = layout.or(seen).cloned() else {
            // They are listed once the directory was looked at.
            self.views.wish = Wish::History;
            return Ok(None);
        };
        self.tasks
            .spawn_blocking(move || Done::History(history::list(&layout)));
        Ok(None)
    }

    /// Does what could not be done before the directory was looked at.
    pub(super) fn grant_wish(&mut self) -> Result<Option<End>, End> {
        match std::mem::take(&mut self.views.wish) {
            Wish::Nothing => Ok(None),
            Wish::History => self.show_history(),
        }
    }

    pub(super) fn on_history(
        &mut self,
        runs: Result<Vec<Finished>, StoreError>,
    ) -> Result<Option<End>, End> {
        let (screen, _) = self.front();
        match runs {
            Ok(runs) => {
                let rows: Vec<PastRun> = runs.iter().map(row).collect();
                screen.on_history(&rows);
                self.views.listed = runs;
            }
            Err(error) => screen.on_word(&format!("{error}; {}", error.hint())),
        }
        Ok(None)
    }

    /// Opens a finished run over what is there.
    pub(super) fn open_run(&mut self, name: &str) -> Result<Option<End>, End> {
        let listed = self.views.listed.iter().find(|run| run.name == name);
        let Some(run) = listed.cloned() else {
            let (screen, _) = self.front();
            screen.on_word("that run was not found; /history lists those that are there");
            return Ok(None);
        };
        let (front, _) = self.front();
        let (theme, look) = front.dress();
        let settings = ScreenSettings {
            theme,
            look,
            read_only: Some(past(&run)),
            demo: false,
            ..self.settings.clone()
        };
        let viewing = self.views.next(run.layout, settings);
        let id = viewing.id;
        self.views.opened = Some(viewing);
        self.look(id);
        Ok(None)
    }
}
