//! An event as one row of the Log tab: its author, its category and a readable text, with names instead of
//! ids where there is a name.

use ratatui::style::Style;

use crate::domain::event::{AgentActivity, Event};
use crate::domain::event_wording::{CallDescriptions, EventSpeaker, EventTone, EventWording};
use crate::domain::ids::TurnId;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;
use crate::domain::turn::{Role, TurnOutcome};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// The category of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventCategory {
    /// The user decided or said something.
    User,
    /// An agent did something.
    Agent,
    /// The program checked or stored something.
    Program,
    Problem,
}

/// The author of an event, as the rows show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventAuthor {
    /// The agent of a role.
    Role(Role),
    /// Anybody else.
    Other(EventCategory),
}

impl EventAuthor {
    /// Returns the label for the author column.
    pub fn label(self) -> &'static str {
        match self {
            Self::Role(role) => role.name(),
            Self::Other(EventCategory::User) => "you",
            Self::Other(EventCategory::Agent) => "agent",
            Self::Other(EventCategory::Program) => "program",
            Self::Other(EventCategory::Problem) => "trouble",
        }
    }

    /// Returns a short label for narrow windows.
    pub fn short_label(self) -> &'static str {
        match self {
            Self::Role(Role::Planner) => "plan",
            Self::Role(Role::Reviewer) => "rev",
            Self::Other(EventCategory::User) => "you",
            Self::Other(EventCategory::Agent) => "call",
            Self::Other(EventCategory::Program) => "prog",
            Self::Other(EventCategory::Problem) => "",
        }
    }

    /// Returns the style of the label.
    pub fn style(self) -> Style {
        match self {
            Self::Role(role) => theme::role_style(role),
            Self::Other(EventCategory::User) => theme::YOU,
            Self::Other(EventCategory::Agent | EventCategory::Program) => theme::QUIET,
            Self::Other(EventCategory::Problem) => theme::BAD,
        }
    }
}

/// The author and the text of an event.
#[derive(Debug)]
pub struct EventSummary {
    pub kind: EventCategory,
    /// The role of the agent that is behind it, if any.
    pub role: Option<Role>,
    pub text: String,
    /// The turn that the event starts or ends, and the word for that; the run state knows the turn's
    /// purpose.
    pub turn: Option<(TurnId, &'static str)>,
}

/// Summarizes an event; `None` if there is nothing to show for it.
pub fn summarize_event(event: &Event, calls: &mut CallDescriptions) -> Option<EventSummary> {
    let of_turn = |turn: &TurnId, word: &'static str| EventSummary {
        kind: EventCategory::Agent,
        role: None,
        text: word.to_owned(),
        turn: Some((turn.clone(), word)),
    };
    match event {
        Event::TurnStarted { turn, .. } => Some(of_turn(turn, "turn starts")),
        Event::TurnEnded {
            turn,
            result: TurnOutcome::Completed { .. },
        } => Some(of_turn(turn, "turn ended")),
        // The dialog and the row of the sent turn show it.
        Event::QuestionAsked { question } if matches!(question.kind, QuestionKind::Gate { .. }) => {
            None
        }
        Event::Agent {
            news: AgentActivity::Text { text },
            ..
        } => {
            let first = text.lines().find(|line| !line.trim().is_empty())?;
            let wording = calls.word_event(event)?;
            let text = format!("says: {first}");
            Some(from_wording(EventWording { text, ..wording }))
        }
        // The Log tab has the names that the files have.
        Event::PhaseChanged { to, reason, .. } => {
            let wording = calls.word_event(event)?;
            let reason = reason
                .as_ref()
                .map_or(String::new(), |why| format!(": {why}"));
            let text = format!("Phase {}{reason}", to.name());
            Some(from_wording(EventWording { text, ..wording }))
        }
        _ => calls.word_event(event).map(from_wording),
    }
}

fn from_wording(wording: EventWording) -> EventSummary {
    let EventWording {
        speaker,
        tone,
        text,
        detail: _,
    } = wording;
    let kind = match (speaker, tone) {
        (EventSpeaker::User, _) => EventCategory::User,
        (_, EventTone::Bad | EventTone::Warning) => EventCategory::Problem,
        (EventSpeaker::Agent(_), _) => EventCategory::Agent,
        (EventSpeaker::Program, _) => EventCategory::Program,
    };
    let role = match speaker {
        EventSpeaker::Agent(role) => role,
        EventSpeaker::User | EventSpeaker::Program => None,
    };
    EventSummary {
        kind,
        role,
        text: to_one_line(&text),
        turn: None,
    }
}

impl EventSummary {
    /// Returns the author and the text, with the turn's purpose from the run state.
    pub fn author_and_text(&self, state: Option<&RunState>) -> (EventAuthor, String) {
        let own = self
            .role
            .map_or(EventAuthor::Other(self.kind), EventAuthor::Role);
        let span = self.turn.as_ref().and_then(|(turn, _)| {
            let turns = state?.course.turns();
            turns.iter().rfind(|span| span.turn == *turn)
        });
        match (span, &self.turn) {
            (Some(span), Some((_, word))) => {
                let text = format!("{word}: {}", span.what);
                (EventAuthor::Role(span.role), text)
            }
            // The state keeps only totals of old turns.
            (None, Some((turn, word))) => (own, format!("turn {} {word}", turn_number(turn))),
            (_, None) => (own, self.text.clone()),
        }
    }
}

/// Returns the number in a turn's id.
fn turn_number(turn: &TurnId) -> &str {
    turn.as_str().rsplit('_').next().unwrap_or_default()
}
