//! Finds the user's own test command: the configured one, else one detected from the files in the root.
//!
//! Does not run it, and does not look below the root.

use std::path::Path;

use serde_json::Value;

use super::test_command_line::TestCommandLine;
use crate::store::scoped_read::ScopedReader;

/// A test command of the user's and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestCommandSelection {
    pub command: TestCommandLine,
    pub source: TestSelectionSource,
}

/// The source of a test command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestSelectionSource {
    /// The setting `test.default_command`.
    Configured,
    /// Detected from this file in the root.
    Detected(&'static str),
}

/// Chooses the test command; blank and `auto` configure nothing. `None` if there is no command.
///
/// The detection order: pytest by `pytest.ini` or `pyproject.toml` (`pytest` where it is on PATH, else
/// `python3 -m pytest`), `npm test` by a `package.json` with a test script other than npm's placeholder,
/// `cargo test` by `Cargo.toml`, `go test ./...` by `go.mod`.
pub fn choose_test_command(configured: Option<&str>, root: &Path) -> Option<TestCommandSelection> {
    let configured = configured
        .filter(|line| line.trim() != "auto")
        .and_then(TestCommandLine::parse);
    if let Some(command) = configured {
        return Some(TestCommandSelection {
            command,
            source: TestSelectionSource::Configured,
        });
    }
    let (file, line) = detect_test_command(root, &is_on_path)?;
    Some(TestCommandSelection {
        command: TestCommandLine::parse(line)?,
        source: TestSelectionSource::Detected(file),
    })
}

fn detect_test_command(
    root: &Path,
    is_on_path: &dyn Fn(&str) -> bool,
) -> Option<(&'static str, &'static str)> {
    for file in ["pytest.ini", "pyproject.toml"] {
        if root.join(file).is_file() {
            return Some((
                file,
                if is_on_path("pytest") {
                    "pytest"
                } else {
                    "python3 -m pytest"
                },
            ));
        }
    }
    if has_test_script(root, "package.json") {
        return Some(("package.json", "npm test"));
    }
    let rest = [("Cargo.toml", "cargo test"), ("go.mod", "go test ./...")];
    rest.into_iter().find(|(file, _)| root.join(file).is_file())
}

/// The maximum size of a manifest that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1024 * 1024;

/// Returns true if the manifest has a test script; a file that cannot be read, or is outside of the
/// repository, has none.
fn has_test_script(root: &Path, manifest: &str) -> bool {
    let read = ScopedReader::open(root).map(|root| root.read_file(manifest, MAX_MANIFEST_BYTES));
    let manifest = read
        .ok()
        .and_then(Result::ok)
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let script = manifest
        .as_ref()
        .and_then(|manifest| manifest["scripts"]["test"].as_str());
    script.is_some_and(|script| !script.trim().is_empty() && !script.contains("no test specified"))
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: &str) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        let (_, line) = detect_test_command(root.path(), &|_| true).unwrap_or(("", "none"));
        assert_eq!(line, expected);
    }

    #[test]
    fn files_in_the_root_tell_the_command_in_a_fixed_order() {
        let npm = ("package.json", r#"{"scripts": {"test": "node --test"}}"#);
        check(&[("pytest.ini", ""), npm], "pytest");
        check(&[("pyproject.toml", ""), ("Cargo.toml", "")], "pytest");
        check(&[npm, ("Cargo.toml", "")], "npm test");
        check(&[("Cargo.toml", ""), ("go.mod", "")], "cargo test");
        check(&[("go.mod", "")], "go test ./...");
        check(&[("README.md", "")], "none");
    }

    #[test]
    fn a_manifest_without_a_real_test_script_is_passed_over() {
        let cargo = ("Cargo.toml", "");
        for text in [
            r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
            r#"{"scripts": {}}"#,
            "{broken",
        ] {
            check(&[("package.json", text), cargo], "cargo test");
        }
    }

    #[test]
    fn without_pytest_on_the_path_python_is_asked() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("pytest.ini"), "").unwrap();
        assert_eq!(
            detect_test_command(root.path(), &|_| false),
            Some(("pytest.ini", "python3 -m pytest"))
        );
    }

    #[test]
    fn the_configured_command_wins() {
        let root = tempfile::tempdir().unwrap();
        let chosen = |configured| {
            choose_test_command(configured, root.path())
                .map(|chosen| format!("{} by {:?}", chosen.command, chosen.source))
        };
        assert_eq!(chosen(None), None);
        std::fs::write(root.path().join("Cargo.toml"), "").unwrap();
        assert_eq!(
            chosen(Some("auto")).as_deref(),
            Some("cargo test by Detected(\"Cargo.toml\")")
        );
        assert_eq!(chosen(Some("./t")).as_deref(), Some("./t by Configured"));
    }
}
