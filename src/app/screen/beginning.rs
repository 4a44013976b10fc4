//! From an opened screen to a run: the directory is taken first, a run is made when there is a goal.

use tokio::time::Instant;

use crate::app::looks::Looks;
use crate::app::socket::Socket;
use crate::app::start::{self, Begun, Lies, Occupied, Refusal, Unfinished, Wishes};
use crate::app::terminal;
use crate::domain::event::Event;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::{Answer, CommitTerms, QuestionKind};
use crate::domain::run::State;
use crate::domain::turn::{Purpose, Role};
use crate::engine::git::Repository;
use crate::store;
use crate::text::clean;
use crate::tui::{Action, Documents, ScreenSettings};

use super::documents::Looking;
use super::ending::End;
use super::needed::{LOOKING, needed_for, needed_for_nothing};
use super::viewing::{self, Sight};
use super::waiting_texts::typed;
use super::watch::Watch;
use super::{Done, First, Shell};

/// A directory that was looked at, with what the screen shows of it.
pub enum Opened {
    /// It is ours.
    Ours {
        /// The directory.
        occupied: Box<Occupied>,
        /// What lies there that could go on.
        lies: Lies,
        /// How the screen looks.
        looks: Box<Looks>,
    },
    /// It is only looked at.
    Seen(Box<Sight>, Box<Looks>),
}

/// A run that is to begin or to go on.
pub struct Begin {
    /// Which run.
    pub what: What,
    /// What the user did since.
    pub since: Vec<Event>,
    /// What the user wanted begun since, in order.
    pub next: Vec<What>,
}

impl Begin {
    /// Nothing was done since.
    pub fn of(what: What) -> Self {
        Self {
            what,
            since: Vec::new(),
            next: Vec::new(),
        }
    }
}

/// Which run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A new one with this goal, about which this agent talks.
    Goal(String, Role),
    /// The unfinished one.
    Unfinished,
    /// One for this action, which needs no goal: what lies here where it is over, else an empty one.
    Beside(Box<Action>),
    /// The one that lies here without a goal.
    WithoutGoal,
}

/// A run that was tried to begin.
pub struct Attempt {
    occupied: Occupied,
    begun: Result<Begun, Refusal>,
}

impl Shell {
    /// Looks at the directory and takes it, beside the loop.
    pub(super) fn open(&mut self) {
        let (wishes, first) = (self.wishes.clone(), self.first.clone());
        self.beside(async move { Done::Opened(Box::new(open(&wishes, &first).await)) });
    }

    pub(super) fn on_opened(
        &mut self,
        opened: Result<Opened, Refusal>,
    ) -> Result<Option<End>, End> {
        let (mut occupied, lies) = match opened.map_err(End::Refused)? {
            Opened::Ours {
                occupied,
                lies,
                looks,
            } => {
                self.look_like(*looks);
                (*occupied, lies)
            }
            Opened::Seen(sight, looks) => {
                self.look_like(*looks);
                return self.view(*sight);
            }
        };
        for notice in std::mem::take(&mut occupied.notices) {
            self.screen.on_notice(&notice);
        }
        let repository = occupied.found.repository.clone();
        let plain = repository.as_ref().and_then(Repository::plain_branch);
        let is_known = plain.is_some();
        self.settings = ScreenSettings {
            branch_before: plain.clone(),
            branch: plain,
            confirm_enter: occupied.found.loaded.config.workflow.confirm_enter,
            repository: occupied.found.root.to_string_lossy().into_owned(),
            ..self.settings.clone()
        };
        self.screen.on_settings(self.settings.clone());
        self.recall_written(&occupied.found);
        self.name_presets(&occupied.found.loaded.config);
        if let Some(repository) = repository.filter(|_| !is_known) {
            // Nobody waits for a name in the header.
            self.beside(async move { Done::Branch(branch(&repository).await) });
        }
        self.listen(&occupied);
        self.occupied = Some(occupied);
        self.grant_wish()?;
        if let First::Demo { goal: Some(goal) } = &self.first {
            let goal = goal.clone();
            return self.begin(What::Goal(goal, Role::default()));
        }
        match (&self.first, lies) {
            (First::TakeUp, Lies::Unfinished(..)) => return self.begin(What::Unfinished),
            (First::TakeUp, _) => self.screen.on_notice("no unfinished run is here"),
            (First::BringBack { name }, Lies::WithoutGoal | Lies::Nothing) => {
                let name = name.clone();
                return self.bring_back(name);
            }
            (_, Lies::Unfinished(run, state)) => self.ask_about(&run, state),
            (First::AskForGoal, Lies::WithoutGoal) if self.beginning.is_none() => {
                return self.begin(What::WithoutGoal);
            }
            (First::AskForGoal, _) if self.beginning.is_none() => self.look_around(),
            _ => {}
        }
        match self.beginning.is_some() {
            true => self.try_to_begin(),
            false => Ok(None),
        }
    }

    /// Hears of changed documents. Only with a run: before it there are none, and the system takes up to 25 ms
    /// to let go of a watch, for which the program's end waits.
    fn watch(&mut self) {
        let Some(occupied) = self.occupied.as_ref().filter(|_| self.watch.is_none()) else {
            return;
        };
        match Watch::begin(&occupied.layout) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => {
                let names = occupied.layout.names();
                self.screen.on_notice(&format!(
                    "changes of {} and {} are seen only when a turn ends: {error}",
                    names.plan, names.comments
                ));
            }
        }
    }

    /// Hears of commands from outside.
    fn listen(&mut self, occupied: &Occupied) {
        // One that goes takes its file with it.
        self.socket = None;
        let (killed, notice) = occupied.killed_instances();
        if let Some(notice) = notice {
            self.screen.on_notice(&notice);
        }
        match Socket::listen(&occupied.layout, killed) {
            Ok(socket) => self.socket = Some(socket),
            Err(error) => self.screen.on_notice(&format!(
                "`agent-collab send` cannot reach this instance: {error}"
            )),
        }
    }

    /// Looks and listens as the user wishes it.
    fn look_like(&mut self, looks: Looks) {
        self.motion = looks.motion;
        self.telling.tell_by(looks.notify);
        self.screen.on_look(looks.look);
        self.screen.on_agents(looks.agents);
        if let Some(theme) = looks.theme {
            self.screen.on_theme(theme);
        }
    }

    /// Shows the branch that is checked out.
    pub(super) fn on_branch(&mut self, branch: Option<String>) -> Result<Option<End>, End> {
        let execution = self.state().and_then(|state| state.execution.as_ref());
        let is_of_run = execution.is_some_and(|execution| {
            matches!(&execution.commits, CommitTerms::New { branch: new } if branch.as_ref() == Some(new))
        });
        if !is_of_run {
            self.settings.branch_before = branch.clone();
        }
        self.settings.branch = branch;
        self.screen.on_settings(self.settings.clone());
        Ok(None)
    }

    /// Looks which branch is checked out: a run or the user may have switched. It costs the reading of a line.
    pub(super) fn look_at_branch(&mut self) -> Result<Option<End>, End> {
        let occupied = self.occupied.as_ref();
        let repository = occupied.and_then(|occupied| occupied.found.repository.as_ref());
        match repository.and_then(Repository::plain_branch) {
            Some(branch) if self.settings.branch.as_ref() != Some(&branch) => {
                self.on_branch(Some(branch))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Asks whether the unfinished run goes on, and shows it as it was left meanwhile.
    fn ask_about(&mut self, run: &str, state: Option<Box<State>>) {
        self.screen.on_unfinished(run);
        self.lying = state.map(|state| Box::new((*state).as_left()));
        if let Some(layout) = self
            .occupied
            .as_ref()
            .map(|occupied| occupied.layout.clone())
        {
            // It is there when it is there.
            let _was_shown = self.show_past(&layout);
            self.documents.on_changed(Instant::now());
        }
        self.look_around();
    }

    /// Lets the unfinished run go to the history as soon as another one begins.
    pub(super) fn archive(&mut self) -> Result<Option<End>, End> {
        self.wishes.unfinished = Unfinished::Archive;
        self.lying = None;
        self.documents = Looking::default();
        self.screen.on_documents(Documents::default());
        self.forget_past();
        self.screen
            .on_notice("the unfinished run goes to history/ when the new one begins; until then /resume continues it, and from there /history");
        Ok(None)
    }

    /// Begins a run or lets one go on; what the user does meanwhile is kept for it.
    pub(super) fn begin(&mut self, what: What) -> Result<Option<End>, End> {
        if self.asked.is_some() {
            self.screen
                .on_word("answer first whether the agents are sent the instructions");
            self.screen.give_back(typed(&what).into_iter().collect());
            return Ok(None);
        }
        let has_no_goal = self.state().is_some_and(|state| state.phase == Phase::Init);
        let what = match self.beginning {
            Some(_) => what,
            None if self.stands_against_beginning(&what).is_some() => what,
            None => match self.ask_about_instructions(Begin::of(what)) {
                Some(begin) => begin.what,
                None => return Ok(None),
            },
        };
        if let (What::Goal(goal, refiner), true, None) = (&what, has_no_goal, &self.beginning) {
            // It was opened for something else; its goal comes now.
            return match self.is_checked {
                true => self.give_goal(goal.clone(), *refiner, &[]),
                false => self.check_for_a_goal(what),
            };
        }
        if let Some(why) = self.stands_against_beginning(&what) {
            self.screen.on_word(why);
            self.screen.on_not_begun();
            self.screen.give_back(typed(&what).into_iter().collect());
            return Ok(None);
        }
        if let Some(begin) = &mut self.beginning {
            begin.next.push(what);
            return Ok(None);
        }
        self.beginning = Some(Begin::of(what));
        self.try_to_begin()
    }

    pub(super) fn try_to_begin(&mut self) -> Result<Option<End>, End> {
        if let Some(begin) = self.beginning.take() {
            self.beginning = self.ask_about_instructions(begin);
        }
        if self.beginning.is_none() {
            return Ok(None);
        }
        // While the directory is not ours yet, its opening comes back here.
        let (Some(mut occupied), Some(begin)) = (self.occupied.take(), &self.beginning) else {
            return Ok(None);
        };
        self.screen.on_word(LOOKING);
        (self.engine, self.lying) = (None, None);
        let (wishes, what) = (self.wishes.clone(), begin.what.clone());
        let was_shown = match what {
            What::Goal(..) => {
                self.past_is_shown = false;
                None
            }
            What::Unfinished | What::Beside(_) | What::WithoutGoal => {
                Some(self.show_past(&occupied.layout))
            }
        };
        self.beside(async move {
            // A user sees where they were before the work of taking it up begins.
            if let Some(was_shown) = was_shown {
                let _it_ends_without_a_word = was_shown.await;
            }
            let begun = stand(&mut occupied, &wishes, &what).await;
            Done::Begun(Box::new(Attempt { occupied, begun }))
        });
        Ok(None)
    }

    pub(super) fn on_begun(&mut self, attempt: Attempt) -> Result<Option<End>, End> {
        let Attempt { occupied, begun } = attempt;
        self.occupied = Some(occupied);
        let Some(begin) = self.beginning.take() else {
            return Ok(None);
        };
        let begun = match begun {
            Ok(begun) => begun,
            Err(refusal) => return self.on_not_begun(&refusal, begin),
        };
        let Begin { what, since, next } = begin;
        for notice in begun.notices {
            self.screen.on_notice(&notice);
        }
        self.show_holding(&begun.engine);
        self.show_project_asks();
        self.screen.forget_word();
        self.engine = Some(begun.engine);
        self.watch();
        self.previewed = None;
        self.is_checked = matches!(what, What::Goal(..) | What::Unfinished);
        self.documents.on_changed(Instant::now());
        let ended = match what {
            What::Goal(goal, refiner) => self.give_goal(goal, refiner, &since),
            What::Unfinished => self.go_on(),
            What::Beside(action) => self.act_beside(*action),
            What::WithoutGoal => self.show_news(),
        };
        match ended? {
            Some(end) => Ok(Some(end)),
            None => self.begin_next(next, since),
        }
    }

    fn act_beside(&mut self, action: Action) -> Result<Option<End>, End> {
        match self.show_news()? {
            Some(end) => Ok(Some(end)),
            None => self.on_action(action),
        }
    }

    /// Gives the run its goal, and talks about it unless the user has confirmed it already.
    pub(super) fn give_goal(
        &mut self,
        goal: String,
        refiner: Role,
        since: &[Event],
    ) -> Result<Option<End>, End> {
        let is_confirmed = |event: &Event| matches!(event, Event::GoalConfirmed { .. });
        let talk = !since.iter().any(is_confirmed);
        let text = clean(&goal);
        if let Some(end) = self.feed(Event::GoalGiven { text: text.clone() })? {
            return Ok(Some(end));
        }
        if self.state().is_some_and(|state| state.refiner != refiner) {
            let chosen = Event::RefinerChosen {
                role: refiner,
                goal: None,
            };
            if let Some(end) = self.feed(chosen)? {
                return Ok(Some(end));
            }
            if self.state().is_some_and(|state| state.refiner != refiner) {
                self.screen
                    .on_notice("this run has no reviewer: the planner talks about the goal");
            }
        }
        match talk {
            true => self.say(text),
            false => Ok(None),
        }
    }

    /// Takes the unfinished run up; whatever the gate was, the user releases the next turn.
    fn go_on(&mut self) -> Result<Option<End>, End> {
        if let Some(engine) = &mut self.engine {
            engine.resume(Gate::Manual)?;
        }
        let ended = self.show_news()?;
        self.screen
            .go_to_question(self.engine.as_ref().map(|engine| engine.state()));
        Ok(ended)
    }

    /// Takes an event of the user; one that is said to a run that is about to begin waits for it.
    pub(super) fn on_event(&mut self, event: Event) -> Result<Option<End>, End> {
        if let Some(begin) = &mut self.beginning {
            begin.since.push(event);
            return Ok(None);
        }
        match event {
            Event::Said { text } => self.say(text),
            Event::Answered {
                id,
                answer: Answer::Merge,
            } => self.merge(id),
            other => self.feed(other),
        }
    }

    /// Says something about the goal. Sending it is its release: the user has just read all of it.
    fn say(&mut self, text: String) -> Result<Option<End>, End> {
        if let Some(end) = self.feed(Event::Said { text })? {
            return Ok(Some(end));
        }
        let awaiting = self.state().and_then(|state| state.awaiting.as_ref());
        let waits = awaiting.is_some_and(|question| {
            matches!(&question.kind, QuestionKind::Gate { order }
                if matches!(order.purpose, Purpose::RefineGoal { .. }))
        });
        match waits {
            true => self.feed(Event::Released),
            false => Ok(None),
        }
    }
}

async fn open(wishes: &Wishes, first: &First) -> Result<Opened, Refusal> {
    let found = start::find(wishes).await?;
    let looks = Looks::of(&found.loaded, terminal::depth()).map_err(|problems| {
        Refusal::error(problems, "`agent-collab config check` lists them again")
    })?;
    if let Some(sight) = viewing::sight(&found, (wishes, first))? {
        let branch = match &found.repository {
            Some(repository) => branch(repository).await,
            None => None,
        };
        return Ok(Opened::Seen(
            Box::new(sight.on_branch(branch)),
            Box::new(looks),
        ));
    }
    let occupied = start::occupy(found)?;
    // Whatever was being moved to the history or back lies where it belongs.
    store::archive_move::finish_move(&occupied.layout, &occupied.lock)?;
    let lies = match wishes.unfinished {
        Unfinished::Refuse => start::unfinished(&occupied.layout)?,
        // Whatever it is, it is going to be archived.
        Unfinished::Archive => Lies::Nothing,
    };
    Ok(Opened::Ours {
        occupied: Box::new(occupied),
        lies,
        looks: Box::new(looks),
    })
}

async fn stand(occupied: &mut Occupied, wishes: &Wishes, what: &What) -> Result<Begun, Refusal> {
    let found = &occupied.found;
    let (checked, absent) = match what {
        What::Goal(..) => {
            let checked = start::check(found).await?;
            return start::begin(occupied, checked, wishes).await;
        }
        What::Unfinished => {
            let checked = start::check(found).await?;
            return start::take_up(occupied, checked, wishes).await;
        }
        What::Beside(action) => needed_for(occupied, action).await?,
        What::WithoutGoal => needed_for_nothing(occupied).await?,
    };
    start::beside_a_goal(occupied, checked, wishes, absent).await
}

/// The branch that is checked out; what cannot be told is not shown.
async fn branch(repository: &Repository) -> Option<String> {
    repository.current_branch().await.ok()?
}
