//! Holds what the mutants of a step's code showed (TRUTH.md T29).

use serde::{Deserialize, Serialize};

use super::StepProof;
use crate::domain::plan::proof_lines::ProofClaim;

/// What became of the mutants that were tried.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MutantTrial {
    /// How many valid mutants were tried.
    pub n_tried: usize,
    /// The first one that a test of the step noticed: a new or changed one, or any old one where the step keeps
    /// behaviour. `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed: Option<String>,
    /// Those that none of these tests noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survived: Vec<String>,
}

impl StepProof {
    /// Returns whether mutants are tried. They have to show that new tests notice a change: that a test fails without the
    /// code may only say that there is nothing to call. Of a step that keeps behaviour they show that the old tests notice
    /// what it changed, which holds nothing up, so no slow suite runs for it.
    pub fn needs_mutants(&self, claim: &ProofClaim) -> bool {
        let has_tests = match claim {
            ProofClaim::TestFirst(_) | ProofClaim::Unnamed => {
                self.is_red_by_load || !self.red.is_empty()
            }
            ProofClaim::KeepsBehaviour => {
                let keeps_all = self.broken.is_empty() && self.lost.is_empty();
                self.n_kept > 0 && keeps_all && self.scope.is_whole_suite()
            }
            ProofClaim::Command(_) | ProofClaim::NoTest(_) => false,
        };
        self.is_by_identity && has_tests && self.failing.is_empty()
    }

    /// Returns whether a test of the step noticed a mutant of its code.
    pub fn has_killed_mutant(&self) -> bool {
        self.mutants
            .as_ref()
            .is_some_and(|trial| trial.killed.is_some())
    }

    /// Returns the proof of a step whose cells could not run, for this reason.
    pub fn without_cells(reason: &str) -> Self {
        Self {
            doubts: vec![reason.to_owned()],
            ..Self::default()
        }
    }

    /// Describes each cell in a line, for a view of the whole proof.
    pub fn describe_cells(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for run in &self.cells {
            let name: &str = run.cell.into();
            let reused = if run.is_reused { ", not run again" } else { "" };
            lines.push(format!(
                "{name}: {} passed, {} failed, {} skipped{reused} (tree {})",
                run.n_passed,
                run.n_failed,
                run.n_skipped,
                run.tree.chars().take(12).collect::<String>()
            ));
        }
        for (what, names) in [
            ("red", &self.red),
            ("failing", &self.failing),
            ("broken", &self.broken),
            ("lost", &self.lost),
            ("changed as planned", &self.planned_changes),
            ("known failures", &self.known_failures),
        ] {
            lines.extend(names.first.iter().map(|name| format!("{what}: {name}")));
        }
        if let Some(trial) = &self.mutants {
            lines.extend(
                trial
                    .killed
                    .iter()
                    .map(|mutant| format!("noticed: {mutant}")),
            );
            lines.extend(
                trial
                    .survived
                    .iter()
                    .map(|mutant| format!("not noticed: {mutant}")),
            );
        }
        lines.extend(self.doubts.iter().cloned());
        lines.join("\n")
    }
}
