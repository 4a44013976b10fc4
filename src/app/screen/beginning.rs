//! From an opened screen to a run: the directory is taken first, a run is made when there is a goal.

use crate::app::start::{self, Begun, Found, Occupied, Refusal, Wishes, stay_clear};
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::question::QuestionKind;
use crate::domain::turn::Purpose;
use crate::engine::git::{Head, Repository};
use crate::tui::ScreenSettings;

use super::ending::End;
use super::watch::Watch;
use super::{Done, First, Shell};

/// A directory that is ours, with what the screen shows of it.
pub struct Opened {
    occupied: Occupied,
    branch: Option<String>,
}

/// A run that is to begin.
pub struct Begin {
    goal: String,
    /// What the user did since.
    since: Vec<Event>,
}

/// A run that was tried to begin.
pub struct Attempt {
    occupied: Occupied,
    begun: Result<Begun, Refusal>,
}

impl Shell {
    /// Looks at the directory and takes it, beside the loop.
    pub(super) fn open(&mut self) {
        let wishes = self.wishes.clone();
        self.tasks
            .spawn(async move { Done::Opened(Box::new(open(&wishes).await)) });
    }

    pub(super) fn on_opened(
        &mut self,
        opened: Result<Opened, Refusal>,
    ) -> Result<Option<End>, End> {
        let Opened {
            mut occupied,
            branch,
        } = opened.map_err(End::Refused)?;
        for notice in std::mem::take(&mut occupied.notices) {
            self.screen.on_notice(&notice);
        }
        self.settings = ScreenSettings {
            confirm_enter: occupied.found.loaded.config.workflow.confirm_enter,
            repository: occupied.found.root.to_string_lossy().into_owned(),
            branch,
            ..self.settings.clone()
        };
        self.screen.on_settings(self.settings.clone());
        match Watch::begin(&occupied.layout) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => self.screen.on_notice(&format!(
                "changes of plan.md and comments.md are seen only when a turn ends: {error}"
            )),
        }
        self.occupied = Some(occupied);
        if let First::Demo { goal } = &self.first {
            let goal = goal.clone();
            return self.begin(goal);
        }
        match self.beginning.is_some() {
            true => self.try_to_begin(),
            false => Ok(None),
        }
    }

    /// Begins a run with a goal; what the user does meanwhile is kept for it.
    pub(super) fn begin(&mut self, goal: String) -> Result<Option<End>, End> {
        let is_over = |phase: Phase| phase.is_final() || phase == Phase::Init;
        if self.beginning.is_some() || self.state().is_some_and(|state| !is_over(state.phase)) {
            self.screen
                .on_notice("a run is under way; cancel it before you begin another");
            return Ok(None);
        }
        self.beginning = Some(Begin {
            goal,
            since: Vec::new(),
        });
        self.try_to_begin()
    }

    fn try_to_begin(&mut self) -> Result<Option<End>, End> {
        // While the directory is not ours yet, its opening comes back here.
        let Some(mut occupied) = self.occupied.take() else {
            return Ok(None);
        };
        self.screen
            .on_notice("looking whether the agents are there …");
        self.engine = None;
        let wishes = self.wishes.clone();
        self.tasks.spawn(async move {
            let begun = match start::check(&occupied.found).await {
                Ok(checked) => start::begin(&mut occupied, checked, &wishes).await,
                Err(refusal) => Err(refusal),
            };
            Done::Begun(Box::new(Attempt { occupied, begun }))
        });
        Ok(None)
    }

    pub(super) fn on_begun(&mut self, attempt: Attempt) -> Result<Option<End>, End> {
        let Attempt { occupied, begun } = attempt;
        self.occupied = Some(occupied);
        let Some(Begin { goal, since }) = self.beginning.take() else {
            return Ok(None);
        };
        let Begun { engine, notices } = match begun {
            Ok(begun) => begun,
            Err(refusal) => {
                self.screen
                    .on_notice(&format!("{}\n{}", refusal.problem, refusal.hint));
                // What was typed is not lost.
                self.screen.on_paste(&goal);
                return Ok(None);
            }
        };
        for notice in notices {
            self.screen.on_notice(&notice);
        }
        self.engine = Some(engine);
        self.previewed = None;
        let is_confirmed = |event: &Event| matches!(event, Event::GoalConfirmed { .. });
        let confirmed = since.iter().any(is_confirmed);
        self.feed(Event::GoalGiven { text: goal.clone() })?;
        if !confirmed {
            self.say(goal)?;
        }
        for event in since {
            self.on_event(event)?;
        }
        Ok(None)
    }

    /// Takes an event of the user; one that is said to a run that is about to begin waits for it.
    pub(super) fn on_event(&mut self, event: Event) -> Result<Option<End>, End> {
        if let Some(begin) = &mut self.beginning {
            begin.since.push(event);
            return Ok(None);
        }
        match event {
            Event::Said { text } => self.say(text),
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

async fn open(wishes: &Wishes) -> Result<Opened, Refusal> {
    let found = start::find(wishes).await?;
    let branch = match &found {
        Found {
            repository: Some(repository),
            ..
        } => branch(repository).await,
        Found {
            repository: None, ..
        } => None,
    };
    let occupied = start::occupy(found)?;
    stay_clear(&occupied.layout, wishes.unfinished)?;
    Ok(Opened { occupied, branch })
}

/// The branch that is checked out; what cannot be told is not shown.
async fn branch(repository: &Repository) -> Option<String> {
    match repository.head().await.ok()? {
        Head::Branch { name, .. } => Some(name),
        _ => None,
    }
}
