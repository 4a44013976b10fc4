//! Says whether a path holds a test that a report names, and what the test is called once files have other names.
//!
//! Goes by names alone. Runners name a test's file (pytest, node), its package (go), its class (JUnit) or, as cargo, the
//! root of its crate and the modules below.

use std::collections::BTreeMap;

use crate::domain::test_report::TestIdentity;

/// Returns whether a path can hold a test, as far as names tell.
pub(super) fn may_hold_test(path: &str, test: &TestIdentity) -> bool {
    if test.file == path && !is_crate_root(path) {
        return true;
    }
    if let Some(place) = rust_modules(path, test) {
        let modules = modules_of(test);
        // Behind a file's own modules one more may follow, its inline `mod tests`.
        return modules.starts_with(&place) && modules.len() - place.len() <= 1;
    }
    let file = test.file.trim_start_matches("./");
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_file = file == path || file.starts_with('/') && ends_with_path(file, path);
    let is_package =
        path.ends_with("_test.go") && !folder.is_empty() && ends_with_path(file, folder);
    let is_class =
        file.contains('.') && !file.contains('/') && ends_with_path(stem, &file.replace('.', "/"));
    is_file || is_package || is_class
}

/// Returns what a test is called after files were renamed (old path to new path); the same where none concerns it.
pub(super) fn rename_test(test: &TestIdentity, renames: &BTreeMap<String, String>) -> TestIdentity {
    let mut renamed = test.clone();
    for (old, new) in renames {
        let places = rust_modules(old, test).zip(rust_modules(new, test));
        if let Some((before, after)) = places.filter(|(before, _)| !before.is_empty()) {
            let modules = modules_of(test);
            if modules.starts_with(&before) {
                let rest = modules.get(before.len()..).unwrap_or_default();
                let own = test.name.rsplit("::").next().unwrap_or(&test.name);
                renamed.name = [after.as_slice(), rest, &[own]].concat().join("::");
            }
        } else if test.file == *old {
            renamed.file.clone_from(new);
        }
    }
    renamed
}

/// Returns whether the last names of a path are those of another one.
fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Returns whether a Rust file can be the root of a crate, whose report also has the tests of its other files. The report
/// of a doc test names the file that it is written in.
fn is_crate_root(path: &str) -> bool {
    let mut names = path.rsplit('/');
    let (name, folder) = (names.next().unwrap_or(path), names.next());
    let is_target = matches!(folder, Some("tests" | "benches" | "examples" | "bin"));
    path.ends_with(".rs") && (is_target || matches!(name, "lib.rs" | "main.rs"))
}

/// Returns the modules around a test of cargo, from its crate's root.
fn modules_of(test: &TestIdentity) -> Vec<&str> {
    let mut modules: Vec<&str> = test.name.split("::").collect();
    modules.pop();
    modules
}

/// Returns the modules that a Rust file stands for in the crate of a test; empty for the root of the crate. `None` for
/// other files and for those of other crates.
fn rust_modules<'a>(path: &'a str, test: &TestIdentity) -> Option<Vec<&'a str>> {
    let stem = path.strip_suffix(".rs")?;
    if test.file == path {
        return Some(Vec::new());
    }
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if test.file.ends_with(".rs") {
        let folder = test.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let below = stem.strip_prefix(folder)?;
        let below = if folder.is_empty() {
            below
        } else {
            below.strip_prefix('/')?
        };
        return Some(below.split('/').collect());
    }
    if test.file.contains(['/', '.']) {
        return None;
    }
    // The runner names a target: a crate, whose files lie in `src`, or a file or folder in `tests`.
    let target = test.file.rsplit("::").next().unwrap_or(&test.file);
    let names: Vec<&str> = stem.split('/').collect();
    let start = names
        .iter()
        .rposition(|name| matches!(*name, "src" | "tests" | "benches"))?;
    let below = names.get(start + 1..)?;
    match (names.get(start), below) {
        (Some(&"src"), ["lib" | "main"]) => Some(Vec::new()),
        (Some(&"src"), _) => Some(below.to_vec()),
        (_, [first, rest @ ..]) if *first == target => Some(match rest {
            ["main"] => Vec::new(),
            _ => rest.to_vec(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(text: &str) -> TestIdentity {
        let (file, name) = text.split_once(" > ").unwrap();
        TestIdentity {
            file: file.to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn a_path_holds_the_tests_that_are_named_after_it() {
        for (test, yes, no) in [
            (
                "tests/test_a.py > test_x",
                "tests/test_a.py",
                "tests/test_b.py a/tests/test_a.py test_a.py",
            ),
            ("/work/repo/a.test.js > adds", "a.test.js", "b.test.js"),
            (
                "example.com/m/pkg/sum > TestX",
                "pkg/sum/a_test.go pkg/sum/b_test.go",
                "pkg/a_test.go a_test.go pkg/sum/a.go",
            ),
            (
                "com.foo.BarTest > adds",
                "src/test/java/com/foo/BarTest.java",
                "src/test/java/com/foo/Bar.java",
            ),
            (
                "src/lib.rs > domain::plan::tests::x",
                "src/domain/plan.rs src/domain/plan/tests.rs src/domain/plan/mod.rs",
                "src/lib.rs src/domain.rs src/plan.rs src/domain/plan/other.rs",
            ),
            (
                "src/domain/plan.rs > domain::plan::Plan::parse",
                "src/domain/plan.rs",
                "src/domain.rs src/lib.rs",
            ),
            (
                "src/lib.rs > tests::x",
                "src/lib.rs src/tests.rs",
                "src/main.rs src/a.rs",
            ),
            (
                "agent_collab > domain::plan::tests::x",
                "src/domain/plan.rs",
                "src/lib.rs tests/domain/plan.rs",
            ),
            ("agent_collab > tests::x", "src/lib.rs", "src/a.rs"),
            (
                "tests/it/main.rs > names::x",
                "tests/it/names.rs",
                "tests/it/arrows.rs src/names.rs",
            ),
            (
                "it > names::x",
                "tests/it/names.rs tests/it/main.rs",
                "tests/names.rs",
            ),
            (
                "p::it > x",
                "tests/it.rs tests/it/main.rs",
                "tests/other.rs",
            ),
        ] {
            let test = identity(test);
            for path in yes.split(' ') {
                assert!(may_hold_test(path, &test), "{path} may hold {test}");
            }
            for path in no.split(' ') {
                assert!(!may_hold_test(path, &test), "{path} does not hold {test}");
            }
        }
    }

    #[test]
    fn a_test_follows_its_file() {
        for (test, old, new, expected) in [
            (
                "tests/a.py > x",
                "tests/a.py",
                "tests/b.py",
                "tests/b.py > x",
            ),
            (
                "tests/a.py > x",
                "tests/c.py",
                "tests/b.py",
                "tests/a.py > x",
            ),
            (
                "src/lib.rs > a::b::tests::x",
                "src/a/b.rs",
                "src/a/c.rs",
                "src/lib.rs > a::c::tests::x",
            ),
            (
                "src/lib.rs > a::b::tests::x",
                "src/a/b.rs",
                "src/c.rs",
                "src/lib.rs > c::tests::x",
            ),
            (
                "src/lib.rs > a::b::tests::x",
                "src/a/d.rs",
                "src/c.rs",
                "src/lib.rs > a::b::tests::x",
            ),
            (
                "tests/old.rs > x",
                "tests/old.rs",
                "tests/new.rs",
                "tests/new.rs > x",
            ),
        ] {
            let renames = BTreeMap::from([(old.to_owned(), new.to_owned())]);
            assert_eq!(
                rename_test(&identity(test), &renames),
                identity(expected),
                "{test}"
            );
        }
    }
}
