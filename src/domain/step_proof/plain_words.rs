//! Says in plain words what the test runs of a proof showed.

use super::StepProof;
use crate::text::pluralize;

impl StepProof {
    /// Describes in lines which tests fail on the old code and pass on the new one, and what else was seen; empty if nothing.
    pub fn describe_in_plain_words(&self) -> String {
        let mut lines = Vec::new();
        if let Some(command) = self.command {
            let verb = |passes: bool| if passes { "passes" } else { "fails" };
            lines.push(format!(
                "The proof command {} on the old code and {} on the new",
                verb(!command.failed_before),
                verb(command.passed_after)
            ));
        }
        if !self.red.is_empty() {
            let names = self.red.describe();
            lines.push(format!("Fail on the old code, pass on the new: {names}"));
        } else if self.is_red_by_load {
            lines.push("The new tests cannot be loaded without the change".to_owned());
        } else if self.mends_old_tests() {
            lines.push("The tests fail on the old code and pass on the new".to_owned());
        }
        if self.n_kept > 0 {
            let kept = pluralize(self.n_kept, "test");
            lines.push(format!("Passed before and still pass: {kept}"));
        }
        let bad = [
            ("Fail now", &self.failing),
            ("Passed before and fail now", &self.broken),
            ("Gone", &self.lost),
            ("Changed as the plan says", &self.planned_changes),
        ];
        let bad = bad.into_iter().filter(|(_, names)| !names.is_empty());
        lines.extend(bad.map(|(what, names)| format!("{what}: {}", names.describe())));
        let killed = self
            .mutants
            .iter()
            .filter_map(|trial| trial.killed.as_ref());
        lines
            .extend(killed.map(|change| format!("A test notices this change of a line: {change}")));
        lines.join("\n")
    }
}
