//! Creates the repository that every seed starts with, once, and copies it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Runs git and returns what it printed.
pub fn git(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository on `main` with one commit and no hooks.
pub fn template() -> &'static Path {
    static TEMPLATE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, root) = TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("scratch folder");
        let root = folder.path().join("template");
        std::fs::create_dir_all(&root).expect("folder");
        git(&root, &["init", "--quiet", "--template="]);
        git(&root, &["symbolic-ref", "HEAD", "refs/heads/main"]);
        for (key, value) in [
            ("user.name", "Test"),
            ("user.email", "test@example.invalid"),
            ("commit.gpgsign", "false"),
        ] {
            git(&root, &["config", key, value]);
        }
        std::fs::write(root.join("README.md"), "# A project\n").expect("file");
        git(&root, &["add", "--all"]);
        git(&root, &["commit", "--quiet", "--message", "first"]);
        (folder, root)
    });
    root
}
