//! The current target of the composer's text, and what sending it there does.

use super::action::{Action, DiscussionTopic};
use super::dialog::ComposerDraft;
use super::dialogs::DialogContext;
use super::dialogs::{goal_confirmed, open_questions};
use super::keymap::{ActiveKeymap, ComposerFocus};
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::phase::Phase;
use crate::domain::plan_thread::UserNote;
use crate::domain::question::{QuestionAnswer, QuestionKind};
use crate::domain::run::{ResultValidity, RunState, notes_blocker};
use crate::domain::turn::Role;
use crate::permission::{ApprovalMatcher, ApprovalScope};

/// The target of the composer's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComposerTarget {
    /// A new run; the text is its goal.
    NewRun,
    /// The agent that refines the goal.
    TalkToRefiner(Role),
    /// The agent that wrote the plan; the text requests changes to the approved plan.
    PlanChanges(u32),
    /// The review; the text is a number of additional iterations.
    MoreIterations(u32),
    /// The agent whose turn is tried again; the text goes with it.
    RetryTurn(u32, Role),
    /// The agent that asked a question; holds the question.
    AgentQuestion(u32, String),
    /// The agent whose call is rejected.
    CallRefusal(u32),
    /// Reviewer and planner, with their next turns; the text is said in a thread about this place, which has no text yet.
    PlanNote(UserNote),
    /// The plan; the text replaces this line, given with its content.
    PlanLine(u32, String),
    /// The participants of a discussion about this finding.
    DiscussionTopic(u32),
    /// The program; calls that match the pattern are allowed for this scope.
    ApprovalPattern(u32, ApprovalScope),
    /// The agent whose turn is running; it gets the text during the turn.
    SteerTurn(Role),
    /// The agent of the next turn, with its prompt; the role is known if the turn waits at the gate.
    NextTurn(Option<Role>),
    /// The agent that refines the goal, when its turn ends.
    AfterTalking(Role),
    /// No target, for this reason.
    Nobody(&'static str),
}

impl ComposerTarget {
    /// Returns whether a text that was written for the one may go to the other: the same agent reads it, or the user chose
    /// another one to talk with.
    pub fn is_same_addressee(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::TalkToRefiner(_) | Self::AfterTalking(_),
                Self::TalkToRefiner(_) | Self::AfterTalking(_),
            ) => true,
            (
                Self::SteerTurn(one) | Self::NextTurn(Some(one)),
                Self::SteerTurn(other) | Self::NextTurn(Some(other)),
            ) => one == other,
            // A text for the next turn, whosever that is.
            (Self::NextTurn(None), Self::SteerTurn(_) | Self::NextTurn(_)) => true,
            // What nobody gets is refused with its reason.
            (_, Self::Nobody(_)) => true,
            _ => self == other,
        }
    }
}

/// Returns the current target of a text.
pub fn composer_target(
    state: Option<&RunState>,
    draft: Option<ComposerDraft>,
    known: &DialogContext<'_>,
) -> ComposerTarget {
    let Some(state) = state else {
        return ComposerTarget::NewRun;
    };
    if let (Some(draft @ (ComposerDraft::Note | ComposerDraft::Line)), Some(place)) =
        (draft, known.noted_line)
    {
        return match (notes_blocker(state), draft) {
            (Some(why), _) => ComposerTarget::Nobody(why),
            (None, ComposerDraft::Line) => {
                ComposerTarget::PlanLine(place.line, place.quote.clone())
            }
            (None, _) => ComposerTarget::PlanNote(UserNote {
                version: state.findings.plan_version(),
                ..place.clone()
            }),
        };
    }
    if let Some(ComposerDraft::Topic { finding }) = draft {
        return ComposerTarget::DiscussionTopic(finding);
    }
    if let Some(target) = call_target(state, draft) {
        return target;
    }
    if let Some(question) = state.current_question() {
        let id = question.id;
        match &question.kind {
            QuestionKind::Agent { questions, .. } => {
                if let Some(asked) = open_questions(questions, known.picked_answers).first() {
                    return ComposerTarget::AgentQuestion(id, asked.text.clone());
                }
            }
            QuestionKind::Execute { .. } => return ComposerTarget::PlanChanges(id),
            QuestionKind::Arbitration { .. } if draft == Some(ComposerDraft::More { id }) => {
                return ComposerTarget::MoreIterations(id);
            }
            QuestionKind::Gate { order } => {
                return ComposerTarget::NextTurn(Some(order.purpose.role()));
            }
            kind => {
                let retried = kind.retried_role();
                return retried.map_or(
                    ComposerTarget::Nobody("answer the question first"),
                    |role| ComposerTarget::RetryTurn(id, role),
                );
            }
        }
    }
    phase_target(state)
}

/// Returns the target of a text about the first pending call. A text for an earlier call has no target any more.
fn call_target(state: &RunState, draft: Option<ComposerDraft>) -> Option<ComposerTarget> {
    let call = state.approvals.first()?.n;
    match draft? {
        ComposerDraft::Refusal { call: of } if of == call => {
            Some(ComposerTarget::CallRefusal(call))
        }
        ComposerDraft::Pattern { call: of, scope } if of == call => {
            Some(ComposerTarget::ApprovalPattern(call, scope))
        }
        ComposerDraft::Refusal { .. } | ComposerDraft::Pattern { .. } => {
            Some(ComposerTarget::Nobody("that request is no longer pending"))
        }
        ComposerDraft::Note
        | ComposerDraft::Line
        | ComposerDraft::Topic { .. }
        | ComposerDraft::Changes { .. }
        | ComposerDraft::More { .. }
        | ComposerDraft::Again { .. }
        | ComposerDraft::Reply { .. } => None,
    }
}

fn phase_target(state: &RunState) -> ComposerTarget {
    let is_idle = state.running.is_none() && state.busy.is_none();
    match state.phase {
        Phase::Init | Phase::Done | Phase::Cancelled => ComposerTarget::NewRun,
        Phase::RefineGoal if is_idle => ComposerTarget::TalkToRefiner(state.refiner),
        Phase::RefineGoal => ComposerTarget::AfterTalking(state.refiner),
        Phase::WritePlan | Phase::Review | Phase::Respond | Phase::Approved | Phase::Execute => {
            match steerable_role(state) {
                Some(role) => ComposerTarget::SteerTurn(role),
                None => ComposerTarget::NextTurn(None),
            }
        }
    }
}

/// Returns the agent that can get a message during its running turn.
pub fn steerable_role(state: &RunState) -> Option<Role> {
    let running = state.running.as_ref()?;
    let role = running.order.purpose.role();
    (running.result == ResultValidity::Yes).then_some(role)
}

/// Returns the label that says what Enter does with a text. `other` can refine the goal instead of the agent that does.
pub fn target_label(target: &ComposerTarget, other: Option<Role>, keymap: &ActiveKeymap) -> String {
    let key = |action| keymap.key_label(action, ComposerFocus::Focused);
    match target {
        ComposerTarget::NewRun => "Describe the goal in a sentence or a page".to_owned(),
        ComposerTarget::TalkToRefiner(refiner) => {
            let other = other.map(|other| format!(" ({}: {})", key("refiner"), other.name()));
            format!(
                "Message the {}{} · /go confirms the goal",
                refiner.name(),
                other.unwrap_or_default()
            )
        }
        ComposerTarget::AfterTalking(role) => format!(
            "Message the {} (sent after this turn, /steer: now)",
            role.name()
        ),
        ComposerTarget::SteerTurn(role) => format!("Message the {} during its turn", role.name()),
        ComposerTarget::NextTurn(Some(role)) => {
            format!("Add a message for the {} to this turn", role.name())
        }
        ComposerTarget::NextTurn(None) => "Add a message to the next turn".to_owned(),
        ComposerTarget::PlanChanges(_) => "Describe the changes you want".to_owned(),
        ComposerTarget::MoreIterations(_) => "How many more reviews?".to_owned(),
        ComposerTarget::RetryTurn(_, role) => {
            format!("Tell the {} what to do, then it tries again", role.name())
        }
        ComposerTarget::AgentQuestion(..) => "Answer the agent".to_owned(),
        ComposerTarget::CallRefusal(_) => {
            "Why not? The agent gets your reason and continues".to_owned()
        }
        ComposerTarget::PlanNote(place) => match (place.thread, place.finding) {
            (Some(n), _) => format!("Reply in thread {n}, for both agents"),
            (None, Some(n)) => format!("Note on finding {n}, for both agents"),
            (None, None) => format!("Note on line {}, for both agents", place.line),
        },
        ComposerTarget::PlanLine(line, _) => format!(
            "Line {line} of the plan. Enter saves it · {} keeps the old one",
            key("leave")
        ),
        ComposerTarget::DiscussionTopic(n) => {
            format!("What about finding {n} should the agents discuss?")
        }
        ComposerTarget::ApprovalPattern(_, scope) => format!(
            "Pattern to allow for {} (`*` matches anything)",
            scope.label()
        ),
        ComposerTarget::Nobody(why) => {
            let leave = key("leave");
            format!("Not possible now: {why} · / for commands · {leave} leaves")
        }
    }
}

/// Returns what Enter does with a text, as a verb with its object; `None` where it does nothing. `other` can refine the goal
/// instead of the agent that does.
pub fn enter_effect(
    target: &ComposerTarget,
    other: Option<Role>,
    keymap: &ActiveKeymap,
) -> Option<String> {
    let key = |action| keymap.key_label(action, ComposerFocus::Focused);
    let effect = match target {
        ComposerTarget::NewRun => "start a run with this goal".to_owned(),
        ComposerTarget::TalkToRefiner(role) => {
            let other = other.map(|other| format!(" ({}: {})", key("refiner"), other.name()));
            format!("send to the {}{}", role.name(), other.unwrap_or_default())
        }
        ComposerTarget::AfterTalking(role) => {
            format!("send to the {} after this turn (/steer: now)", role.name())
        }
        ComposerTarget::SteerTurn(role) => format!("send to the {} now", role.name()),
        ComposerTarget::NextTurn(Some(role)) => format!("add to the {}'s turn", role.name()),
        ComposerTarget::NextTurn(None) => "add to the next turn".to_owned(),
        ComposerTarget::PlanChanges(_) => "ask for these changes".to_owned(),
        ComposerTarget::MoreIterations(_) => "add this many reviews".to_owned(),
        ComposerTarget::RetryTurn(_, role) => {
            format!("retry the {}'s turn with this text", role.name())
        }
        ComposerTarget::AgentQuestion(..) => "answer the agent".to_owned(),
        ComposerTarget::CallRefusal(_) => "deny it with this reason".to_owned(),
        ComposerTarget::PlanNote(place) => match (place.thread, place.finding) {
            (Some(n), _) => format!("reply in thread {n}"),
            (None, Some(n)) => format!("add the note to finding {n}"),
            (None, None) => format!("add the note to line {}", place.line),
        },
        ComposerTarget::PlanLine(line, _) => {
            format!("save line {line} · {} keeps the old one", key("leave"))
        }
        ComposerTarget::DiscussionTopic(n) => format!("discuss finding {n}"),
        ComposerTarget::ApprovalPattern(_, scope) => format!("allow it for {}", scope.label()),
        ComposerTarget::Nobody(_) => return None,
    };
    Some(effect)
}

/// The result of sending a text.
#[derive(Debug, PartialEq, Eq)]
pub enum ComposerOutcome {
    Act(Vec<Action>),
    /// Answers the current question of several.
    PickAnswer(String),
    /// Queues the text until an agent's turn ends.
    QueueMessage(String),
}

/// Sends a text to its target.
///
/// # Errors
/// The text has no target or is not valid for it; the message says why.
pub fn submit_to_target(
    target: &ComposerTarget,
    text: &str,
    refiner: Role,
) -> Result<ComposerOutcome, String> {
    let line_text = text.trim_end();
    let text = text.trim().to_owned();
    let event = match target {
        ComposerTarget::NewRun => {
            return Ok(ComposerOutcome::Act(vec![Action::NewRun {
                goal: text,
                refiner,
            }]));
        }
        ComposerTarget::TalkToRefiner(_) => Event::GoalMessageAdded { text },
        ComposerTarget::AfterTalking(_) => return Ok(ComposerOutcome::QueueMessage(text)),
        ComposerTarget::SteerTurn(_) => Event::Steered { text },
        ComposerTarget::NextTurn(_) => Event::MessageQueued { to: None, text },
        ComposerTarget::PlanChanges(id) => Event::QuestionAnswered {
            id: *id,
            answer: QuestionAnswer::RequestChanges { text },
        },
        ComposerTarget::MoreIterations(id) => Event::QuestionAnswered {
            id: *id,
            answer: QuestionAnswer::MoreIterations {
                n: parse_number(&text)?,
            },
        },
        ComposerTarget::RetryTurn(id, _) => {
            let answer = QuestionAnswer::Retry;
            let said = Event::MessageQueued { to: None, text };
            let events = [said, Event::QuestionAnswered { id: *id, answer }];
            return Ok(ComposerOutcome::Act(events.map(Action::Event).to_vec()));
        }
        ComposerTarget::AgentQuestion(..) => return Ok(ComposerOutcome::PickAnswer(text)),
        ComposerTarget::PlanNote(place) => Event::NoteMade(UserNote {
            text,
            ..place.clone()
        }),
        ComposerTarget::DiscussionTopic(n) => return Ok(discussion_request(*n, text)),
        ComposerTarget::CallRefusal(call) => {
            return Ok(approval_decision(
                *call,
                ApprovalDecision::DenyWithReason(text),
            ));
        }
        ComposerTarget::ApprovalPattern(call, scope) => {
            let what = vec![ApprovalMatcher::Pattern(text)];
            return Ok(approval_decision(
                *call,
                ApprovalDecision::AllowAndRemember {
                    what,
                    scope: *scope,
                },
            ));
        }
        ComposerTarget::PlanLine(line, was) => {
            return Ok(ComposerOutcome::Act(vec![Action::Rewrite {
                line: *line,
                was: was.clone(),
                // Keep the indentation: it shows which step the line belongs to.
                text: line_text.to_owned(),
            }]));
        }
        ComposerTarget::Nobody(why) => return Err(format!("You cannot send this now: {why}")),
    };
    Ok(ComposerOutcome::Act(vec![Action::Event(event)]))
}

fn discussion_request(finding: u32, text: String) -> ComposerOutcome {
    ComposerOutcome::Act(vec![Action::Discuss(DiscussionTopic {
        text,
        finding: Some(finding),
        preset: None,
    })])
}

fn approval_decision(call: u32, answer: ApprovalDecision) -> ComposerOutcome {
    ComposerOutcome::Act(vec![Action::AnswerApproval { call, answer }])
}

fn parse_number(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=1_000).contains(n))
        .ok_or_else(|| "Write a number from 1 to 1000.".to_owned())
}

/// Confirms a goal, in the user's words if there are any.
pub fn confirm_goal(text: &str) -> Vec<Action> {
    vec![Action::Event(goal_confirmed(text))]
}

/// Returns whether the open question is whether to execute the plan.
pub fn is_plan_question(state: &RunState) -> bool {
    let kind = state.current_question().map(|question| &question.kind);
    state.approvals.is_empty() && matches!(kind, Some(QuestionKind::Execute { .. }))
}

/// Returns whether the open question is about two versions of a text.
pub fn is_versions_question(state: &RunState) -> bool {
    let kind = state.current_question().map(|question| &question.kind);
    state.approvals.is_empty()
        && matches!(
            kind,
            Some(QuestionKind::Conflict { .. } | QuestionKind::Draft { .. })
        )
}
