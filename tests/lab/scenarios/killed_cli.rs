//! A CLI is killed in the middle of a turn by the model that it just asked: the program notices, retries the turn
//! in the same conversation, and the run ends as if nothing had happened.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::whole_run::assert_run_is_done;
use crate::brain::{self, Purpose};
use crate::cut_off::assert_conversations_kept;
use crate::leftovers::find_leftovers;
use crate::model_server::script::{Reply, Request, Vendor};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

/// codex plans and executes.
pub fn usual(notes: &mut Notes) {
    play("killed-cli-usual", USUAL, notes);
}

/// claude plans and executes.
pub fn swapped(notes: &mut Notes) {
    play("killed-cli-swapped", SWAPPED, notes);
}

/// The turns that a CLI does not survive at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fatal {
    Plan,
    Review,
    Step,
}

impl Fatal {
    fn of(request: &Request) -> Option<Fatal> {
        match brain::purpose_of(&request.prompt) {
            Purpose::WritePlan(_) => Some(Fatal::Plan),
            Purpose::Review(_) => Some(Fatal::Review),
            Purpose::FirstStep => Some(Fatal::Step),
            Purpose::Respond(_) | Purpose::SecondStep | Purpose::Summary | Purpose::Unclear => None,
        }
    }
}

/// Kills the asking CLI in the middle of a fatal turn, once per turn, and otherwise answers normally. The scenario's
/// folder is known only after its model was created.
fn deadly(root: Arc<OnceLock<PathBuf>>) -> impl Fn(&Request) -> Reply + Send + Sync {
    let killed = Mutex::new(BTreeSet::new());
    move |request| {
        let fatal = Fatal::of(request).filter(|_| request.n_outputs() == 1);
        if let Some(fatal) = fatal
            && killed.lock().expect("the kills").insert(fatal)
        {
            let root = root.get().expect("the scenario's folder");
            end_cli(root, request.vendor, fatal);
        }
        brain::honest(request)
    }
}

/// Kills the process that the program started, which is npm's wrapper in the case of codex; in EXECUTE the one that
/// asks the model.
fn end_cli(root: &Path, vendor: Vendor, fatal: Fatal) {
    let state = fs::read(root.join("repository/.agent-collab/state.json")).expect("the snapshot");
    let state: Value = serde_json::from_slice(&state).expect("the snapshot");
    let started = state["running"]["process"]["pid"].as_i64();
    let processes = find_leftovers(root);
    let asks = |command: &str| match vendor {
        Vendor::Openai => command.contains("app-server") && !command.starts_with("node"),
        // The sandbox program around the CLI has the same text in its command line, too.
        Vendor::Anthropic => command.contains("stream-json") && !command.contains("bwrap"),
    };
    let victims = processes.iter().filter(|(pid, command)| match fatal {
        Fatal::Plan | Fatal::Review => Some(i64::from(*pid)) == started,
        Fatal::Step => asks(command),
    });
    let n_killed = victims
        .map(|(pid, _)| kill(Pid::from_raw(*pid), Signal::SIGKILL))
        .filter(Result::is_ok)
        .count();
    assert_eq!(n_killed, 1, "one CLI asks: {processes:#?}");
}

fn play(name: &str, cast: Cast, notes: &mut Notes) {
    let root = Arc::new(OnceLock::new());
    let world = World::create(name, cast, deadly(Arc::clone(&root)));
    root.get_or_init(|| world.home.root().to_path_buf());
    let outcome = world.run(&["--yes-execute"]);
    outcome.assert_code(0);
    let ends = outcome
        .of_kind("turn.ended")
        .map(|event| &event["data"]["result"]["end"]);
    assert_eq!(ends.filter(|end| *end == "failed").count(), 3);
    assert_eq!(
        outcome.of_kind("document.missing").count(),
        0,
        "a turn that is tried again can write its document"
    );
    assert_run_is_done(&world, &outcome.events);
    assert_conversations_kept(&world, cast, &BTreeSet::from(["planner", "reviewer"]));
    world.note(notes, &outcome);
    for vendor in Vendor::ALL {
        notes.prove(
            "the CLI is killed in the middle of a turn: the turn is tried again, the same end",
            vendor,
            "yes",
        );
    }
}
