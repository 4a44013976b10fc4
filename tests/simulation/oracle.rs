//! Checks what must be true at the end of every seed, whatever went wrong on the way.

use std::collections::{BTreeMap, BTreeSet};

use agent_collab::domain::event::Event;
use agent_collab::domain::run::Run;
use agent_collab::store::event_log::EventLogReader;
use serde_json::Value;

use crate::repository::git;
use crate::world::{World, kept};

/// The end of a run, as far as it must be the same with and without faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub phase: String,
    /// The first lines of the commits, the oldest first.
    pub commits: Vec<String>,
    /// The tree of the last commit.
    pub tree: String,
    /// What is not committed.
    pub status: String,
    pub plan: String,
    /// The headings of log.md.
    pub log: Vec<String>,
    /// The other lines of log.md, without the time.
    pub told: BTreeSet<String>,
    /// The user's requests in the review file.
    pub remarks: Vec<String>,
}

/// Returns the headings; a torn start of one may precede it, because nothing in the log is ever removed.
fn headings(log: &str) -> Vec<String> {
    let mut headings: Vec<String> = Vec::new();
    for line in log.lines().filter(|line| line.starts_with('#')) {
        if headings
            .last()
            .is_some_and(|torn| line != torn && line.starts_with(torn.as_str()))
        {
            headings.pop();
        }
        headings.push(line.to_owned());
    }
    headings
}

/// Returns the content of a log.md line that is the same each time.
fn told(line: &str) -> Option<String> {
    let (_, said) = line.strip_prefix("- 20")?.split_once(' ')?;
    let stays = [
        "plan written",
        "review ",
        "execution approved",
        "commits go to",
    ];
    stays
        .iter()
        .any(|start| said.starts_with(start))
        .then(|| said.to_owned())
}

fn remarks(comments: &str) -> Vec<String> {
    let mut lines = comments.lines();
    let mut remarks = Vec::new();
    while let Some(line) = lines.next() {
        if line == "## Remarks of the user" {
            remarks.extend(lines.by_ref().take(2).map(str::to_owned));
        }
    }
    remarks
}

/// What was asked and answered, by kind.
pub type Asked = BTreeMap<String, usize>;

/// Looks at how a run ended.
pub fn end_of(world: &World) -> End {
    let phase = folded(world, u64::MAX).map(|run| run.state().phase.to_string());
    let commits = git(&world.root, &["log", "--reverse", "--format=%s"]);
    let log = world.read("log.md");
    End {
        phase: phase.unwrap_or_else(|why| why),
        commits: commits.lines().map(str::to_owned).collect(),
        tree: git(&world.root, &["rev-parse", "HEAD^{tree}"]),
        status: git(&world.root, &["status", "--porcelain"]),
        plan: world
            .read("plan.md")
            .lines()
            .filter(|line| !line.starts_with("updated: "))
            .collect::<Vec<_>>()
            .join("\n"),
        log: headings(&log),
        told: log.lines().filter_map(told).collect(),
        remarks: remarks(&world.read("comments.md")),
    }
}

/// Everything that is not as it must be, where this was typed.
pub fn violations(world: &World, typed: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    wrong.extend(record(world).err());
    wrong.extend(lost(world, typed));
    wrong.extend(left(world));
    wrong
}

/// Folds the run's events up to the one with this number; they are numbered in order.
fn folded(world: &World, last_seq: u64) -> Result<Run, String> {
    let path = world.run().join("events.jsonl");
    let mut records = Vec::new();
    EventLogReader::<Event>::from_start(&path)
        .read_all(|record| records.push(record))
        .map_err(|error| format!("the log cannot be read: {error}"))?;
    for pair in records.windows(2) {
        if pair[1].seq != pair[0].seq + 1 {
            return Err(format!("event {} follows {}", pair[1].seq, pair[0].seq));
        }
    }
    let mut run = None;
    for record in records.iter().filter(|record| record.seq <= last_seq) {
        match (&mut run, &record.event) {
            (None, Event::RunCreated(created)) => run = Some(Run::new(record.at, created)),
            (None, _) => return Err("the log does not begin with the run".to_owned()),
            (Some(run), event) => drop(run.step(record.at, event)),
        }
    }
    run.ok_or_else(|| "the log is empty".to_owned())
}

/// The state is what follows from the log.
fn record(world: &World) -> Result<(), String> {
    let mut snapshot: Value = serde_json::from_str(&world.read("state.json"))
        .map_err(|error| format!("state.json: {error}"))?;
    let fields = snapshot.as_object_mut().ok_or("state.json is no object")?;
    fields.remove("schema");
    let last_seq = fields.remove("last_seq");
    // A run that a kill left over is in the history unchanged, so its log may be ahead of its state.
    let known = last_seq.and_then(|seq| seq.as_u64());
    let until = known.filter(|_| kept(&world.root).is_some());
    let run = folded(world, until.unwrap_or(u64::MAX))?;
    let folded = serde_json::to_value(&run).map_err(|error| error.to_string())?;
    if folded != snapshot {
        return Err(format!(
            "state.json is not what follows from the log:\n{snapshot}\n{folded}"
        ));
    }
    let run = self::folded(world, u64::MAX)?;
    let state = run.state();
    if !state.approvals.is_empty() || state.awaiting.is_some() || state.running.is_some() {
        return Err("something still waits or runs in the state".to_owned());
    }
    Ok(())
}

/// Returns what the user typed and the program accepted, but lost.
fn lost(world: &World, typed: &[String]) -> Vec<String> {
    let texts = world.texts();
    let is_kept = |text: &&String| texts.values().any(|kept| kept.contains(text.as_str()));
    let lost = typed.iter().filter(|text| !is_kept(text));
    lost.map(|text| format!("lost what the user typed: {text}"))
        .collect()
}

/// Nothing is left behind: no temporary file, no lock of git, no process.
fn left(world: &World) -> Vec<String> {
    let mut left = Vec::new();
    for path in world.texts().into_keys() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(".agent-collab-") {
            left.push(format!("left behind: {}", path.display()));
        }
    }
    if world.root.join(".git/index.lock").exists() {
        left.push("left behind: .git/index.lock".to_owned());
    }
    left
}

/// What was answered, by kind of question, and how often turns were released.
pub fn asked(world: &World) -> Asked {
    let mut kinds = BTreeMap::new();
    let mut asked = Asked::new();
    for line in world.read("events.jsonl").lines() {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let data = &event["data"];
        match event["kind"].as_str() {
            Some("question.asked") => {
                let question = &data["question"];
                let about = question["kind"]["about"].as_str().unwrap_or_default();
                kinds.insert(question["id"].as_u64(), about.to_owned());
            }
            Some("question.answered") => {
                let kind = kinds.get(&data["id"].as_u64()).cloned();
                *asked.entry(kind.unwrap_or_default()).or_default() += 1;
            }
            _ => {}
        }
    }
    asked
}

/// How often the log says that the user edited a document, by kind of event.
pub fn edited(world: &World) -> Asked {
    let mut edited = Asked::new();
    for line in world.read("events.jsonl").lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        let kind = event["kind"].as_str().unwrap_or_default();
        if ["plan.edited", "comments.edited"].contains(&kind) {
            *edited.entry(kind.to_owned()).or_default() += 1;
        }
    }
    edited
}
