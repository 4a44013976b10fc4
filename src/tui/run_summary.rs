//! The summary of a finished run and the possible next steps: a card at the end of the chat.
//!
//! It shows what the program checked and counted, not what an agent claims. It does not check
//! whether the branch still exists.

use super::appearance::ScreenSettings;
use super::header::describe_tokens;
use super::keymap::ComposerFocus;
use super::labels;
use super::text_wrap::to_one_line;
use super::theme;
use super::transcript::{
    ChatTranscript, CommitRow, KeyWeight, RunDetail, RunFact, RunSummaryCard, RunSummaryKey,
};
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
        let is_read_only = self.settings.read_only.is_some();
        let merge_command = merge_command(self.settings, state).filter(|_| !is_read_only);
        let execution = state.execution.as_ref();
        RunSummaryCard {
            run: state.run.clone(),
            phase: state.phase,
            title: state.goal.as_ref().map(|goal| to_one_line(&goal.title)),
            facts: describe_results(state),
            notes: execution.map_or_else(Vec::new, describe_exceptions),
            commits: execution.map_or_else(Vec::new, |execution| list_commits(&execution.done)),
            details: describe_details(state),
            took,
            keys: if is_read_only {
                self.read_only_keys(state)
            } else {
                self.next_step_keys(state)
            },
            copy_key: self.copy_key().filter(|_| merge_command.is_some()),
            merge_command,
            untouched: describe_untouched(state),
            max_rows: usize::MAX,
        }
    }

    /// Returns the key that copies the merge command, if it does so now.
    fn copy_key(&self) -> Option<RunSummaryKey> {
        let key = self
            .settings
            .appearance
            .keymap
            .key_label("copy", self.focus);
        let is_reading = self.focus == ComposerFocus::Unfocused;
        is_reading.then(|| summary_key(key, "Copy merge command", "copy merge"))
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
        let is_undone = |execution: &PlanExecution| !execution.undone.is_empty();
        if state.execution.as_ref().is_some_and(is_undone) {
            keys.push(summary_key(key("redo"), "Redo it", "redo"));
        }
        let write = if is_writing {
            "Enter".to_owned()
        } else {
            key("write")
        };
        keys.extend([
            summary_key(key("export"), "Export a report", "report"),
            summary_key(write, "New goal", "new goal"),
            RunSummaryKey {
                weight: KeyWeight::Optional,
                ..summary_key(key("quit"), "Quit", "quit")
            },
        ]);
        if let Some(first) = keys.first_mut().filter(|_| state.execution.is_some()) {
            first.weight = KeyWeight::Primary;
        }
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

/// Describes the steps, the commits and how they were checked. Where a step is not proven, that is in place of the
/// tests that passed.
fn describe_results(state: &RunState) -> Vec<RunFact> {
    let Some(execution) = &state.execution else {
        return vec![RunFact::new("no step ran".to_owned(), theme::PLAIN)];
    };
    let StepCount { done, all } = state.step_count();
    let skipped = execution.done.iter().filter(|step| step.is_skipped());
    let n_skipped = skipped.count();
    let steps = format!(
        "{} of {}",
        done.saturating_sub(n_skipped),
        pluralize(all, "step")
    );
    let mut facts = vec![RunFact::new(steps, theme::PLAIN)];
    if n_skipped > 0 {
        let text = format!("{n_skipped} skipped");
        facts.push(RunFact::new(text, theme::WARNING));
    }
    facts.push(RunFact::new(describe_commits(execution), theme::PLAIN));
    match (describe_tests(&execution.done), unproven_steps(state)) {
        (Some(tests), Some(proofs)) if tests.style == theme::PLAIN => {
            facts.push(RunFact::new(proofs, theme::WARNING));
        }
        (tests, _) => facts.extend(tests),
    }
    facts
}

/// Counts the steps by what is proven of them, if any is not proven.
fn unproven_steps(state: &RunState) -> Option<String> {
    let proofs = state.describe_proofs()?;
    state.describe_unproven_steps().map(|_| proofs)
}

/// Describes each step that did not go as planned, and what was undone.
fn describe_exceptions(execution: &PlanExecution) -> Vec<RunFact> {
    let done = &execution.done;
    let failed = changed_steps(done).filter(|step| !has_passed(step));
    let failed = failed.map(|step| {
        let text = format!("✗ Step {}: {}", step.n, to_one_line(&step.describe_tests()));
        RunFact::new(text, theme::BAD)
    });
    let undone = execution.undone.last().map(|last| {
        let text = format!("↺ Undone: {}", pluralize(last.records.len(), "step"));
        RunFact::new(text, theme::PLAIN)
    });
    failed
        .chain(describe_unchanged_steps(done))
        .chain(describe_uncommitted_steps(done))
        .chain(undone)
        .collect()
}

/// Describes proof and tests, the review, the usage and the branch.
fn describe_details(state: &RunState) -> Vec<RunDetail> {
    let detail = |label, value, style| RunDetail {
        label,
        value,
        style,
    };
    let execution = state.execution.as_ref();
    let is_unproven = unproven_steps(state).is_some();
    let proof = state.describe_proofs().map(|proofs| {
        let style = if is_unproven {
            theme::WARNING
        } else {
            theme::PLAIN
        };
        let text = format!("{proofs} · agent-collab verify checks it");
        detail("Proof", text, style)
    });
    let tests = execution.and_then(|execution| {
        let all = describe_tests(&execution.done)?;
        let said = (is_unproven && all.style == theme::PLAIN).then_some(PASSED_ALWAYS.to_owned());
        let parts = [said, describe_test_count(&execution.done)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| detail("Tests", parts.join(", "), theme::PLAIN))
    });
    let review = (state.iteration > 0).then(|| {
        let n = usize::try_from(state.iteration).unwrap_or(usize::MAX);
        let end = state.describe_review_value();
        let text = end.unwrap_or_else(|| pluralize(n, "round"));
        detail("Review", text, theme::PLAIN)
    });
    let tokens = describe_tokens(state).map(|used| detail("Tokens", used, theme::PLAIN));
    let branch = execution.and_then(|execution| match &execution.commits {
        CommitTarget::Off { .. } => None,
        CommitTarget::Current { branch } | CommitTarget::New { branch, .. } => {
            Some(detail("Branch", to_one_line(branch), theme::PLAIN))
        }
    });
    let all = [proof, tests, review, tokens, branch];
    all.into_iter().flatten().collect()
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
                "agent-collab pushed nothing and left {from} as it was."
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
    match (&execution.commits, count_commits(execution)) {
        (CommitTarget::Off { .. }, _) | (_, 0) => "no commits".to_owned(),
        (_, n) => pluralize(n, "commit"),
    }
}

/// What is said of tests that passed whenever they ran.
const PASSED_ALWAYS: &str = "passed after every step";

fn has_passed(step: &StepRecord) -> bool {
    let receipt = step.receipt.as_ref();
    receipt.is_some_and(|receipt| receipt.outcome == TestOutcome::Passed)
}

/// Returns the steps that changed something, so that there is something to test.
fn changed_steps(done: &[StepRecord]) -> impl Iterator<Item = &StepRecord> {
    done.iter()
        .filter(|step| step.outcome != StepOutcome::NoChange)
}

/// Says after which steps the tests passed; in the plain style if after all of them.
fn describe_tests(done: &[StepRecord]) -> Option<RunFact> {
    let n_all = changed_steps(done).count();
    let n_passed = changed_steps(done).filter(|step| has_passed(step)).count();
    if n_all == 0 {
        return None;
    }
    let is_failing = |step: &StepRecord| step.assessment() == StepAssessment::Failing;
    let style = if changed_steps(done).any(is_failing) {
        theme::BAD
    } else {
        theme::WARNING
    };
    Some(if n_passed == n_all {
        RunFact {
            text: format!("tests {PASSED_ALWAYS}"),
            short_text: "tests passed".to_owned(),
            style: theme::PLAIN,
        }
    } else {
        let all = pluralize(n_all, "step");
        RunFact::new(format!("tests passed after {n_passed} of {all}"), style)
    })
}

/// Says how many tests passed after the last step whose tests were counted.
fn describe_test_count(done: &[StepRecord]) -> Option<String> {
    let last = changed_steps(done).filter(|step| has_passed(step)).last()?;
    let counts = last.receipt.as_ref()?.counts?;
    Some(format!("{} passed at the end", counts.passed))
}

/// Lists the steps with a commit or a proof; of a long run only those that are not proven.
fn list_commits(done: &[StepRecord]) -> Vec<CommitRow> {
    let is_long = done.len() > MAX_STEP_ROWS;
    let has_row = |step: &&StepRecord| {
        let has_proof = step.proof.is_some() && step.assessment() != StepAssessment::Failing;
        let is_commit = matches!(step.outcome, StepOutcome::Committed { .. });
        if is_long {
            has_proof && !matches!(step.proof_word(), "proven" | "kept")
        } else {
            has_proof || is_commit
        }
    };
    done.iter().filter(has_row).map(commit_row).collect()
}

fn commit_row(step: &StepRecord) -> CommitRow {
    let tests = to_one_line(&step.describe_tests());
    let has_proof = step.proof.is_some() && step.assessment() != StepAssessment::Failing;
    let style = match step.unproven_reason() {
        Some(_) if has_proof => theme::WARNING,
        Some(_) | None => theme::PLAIN,
    };
    let StepOutcome::Committed { commit, size, .. } = &step.outcome else {
        return CommitRow {
            step: step.n,
            commit: None,
            text: tests,
            proof: None,
            style,
            size: None,
        };
    };
    CommitRow {
        step: step.n,
        commit: Some(labels::short_commit(commit)),
        // The number stands in front already.
        text: step.commit_title().map_or_else(String::new, to_one_line),
        // What is proven is counted below all rows.
        proof: (has_proof && step.proof_word() != "proven").then_some(tests),
        style,
        size: *size,
    }
}

/// Creates a key with a long and a short label.
fn summary_key(name: String, does: &'static str, in_short: &'static str) -> RunSummaryKey {
    RunSummaryKey {
        name,
        label: does,
        short_label: in_short,
        weight: KeyWeight::Usual,
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
fn describe_unchanged_steps(done: &[StepRecord]) -> Option<RunFact> {
    let (which, _) = describe_steps(done, |record| {
        record.assessment() == StepAssessment::Unchanged
    })?;
    let came = StepAssessment::Unchanged;
    let text = format!(
        "{} {which} {}",
        came.symbol(),
        StepAssessment::CHANGED_NOTHING
    );
    Some(RunFact::new(text, labels::assessment_style(came)))
}

/// Names the steps whose changes are not committed.
fn describe_uncommitted_steps(done: &[StepRecord]) -> Option<RunFact> {
    let is_left = |record: &StepRecord| matches!(record.outcome, StepOutcome::Uncommitted { .. });
    let (which, n) = describe_steps(done, is_left)?;
    let are = if n == 1 { "is" } else { "are" };
    let text = format!("■ {which} {are} not committed: the changes are in the working tree");
    Some(RunFact::new(text, theme::BAD))
}
