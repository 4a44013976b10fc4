//! A scratch repository: a small dependency-free project with a failing test, one commit, a git identity.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::home::Home;

/// The scratch repository of a scenario.
pub struct Repository {
    root: PathBuf,
}

/// The project's code: the second function is wrong on purpose.
pub const CODE: &str = "exports.sum = (a, b) => a + b;\nexports.double = (a) => a;\n";

/// The project's test: fails until `double` doubles.
const TEST: &str = r#"const assert = require("node:assert");
const test = require("node:test");
const { double, sum } = require("./code.js");
test("sum adds", () => assert.strictEqual(sum(1, 2), 3));
test("double doubles", () => assert.strictEqual(double(4), 8));
"#;

impl Repository {
    /// Makes the project, commits it and checks that its test fails.
    pub fn create(home: &Home) -> Repository {
        let root = home.repository();
        fs::create_dir_all(&root).expect("the scratch repository's folder");
        let repository = Repository { root };
        repository.write("code.js", CODE);
        repository.write("code.test.js", TEST);
        repository.write(
            "package.json",
            "{\n  \"name\": \"scratch\",\n  \"private\": true,\n  \"scripts\": { \"test\": \"node --test\" }\n}\n",
        );
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "Scratch Person"]);
        repository.git(&["config", "user.email", "scratch@example.invalid"]);
        repository.commit_all("a project with a failing test");
        assert!(
            !repository.tests_pass(home),
            "the scratch project's test fails before the run"
        );
        repository
    }

    /// Commits a link `door` that leads out of the repository, to the empty folder `elsewhere` of the scenario.
    pub fn open_door(&self, home: &Home) {
        fs::create_dir_all(home.root().join("elsewhere")).expect("a folder elsewhere");
        symlink("../elsewhere", self.root.join("door")).expect("a link out of the repository");
        self.commit_all("a link out of the repository");
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: &str, content: &str) {
        let path = self.root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a folder of the scratch repository");
        }
        fs::write(&path, content).expect("a file of the scratch repository");
    }

    /// Reads a file; a missing one is empty.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_default()
    }

    /// Runs git and returns what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = command
            .current_dir(&self.root)
            .args(arguments)
            .output()
            .expect("git runs");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Commits everything there is.
    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// Returns whether the project's own test passes.
    pub fn tests_pass(&self, home: &Home) -> bool {
        let output = home
            .command("node")
            .arg("--test")
            .current_dir(&self.root)
            .output()
            .expect("node runs");
        output.status.success()
    }

    /// Lists every file with its content, but git's own and the run's folder: what a model could have written.
    pub fn snapshot(&self) -> Vec<(PathBuf, String)> {
        files(&self.root)
    }
}

/// Lists every file below a folder with its content, but git's own and the run's folder.
pub fn files(root: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    collect(root, root, &mut files);
    files.sort();
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path
            .strip_prefix(root)
            .expect("below the root")
            .to_path_buf();
        if name == Path::new(".git") || name == Path::new(".agent-collab") {
            continue;
        }
        let kind = entry.file_type().expect("a file's type");
        if kind.is_symlink() {
            let target = fs::read_link(&path).expect("a link's target");
            files.push((name, format!("-> {}", target.display())));
        } else if kind.is_dir() {
            collect(root, &path, files);
        } else {
            files.push((
                name,
                String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned(),
            ));
        }
    }
}
