//! An agent asks to leave its bounds while it executes: declined and allowed, on both CLIs.

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool};
use crate::report::Notes;
use crate::world::{Cast, Outcome, SWAPPED, USUAL, World, exists};

/// The one command that the rule of the scenarios allows.
const RULED: &str = "touch ../ruled.txt";
/// A command that no rule allows.
const UNRULED: &str = "mkdir ../unruled";

/// What the model wants in its first step before it works: to write outside of the repository.
fn wishes() -> [Tool; 3] {
    [
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

/// codex asks, nobody allows anything.
pub fn codex_declined(notes: &mut Notes) {
    declined("permission-codex-declined", USUAL, notes);
}

/// claude asks, nobody allows anything.
pub fn claude_declined(notes: &mut Notes) {
    declined("permission-claude-declined", SWAPPED, notes);
}

/// codex asks, a rule of the user's allows one of the commands.
pub fn codex_allowed(notes: &mut Notes) {
    allowed("permission-codex-allowed", USUAL, notes);
}

/// claude asks, a rule of the user's allows one of the commands.
pub fn claude_allowed(notes: &mut Notes) {
    allowed("permission-claude-allowed", SWAPPED, notes);
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

fn allowed(name: &str, cast: Cast, notes: &mut Notes) {
    let (world, outcome) = play(name, cast, "allow-rules", notes);
    assert_eq!(decision_on(&outcome, RULED), Some(true));
    assert_eq!(decision_on(&outcome, UNRULED), Some(false));
    assert!(exists(&world.outside("ruled.txt")) && !exists(&world.outside("unruled")));
    notes.prove(
        "a command asked about in EXECUTE and allowed by a rule runs",
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
    // What the kernel holds is not asked about; here the protocol is on its own.
    world.configure("[safety]\ncontain_agents = false\n");
    world.repository.open_door(&world.home);
    let outcome = world.run(&["--yes-execute", "--on-ask", on_ask]);
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

/// The last word on a command: what its sandbox would hold is let pass first, then the wish to leave it is asked about.
fn decision_on(outcome: &Outcome, command: &str) -> Option<bool> {
    let decisions = outcome.decisions();
    decisions
        .iter()
        .rfind(|(target, _)| target.contains(command))
        .map(|(_, allowed)| *allowed)
}
