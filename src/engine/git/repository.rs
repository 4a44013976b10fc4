//! Finds the repository that a folder belongs to.
//!
//! Does not create one: `shadow_repository` does.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::branch::GitBranches;
use super::clean_tree::CleanTrees;
use super::commit::GitCommits;
use super::commit_history::CommitHistory;
use super::commit_notes::GitNotes;
use super::config_programs::RepositoryConfig;
use super::error::GitError;
use super::excluded_paths::ExcludedFolders;
use super::git_command::{GitCommand, GitProgram, last_output, path_from_bytes};
use super::git_settings::GitSettings;
use super::git_status::WorkTreeStatus;
use super::git_trees::GitTrees;
use super::index_update::UserIndex;
use super::tree_cache::TreeCache;
use super::unversioned_code::UnversionedCodeSources;
use super::work_sandbox::WorkSandbox;
use super::work_tree::{GitWorkTree, SharedIndex};
use crate::process::SandboxSpec;

/// The questions to git about a work tree, in the order of its answers.
const REV_PARSE_OPTIONS: [&str; 3] = ["--show-toplevel", "--absolute-git-dir", "--git-common-dir"];

/// A repository with a work tree.
#[derive(Debug, Clone)]
pub struct GitRepository {
    pub(super) git: GitProgram,
    /// The sandbox of commits with their hooks.
    pub(super) commit_sandbox: Option<SandboxSpec>,
    pub(super) excluded_folders: ExcludedFolders,
    pub(super) tree_cache: TreeCache,
    pub(super) last_index: SharedIndex,
}

/// How a folder relates to git.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one is made at a start and taken apart at once"
)]
pub enum RepositoryDiscovery {
    /// The folder is part of a work tree.
    Found(GitRepository),
    /// The folder is in no repository.
    NotARepository,
    /// The folder is in a repository, but not in a work tree: bare, or inside `.git`.
    NoWorkTree,
}

impl GitRepository {
    /// Finds the repository that a folder belongs to; linked work trees and submodules are repositories of
    /// their own.
    ///
    /// # Errors
    /// Git is missing, or refuses because another user owns the repository.
    pub async fn discover(
        folder: &Path,
        settings: GitSettings,
    ) -> Result<RepositoryDiscovery, GitError> {
        let ask = |args: &[&str]| GitCommand::new(&settings, folder, args).output();
        let question = [
            &["rev-parse", "--is-inside-work-tree"][..],
            &REV_PARSE_OPTIONS,
        ]
        .concat();
        let all = ask(&question).await?;
        if all.is_success()
            && let Some(places) = all.stdout.complete_bytes().and_then(parse_places)
        {
            return Self::from_paths(folder, places, settings).map(RepositoryDiscovery::Found);
        }
        // There is no work tree, or a path contains a line end: with one question per call every answer is
        // unambiguous.
        let inside = ask(&["rev-parse", "--is-inside-work-tree"]).await?;
        if !inside.is_success() {
            let output = last_output(&inside);
            if output.contains("not a git repository") {
                return Ok(RepositoryDiscovery::NotARepository);
            }
            return Err(GitError::Failed {
                command: "rev-parse".to_owned(),
                output,
            });
        }
        if inside.stdout.to_text().trim() != "true" {
            return Ok(RepositoryDiscovery::NoWorkTree);
        }
        let mut places = Vec::new();
        for question in REV_PARSE_OPTIONS {
            let mut answer = GitCommand::new(&settings, folder, &["rev-parse", question])
                .stdout_bytes()
                .await?;
            if answer.last() == Some(&b'\n') {
                answer.pop();
            }
            places.push(path_from_bytes(&answer));
        }
        let places = <[PathBuf; 3]>::try_from(places).map_err(|_| GitError::Unreadable {
            command: "rev-parse".to_owned(),
            what: "a path is missing".to_owned(),
        })?;
        Self::from_paths(folder, places, settings).map(RepositoryDiscovery::Found)
    }

    fn from_paths(
        folder: &Path,
        places: [PathBuf; 3],
        settings: GitSettings,
    ) -> Result<Self, GitError> {
        let real = |place: PathBuf| {
            // Relative answers are relative to the folder; real paths make comparisons safe.
            let path = folder.join(place);
            path.canonicalize().map_err(|source| GitError::File {
                verb: "read",
                path,
                source,
            })
        };
        let [root, git_dir, common_dir] = places;
        let git = GitProgram {
            root: real(root)?,
            git_dir: real(git_dir)?,
            common_dir: real(common_dir)?,
            settings,
            sandbox: WorkSandbox::Unavailable("the sandbox was not checked".to_owned()),
        };
        Ok(Self {
            git,
            commit_sandbox: None,
            excluded_folders: ExcludedFolders::default(),
            tree_cache: TreeCache::default(),
            last_index: SharedIndex::default(),
        })
    }

    /// Returns the same repository with another token: a run that is being stopped still has final work to
    /// do.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.git.settings.cancel = cancel;
        self
    }

    /// Returns the same repository; its commits and their hooks run in this sandbox.
    #[must_use]
    pub fn with_commit_sandbox(self, commits_held: Option<SandboxSpec>) -> Self {
        Self {
            commit_sandbox: commits_held,
            ..self
        }
    }

    /// Returns the same repository; its calls that read the work tree run in this sandbox.
    #[must_use]
    pub fn with_sandbox(mut self, held: SandboxSpec) -> Self {
        self.git.sandbox = WorkSandbox::Available(held);
        self
    }

    /// Returns the same repository with the reason why its calls have no sandbox.
    #[must_use]
    pub fn without_sandbox(mut self, why: &str) -> Self {
        self.git.sandbox = WorkSandbox::Unavailable(why.to_owned());
        self
    }

    /// Adds one more folder that belongs to the program: absolute below the real root, or relative to it. The
    /// root itself and a folder outside of it change nothing.
    #[must_use]
    pub fn with_excluded_folder(mut self, folder: &Path) -> Self {
        let below = folder.strip_prefix(&self.git.root).unwrap_or(folder);
        self.excluded_folders.add(below);
        self
    }

    /// Returns true if a path, relative to the root, belongs to the program.
    pub fn is_excluded(&self, path: &Path) -> bool {
        self.excluded_folders.contains(path)
    }

    /// Returns the work tree's real root.
    pub fn root(&self) -> &Path {
        &self.git.root
    }

    /// Returns git's folder of this work tree.
    pub fn git_dir(&self) -> &Path {
        &self.git.git_dir
    }

    /// Returns the git folder that all work trees of the repository share; it is [`Self::git_dir`] if there is only one.
    pub fn common_dir(&self) -> &Path {
        &self.git.common_dir
    }

    /// Returns the branches and HEAD.
    pub fn branches(&self) -> GitBranches<'_> {
        GitBranches { git: &self.git }
    }

    /// Returns the commits that are here.
    pub fn history(&self) -> CommitHistory<'_> {
        CommitHistory { git: &self.git }
    }

    /// Returns the notes of commits.
    pub fn notes(&self) -> GitNotes<'_> {
        GitNotes { git: &self.git }
    }

    /// Returns the trees that git stores.
    pub fn trees(&self) -> GitTrees<'_> {
        GitTrees {
            git: &self.git,
            cache: &self.tree_cache,
        }
    }

    /// Returns the work tree, which is read and written as a whole.
    pub fn work_tree(&self) -> GitWorkTree<'_> {
        GitWorkTree {
            git: &self.git,
            trees: self.trees(),
            excluded: &self.excluded_folders,
            last_index: &self.last_index,
        }
    }

    /// Returns the view that lists what differs from the last commit.
    pub fn status(&self) -> WorkTreeStatus<'_> {
        WorkTreeStatus {
            git: &self.git,
            trees: self.trees(),
            excluded: &self.excluded_folders,
        }
    }

    /// Returns the view that finds what git or a test command would run and no tree shows.
    pub fn unversioned_code(&self) -> UnversionedCodeSources<'_> {
        UnversionedCodeSources {
            git: &self.git,
            excluded: &self.excluded_folders,
        }
    }

    /// Returns the view that makes commits.
    pub fn commits(&self) -> GitCommits<'_> {
        GitCommits {
            git: &self.git,
            trees: self.trees(),
            excluded: &self.excluded_folders,
            sandbox: self.commit_sandbox.as_ref(),
        }
    }

    /// Returns the user's index.
    pub fn index(&self) -> UserIndex<'_> {
        UserIndex { git: &self.git }
    }

    /// Returns the view that lays down trees outside of the work tree.
    pub fn clean_trees(&self) -> CleanTrees<'_> {
        CleanTrees { git: &self.git }
    }

    pub fn config(&self) -> RepositoryConfig<'_> {
        RepositoryConfig { git: &self.git }
    }
}

/// Parses the paths from the combined answer; `None` where a line end in a path makes it ambiguous.
fn parse_places(answer: &[u8]) -> Option<[PathBuf; 3]> {
    let lines: Vec<&[u8]> = answer
        .strip_suffix(b"\n")?
        .split(|byte| *byte == b'\n')
        .collect();
    match lines[..] {
        [b"true", root, git_dir, common_dir] => {
            Some([root, git_dir, common_dir].map(path_from_bytes))
        }
        _ => None,
    }
}
