//! An event as one row of the Log tab: its author, its category and a readable text, with names instead of
//! ids where there is a name.

use std::collections::BTreeMap;

use crate::domain::event::{AgentActivity, ApprovalDecider, Event, ToolKind};
use crate::domain::ids::{RequestId, TurnId};
use crate::domain::run::RunState;
use crate::domain::turn::TurnOutcome;
use crate::tui::text_wrap::to_one_line;
use crate::tui::tool_labels;
use crate::tui::transcript::{event_facts, short_path};

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

impl EventCategory {
    /// Returns the label for the author column.
    pub fn label(self) -> &'static str {
        match self {
            Self::User => "you",
            Self::Agent => "agent",
            Self::Program => "program",
            Self::Problem => "trouble",
        }
    }
}

/// The author and the text of an event.
#[derive(Debug)]
pub struct EventSummary {
    pub kind: EventCategory,
    /// The agent, by its role's name.
    pub agent: Option<&'static str>,
    pub text: String,
    /// The turn that the event starts or ends, and the word for that; the run state knows the turn's
    /// purpose.
    pub turn: Option<(TurnId, &'static str)>,
}

/// Summarizes an event; `None` if there is nothing to show for it.
pub fn summarize_event(
    event: &Event,
    asked: &mut BTreeMap<RequestId, String>,
) -> Option<EventSummary> {
    let kind = event_category(event);
    let plain = |text: String| EventSummary {
        kind,
        agent: None,
        text: to_one_line(&text),
        turn: None,
    };
    let of_turn = |turn: &TurnId, word: &'static str| EventSummary {
        turn: Some((turn.clone(), word)),
        ..plain(word.to_owned())
    };
    Some(match event {
        Event::RunCreated(created) => plain(format!("run {} starts", created.run)),
        Event::GoalGiven { text } => plain(format!("the goal: {text}")),
        Event::GoalMessageAdded { text } => plain(format!("says: {text}")),
        Event::QuestionAnswered { answer, .. } => plain(format!("answers: {}", answer.describe())),
        Event::TurnSendConfirmed => plain("sends the turn".to_owned()),
        Event::TurnStarted { turn, .. } => of_turn(turn, "starts"),
        Event::TurnEnded {
            turn,
            result: TurnOutcome::Completed { .. },
        } => of_turn(turn, "done"),
        // The answer's row describes it; an open request has a dialog.
        Event::ApprovalRequested(approval) => {
            asked.insert(approval.request.clone(), approval.describe());
            return None;
        }
        Event::ApprovalDecided {
            request,
            allowed,
            by,
            reason,
            ..
        } => {
            let what = asked.remove(request).unwrap_or_default();
            match (*allowed, by) {
                // If the phase allows the call by itself, the tool call is the only row.
                (true, ApprovalDecider::Permission) => return None,
                (true, ApprovalDecider::User) => plain(format!("allows {what}")),
                (true, by) => plain(format!("allowed by {by}: {what}")),
                (false, ApprovalDecider::User) => plain(format!("denies {what}")),
                (false, _) => plain(format!("denied: {what} ({reason})")),
            }
        }
        Event::Agent { role, news, .. } => EventSummary {
            agent: Some(role.name()),
            ..plain(describe_activity(event, news)?)
        },
        Event::PhaseChanged { to, .. } => plain(format!("phase {}", to.name())),
        Event::UsageReported { .. }
        | Event::PlanUseReported { .. }
        | Event::MessageAppended { .. } => return None,
        _ => {
            let facts = event_facts(event);
            if facts.is_empty() {
                plain(describe_event(event)?)
            } else {
                plain(facts.join(" · "))
            }
        }
    })
}

/// Describes events that the chat does not show, or shows in the user's voice.
fn describe_event(event: &Event) -> Option<String> {
    Some(match event {
        Event::FindingSettled { n } => format!("resolves finding {n}"),
        Event::PlanEdited { .. } => "edited the plan".to_owned(),
        Event::CommentsEdited { .. } => "edited the comments".to_owned(),
        Event::RemarksAppended { .. } => "asked for changes in the comments".to_owned(),
        Event::NoteMade { line, text, .. } => format!("notes on line {line}: {text}"),
        Event::NoteRemoved { n } => format!("removes note {n}"),
        Event::SessionOpened { role, .. } => format!("the {}'s session is open", role.name()),
        Event::SnapshotTaken { step: 0, .. } => "the working tree was saved".to_owned(),
        Event::SnapshotTaken { step, .. } => {
            format!("the working tree before step {step} was saved")
        }
        Event::StepAudited(audit) => {
            let n = crate::text::pluralize(audit.changed.len(), "file");
            format!("step {} changed {n}", audit.step)
        }
        Event::RepositorySurveyed { .. } => "the repository was checked".to_owned(),
        Event::DraftFound { .. } => "an interrupted turn left a draft".to_owned(),
        Event::AgentAsked {
            questions, child, ..
        } => {
            let asked: Vec<&str> = questions.iter().map(|asked| asked.text.as_str()).collect();
            let who = child.as_deref().unwrap_or("the agent");
            format!("{who} asks: {}", asked.join(" / "))
        }
        Event::UndoFinished { way, steps, .. } => {
            format!(
                "{} {}",
                crate::domain::reversal_plan::steps_label(steps),
                way.past_participle()
            )
        }
        _ => return None,
    })
}

fn describe_activity(event: &Event, news: &AgentActivity) -> Option<String> {
    match news {
        AgentActivity::ToolStarted { tool, title, .. } => {
            Some(match tool_labels::tool_label(title) {
                Some(words) => words.to_owned(),
                None if matches!(tool, ToolKind::Edit | ToolKind::Read) => {
                    let paths: Vec<String> = title.split(", ").map(short_path).collect();
                    format!("{tool} {}", paths.join(", "))
                }
                None => format!("{tool} {title}"),
            })
        }
        AgentActivity::ToolEnded {
            status,
            exit_code: Some(code),
            ..
        } if *code != 0 => Some(format!("the call ended: {status}, exit {code}")),
        AgentActivity::Text { text } => {
            let first = text.lines().find(|line| !line.trim().is_empty())?;
            Some(format!("says: {first}"))
        }
        AgentActivity::Notice { text } => Some(text.clone()),
        AgentActivity::ToolEnded { .. }
        | AgentActivity::Thinking { .. }
        | AgentActivity::FilesChanged { .. } => None,
        _ => Some(event_facts(event).join(" · ")).filter(|text| !text.is_empty()),
    }
}

fn event_category(event: &Event) -> EventCategory {
    match event {
        Event::GoalGiven { .. }
        | Event::GoalMessageAdded { .. }
        | Event::RefinerChosen { .. }
        | Event::GoalConfirmed { .. }
        | Event::TurnSendConfirmed
        | Event::GateChanged { .. }
        | Event::ModeChanged { .. }
        | Event::InterruptRequested
        | Event::BaselineStopped
        | Event::MessageQueued { to: None, .. }
        | Event::RunStopped
        | Event::RunCancelled
        | Event::QuestionAnswered { .. }
        | Event::FindingSettled { .. }
        | Event::PlanEdited { .. }
        | Event::CommentsEdited { .. }
        | Event::NoteMade { .. }
        | Event::NoteRemoved { .. }
        | Event::RemarksAppended { .. }
        | Event::UndoAsked { .. } => EventCategory::User,
        Event::ApprovalDecided {
            by: ApprovalDecider::User,
            ..
        } => EventCategory::User,
        Event::TurnEnded {
            result: TurnOutcome::Failed { .. },
            ..
        }
        | Event::SessionLost { .. }
        | Event::SessionStayed { .. }
        | Event::DocumentMissing { .. }
        | Event::DocumentConflict { .. }
        | Event::ApprovalExpired { .. }
        | Event::ApprovalDecided { allowed: false, .. }
        | Event::ExecutionRefused { .. }
        | Event::CommitFailed { .. }
        | Event::UndoFailed { .. }
        | Event::StoreTampered { .. }
        | Event::EffectFailed { .. }
        | Event::WarningRaised { .. }
        | Event::Agent {
            news:
                AgentActivity::CallDenied { .. }
                | AgentActivity::Malformed { .. }
                | AgentActivity::Silent { .. },
            ..
        } => EventCategory::Problem,
        Event::TestsRan { receipt, .. } if !receipt.allows_next_step() => EventCategory::Problem,
        Event::BaselineRan(baseline) if !baseline.receipt.allows_next_step() => {
            EventCategory::Problem
        }
        Event::Agent { .. }
        | Event::TurnStarted { .. }
        | Event::TurnEnded { .. }
        | Event::AgentAsked { .. }
        | Event::ApprovalRequested(_)
        | Event::PlanCommitted { .. }
        | Event::ReviewCommitted { .. }
        | Event::ResponseCommitted { .. } => EventCategory::Agent,
        _ => EventCategory::Program,
    }
}

impl EventSummary {
    /// Returns the author and the text, with the turn's purpose from the run state.
    pub fn author_and_text(&self, state: Option<&RunState>) -> (&'static str, String) {
        let span = self.turn.as_ref().and_then(|(turn, _)| {
            let turns = state?.course.turns();
            turns.iter().rfind(|span| span.turn == *turn)
        });
        match (span, &self.turn) {
            (Some(span), Some((_, word))) => (span.role.name(), format!("{word}: {}", span.what)),
            // The state keeps only totals of old turns.
            (None, Some((turn, word))) => ("agent", format!("turn {} {word}", turn_number(turn))),
            (_, None) => (self.agent.unwrap_or(self.kind.label()), self.text.clone()),
        }
    }
}

/// Returns the number in a turn's id.
fn turn_number(turn: &TurnId) -> &str {
    turn.as_str().rsplit('_').next().unwrap_or_default()
}
