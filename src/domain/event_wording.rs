//! Words events for people: who is behind an event, in which tone, and in which words.
//!
//! Every front end shows these words; each chooses what it shows, how much of it, and how it looks.

mod agent_activity;
mod call_decision;
mod discussion_event;
mod plan_review;
mod thread_message;
mod tool_call_label;
mod turn_failure;

pub use self::agent_activity::word_activity;
pub use self::call_decision::{CallDescriptions, word_decision};
pub use self::discussion_event::describe_discussion_event;
pub use self::plan_review::{RejectedFindings, describe_verdict, word_review};
use self::plan_review::{describe_judgement, describe_response};
pub use self::tool_call_label::{describe_tool_call, join_paths, short_path};
use self::turn_failure::describe_failed_turn;
pub use self::turn_failure::{TurnFailureWording, word_turn_failure};
use std::fmt;

use super::bound_parts::describe_binding_changes;
use super::event::Event;
use super::event::tampering;
use super::findings::{FindingOutcome, FindingSeverity};
use super::missing_part::describe_missing_parts;
use super::phase::Phase;
use super::plan_execution::StepAssessment;
use super::question::CommitTarget;
use super::receipt::{Receipt, TestOutcome};
use super::session::version_label;
use super::step_result::StepResultKind;
use super::task::{TaskOutcome, TaskResult};
use super::turn::{MissingDocumentReason, Role, TurnOutcome};
use crate::text::{clean_to_one_line, pluralize};

/// The words for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWording {
    pub speaker: EventSpeaker,
    pub tone: EventTone,
    /// A sentence without its full stop. One line, except where an agent, a CLI or the user wrote several.
    pub text: String,
    /// Further lines, such as the findings of a review; often empty.
    pub detail: Vec<DetailLine>,
}

/// A line below the text of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailLine {
    /// The number of the finding that the line is about.
    pub number: Option<u32>,
    /// The severity of the finding that the line is about, if it is about a new one.
    pub severity: Option<FindingSeverity>,
    /// What became of the finding that the line is about, if it is about an earlier one.
    pub outcome: Option<FindingOutcome>,
    pub text: String,
    /// What the program found of its evidence, as in `✓ evidence`; may be empty.
    pub evidence: String,
}

impl From<String> for DetailLine {
    fn from(text: String) -> Self {
        Self {
            number: None,
            severity: None,
            outcome: None,
            text,
            evidence: String::new(),
        }
    }
}

impl fmt::Display for DetailLine {
    fn fmt(&self, line: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = self.severity.map(FindingSeverity::as_str);
        let label = severity.or(self.outcome.map(FindingOutcome::label));
        // As everywhere: `#3 blocking: text`.
        if let Some((number, label)) = self.number.zip(label) {
            write!(line, "#{number} {label}")?;
            if !self.text.is_empty() {
                line.write_str(": ")?;
            }
        }
        line.write_str(&self.text)?;
        if !self.evidence.is_empty() {
            write!(line, " {}", self.evidence)?;
        }
        Ok(())
    }
}

/// Who is behind an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSpeaker {
    User,
    /// The agent of a role; `None` for the agent of a task.
    Agent(Option<Role>),
    Program,
}

/// How an event is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTone {
    /// The speaker's own words.
    Message,
    /// A step on the way, for complete lists of events.
    Minor,
    /// Good to know.
    Quiet,
    /// Good to know, and perhaps the sign of a problem.
    Warning,
    Plain,
    Good,
    Bad,
    Question,
    /// The start of a phase.
    Heading,
}

impl EventWording {
    fn new(speaker: EventSpeaker, tone: EventTone, text: impl Into<String>) -> Self {
        Self {
            speaker,
            tone,
            text: text.into(),
            detail: Vec::new(),
        }
    }

    fn with_detail(self, lines: impl Iterator<Item = impl Into<DetailLine>>) -> Self {
        Self {
            detail: lines.map(Into::into).collect(),
            ..self
        }
    }

    /// Returns the text on one line, as a part of a sentence: it starts with a small letter.
    pub fn as_clause(&self) -> String {
        let text = clean_to_one_line(&self.text);
        let mut letters = text.chars();
        let first = letters.next().map(|first| first.to_lowercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    }
}

/// Words an event; `None` where there is nothing to say. The decision about a call is worded by
/// [`CallDescriptions`], which knows the call. A review is worded without the answers before it; see [`word_review`].
#[expect(clippy::too_many_lines, reason = "one arm an event: a list to read")]
pub fn word_event(event: &Event) -> Option<EventWording> {
    use EventTone::{Bad, Good, Heading, Message, Minor, Plain, Question, Quiet, Warning};
    let user = |tone, text: String| Some(EventWording::new(EventSpeaker::User, tone, text));
    let program = |tone, text: String| Some(EventWording::new(EventSpeaker::Program, tone, text));
    match event {
        Event::RunCreated(created) => program(Minor, format!("Run {} created", created.run)),
        Event::GoalGiven { text }
        | Event::GoalMessageAdded { text }
        | Event::Steered { text }
        | Event::MessageQueued { to: None, text } => user(Message, text.clone()),
        Event::MessageQueued { to: Some(to), .. } => program(
            Quiet,
            format!(
                "Your message came too late for the {}'s turn. It goes with the next one",
                to.name()
            ),
        ),
        Event::RefinerChosen { role, .. } => {
            let who = role.name();
            user(
                Quiet,
                format!("The {who} now talks with you about the goal"),
            )
        }
        Event::GoalConfirmed { title, .. } => user(
            Good,
            format!("Goal confirmed: {}", clean_to_one_line(title)),
        ),
        Event::TurnSendConfirmed => user(Minor, "Sent the turn".to_owned()),
        Event::GateChanged { gate } => user(Quiet, format!("Now in {}", gate.label())),
        Event::ModeChanged { mode } => {
            user(Quiet, format!("Mode {}: {}", mode.label(), mode.describe()))
        }
        Event::InterruptRequested => user(Quiet, "You interrupted what was running".to_owned()),
        Event::RunStopped => user(Plain, "You stopped the run, back to the goal".to_owned()),
        Event::RunCancelled => user(Bad, "You cancelled the run".to_owned()),
        Event::RunResumed { .. } => program(Quiet, "Run resumed".to_owned()),
        Event::TreeRestored { step } => program(
            Plain,
            format!("Working tree restored to before step {step}"),
        ),
        Event::ProgramExited { reason } => {
            program(Quiet, format!("The program exited here: {reason}"))
        }
        Event::QuestionAnswered { answer, .. } => user(Message, answer.describe()),
        Event::FindingSettled { n } => user(Message, format!("Finding {n} resolved")),
        Event::SessionOpened { role, .. } => {
            program(Minor, format!("The {}'s session is open", role.name()))
        }
        Event::SessionVersion {
            role,
            adapter,
            version,
        } => program(Quiet, describe_version(*role, adapter, version)),
        Event::SessionLost { role, reason } => program(
            Bad,
            format!(
                "{}: session lost ({reason}). A new one continues with a recovery prompt",
                role.name()
            ),
        ),
        Event::SessionMoved { role, adapter, .. } => program(
            Plain,
            format!(
                "The {} continues on {} with a recovery prompt",
                role.name(),
                clean_to_one_line(adapter)
            ),
        ),
        Event::SessionStayed { role, reason } => program(
            Bad,
            format!("The {} stays on its CLI: {reason}", role.name()),
        ),
        Event::LimitPassed { .. } => program(Quiet, "The usage limit has reset".to_owned()),
        Event::TurnEnded { result, .. } => match result {
            // The agent is asked for it, which would look as if the turn was repeated.
            TurnOutcome::Completed {
                result: Some(result),
                ..
            } if result.kind == StepResultKind::Unstated => {
                let text = "The turn ended without the result of its step";
                program(Quiet, text.to_owned())
            }
            TurnOutcome::Completed { .. } => None,
            TurnOutcome::Interrupted => program(Quiet, "Turn interrupted".to_owned()),
            TurnOutcome::Failed { kind, message, .. } => {
                program(Bad, describe_failed_turn(kind, message))
            }
        },
        Event::PlanCommitted { plan, .. } => {
            let steps = plan.steps.iter();
            let steps = steps.map(|step| format!("{}. {}", step.n, step.text));
            let text = format!("Plan written, {}", pluralize(plan.steps.len(), "step"));
            Some(by_role(Role::Planner, Good, text).with_detail(steps))
        }
        Event::ReviewCommitted { review, .. } => {
            Some(word_review(review, &RejectedFindings::default()))
        }
        Event::ResponseCommitted {
            responses,
            unanswered,
            plan,
            ..
        } => {
            let text = describe_response(responses.len(), unanswered, plan.is_some());
            Some(by_role(Role::Planner, Good, text))
        }
        // The verdict says what was not opened.
        Event::FilesOpened { .. } => None,
        Event::DisputesJudged { judgements, .. } => {
            let lines = judgements.iter().map(describe_judgement);
            let text = match judgements.as_slice() {
                [] => "The dispute was not judged".to_owned(),
                some => format!("Judged {}", pluralize(some.len(), "dispute")),
            };
            Some(by_role(Role::Reviewer, Plain, text).with_detail(lines))
        }
        Event::DocumentMissing { reason, .. } => match reason {
            MissingDocumentReason::UserKeptOwnText => {
                let text = "Your text stays. The turn is repeated from it";
                program(Quiet, text.to_owned())
            }
            MissingDocumentReason::Defect(text) => {
                program(Bad, format!("The turn returned no document: {text}"))
            }
        },
        Event::DocumentIncomplete { lacks, .. } => program(
            Plain,
            format!("Asked back: {}", describe_missing_parts(lacks)),
        ),
        Event::DocumentConflict {
            document,
            clash: None,
            ..
        } => program(
            Bad,
            format!("{document} was edited while a turn was writing it. Nothing was overwritten"),
        ),
        Event::PlanEdited {
            plan: Some(plan),
            source: Some(file),
            ..
        } => {
            let steps = pluralize(plan.steps.len(), "step");
            user(Quiet, format!("Plan from {file}: {steps}"))
        }
        Event::PlanEdited { plan: Some(_), .. } => user(Message, "Edited the plan".to_owned()),
        Event::PlanEdited { plan: None, .. } => {
            program(Bad, "The edited plan is no longer a plan".to_owned())
        }
        Event::CommentsEdited { .. } => user(Message, "Edited the comments".to_owned()),
        Event::NoteMade(note) => user(Message, thread_message::word_note(note)),
        Event::NoteRemoved { n } => user(Message, format!("Removed note {n}")),
        Event::ThreadResolved { n } => user(Message, format!("Resolved thread {n}")),
        Event::ThreadsChanged(changes) => thread_message::word_changes(changes),
        Event::ThreadsWritten { .. } => None,
        Event::RemarksAppended { .. } => {
            user(Message, "Asked for changes in the comments".to_owned())
        }
        Event::PhaseChanged { to, reason, .. } => {
            // The answer to a review stands below the heading of the review.
            let tone = if *to == Phase::Respond {
                Minor
            } else {
                Heading
            };
            let wording = EventWording::new(EventSpeaker::Program, tone, to.label().to_owned());
            let reason = reason.iter().map(|reason| format!("Review {reason}"));
            Some(wording.with_detail(reason))
        }
        Event::QuestionAsked { question } => program(Question, question.kind.describe()),
        Event::AgentAsked {
            questions, child, ..
        } => {
            let asked: Vec<&str> = questions.iter().map(|asked| asked.text.as_str()).collect();
            let who = child.as_deref().unwrap_or("The agent");
            program(Minor, format!("{who} asks: {}", asked.join(" / ")))
        }
        Event::AnswerPending { .. } => {
            let text = "The agent ends its turn without your answer and gets it with its next turn";
            program(Quiet, text.to_owned())
        }
        Event::PlanExitAnswered { told: Some(_) } => {
            program(Quiet, "The plan stays with the planner for now".to_owned())
        }
        Event::ApprovalExpired { approval, reason } => program(
            Bad,
            format!("Expired unanswered: {} ({reason})", approval.describe()),
        ),
        Event::DraftFound { .. } => program(Minor, "An interrupted turn left a draft".to_owned()),
        Event::RepositorySurveyed { .. } => program(Minor, "Repository checked".to_owned()),
        Event::ExecutionEntered { terms, .. } => program(
            Quiet,
            match &terms.commits {
                CommitTarget::Off { reason } => format!("Commits are off: {reason}"),
                CommitTarget::Current { branch } | CommitTarget::New { branch, .. } => {
                    format!("Commits go to {branch}")
                }
            },
        ),
        Event::ExecutionRefused { reason } => {
            program(Bad, format!("The plan cannot run: {reason}"))
        }
        Event::ApprovalChecked { changes, .. } if changes.is_empty() => {
            program(Minor, "Nothing changed since the approval".to_owned())
        }
        Event::ApprovalChecked { changes, .. } => {
            let changes = describe_binding_changes(changes);
            program(Plain, format!("Changed since the approval: {changes}"))
        }
        Event::SnapshotTaken { step: 0, .. } => program(Minor, "Working tree saved".to_owned()),
        Event::SnapshotTaken { step, .. } => {
            program(Minor, format!("Working tree before step {step} saved"))
        }
        Event::StepAudited(audit) => {
            let changed = match audit.changed.len() {
                0 => StepAssessment::CHANGED_NOTHING.to_owned(),
                n => format!("{} changed", pluralize(n, "file")),
            };
            program(Quiet, format!("Step {}: {changed}", audit.step))
        }
        Event::EditsPutBack { paths, .. } => {
            let paths = clean_to_one_line(&paths.join(", "));
            program(Plain, format!("Restored to before the step: {paths}"))
        }
        Event::BaselineRan(baseline) => {
            let tone = match receipt_tone(&baseline.receipt) {
                Good => Plain,
                tone => tone,
            };
            let wording = program(tone, baseline.describe());
            wording.map(|wording| wording.with_detail(baseline.describe_cost().into_iter()))
        }
        Event::BaselineStopped => user(Quiet, "You stopped the tests before step 1".to_owned()),
        Event::BaselineSkipped { reason } => {
            program(Quiet, format!("No test run before step 1: {reason}"))
        }
        Event::TestsRan { step, receipt, .. } => {
            let text = format!("Step {step}: {}", receipt.describe_with_origin());
            program(receipt_tone(receipt), text)
        }
        Event::ReceiptsAdded { number, .. } => {
            let entries = match number {
                1 => "1 entry".to_owned(),
                n => format!("{n} entries"),
            };
            program(Minor, format!("Record of checks and approvals: {entries}"))
        }
        Event::StepProved { step, proof, .. } => {
            program(Plain, format!("Step {step}: {}", proof.summary()))
        }
        Event::CommitMade {
            commit,
            message,
            size,
            ..
        } => {
            let (commit, message) = (short_commit(commit), clean_to_one_line(message));
            let size = size.map_or(String::new(), |size| format!(" · {}", size.describe()));
            program(Good, format!("Commit {commit} {message}{size}"))
        }
        Event::CommitSkipped { step, reason } => {
            program(Quiet, format!("Step {step} not committed: {reason}"))
        }
        Event::CommitFailed { step, message } => {
            program(Bad, format!("The commit of step {step} failed: {message}"))
        }
        Event::StepRecorded { step, .. } => program(Good, format!("Step {step} done")),
        Event::UndoFinished {
            way, steps, commit, ..
        } => {
            let commit = commit.as_deref().map(short_commit);
            let commit = commit.map_or(String::new(), |commit| format!(", commit {commit}"));
            user(Message, way.label_with_steps(steps) + &commit)
        }
        Event::UndoFailed { reason } => program(Bad, format!("Nothing was changed: {reason}")),
        Event::StoreTampered { files } => program(
            Bad,
            format!(
                "Restored files that only this program writes, after something else changed them: {}",
                tampering::describe_restored_files(files)
            ),
        ),
        Event::TodosWritten { todos, .. } => {
            let text = todos.describe_progress();
            let lines = todos.items().iter().map(ToString::to_string);
            program(Quiet, text).map(|wording| wording.with_detail(lines))
        }
        Event::ToolBlocked { tool, reason, .. } => {
            program(Bad, format!("Tool {tool} blocked: {reason}"))
        }
        Event::LateResultReceived { role, text } => {
            program(Quiet, format!("For the {}: {text}", role.name()))
        }
        Event::PlanEntered { reason, step: None } => {
            program(Quiet, format!("Back to planning: {reason}"))
        }
        Event::PlanEntered {
            reason,
            step: Some(step),
        } => program(Quiet, format!("Step {step} is planned again: {reason}")),
        Event::StepSkipped { step, reason } => user(Message, format!("Skip step {step}: {reason}")),
        Event::StepAmended { step } => user(Message, format!("Amended step {step}")),
        Event::EffectFailed { what, message } => {
            program(Bad, format!("Failed to {what}: {message}"))
        }
        Event::WarningRaised { what, message } => program(
            Warning,
            format!("Failed to {what}, the run continues: {message}"),
        ),
        Event::TaskStarted(order) if order.speaks.is_some() => {
            program(Quiet, format!("{} is answering", order.short_name()))
        }
        Event::TaskStarted(order) => program(Quiet, clean_to_one_line(&order.describe_start())),
        Event::TaskPatched { patch, .. } if patch.is_settled() => program(Quiet, patch.describe()),
        Event::TaskEnded(result) => Some(word_task_end(result, result.display_name())),
        Event::Discussion { news, .. } => {
            let text = describe_discussion_event(news);
            text.and_then(|text| program(Quiet, text))
        }
        Event::Agent { role, news, .. } => word_activity(Some(*role), news),
        Event::AgentsRegistered { .. }
        | Event::TurnHoldChanged { .. }
        | Event::UsageReported { .. }
        | Event::PlanUseReported { .. }
        | Event::MessageAppended { .. }
        | Event::TurnStarted { .. }
        | Event::PlanMarked { .. }
        | Event::DocumentConflict { clash: Some(_), .. }
        | Event::AgentQuestionWithdrawn { .. }
        | Event::PlanExitAnswered { told: None }
        | Event::AnswerMissed { .. }
        | Event::ApprovalRequested(_)
        | Event::ApprovalDecided { .. }
        | Event::UndoAsked { .. }
        | Event::UndoKept { .. }
        | Event::UndoPutBack { .. }
        | Event::TaskDispatched { .. }
        | Event::TaskOpened { .. }
        | Event::TaskActivity { .. }
        | Event::TaskMovedToBackground { .. }
        | Event::TaskPatched { .. }
        | Event::TaskReported { .. }
        | Event::ChildDeleted { .. } => None,
    }
}

/// Words the end of a task; `name` is the agent's name.
pub fn word_task_end(result: &TaskResult, name: &str) -> EventWording {
    let tone = match result.end {
        TaskOutcome::Completed { .. } => EventTone::Good,
        _ => EventTone::Bad,
    };
    let said = result.end.user_message().trim();
    let text = format!(
        "Task of {} {}: {}",
        clean_to_one_line(name),
        result.end.status().name(),
        clean_to_one_line(said.lines().next().unwrap_or_default())
    );
    EventWording::new(EventSpeaker::Program, tone, text)
}

/// Describes a role's CLI and its version; without an adapter, only the version is known.
pub fn describe_version(role: Role, adapter: &str, version: &str) -> String {
    let (who, version) = (
        role.name(),
        clean_to_one_line(&version_label(adapter, version)),
    );
    match adapter {
        "" => format!("The {who}'s CLI version is {version}"),
        _ => format!("The {who} is {version}"),
    }
}

/// Returns the short form of a commit id.
pub fn short_commit(commit: &str) -> String {
    commit
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(8)
        .collect()
}

fn by_role(role: Role, tone: EventTone, text: String) -> EventWording {
    EventWording::new(EventSpeaker::Agent(Some(role)), tone, text)
}

fn receipt_tone(receipt: &Receipt) -> EventTone {
    match receipt.outcome {
        TestOutcome::Passed => EventTone::Good,
        _ if receipt.allows_next_step() => EventTone::Plain,
        _ => EventTone::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{AgentActivity, ToolKind};
    use crate::domain::ids::TurnId;
    use crate::domain::phase::Gate;

    fn check(wording: Option<EventWording>, speaker: EventSpeaker, tone: EventTone, text: &str) {
        let wording = wording.unwrap();
        let found = (wording.speaker, wording.tone, wording.text.as_str());
        assert_eq!(found, (speaker, tone, text));
    }

    #[test]
    fn an_event_has_a_speaker_a_tone_and_a_text() {
        let gate = Gate::Auto;
        check(
            word_event(&Event::GateChanged { gate }),
            EventSpeaker::User,
            EventTone::Quiet,
            "Now in Auto",
        );
        let role = Role::Planner;
        let news = AgentActivity::ToolStarted {
            item: "1".to_owned(),
            tool: ToolKind::Command,
            title: "ls".to_owned(),
            detail: None,
        };
        let turn = TurnId::new("trn_1");
        check(
            word_event(&Event::Agent { turn, role, news }),
            EventSpeaker::Agent(Some(role)),
            EventTone::Quiet,
            "$ ls",
        );
        let resumed = word_event(&Event::RunResumed { gate }).unwrap();
        assert_eq!(resumed.as_clause(), "run resumed");
    }
}
