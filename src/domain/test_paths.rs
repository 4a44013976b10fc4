//! Tells the paths of tests from those of code (TRUTH.md T22): tests with their helpers, fixtures, snapshots and golden
//! files.
//!
//! Looks at paths alone. A file that holds both, as in Rust, counts as code here: see `rust_test_items`.

use super::path_glob::PathGlob;

/// The extensions of JavaScript and its relatives.
const SCRIPTS: &str = "{js,jsx,mjs,cjs,ts,tsx,mts,cts}";

/// What tests are called, below any folder. `SCRIPTS` stands for its extensions.
const TEST_GLOBS: &[&str] = &[
    // Folders, with everything that lies in them: helpers, fixtures, golden files.
    "test/**",
    "tests/**",
    "__tests__/**",
    "spec/**",
    "e2e/**",
    "cypress/**",
    "testdata/**",
    "{test,tests}{-,_}data/**",
    "{test,tests}{-,_}{helpers,support,utils,fixtures}/**",
    "__snapshots__/**",
    "__fixtures__/**",
    "__mocks__/**",
    "{golden,goldens}/**",
    // Snapshots and golden files beside the code.
    "*.{snap,ambr,golden}",
    "*.golden.*",
    "*.approved.*",
    // JavaScript and TypeScript: the names that node, jest, vitest and the frameworks look for.
    "*.{test,spec,cy,e2e,e2e-spec,test-d,stories.test}.SCRIPTS",
    "*{-,_}test.SCRIPTS",
    "{test,test-*}.SCRIPTS",
    // Python
    "test_*.py",
    "*_test.py",
    "tests.py",
    "conftest.py",
    // Go and Rust
    "*_test.go",
    "tests.rs",
    "*_tests.rs",
    // Java, Kotlin, Scala, C#, Swift, PHP
    "*{Test,Tests,TestCase}.{java,kt,kts,scala,groovy,cs,swift,php}",
    "*Spec.{kt,scala,groovy,hs}",
    // Ruby, Elixir, Dart, Lua, Perl, shell
    "*{_spec,_test}.{rb,exs,dart,lua}",
    "*.{bats,t}",
    // C and C++
    "*{_test,_tests,_unittest}.{c,cc,cpp,cxx}",
];

/// The patterns of a repository's tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPaths {
    globs: Vec<PathGlob>,
}

impl TestPaths {
    /// Adds the user's patterns (`[test] paths`) to the known ones. One without a slash counts below any folder, any
    /// other from the repository's root; one that names a folder stands for what lies in it.
    pub fn new(extra: &[String]) -> Self {
        let known = TEST_GLOBS
            .iter()
            .map(|glob| PathGlob::new(&glob.replace("SCRIPTS", SCRIPTS)).at_any_depth());
        let extra = extra.iter().map(|glob| {
            let parsed = PathGlob::with_contents(glob);
            if glob.trim_end_matches('/').contains('/') {
                parsed
            } else {
                parsed.at_any_depth()
            }
        });
        Self {
            globs: known.chain(extra).collect(),
        }
    }

    /// Returns the same patterns with these files, relative to the repository's root.
    #[must_use]
    pub fn with_files(mut self, files: &[String]) -> Self {
        self.globs
            .extend(files.iter().map(|file| PathGlob::new(file)));
        self
    }

    /// Returns whether a path, relative to the repository's root and with `/`, belongs to the tests.
    pub fn is_test(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_from_code_by_their_paths() {
        let paths = TestPaths::new(&[]);
        for path in [
            "tests/a.rs",
            "crates/x/tests/it/main.rs",
            "src/test/java/com/a/BarTest.java",
            "src/test/resources/data.json",
            "packages/a/__tests__/b.ts",
            "spec/models/user_spec.rb",
            "cypress/e2e/login.cy.js",
            "pkg/parser/testdata/in.txt",
            "tests/fixtures/x.json",
            "test-data/x.json",
            "test_helpers/x.py",
            "src/__snapshots__/a.test.js.snap",
            "src/tui/snapshots/a.snap",
            "src/__mocks__/fs.js",
            "pkg/golden/out.txt",
            "out.golden.json",
            "Thing.shows.approved.txt",
            "src/a.test.js",
            "src/a.test.tsx",
            "src/a.spec.mts",
            "src/a.spec.tsx",
            "test/a.js",
            "src/a.cy.ts",
            "test.js",
            "test-a.mjs",
            "a-test.cjs",
            "a_test.ts",
            "test_a.py",
            "pkg/a_test.py",
            "app/tests.py",
            "conftest.py",
            "a/conftest.py",
            "a_test.go",
            "src/domain/run/tests.rs",
            "src/app/version_0_1_tests.rs",
            "BarTests.kt",
            "AppTestCase.php",
            "BarSpec.scala",
            "test/a_test.exs",
            "run.bats",
            "t/basic.t",
            "a_unittest.cc",
        ] {
            assert!(paths.is_test(path), "{path} is a test");
        }
        for path in [
            "src/testing.rs",
            "src/test_command.rs",
            "src/domain/test_paths.rs",
            "latest.py",
            "contest.js",
            "src/contest.tsx",
            "src/latest.ts",
            "testimony/a.js",
            "src/attest/a.go",
            "cmd/test.go",
            "protest_go",
            "src/Contest.java",
            "src/Latest.kt",
            "specification/a.md",
            "inspect.rs",
            "src/snapshot.rs",
            "src/fixtures.py",
            "golden.rs",
            "src/a.test.js.md",
            "Cargo.toml",
            "src/spec.rs",
            "README.md",
            "a.ts",
        ] {
            assert!(!paths.is_test(path), "{path} is no test");
        }
    }

    #[test]
    fn a_users_patterns_are_added() {
        let extra = ["checks", "src/probe/", "*.case", "qa/*.sh"].map(str::to_owned);
        let paths = TestPaths::new(&extra);
        for path in [
            "checks/a",
            "x/checks/a/b",
            "src/probe/a/b.rs",
            "x/y.case",
            "qa/a.sh",
            "tests/a.rs",
        ] {
            assert!(paths.is_test(path), "{path} is a test");
        }
        for path in ["x/src/probe/a.rs", "qa/a/b.sh", "checks.rs", "src/a.rs"] {
            assert!(!paths.is_test(path), "{path} is no test");
        }
    }
}
