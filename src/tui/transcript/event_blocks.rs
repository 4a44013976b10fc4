//! Converts an event into the blocks that the stream shows for it.
//!
//! Only new blocks are created here; other modules update blocks, for finished tool calls and texts.

use super::tool_call_card::ToolCallCard;
use super::transcript_block::{BlockAuthor, BlockContent, FactTone, TranscriptBlock};
use crate::domain::event::tampering::{self, RestoredFile};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::missing_part;
use crate::domain::question::CommitTarget;
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::reversal_plan::steps_label;
use crate::domain::review::{ReviewDocument, Verdict};
use crate::domain::task::{TaskOutcome, TaskResult};
use crate::domain::turn::{Role, TurnOutcome, TurnRetryReason};
use crate::text::pluralize;
use crate::tui::labels::format_millis;
use crate::tui::text_wrap::{clean_for_display, to_one_line};
use crate::tui::todo_lists;

/// Shown for a question whose agent cannot wait any longer.
const DEFERRED_ANSWER_NOTE: &str =
    "The agent ends its turn without your answer and gets it with its next turn";

/// Returns the blocks of an event; none if another part of the screen shows it.
#[expect(
    clippy::too_many_lines,
    reason = "one arm an event that is told: a list to read"
)]
pub fn from_event(event: &Event) -> Vec<TranscriptBlock> {
    match event {
        Event::GoalGiven { text } | Event::GoalMessageAdded { text } => user_message(text),
        Event::GoalConfirmed { title, .. } => {
            success_fact(&format!("Goal confirmed: {}", to_one_line(title)))
        }
        Event::ModeChanged { mode } => {
            notice(&format!("Mode {}: {}", mode.label(), mode.describe()))
        }
        Event::GateChanged { gate } => {
            notice(&format!("Now in {}", crate::tui::labels::gate_label(*gate)))
        }
        Event::InterruptRequested => notice("You interrupted the turn"),
        Event::Steered { text } | Event::MessageQueued { to: None, text } => user_message(text),
        Event::MessageQueued { to: Some(to), .. } => notice(&format!(
            "Your message came too late for the {}'s turn. It goes with the next one",
            to.name()
        )),
        Event::RunStopped => fact(FactTone::Plain, "You stopped the run, back to the goal"),
        Event::RunCancelled => fact(FactTone::Bad, "You cancelled the run"),
        Event::RunResumed { .. } => notice("Run resumed"),
        Event::EditsPutBack { paths, .. } => fact(
            FactTone::Plain,
            &format!(
                "Restored to before the step: {}",
                to_one_line(&paths.join(", "))
            ),
        ),
        Event::TreeRestored { step } => fact(
            FactTone::Plain,
            &format!("Working tree restored to before step {step}"),
        ),
        Event::ProgramExited { reason } => notice(&format!("The program exited here: {reason}")),
        Event::QuestionAnswered { answer, .. } => user_message(&answer.describe()),
        Event::FindingSettled { n } => user_message(&format!("Finding {n} resolved")),
        Event::SessionLost { role, reason } => fact(
            FactTone::Bad,
            &format!(
                "{}: session lost ({reason}). A new one continues with a recovery prompt",
                role.name()
            ),
        ),
        Event::SessionMoved { role, adapter, .. } => fact(
            FactTone::Plain,
            &format!(
                "The {} continues on {} with a recovery prompt",
                role.name(),
                to_one_line(adapter)
            ),
        ),
        Event::SessionStayed { role, reason } => fact(
            FactTone::Bad,
            &format!("The {} stays on its CLI: {reason}", role.name()),
        ),
        Event::LimitPassed { .. } => notice("The usage limit has reset"),
        Event::TurnEnded { result, .. } => from_turn_outcome(result),
        Event::PlanCommitted { plan, .. } => success_fact(&format!(
            "Plan written, {}",
            pluralize(plan.steps.len(), "step")
        )),
        Event::ReviewCommitted { review, .. } => from_review(review),
        Event::ResponseCommitted {
            responses,
            unanswered,
            plan,
            ..
        } => success_fact(&describe_response(
            responses.len(),
            unanswered,
            plan.is_some(),
        )),
        Event::DocumentMissing { reason, .. } if reason == TurnRetryReason::USER_KEPT_OWN_TEXT => {
            notice("Your text stays. The turn is repeated from it")
        }
        Event::DocumentMissing { reason, .. } => fact(
            FactTone::Bad,
            &format!("The turn returned no document: {reason}"),
        ),
        Event::DocumentIncomplete { lacks, .. } => fact(
            FactTone::Plain,
            &format!(
                "Asked back: {}",
                missing_part::describe_missing_parts(lacks)
            ),
        ),
        // The question that follows shows a second conflict of the same turn.
        Event::DocumentConflict {
            document,
            clash: None,
            ..
        } => fact(
            FactTone::Bad,
            &format!("{document} was edited while a turn was writing it. Nothing was overwritten"),
        ),
        Event::DocumentConflict { clash: Some(_), .. } => Vec::new(),
        Event::PlanEdited { plan, .. } => match plan {
            Some(_) => user_message("Edited the plan"),
            None => fact(FactTone::Bad, "The edited plan is no longer a plan"),
        },
        Event::CommentsEdited { .. } => user_message("Edited the comments"),
        Event::NoteMade { line, text, .. } => {
            user_message(&format!("Note on line {line} of the plan: {text}"))
        }
        Event::NoteRemoved { n } => user_message(&format!("Removed note {n}")),
        Event::RemarksAppended { .. } => user_message("Asked for changes in the comments"),
        Event::PhaseChanged { to, .. } => vec![TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::Divider {
                text: to.label().to_owned(),
            },
        )],
        Event::QuestionAsked { question } => match question.kind {
            crate::domain::question::QuestionKind::Gate { .. } => Vec::new(),
            _ => fact(FactTone::Question, &question.kind.describe()),
        },
        Event::ApprovalExpired { approval, reason } => fact(
            FactTone::Bad,
            &format!("Expired unanswered: {} ({reason})", approval.describe()),
        ),
        Event::RefinerChosen { role, .. } => notice(&format!(
            "The {} now talks with you about the goal",
            role.name()
        )),
        Event::ExecutionEntered { terms, .. } => match &terms.commits {
            CommitTarget::Off { reason } => notice(&format!("Commits are off: {reason}")),
            CommitTarget::Current { branch } | CommitTarget::New { branch } => {
                notice(&format!("Commits go to {branch}"))
            }
        },
        Event::ExecutionRefused { reason } => {
            fact(FactTone::Bad, &format!("The plan cannot run: {reason}"))
        }
        Event::BaselineStopped => notice("You stopped the tests before step 1"),
        Event::BaselineSkipped { reason } => {
            notice(&format!("No test run before step 1: {reason}"))
        }
        Event::BaselineRan(baseline) => {
            let tone = if baseline.receipt.allows_next_step() {
                FactTone::Plain
            } else {
                FactTone::Bad
            };
            fact_with_detail(
                tone,
                &baseline.describe(),
                &describe_test_receipt(&baseline.receipt),
            )
        }
        Event::TestsRan { step, receipt, .. } => {
            let tone = match receipt.outcome {
                TestOutcome::Passed => FactTone::Good,
                _ if receipt.allows_next_step() => FactTone::Plain,
                _ => FactTone::Bad,
            };
            let text = format!("Step {step}: {}", receipt.describe_with_origin());
            fact_with_detail(tone, &text, &describe_test_receipt(receipt))
        }
        Event::CommitMade {
            commit, message, ..
        } => success_fact(&format!(
            "Commit {} {}",
            crate::tui::labels::short_commit(commit),
            to_one_line(message)
        )),
        Event::CommitSkipped { step, reason } => {
            notice(&format!("Step {step} not committed: {reason}"))
        }
        Event::CommitFailed { step, message } => fact(
            FactTone::Bad,
            &format!("The commit of step {step} failed: {message}"),
        ),
        Event::StepRecorded { step, .. } => success_fact(&format!("Step {step} done")),
        Event::UndoFinished {
            way, steps, commit, ..
        } => {
            let commit = commit.as_deref().map(crate::tui::labels::short_commit);
            let commit = commit.map_or(String::new(), |commit| format!(", commit {commit}"));
            user_message(&format!("{} {}{commit}", way.title(), steps_label(steps)))
        }
        Event::UndoFailed { reason } => {
            fact(FactTone::Bad, &format!("Nothing was changed: {reason}"))
        }
        Event::StoreTampered { files } => fact(FactTone::Bad, &describe_tampering(files)),
        Event::TodosWritten { todos, .. } => notice(&todo_lists::format_todo_list(todos)),
        Event::AnswerPending { .. } => notice(DEFERRED_ANSWER_NOTE),
        Event::PlanExitAnswered { told: Some(_) } => {
            notice("The plan stays with the planner for now")
        }
        Event::PlanEntered { reason } => notice(&format!("Back to planning: {reason}")),
        Event::LateResultReceived { role, text } => {
            notice(&format!("For the {}: {text}", role.name()))
        }
        Event::ToolBlocked { tool, reason, .. } => {
            fact(FactTone::Bad, &format!("Tool {tool} blocked: {reason}"))
        }
        Event::EffectFailed { what, message } => {
            fact(FactTone::Bad, &format!("Failed to {what}: {message}"))
        }
        Event::WarningRaised { what, message } => {
            notice(&format!("Failed to {what}, the run continues: {message}"))
        }
        Event::Agent { role, news, .. } => self::from_activity(*role, news),
        // Shown by `turn_tracker`, which knows the adapters.
        Event::SessionVersion { .. } => Vec::new(),
        Event::TaskStarted(order) => notice(&to_one_line(&order.describe_start())),
        Event::TaskEnded(result) => from_task_outcome(result, result.display_name()),
        // Shown by modules that know the calls and the tasks.
        Event::ApprovalDecided { .. }
        | Event::PlanExitAnswered { told: None }
        | Event::PlanMarked { .. }
        | Event::TaskPatched { .. }
        | Event::RunCreated(_)
        | Event::TaskDispatched { .. }
        | Event::TaskOpened { .. }
        | Event::TaskActivity { .. }
        | Event::TaskMovedToBackground { .. }
        | Event::TaskReported { .. }
        | Event::ChildDeleted { .. }
        | Event::Discussion { .. }
        | Event::AgentsRegistered { .. }
        | Event::TurnSendConfirmed
        | Event::TurnHoldChanged { .. }
        | Event::SessionOpened { .. }
        | Event::UsageReported { .. }
        | Event::PlanUseReported { .. }
        | Event::MessageAppended { .. }
        | Event::TurnStarted { .. }
        | Event::AgentAsked { .. }
        | Event::DraftFound { .. }
        | Event::AgentQuestionWithdrawn { .. }
        | Event::AnswerMissed { .. }
        | Event::ApprovalRequested(_)
        | Event::RepositorySurveyed { .. }
        | Event::SnapshotTaken { .. }
        | Event::UndoAsked { .. }
        | Event::UndoKept { .. }
        | Event::UndoPutBack { .. }
        | Event::StepAudited(_) => Vec::new(),
    }
}

/// Returns the blocks of an agent's activity.
pub fn from_activity(role: Role, news: &AgentActivity) -> Vec<TranscriptBlock> {
    let agent = |content| vec![TranscriptBlock::new(BlockAuthor::Agent(role), content)];
    match news {
        AgentActivity::Text { text } => agent(BlockContent::message(text)),
        AgentActivity::Thinking { text } => match text.trim() {
            "" => Vec::new(),
            text => agent(BlockContent::Thinking {
                text: clean_for_display(text),
            }),
        },
        AgentActivity::ToolStarted { item, tool, title } => agent(BlockContent::Tool(
            ToolCallCard::new(item, tool.clone(), title),
        )),
        AgentActivity::ToolEnded { .. } => Vec::new(),
        AgentActivity::FilesChanged { paths, .. } => {
            let list: Vec<String> = paths
                .iter()
                .map(|(path, change)| format!("{change} {path}"))
                .collect();
            notice(&format!("Files: {}", list.join(", ")))
        }
        AgentActivity::CallDenied { tool, reason } => {
            fact(FactTone::Bad, &format!("{tool} denied: {reason}"))
        }
        AgentActivity::Retrying { reason } => {
            notice(&format!("{} tries again: {reason}", role.name()))
        }
        AgentActivity::Notice { text } => notice(&format!("{}: {text}", role.name())),
        AgentActivity::Silent { seconds, verdict } => {
            let why = verdict.as_ref().map(|why| format!(", {why}"));
            notice(&format!(
                "No output from the {} for {seconds} s{}",
                role.name(),
                why.unwrap_or_default()
            ))
        }
        AgentActivity::Unknown { frame } => notice(&format!("Unknown frame `{frame}` (kept)")),
        AgentActivity::Malformed { problem } => {
            fact(FactTone::Bad, &format!("Malformed line: {problem}"))
        }
    }
}

/// Returns the block of a step that succeeded: its tests and its commit, with the test receipt as details.
pub fn from_finished_step<'a>(
    step: u32,
    parts: impl Iterator<Item = &'a String>,
    proof: &str,
) -> Vec<TranscriptBlock> {
    let checked = format!("Step {step}: ");
    let parts = parts.map(|part| match part.strip_prefix("Commit ") {
        // The subject repeats the step's heading.
        Some(commit) => commit.split(' ').next().unwrap_or(commit).to_owned(),
        None => part.replacen(&checked, "", 1),
    });
    let all: Vec<String> = std::iter::once(format!("Step {step} done"))
        .chain(parts)
        .collect();
    fact_with_detail(FactTone::Good, &all.join(" · "), proof)
}

/// Describes the test command of a step, its duration and its result; empty if no test ran.
fn describe_test_receipt(receipt: &Receipt) -> String {
    match receipt.command.as_str() {
        "" => String::new(),
        command => format!(
            "$ {}  {}\n{}",
            to_one_line(command),
            format_millis(i64::try_from(receipt.duration_ms).unwrap_or(i64::MAX)),
            receipt.output_tail.trim_end()
        ),
    }
}

fn user_message(text: &str) -> Vec<TranscriptBlock> {
    vec![TranscriptBlock::new(
        BlockAuthor::User,
        BlockContent::message(text),
    )]
}

/// Returns a dimmed line.
pub fn notice(text: &str) -> Vec<TranscriptBlock> {
    vec![TranscriptBlock::new(
        BlockAuthor::System,
        BlockContent::notice(text),
    )]
}

/// Returns a fact that the program states.
pub fn fact(tone: FactTone, text: &str) -> Vec<TranscriptBlock> {
    vec![TranscriptBlock::new(
        BlockAuthor::System,
        BlockContent::fact(tone, text),
    )]
}

fn fact_with_detail(tone: FactTone, text: &str, proof: &str) -> Vec<TranscriptBlock> {
    vec![TranscriptBlock::new(
        BlockAuthor::System,
        BlockContent::fact_with_detail(tone, text, proof),
    )]
}

fn success_fact(text: &str) -> Vec<TranscriptBlock> {
    fact(FactTone::Good, text)
}

/// Returns the block of a task's end; `name` is the agent's name.
pub fn from_task_outcome(result: &TaskResult, name: &str) -> Vec<TranscriptBlock> {
    let tone = match result.end {
        TaskOutcome::Completed { .. } => FactTone::Good,
        _ => FactTone::Bad,
    };
    fact(
        tone,
        &format!(
            "Task of {} {}: {}",
            to_one_line(name),
            result.end.status().name(),
            to_one_line(first_line(result.end.user_message()))
        ),
    )
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

fn from_turn_outcome(result: &TurnOutcome) -> Vec<TranscriptBlock> {
    match result {
        TurnOutcome::Completed { .. } => Vec::new(),
        TurnOutcome::Interrupted => notice("Turn interrupted"),
        TurnOutcome::Failed { kind, message, .. } => {
            fact(FactTone::Bad, &format!("Turn failed ({kind}): {message}"))
        }
    }
}

fn from_review(review: &ReviewDocument) -> Vec<TranscriptBlock> {
    let tone = match review.verdict {
        Verdict::Approved => FactTone::Good,
        Verdict::ChangesRequired => FactTone::Plain,
    };
    let doubt = if review.consistent {
        ""
    } else {
        " (marker and text disagree)"
    };
    let remarks = review.remarks.iter().map(|remark| {
        format!(
            "{}. [{}] {}",
            remark.n,
            remark.severity.as_str(),
            to_one_line(&remark.text)
        )
    });
    let head = format!(
        "Review: {}{doubt}, {}",
        review.verdict.label(),
        pluralize(review.remarks.len(), "finding")
    );
    let lines: Vec<String> = std::iter::once(head).chain(remarks).collect();
    fact(tone, &lines.join("\n"))
}

fn describe_response(n_responses: usize, unanswered: &[u32], is_changed: bool) -> String {
    let plan = if is_changed {
        "plan changed"
    } else {
        "plan unchanged"
    };
    let left: Vec<String> = unanswered.iter().map(u32::to_string).collect();
    let answered = pluralize(n_responses, "finding");
    match left.as_slice() {
        [] => format!("{answered} answered, {plan}"),
        left => format!(
            "{answered} answered, {plan}, unanswered: {}",
            left.join(", ")
        ),
    }
}

fn describe_tampering(files: &[RestoredFile]) -> String {
    format!(
        "Restored files that only this program writes, after something else changed them: {}",
        tampering::describe_restored_files(files)
    )
}
