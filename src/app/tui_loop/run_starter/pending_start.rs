//! A run that is about to start, and what the user has sent since.

use crate::domain::event::Event;
use crate::domain::turn::Role;

use super::super::run_session::RunRequest;

/// A run that is about to start or resume.
pub struct PendingRunStart {
    pub what: RunStartKind,
    /// The user's events since then.
    pub since: Vec<Event>,
    /// The starts that the user requested since then, in order.
    pub next: Vec<RunStartKind>,
}

/// The kind of run to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStartKind {
    /// A new run with this goal, refined with this role's agent.
    Goal(String, Role),
    Unfinished,
    /// A run for this request, which needs no goal: the existing one if it is over, else an empty one.
    ForRequest(RunRequest),
    /// The existing run without a goal.
    WithoutGoal,
}

impl PendingRunStart {
    /// Creates a pending start without later events.
    pub fn new(what: RunStartKind) -> Self {
        Self {
            what,
            since: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Returns whether a request can wait for this run: one that needs no goal can, and a goal can if the run has none
    /// yet.
    pub fn accepts(&self, what: &RunStartKind) -> bool {
        match (&self.what, what) {
            (RunStartKind::WithoutGoal | RunStartKind::ForRequest(_), _)
            | (_, RunStartKind::ForRequest(_)) => true,
            (RunStartKind::Goal(..) | RunStartKind::Unfinished, _) => false,
        }
    }
}

impl RunStartKind {
    /// Returns what the user typed to start the run.
    pub fn typed_text(&self) -> Option<String> {
        match self {
            Self::Goal(goal, _) => Some(goal.clone()),
            Self::ForRequest(request) => request.typed_text(),
            Self::Unfinished | Self::WithoutGoal => None,
        }
    }
}

/// Returns the texts in the user's events.
pub fn texts_of_events(events: Vec<Event>) -> Vec<String> {
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
        RunStartKind::ForRequest(RunRequest::GiveTask {
            agent: "explore".to_owned(),
            prompt: "look".to_owned(),
        })
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
            RunStartKind::ForRequest(RunRequest::Discuss(topic))
        };
        for (what, text) in [
            (goal(), Some("sing")),
            (task(), Some("@explore look")),
            (topic("why?"), Some("/discuss brief why?")),
            (topic(""), None),
            (RunStartKind::Unfinished, None),
        ] {
            assert_eq!(what.typed_text().as_deref(), text);
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
