//! Surveys branch, uncommitted files and test command before an execution, which starts only if the approved
//! terms still hold.

use crate::domain::bound_parts::{BoundKind, describe_binding_changes};
use crate::domain::event::Event;
use crate::domain::ids::Sha256;
use crate::domain::plan_change::PlanChange;
use crate::domain::plan_execution::StoppedStep;
use crate::domain::question::{CommitTarget, ExecutionTerms, LeftoverFiles};
use crate::engine::documents::detect_user_edits;
use crate::engine::git::{BranchChoice, GitError, GitHead, GitRepository, RunBranch, TreeId};
use crate::engine::run_context::RunContext;
use crate::engine::run_setup::BranchPolicy;
use crate::engine::warnings::failure_event;
use crate::text::slug::slugify;

use super::approval_check::BindingObserver;
use super::git_error_with_hint;
use super::test_commands::{TestCommands, find_test_commands};
use super::tree_audit::{changes_since_tree, path_to_event_text};

/// Collects what the user would approve with an execution. Edits of the user that are not recorded yet come first.
pub(in crate::engine) fn survey_repository(run: &mut RunContext) -> Vec<Event> {
    let user_edits = detect_user_edits(run);
    let Some(surveyor) = RepositorySurveyor::for_run(run) else {
        return vec![failure_event("inspect the repository", "there is no plan")];
    };
    run.spawn_event_task(async move {
        match surveyor.survey().await {
            Ok(terms) => Event::RepositorySurveyed { terms },
            Err(error) => refusal_event(git_error_with_hint(&error)),
        }
    });
    user_edits
}

/// Creates or enters the branch, if what the user approved is unchanged.
pub(in crate::engine) fn enter_execution(
    run: &mut RunContext,
    approved: ExecutionTerms,
) -> Vec<Event> {
    let user_edits = detect_user_edits(run);
    if !user_edits.is_empty() {
        // An edited plan is not what was approved; the run asks again before any branch is made.
        let reason = "the plan or the comments changed since the execution was approved";
        let refused = refusal_event(reason.to_owned());
        return user_edits.into_iter().chain([refused]).collect();
    }
    let Some(surveyor) = RepositorySurveyor::for_run(run) else {
        return vec![failure_event("start the execution", "there is no plan")];
    };
    run.spawn_event_task(async move {
        match surveyor.enter_if_unchanged(approved).await {
            Ok(event) => event,
            Err(error) => refusal_event(git_error_with_hint(&error)),
        }
    });
    Vec::new()
}

fn refusal_event(reason: String) -> Event {
    Event::ExecutionRefused { reason }
}

/// Everything that a survey of the repository needs.
struct RepositorySurveyor {
    git: Option<GitRepository>,
    branch_choice: BranchChoice,
    slug: String,
    plan_digest: Sha256,
    test_commands: TestCommands,
    commits_off: String,
    stopped_step: Option<StoppedStep>,
    /// Observes what else the approval binds; `None` where it binds nothing else.
    observer: Option<BindingObserver>,
    /// Which steps an earlier approval no longer covers.
    change: Option<PlanChange>,
}

impl RepositorySurveyor {
    /// Returns the surveyor of a run that has a plan.
    fn for_run(run: &RunContext) -> Option<Self> {
        let (setup, state) = (&run.setup, run.state());
        let plan = state.plan.as_ref()?;
        let goal = state.goal.as_ref().map(|goal| goal.title.as_str());
        Some(Self {
            git: run.commit_repository().cloned(),
            branch_choice: match setup.branch_policy {
                BranchPolicy::NewIfDefault => BranchChoice::Unsaid,
                BranchPolicy::Current => BranchChoice::Current,
                BranchPolicy::New => BranchChoice::New,
            },
            slug: slugify(goal.unwrap_or_default()),
            plan_digest: plan.plan.approval_sha256.clone(),
            test_commands: find_test_commands(run),
            commits_off: setup.commits_off_reason.clone().unwrap_or_default(),
            stopped_step: state.stopped_step.clone(),
            observer: BindingObserver::for_run(run),
            change: state.plan_change(),
        })
    }

    async fn survey(&self) -> Result<ExecutionTerms, GitError> {
        let Some(git) = &self.git else {
            let commits = CommitTarget::Off {
                reason: self.commits_off.clone(),
            };
            return self.build_terms(commits, Vec::new(), None).await;
        };
        let dirty: Vec<String> = git
            .status()
            .dirty_files()
            .await?
            .into_iter()
            .map(|change| path_to_event_text(&change.path))
            .collect();
        let left = self.find_leftover_files(git, &dirty).await;
        let commits = self.commit_target(git).await?;
        self.build_terms(commits, dirty, left).await
    }

    /// Returns the uncommitted files that a stopped step left; where this is unknown, all count as the
    /// user's.
    async fn find_leftover_files(
        &self,
        git: &GitRepository,
        dirty: &[String],
    ) -> Option<LeftoverFiles> {
        let stopped = self.stopped_step.as_ref().filter(|_| !dirty.is_empty())?;
        let before = TreeId(stopped.tree_before.clone());
        match changes_since_tree(git, &before).await {
            Ok((_, mut files)) => {
                files.retain(|file| dirty.contains(file));
                let step = stopped.n;
                (!files.is_empty()).then_some(LeftoverFiles { step, files })
            }
            Err(error) => {
                tracing::warn!(%error, "changes that the stopped step left");
                None
            }
        }
    }

    async fn build_terms(
        &self,
        commits: CommitTarget,
        dirty: Vec<String>,
        left: Option<LeftoverFiles>,
    ) -> Result<ExecutionTerms, GitError> {
        let binding = match &self.observer {
            Some(observer) => Some(observer.observe().await?),
            None => None,
        };
        Ok(ExecutionTerms {
            plan: self.plan_digest.clone(),
            test: self.test_commands.selected.clone(),
            other_test: self.test_commands.alternative.clone(),
            commits,
            dirty,
            left,
            binding,
            change: self.change.clone().map(Box::new),
        })
    }

    async fn commit_target(&self, git: &GitRepository) -> Result<CommitTarget, GitError> {
        let head = git.branches().head().await?;
        let default = git.branches().default_branch().await?;
        let from = head.branch_name().map(str::to_owned);
        let stays = match (head, self.branch_choice) {
            (GitHead::Branch { name, commit: None }, _)
            | (GitHead::Branch { name, .. }, BranchChoice::Current) => Some(name),
            (GitHead::Detached { .. }, _) | (GitHead::Branch { .. }, BranchChoice::New) => None,
            (GitHead::Branch { name, .. }, BranchChoice::Unsaid) => {
                Some(name).filter(|name| default.as_ref() != Some(name))
            }
        };
        Ok(match stays {
            Some(branch) => CommitTarget::Current { branch },
            None => CommitTarget::New {
                branch: git.branches().free_branch_name(&self.slug).await?,
                from,
            },
        })
    }

    /// Starts the execution only if the approved terms still hold.
    async fn enter_if_unchanged(&self, approved: ExecutionTerms) -> Result<Event, GitError> {
        let mut now = self.survey().await?;
        if now.test != approved.test && now.other_test == approved.test {
            now = now.with_other_test();
        }
        if now.test != approved.test {
            let reason = "the test command changed after you approved it; approve the plan again";
            return Ok(refusal_event(reason.to_owned()));
        }
        if !approved.commits.covers(&now.commits) {
            let reason = "the branch changed after you approved the plan; approve the plan again";
            return Ok(refusal_event(reason.to_owned()));
        }
        let bound = approved.binding.iter().zip(&now.binding);
        let mut changes: Vec<_> = bound
            .flat_map(|(approved, now)| approved.changes_to(now))
            .collect();
        changes.retain(|change| change.kind != BoundKind::Version);
        if !changes.is_empty() {
            let changes = describe_binding_changes(&changes);
            let reason = format!("what you approved has changed: {changes}; approve again");
            return Ok(refusal_event(reason));
        }
        let Some(git) = &self.git else {
            return Ok(Event::ExecutionEntered {
                base: None,
                terms: now,
            });
        };
        let head = git.branches().head().await?;
        let base = head.commit().map(|commit| commit.0.clone());
        let from = head.branch_name().map(str::to_owned);
        let commits = match git
            .branches()
            .enter_branch(self.branch_choice, &self.slug)
            .await?
        {
            RunBranch::Stayed(branch) => CommitTarget::Current { branch },
            RunBranch::Created(branch) => CommitTarget::New { branch, from },
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

    fn surveyor(command: &str) -> RepositorySurveyor {
        RepositorySurveyor {
            git: None,
            branch_choice: BranchChoice::Unsaid,
            slug: "a".to_owned(),
            plan_digest: Sha256::new("p"),
            test_commands: TestCommands {
                selected: Some(TestCommand {
                    command: command.to_owned(),
                    parts: Vec::new(),
                    origin: TestCommandOrigin {
                        source: TestCommandSource::Detected,
                        place: None,
                    },
                }),
                alternative: None,
            },
            commits_off: "there is no repository".to_owned(),
            stopped_step: None,
            observer: None,
            change: None,
        }
    }

    #[tokio::test]
    async fn only_the_test_command_that_was_approved_is_entered_with() {
        let approved = surveyor("cargo test").survey().await.unwrap();
        let entered = surveyor("cargo test")
            .enter_if_unchanged(approved.clone())
            .await
            .unwrap();
        assert!(
            matches!(&entered, Event::ExecutionEntered { terms, .. } if *terms == approved),
            "{entered:?}"
        );
        let refused = surveyor("npm test")
            .enter_if_unchanged(approved)
            .await
            .unwrap();
        assert!(
            matches!(&refused, Event::ExecutionRefused { reason } if reason.contains("the test command changed")),
            "{refused:?}"
        );
    }
}
