//! `agent-collab doctor`: looks whether everything a run needs is there, and says what to do about what is not.
//!
//! Runs each CLI once with `--version`; calls no model. Environment variables are told only as set or not.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::app::start::{Refusal, find_root, load_config};
use crate::config::Loaded;
use crate::config::show::trust_word;
use crate::config::types::AdapterSettings;
use crate::engine::codex_rules::{self, WayOut};
use crate::engine::containing;
use crate::engine::git::{GitSettings, Repository};
use crate::engine::probe::{Probed, probe};
use crate::engine::setup::NamedAdapter;
use crate::process::{Children, Kernel};
use crate::text::{clean, clean_json_line};

use super::ChoiceArgs;

/// Variables that change how the CLIs behave; their values are never shown.
const VARIABLES: [&str; 12] = [
    "OPENAI_API_KEY",
    "CODEX_API_KEY",
    "CODEX_HOME",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "HTTPS_PROXY",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// Arguments of `agent-collab doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Prints one JSON object
    #[arg(long)]
    pub json: bool,
    /// The configuration that counts.
    #[command(flatten)]
    pub choices: ChoiceArgs,
}

/// Runs the command: 0 when a run could start, else 1.
///
/// # Errors
/// The configuration has problems, or git refuses.
pub async fn run(args: DoctorArgs) -> Result<u8, Refusal> {
    let settings = GitSettings::new("doctor", CancellationToken::new());
    let (root, repository) = find_root(&super::cwd()?, settings).await?;
    let (_, loaded) = load_config(&root, &args.choices.choices()?)?;
    let git = git(repository.as_ref()).await;
    let kernel = containing::kernel(&Children::default(), &loaded.config, &root).await;
    let adapters = adapters(&loaded, &root, &kernel).await;
    let is_well = git["ok"] == json!(true)
        && adapters
            .iter()
            .all(|adapter| adapter["needed"] == json!(false) || adapter["ok"] == json!(true));
    let environment: serde_json::Map<String, Value> = VARIABLES
        .iter()
        .map(|name| {
            let word = if std::env::var_os(name).is_some() {
                "[SET]"
            } else {
                "[NOT SET]"
            };
            ((*name).to_owned(), json!(word))
        })
        .collect();
    let notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    let report = json!({
        "ok": is_well,
        "version": env!("CARGO_PKG_VERSION"),
        "root": root.to_string_lossy(),
        "trust": trust_word(loaded.trust),
        "git": git,
        "adapters": adapters,
        "tests": { "held": { "kernel": containing::tests_in_words(&kernel, &loaded.config) } },
        "notices": notices,
        "environment": environment,
    });
    let mut out = io::stdout();
    let written = match args.json {
        true => writeln!(out, "{}", clean_json_line(&report.to_string())),
        false => write!(out, "{}", clean(&in_words(&report))),
    };
    Ok(if written.is_ok() && is_well { 0 } else { 1 })
}

async fn git(repository: Option<&Repository>) -> Value {
    let Some(repository) = repository else {
        return json!({ "ok": true, "note": "no git repository here: commits would be off" });
    };
    match repository.identity().await {
        Ok(Ok(identity)) => {
            json!({ "ok": true, "note": format!("commits as {} <{}>", identity.author.name, identity.author.email) })
        }
        Ok(Err(missing)) => {
            json!({ "ok": false, "problem": "git does not know in whose name to commit", "hint": missing.hint() })
        }
        Err(error) => json!({ "ok": false, "problem": error.to_string(), "hint": error.hint() }),
    }
}

async fn adapters(loaded: &Loaded, root: &Path, kernel: &Kernel) -> Vec<Value> {
    let config = &loaded.config;
    let mut found = Vec::new();
    for (name, settings) in &config.adapters {
        let needed = *name == config.roles.planner || Some(name) == config.roles.reviewer.as_ref();
        let adapter = NamedAdapter {
            name: name.clone(),
            settings: settings.clone(),
        };
        let (by_kernel, by_protocol) = containing::in_words(kernel, config, settings.kind);
        let mut entry = json!({
            "name": name, "kind": settings.kind.name(), "program": settings.program, "needed": needed,
            "held": { "kernel": by_kernel, "protocol_only": by_protocol },
            "let_out": let_out(settings),
        });
        let told = match probe(&Children::default(), &adapter, root).await {
            Probed::Ready(capabilities) => json!({ "ok": true, "capabilities": capabilities }),
            Probed::Unknown => json!({ "ok": true, "note": "its version is not known" }),
            Probed::Refused { problem, hint } => {
                json!({ "ok": false, "problem": problem, "hint": hint })
            }
        };
        if let (Value::Object(entry), Value::Object(told)) = (&mut entry, told) {
            entry.extend(told);
        }
        found.push(entry);
    }
    found
}

/// The rules that let commands out of the CLI's own sandbox.
fn let_out(settings: &AdapterSettings) -> Vec<String> {
    let ways_out = codex_rules::ways_out(settings);
    ways_out.iter().map(WayOut::in_words).collect()
}

fn in_words(report: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = vec![
        format!("agent-collab {}", text(&report["version"])),
        format!(
            "repository   {} ({})",
            text(&report["root"]),
            text(&report["trust"])
        ),
        item("git", &report["git"]),
    ];
    for adapter in report["adapters"].as_array().into_iter().flatten() {
        let name = text(&adapter["name"]);
        let used = if adapter["needed"] == json!(true) {
            ""
        } else {
            " (no role uses it)"
        };
        lines.push(item(&format!("{name}{used}"), adapter));
        let held = &adapter["held"];
        lines.push(format!(
            "           held by the kernel: {}",
            text(&held["kernel"])
        ));
        lines.push(format!(
            "           by protocol only: {}",
            text(&held["protocol_only"])
        ));
        for rule in adapter["let_out"].as_array().into_iter().flatten() {
            let rule = text(rule);
            lines.push(format!(
                "WARNING    {name}'s own rules let commands out of its sandbox unasked: {rule}"
            ));
        }
    }
    let tests = text(&report["tests"]["held"]["kernel"]);
    lines.push(format!("tests      held by the kernel: {tests}"));
    for notice in report["notices"].as_array().into_iter().flatten() {
        lines.push(format!("notice     {}", text(notice)));
    }
    for (name, state) in report["environment"].as_object().into_iter().flatten() {
        lines.push(format!("{:<9}  {name}", text(state)));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn item(name: &str, value: &Value) -> String {
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
