//! Decides what the cells of a step and its plan say together: proven, kept, checked, waived or unproven.
//!
//! The rules are a table. The first row that applies decides, so that a row which finds something wrong comes before
//! each one that finds it well.

use super::{ProofCell, ProofStatus, StepProof, TestNames};
use crate::domain::plan::proof_lines::{ProofClaim, StepProofPlan};
use crate::domain::receipt::TestOutcome;
use crate::text::pluralize;

impl StepProof {
    /// Assesses the step. `changed` has all paths that it changes.
    ///
    /// Does not know whether a change is documentation only, nor who may waive a step.
    pub fn assess(&self, plan: &StepProofPlan, changed: &[String]) -> ProofStatus {
        let step = AssessedStep {
            proof: self,
            plan,
            changed,
        };
        let mut rules = RULES
            .iter()
            .filter(|rule| rule.claims.includes(&plan.claim));
        let found = rules.find_map(|rule| Some((rule.outcome)((rule.find)(&step)?)));
        found.unwrap_or(match plan.claim {
            // T23: tests that notice a changed line of the step show that they test what it changed.
            ProofClaim::KeepsBehaviour if self.has_killed_mutant() => ProofStatus::Proven,
            ProofClaim::KeepsBehaviour => ProofStatus::Kept,
            // A claim for which the table has no row is not proven.
            ProofClaim::NoTest(_) => ProofStatus::Unproven("the step has no proof".to_owned()),
            ProofClaim::TestFirst(_) | ProofClaim::Command(_) | ProofClaim::Unnamed => {
                ProofStatus::Proven
            }
        })
    }
}

impl StepProof {
    /// Returns what shows that the step, which changes nothing, was already true: its planned proof passes on the code
    /// before it.
    ///
    /// # Errors
    /// It does not, or nobody can tell; the text says what is missing, in one line.
    pub fn assess_already_true(&self, plan: &StepProofPlan) -> Result<String, String> {
        if let Some(doubt) = self.doubts.first() {
            return Err(doubt.clone());
        }
        match (&plan.claim, &self.passed_before, &self.command) {
            (ProofClaim::TestFirst(_), Some(tests), _) => {
                Ok(format!("{} passes", tests.describe()))
            }
            (ProofClaim::TestFirst(words), None, _) => {
                Err(format!("not every test of `Test first: {words}` passes"))
            }
            (ProofClaim::Command(line), _, Some(command)) if command.passed_after => {
                Ok(format!("`{line}` passes"))
            }
            (ProofClaim::Command(line), _, _) => Err(format!("`{line}` does not pass")),
            (ProofClaim::KeepsBehaviour | ProofClaim::NoTest(_) | ProofClaim::Unnamed, _, _) => {
                Err("the plan names no proof".to_owned())
            }
        }
    }
}

struct AssessedStep<'a> {
    proof: &'a StepProof,
    plan: &'a StepProofPlan,
    changed: &'a [String],
}

/// The steps that a rule is for, by what their plan says.
#[derive(Clone, Copy)]
enum ClaimFilter {
    All,
    /// `Test first`, also where the step says nothing.
    TestFirst,
    Command,
    NoTest,
    /// All but `Test first`, which shows by red which tests changed.
    WithoutRed,
}

impl ClaimFilter {
    fn includes(self, claim: &ProofClaim) -> bool {
        match claim {
            ProofClaim::TestFirst(_) | ProofClaim::Unnamed => {
                matches!(self, Self::All | Self::TestFirst)
            }
            ProofClaim::Command(_) => matches!(self, Self::All | Self::Command | Self::WithoutRed),
            ProofClaim::KeepsBehaviour => matches!(self, Self::All | Self::WithoutRed),
            ProofClaim::NoTest(_) => matches!(self, Self::All | Self::NoTest | Self::WithoutRed),
        }
    }
}

struct OutcomeRule {
    claims: ClaimFilter,
    /// Returns the reason where the rule applies.
    find: fn(&AssessedStep<'_>) -> Option<String>,
    outcome: fn(String) -> ProofStatus,
}

const fn rule(
    claims: ClaimFilter,
    find: fn(&AssessedStep<'_>) -> Option<String>,
    outcome: fn(String) -> ProofStatus,
) -> OutcomeRule {
    OutcomeRule {
        claims,
        find,
        outcome,
    }
}

const RULES: &[OutcomeRule] = &[
    // T24: a step without a change has nothing to prove.
    rule(ClaimFilter::All, find_no_change, ProofStatus::Unproven),
    // T22, green: nothing fails but what failed before.
    rule(ClaimFilter::All, find_failing, ProofStatus::Unproven),
    // T26: what passes only where `CI` is set does not pass.
    rule(ClaimFilter::All, find_need_of_ci, ProofStatus::Unproven),
    // T22, kept: what passed before still passes, and lost or skipped is not passed.
    rule(ClaimFilter::All, find_broken, ProofStatus::Unproven),
    rule(ClaimFilter::All, find_lost, ProofStatus::Unproven),
    // T22: the report is compared with the exit status.
    rule(ClaimFilter::All, find_failed_green, ProofStatus::Unproven),
    rule(ClaimFilter::All, find_failed_kept, ProofStatus::Unproven),
    // T23: only what `Changes tests:` names changes, where no red test shows that a change makes tests stricter.
    rule(
        ClaimFilter::WithoutRed,
        find_unplanned_tests,
        ProofStatus::Unproven,
    ),
    // T23, T24: what the plan's reason waives, and a person approved.
    rule(ClaimFilter::NoTest, find_waiver, ProofStatus::Waived),
    // T26: without clean copies the tests have passed in the working tree, which is checked and no proof.
    rule(ClaimFilter::All, find_missing_copies, ProofStatus::Checked),
    // T22: no proof without the green cell.
    rule(ClaimFilter::All, find_missing_green, ProofStatus::Unproven),
    // T23: the command fails before and passes after.
    rule(
        ClaimFilter::Command,
        find_failed_command,
        ProofStatus::Unproven,
    ),
    // T22, red: a new or changed test fails without the change, not only its build.
    rule(
        ClaimFilter::TestFirst,
        find_red_by_load,
        ProofStatus::Unproven,
    ),
    rule(
        ClaimFilter::TestFirst,
        find_missing_red,
        ProofStatus::Unproven,
    ),
    // T22, T29: a test that fails without the code only because it cannot be called notices nothing else.
    rule(
        ClaimFilter::TestFirst,
        find_unnoticed_mutants,
        ProofStatus::Unproven,
    ),
    // T23: the tests that the plan names are among them.
    rule(
        ClaimFilter::TestFirst,
        find_unmet_tests,
        ProofStatus::Unproven,
    ),
    // T22: tests are known by their identity, never by an exit code alone, which is all that a proof command has.
    rule(
        ClaimFilter::All,
        find_missing_identity,
        ProofStatus::Checked,
    ),
    // T22, T26: what speaks against a report or against the place where it was made.
    rule(ClaimFilter::All, find_doubt, ProofStatus::Checked),
];

fn find_no_change(step: &AssessedStep<'_>) -> Option<String> {
    step.changed
        .is_empty()
        .then(|| "the step changes nothing".to_owned())
}

fn find_failing(step: &AssessedStep<'_>) -> Option<String> {
    describe_tests(
        &step.proof.failing,
        "fails with the change",
        "fail with the change",
    )
}

fn find_need_of_ci(step: &AssessedStep<'_>) -> Option<String> {
    let without = step.proof.without_ci.as_ref()?;
    let found = describe_tests(&without.failing, "does not pass", "do not pass")?;
    Some(format!(
        "without CI: {found} where the variable `CI` is not set, which {} reads",
        without.read_at
    ))
}

fn find_broken(step: &AssessedStep<'_>) -> Option<String> {
    describe_tests(
        &step.proof.broken,
        "passed before and does not pass with the new code",
        "passed before and do not pass with the new code",
    )
}

fn find_lost(step: &AssessedStep<'_>) -> Option<String> {
    describe_tests(
        &step.proof.lost,
        "passed before and is gone or skipped",
        "passed before and are gone or skipped",
    )
}

fn find_failed_green(step: &AssessedStep<'_>) -> Option<String> {
    let run = step.proof.run_of(ProofCell::Green)?;
    match &run.outcome {
        TestOutcome::Failed if step.proof.known_failures.is_empty() => {
            Some("the tests fail with the change, and no report names one that does".to_owned())
        }
        TestOutcome::Passed | TestOutcome::Failed => None,
        // There may be no tests where the plan does without them.
        TestOutcome::NoTests | TestOutcome::NoCommand if !needs_tests(step) => None,
        outcome => Some(format!(
            "the tests with the change: {}",
            describe_outcome(outcome)
        )),
    }
}

fn needs_tests(step: &AssessedStep<'_>) -> bool {
    match step.plan.claim {
        ProofClaim::NoTest(_) | ProofClaim::Command(_) => false,
        ProofClaim::TestFirst(_) | ProofClaim::KeepsBehaviour | ProofClaim::Unnamed => true,
    }
}

/// The kept cell fails for a reason where its failures are listed, planned or older than the step.
fn find_failed_kept(step: &AssessedStep<'_>) -> Option<String> {
    let run = step.proof.run_of(ProofCell::Kept)?;
    let baseline = step.proof.run_of(ProofCell::Baseline);
    match &run.outcome {
        TestOutcome::Failed => {
            let failed_before = baseline.is_none_or(|run| run.outcome != TestOutcome::Passed);
            let is_planned = if step.proof.is_by_identity {
                // The failures that the report names are in the lists, if their tests passed before.
                run.n_failed > 0 || !step.proof.planned_changes.is_empty()
            } else {
                let mut changed = step.proof.changed_tests.iter();
                find_unplanned_tests(step).is_none()
                    && changed.any(|path| step.plan.expects_change_of(path))
            };
            let is_explained = failed_before || is_planned || !step.proof.known_failures.is_empty();
            let reason = "the tests as they were before fail with the new code";
            (!is_explained).then(|| reason.to_owned())
        }
        TestOutcome::Passed | TestOutcome::NoTests | TestOutcome::NoCommand => None,
        outcome => Some(format!(
            "the tests as they were before, with the new code: {}",
            describe_outcome(outcome)
        )),
    }
}

fn find_unplanned_tests(step: &AssessedStep<'_>) -> Option<String> {
    let mut unplanned = TestNames::default();
    for path in &step.proof.changed_tests {
        if !step.plan.expects_change_of(path) && !step.proof.added_tests.contains(path) {
            unplanned.add(path);
        }
    }
    let what = "changed, and `Changes tests:` does not name it";
    describe_tests(
        &unplanned,
        what,
        "changed, and `Changes tests:` does not name them",
    )
}

fn find_waiver(step: &AssessedStep<'_>) -> Option<String> {
    match &step.plan.claim {
        ProofClaim::NoTest(reason) => Some(reason.clone()),
        ProofClaim::TestFirst(_)
        | ProofClaim::Command(_)
        | ProofClaim::KeepsBehaviour
        | ProofClaim::Unnamed => None,
    }
}

fn find_missing_copies(step: &AssessedStep<'_>) -> Option<String> {
    let proof = step.proof;
    proof
        .doubts
        .first()
        .filter(|_| proof.cells.is_empty())
        .cloned()
}

fn find_missing_green(step: &AssessedStep<'_>) -> Option<String> {
    let run = step.proof.run_of(ProofCell::Green);
    run.is_none()
        .then(|| "no tests ran with the change".to_owned())
}

fn find_failed_command(step: &AssessedStep<'_>) -> Option<String> {
    let reason = match step.proof.command {
        None => "the proof command was not run",
        Some(command) if !command.passed_after => "the proof command fails with the change",
        Some(command) if !command.failed_before => {
            "the proof command passes without the change, too"
        }
        Some(_) => return None,
    };
    Some(reason.to_owned())
}

fn find_red_by_load(step: &AssessedStep<'_>) -> Option<String> {
    let reason = "without the change the tests cannot be built or loaded, which shows nothing about what they test";
    let counts = step.proof.is_red_by_load && !step.proof.has_killed_mutant();
    // That the tests notice no change of the code says more, and what to do.
    counts.then(|| find_unnoticed_mutants(step).unwrap_or_else(|| reason.to_owned()))
}

fn find_missing_red(step: &AssessedStep<'_>) -> Option<String> {
    let proof = step.proof;
    let run = proof.run_of(ProofCell::Red).map(|run| &run.outcome);
    match run {
        _ if !proof.red.is_empty() => None,
        // Tests that pass without the change show nothing of it, whatever else they notice.
        _ if proof.is_red_by_load && proof.has_killed_mutant() => None,
        // Without identities the exit code is all that is known.
        Some(TestOutcome::Failed) if !proof.is_by_identity => None,
        // Tests that fail before the step and pass after it are its tests, also where nobody changed them.
        None if !proof.is_by_identity && proof.mends_old_tests() => None,
        None if !proof.is_by_identity && !proof.changed_tests.is_empty() => {
            Some("the new tests did not run without the change".to_owned())
        }
        _ if proof.changed_tests.is_empty() => Some("no test is new or changed".to_owned()),
        _ => Some("no new or changed test fails without the change".to_owned()),
    }
}

fn find_unnoticed_mutants(step: &AssessedStep<'_>) -> Option<String> {
    let trial = step.proof.mutants.as_ref()?;
    let is_unnoticed = trial.n_tried > 0 && trial.killed.is_none();
    let first = trial.survived.first().filter(|_| is_unnoticed)?;
    let others = match trial.n_tried {
        0 | 1 => String::new(),
        n => format!(", nor {} like it", pluralize(n - 1, "other change")),
    };
    Some(format!(
        "the new tests do not notice a changed line, {first}{others}"
    ))
}

fn find_unmet_tests(step: &AssessedStep<'_>) -> Option<String> {
    let mut unmet = TestNames::default();
    for test in &step.proof.unmet_tests {
        unmet.add(test);
    }
    if step.proof.has_killed_mutant() {
        return None;
    }
    let verb = if unmet.count == 1 { "does" } else { "do" };
    let named = unmet.describe();
    (!unmet.is_empty())
        .then(|| format!("`Test first` names {named}, which {verb} not fail without the change"))
}

fn find_missing_identity(step: &AssessedStep<'_>) -> Option<String> {
    let reason = "no report names the tests, so only the exit code is known";
    let is_proven_by_command =
        matches!(step.plan.claim, ProofClaim::Command(_)) && step.proof.keeps_all_old_tests();
    (!step.proof.is_by_identity && !is_proven_by_command).then(|| reason.to_owned())
}

fn find_doubt(step: &AssessedStep<'_>) -> Option<String> {
    step.proof.doubts.first().cloned()
}

/// Says what is wrong with some tests; `None` where there are none.
fn describe_tests(names: &TestNames, one: &str, several: &str) -> Option<String> {
    let what = if names.count == 1 { one } else { several };
    (!names.is_empty()).then(|| format!("{} {what}", names.describe()))
}

fn describe_outcome(outcome: &TestOutcome) -> String {
    match outcome {
        TestOutcome::Passed => "passed".to_owned(),
        TestOutcome::Failed => "failed".to_owned(),
        TestOutcome::NoTests => "the runner found none".to_owned(),
        TestOutcome::TimedOut => "stopped at the time limit".to_owned(),
        TestOutcome::NotStarted(why) => format!("not started: {why}"),
        TestOutcome::NoCommand => "there is no command to run them".to_owned(),
    }
}
