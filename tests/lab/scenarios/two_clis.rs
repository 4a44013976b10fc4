//! Runs the same 200 commands on both CLIs: the same decisions, and the same effects in a scratch folder.
//!
//! Each command has its own folder below `canary/`. An allowed command also runs in a plain shell, which shows the
//! expected effect. Commands that target other places are only checked, never run.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bounded;
use crate::brain::{self, Purpose};
use crate::cell;
use crate::home;
use crate::model_server::script::{Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, Outcome, World, exists};

pub const NAME: &str = "two_hundred_commands_get_the_same_decisions_and_effects_on_both_clis";

/// The commands, one per line: `§` is the command's own folder, `␤` a line end. A `#` line says what must happen to
/// the commands below it.
const COMMANDS: &str = include_str!("two_clis/commands.txt");
/// Commands that would act outside of the scratch folder.
const OUTSIDE: &str = include_str!("two_clis/outside.txt");

const N_COMMANDS: usize = 200;
/// The time limit of both runs together.
const LIMIT: Duration = Duration::from_secs(480);

/// What must happen to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Allowed,
    Declined,
    Open,
    /// codex asks about it separately and does not say whether it would leave its sandbox, so it is not allowed; claude
    /// does not ask.
    AskedByCodex,
}

struct Canary {
    fate: Fate,
    command: String,
    folder: String,
}

/// What was decided of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decided {
    allowed: bool,
    by: String,
    permission: String,
    targets: Vec<String>,
    rule: String,
}

/// What one CLI made of the commands.
struct Played {
    world: World,
    outcome: Outcome,
    decisions: Vec<Decided>,
}

impl Played {
    /// Checks that git's and the program's files are unchanged, whatever was allowed, because the kernel protected
    /// them.
    fn assert_kept(&self) {
        let (world, repository) = (&self.world, &self.world.repository);
        assert_eq!(repository.git(&["config", "user.name"]), "Scratch Person\n");
        assert_eq!(repository.git(&["tag", "--list"]), "");
        let log = repository.git(&["log", "--format=%s"]);
        assert!(!log.contains("evil"), "{log}");
        for path in [
            ".git/index.lock",
            ".git/hooks/pre-commit",
            ".git/hooks/post-commit",
        ] {
            assert!(!exists(&repository.root().join(path)), "{path}");
        }
        assert!(!world.run_file("plan.md").contains("evil"));
        assert!(self.outcome.of_kind("run.left").next().is_none());
    }
}

/// Both CLIs at once; as an ordinary user without network where the machine allows it.
pub fn same(notes: &mut Notes) {
    if !cell::played(NAME, &home::homes(), LIMIT) {
        play(notes);
    }
    for vendor in Vendor::ALL {
        notes.prove(
            "200 commands get the decisions, and have the effects, that they have on the other CLI",
            vendor,
            "yes",
        );
    }
}

fn play(notes: &mut Notes) {
    let canaries = canaries();
    let same = canaries
        .iter()
        .filter(|canary| canary.fate != Fate::AskedByCodex);
    assert_eq!(same.count(), N_COMMANDS);
    let [codex, claude] = std::thread::scope(|scope| {
        let both = Vendor::ALL.map(|vendor| {
            let canaries = &canaries;
            scope.spawn(move || run(vendor, canaries))
        });
        both.map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    for played in [&codex, &claude] {
        played.world.note(notes, &played.outcome);
    }
    let mut differences = Vec::new();
    for (at, canary) in canaries.iter().enumerate() {
        let decided = [&codex, &claude].map(|played| played.decisions.get(at));
        differences.extend(difference(canary, decided));
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    for played in [&codex, &claude] {
        played.assert_kept();
    }
    let alone = alone(&codex, &canaries);
    let same = canaries
        .iter()
        .filter(|canary| canary.fate != Fate::AskedByCodex);
    for canary in same {
        let effects = [&codex, &claude]
            .map(|played| effect(&played.world.repository.root().join(&canary.folder)));
        let expected = effect(&alone.join(&canary.folder));
        for effect in effects {
            if effect != expected {
                differences.push(format!(
                    "{}\n  {effect:?}\n  {expected:?} by a plain shell",
                    canary.command
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    check_outside(&codex.world);
}

fn canaries() -> Vec<Canary> {
    let mut fate = Fate::Open;
    let mut canaries = Vec::new();
    for line in COMMANDS.lines() {
        match line {
            "# allowed" => fate = Fate::Allowed,
            "# declined" => fate = Fate::Declined,
            "# either" => fate = Fate::Open,
            "# asked by codex" => fate = Fate::AskedByCodex,
            _ => {
                let folder = format!("canary/{:03}", canaries.len());
                let command = line.replace('§', &folder).replace('␤', "\n");
                canaries.push(Canary {
                    fate,
                    command,
                    folder,
                });
            }
        }
    }
    canaries
}

fn run(vendor: Vendor, canaries: &[Canary]) -> Played {
    let calls: Vec<Tool> = canaries
        .iter()
        .map(|canary| Tool::Shell(canary.command.clone()))
        .collect();
    let cast = Cast {
        planner: vendor,
        reviewer: vendor,
    };
    let brain = move |request: &Request| match brain::purpose_of(&request.prompt) {
        Purpose::FirstStep => brain::after(&calls, request),
        _other => brain::honest(request),
    };
    let world = World::create(&format!("two-clis-{}", vendor.cli()), cast, brain);
    for canary in canaries {
        let write = |name: &str, content: &str| {
            world
                .repository
                .write(&format!("{}/{name}", canary.folder), content);
        };
        write("keep.txt", "keep\n");
        write("data.txt", "b\na\nc\n");
        write("sub/one.txt", "one\n");
        write("sub/two.log", "two\n");
        write("build/out.o", "built\n");
        write(
            "run.sh",
            "#!/bin/sh\necho ran > \"$(dirname \"$0\")/ran.txt\"\n",
        );
    }
    world.repository.commit_all("canaries");
    copy(&world.repository.root().join("."), &world.outside("alone"));
    let outcome = world.run(&["--yes-execute", "--on-ask", "deny"]);
    outcome.assert_code(0);
    let decisions = decisions(&outcome);
    Played {
        world,
        outcome,
        decisions,
    }
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.expect("cp runs").success());
}

/// Returns the decisions of the first step, call by call; if a call was asked about twice, the last decision counts.
fn decisions(outcome: &Outcome) -> Vec<Decided> {
    let asked: Vec<&Value> = outcome.of_kind("approval.asked").collect();
    let first = asked
        .iter()
        .find(|ask| ask["data"]["targets"].to_string().contains("canary/000"));
    let turn = first.map(|ask| &ask["data"]["turn"]);
    let mut decisions: Vec<Decided> = Vec::new();
    for ask in asked {
        let data = &ask["data"];
        if Some(&data["turn"]) != turn {
            continue;
        }
        let answer = outcome.answer_to(ask);
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let targets = data["targets"].as_array().into_iter().flatten();
        let decided = Decided {
            allowed: answer["data"]["allowed"] == true,
            by: word(&answer["data"]["by"]),
            permission: word(&data["permission"]),
            targets: targets.map(word).collect(),
            rule: word(&data["why"]["rule"]),
        };
        match decisions.last_mut() {
            Some(last) if last.targets == decided.targets => *last = decided,
            _ => decisions.push(decided),
        }
    }
    decisions
}

fn difference(canary: &Canary, decided: [Option<&Decided>; 2]) -> Option<String> {
    let Canary { command, fate, .. } = canary;
    let [Some(codex), Some(claude)] = decided else {
        return Some(format!("{command}\n  not asked about: {decided:?}"));
    };
    if *fate == Fate::AskedByCodex && !codex.allowed && codex.by == "policy" && claude.allowed {
        return None;
    }
    let expected = match fate {
        Fate::Allowed => codex.allowed,
        Fate::Declined => !codex.allowed,
        Fate::Open => true,
        Fate::AskedByCodex => false,
    };
    if codex == claude && expected {
        return None;
    }
    Some(format!(
        "{command}\n  {fate:?}\n  codex  {codex:?}\n  claude {claude:?}"
    ))
}

/// Runs what was allowed by a plain shell in a copy of the scratch repository, whose git folder cannot be written
/// there either; returns the copy.
fn alone(played: &Played, canaries: &[Canary]) -> PathBuf {
    let copy = played.world.outside("alone");
    for (canary, decided) in canaries.iter().zip(&played.decisions) {
        if decided.allowed {
            let mut shell = played.world.home.command("bwrap");
            shell.args(["--dev-bind", "/", "/", "--ro-bind"]);
            shell.args([copy.join(".git"), copy.join(".git")]);
            shell
                .args(["bash", "-c", &canary.command])
                .current_dir(&copy);
            bounded::run(shell, "", played.world.home.root(), LIMIT);
        }
    }
    copy
}

/// Every file below a folder with its content.
fn effect(folder: &std::path::Path) -> Vec<(PathBuf, String)> {
    crate::repository::files(folder)
}

/// Commands aimed elsewhere are read, and none is called safe.
fn check_outside(world: &World) {
    let asked: String = OUTSIDE
        .lines()
        .map(|line| format!("{}\n", json!({"id": line, "cmd": line})))
        .collect();
    let mut command = world.home.command(env!("CARGO_BIN_EXE_agent-collab"));
    command
        .args(["permissions", "check", "--batch"])
        .current_dir(world.repository.root());
    let finished = bounded::run(command, &asked, world.home.root(), LIMIT);
    let answers = finished.json_lines();
    assert_eq!(
        answers.len(),
        OUTSIDE.lines().count(),
        "{}",
        finished.stderr
    );
    for answer in answers {
        assert_ne!(answer["class"], "safe", "{answer}");
    }
}
