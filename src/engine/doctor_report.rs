//! Checks what a run depends on: configuration, CLIs, git, sandboxes, environment.
//!
//! It runs each CLI with `--version`, asks those of the roles whether the user is logged in, and starts nothing else; it
//! calls no model. Environment variables are reported only as set or not set.

mod log_report;
mod test_command_report;
mod writable_folders;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use strum::IntoEnumIterator;

use super::cli_probe::{CliProbeResult, missing_login_command, probe_cli};
use super::git::GitRepository;
use super::named_adapter::NamedAdapter;
use super::run_context::RunContext;
use super::sandbox;
use super::sandbox_escapes::{self, SandboxEscape};
use crate::adapter::adapter_entry;
use crate::config::AppConfig;
use crate::domain::adapter_kind::AdapterKind;
use crate::process::{ChildSpawner, SandboxSupport};
use crate::text::{clean_text, pluralize};

pub use log_report::OTHER_FILE_HINT;
pub use writable_folders::{FolderCheck, WriteTrial};

/// Variables that change how this program and every CLI behave; their values are never shown.
const REPORTED_VARIABLES: [&str; 3] = ["HTTPS_PROXY", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];

/// The inputs of a doctor report.
#[derive(Debug, Clone)]
pub struct DoctorInput {
    pub root: PathBuf,
    /// The repository, if there is one; otherwise the reason why git cannot be used.
    pub repository: Result<Option<GitRepository>, GitProblem>,
    /// The folders to test by writing; none while a run is active, because the run writes there.
    pub folders: Vec<FolderCheck>,
    pub config: AppConfig,
    /// The origin of each configuration value, as in `config show --json`.
    pub origins: Value,
    /// The sandboxes that are available on this machine.
    pub sandbox_support: SandboxSupport,
    pub spawner: ChildSpawner,
}

/// The reason why git cannot be used, and what the user should do.
#[derive(Debug, Clone)]
pub struct GitProblem {
    pub problem: String,
    /// What the user should do.
    pub hint: String,
}

/// The result as one cleaned JSON object. `ok` says whether a run could start.
#[derive(Debug, Clone, PartialEq)]
pub struct DoctorReport(pub Value);

/// Checks what a run depends on.
pub(super) fn build_run_report(
    run: &RunContext,
) -> impl Future<Output = DoctorReport> + Send + use<> {
    let setup = Arc::clone(&run.setup);
    let repository = run.commit_repository().cloned();
    async move {
        let input = DoctorInput {
            root: setup.root.clone(),
            repository: Ok(repository),
            folders: Vec::new(),
            config: setup.config.clone(),
            origins: setup.origins.clone(),
            sandbox_support: setup.sandbox_support.clone(),
            spawner: setup.spawner.clone(),
        };
        build_report(&input).await
    }
}

/// Runs all checks and returns the report.
pub async fn build_report(input: &DoctorInput) -> DoctorReport {
    let git = match &input.repository {
        Ok(repository) => git_report(repository.as_ref()).await,
        Err(GitProblem { problem, hint }) => {
            json!({ "ok": false, "problem": problem, "hint": hint })
        }
    };
    let folders: Vec<Value> = input
        .folders
        .iter()
        .map(writable_folders::check_folder)
        .collect();
    let is_ok = |it: &Value| it["ok"] == json!(true);
    let adapters = adapters_report(input).await;
    let log = log_report::log_report(input);
    let is_well = is_ok(&git)
        && is_ok(&log)
        && folders.iter().all(is_ok)
        && adapters
            .iter()
            .all(|adapter| adapter["needed"] == json!(false) || is_ok(adapter));
    let environment: Map<String, Value> = AdapterKind::iter()
        .flat_map(|kind| adapter_entry(kind).traits.reported_variables)
        .chain(&REPORTED_VARIABLES)
        .map(|name| {
            let word = match std::env::var_os(name) {
                Some(_) => "[SET]",
                None => "[NOT SET]",
            };
            ((*name).to_owned(), json!(word))
        })
        .collect();
    DoctorReport(json!({
        "ok": is_well,
        "version": env!("CARGO_PKG_VERSION"),
        "root": input.root.to_string_lossy(),
        "trust": input.origins["trust"],
        "instructions": input.origins["instructions"],
        "git": git,
        "folders": folders,
        "log": log,
        "adapters": adapters,
        "tests": test_command_report::tests_report(input),
        "configuration": config_layers_report(&input.origins),
        "discuss": discussion_report(input),
        "notices": input.origins["notices"],
        "environment": environment,
    }))
}

/// Lists the configuration layers that set values: their files, and how many values of each are in force.
fn config_layers_report(origins: &Value) -> Value {
    let mut layers: Map<String, Value> = Map::new();
    for value in origins["values"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(_, value)| value)
    {
        let Some(name) = value["layer"].as_str() else {
            continue;
        };
        let layer = layers
            .entry(name)
            .or_insert_with(|| json!({ "values": 0, "from": [] }));
        layer["values"] = json!(layer["values"].as_u64().unwrap_or(0) + 1);
        let from = [&value["file"], &value["flag"]]
            .into_iter()
            .find(|from| from.is_string());
        if let (Some(from), Some(known)) = (from, layer["from"].as_array_mut())
            && !known.contains(from)
        {
            known.push(from.clone());
        }
    }
    Value::Object(layers)
}

/// Returns the discussion settings, each with its origin, and what follows from the budget.
fn discussion_report(input: &DoctorInput) -> Value {
    let values = input.origins["values"].as_object();
    let own = values
        .into_iter()
        .flatten()
        .filter(|(path, _)| path.starts_with("discuss."));
    let own: Map<String, Value> = own
        .map(|(path, value)| (path.clone(), value.clone()))
        .collect();
    json!({
        "values": own,
        "presets": input.config.discuss.presets.keys().collect::<Vec<_>>(),
        "derived": super::discussion_runner::preview_budgets(&input.config),
    })
}

async fn git_report(repository: Option<&GitRepository>) -> Value {
    let Some(repository) = repository else {
        return json!({ "ok": true, "note": "no git repository here, commits are off" });
    };
    match repository.config().commit_identity().await {
        Ok(Ok(identity)) => {
            json!({ "ok": true, "note": format!("commits as {} <{}>", identity.author.name, identity.author.email) })
        }
        Ok(Err(missing)) => {
            json!({ "ok": false, "problem": "git has no name and email for commits", "hint": missing.hint() })
        }
        Err(error) => json!({ "ok": false, "problem": error.to_string(), "hint": error.hint() }),
    }
}

async fn adapters_report(input: &DoctorInput) -> Vec<Value> {
    let config = &input.config;
    let mut found = Vec::new();
    for (name, settings) in &config.adapters {
        let needed = *name == config.roles.planner || Some(name) == config.roles.reviewer.as_ref();
        let adapter = NamedAdapter::new(name.clone(), settings.clone());
        let (by_kernel, by_protocol) =
            sandbox::describe_adapter_sandbox(&input.sandbox_support, config, adapter.traits());
        let mut entry = json!({
            "name": name, "kind": settings.kind.as_str(), "program": settings.program, "needed": needed,
            "held": { "kernel": by_kernel, "protocol_only": by_protocol },
            "let_out": sandbox_escape_lines(&adapter),
        });
        let probed = match probe_cli(&input.spawner, &adapter, &input.root).await {
            CliProbeResult::Ready(capabilities) => {
                // A CLI that no role uses needs no login.
                let login = if needed {
                    missing_login_command(&input.spawner, &adapter, &input.root).await
                } else {
                    None
                };
                json!({ "ok": true, "capabilities": capabilities, "missing_login": login })
            }
            CliProbeResult::UnknownVersion => {
                json!({ "ok": true, "note": "unknown version" })
            }
            CliProbeResult::Failed { problem, hint } => {
                json!({ "ok": false, "problem": problem, "hint": hint })
            }
        };
        if let (Value::Object(entry), Value::Object(probed)) = (&mut entry, probed) {
            entry.extend(probed);
        }
        found.push(entry);
    }
    found
}

/// Lists the rules that let commands leave the CLI's own sandbox.
fn sandbox_escape_lines(adapter: &NamedAdapter) -> Vec<String> {
    let ways_out = sandbox_escapes::find_sandbox_escapes(adapter);
    ways_out.iter().map(SandboxEscape::describe).collect()
}

impl DoctorReport {
    /// Formats the report as cleaned text, one line for each fact.
    pub fn to_text(&self) -> String {
        clean_text(&report_to_text(&self.0))
    }
}

fn report_to_text(report: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = vec![
        format!("agent-collab {}", text(&report["version"])),
        format!(
            "repository   {} ({})",
            text(&report["root"]),
            text(&report["trust"])
        ),
        report_line("git", &report["git"]),
    ];
    if let Some(instructions) = report["instructions"].as_str() {
        lines.push(format!("project    {instructions}"));
    }
    for folder in report["folders"].as_array().into_iter().flatten() {
        lines.push(report_line(&text(&folder["what"]), folder));
    }
    lines.push(report_line("the program's own log", &report["log"]));
    let prompts = report["log"]["prompts"].as_str();
    lines.extend(prompts.map(|warning| format!("WARNING    {warning}")));
    for adapter in report["adapters"].as_array().into_iter().flatten() {
        let name = text(&adapter["name"]);
        let used = if adapter["needed"] == json!(true) {
            ""
        } else {
            " (not used by a role)"
        };
        lines.push(report_line(&format!("{name}{used}"), adapter));
        lines.extend(adapter["missing_login"].as_str().map(|command| {
            format!(
                "WARNING    you are not logged in to {name}: run `{command}`. Not needed if you configured your own provider."
            )
        }));
        let sandbox = &adapter["held"];
        lines.push(format!("           sandbox: {}", text(&sandbox["kernel"])));
        lines.push(format!(
            "           checked by protocol only: {}",
            text(&sandbox["protocol_only"])
        ));
        for rule in adapter["let_out"].as_array().into_iter().flatten() {
            let rule = text(rule);
            lines.push(format!(
                "WARNING    {name}'s own rules let commands leave its sandbox without asking: {rule}"
            ));
        }
    }
    lines.extend(test_lines(&report["tests"]));
    lines.extend(config_lines(&report["configuration"]));
    lines.extend(discussion_lines(&report["discuss"]));
    for notice in report["notices"].as_array().into_iter().flatten() {
        lines.push(format!("notice     {}", text(notice)));
    }
    for (name, state) in report["environment"].as_object().into_iter().flatten() {
        lines.push(format!("{:<9}  {name}", text(state)));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Returns the test command with what it proves, and its sandbox.
fn test_lines(tests: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (command, proof) = (tests["command"].as_str(), text(&tests["proof"]));
    let mut lines = match command {
        Some(command) => vec![
            format!("tests      {command}"),
            format!("           {proof}"),
        ],
        None => vec![format!("tests      {proof}")],
    };
    let sandbox = text(&tests["held"]["kernel"]);
    lines.push(format!("           sandbox: {sandbox}"));
    lines
}

/// Returns the origins of the configuration values, one line for each layer.
fn config_lines(layers: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (layer, summary) in layers.as_object().into_iter().flatten() {
        let from = summary["from"].as_array().into_iter().flatten();
        let from: Vec<&str> = from.filter_map(Value::as_str).collect();
        let from = if from.is_empty() {
            String::new()
        } else {
            format!(" from {}", from.join(", "))
        };
        let n_values = summary["values"].as_u64().unwrap_or(0);
        let n_values = usize::try_from(n_values).unwrap_or(usize::MAX);
        lines.push(format!(
            "settings   {layer}: {}{from}",
            pluralize(n_values, "value")
        ));
    }
    lines
}

/// Returns the discussion settings as lines.
fn discussion_lines(discuss: &Value) -> Vec<String> {
    let value = |key: &str| discuss["values"][format!("discuss.{key}")]["value"].to_string();
    let mut lines = vec![format!(
        "discuss    {}, at most {} rounds, {} at a time, {} per answer, {} in total",
        value("mode"),
        value("rounds"),
        value("concurrency"),
        value("timeout"),
        value("deadline")
    )];
    for (adapter, budget) in discuss["derived"].as_object().into_iter().flatten() {
        let budget = super::discussion_runner::describe_budget(budget);
        lines.push(format!("           {adapter}: {budget}"));
    }
    lines
}

fn report_line(name: &str, value: &Value) -> String {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    if value["ok"] == json!(true) {
        let version = value["capabilities"]["version"]
            .as_str()
            .map(|version| format!("version {version}"));
        return format!(
            "ok         {name}: {}",
            version.unwrap_or_else(|| text("note"))
        );
    }
    format!(
        "MISSING    {name}: {}\n           hint: {}",
        text("problem"),
        text("hint")
    )
}
