//! Lists the steps of a chain with what their receipts prove.

use std::collections::BTreeMap;

use super::{ChainLink, CheckLink, LinkKind, StepLink, WaiverSource};
use crate::domain::step_proof::{ProofCell, ProofStatus};

/// The last result of a step in a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainStep {
    /// Its number in the plan.
    pub step: u32,
    /// The number of its receipt.
    pub receipt: u32,
    pub text: String,
    pub status: ChainStepStatus,
    /// What its checks showed, and why it counts as it does.
    pub summary: String,
    pub commit: Option<String>,
    pub tree_after: String,
}

/// How a step ended, by the receipts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainStepStatus {
    Proven,
    Kept,
    /// Waived in the plan that the user approved.
    WaivedInPlan,
    /// Waived by the user after that.
    WaivedLater,
    Checked,
    Unproven,
    Undone,
}

/// Which waivers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaiverPolicy {
    /// Those in an approved plan.
    InPlan,
    Never,
}

impl ChainStepStatus {
    /// Returns the word for it, the same on screens and in JSON.
    pub fn label(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Kept => "kept",
            Self::WaivedInPlan | Self::WaivedLater => "waived",
            Self::Checked => "checked",
            Self::Unproven => "unproven",
            Self::Undone => "undone",
        }
    }

    /// Returns whether nobody has to look at the step again.
    pub fn is_verified(self, waivers: WaiverPolicy) -> bool {
        match self {
            Self::Proven | Self::Kept => true,
            Self::WaivedInPlan => waivers == WaiverPolicy::InPlan,
            Self::WaivedLater | Self::Checked | Self::Unproven | Self::Undone => false,
        }
    }
}

/// Lists the steps of a chain in the order of their receipts. A step that was undone and then done again is there once.
pub fn list_steps(links: &[ChainLink]) -> Vec<ChainStep> {
    let mut steps: Vec<ChainStep> = Vec::new();
    let mut checks: BTreeMap<u32, &CheckLink> = BTreeMap::new();
    let mut undone: BTreeMap<u32, ChainStep> = BTreeMap::new();
    for link in links {
        match &link.kind {
            LinkKind::Check(check) => {
                checks.insert(link.number, check);
            }
            LinkKind::Step(step) => {
                if undone.remove(&step.step).is_some() {
                    let is_other = |earlier: &ChainStep| {
                        earlier.step != step.step || earlier.status != ChainStepStatus::Undone
                    };
                    steps.retain(is_other);
                }
                steps.push(assess_step(link.number, step, &checks));
            }
            LinkKind::Undo(reversal) => {
                for number in &reversal.steps {
                    let last = steps.iter_mut().rev().find(|step| step.step == *number);
                    if let Some(step) = last.filter(|step| step.status != ChainStepStatus::Undone) {
                        undone.insert(*number, step.clone());
                        step.status = ChainStepStatus::Undone;
                    }
                }
            }
            LinkKind::Redo(reversal) => {
                for number in &reversal.steps {
                    let last = steps.iter_mut().rev().find(|step| step.step == *number);
                    if let (Some(step), Some(before)) = (last, undone.remove(number)) {
                        *step = before;
                    }
                }
            }
            LinkKind::Approval(_)
            | LinkKind::Extension(_)
            | LinkKind::Versions(_)
            | LinkKind::UsersCommits(_)
            | LinkKind::Unknown(_) => {}
        }
    }
    steps
}

fn assess_step(receipt: u32, link: &StepLink, checks: &BTreeMap<u32, &CheckLink>) -> ChainStep {
    let is_green = |number: &u32| {
        let check = checks.get(number);
        check.is_some_and(|check| check.cell == ProofCell::Green && check.tree == link.tree_after)
    };
    let has_green = link.checks.iter().any(is_green);
    let status = match (&link.status, &link.waived_by) {
        // What is called proven was tested on the tree that the step left.
        (ProofStatus::Proven | ProofStatus::Kept, _) if !has_green => ChainStepStatus::Unproven,
        (ProofStatus::Proven, _) => ChainStepStatus::Proven,
        (ProofStatus::Kept, _) => ChainStepStatus::Kept,
        (ProofStatus::Checked(_), _) => ChainStepStatus::Checked,
        (ProofStatus::Unproven(_), _) => ChainStepStatus::Unproven,
        (ProofStatus::Waived(_), Some(WaiverSource::Plan)) => ChainStepStatus::WaivedInPlan,
        (ProofStatus::Waived(_), _) => ChainStepStatus::WaivedLater,
    };
    ChainStep {
        step: link.step,
        receipt,
        text: link.text.clone(),
        status,
        summary: describe_step(link, has_green),
        commit: link.commit.clone(),
        tree_after: link.tree_after.clone(),
    }
}

/// Describes what the checks of a step showed, and who accepted it without a proof.
fn describe_step(link: &StepLink, has_green: bool) -> String {
    let reason = match &link.status {
        ProofStatus::Proven | ProofStatus::Kept if !has_green => "no green check on its tree",
        ProofStatus::Proven | ProofStatus::Kept => "",
        ProofStatus::Checked(reason)
        | ProofStatus::Unproven(reason)
        | ProofStatus::Waived(reason) => reason,
    };
    let waiver = match &link.waived_by {
        None => String::new(),
        Some(WaiverSource::Plan) => "in the plan".to_owned(),
        Some(WaiverSource::User(words)) if words.is_empty() => "waived later (you)".to_owned(),
        Some(WaiverSource::User(words)) => format!("waived later (you): {words}"),
    };
    // The summary may already say the reason.
    let reason = if link.summary.contains(reason) {
        ""
    } else {
        reason
    };
    let parts = [link.summary.as_str(), reason, waiver.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}
