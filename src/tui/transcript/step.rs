//! How a step of the execution is told: a heading when it begins, one line when it is over.
//!
//! Refuses to call a step done whose tests fail, and one well done that changed nothing.

use super::block::{Block, Content, Tone, Who};
use super::{Transcript, retell};
use crate::domain::event::Event;
use crate::domain::plan::Plan;
use crate::domain::plan_execution::StepAssessment;
use crate::tui::wrap::one_line;

/// What was told of the step at hand, and what the plan says of all of them.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The texts of the plan's steps with their numbers, as far as it was told.
    plan: Vec<(u32, String)>,
    /// What was told of the step that is checked.
    told: Vec<String>,
    /// The step that has its heading and is not over.
    begun: Option<u32>,
    /// The step whose tests failed last.
    failing: Option<u32>,
    /// The step that was committed last.
    committed: Option<u32>,
    /// The step whose changes were looked at last, until its tests run: they always do where something changed.
    looked_at: Option<u32>,
}

impl Steps {
    /// Takes an event in; gives the heading of a step that begins.
    pub fn on_event(&mut self, event: &Event) -> Option<Block> {
        match event {
            Event::PlanCommitted { plan, .. }
            | Event::ResponseCommitted {
                plan: Some((plan, _)),
                ..
            }
            | Event::PlanEdited {
                plan: Some(plan), ..
            } => self.take(plan),
            Event::TurnStarted { .. } => self.told.clear(),
            Event::StepAudited(audit) => self.looked_at = Some(audit.step),
            Event::TestsRan { step, receipt, .. } => {
                self.looked_at = None;
                self.failing = (!receipt.allows_next_step()).then_some(*step);
            }
            Event::CommitMade { step, .. } => self.committed = Some(*step),
            Event::SnapshotTaken { step, .. } => {
                (self.failing, self.committed, self.looked_at) = (None, None, None);
                // A turn that mends the step is of the same one.
                if self.begun.replace(*step) == Some(*step) {
                    return None;
                }
                let text = self.heading(*step);
                return Some(Block::new(Who::System, Content::Divider { text }));
            }
            Event::StepRecorded { .. } | Event::PhaseChanged { .. } => self.begun = None,
            _ => {}
        }
        None
    }

    fn take(&mut self, plan: &Plan) {
        let steps = plan.steps.iter();
        self.plan = steps.map(|step| (step.n, one_line(&step.text))).collect();
    }

    fn heading(&self, n: u32) -> String {
        let known = self.plan.iter().find(|(step, _)| *step == n);
        match (known, n) {
            (Some((_, text)), _) => format!("step {n} of {}: {text}", self.plan.len()),
            // The executor's last words, after all steps.
            (None, 0) => "summary".to_owned(),
            (None, _) => format!("step {n}"),
        }
    }

    /// Notes what was told of a step that is checked: one line says it again once the step is done.
    pub fn note(&mut self, text: &str) {
        self.told.push(text.to_owned());
    }

    /// The subject of a step's commit with the whole text of the step, which it may only have the beginning of.
    fn with_whole_text(&self, step: u32, told: &str) -> String {
        let mark = format!("[Step {step}] ");
        let whole = || {
            let (before, subject) = told.split_once(&mark)?;
            let beginning = subject.strip_suffix('…')?;
            let (_, text) = self.plan.iter().find(|(n, _)| *n == step)?;
            let is_its = text.starts_with(beginning);
            is_its.then(|| format!("{before}{mark}{text}"))
        };
        whole().unwrap_or_else(|| told.to_owned())
    }

    /// What is said of a step that is over and changed nothing; nothing of any other.
    fn without_change(&self, step: u32) -> Option<Block> {
        self.looked_at.filter(|looked_at| *looked_at == step)?;
        let text = format!(
            "step {step} is over: it {}",
            StepAssessment::CHANGED_NOTHING
        );
        Some(Block::new(Who::System, Content::fact(Tone::Still, &text)))
    }

    /// What is said of a step that is over although its tests fail; nothing of any other.
    fn with_failing_tests(&self, step: u32) -> Option<Block> {
        self.failing.filter(|failing| *failing == step)?;
        let text = match self.committed == Some(step) {
            true => format!("step {step} is over: committed, its tests fail"),
            false => format!("step {step} is over: its tests fail, nothing is committed"),
        };
        Some(Block::new(Who::System, Content::fact(Tone::Plain, &text)))
    }
}

impl Transcript {
    /// One line for a step that went well, in the place of those that said it bit by bit.
    pub(super) fn end_step(&mut self, step: u32, event: &Event) {
        let told = std::mem::take(&mut self.steps.told);
        let other = self.steps.without_change(step);
        if let Some(block) = other.or_else(|| self.steps.with_failing_tests(step)) {
            return self.push_all(vec![block]);
        }
        let (mut parts, mut proof) = (Vec::new(), String::new());
        let was_told = |block: &Block| {
            let good = block.good();
            good.is_some_and(|(text, _)| told.iter().any(|told| told == text))
        };
        while let Some(block) = self.blocks.pop_back_if(|block| was_told(block)) {
            self.n_bytes = self.n_bytes.saturating_sub(block.n_bytes());
            if let Some((text, more)) = block.good() {
                parts.push(self.steps.with_whole_text(step, text));
                proof.insert_str(0, more);
            }
        }
        self.scroll.clamp(self.end(), self.end());
        match parts.is_empty() {
            true => self.push_all(retell::event(event)),
            false => self.push_all(retell::step_is_done(step, parts.iter().rev(), &proof)),
        }
    }
}
