//! Writes the entries of log.md that are not about steps: the goal, verdicts, approvals and their terms.
//!
//! They are plain text for people. When a run is resumed, the entry of its last event is looked for and added if it is
//! missing, so the words of an event that may be the last one do not change.

use crate::domain::event::Event;
use crate::domain::event_wording::{describe_verdict, word_event};
use crate::domain::plan_execution::TestBaseline;
use crate::domain::question::{CommitTarget, QuestionAnswer};
use crate::domain::reversal_plan::replaced_files_hint;
use crate::store::{EventLogRecord, utc_time};

use super::agent_activity;

/// Returns the log entry of a recorded event; the same event always gives the same text.
pub(super) fn event_log_entry(record: &EventLogRecord<Event>, iteration: u32) -> Option<String> {
    let now = utc_time::to_rfc3339(record.at);
    let words = || word_event(&record.event).map_or(String::new(), |wording| wording.as_clause());
    let clause = || agent_activity::clean_line(&words());
    let said = match &record.event {
        Event::GoalConfirmed { title, text } => {
            let goal = agent_activity::clean_block(text).replace('\n', "\n> ");
            return Some(format!(
                "\n# {}\n\n- {now} {}, goal confirmed:\n\n> {goal}\n",
                agent_activity::clean_line(title),
                record.run
            ));
        }
        Event::ReviewCommitted { review, .. } => {
            format!("review {iteration}: {}", describe_verdict(review))
        }
        Event::PhaseChanged {
            reason: Some(reason),
            ..
        } => format!("review of the plan: {}", agent_activity::clean_line(reason)),
        Event::QuestionAsked { question } if question.kind.is_about_review() => {
            let asked = agent_activity::clean_line(&question.kind.describe());
            format!("review {iteration} is up to the user: {asked}")
        }
        Event::QuestionAnswered {
            answer: QuestionAnswer::Execute,
            ..
        } => "execution approved by the user".to_owned(),
        Event::QuestionAnswered {
            answer: QuestionAnswer::ExecuteByFlag,
            ..
        } => "execution approved by a flag".to_owned(),
        Event::ExecutionEntered { terms, .. } => {
            let test = agent_activity::clean_line(&terms.describe_test());
            let commits = describe_commits(&terms.commits);
            format!("execution started: {commits}; {test}")
        }
        Event::BaselineRan(baseline) => format!("{}{}", clause(), describe_changes(baseline)),
        Event::EditsPutBack { step, kept, .. } => {
            format!(
                "step {step}: {}; the replaced files are kept in {kept}",
                words()
            )
        }
        Event::UndoFinished {
            way,
            steps,
            kept,
            commit,
            ..
        } => {
            let done = way.describe_result(steps, commit.as_deref());
            format!("{done}; {}", replaced_files_hint(kept))
        }
        Event::RunResumed { .. } => "resumed".to_owned(),
        Event::ProgramExited { reason } => format!("left: {}", agent_activity::clean_line(reason)),
        Event::PlanCommitted { .. }
        | Event::ResponseCommitted { .. }
        | Event::BaselineSkipped { .. }
        | Event::SessionLost { .. }
        | Event::SessionMoved { .. }
        | Event::TreeRestored { .. }
        | Event::UndoFailed { .. } => clause(),
        _ => return None,
    };
    Some(format!("- {now} {said}\n"))
}

fn describe_commits(target: &CommitTarget) -> String {
    match target {
        CommitTarget::Off { reason } => format!("commits are off ({reason})"),
        CommitTarget::Current { branch } => format!("commits go to {branch}"),
        CommitTarget::New { branch, .. } => format!("commits go to the new branch {branch}"),
    }
}

/// Describes what the tests before the first step changed.
fn describe_changes(baseline: &TestBaseline) -> String {
    let told = |what: &str, paths: &[String]| {
        if paths.is_empty() {
            String::new()
        } else {
            format!("; {what}: {}", join_paths(paths))
        }
    };
    format!(
        "{}{}",
        told("made by the tests, not committed", &baseline.made_by_tests),
        told("changed while they ran", &baseline.changed)
    )
}

/// Joins paths on one line of log.md, cleaned so that no name can forge an entry.
pub(super) fn join_paths(paths: &[String]) -> String {
    paths
        .iter()
        .map(|path| agent_activity::clean_line(path))
        .collect::<Vec<_>>()
        .join(", ")
}
