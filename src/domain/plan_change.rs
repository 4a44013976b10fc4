//! Says which steps of a plan the approval of its execution does not cover, because they changed since (TRUTH.md T31).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::Sha256;
use super::plan::Plan;

/// How the open steps of a plan differ from the approved ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    /// Steps with another text, and new ones, in the order of the plan.
    pub changed: Vec<u32>,
    /// Approved steps that the plan no longer has.
    pub removed: Vec<u32>,
}

impl PlanChange {
    /// Compares a plan with the hashes of the steps as they were approved.
    pub(super) fn between(approved: &BTreeMap<u32, Sha256>, plan: &Plan) -> Self {
        let changed = plan.steps.iter();
        let changed = changed.filter(|step| approved.get(&step.n) != step.block_sha256.as_ref());
        let is_gone = |n: &&u32| plan.steps.iter().all(|step| step.n != **n);
        Self {
            changed: changed.map(|step| step.n).collect(),
            removed: approved.keys().filter(is_gone).copied().collect(),
        }
    }

    /// Describes the change in one sentence.
    pub fn describe(&self) -> String {
        let label = |steps: &[u32], how: &str| {
            let numbers: Vec<String> = steps.iter().map(u32::to_string).collect();
            match steps {
                [] => None,
                [only] => Some(format!("step {only} ({how})")),
                _ => Some(format!("steps {} ({how})", numbers.join(", "))),
            }
        };
        let changed = label(&self.changed, "changed or new");
        let removed = label(&self.removed, "removed");
        let lost: Vec<String> = changed.into_iter().chain(removed).collect();
        if lost.is_empty() {
            "No open step has changed since you approved the plan".to_owned()
        } else {
            format!("Your approval no longer covers {}", lost.join(" and "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::plan;

    #[test]
    fn each_step_that_is_not_as_it_was_approved_is_named() {
        let approved = "1. [ ] one\n2. [ ] two\n   Files: two.md\n3. [ ] three\n";
        for (text, said) in [
            (
                "# Another goal\n\n1. [x] one\n\n2. [ ] two\n   Files: two.md\n3. [ ] three\n",
                "No open step has changed since you approved the plan",
            ),
            (
                "1. [ ] one\n2. [ ] two\n   Files: *\n3. [ ] three\n",
                "Your approval no longer covers step 2 (changed or new)",
            ),
            (
                "1. [ ] one\n2. [ ] two\n   Files: *\n4. [ ] three\n",
                "Your approval no longer covers steps 2, 4 (changed or new) and step 3 (removed)",
            ),
        ] {
            let approved = plan::parse(approved).unwrap().block_hashes();
            let change = PlanChange::between(&approved, &plan::parse(text).unwrap());
            assert_eq!(change.describe(), said, "{text}");
        }
    }
}
