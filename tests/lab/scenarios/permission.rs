//! An agent asks to exceed its limits while it executes: declined and allowed, on both CLIs.

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool};
use crate::report::Notes;
use crate::world::{Cast, Outcome, SWAPPED, USUAL, World, exists};

/// The one command that the rule of the scenarios allows.
const RULED: &str = "touch ../ruled.txt";
/// A command that no rule allows.
const UNRULED: &str = "mkdir ../unruled";

/// A commit of the agent's own.
const COMMITTED: &str = "git commit --allow-empty --message evil";

/// What the model wants in its first step before it works: to write outside of the repository.
fn wishes() -> [Tool; 4] {
    [
        Tool::Escalated(COMMITTED.to_owned()),
        Tool::Escalated(RULED.to_owned()),
        Tool::Escalated(UNRULED.to_owned()),
        Tool::Write {
            path: "door/linked.txt".to_owned(),
            content: "out\n".to_owned(),
        },
    ]
}

fn greedy(request: &Request) -> Reply {
    if brain::purpose_of(&request.prompt) == Purpose::FirstStep {
        brain::after(&wishes(), request)
    } else {
        brain::honest(request)
    }
}

/// codex asks, and nothing is allowed.
pub fn codex_declined(notes: &mut Notes) {
    declined("permission-codex-declined", USUAL, notes);
}

/// claude asks, and nothing is allowed.
pub fn claude_declined(notes: &mut Notes) {
    declined("permission-claude-declined", SWAPPED, notes);
}

/// codex asks to leave its sandbox; a rule of the user that allows the command covers only the command inside of it.
pub fn codex_allowed(notes: &mut Notes) {
    let (world, outcome) = play("permission-codex-allowed", USUAL, "allow-rules", notes);
    assert_eq!(decision_on(&outcome, RULED), Some(false));
    assert_eq!(decision_on(&outcome, UNRULED), Some(false));
    assert!(!exists(&world.outside("ruled.txt")) && !exists(&world.outside("unruled")));
    notes.prove(
        "a command asked about in EXECUTE and allowed by a rule runs",
        USUAL.planner,
        "not outside of its sandbox",
    );
}

/// codex asks to leave its sandbox in mode yolo, with rules that allow the commands: nothing happens unasked.
pub fn codex_in_yolo(notes: &mut Notes) {
    let world = World::create("permission-codex-yolo", USUAL, greedy);
    world.configure(
        "[[permission.rule]]\npermission = \"bash\"\npattern = \"*\"\naction = \"allow\"\n",
    );
    world.repository.open_door(&world.home);
    let outcome = world.run(&["--yes-execute", "--on-ask", "allow-rules", "--mode", "yolo"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    for line in [RULED, UNRULED, COMMITTED] {
        assert_eq!(decision_on(&outcome, line), Some(false), "{line}");
    }
    assert!(!exists(&world.outside("ruled.txt")) && !exists(&world.outside("unruled")));
    let log = world.repository.git(&["log", "--format=%s"]);
    assert!(!log.contains("evil"), "{log}");
    let what = "a command runs outside of its sandbox unasked in mode yolo";
    notes.prove(what, USUAL.planner, "no");
}

/// In Read-only, nothing of codex's writes in EXECUTE, by a patch or a command.
pub fn codex_read_only(notes: &mut Notes) {
    read_only("permission-codex-read-only", USUAL, notes);
}

/// The same with claude.
pub fn claude_read_only(notes: &mut Notes) {
    read_only("permission-claude-read-only", SWAPPED, notes);
}

fn editing(request: &Request) -> Reply {
    let calls = [
        Tool::Write {
            path: "new.txt".to_owned(),
            content: "new\n".to_owned(),
        },
        Tool::Shell("echo '// by shell' >> code.js".to_owned()),
        Tool::Escalated("touch escalated.txt".to_owned()),
    ];
    match brain::purpose_of(&request.prompt) {
        Purpose::FirstStep => brain::after(&calls, request),
        _ => brain::honest(request),
    }
}

fn read_only(name: &str, cast: Cast, notes: &mut Notes) {
    let world = World::create(name, cast, editing);
    world.configure(
        "[[permission.rule]]\npermission = \"*\"\npattern = \"*\"\naction = \"allow\"\n",
    );
    let before = world.repository.git(&["rev-parse", "HEAD^{tree}"]);
    let outcome = world.run(&["--yes-execute", "--on-ask", "allow-rules", "--mode", "plan"]);
    world.note(notes, &outcome);
    outcome.assert_code(3);
    let changed = world
        .repository
        .git(&["status", "--porcelain", "--", ":!.agent-collab"]);
    assert_eq!(changed, "", "{:?}", outcome.decisions());
    assert_eq!(world.repository.git(&["rev-parse", "HEAD^{tree}"]), before);
    let what = "in mode plan, every call allowed: writes in EXECUTE by a patch, a command or past its sandbox";
    notes.prove(what, cast.planner, "no");
}

/// claude asks, and a rule of the user allows one of the commands.
pub fn claude_allowed(notes: &mut Notes) {
    let (world, outcome) = play("permission-claude-allowed", SWAPPED, "allow-rules", notes);
    assert_eq!(decision_on(&outcome, RULED), Some(true));
    assert_eq!(decision_on(&outcome, UNRULED), Some(false));
    assert!(exists(&world.outside("ruled.txt")) && !exists(&world.outside("unruled")));
    notes.prove(
        "a command asked about in EXECUTE and allowed by a rule runs",
        SWAPPED.planner,
        "yes",
    );
}

fn declined(name: &str, cast: Cast, notes: &mut Notes) {
    let (world, outcome) = play(name, cast, "deny", notes);
    assert_eq!(decision_on(&outcome, RULED), Some(false));
    assert_eq!(decision_on(&outcome, UNRULED), Some(false));
    assert!(!exists(&world.outside("ruled.txt")) && !exists(&world.outside("unruled")));
    notes.prove(
        "a command asked about in EXECUTE and declined does not run, the turn goes on",
        cast.planner,
        "yes",
    );
}

/// Plays a run to its end; whatever was declined, the work is done, and nothing went through the link.
fn play(name: &str, cast: Cast, on_ask: &str, notes: &mut Notes) -> (World, Outcome) {
    let world = World::create(name, cast, greedy);
    world.configure(
        "[[permission.rule]]\npermission = \"bash\"\npattern = \"touch *\"\naction = \"allow\"\n",
    );
    // What the kernel sandboxes is not asked about; here only the protocol protects.
    world.configure("[safety]\ncontain_agents = false\n");
    world.repository.open_door(&world.home);
    let outcome = world.run(&["--yes-execute", "--uncontained", "--on-ask", on_ask]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    assert!(world.repository.tests_pass(&world.home));
    assert!(
        !exists(&world.outside("elsewhere/linked.txt")),
        "{:?}",
        outcome.decisions()
    );
    let what = "an edit in EXECUTE through a link out of the repository is not made";
    notes.prove(what, cast.planner, "yes");
    (world, outcome)
}

/// Returns the last decision about a command: a sandboxed one passes first, then leaving the sandbox is asked about.
fn decision_on(outcome: &Outcome, command: &str) -> Option<bool> {
    let decisions = outcome.decisions();
    decisions
        .iter()
        .rfind(|(target, _)| target.contains(command))
        .map(|(_, allowed)| *allowed)
}
