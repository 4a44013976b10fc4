//! Holds what is known of a step's proof, and who waives what is missing (TRUTH.md T24).

use serde::{Deserialize, Serialize};

use super::step_proof::{ProofStatus, StepProof};

/// What is known of a step's proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedProof {
    pub found: StepProof,
    /// What that says about the step.
    pub status: ProofStatus,
    /// Whether a person approved the plan with its waivers and its changes of old tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_plan_approved: bool,
    /// Why the user waives what is missing; `None` where nobody waived it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiver: Option<String>,
}

impl RecordedProof {
    /// Returns why the step is not proven; `None` where it is proven or kept, or where nothing but documentation
    /// changed and the plan says so.
    pub(super) fn unproven_reason(&self, changed: &[String]) -> Option<&'static str> {
        match &self.status {
            _ if self.waiver.is_some() => Some("was waived by you"),
            ProofStatus::Proven | ProofStatus::Kept
                if !self.found.planned_changes.is_empty() && !self.is_plan_approved =>
            {
                Some("changes old tests as planned, which nobody approved on the screen")
            }
            ProofStatus::Proven | ProofStatus::Kept => None,
            ProofStatus::Waived(_) if self.is_plan_approved => None,
            ProofStatus::Waived(_) => {
                let is_documentation = changed.iter().all(|path| is_documentation(path));
                (!is_documentation)
                    .then_some("was waived by the plan, which nobody approved on the screen")
            }
            ProofStatus::Checked(_) => Some("was checked, not proven"),
            ProofStatus::Unproven(_) => Some("is unproven"),
        }
    }

    /// Describes the proof in one line: what the program saw, or why it counts as waived.
    pub fn describe(&self) -> String {
        match &self.waiver {
            Some(reason) => format!("waived: {reason} (you)"),
            None => match &self.status {
                ProofStatus::Proven | ProofStatus::Kept => self.found.summary(),
                ProofStatus::Waived(_) if self.is_plan_approved => {
                    format!("{} (you)", self.status.describe())
                }
                ProofStatus::Waived(_) | ProofStatus::Checked(_) | ProofStatus::Unproven(_) => {
                    self.status.describe()
                }
            },
        }
    }
}

/// Returns whether a file contains only documentation, so that no test could cover it.
pub(super) fn is_documentation(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.to_ascii_lowercase();
    let by_ending = [".md", ".markdown", ".rst", ".adoc"];
    let by_name = ["readme", "license", "copying", "changelog", "authors"];
    by_ending.iter().any(|ending| name.ends_with(ending)) || by_name.contains(&name.as_str())
}
