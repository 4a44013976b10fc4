//! Tests with real repositories in temporary folders, isolated from the user's git configuration.

mod attacks;
mod clean_trees;
mod commit_notes;
mod commits;
mod invariants;
mod repositories;
mod reverts;
mod snapshots;
mod speed;
mod tree_merges;
mod tree_writes;
mod unversioned_code_scans;
mod worktrees;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::process::tests::put_program;

/// A repository with an identity and no other configuration of the user's.
struct GitFixture {
    folder: TempDir,
}

const ENVIRONMENT: [(&str, &str); 4] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("HOME", "/nonexistent"),
    ("XDG_CONFIG_HOME", "/nonexistent"),
];

impl GitFixture {
    /// Creates a repository before its first commit.
    fn unborn() -> Self {
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fixture.git("init -q -b main");
        fixture.git("config user.name Tester");
        fixture.git("config user.email tester@example.com");
        fixture
    }

    /// Creates a repository with one commit: `a` and `dir/b`.
    fn new() -> Self {
        let fixture = Self::unborn();
        fixture.write("a", "a\n");
        fixture.write("dir/b", "b\n");
        fixture.git("add -A");
        fixture.git("commit -q -m first");
        fixture
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Runs git as a user would and returns its output.
    fn git(&self, args: &str) -> String {
        git_in(&self.root(), args)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap_or_else(|_| "(none)".to_owned())
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.root().join(path)).unwrap();
    }

    fn hook(&self, name: &str, script: &str) {
        let hooks = self.root().join(".git/hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        put_program(&hooks.join(name), &format!("#!/bin/sh\n{script}\n"));
    }

    async fn repository(&self) -> GitRepository {
        match GitRepository::discover(&self.root(), settings())
            .await
            .unwrap()
        {
            RepositoryDiscovery::Found(repository) => repository,
            other => panic!("{other:?}"),
        }
    }

    async fn snapshot(&self, name: &str) -> TreeSnapshot {
        let repository = self.repository().await;
        repository.work_tree().snapshot(name).await.unwrap()
    }

    async fn current_tree(&self) -> TreeId {
        let repository = self.repository().await;
        repository.work_tree().current_tree().await.unwrap()
    }
}

fn settings() -> GitSettings {
    let mut settings = GitSettings::new("run_1", CancellationToken::new());
    settings.env = ENVIRONMENT
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    settings
}

/// Splits a line into words; a path that may contain spaces is in double quotes.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').enumerate().flat_map(|(at, part)| {
        let of_part: Vec<&str> = match at % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![part],
        };
        of_part
    })
}

fn git_in(folder: &Path, args: &str) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(words(args))
        .envs(ENVIRONMENT)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {args}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

/// Commits paths as they are in the work tree now.
async fn commit_now(
    repository: &GitRepository,
    paths: &[PathBuf],
    leave_out: &[PathBuf],
    message: &str,
) -> Result<CommitId, CommitFailure> {
    let tree = repository.work_tree().current_tree().await.unwrap();
    repository
        .commits()
        .commit_paths(&tree, paths, leave_out, message)
        .await
}

/// Formats changes as `modified a, untracked b`.
fn describe_changes<T: std::fmt::Debug>(changes: impl IntoIterator<Item = (PathBuf, T)>) -> String {
    let mut told: Vec<String> = changes
        .into_iter()
        .map(|(path, kind)| format!("{} {}", path.display(), format!("{kind:?}").to_lowercase()))
        .collect();
    told.sort();
    told.join(", ")
}

async fn dirty(repository: &GitRepository) -> String {
    describe_changes(
        repository
            .status()
            .dirty_files()
            .await
            .unwrap()
            .into_iter()
            .map(|change| (change.path, change.status)),
    )
}
