//! Queues what the user sends while a run opens, in order; what cannot be sent returns to the composer.
//!
//! No input is lost.

use crate::app::startup::StartError;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::tui::Action;

use super::TuiApp;
use super::run_startup::{PendingRunStart, RunStartKind};
use super::shutdown::TuiEnd;

impl PendingRunStart {
    /// Returns whether a request can wait for this run: one that needs no goal can, and a goal can if the run has none
    /// yet.
    fn accepts(&self, what: &RunStartKind) -> bool {
        match (&self.what, what) {
            (RunStartKind::WithoutGoal | RunStartKind::ForAction(_), _)
            | (_, RunStartKind::ForAction(_)) => true,
            (RunStartKind::Goal(..) | RunStartKind::Unfinished, _) => false,
        }
    }
}

impl TuiApp {
    /// Returns why a run does not start now; `None` if it does, or if it waits for the run that is opening.
    pub(super) fn start_blocker(&self, what: &RunStartKind) -> Option<&'static str> {
        if let Some(begin) = &self.pending_start {
            return (!begin.accepts(what))
                .then_some("A run is opening. Send this once it is open.");
        }
        let state = self.state()?;
        let is_wanted = state.phase == Phase::Init && matches!(what, RunStartKind::Goal(..));
        (!is_wanted && !state.is_over())
            .then_some("A run is open. Cancel it before you start another.")
    }

    /// Carries out the queued requests, in order.
    pub(super) fn start_queued(
        &mut self,
        next: Vec<RunStartKind>,
        since: Vec<Event>,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        for what in next {
            let ended = match what {
                RunStartKind::ForAction(action) => self.on_action(*action)?,
                what @ (RunStartKind::Goal(..)
                | RunStartKind::Unfinished
                | RunStartKind::WithoutGoal) => self.start_run(what)?,
            };
            if ended.is_some() {
                return Ok(ended);
            }
        }
        if self.engine.is_none() && self.pending_start.is_none() {
            self.screen.return_messages(texts_of_events(since));
            return Ok(None);
        }
        for event in since {
            if let Some(end) = self.on_event(event)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Shows why a run did not start. Queued input returns to the composer, or is sent if it does not need that run.
    pub(super) fn on_run_not_started(
        &mut self,
        refusal: &StartError,
        begin: PendingRunStart,
    ) -> Result<Option<TuiEnd>, TuiEnd> {
        let PendingRunStart { what, since, next } = begin;
        self.show_start_failure(refusal, &what);
        if what == RunStartKind::WithoutGoal {
            return self.start_queued(next, since);
        }
        self.screen.on_discussion_not_started();
        let sent = std::iter::once(&what).chain(&next);
        self.screen
            .return_messages(sent.filter_map(typed_text).collect());
        self.start_queued(Vec::new(), since)
    }

    /// Shows why an action failed, and returns its text to the composer.
    pub(super) fn return_to_composer(&mut self, why: &str, sent: &Action) {
        self.screen.set_toast(why);
        if let Action::Discuss(_) = sent {
            self.screen.on_discussion_not_started();
        }
        self.screen
            .return_messages(action_as_typed(sent).into_iter().collect());
    }
}

/// Returns what the user typed to start a run.
pub(super) fn typed_text(what: &RunStartKind) -> Option<String> {
    match what {
        RunStartKind::Goal(goal, _) => Some(goal.clone()),
        RunStartKind::ForAction(action) => action_as_typed(action),
        RunStartKind::Unfinished | RunStartKind::WithoutGoal => None,
    }
}

/// Returns what the user typed for an action, if it has a text of the user's.
fn action_as_typed(action: &Action) -> Option<String> {
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

/// Returns the texts in the user's events.
fn texts_of_events(events: Vec<Event>) -> Vec<String> {
    let text = |event| match event {
        Event::GoalMessageAdded { text } | Event::Steered { text } => Some(text),
        _ => None,
    };
    events.into_iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::turn::Role;
    use crate::tui::DiscussionTopic;

    fn task() -> RunStartKind {
        RunStartKind::ForAction(Box::new(Action::GiveTask {
            agent: "explore".to_owned(),
            prompt: "look".to_owned(),
        }))
    }

    fn goal() -> RunStartKind {
        RunStartKind::Goal("sing".to_owned(), Role::Planner)
    }

    #[test]
    fn what_needs_no_goal_waits_for_any_run_and_a_goal_for_one_without() {
        let check = |what: RunStartKind, next: RunStartKind, takes: bool| {
            let begin = PendingRunStart::new(what);
            assert_eq!(begin.accepts(&next), takes, "{:?} {next:?}", begin.what);
        };
        check(RunStartKind::WithoutGoal, goal(), true);
        check(RunStartKind::WithoutGoal, task(), true);
        check(task(), goal(), true);
        check(goal(), task(), true);
        check(RunStartKind::Unfinished, task(), true);
        check(goal(), goal(), false);
        check(RunStartKind::Unfinished, goal(), false);
    }

    #[test]
    fn what_was_typed_comes_back_as_it_is_sent_again() {
        let topic = |text: &str| {
            let topic = DiscussionTopic {
                text: text.to_owned(),
                preset: Some("brief".to_owned()),
                finding: None,
            };
            RunStartKind::ForAction(Box::new(Action::Discuss(topic)))
        };
        for (what, text) in [
            (goal(), Some("sing")),
            (task(), Some("@explore look")),
            (topic("why?"), Some("/discuss brief why?")),
            (topic(""), None),
            (RunStartKind::Unfinished, None),
        ] {
            assert_eq!(typed_text(&what).as_deref(), text);
        }
        let since = vec![
            Event::GoalMessageAdded {
                text: "and more".to_owned(),
            },
            Event::TurnSendConfirmed,
        ];
        assert_eq!(texts_of_events(since), ["and more"]);
    }
}
