//! Tests that a new adapter works everywhere through its traits alone: one that no code here has heard of.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::agent_tools::supports_tools;
use super::approvals::ApprovalTestRun;
use super::cli_probe::{CliProbeResult, missing_login_command, probe_cli};
use super::named_adapter::NamedAdapter;
use super::sandbox::describe_adapter_sandbox;
use super::sandbox_escapes::{find_sandbox_escapes, sandbox_escape_notice};
use crate::adapter::cli_capabilities::{
    CliCapabilities, CliProbe, CliVersion, LoginProbe, VersionProbe,
};
use crate::adapter::{
    Adapter, AdapterCommand, AdapterEntry, AdapterOutput, AdapterTraits, AgentSandbox, CallReports,
    CliExit, CliProcessLifetime, EscapeRuleFiles, LaunchSpec, SandboxDescription,
    SandboxEscapeRule, SandboxProvider, SessionSpec, ToolCallerId, ToolSupport, TurnSpec,
};
use crate::domain::ids::SessionId;
use crate::domain::turn::Role;
use crate::permission::PermissionAction;
use crate::permission::profile_registry::FileReadMethod;
use crate::process::{ChildSpawner, SandboxSupport};

static TRAITS: AdapterTraits = AdapterTraits {
    cli_name: "aurora",
    model_vendor: Some("Borealis"),
    tools: ToolSupport::Mcp(ToolCallerId::Optional),
    removed_tools: &["Fly"],
    file_reads: FileReadMethod::CommandsOnly,
    call_reports: CallReports::All,
    sandbox: AgentSandbox::Cli {
        description: SandboxDescription {
            by_kernel: "aurora's own sandbox",
            by_protocol: "flights",
            summary: "flies only during Execute",
        },
        escape_rules: Some(EscapeRuleFiles {
            folder_variable: "AURORA_HOME",
            default_path_in_home: ".aurora",
            rules_folder: "limits",
            extension: "txt",
            parse: parse_escape_rules,
        }),
    },
    bundled_bubblewrap: None,
    hook_denial: None,
    probe: CliProbe::Version(VersionProbe {
        args: &["1.2.3"],
        parse_version: |output| CliVersion::parse(output.trim().strip_prefix("aurora ")?),
        oldest: CliVersion::new(1, 2, 0),
        install: "install aurora",
        install_note: Some("in the north"),
        capabilities: CliCapabilities::with_all_features,
        login: LoginProbe {
            args: &["nobody"],
            is_logged_out: |output| output.contains("nobody"),
            command: "aurora login",
        },
    }),
    reported_variables: &[],
    rule_files: &[],
    parse_tool_output: |_, _| None,
    command_output: |output| output,
};

fn parse_escape_rules(text: &str) -> Vec<SandboxEscapeRule> {
    let rule = |(at, word): (usize, &str)| SandboxEscapeRule {
        line: at + 1,
        pattern_words: vec![word.to_owned()],
        first_words: vec![word.to_owned()],
    };
    text.lines().enumerate().map(rule).collect()
}

#[derive(Default)]
struct ExampleAdapter;

impl Adapter for ExampleAdapter {
    fn traits(&self) -> &'static AdapterTraits {
        &TRAITS
    }

    fn prepare_launch(&mut self, session: &SessionSpec, _turn: &TurnSpec) -> LaunchSpec {
        LaunchSpec {
            program: session.cli.program.clone(),
            args: Vec::new(),
            env: session.cli.env.clone(),
            env_remove: Vec::new(),
            cwd: session.cwd.clone(),
            lifetime: CliProcessLifetime::Turn,
            sandbox: SandboxProvider::Cli,
        }
    }

    fn can_serve(&self, _turn: &TurnSpec) -> bool {
        true
    }

    fn on_command(&mut self, _order: AdapterCommand) -> Vec<AdapterOutput> {
        Vec::new()
    }

    fn on_stdout_line(&mut self, _line: &str) -> Vec<AdapterOutput> {
        Vec::new()
    }

    fn on_exit(&mut self, _exit: &CliExit) -> Vec<AdapterOutput> {
        Vec::new()
    }
}

/// Returns the new adapter under this name; its program prints `aurora` and its arguments.
fn example(name: &str, run: &ApprovalTestRun) -> NamedAdapter {
    let mut settings = run.engine.run.setup.config.adapters["codex"].clone();
    settings.program = "echo".to_owned();
    settings.args = vec!["aurora".to_owned()];
    NamedAdapter {
        entry: AdapterEntry::for_type::<ExampleAdapter>(),
        ..NamedAdapter::new(name.to_owned(), settings)
    }
}

/// Creates a run whose planner, played by the new adapter, writes a plan that claude reviews.
fn example_run() -> ApprovalTestRun {
    let reviewer = (SessionId::new("ses_b"), "b".to_owned());
    let mut run = ApprovalTestRun::planning(Some(reviewer));
    let planner = example("a", &run);
    let claude = run.engine.run.setup.config.adapters["claude"].clone();
    let setup = Arc::get_mut(&mut run.engine.run.setup).unwrap();
    setup.adapters.insert(Role::Planner, planner);
    let reviewer = NamedAdapter::new("b".to_owned(), claude);
    setup.adapters.insert(Role::Reviewer, reviewer);
    run
}

#[test]
fn its_agent_has_tools_and_is_told_of_them_and_of_the_other_vendor() {
    let run = example_run();
    assert!(supports_tools(&run.engine.run, Role::Planner));
    let order = run.engine.state().running.clone().unwrap().order;
    let prompt = run.engine.preview_prompt(&order).unwrap();
    assert!(
        prompt.contains("tools of the server `agent_collab`"),
        "{prompt}"
    );
    assert!(prompt.contains("a reviewer from another vendor judges it"));
    let adapter = run.engine.run.role_adapter(Role::Planner).unwrap();
    assert_eq!(adapter.new_adapter().traits().removed_tools, ["Fly"]);
}

#[test]
fn a_role_at_a_usage_limit_moves_to_it() {
    let run = example_run();
    let other = run.engine.run.failover_adapter(Role::Reviewer);
    assert_eq!(other.as_deref(), Some("a"));
}

#[test]
fn its_sandbox_is_described_and_the_ways_out_of_it_are_found() {
    let run = example_run();
    let support = SandboxSupport::Unavailable("no bwrap".to_owned());
    let config = &run.engine.run.setup.config;
    let told = describe_adapter_sandbox(&support, config, &TRAITS);
    assert_eq!(
        told,
        ("aurora's own sandbox".to_owned(), "flights".to_owned())
    );
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("limits")).unwrap();
    fs::write(home.path().join("limits/a.txt"), "git\nls\n").unwrap();
    let mut adapter = example("a", &run);
    let variable = ("AURORA_HOME".to_owned(), home.path().display().to_string());
    adapter.settings.env.extend([variable]);
    let notice = sandbox_escape_notice(TRAITS.cli_name, &find_sandbox_escapes(&adapter)).unwrap();
    assert!(
        notice.starts_with("aurora's own rules let commands leave its sandbox"),
        "{notice}"
    );
    assert!(notice.contains("a.txt:2 `ls`"), "{notice}");
}

#[test]
fn its_read_only_agents_run_the_commands_that_read() {
    let run = example_run();
    let permissions = &run.engine.run.setup.permissions;
    let allows = |reads| {
        let rules = permissions.rules_for_reading("explore", reads);
        let mut rules = rules
            .rules()
            .iter()
            .filter(|rule| rule.permission == "bash");
        rules.any(|rule| rule.action == PermissionAction::Allow)
    };
    assert!(allows(TRAITS.file_reads) && !allows(FileReadMethod::ReadTools));
}

#[tokio::test]
async fn its_program_is_probed() {
    let run = example_run();
    let (children, cwd) = (ChildSpawner::default(), Path::new("/"));
    let mut adapter = example("a", &run);
    let found = probe_cli(&children, &adapter, cwd).await;
    let version = CliVersion::new(1, 2, 3);
    assert_eq!(
        found,
        CliProbeResult::Ready(CliCapabilities::with_all_features(version))
    );
    let login = missing_login_command(&children, &adapter, cwd).await;
    assert_eq!(login, Some("aurora login"));
    adapter.settings.args = vec!["corona".to_owned()];
    let CliProbeResult::Failed { problem, hint } = probe_cli(&children, &adapter, cwd).await else {
        panic!("another program is not aurora");
    };
    assert_eq!(problem, "echo did not print its version: corona 1.2.3");
    assert!(
        hint.contains("adapters.aurora.program") && hint.ends_with("; in the north"),
        "{hint}"
    );
}
