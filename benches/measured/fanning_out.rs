//! Measures equal tasks on fewer places: how long all of them take, compared with the minimum number of rounds.
//!
//! It uses real processes of the scripted agent and the engine, as the command `task` does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use agent_collab::app::startup::{self, RunInstance, StartOptions};
use agent_collab::config::ConfigFlags;
use agent_collab::domain::task::{TaskResult, TaskStatus, TaskWaitMode};
use agent_collab::engine::{Engine, TaskCaller, TaskRequest};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::limit::{Limit, verdict};
use crate::{say, side_by_side};

/// How long an agent works, in addition to the start of its process.
pub const TASK: Duration = Duration::from_millis(500);
const ROUNDS: usize = 3;

/// Measures seven tasks on three places, and sixteen on four.
pub fn run() -> anyhow::Result<()> {
    let (_place, root) = repository()?;
    for (n_tasks, n_places) in [(7_u32, 3_u32), (16, 4)] {
        let rounds = n_tasks.div_ceil(n_places);
        side_by_side(
            &format!("{n_tasks} tasks on {n_places} places / {rounds} x one task"),
            Limit::Times(1.1),
            ROUNDS,
            &mut || makespan(&root, n_tasks, n_places),
            &mut || Ok(makespan(&root, 1, n_places)? * rounds),
        )?;
    }
    Ok(())
}

/// Creates a repository that exists as long as the returned folder.
pub fn repository() -> anyhow::Result<(tempfile::TempDir, PathBuf)> {
    let place = tempfile::tempdir()?;
    let root = place.path().canonicalize()?;
    let made = Command::new("git")
        .args(["init", "-q"])
        .current_dir(&root)
        .status()?;
    anyhow::ensure!(made.success(), "git init");
    for (key, value) in [("user.name", "A"), ("user.email", "a@example.org")] {
        Command::new("git")
            .args(["config", key, value])
            .current_dir(&root)
            .status()?;
    }
    Ok((place, root))
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    Ok(runtime.worker_threads(2).enable_all().build()?)
}

fn give(engine: &mut Engine) -> anyhow::Result<oneshot::Receiver<TaskResult>> {
    let given = engine.start_task(ask())?;
    let (_, result) = given.map_err(|refused| anyhow::anyhow!("{refused}"))?;
    Ok(result)
}

/// Measures the program's memory with many waiting tasks, compared with none.
pub fn queued() -> anyhow::Result<()> {
    let (_place, root) = repository()?;
    let runtime = runtime()?;
    runtime.block_on(async {
        let says = ("Found it.", Duration::from_secs(600));
        let mut started = alone(&root, choices(&root, 2, says)?).await?;
        let mut waiting = Vec::new();
        let mut held = Vec::new();
        for n_tasks in [2, 66] {
            while waiting.len() < n_tasks {
                waiting.push(give(&mut started.engine)?);
            }
            settle(&mut started.engine, 2).await?;
            held.push(resident()?);
        }
        started.engine.shut_down().await;
        let [without, with] = held[..] else {
            anyhow::bail!("two looks were taken");
        };
        let (name, ratio) = (
            "memory with 64 tasks queued / with none",
            with as f64 / without as f64,
        );
        say(format_args!(
            "{name:<46} {:>10} {:>10} {ratio:>7.2}  <= 1.1{}",
            format!("{with} KiB"),
            format!("{without} KiB"),
            verdict(name, ratio, 1.1)
        ))
    })
}

/// Builds an engine without a run, in which `explore` can be given tasks.
pub async fn alone(root: &Path, choices: ConfigFlags) -> anyhow::Result<RunInstance> {
    let wishes = StartOptions::without_turns(root.to_owned(), choices);
    let opened = async {
        let found = startup::inspect_project(&wishes).await?;
        let player = startup::adapter_of_agent(&found, "explore")?;
        startup::open_ad_hoc_run(&BTreeSet::from([player]), found, &wishes).await
    };
    let opened = opened.await;
    opened.map_err(|refusal| anyhow::anyhow!("{refusal}"))
}

/// Waits until this many children have started and no more events arrive.
async fn settle(engine: &mut Engine, n_begun: usize) -> anyhow::Result<()> {
    loop {
        let begun = engine
            .state()
            .children
            .iter()
            .filter(|child| child.external_id.is_some());
        let has_begun = begun.count() == n_begun;
        match tokio::time::timeout(Duration::from_millis(500), engine.next_input()).await {
            Ok(inward) => engine.handle_input(inward)?,
            Err(_) if has_begun => return Ok(()),
            Err(_) => {}
        }
        engine.take_view_updates();
    }
}

/// The memory of this process that is there, in KiB.
fn resident() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let line = line.ok_or_else(|| anyhow::anyhow!("no VmRSS"))?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// Measures the time from the first task to the last result.
fn makespan(root: &Path, n_tasks: u32, n_places: u32) -> anyhow::Result<Duration> {
    runtime()?.block_on(async {
        let mut started = alone(root, choices(root, n_places, ("Found it.", TASK))?).await?;
        let begun = Instant::now();
        let mut results = Vec::new();
        for _ in 0..n_tasks {
            results.push(give(&mut started.engine)?);
        }
        for result in results {
            let result = wait(&mut started.engine, result).await?;
            let is_done = result.end.status() == TaskStatus::Completed;
            anyhow::ensure!(is_done, "{}", result.end.message());
        }
        let took = begun.elapsed();
        started.engine.shut_down().await;
        Ok(took)
    })
}

async fn wait(
    engine: &mut Engine,
    mut result: oneshot::Receiver<TaskResult>,
) -> anyhow::Result<TaskResult> {
    loop {
        if let Ok(result) = result.try_recv() {
            return Ok(result);
        }
        let inward = engine.next_input().await;
        engine.handle_input(inward)?;
        engine.take_view_updates();
    }
}

fn ask() -> TaskRequest {
    TaskRequest {
        caller: TaskCaller::User,
        agent: "explore".to_owned(),
        prompt: "look around".to_owned(),
        description: String::new(),
        task_id: None,
        wait_mode: TaskWaitMode::Background,
    }
}

/// Builds a configuration with this many places and an agent that answers after a pause.
pub fn choices(
    root: &Path,
    n_places: u32,
    (says, after): (&str, Duration),
) -> anyhow::Result<ConfigFlags> {
    let script = root.join("script.json");
    let turn = serde_json::json!({ "turn": [{ "uses": "always", "action": [
        { "do": "stall", "ms": after.as_millis() },
        { "do": "text", "text": says, "delta": "whole" },
    ] }] });
    std::fs::write(&script, turn.to_string())?;
    let file = root.join("config.toml");
    let program = env!("CARGO_BIN_EXE_agent-collab");
    let text = format!(
        "[limits]\nmax_children = {n_places}\nper_adapter = {n_places}\n[adapters.codex]\nprogram = {program:?}\n\
         args = [\"scripted-agent\", \"--as\", \"codex\", \"--script\", {:?}]\n",
        script.display().to_string()
    );
    std::fs::write(&file, text)?;
    Ok(ConfigFlags {
        file: Some(file),
        overrides: Vec::new(),
        instructions: None,
    })
}
