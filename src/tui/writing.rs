//! What the composer's text is for now, and what sending it does.
//!
//! Refuses to send a text nowhere: what nobody takes stays in the composer, with a word why.

use super::action::{Action, Topic};
use super::dialogs::Known;
use super::dialogs::{goal_confirmed, open_questions};
use super::keymap::{IsWriting, Keymap};
use super::sheet::Draft;
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::phase::Phase;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::{ResultValidity, RunState, notes_blocker};
use crate::domain::turn::Role;
use crate::permission::{ApprovalMatcher, ApprovalScope};

/// Who takes the composer's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A new run, with its goal.
    NewRun,
    /// The agent that talks about the goal.
    Say(Role),
    /// The plan's author, as changes to the approved plan.
    Changes(u32),
    /// The review, as a number of iterations.
    More(u32),
    /// The agent whose turn brought no document, with its next try.
    Again(u32, Role),
    /// The agent that asks; the question at hand.
    Reply(u32, String),
    /// The agent whose call is refused.
    Refusal(u32),
    /// Reviewer and planner with their next turns: a note on this line of the plan, with what stands there.
    Note(u32, String),
    /// The plan: this line of it, with what stands there, is written anew.
    Line(u32, String),
    /// Participants of a discussion about the finding of this number.
    Topic(u32),
    /// Nobody but the program: calls like this one are let through for so long.
    Pattern(u32, ApprovalScope),
    /// The agent whose turn runs, in the middle of it.
    Steer(Role),
    /// Whoever has the next turn, with its prompt; the turn that waits at the gate where one does.
    Next(Option<Role>),
    /// The agent that talks about the goal, once it is done talking.
    Later(Role),
    /// Nobody, for this reason.
    Nobody(&'static str),
}

/// Tells who takes a text now.
pub fn target(state: Option<&RunState>, draft: Option<Draft>, known: &Known<'_>) -> Target {
    let Some(state) = state else {
        return Target::NewRun;
    };
    if let (Some(draft @ (Draft::Note | Draft::Line)), Some((line, quote))) = (draft, known.noting)
    {
        return match (notes_blocker(state), draft) {
            (Some(why), _) => Target::Nobody(why),
            (None, Draft::Line) => Target::Line(*line, quote.clone()),
            (None, _) => Target::Note(*line, quote.clone()),
        };
    }
    if let Some(Draft::Topic { finding }) = draft {
        return Target::Topic(finding);
    }
    if let Some(target) = about_call(state, draft) {
        return target;
    }
    if let Some(question) = state.current_question() {
        let id = question.id;
        match &question.kind {
            QuestionKind::Agent { questions, .. } | QuestionKind::Child { questions, .. } => {
                if let Some(asked) = open_questions(questions, known).first() {
                    return Target::Reply(id, asked.text.clone());
                }
            }
            QuestionKind::Execute { .. } => return Target::Changes(id),
            QuestionKind::Arbitration { .. } if draft == Some(Draft::More { id }) => {
                return Target::More(id);
            }
            QuestionKind::NoDocument { purpose, .. } if draft == Some(Draft::Again { id }) => {
                return Target::Again(id, purpose.role());
            }
            QuestionKind::Gate { order } => return Target::Next(Some(order.purpose.role())),
            _ => return Target::Nobody("the open dialog comes first"),
        }
    }
    by_phase(state)
}

/// A text that was asked for about the call that waits first; for another one it is not taken.
fn about_call(state: &RunState, draft: Option<Draft>) -> Option<Target> {
    let call = state.approvals.first()?.n;
    match draft? {
        Draft::Refusal { of } if of == call => Some(Target::Refusal(call)),
        Draft::Pattern { of, scope } if of == call => Some(Target::Pattern(call, scope)),
        Draft::Refusal { .. } | Draft::Pattern { .. } => {
            Some(Target::Nobody("the call that it was about no longer waits"))
        }
        Draft::Note
        | Draft::Line
        | Draft::Topic { .. }
        | Draft::Changes { .. }
        | Draft::More { .. }
        | Draft::Again { .. }
        | Draft::Reply { .. } => None,
    }
}

fn by_phase(state: &RunState) -> Target {
    let is_idle = state.running.is_none() && state.busy.is_none();
    match state.phase {
        Phase::Init | Phase::Done | Phase::Cancelled => Target::NewRun,
        Phase::RefineGoal if is_idle => Target::Say(state.refiner),
        Phase::RefineGoal => Target::Later(state.refiner),
        Phase::WritePlan | Phase::Review | Phase::Respond | Phase::Approved | Phase::Execute => {
            match listener(state) {
                Some(role) => Target::Steer(role),
                None => Target::Next(None),
            }
        }
    }
}

/// Who can be told something now, in the middle of a turn.
pub fn listener(state: &RunState) -> Option<Role> {
    let running = state.running.as_ref()?;
    let role = running.order.purpose.role();
    (running.result == ResultValidity::Yes).then_some(role)
}

/// Says what Enter does with a text.
pub fn label(target: &Target, refiner: Role, keymap: &Keymap) -> String {
    let key = |action| keymap.named(action, IsWriting::Yes);
    match target {
        Target::NewRun => format!(
            "What is the goal? Enter: talk about it with the {} ({}: another)",
            refiner.name(),
            key("refiner")
        ),
        Target::Say(refiner) => format!(
            "Enter: say it to the {} ({}: another) · /go confirms the goal",
            refiner.name(),
            key("refiner")
        ),
        Target::Later(role) => format!(
            "Enter: queue it until the {}'s turn is over · /steer says it now",
            role.name()
        ),
        Target::Steer(role) => format!(
            "Enter: say it to the {} now, in the middle of its turn",
            role.name()
        ),
        Target::Next(Some(role)) => format!(
            "Enter: say it to the {} with the turn that waits",
            role.name()
        ),
        Target::Next(None) => "Enter: say it with the next turn".to_owned(),
        Target::Changes(_) => "Enter: have the plan changed like this".to_owned(),
        Target::More(_) => "How many more iterations? Enter: go on with so many".to_owned(),
        Target::Again(_, role) => format!("Enter: the {} tries again, with this", role.name()),
        Target::Reply(..) => "Enter: answer the agent".to_owned(),
        Target::Refusal(_) => {
            "Why not? Enter: refuse it and tell the agent, which goes on".to_owned()
        }
        Target::Note(line, _) => {
            format!("Note on line {line}. Enter: reviewer and planner get it with their next turns")
        }
        Target::Line(line, _) => format!(
            "Line {line} of the plan. Enter: it stands there like this · {} leaves it",
            key("leave")
        ),
        Target::Topic(n) => {
            format!("What about finding {n} is to be decided? Enter: have it discussed")
        }
        Target::Pattern(_, scope) => format!(
            "A pattern, `*` stands for anything. Enter: allow it for {}",
            scope.label()
        ),
        Target::Nobody(_) => format!("/ for commands, {} leaves", key("leave")),
    }
}

/// What sending a text does: actions, or an answer to one of several questions.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    /// These actions.
    Act(Vec<Action>),
    /// The answer to the question at hand.
    Pick(String),
    /// It waits until an agent is done.
    Later(String),
}

/// Sends a text.
///
/// # Errors
/// Nobody takes it, or it does not fit; says why.
pub fn send(target: &Target, text: &str, refiner: Role) -> Result<Sent, String> {
    let line_text = text.trim_end();
    let text = text.trim().to_owned();
    let event = match target {
        Target::NewRun => {
            return Ok(Sent::Act(vec![Action::NewRun {
                goal: text,
                refiner,
            }]));
        }
        Target::Say(_) => Event::GoalMessageAdded { text },
        Target::Later(_) => return Ok(Sent::Later(text)),
        Target::Steer(_) => Event::Steered { text },
        Target::Next(_) => Event::MessageQueued { to: None, text },
        Target::Changes(id) => Event::QuestionAnswered {
            id: *id,
            answer: QuestionAnswer::RequestChanges { text },
        },
        Target::More(id) => Event::QuestionAnswered {
            id: *id,
            answer: QuestionAnswer::MoreIterations { n: number(&text)? },
        },
        Target::Again(id, _) => {
            let answer = QuestionAnswer::Retry;
            let said = Event::MessageQueued { to: None, text };
            let events = [said, Event::QuestionAnswered { id: *id, answer }];
            return Ok(Sent::Act(events.map(Action::Event).to_vec()));
        }
        Target::Reply(..) => return Ok(Sent::Pick(text)),
        Target::Note(line, quote) => Event::NoteMade {
            line: *line,
            quote: quote.clone(),
            text,
        },
        Target::Topic(n) => return Ok(discussed(*n, text)),
        Target::Refusal(call) => {
            return Ok(answered(*call, ApprovalDecision::DenyWithReason(text)));
        }
        Target::Pattern(call, scope) => {
            let what = vec![ApprovalMatcher::Pattern(text)];
            return Ok(answered(
                *call,
                ApprovalDecision::AllowAndRemember {
                    what,
                    scope: *scope,
                },
            ));
        }
        Target::Line(line, was) => {
            return Ok(Sent::Act(vec![Action::Rewrite {
                line: *line,
                was: was.clone(),
                // How far it is indented says what it belongs to.
                text: line_text.to_owned(),
            }]));
        }
        Target::Nobody(why) => return Err(format!("nobody takes this text now: {why}")),
    };
    Ok(Sent::Act(vec![Action::Event(event)]))
}

fn discussed(finding: u32, text: String) -> Sent {
    Sent::Act(vec![Action::Discuss(Topic {
        text,
        finding: Some(finding),
        preset: None,
    })])
}

fn answered(call: u32, answer: ApprovalDecision) -> Sent {
    Sent::Act(vec![Action::AnswerApproval { call, answer }])
}

fn number(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=1_000).contains(n))
        .ok_or_else(|| "write a number from 1 to 1000".to_owned())
}

/// Confirms a goal in the user's words or as it stands.
pub fn confirm_goal(text: &str) -> Vec<Action> {
    vec![Action::Event(goal_confirmed(text))]
}

/// Tells whether the dialog that waits is about two texts.
pub fn is_about_versions(state: &RunState) -> bool {
    let kind = state.current_question().map(|question| &question.kind);
    state.approvals.is_empty()
        && matches!(
            kind,
            Some(QuestionKind::Conflict { .. } | QuestionKind::Draft { .. })
        )
}
