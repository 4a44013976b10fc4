//! Completes the titles and proofs of steps whose plan is in an earlier part of the log, once the plan is known.

use super::ChatTranscript;
use super::block_content::BlockContent;
use super::stage_divider::StageDivider;
use crate::domain::plan::Plan;

impl ChatTranscript {
    /// Takes the steps from a plan where no event has told them: of a resumed run only the last events are here.
    pub fn set_missing_steps(&mut self, plan: &Plan) {
        let is_missing = self.steps.step_texts.is_empty();
        if is_missing {
            self.steps.set_plan(plan);
        }
        if is_missing || self.steps.has_new_headings {
            self.complete_steps();
        }
    }

    fn complete_steps(&mut self) {
        let unassessed = std::mem::take(&mut self.steps.unassessed);
        for block in &mut self.blocks {
            if let Some((step, divider)) = block.step_divider()
                && divider.title.is_empty()
            {
                let known = self.steps.step_heading(step);
                let divider = StageDivider {
                    name: known.name,
                    title: known.title,
                    ..divider.clone()
                };
                block.replace_content(BlockContent::Divider(divider));
            }
            for proof in &unassessed {
                let word = self
                    .steps
                    .assess_proof(proof.step, &proof.proof, &proof.changed);
                if let Some(word) = word {
                    block.rename_step_check(proof.step, &proof.shown, &word);
                }
            }
        }
        self.recount_bytes();
    }
}
