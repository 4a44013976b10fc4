//! What the transcript knows of the step that is executed: its heading when it starts, and how it ends.
//!
//! A step whose tests fail is not shown as done, and one that changed nothing is not shown as a success.

use ratatui::text::Line;

use super::block_content::{BlockContent, FactTone};
use super::finished_step_row::FinishedStepRow;
use super::stage_divider::StageDivider;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::event::Event;
use crate::domain::plan::Plan;
use crate::domain::plan::proof_lines::StepProofPlan;
use crate::domain::plan_execution::StepAssessment;
use crate::domain::step_proof::{ProofStatus, StepProof};
use crate::domain::turn::Role;
use crate::text::first_clause;
use crate::tui::markdown::to_plain_line;
use crate::tui::step_trail::StepTrail;
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

/// State of the current step, and the texts of all steps.
#[derive(Debug, Default)]
pub(super) struct StepTracker {
    /// The texts of the plan's steps with their numbers, as far as events contained them.
    pub(super) step_texts: Vec<(u32, String)>,
    /// How the plan says that each step is to be proven.
    proof_plans: Vec<(u32, StepProofPlan)>,
    /// The paths that the step changed, as its last check says.
    changed: Vec<String>,
    /// Proofs of steps whose plan was not known yet.
    pub(super) unassessed: Vec<UnassessedProof>,
    /// Facts shown while the step was checked.
    pub(super) check_facts: Vec<StepCheckFact>,
    /// The step that has its heading and is not over.
    current: Option<u32>,
    /// The stages that were shown last.
    pub shown_trail: Option<StepTrail>,
    /// Whether there are headings that came since, or that do not show their stages any more.
    pub has_new_headings: bool,
    /// The step whose tests failed last.
    failing: Option<u32>,
    /// How often an agent was sent to fix the current step.
    fix_attempt: u32,
    /// The step that was committed last.
    committed: Option<u32>,
    /// The subject of its commit.
    commit_subject: String,
    /// The step whose changes were audited last, until its tests run: tests always run if something
    /// changed.
    audited: Option<u32>,
}

/// A good fact about a step that is being checked.
#[derive(Debug)]
pub(super) struct StepCheckFact {
    /// The text of its block.
    pub(super) text: String,
    /// What the line of the finished step says instead.
    pub(super) short: String,
}

/// A proof that is described without the plan of its step.
#[derive(Debug)]
pub(super) struct UnassessedProof {
    pub(super) step: u32,
    pub(super) proof: StepProof,
    pub(super) changed: Vec<String>,
    /// What the row of the step says.
    pub(super) shown: String,
}

impl StepTracker {
    /// Applies an event; returns the heading of a step that starts.
    pub fn on_event(&mut self, event: &Event) -> Option<TranscriptBlock> {
        match event {
            Event::PlanCommitted { plan, .. }
            | Event::ResponseCommitted {
                plan: Some((plan, _)),
                ..
            }
            | Event::PlanEdited {
                plan: Some(plan), ..
            } => self.set_plan(plan),
            Event::TurnStarted { .. } => self.check_facts.clear(),
            Event::StepAudited(audit) => {
                self.audited = Some(audit.step);
                self.changed.clone_from(&audit.changed);
            }
            Event::TestsRan {
                step,
                receipt,
                changed,
                ..
            } => {
                self.audited = None;
                self.changed.clone_from(changed);
                self.failing = (!receipt.allows_next_step()).then_some(*step);
            }
            Event::CommitMade { step, message, .. } => {
                self.committed = Some(*step);
                let subject = to_one_line(message.lines().next().unwrap_or_default());
                // A subject with the step's number repeats its text; one that is cut says no more than a title that is cut.
                let is_of_use = !subject.starts_with("[Step ") && !subject.ends_with('…');
                self.commit_subject = if is_of_use { subject } else { String::new() };
            }
            Event::SnapshotTaken { step, attempt, .. } => {
                self.fix_attempt = *attempt;
                (self.failing, self.committed, self.audited) = (None, None, None);
                // A fix turn belongs to the same step.
                if self.current.replace(*step) == Some(*step) {
                    return None;
                }
                self.has_new_headings = true;
                let heading = BlockContent::Divider(self.step_heading(*step));
                return Some(TranscriptBlock::new(BlockAuthor::System, heading));
            }
            Event::StepRecorded { .. } | Event::PhaseChanged { .. } => {
                (self.current, self.fix_attempt) = (None, 0);
            }
            _ => {}
        }
        None
    }

    pub(super) fn set_plan(&mut self, plan: &Plan) {
        let steps = plan.steps.iter();
        self.step_texts = steps
            .map(|step| (step.n, to_one_line(&step.text)))
            .collect();
        let steps = plan.steps.iter();
        self.proof_plans = steps.map(|step| (step.n, step.proof.clone())).collect();
    }

    /// Says beside an agent's name that its turn fixes the current step; `None` in any other turn.
    pub(super) fn fix_note(&self, who: BlockAuthor) -> Option<String> {
        let step = self.current.filter(|_| self.fix_attempt > 0)?;
        let is_fixing = who == BlockAuthor::Agent(Role::Planner);
        is_fixing.then(|| format!("fixing step {step}, attempt {}", self.fix_attempt))
    }

    /// Describes a proof for the row of its step: in one word unless something that the plan promised was not seen.
    pub(super) fn short_proof(&mut self, step: u32, proof: &StepProof) -> String {
        let word = self.assess_proof(step, proof, &self.changed);
        let summary = proof.summary();
        if word.is_none() {
            self.unassessed.push(UnassessedProof {
                step,
                proof: proof.clone(),
                changed: self.changed.clone(),
                shown: summary.clone(),
            });
        }
        word.unwrap_or(summary)
    }

    /// Describes a proof as the plan of its step wants it; `None` while that is not known.
    pub(super) fn assess_proof(
        &self,
        step: u32,
        proof: &StepProof,
        changed: &[String],
    ) -> Option<String> {
        let (_, planned) = self.proof_plans.iter().find(|(n, _)| *n == step)?;
        Some(match proof.assess(planned, changed) {
            ProofStatus::Unproven(_) => proof.summary(),
            status => status.word().to_owned(),
        })
    }

    /// Adds the proofs of an earlier part of the log.
    pub(super) fn merge_earlier(&mut self, earlier: Self) {
        self.has_new_headings = true;
        self.unassessed.extend(earlier.unassessed);
    }

    pub(super) fn step_heading(&self, n: u32) -> StageDivider {
        let known = self.step_texts.iter().find(|(step, _)| *step == n);
        let name = match (known, n) {
            (Some(_), _) => format!("Step {n} of {}", self.step_texts.len()),
            // The executor's summary after all steps.
            (None, 0) => "Summary".to_owned(),
            (None, _) => format!("Step {n}"),
        };
        let title = known.map_or(String::new(), |(_, text)| text.clone());
        StageDivider::of_step(n, name, title)
    }

    /// Returns the beginning of a step's text that can be its title; empty while that is not known.
    pub(super) fn short_title(&self, n: u32) -> String {
        let known = self.step_texts.iter().find(|(step, _)| *step == n);
        known.map_or_else(String::new, |(_, text)| to_plain_line(first_clause(text)))
    }

    /// Returns the row of a step that is done.
    pub(super) fn finished_row(&self, step: u32, checks: Vec<String>) -> FinishedStepRow {
        FinishedStepRow {
            step,
            title: self.short_title(step),
            subject: self
                .committed
                .filter(|committed| *committed == step)
                .map_or_else(String::new, |_| self.commit_subject.clone()),
            checks,
        }
    }

    /// Returns the row of the step after the current one: `○ Step 3  Describe it · 1 more`.
    pub(super) fn next_step_line(&self, columns: usize) -> Option<Line<'static>> {
        let trail = self.shown_trail?;
        let next = trail.next_step?;
        let (n, _) = self.step_texts.iter().find(|(step, _)| *step == next)?;
        let more = match trail.n_later {
            0 => String::new(),
            n => format!(" · {n} more"),
        };
        let text = format!("○ Step {n}  {}", self.short_title(next));
        let text = truncate_to_columns(&text, columns.saturating_sub(text_width(&more)));
        Some(Line::styled(text + &more, theme::QUIET))
    }

    /// Returns the line for a step that is over and changed nothing; `None` for any other.
    pub(super) fn unchanged_block(&self, step: u32) -> Option<TranscriptBlock> {
        self.audited.filter(|looked_at| *looked_at == step)?;
        let text = format!(
            "Step {step} finished: it {}",
            StepAssessment::CHANGED_NOTHING
        );
        Some(TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::fact(FactTone::NoEffect, &text),
        ))
    }

    /// Returns the line for a step that is over although its tests fail; `None` for any other.
    pub(super) fn failing_tests_block(&self, step: u32) -> Option<TranscriptBlock> {
        self.failing.filter(|failing| *failing == step)?;
        let text = if self.committed == Some(step) {
            format!("Step {step} finished: committed with failing tests")
        } else {
            format!("Step {step} finished: tests fail, nothing committed")
        };
        Some(TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::fact(FactTone::Plain, &text),
        ))
    }
}
