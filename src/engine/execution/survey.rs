//! Looks at branch, dirty files and test command before an execution, and enters it only on the approved terms.

use crate::domain::event::Event;
use crate::domain::ids::Sha256;
use crate::domain::plan_execution::StoppedStep;
use crate::domain::question::{CommitTarget, ExecutionTerms, LeftoverFiles};
use crate::engine::git::{BranchChoice, Entered, GitError, Head, Repository, TreeId};

use super::looks::{changed_since, to_text};
use super::test_commands::TestCommands;

/// Everything that a look at the repository needs.
pub(super) struct Surveyor {
    pub(super) git: Option<Repository>,
    pub(super) choice: BranchChoice,
    pub(super) slug: String,
    pub(super) plan: Sha256,
    pub(super) tests: TestCommands,
    pub(super) commits_off: String,
    pub(super) stopped: Option<StoppedStep>,
}

impl Surveyor {
    pub(super) async fn look(&self) -> Result<ExecutionTerms, GitError> {
        let Some(git) = &self.git else {
            let commits = CommitTarget::Off {
                reason: self.commits_off.clone(),
            };
            return Ok(self.terms(commits, Vec::new(), None));
        };
        let dirty: Vec<String> = git
            .dirty()
            .await?
            .into_iter()
            .map(|change| to_text(&change.path))
            .collect();
        let left = self.left(git, &dirty).await;
        Ok(self.terms(self.commit_terms(git).await?, dirty, left))
    }

    /// Which of the uncommitted files a stopped step left; where it cannot be told, all count as the user's.
    async fn left(&self, git: &Repository, dirty: &[String]) -> Option<LeftoverFiles> {
        let stopped = self.stopped.as_ref().filter(|_| !dirty.is_empty())?;
        let before = TreeId(stopped.tree_before.clone());
        match changed_since(git, &before).await {
            Ok((_, mut files)) => {
                files.retain(|file| dirty.contains(file));
                let step = stopped.n;
                (!files.is_empty()).then_some(LeftoverFiles { step, files })
            }
            Err(error) => {
                tracing::warn!(%error, "what the stopped step left");
                None
            }
        }
    }

    fn terms(
        &self,
        commits: CommitTarget,
        dirty: Vec<String>,
        left: Option<LeftoverFiles>,
    ) -> ExecutionTerms {
        ExecutionTerms {
            plan: self.plan.clone(),
            test: self.tests.runs.clone(),
            other_test: self.tests.other.clone(),
            commits,
            dirty,
            left,
        }
    }

    async fn commit_terms(&self, git: &Repository) -> Result<CommitTarget, GitError> {
        let head = git.head().await?;
        let default = git.default_branch().await?;
        let stays = match (head, self.choice) {
            (Head::Branch { name, commit: None }, _)
            | (Head::Branch { name, .. }, BranchChoice::Current) => Some(name),
            (Head::Detached { .. }, _) | (Head::Branch { .. }, BranchChoice::New) => None,
            (Head::Branch { name, .. }, BranchChoice::Unsaid) => {
                Some(name).filter(|name| default.as_ref() != Some(name))
            }
        };
        Ok(match stays {
            Some(branch) => CommitTarget::Current { branch },
            None => CommitTarget::New {
                branch: git.free_branch_name(&self.slug).await?,
            },
        })
    }

    /// Enters the execution only on the terms that were approved.
    pub(super) async fn enter(&self, approved: ExecutionTerms) -> Result<Event, GitError> {
        let mut now = self.look().await?;
        if now.test != approved.test && now.other_test == approved.test {
            now = now.with_other_test();
        }
        if now.test != approved.test {
            let reason =
                "the test command changed since it was approved; look at it and approve again";
            return Ok(Event::ExecutionRefused {
                reason: reason.to_owned(),
            });
        }
        if now.commits != approved.commits {
            let reason = "the branch changed since it was approved; look at it and approve again";
            return Ok(Event::ExecutionRefused {
                reason: reason.to_owned(),
            });
        }
        let Some(git) = &self.git else {
            return Ok(Event::ExecutionEntered {
                base: None,
                terms: now,
            });
        };
        let base = git.head().await?.commit().map(|commit| commit.0.clone());
        let commits = match git.enter_branch(self.choice, &self.slug).await? {
            Entered::Stayed(branch) => CommitTarget::Current { branch },
            Entered::Created(branch) => CommitTarget::New { branch },
        };
        Ok(Event::ExecutionEntered {
            base,
            terms: ExecutionTerms { commits, ..now },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test_command::{TestCommand, TestCommandOrigin, TestCommandSource};

    fn surveyor(command: &str) -> Surveyor {
        Surveyor {
            git: None,
            choice: BranchChoice::Unsaid,
            slug: "a".to_owned(),
            plan: Sha256::new("p"),
            tests: TestCommands {
                runs: Some(TestCommand {
                    command: command.to_owned(),
                    origin: TestCommandOrigin {
                        source: TestCommandSource::Detected,
                        place: None,
                    },
                }),
                other: None,
            },
            commits_off: "there is no repository".to_owned(),
            stopped: None,
        }
    }

    #[tokio::test]
    async fn only_the_test_command_that_was_approved_is_entered_with() {
        let approved = surveyor("cargo test").look().await.unwrap();
        let entered = surveyor("cargo test")
            .enter(approved.clone())
            .await
            .unwrap();
        assert!(
            matches!(&entered, Event::ExecutionEntered { terms, .. } if *terms == approved),
            "{entered:?}"
        );
        let refused = surveyor("npm test").enter(approved).await.unwrap();
        assert!(
            matches!(&refused, Event::ExecutionRefused { reason } if reason.contains("the test command changed")),
            "{refused:?}"
        );
    }
}
