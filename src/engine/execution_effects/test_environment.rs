//! Sets up the environment of test runs: the sandbox, the network, and the user's decisions on access.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::config::AppConfig;
use crate::domain::event::Event;
use crate::domain::question::TestNetworkChoice;
use crate::domain::receipt::Receipt;
use crate::domain::test_command::TestCommand;
use crate::engine::run_context::RunContext;
use crate::engine::sandbox;
use crate::engine::test_runner::{self, TestSettings};
use crate::engine::warnings::warning_event;
use crate::process::ChildSpawner;

/// How much of a test run's output is parsed for counts, in bytes.
const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;

/// Access that tests may lack and that the user has not decided yet.
#[derive(Debug, Default)]
pub(super) struct UndecidedTestAccess {
    /// Whether the access to the machine's network is undecided.
    network: bool,
    sockets: Vec<PathBuf>,
}

impl UndecidedTestAccess {
    /// Returns what is undecided for sandboxed tests; tests without a sandbox lack nothing.
    pub(super) fn for_tests(run: &RunContext, settings: &TestSettings) -> Self {
        let id = &run.state().run;
        match settings.sandbox {
            Some(_) => Self {
                network: run.setup.decided_test_network(id).is_none(),
                sockets: run.setup.undecided_sockets(id),
            },
            None => Self::default(),
        }
    }

    /// Notes which undecided access the tests failed for.
    pub(super) fn note_missing_access(&self, receipt: &mut Receipt) {
        if !receipt.allows_next_step() {
            let output = &receipt.output_tail;
            receipt.lacks_socket = test_runner::missing_socket(output, &self.sockets);
            receipt.lacks_network =
                test_runner::missing_network_line(output).filter(|_| self.network);
        }
    }
}

/// Returns how the tests are run, with their sandbox.
pub(super) fn test_settings(run: &RunContext, test: Option<&TestCommand>) -> TestSettings {
    let (setup, state) = (&run.setup, run.state());
    let sandbox = setup.config.safety.contain_tests.then(|| {
        // The worktrees of children are below the cache folder, which tests may write.
        let worktrees = Some(setup.worktrees.folder()).filter(|folder| folder.is_dir());
        let line = test.map_or("", |test| test.command.as_str());
        sandbox::test_sandbox_spec(
            &setup.sandbox_support,
            &setup.root,
            run.journal.layout().workdir(),
            worktrees,
            &setup.command_reach(&state.run).with_command_paths(line),
        )
    });
    TestSettings {
        sandbox: sandbox.flatten(),
        ..unsandboxed_settings(&setup.config, &setup.spawner, state.run.as_str())
    }
}

/// Returns how tests are run, without a sandbox; `run` marks their processes.
pub(in crate::engine) fn unsandboxed_settings(
    config: &AppConfig,
    spawner: &ChildSpawner,
    run: &str,
) -> TestSettings {
    TestSettings {
        timeout: config.test.timeout,
        max_output_bytes: MAX_OUTPUT_BYTES,
        env: BTreeMap::new(),
        sets_ci: true,
        run: run.to_owned(),
        spawner: spawner.clone(),
        sandbox: None,
    }
}

/// Saves the user's decision on the network of tests. If that fails, the user gets a warning and is asked again.
pub(in crate::engine) fn save_test_network(
    run: &RunContext,
    network: TestNetworkChoice,
) -> Vec<Event> {
    match run.setup.save_test_network(&run.state().run, network) {
        Ok(()) => Vec::new(),
        Err(error) => vec![warning_event(
            "save your choice of the network for tests",
            error,
        )],
    }
}

/// Saves the user's decision on a socket that tests need. If that fails, the user gets a warning and is asked
/// again.
pub(in crate::engine) fn save_test_socket(
    run: &RunContext,
    path: &str,
    is_reached: bool,
) -> Vec<Event> {
    let id = &run.state().run;
    match run.setup.save_socket_decision(id, path, is_reached) {
        Ok(()) => Vec::new(),
        Err(error) => vec![warning_event("save your choice for a socket", error)],
    }
}
