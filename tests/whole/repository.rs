//! Creates git repositories for tests, with their own identity and no influence from outside.

use std::path::Path;
use std::process::Command;

/// Runs git in a folder and returns what it printed; fails the test when git fails.
pub fn git(root: &Path, arguments: &[&str]) -> String {
    let (code, text) = try_git(root, arguments);
    assert_eq!(code, 0, "git {arguments:?}: {text}");
    text
}

/// Runs git in a folder and returns its exit code and what it printed.
pub fn try_git(root: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
        .env("GIT_CONFIG_VALUE_0", "always")
        .output()
        .expect("git");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output.status.code().unwrap_or(-1), text)
}

/// Makes a repository on `main` without a commit.
pub fn init(root: &Path) {
    std::fs::create_dir_all(root).expect("folder");
    git(root, &["init", "--quiet"]);
    git(root, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    git(root, &["config", "user.name", "Test"]);
    git(root, &["config", "user.email", "test@example.invalid"]);
}

/// Removes the identity, so that every commit fails.
pub fn forget_name(root: &Path) {
    git(root, &["config", "user.useConfigOnly", "true"]);
    for key in ["user.name", "user.email"] {
        git(root, &["config", "--unset", key]);
    }
}

/// Commits everything.
pub fn commit_all(root: &Path, message: &str) {
    git(root, &["add", "--all"]);
    git(
        root,
        &["commit", "--quiet", "--no-verify", "--message", message],
    );
}
