//! Writes the entries of log.md that are not about steps: the goal, verdicts, approvals and their terms.
//!
//! They are plain text for people; nothing is read back from them.

use crate::domain::event::Event;
use crate::domain::plan_execution::TestBaseline;
use crate::domain::question::{CommitTarget, ExecutionTerms, QuestionAnswer};
use crate::domain::reversal_plan::steps_label;
use crate::store::{EventLogRecord, utc_time};
use crate::text::pluralize;

use super::agent_activity;

/// Returns the log entry of a recorded event; the same event always gives the same text.
pub(super) fn event_log_entry(record: &EventLogRecord<Event>, iteration: u32) -> Option<String> {
    let now = utc_time::to_rfc3339(record.at);
    let said = match &record.event {
        Event::GoalConfirmed { title, text } => {
            let goal = agent_activity::clean_block(text).replace('\n', "\n> ");
            return Some(format!(
                "\n# {}\n\n- {now} {}, goal confirmed:\n\n> {goal}\n",
                agent_activity::clean_line(title),
                record.run
            ));
        }
        Event::PlanCommitted { plan, .. } => {
            format!("plan written, {}", pluralize(plan.steps.len(), "step"))
        }
        Event::ReviewCommitted { review, .. } => {
            format!(
                "review {iteration}: {}, {}",
                review.verdict.label(),
                pluralize(review.remarks.len(), "finding")
            )
        }
        Event::ResponseCommitted {
            responses, plan, ..
        } => {
            let plan = if plan.is_some() {
                "plan changed"
            } else {
                "plan unchanged"
            };
            format!("{} answered, {plan}", pluralize(responses.len(), "finding"))
        }
        Event::QuestionAnswered {
            answer: QuestionAnswer::Execute,
            ..
        } => "execution approved by the user".to_owned(),
        Event::ExecutionEntered { terms, .. } => describe_terms(terms),
        Event::BaselineRan(baseline) => describe_baseline(baseline),
        Event::BaselineSkipped { reason } => {
            format!(
                "no test run before step 1: {}",
                agent_activity::clean_line(reason)
            )
        }
        Event::SessionLost { role, .. } => {
            format!("the {} continues in a new conversation", role.name())
        }
        Event::SessionMoved { role, adapter, .. } => {
            format!(
                "the {} continues with {}",
                role.name(),
                agent_activity::clean_line(adapter)
            )
        }
        Event::RunResumed { .. } => "resumed".to_owned(),
        Event::EditsPutBack { step, paths, kept } => {
            let paths: Vec<String> = paths
                .iter()
                .map(|path| agent_activity::clean_line(path))
                .collect();
            format!(
                "step {step}: restored to before the step: {}; the replaced files are kept in {kept}",
                paths.join(", ")
            )
        }
        Event::TreeRestored { step } => {
            format!("the working tree was restored to before step {step}")
        }
        Event::UndoFinished { .. } => describe_undo(&record.event)?,
        Event::UndoFailed { reason } => {
            format!("nothing was undone: {}", agent_activity::clean_line(reason))
        }
        Event::ProgramExited { reason } => format!("left: {}", agent_activity::clean_line(reason)),
        _ => return None,
    };
    Some(format!("- {now} {said}\n"))
}

fn describe_undo(event: &Event) -> Option<String> {
    let Event::UndoFinished {
        way,
        steps,
        kept,
        commit,
        ..
    } = event
    else {
        return None;
    };
    let commit = commit.as_ref().map(|commit| format!(", commit {commit}"));
    Some(format!(
        "{} {}{}; to get the replaced files back: git restore --source={kept} -- .",
        steps_label(steps),
        way.past_participle(),
        commit.unwrap_or_default()
    ))
}

fn describe_baseline(baseline: &TestBaseline) -> String {
    let told = |what: &str, paths: &[String]| {
        if paths.is_empty() {
            String::new()
        } else {
            format!("; {what}: {}", join_paths(paths))
        }
    };
    format!(
        "{}{}{}",
        agent_activity::clean_line(&baseline.describe()),
        told("made by the tests, not committed", &baseline.made_by_tests),
        told("changed while they ran", &baseline.changed)
    )
}

fn describe_terms(terms: &ExecutionTerms) -> String {
    let commits = match &terms.commits {
        CommitTarget::Off { reason } => format!("commits are off ({reason})"),
        CommitTarget::Current { branch } => format!("commits go to {branch}"),
        CommitTarget::New { branch } => format!("commits go to the new branch {branch}"),
    };
    let test = agent_activity::clean_line(&terms.describe_test());
    format!("execution started: {commits}; {test}")
}

/// Joins paths on one line of log.md, cleaned so that no name can forge an entry.
pub(super) fn join_paths(paths: &[String]) -> String {
    paths
        .iter()
        .map(|path| agent_activity::clean_line(path))
        .collect::<Vec<_>>()
        .join(", ")
}
