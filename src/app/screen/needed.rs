//! What something needs that is about to begin, and what is said where it is missing.
//!
//! Refuses to look for more than is needed: a CLI that nobody asks may be missing.

use std::collections::BTreeSet;

use crate::app::discussions;
use crate::app::start::{self, Absent, Checked, Commits, Occupied, Refusal};
use crate::text::one_line;
use crate::tui::Action;

use super::beginning::{Begin, What};
use super::discussing::topic_of;
use super::ending::End;
use super::{Done, Shell};

/// What is said while CLIs are looked for.
pub(super) const LOOKING: &str = "looking whether the agents are there …";

impl Shell {
    /// Looks whether all is there that the goal needs of a run that was opened without.
    pub(super) fn check_for_a_goal(&mut self, what: What) -> Result<Option<End>, End> {
        let Some(occupied) = &self.occupied else {
            return Ok(None);
        };
        self.screen.on_word(LOOKING);
        self.beginning = Some(Begin::of(what));
        let found = &occupied.found;
        let (children, root) = (found.children.clone(), found.root.clone());
        let (config, repository) = (found.loaded.config.clone(), found.repository.clone());
        self.beside(async move {
            let place = (&config, &*root);
            Done::Checked(start::check_for_a_goal(&children, place, repository.as_ref()).await)
        });
        Ok(None)
    }

    pub(super) fn on_checked(&mut self, checked: Result<(), Refusal>) -> Result<Option<End>, End> {
        let Some(Begin { what, since, next }) = self.beginning.take() else {
            return Ok(None);
        };
        if let Err(refusal) = checked {
            // The run that is open goes on: only the goal comes back.
            let begin = Begin {
                next,
                ..Begin::of(what)
            };
            self.on_not_begun(&refusal, begin)?;
            return self.begin_next(Vec::new(), since);
        }
        self.is_checked = true;
        self.screen.forget_word();
        let ended = match what {
            What::Goal(goal, refiner) => self.give_goal(goal, refiner, &since)?,
            _ => None,
        };
        match ended {
            Some(end) => Ok(Some(end)),
            None => self.begin_next(next, since),
        }
    }

    /// Says why there is no run.
    pub(super) fn say_why_not(&mut self, refusal: &Refusal, what: &What) {
        let text = format!("{}\n{}", refusal.problem, refusal.hint);
        let text = text.trim_end();
        match what {
            What::Goal(..) if self.engine.is_some() => self.tell_once(refusal, text),
            What::Goal(..) => {
                self.screen.on_refused(text);
                // What is missing may be another thing by now.
                self.look_around();
            }
            What::Unfinished => {
                self.screen.on_notice(text);
                self.screen.on_unfinished(text);
            }
            What::Beside(_) => self.tell_once(refusal, text),
            // Only a first page says what is missing.
            What::WithoutGoal => {
                self.forget_past();
                self.look_around();
            }
        }
    }

    /// Says what stands in the way; what was said already is said in short.
    pub(super) fn tell_once(&mut self, refusal: &Refusal, text: &str) {
        if self.told.as_deref() == Some(text) {
            let what = one_line(&refusal.problem);
            self.screen
                .on_word(&format!("not yet: {what}; the chat says what to do"));
            return;
        }
        self.screen.forget_word();
        self.screen.on_notice(text);
        self.told = Some(text.to_owned());
    }
}

/// What an action needs that needs no goal, looked at: CLIs of others than those who play in it need not be there.
pub(super) async fn needed_for(
    occupied: &Occupied,
    action: &Action,
) -> Result<(Checked, Absent), Refusal> {
    let found = &occupied.found;
    let (players, commits, absent) = match action {
        Action::GiveTask { agent, .. } => {
            let player = start::player_of(found, agent)?;
            (BTreeSet::from([player]), Commits::NotMade, Absent::Begin)
        }
        Action::Discuss(topic) => {
            let players = discussions::players_of(found, &occupied.layout, topic_of(topic))?;
            (players, Commits::NotMade, Absent::Begin)
        }
        _ => (BTreeSet::new(), Commits::Made, Absent::Refuse),
    };
    let checked = start::check_for(found, &players, commits).await?;
    Ok((checked, absent))
}

/// The same of a run that is only opened again.
pub(super) async fn needed_for_nothing(occupied: &Occupied) -> Result<(Checked, Absent), Refusal> {
    let nobody = BTreeSet::new();
    let checked = start::check_for(&occupied.found, &nobody, Commits::NotMade).await?;
    Ok((checked, Absent::Refuse))
}
