//! The summary of a finished run and the possible next steps: a card at the end of the chat.
//!
//! It shows what the program checked and counted, not what an agent claims. It does not check
//! whether the branch still exists.

use ratatui::style::Style;

use super::appearance::ScreenSettings;
use super::header::describe_usage;
use super::keymap::ComposerFocus;
use super::labels;
use super::text_wrap::to_one_line;
use super::theme;
use super::transcript::{ChatTranscript, RunResultRow, RunSummaryCard, RunSummaryKey};
use crate::domain::ids::UnixMillis;
use crate::domain::plan_execution::{
    PlanExecution, StepAssessment, StepCount, StepOutcome, StepRecord,
};
use crate::domain::question::CommitTarget;
use crate::domain::receipt::TestOutcome;
use crate::domain::run::RunState;
use crate::text::{format_duration, pluralize};

/// Up to how many steps each have a row in the summary.
const MAX_STEP_ROWS: usize = 8;

/// Shows the summary card while the run is over, and removes it otherwise.
pub(super) fn update_summary_card(
    chat: &mut ChatTranscript,
    state: Option<&RunState>,
    context: &SummaryContext<'_>,
) {
    match state {
        Some(state) if state.is_over() => chat.show_run_summary(context.build_card(state)),
        Some(state) => chat.remove_run_summary(&state.run),
        None => chat.detach_run_summary(),
    }
}

/// What the summary depends on, beside the run's state.
#[derive(Debug, Clone, Copy)]
pub(super) struct SummaryContext<'a> {
    pub(super) settings: &'a ScreenSettings,
    pub(super) focus: ComposerFocus,
    pub(super) ended_at: Option<UnixMillis>,
}

impl SummaryContext<'_> {
    fn build_card(&self, state: &RunState) -> RunSummaryCard {
        let last = &self.ended_at;
        let took = last.map(|last| format_duration(last.0.saturating_sub(state.created.0)));
        let reviews = (state.iteration > 0).then(|| {
            let n = usize::try_from(state.iteration).unwrap_or(usize::MAX);
            match state.describe_review_end() {
                Some(end) => format!("Review {end}"),
                None => pluralize(n, "review"),
            }
        });
        let counts = [reviews, describe_usage(state)];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        let is_read_only = self.settings.read_only.is_some();
        RunSummaryCard {
            run: state.run.clone(),
            phase: state.phase,
            title: state.goal.as_ref().map(|goal| to_one_line(&goal.title)),
            results: describe_results(state),
            counts: counts.join(" · "),
            took,
            keys: if is_read_only {
                self.read_only_keys(state)
            } else {
                self.next_step_keys(state)
            },
            merge_command: merge_command(self.settings, state).filter(|_| !is_read_only),
            untouched: describe_untouched(state),
            max_rows: usize::MAX,
        }
    }

    /// Returns the keys that are useful next.
    fn next_step_keys(&self, state: &RunState) -> Vec<RunSummaryKey> {
        let keymap = &self.settings.appearance.keymap;
        let is_writing = self.focus == ComposerFocus::Focused;
        let key = |action: &str| keymap.key_label(action, self.focus);
        let mut keys = Vec::new();
        if state.execution.is_some() {
            keys.push(summary_key(key("diff"), "See the diff", "diff"));
            keys.push(summary_key(key("undo"), "Undo a step", "undo"));
        }
        if merge_command(self.settings, state).is_some() && !is_writing {
            keys.push(summary_key(key("copy"), "Copy merge command", "copy merge"));
        }
        let is_undone = |execution: &PlanExecution| !execution.undone.is_empty();
        if state.execution.as_ref().is_some_and(is_undone) {
            keys.push(summary_key(key("redo"), "Redo it", "redo"));
        }
        keys.extend([
            if is_writing {
                summary_key("Enter".to_owned(), "New goal", "new goal")
            } else {
                summary_key(key("write"), "New goal", "new goal")
            },
            summary_key(key("export"), "Export a report", "report"),
            RunSummaryKey {
                is_optional: true,
                ..summary_key(key("quit"), "Quit", "quit")
            },
        ]);
        keys
    }

    /// Returns the keys that are useful on a read-only screen.
    fn read_only_keys(&self, state: &RunState) -> Vec<RunSummaryKey> {
        let keymap = &self.settings.appearance.keymap;
        let key = |action: &str| keymap.key_label(action, ComposerFocus::Unfocused);
        let diff = state.execution.as_ref();
        let diff = diff.map(|_| summary_key(key("diff"), "See the diff", "diff"));
        let page = summary_key(key("export"), "Export a report", "report");
        diff.into_iter().chain([page]).collect()
    }
}

/// Describes the results and how they were tested.
fn describe_results(state: &RunState) -> Vec<RunResultRow> {
    let Some(execution) = &state.execution else {
        return vec![RunResultRow::plain("no step ran".to_owned(), theme::PLAIN)];
    };
    let StepCount { done, all } = state.step_count();
    let steps = format!(
        "{done} of {} done, {}",
        pluralize(all, "step"),
        describe_commits(execution)
    );
    let sign = if done == all {
        ("✓ ", theme::GOOD)
    } else {
        ("■ ", theme::PLAIN)
    };
    let mut said = vec![(format!("{}{steps}", sign.0), sign.1)];
    said.extend(describe_tests(&execution.done));
    if let Some(proofs) = state.describe_proofs() {
        let text = format!("{proofs}: agent-collab verify checks it");
        let mut words = execution.done.iter().map(StepRecord::proof_word);
        said.push(match state.describe_unproven_steps() {
            Some(_) => (format!("■ {text}"), theme::WARNING),
            None if words.any(|word| word != "waived") => (format!("✓ {text}"), theme::GOOD),
            None => (format!("• {text}"), theme::PLAIN),
        });
    }
    join_good_checks(&mut said);
    said.extend(describe_unchanged_steps(&execution.done));
    said.extend(describe_uncommitted_steps(&execution.done));
    let said = said.into_iter();
    let mut rows: Vec<RunResultRow> = said
        .map(|(text, style)| RunResultRow::plain(text, style))
        .collect();
    rows.extend(describe_step_proofs(&execution.done));
    if let Some(last) = execution.undone.last() {
        let n = last.records.len();
        let text = format!("↺ undone: {}", pluralize(n, "step"));
        rows.push(RunResultRow::plain(text, theme::PLAIN));
    }
    rows
}

/// Puts what was tested and what was proven into one row where all is well.
fn join_good_checks(said: &mut Vec<(String, Style)>) {
    if let [_steps, (tests, tests_style), (proofs, proofs_style)] = said.as_mut_slice()
        && (*tests_style, *proofs_style) == (theme::GOOD, theme::GOOD)
    {
        tests.push_str(&format!(" · {}", proofs.trim_start_matches("✓ ")));
        said.pop();
    }
}

/// Returns the command that merges the commits into the branch that was checked out before.
pub(super) fn merge_command(settings: &ScreenSettings, state: &RunState) -> Option<String> {
    let execution = state.execution.as_ref()?;
    let CommitTarget::New { branch, from } = &execution.commits else {
        return None;
    };
    count_commits(execution).checked_sub(1)?;
    // Merged into itself a branch stays as it is.
    if from.is_none() && settings.branch.as_ref() == Some(branch) {
        return None;
    }
    Some(match from {
        Some(before) => format!(
            "git switch {} && git merge {}",
            to_one_line(before),
            to_one_line(branch)
        ),
        None => format!("git merge {}", to_one_line(branch)),
    })
}

/// Says what the program itself left alone: the branch that was checked out, and all remotes.
fn describe_untouched(state: &RunState) -> Option<String> {
    let execution = state.execution.as_ref()?;
    count_commits(execution).checked_sub(1)?;
    match &execution.commits {
        CommitTarget::New {
            from: Some(from), ..
        } => {
            let from = to_one_line(from);
            Some(format!(
                "agent-collab itself pushed nothing and did not touch {from}."
            ))
        }
        _ => None,
    }
}

fn count_commits(execution: &PlanExecution) -> usize {
    let is_commit = |step: &&StepRecord| matches!(step.outcome, StepOutcome::Committed { .. });
    execution.done.iter().filter(is_commit).count()
}

fn describe_commits(execution: &PlanExecution) -> String {
    let n = pluralize(count_commits(execution), "commit");
    match &execution.commits {
        CommitTarget::Off { .. } => "no commits".to_owned(),
        CommitTarget::Current { branch } | CommitTarget::New { branch, .. } => {
            format!("{n} on {}", to_one_line(branch))
        }
    }
}

/// Summarizes the test results of the steps.
fn describe_tests(done: &[StepRecord]) -> Vec<(String, Style)> {
    let changed: Vec<&StepRecord> = done
        .iter()
        .filter(|step| step.outcome != StepOutcome::NoChange)
        .collect();
    let passed = |step: &&&StepRecord| {
        let receipt = step.receipt.as_ref();
        receipt.is_some_and(|receipt| receipt.outcome == TestOutcome::Passed)
    };
    let n_passed = changed.iter().filter(passed).count();
    let mut said = Vec::new();
    if n_passed > 0 {
        let counts = changed.iter().rev().find(passed);
        let counts = counts.and_then(|step| step.receipt.as_ref()?.counts);
        let last = counts.map_or(String::new(), |counts| {
            format!(", {} tests at the end", counts.passed)
        });
        let text = if n_passed == changed.len() {
            format!("✓ tests passed after each step{last}")
        } else {
            format!("✓ tests passed after {}{last}", pluralize(n_passed, "step"))
        };
        said.push((text, theme::GOOD));
    }
    let others = changed.iter().filter(|step| !passed(step));
    said.extend(others.map(|step| {
        let text = format!("✗ step {}: {}", step.n, to_one_line(&step.describe_tests()));
        (text, theme::BAD)
    }));
    said
}

/// Says of each step what was seen of its proof; of a long run only of those that are not proven.
fn describe_step_proofs(done: &[StepRecord]) -> Vec<RunResultRow> {
    let is_long = done.len() > MAX_STEP_ROWS;
    let has_row = |step: &&StepRecord| {
        let has_proof = step.proof.is_some() && step.assessment() != StepAssessment::Failing;
        has_proof && !(is_long && matches!(step.proof_word(), "proven" | "kept"))
    };
    let row = |step: &StepRecord| {
        let tests = to_one_line(&step.describe_tests());
        let (text, proof, size) = match &step.outcome {
            StepOutcome::Committed {
                commit,
                message,
                size,
            } => {
                let commit = labels::short_commit(commit);
                let message = to_one_line(message);
                // The number stands in front already.
                let lead = format!("[Step {}] ", step.n);
                let title = message.strip_prefix(&lead).unwrap_or(&message);
                let text = format!("  {}  {commit}  {title}", step.n);
                (text, Some(tests), *size)
            }
            _ => (format!("  {}  {tests}", step.n), None, None),
        };
        let style = match step.unproven_reason() {
            Some(_) => theme::WARNING,
            None => theme::PLAIN,
        };
        RunResultRow {
            text,
            style,
            proof,
            size,
        }
    };
    done.iter().filter(has_row).map(row).collect()
}

/// Creates a key with a long and a short label.
fn summary_key(name: String, does: &'static str, in_short: &'static str) -> RunSummaryKey {
    RunSummaryKey {
        name,
        label: does,
        short_label: in_short,
        is_optional: false,
    }
}

/// Names the steps that match, and returns how many there are.
fn describe_steps(
    done: &[StepRecord],
    is_it: impl Fn(&StepRecord) -> bool,
) -> Option<(String, usize)> {
    let such = done.iter().filter(|record| is_it(record));
    let such: Vec<String> = such.map(|record| record.n.to_string()).collect();
    match such.as_slice() {
        [] => None,
        [only] => Some((format!("Step {only}"), 1)),
        several => Some((format!("Steps {}", several.join(", ")), several.len())),
    }
}

/// Names the steps that changed nothing.
fn describe_unchanged_steps(done: &[StepRecord]) -> Option<(String, Style)> {
    let (which, _) = describe_steps(done, |record| {
        record.assessment() == StepAssessment::Unchanged
    })?;
    let came = StepAssessment::Unchanged;
    let text = format!(
        "{} {which} {}",
        came.symbol(),
        StepAssessment::CHANGED_NOTHING
    );
    Some((text, labels::assessment_style(came)))
}

/// Names the steps whose changes are not committed.
fn describe_uncommitted_steps(done: &[StepRecord]) -> Option<(String, Style)> {
    let is_left = |record: &StepRecord| matches!(record.outcome, StepOutcome::Uncommitted { .. });
    let (which, n) = describe_steps(done, is_left)?;
    let are = if n == 1 { "is" } else { "are" };
    let text = format!("■ {which} {are} not committed: the changes are in the working tree");
    Some((text, theme::BAD))
}
