//! Says what a step may write: what the lines `Files:`, `Changes tests:` and `Test first:` of its plan name (TRUTH.md T28).

use serde::{Deserialize, Serialize};

use super::path_glob::PathGlob;
use super::plan::proof_lines::{ProofClaim, StepProofPlan};
use super::test_paths::TestPaths;

/// A change of a step outside of what its plan names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeChange {
    /// Relative to the repository's root.
    pub path: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
}

/// What a step may write, where its plan has a line `Files:`.
#[derive(Debug, Clone)]
pub struct StepScope {
    pub step: u32,
    planned: StepProofPlan,
    tests: TestPaths,
    /// The files that the plan names for the step's tests, perhaps without their folders.
    test_files: Vec<String>,
    /// Whether the step needs tests and its plan does not say in which files.
    takes_any_test: bool,
}

impl StepScope {
    /// Returns the scope of a step; `None` where it may write anywhere.
    pub fn new(step: u32, planned: StepProofPlan, tests: TestPaths) -> Option<Self> {
        if planned.files.is_empty() {
            return None;
        }
        let test_files = planned.named_test_files();
        let needs_tests = match &planned.claim {
            ProofClaim::TestFirst(_) | ProofClaim::Unnamed => true,
            ProofClaim::Command(_) | ProofClaim::KeepsBehaviour | ProofClaim::NoTest(_) => false,
        };
        // A word with a slash alone may be prose.
        let takes_any_test = needs_tests && !test_files.iter().any(|file| file.contains('.'));
        Some(Self {
            step,
            planned,
            tests,
            test_files,
            takes_any_test,
        })
    }

    /// Returns whether the step may write a path, relative to the repository's root; `is_new` where it was not there
    /// before the step.
    pub fn contains(&self, path: &str, is_new: bool) -> bool {
        let is_beside = |file: &String| {
            let folder = file.rfind('/').map_or("", |at| &file[..=at]);
            is_new && path.starts_with(folder)
        };
        let is_test = || self.tests.is_test(path);
        self.planned.matches_files(path)
            || self.planned.expects_change_of(path)
            || self.test_files.iter().any(|file| names_path(file, path))
            || self.takes_any_test && is_test()
            || self.test_files.iter().any(is_beside) && is_test()
    }
}

/// Returns whether a plan that names a file, perhaps without its folders, or a folder means this path.
fn names_path(named: &str, path: &str) -> bool {
    let before = path.strip_suffix(named);
    before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        || PathGlob::with_contents(named).matches(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which paths a step with these lines may write; a path behind `+` is new.
    fn check(lines: &str, inside: &[&str], outside: &[&str]) {
        let planned = StepProofPlan::parse(&format!("Title\n{lines}"));
        let scope = StepScope::new(1, planned, TestPaths::new(&[])).unwrap();
        let contains = |path: &&&str| match path.strip_prefix('+') {
            Some(path) => scope.contains(path, true),
            None => scope.contains(path, false),
        };
        assert_eq!(
            inside.iter().filter(|p| !contains(p)).collect::<Vec<_>>(),
            Vec::<&&str>::new(),
            "outside of\n{lines}"
        );
        assert_eq!(
            outside.iter().filter(contains).collect::<Vec<_>>(),
            Vec::<&&str>::new(),
            "inside of\n{lines}"
        );
    }

    #[test]
    fn a_step_may_write_what_its_files_name_and_what_belongs_to_them() {
        check(
            "Files: src/parser, docs/*.md, Cargo.toml\nKeeps behaviour",
            &[
                "+src/parser/new/a.rs",
                "docs/a.md",
                "Cargo.toml",
                "Cargo.lock",
            ],
            &[
                "src/main.rs",
                "docs/b/a.md",
                "package-lock.json",
                "+tests/a.rs",
            ],
        );
        let planned = StepProofPlan::parse("Title\nTest first: tests/a.py");
        assert!(StepScope::new(1, planned, TestPaths::new(&[])).is_none());
    }

    #[test]
    fn the_named_test_file_and_new_files_of_tests_beside_it_are_inside() {
        check(
            "Files: src/a.py\nTest first: tests/test_a.py::test_x shows it",
            &[
                "tests/test_a.py",
                "+tests/test_b.py",
                "+tests/fixtures/x.json",
            ],
            &["tests/test_b.py", "+spec/test_b.py", "+src/b.py"],
        );
        check(
            "Files: src/a.js\nTest first: a.test.js\nChanges tests: spec/ - renamed",
            &["src/a.test.js", "spec/old.js"],
            &["src/b.test.js", "src/b.js"],
        );
        check(
            "Files: src/a.py\nProof: `sh scripts/check.sh`",
            &["+scripts/check.sh"],
            &["+scripts/other.sh", "tests/test_a.py"],
        );
    }

    #[test]
    fn a_step_that_needs_a_test_and_names_no_file_for_it_may_write_any_test() {
        for lines in [
            "Files: src/a.py",
            "Files: src/a.py\nTest first: adds_two, and/or one of the parser",
        ] {
            check(
                lines,
                &["tests/test_a.py", "+src/test_a.py"],
                &["src/b.py", "README.md"],
            );
        }
    }
}
