//! Makes mutants: copies of a step's code with one changed line each, which a good test notices (TRUTH.md T29).
//!
//! Works on text, line by line, in any of the usual languages. A mutant may be no valid program; it then proves nothing.

use std::sync::LazyLock;

use regex::Regex;
use similar::{ChangeTag, TextDiff};

use super::recorded_proof::is_documentation;

/// How many mutants of a step are tried at most.
pub const MAX_MUTANTS: usize = 5;

/// The file names whose lines are mutated, by extension.
const CODE_EXTENSIONS: [&str; 24] = [
    "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "py", "rs", "go", "rb", "java", "kt",
    "c", "cc", "cpp", "h", "cs", "php", "swift", "scala", "ex", "sh",
];

/// Beginnings of lines that hold no behaviour of their own.
const SKIPPED_STARTS: [&str; 22] = [
    "//",
    "#",
    "/*",
    "*",
    "--",
    "import ",
    "from ",
    "use ",
    "pub use ",
    "mod ",
    "pub mod ",
    "package ",
    "require",
    "export {",
    "export * ",
    "@",
    "\"\"\"",
    "'''",
    "extern ",
    "include",
    "const assert",
    "module ",
];

/// A file with one changed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeMutant {
    /// The path, relative to the root.
    pub path: String,
    /// The changed line, from 1.
    pub line: usize,
    /// The line before the change and after it, without white space around it.
    pub before: String,
    pub after: String,
    /// The whole file with the changed line.
    pub text: String,
}

impl CodeMutant {
    /// Describes the change in one line.
    pub fn describe(&self) -> String {
        format!(
            "{}:{}: {} → {}",
            self.path, self.line, self.before, self.after
        )
    }
}

/// A file that a step changed.
#[derive(Debug, Clone, Copy)]
pub struct ChangedCode<'a> {
    pub path: &'a str,
    /// The text before the step; empty where the file is new.
    pub before: &'a str,
    pub after: &'a str,
}

/// Returns whether the lines of a file can be mutated.
pub fn is_code(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| CODE_EXTENSIONS.contains(&extension))
}

/// Makes the mutants of a step: at most [`MAX_MUTANTS`], the most telling changes first, spread over the files and lines.
pub fn make_mutants(files: &[ChangedCode<'_>]) -> Vec<CodeMutant> {
    let mut ranked: Vec<(usize, usize, CodeMutant)> = Vec::new();
    for file in files.iter().filter(|file| is_code(file.path)) {
        let lines: Vec<&str> = file.after.split_inclusive('\n').collect();
        for (nth, at) in changed_lines(file).into_iter().enumerate() {
            if let Some((rank, mutant)) = mutate_line(file, &lines, at) {
                // Of one file the first lines come before the others of the same rank.
                ranked.push((rank, nth, mutant));
            }
        }
    }
    ranked.sort_by(|a, b| (a.0, a.1, &a.2.path).cmp(&(b.0, b.1, &b.2.path)));
    ranked
        .into_iter()
        .map(|(_, _, mutant)| mutant)
        .take(MAX_MUTANTS)
        .collect()
}

/// What code reads that tells a test run from other runs.
const RUNNER_MARKS: [&str; 12] = [
    "PYTEST_CURRENT_TEST",
    "NODE_TEST_CONTEXT",
    "JEST_WORKER_ID",
    "VITEST",
    "NODE_ENV",
    "cfg!(test)",
    "'pytest' in",
    "\"pytest\" in",
    "RUST_TEST",
    "NEXTEST",
    "testing.Testing()",
    "\"test.v\"",
];

/// Returns where the code of a step tells a test run from others, as `path:line: mark`.
pub fn find_runner_checks(files: &[ChangedCode<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| is_code(file.path)) {
        let lines: Vec<&str> = file.after.lines().collect();
        for at in changed_lines(file) {
            let line = lines.get(at).copied().unwrap_or_default();
            let marks = RUNNER_MARKS.iter().filter(|mark| line.contains(*mark));
            found.extend(marks.map(|mark| format!("{}:{}: {mark}", file.path, at + 1)));
        }
    }
    found
}

/// What reads the variable `CI`, in any of the usual languages; libraries that read it, too.
static CI_READ: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let ways = [
        // A name in quotes: `os.environ["CI"]`, `env::var("CI")`, `getenv('CI')`.
        r#"["'`]CI["'`]"#,
        // `process.env.CI`, `import.meta.env?.CI`.
        r"\benv\??\.CI\b",
        // `const { CI } = process.env`.
        r"\{[^}]*\bCI\b[^}]*\}\s*=",
        // `$CI`, `${CI:-}`, `$ENV{CI}`, `%CI%`, `[ -v CI ]`.
        r"\$\{?CI\b|ENV\{CI\}|%CI%|-v CI\b",
        r#"["'](?:is-ci|ci-info)["']"#,
    ];
    Regex::new(&ways.join("|")).ok()
});

/// Returns the first line of a step, in its code or in its tests, that reads the variable `CI`, as `path:line`.
pub fn find_ci_read(files: &[ChangedCode<'_>]) -> Option<String> {
    let pattern = CI_READ.as_ref()?;
    let read_in = |file: &ChangedCode<'_>| {
        let lines: Vec<&str> = file.after.lines().collect();
        let mut added = added_lines(file).into_iter();
        let at = added.find(|at| lines.get(*at).is_some_and(|line| pattern.is_match(line)))?;
        Some(format!("{}:{}", file.path, at + 1))
    };
    let mut files = files.iter().filter(|file| !is_documentation(file.path));
    files.find_map(read_in)
}

/// Returns the lines that a step added or changed, from 0; without tests in the same file.
fn changed_lines(file: &ChangedCode<'_>) -> Vec<usize> {
    let end = first_test_line(file);
    let added = added_lines(file).into_iter();
    added.filter(|at| *at < end).collect()
}

/// Returns the lines that a step added or changed, from 0.
fn added_lines(file: &ChangedCode<'_>) -> Vec<usize> {
    let diff = TextDiff::from_lines(file.before, file.after);
    let added = diff.iter_all_changes();
    let added = added.filter(|change| change.tag() == ChangeTag::Insert);
    added.filter_map(|change| change.new_index()).collect()
}

/// Returns the line at which the tests of a Rust file begin, from 0: by convention they come last.
fn first_test_line(file: &ChangedCode<'_>) -> usize {
    let is_rust = file.path.ends_with(".rs");
    let tests = file
        .after
        .lines()
        .position(|line| line.trim_start().starts_with("#[cfg(test)]"));
    tests.filter(|_| is_rust).unwrap_or(usize::MAX)
}

/// One way to change a line: a pattern and its replacement.
struct MutationRule {
    pattern: Regex,
    replacement: &'static str,
}

/// The ways in which a line is changed, the most telling first.
static RULES: LazyLock<Vec<MutationRule>> = LazyLock::new(|| {
    let rules: &[(&str, &str)] = &[
        // Comparisons.
        (r"===", "!=="),
        (r"!==", "==="),
        (r"([^=!<>])==([^=])", "$1!=$2"),
        (r"([^=!<>])!=([^=])", "$1==$2"),
        (r"([\w)\]]\s*)<=(\s*[\w(-])", "$1>$2"),
        (r"([\w)\]]\s*)>=(\s*[\w(-])", "$1<$2"),
        (r"([\w)\]]\s+)<(\s+[\w(-])", "$1>=$2"),
        (r"([\w)\]]\s+)>(\s+[\w(-])", "$1<=$2"),
        // Arithmetic.
        (r"([\w)\]]\s*)\+(\s*[\w(])", "$1-$2"),
        (r"([\w)\]]\s*)\*(\s*[\w(])", "$1+$2"),
        (r"([\w)\]]\s+)-(\s+[\w(])", "$1+$2"),
        (r"([\w)\]]\s+)/(\s+[\w(])", "$1*$2"),
        (r"([\w)\]]\s+)%(\s+[\w(])", "$1+$2"),
        // Logic.
        (r"&&", "||"),
        (r"\|\|", "&&"),
        (r"\band\b", "or"),
        (r"\btrue\b", "false"),
        (r"\bfalse\b", "true"),
        (r"\bTrue\b", "False"),
        (r"\bFalse\b", "True"),
        (r"\bif \((.+)\)(\s*\{?\s*)$", "if (!($1))$2"),
        (r"\bif ([^(:]+):\s*$", "if not ($1):"),
        (r"\bif ([\w.]+(?:\([\w., ]*\))?)(\s*\{\s*)$", "if !($1)$2"),
        // Values.
        (r"\b(\d+)\b", "${1}1"),
        (r#""([^"\\{}$%]+)""#, "\"${1}x\""),
        (r"'([^'\\{}$%]{2,})'", "'${1}x'"),
        (r"`([^`\\{}$%]+)", "`${1}x"),
        (r"^(\s*)return ([^;]+);\s*$", "${1}return;"),
        (r"^(\s*)return \S.*$", "${1}return None"),
    ];
    let rule = |(pattern, replacement): &(&str, &'static str)| {
        let pattern = Regex::new(pattern).ok()?;
        Some(MutationRule {
            pattern,
            replacement,
        })
    };
    rules.iter().filter_map(rule).collect()
});

/// Changes a line by the first rule that fits it; returns the rule's rank, too.
fn mutate_line(file: &ChangedCode<'_>, lines: &[&str], at: usize) -> Option<(usize, CodeMutant)> {
    let line = lines.get(at)?.trim_end_matches(['\n', '\r']);
    let ending = lines.get(at)?.get(line.len()..)?;
    let trimmed = line.trim_start();
    let is_skipped = trimmed.len() < 3
        || SKIPPED_STARTS
            .iter()
            .any(|start| trimmed.starts_with(start));
    if is_skipped {
        return None;
    }
    let (rank, changed) = RULES.iter().enumerate().find_map(|(rank, rule)| {
        // A type's brackets are no comparison, and a signature has no behaviour.
        let changed = rule.pattern.replacen(line, 1, rule.replacement);
        (changed != line).then(|| (rank, changed.into_owned()))
    })?;
    let mut text: String = lines.get(..at)?.concat();
    text.push_str(&changed);
    text.push_str(ending);
    text.push_str(&lines.get(at + 1..)?.concat());
    let mutant = CodeMutant {
        path: file.path.to_owned(),
        line: at + 1,
        before: trimmed.trim_end().to_owned(),
        after: changed.trim().to_owned(),
        text,
    };
    Some((rank, mutant))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(path: &str, before: &str, after: &str) -> Vec<String> {
        let file = ChangedCode {
            path,
            before,
            after,
        };
        let made = make_mutants(&[file]);
        made.iter()
            .map(|mutant| format!("{} {}", mutant.line, mutant.after))
            .collect()
    }

    #[test]
    fn only_the_lines_of_the_step_are_changed() {
        let before = "export function sum(a, b) {\n  return a + b;\n}\n";
        let after = "export function sum(a, b) {\n  return a + b;\n}\nexport function product(a, b) {\n  return a * b;\n}\n";
        assert_eq!(changes("src/sum.js", before, after), ["5 return a + b;"]);
        let file = ChangedCode {
            path: "src/sum.js",
            before,
            after,
        };
        let made = make_mutants(&[file]);
        assert_eq!(made[0].text, after.replace("a * b", "a + b"));
        assert_eq!(
            made[0].describe(),
            "src/sum.js:5: return a * b; → return a + b;"
        );
    }

    #[test]
    fn lines_are_changed_by_what_they_do() {
        let check = |path: &str, line: &str, expected: &str| {
            assert_eq!(
                changes(path, "", &format!("{line}\n")),
                [format!("1 {expected}")]
            );
        };
        check("a.js", "  if (a === b) {", "if (a !== b) {");
        check("a.py", "    if a == b:", "if a != b:");
        check("a.py", "    return a and b", "return a or b");
        check("a.py", "    if ready:", "if not (ready):");
        check("a.py", "    return len(names)", "return None");
        check("a.rs", "    a.len() <= 3", "a.len() > 3");
        check("a.rs", "    \"hello\".to_owned()", "\"hellox\".to_owned()");
        check("a.go", "    return n * 2", "return n + 2");
        check(
            "a.go",
            "    if strings.Contains(s, t) {",
            "if !(strings.Contains(s, t)) {",
        );
        check("a.ts", "  return a.length > 3;", "return a.length <= 3;");
        check(
            "a.tsx",
            "  return <b>{a && b}</b>;",
            "return <b>{a || b}</b>;",
        );
        check("a.mjs", "  if (ready) {", "if (!(ready)) {");
        check("a.js", "  return done;", "return;");
    }

    #[test]
    fn code_that_tells_a_test_run_from_others_is_named() {
        let file = ChangedCode {
            path: "a.js",
            before: "const env = process.env.NODE_ENV;\n",
            after: "const env = process.env.NODE_ENV;\nif (process.env.VITEST) answer = 6;\n",
        };
        assert_eq!(find_runner_checks(&[file]), ["a.js:2: VITEST"]);
    }

    #[test]
    fn lines_that_read_ci_are_found_in_code_and_tests() {
        for (path, line, reads) in [
            ("a.js", "if (process.env.CI) return 6;", true),
            ("a.ts", "const ci = import.meta.env?.CI === 'true';", true),
            ("a.js", "const { HOME, CI } = process.env;", true),
            ("a.js", "const ci = process.env['CI'];", true),
            ("a.js", "const isCI = require('is-ci');", true),
            ("a.py", "if os.environ[\"CI\"]:", true),
            ("a.py", "if os.environ.get('CI'):", true),
            ("a.rs", "if std::env::var(\"CI\").is_ok() {", true),
            ("a.go", "if os.Getenv(\"CI\") != \"\" {", true),
            ("a.rb", "ENV.fetch('CI', nil)", true),
            ("a.pl", "return 6 if $ENV{CI};", true),
            ("Makefile", "\ttest -n \"$CI\"", true),
            ("run.sh", "[ -n \"${CI:-}\" ]", true),
            (
                "package.json",
                "\"test\": \"test $CI && node --test\"",
                true,
            ),
            ("a.js", "const url = process.env.CI_URL;", false),
            ("a.js", "const { CITY } = process.env;", false),
            ("a.py", "# runs in CI", false),
            ("a.sh", "echo $CIRCLE", false),
            ("README.md", "Set `process.env.CI` first.", false),
        ] {
            let text = format!("first\n{line}\n");
            let file = ChangedCode {
                path,
                before: "first\n",
                after: &text,
            };
            let expected = reads.then(|| format!("{path}:2"));
            assert_eq!(find_ci_read(&[file]), expected, "{line}");
            let same = ChangedCode {
                before: &text,
                ..file
            };
            assert_eq!(find_ci_read(&[same]), None, "{line}");
        }
        let tests = ChangedCode {
            path: "a.rs",
            before: "",
            after: "#[cfg(test)]\nmod tests {\n    option_env!(\"CI\");\n}\n",
        };
        assert_eq!(find_ci_read(&[tests]), Some("a.rs:3".to_owned()));
    }

    #[test]
    fn what_holds_no_behaviour_is_left_alone() {
        for line in [
            "import a from \"a\";",
            "use std::fs;",
            "// a == b",
            "# a == b",
            "}",
            "",
            "@property",
            "from a import b",
        ] {
            assert_eq!(
                changes("a.js", "", &format!("{line}\n")),
                Vec::<String>::new(),
                "{line}"
            );
        }
        assert_eq!(changes("README.md", "", "a == b\n"), Vec::<String>::new());
        let tests = "fn a() -> bool {\n    1 == 1\n}\n#[cfg(test)]\nmod tests {\n    1 == 2\n}\n";
        assert_eq!(changes("a.rs", "", tests), ["2 1 != 1"]);
    }

    #[test]
    fn the_most_telling_changes_come_first_and_are_few() {
        let text: String = (0..20).map(|n| format!("a({n})\n")).collect();
        let text = format!("{text}x == y\n");
        let made = changes("a.py", "", &text);
        assert_eq!(made.len(), MAX_MUTANTS);
        assert_eq!(made[0], "21 x != y");
    }
}
