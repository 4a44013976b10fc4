//! The program is stopped in the middle of a turn, while the agent's command runs: with Ctrl+C, and by a kill.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use serde_json::Value;

use crate::bounded::{self, Started};
use crate::brain::{self, Purpose};
use crate::leftovers::{assert_none_left, find_leftovers};
use crate::model_server::script::{Reply, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, SWAPPED, USUAL, World};

/// A named pipe without a writer, in a folder where git does not search for files.
pub(super) const PIPE: &str = ".git/pipe";
/// A command that both CLIs run before EXECUTE and that never ends by itself.
pub(super) const ENDLESS: &str = "cat .git/pipe";
/// The time limit of everything together.
const LIMIT: Duration = Duration::from_secs(180);

/// codex is interrupted while it plans.
pub fn codex_interrupted(notes: &mut Notes) {
    interrupted("stopped-codex-interrupted", USUAL, notes);
}

/// claude is interrupted while it plans.
pub fn claude_interrupted(notes: &mut Notes) {
    interrupted("stopped-claude-interrupted", SWAPPED, notes);
}

/// The program dies while codex plans.
pub fn codex_orphaned(notes: &mut Notes) {
    orphaned("stopped-codex-orphaned", USUAL, notes);
}

/// The program dies while claude plans.
pub fn claude_orphaned(notes: &mut Notes) {
    orphaned("stopped-claude-orphaned", SWAPPED, notes);
}

/// Creates a world in which the first planner hangs and later planners answer normally.
fn stuck_world(name: &str, cast: Cast) -> World {
    let stuck = AtomicBool::new(false);
    World::create(name, cast, move |request| {
        let plans = matches!(brain::purpose_of(&request.prompt), Purpose::WritePlan(_));
        if plans && !stuck.swap(true, Ordering::SeqCst) {
            Reply::call(Tool::Shell(ENDLESS.to_owned()))
        } else {
            brain::honest(request)
        }
    })
}

/// Starts a run and waits until the agent's command runs.
pub(super) fn start_and_wait(world: &World) -> Started {
    let pipe = world.repository.root().join(PIPE);
    nix::unistd::mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("a named pipe");
    let program = world.start(&[]);
    let deadline = Instant::now() + LIMIT;
    let runs = || {
        let processes = find_leftovers(world.home.root());
        processes
            .iter()
            .any(|(_, command)| command.trim() == ENDLESS)
    };
    while !runs() {
        assert!(Instant::now() < deadline, "the agent's command never ran");
        std::thread::sleep(Duration::from_millis(20));
    }
    program
}

fn interrupted(name: &str, cast: Cast, notes: &mut Notes) {
    let world = stuck_world(name, cast);
    let program = start_and_wait(&world);
    program.signal(Signal::SIGINT);
    let finished = program.finish(world.home.root(), LIMIT);
    assert_eq!(finished.code(), 130, "{}", bounded::tail(&finished.stderr));
    assert_none_left(world.home.root());
    assert_eq!(world.state()["phase"], "WRITE_PLAN");
    assert!(
        world
            .frames(cast.planner)
            .iter()
            .any(|frame| is_interrupt(cast.planner, frame)),
        "the CLI is asked by its own protocol first"
    );
    assert_unfinished(&world);
    let outcome = world.run(&["--new"]);
    outcome.assert_code(3);
    assert_eq!(world.state()["phase"], "APPROVED");
    assert_eq!(archived_phases(&world), ["WRITE_PLAN"]);
    world.note(notes, &outcome);
    notes.prove(
        "Ctrl+C while it runs a command: interrupted by its protocol, no process left, the run kept",
        cast.planner,
        "yes",
    );
}

fn is_interrupt(vendor: Vendor, frame: &Value) -> bool {
    let told = match vendor {
        Vendor::Openai => frame["frame"]["method"] == "turn/interrupt",
        Vendor::Anthropic => frame["frame"]["request"]["subtype"] == "interrupt",
    };
    frame["from"] == "us" && told
}

/// Checks that a second start does not touch an unfinished run, and says how to continue it.
fn assert_unfinished(world: &World) {
    let finished = world.program(&["run", "--goal", "Another goal", "--auto"]);
    assert_eq!(finished.code(), 3, "{}", finished.stderr);
    assert!(
        finished.stderr.contains("in phase Plan") && finished.stderr.contains("--new"),
        "{}",
        finished.stderr
    );
}

fn archived_phases(world: &World) -> Vec<String> {
    let history = world.repository.root().join(".agent-collab/history");
    let runs = fs::read_dir(history).expect("the archive").flatten();
    runs.map(|run| {
        let text = fs::read_to_string(run.path().join("state.json")).expect("an archived state");
        let state: Value = serde_json::from_str(&text).expect("an archived state");
        state["phase"].as_str().unwrap_or_default().to_owned()
    })
    .collect()
}

fn orphaned(name: &str, cast: Cast, notes: &mut Notes) {
    let world = stuck_world(name, cast);
    let program = start_and_wait(&world);
    // Left to themselves both CLIs go with the program, sooner or later; frozen ones cannot.
    for (pid, _) in find_leftovers(world.home.root()) {
        if pid != program.pid() {
            let _gone = kill(Pid::from_raw(pid), Signal::SIGSTOP);
        }
    }
    program.signal(Signal::SIGKILL);
    let finished = program.finish(world.home.root(), LIMIT);
    assert_eq!(finished.code(), 137);
    let left = find_leftovers(world.home.root());
    assert!(
        left.iter()
            .any(|(_, command)| command.contains(cast.planner.cli())),
        "the frozen CLI outlives the program: {left:#?}"
    );
    assert_unfinished(&world);
    let outcome = world.run(&["--new"]);
    outcome.assert_code(3);
    assert_eq!(world.state()["phase"], "APPROVED");
    world.note(notes, &outcome);
    notes.prove(
        "the program is killed, the CLI hangs: the next start ends the CLI and its command",
        cast.planner,
        "yes",
    );
}
