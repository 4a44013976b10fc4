//! Builds the prompts of the execution: a step, a fix after failed tests, the summary.

use crate::domain::plan::{self, approval_hash};
use crate::domain::plan_execution::{
    CurrentStep, PlanExecution, StepOutcome, StepRecord, TestBaseline,
};
use crate::domain::receipt::Receipt;
use crate::domain::turn::TurnPurpose;
use crate::engine::documents::plan_on_disk;
use crate::prompts::template_variables::{CommitLine, DoneStep, ExecuteTask, ExecuteVars};
use crate::text::{clean_text, truncate};

use super::open_findings::residual_findings;
use super::{PromptBuilder, without_front_matter};

/// How much of a failing test run the agent sees, in lines at the beginning and at the end.
const TEST_OUTPUT_LINES: (usize, usize) = (20, 120);

impl PromptBuilder<'_> {
    pub(super) fn execute_prompt(&self) -> Result<String, String> {
        let execution = self.execution()?;
        let plan = plan_on_disk(self.run);
        let plan = plan.map_err(|error| error.to_string())?.unwrap_or_default();
        if Some(&approval_hash(&plan)) != self.state().approved_sha256.as_ref() {
            return Err("the plan on disk is not the one that was approved".to_owned());
        }
        let step = match self.order.purpose {
            TurnPurpose::Step { n } | TurnPurpose::Fix { n, .. } => Some(n),
            _ => None,
        };
        let test = match step {
            Some(step) => self.state().test_of_step(step),
            None => execution.test.as_ref(),
        };
        let others = step.and_then(|n| plan::without_step_block(&plan, n));
        let baseline = execution.baseline.as_ref();
        let failing = baseline.filter(|baseline| !baseline.receipt.allows_next_step());
        let vars = ExecuteVars {
            common: self.common_variables(),
            test_command: test.map(|test| test.command.clone()),
            done: execution.done.iter().map(to_done_step).collect(),
            residual_findings: residual_findings(self.state(), step),
            known_failures: failing.map(TestBaseline::describe_failures),
            task: self.execute_task(&plan)?,
            plan: without_front_matter(others.as_ref().unwrap_or(&plan)),
        };
        let prompt = self.run.setup.prompts.render_execute(&vars);
        prompt.map_err(|error| error.to_string())
    }

    fn execution(&self) -> Result<&PlanExecution, String> {
        let execution = self.state().execution.as_ref();
        Ok(execution.ok_or("the execution is not entered")?)
    }

    fn execute_task(&self, plan_text: &str) -> Result<ExecuteTask, String> {
        let state = self.state();
        let execution = self.execution()?;
        let total = state.plan.as_ref().map_or(0, |plan| plan.plan.steps.len());
        let total = u32::try_from(total).unwrap_or(u32::MAX);
        let current = execution.current.as_ref().ok_or("no step is at hand");
        let step_text = |current: &CurrentStep| {
            let block = plan::step_block(plan_text, current.n);
            block.map_or_else(|| current.text.clone(), |block| clean_text(&block))
        };
        Ok(match &self.order.purpose {
            TurnPurpose::Step { n } => ExecuteTask::Step {
                number: *n,
                total,
                text: step_text(current?),
            },
            TurnPurpose::Fix { n, attempt } => fix_task(
                current?,
                step_text(current?),
                *n,
                total,
                *attempt,
                state.settings.max_fix_turns,
                execution.describe_test_doubt(),
            ),
            _ => ExecuteTask::Summary {
                commits: commit_lines(execution),
            },
        })
    }
}

fn fix_task(
    current: &CurrentStep,
    text: String,
    number: u32,
    total: u32,
    attempt: u32,
    attempts: u32,
    doubt: Option<String>,
) -> ExecuteTask {
    let receipt = current.receipt.as_ref();
    let missing = current.proof.as_ref().map(|proof| proof.status.describe());
    let outcome = receipt.map(|receipt| match missing.or(doubt) {
        Some(doubt) => format!("{}, but {doubt}", describe_test_outcome(receipt)),
        None => describe_test_outcome(receipt),
    });
    ExecuteTask::Fix {
        number,
        total,
        text,
        command: receipt
            .map(|receipt| receipt.command.clone())
            .unwrap_or_default(),
        outcome: outcome.unwrap_or_default(),
        output: receipt
            .map(|receipt| {
                truncate::to_lines(
                    &receipt.output_tail,
                    TEST_OUTPUT_LINES.0,
                    TEST_OUTPUT_LINES.1,
                )
            })
            .unwrap_or_default(),
        attempt,
        attempts: attempts.max(attempt),
    }
}

/// Describes how a failed test run ended, to follow "it".
fn describe_test_outcome(receipt: &Receipt) -> String {
    match receipt.exit_code {
        Some(code) => format!("ended with exit status {code}"),
        None => format!("did not end by itself: {}", receipt.describe()),
    }
}

/// Returns a finished step with its commit and what its tests showed.
pub(super) fn to_done_step(step: &StepRecord) -> DoneStep {
    let tests = step.describe_tests();
    let commit = match &step.outcome {
        StepOutcome::Committed { commit, .. } => {
            let short: String = commit.chars().take(12).collect();
            Some(format!("commit {short}"))
        }
        StepOutcome::Uncommitted { .. } => Some("not committed".to_owned()),
        StepOutcome::NoChange => None,
    };
    let end = match commit {
        Some(commit) => {
            let decided = step.decided.map(|decided| decided.describe().to_owned());
            let parts: Vec<String> = [Some(commit), Some(tests), decided]
                .into_iter()
                .flatten()
                .collect();
            parts.join("; ")
        }
        // The description says what the user decided, too.
        None => tests,
    };
    DoneStep {
        n: step.n,
        text: step.text.clone(),
        end,
    }
}

fn commit_lines(execution: &PlanExecution) -> Vec<CommitLine> {
    let line = |step: &StepRecord| match &step.outcome {
        StepOutcome::Committed {
            commit, message, ..
        } => {
            let hash = commit.chars().take(12).collect();
            Some(CommitLine {
                hash,
                title: message.clone(),
            })
        }
        StepOutcome::Uncommitted { .. } | StepOutcome::NoChange => None,
    };
    execution.done.iter().filter_map(line).collect()
}
