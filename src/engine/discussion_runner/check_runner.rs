//! Runs a command that would settle a question of a discussion, if the permission decision allows it.
//!
//! The command cannot write to the repository. A command that is neither proven to only read nor allowed by a
//! rule of the user is refused, because no question can be asked in the middle of a discussion. Does not
//! judge the output.

use std::collections::BTreeMap;
use std::time::Duration;

use super::secret_files;
use crate::domain::discussion::{CheckOrder, CheckOutcome, CheckRun, DiscussionEvent};
use crate::domain::ids::DiscussionId;
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::engine::discussion_runner::DiscussionRegistry;
use crate::engine::discussion_runner::apply_discussion_event;
use crate::engine::engine_error::EngineError;
use crate::engine::engine_input::EngineInput;
use crate::engine::read_target_resolver::with_read_paths;
use crate::engine::run_context::RunContext;
use crate::engine::subagents::SubagentTasks;
use crate::engine::test_runner::{self, TestCommandLine, TestRun, TestRunError, TestSettings};
use crate::engine::{agent_activity, sandbox};
use crate::permission::{
    AgentToolCall, DecisionContext, Mode, PermissionAction, PhaseAccess, SandboxReach, decide_call,
};
use crate::process::{SandboxSpec, SandboxSupport};
use crate::text::{clean_text, truncate};

/// The permission profile of a check: it reads, and does what the user allowed.
const CHECK_PROFILE: &str = "plan";
/// The maximum output that is read, in bytes.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// How many lines of the output are reported, from its beginning and its end.
const OUTPUT_LINES: (usize, usize) = (20, 60);

impl DiscussionRegistry {
    /// Asks for the permission decision on a command. The result is fed at once, or when the command ends.
    pub(super) fn start_check(
        &mut self,
        run: &mut RunContext,
        id: &DiscussionId,
        n: u32,
        round: u32,
        asked_by: Vec<String>,
        order: CheckOrder,
    ) -> Result<(), EngineError> {
        let began = DiscussionEvent::CheckBegan {
            order: order.clone(),
        };
        apply_discussion_event(run, id, began)?;
        let check = CheckRun {
            n,
            round,
            asked_by,
            order,
            end: CheckOutcome::Refused {
                reason: String::new(),
            },
            took_ms: 0,
        };
        match authorize_check(run, &check.order.command)? {
            Ok(()) => self.spawn_check(run, id, check),
            Err(reason) => {
                let end = CheckOutcome::Refused { reason };
                let news = DiscussionEvent::Checked {
                    run: CheckRun { end, ..check },
                };
                apply_discussion_event(run, id, news)?;
            }
        }
        Ok(())
    }

    fn spawn_check(&mut self, run: &mut RunContext, id: &DiscussionId, check: CheckRun) {
        let Some(running) = self.running.get(id) else {
            return;
        };
        let cancel = running.cancel.clone();
        let timeout = run
            .state()
            .discussion(id)
            .map_or(Duration::ZERO, |discussion| {
                Duration::from_millis(discussion.order.terms.timeout_ms)
            });
        let root = run.setup.root.clone();
        let settings = TestSettings {
            timeout: timeout.min(run.setup.config.test.timeout),
            max_output_bytes: MAX_OUTPUT_BYTES,
            env: BTreeMap::new(),
            sets_ci: true,
            run: run.state().run.as_str().to_owned(),
            spawner: run.setup.spawner.clone(),
            sandbox: None,
        };
        let sandbox = build_check_sandbox(run);
        let id = id.clone();
        run.spawn_input_task(async move {
            let done = match sandbox.await {
                Err(reason) => CheckRun {
                    end: CheckOutcome::Failed { reason },
                    ..check
                },
                Ok(sandbox) => {
                    let settings = TestSettings {
                        sandbox,
                        ..settings
                    };
                    let command = TestCommandLine::Shell(check.order.command.clone());
                    let test = TestRun {
                        command: &command,
                        root: &root,
                        repository: None,
                        settings: &settings,
                        clean: &clean_text,
                    };
                    let ran = test_runner::run_tests(test, &cancel).await;
                    record_check_result(check, ran)
                }
            };
            EngineInput::DiscussionCheckDone(id, done)
        });
    }

    /// Records the result of a check and continues the discussion.
    ///
    /// # Errors
    /// Writing the record of the run failed.
    pub(in crate::engine) fn on_check_finished(
        &mut self,
        run: &mut RunContext,
        subagents: &mut SubagentTasks,
        id: &DiscussionId,
        check: CheckRun,
    ) -> Result<(), EngineError> {
        apply_discussion_event(run, id, DiscussionEvent::Checked { run: check })?;
        self.advance(run, subagents, id)
    }
}

/// Builds the sandbox of a check; `None` where no sandbox is available, an error where it cannot hide everything that
/// the check must not read.
fn build_check_sandbox(
    run: &RunContext,
) -> impl Future<Output = Result<Option<SandboxSpec>, String>> + Send + use<> {
    let support = can_sandbox_checks(run).then(|| run.setup.sandbox_support.clone());
    let (root, layout) = (run.setup.root.clone(), run.journal.layout().clone());
    let rules = run.setup.permissions.rules(CHECK_PROFILE);
    let reach = run.setup.command_reach(&run.state().run);
    let work = move || {
        let Some(support) = support else {
            return Ok(None);
        };
        let workdir = layout.workdir();
        let unread = secret_files::list_secret_files(&root, workdir, &rules)?;
        let shown = layout.document_paths();
        Ok(sandbox::check_sandbox_spec(
            &support, &root, workdir, &shown, unread, &reach,
        ))
    };
    async {
        let worked = tokio::task::spawn_blocking(work).await;
        worked.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Returns `Ok` if a command may run as a check, else the reason why not.
fn authorize_check(run: &mut RunContext, line: &str) -> Result<Result<(), String>, EngineError> {
    let approvals = run.load_stored_approvals()?;
    let holds = can_sandbox_checks(run);
    let call = AgentToolCall::Command {
        line: line.to_owned(),
        cwd: run.setup.root.clone(),
        reach: if holds {
            SandboxReach::Contained
        } else {
            SandboxReach::Unconfined
        },
    };
    // Where the sandbox prevents writes, commands that the user allowed may run, besides those that are
    // proven to read.
    let access = if holds {
        PhaseAccess::Execute
    } else {
        PhaseAccess::BeforeExecute
    };
    let context = DecisionContext {
        // No mode relaxes this decision: the user chose the mode for the turns of roles.
        mode: match run.state().mode {
            Mode::Plan => Mode::Plan,
            Mode::Default | Mode::AutoEdit | Mode::Yolo => Mode::Default,
        },
        approvals,
        lineage: run.setup.permissions.child_lineage(),
        ..run.base_decision_context(CHECK_PROFILE, access, &run.setup.root)
    };
    let decision = decide_call(&call, &with_read_paths(&call, context));
    let why = || format!("{} ({})", decision.reason.reason, decision.reason.rule);
    Ok(match decision.action {
        // A command that only reads could still read files that no agent may read, and what the other
        // participants said.
        PermissionAction::Allow if !holds && decision.reason.source().is_default() => Err(
            "no sandbox here hides the files it must not read (hint: install bubblewrap, and leave safety.contain_tests on)"
                .to_owned(),
        ),
        PermissionAction::Allow => Ok(()),
        PermissionAction::Deny => Err(agent_activity::clean_line(&why())),
        PermissionAction::Ask => Err(agent_activity::clean_line(&format!(
            "only what is proven to read, or allowed by a rule, runs as a check: {}",
            why()
        ))),
    })
}

fn can_sandbox_checks(run: &RunContext) -> bool {
    matches!(run.setup.sandbox_support, SandboxSupport::Available(_))
        && run.setup.config.safety.contain_tests
}

fn record_check_result(run: CheckRun, ran: Result<Receipt, TestRunError>) -> CheckRun {
    let failed = |reason: String| CheckOutcome::Failed { reason };
    let (end, took_ms) = match ran {
        Err(error) => (failed(agent_activity::clean_line(&error.to_string())), 0),
        Ok(receipt) => {
            let took_ms = receipt.duration_ms;
            let (first, last) = OUTPUT_LINES;
            let end = match receipt.outcome {
                TestOutcome::NotStarted(why) => failed(agent_activity::clean_line(&why)),
                TestOutcome::TimedOut => failed("it took too long and was ended".to_owned()),
                _it_ran => CheckOutcome::Ran {
                    exit_code: receipt.exit_code,
                    output: truncate::to_lines(&receipt.output_tail, first, last),
                },
            };
            (end, took_ms)
        }
    };
    CheckRun {
        end,
        took_ms,
        ..run
    }
}
