//! What the user sent while a run was being opened: it waits, in order, and what nobody takes goes back to the composer.
//!
//! Refuses to lose any of it.

use crate::app::start::Refusal;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::tui::Action;

use super::Shell;
use super::beginning::{Begin, What};
use super::ending::End;

impl Begin {
    /// Tells whether something else can wait for the run: what needs no goal can, and a goal where there is none yet.
    fn takes(&self, what: &What) -> bool {
        match (&self.what, what) {
            (What::WithoutGoal | What::Beside(_), _) | (_, What::Beside(_)) => true,
            (What::Goal(..) | What::Unfinished, _) => false,
        }
    }
}

impl Shell {
    /// Why a run does not begin now; `None` where it does, or where it waits for the one that is being opened.
    pub(super) fn stands_against_beginning(&self, what: &What) -> Option<&'static str> {
        if let Some(begin) = &self.beginning {
            return (!begin.takes(what))
                .then_some("a run is being opened; send that once it is there");
        }
        let state = self.state()?;
        let is_wanted = state.phase == Phase::Init && matches!(what, What::Goal(..));
        (!is_wanted && !state.is_over())
            .then_some("a run is under way; cancel it before you begin another")
    }

    /// Does what waited for a run, in order.
    pub(super) fn begin_next(
        &mut self,
        next: Vec<What>,
        since: Vec<Event>,
    ) -> Result<Option<End>, End> {
        for what in next {
            let ended = match what {
                What::Beside(action) => self.on_action(*action)?,
                what @ (What::Goal(..) | What::Unfinished | What::WithoutGoal) => {
                    self.begin(what)?
                }
            };
            if ended.is_some() {
                return Ok(ended);
            }
        }
        if self.engine.is_none() && self.beginning.is_none() {
            self.screen.give_back(said(since));
            return Ok(None);
        }
        for event in since {
            if let Some(end) = self.on_event(event)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Says why a run did not begin. What was sent comes back, but for what needs another run than that.
    pub(super) fn on_not_begun(
        &mut self,
        refusal: &Refusal,
        begin: Begin,
    ) -> Result<Option<End>, End> {
        let Begin { what, since, next } = begin;
        self.say_why_not(refusal, &what);
        if what == What::WithoutGoal {
            return self.begin_next(next, since);
        }
        self.screen.on_not_begun();
        let sent = std::iter::once(&what).chain(&next);
        self.screen.give_back(sent.filter_map(typed).collect());
        self.begin_next(Vec::new(), since)
    }

    /// Says why what was sent is not done, and puts it back where it can be sent again.
    pub(super) fn refuse_sent(&mut self, why: &str, sent: &Action) {
        self.screen.on_word(why);
        if let Action::Discuss(_) = sent {
            self.screen.on_not_begun();
        }
        self.screen.give_back(as_typed(sent).into_iter().collect());
    }
}

/// What was typed for a run to begin.
pub(super) fn typed(what: &What) -> Option<String> {
    match what {
        What::Goal(goal, _) => Some(goal.clone()),
        What::Beside(action) => as_typed(action),
        What::Unfinished | What::WithoutGoal => None,
    }
}

/// What was typed for an action, where it holds a text of the user's.
fn as_typed(action: &Action) -> Option<String> {
    match action {
        Action::Discuss(topic) if topic.text.is_empty() => None,
        Action::Discuss(topic) => Some(match &topic.preset {
            Some(preset) => format!("/discuss {preset} {}", topic.text),
            None => format!("/discuss {}", topic.text),
        }),
        Action::GiveTask { agent, prompt } => Some(format!("@{agent} {prompt}")),
        _ => None,
    }
}

/// The texts among what the user did.
fn said(events: Vec<Event>) -> Vec<String> {
    let text = |event| match event {
        Event::Said { text } | Event::Steered { text } => Some(text),
        _ => None,
    };
    events.into_iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::turn::Role;
    use crate::tui::Topic;

    fn task() -> What {
        What::Beside(Box::new(Action::GiveTask {
            agent: "explore".to_owned(),
            prompt: "look".to_owned(),
        }))
    }

    fn goal() -> What {
        What::Goal("sing".to_owned(), Role::Planner)
    }

    #[test]
    fn what_needs_no_goal_waits_for_any_run_and_a_goal_for_one_without() {
        let check = |what: What, next: What, takes: bool| {
            let begin = Begin::of(what);
            assert_eq!(begin.takes(&next), takes, "{:?} {next:?}", begin.what);
        };
        check(What::WithoutGoal, goal(), true);
        check(What::WithoutGoal, task(), true);
        check(task(), goal(), true);
        check(goal(), task(), true);
        check(What::Unfinished, task(), true);
        check(goal(), goal(), false);
        check(What::Unfinished, goal(), false);
    }

    #[test]
    fn what_was_typed_comes_back_as_it_is_sent_again() {
        let topic = |text: &str| {
            let topic = Topic {
                text: text.to_owned(),
                preset: Some("brief".to_owned()),
                finding: None,
            };
            What::Beside(Box::new(Action::Discuss(topic)))
        };
        for (what, text) in [
            (goal(), Some("sing")),
            (task(), Some("@explore look")),
            (topic("why?"), Some("/discuss brief why?")),
            (topic(""), None),
            (What::Unfinished, None),
        ] {
            assert_eq!(typed(&what).as_deref(), text);
        }
        let since = vec![
            Event::Said {
                text: "and more".to_owned(),
            },
            Event::Released,
        ];
        assert_eq!(said(since), ["and more"]);
    }
}
