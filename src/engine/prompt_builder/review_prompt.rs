//! Builds the prompts of REVIEW: the first review sees the whole plan, a later one what changed since the review before.

use crate::domain::findings::ReviewBar;
use crate::domain::findings::plan_blocks::{BlockLabel, PlanBlocks};
use crate::domain::plan;
use crate::engine::documents::last_reviewed_plan;
use crate::engine::staging_folder::TurnStagingFolder;
use crate::prompts::template_variables::ReviewVars;

use super::open_findings::{open_findings, settled_findings};
use super::turn_preamble::turn_retry_reason;
use super::user_notes::diff_texts;
use super::{PromptBuilder, without_front_matter};

impl PromptBuilder<'_> {
    pub(super) fn review_prompt(&self, staging: &TurnStagingFolder) -> Result<String, String> {
        let state = self.state();
        let plan_path = self.run.journal.layout().plan();
        let plan = self.plan_for_agents()?.unwrap_or_default();
        let earlier = last_reviewed_plan(self.run).map_err(|error| error.to_string())?;
        let earlier = earlier.as_deref().map(without_front_matter);
        let changed = earlier
            .as_deref()
            .map(|earlier| changed_blocks(earlier, &plan));
        let bar = ReviewBar::for_review(state.iteration);
        let vars = ReviewVars {
            common: self.common_variables(),
            plan_path: plan_path.to_string_lossy().into_owned(),
            staging_comments: staging.comments.to_string_lossy().into_owned(),
            iteration: state.iteration,
            cap: state.iteration_limit(),
            highest_finding: state.findings.highest_number(),
            open_findings: open_findings(state),
            settled_findings: settled_findings(state),
            plan_diff: earlier.map(|earlier| diff_plans(&earlier, &plan)),
            bar: bar.describe(&changed.unwrap_or_default()),
            replanned: (state.replanning.as_ref())
                .filter(|record| record.kept.is_some())
                .map(|record| record.reason.clone()),
            new_conversation: !self.has_history(),
            retry_reason: turn_retry_reason(self.order),
            plan,
        };
        let prompt = self.run.setup.prompts.render_review(&vars);
        prompt.map_err(|error| error.to_string())
    }
}

/// Returns the labels of the blocks whose text changed.
fn changed_blocks(earlier: &str, now: &str) -> Vec<BlockLabel> {
    let (earlier, now) = (PlanBlocks::parse(earlier), PlanBlocks::parse(now));
    let changed = now.changed_since(&earlier);
    changed.map(|block| block.label.clone()).collect()
}

/// Returns the differences between two versions of the plan; ticks and blank lines at the end are none.
fn diff_plans(earlier: &str, now: &str) -> String {
    diff_texts(
        &plan::untick_all_steps(earlier),
        &plan::untick_all_steps(now),
        2,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: &str =
        "# Task: T\n\n## Steps\n1. [ ] Read it\n2. [ ] Print it\n   Files: a.rs\n";

    #[test]
    fn a_later_review_sees_what_changed_and_a_moved_step_is_no_change() {
        let now = EARLIER.replace(
            "1. [ ] Read it\n2. [ ]",
            "1. [ ] Test it\n2. [ ] Read it\n3. [ ]",
        );
        assert_eq!(changed_blocks(EARLIER, &now), [BlockLabel::Step(1)]);
        assert_eq!(diff_plans(EARLIER, &EARLIER.replace("[ ]", "[x]")), "");
        let diff = diff_plans(EARLIER, &now);
        assert!(diff.contains("\n+1. [ ] Test it\n"), "{diff}");
        assert_eq!(diff_plans(EARLIER, &format!("{EARLIER}\n\n")), "");
    }
}
