//! An allow rule in a CLI's own settings, as a careless user may have, has no hidden effect.

use std::fs;
use std::process::Command;

use crate::bounded;
use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Outcome, SWAPPED, USUAL, World, exists};

const CAPABILITY: &str = "an allow rule of its own settings acts unseen";
/// A command that only the user's own rule allows.
const WISH: &str = "touch ../wished.txt";

fn wish() -> Tool {
    Tool::Shell(WISH.to_owned())
}

/// Wishes before EXECUTE and in it; outside of this program, too.
fn wishing(request: &Request) -> Reply {
    match brain::purpose_of(&request.prompt) {
        Purpose::WritePlan(_) | Purpose::FirstStep => brain::after(&[wish()], request),
        Purpose::Unclear if request.n_outputs() == 0 => Reply::call(wish()),
        Purpose::Review(_)
        | Purpose::Respond(_)
        | Purpose::SecondStep
        | Purpose::Summary
        | Purpose::Unclear => brain::honest(request),
    }
}

/// claude's own settings allow everything; through this program each call is decided all the same.
pub fn claude(notes: &mut Notes) {
    let world = World::create("own-rules-claude", SWAPPED, wishing);
    let rules = r#"{"permissions": {"allow": ["Bash", "Write", "Edit", "NotebookEdit"]}}"#;
    fs::write(world.outside("home/.claude/settings.json"), rules).expect("claude's own settings");
    let mut alone = world.home.cli(Vendor::Anthropic);
    alone.arg("-p");
    assert_rule_is_live(&world, alone);
    // What the kernel sandboxes is not asked about; here only the protocol protects.
    world.configure("[safety]\ncontain_agents = false\n");
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    assert_wish_declined(&world, &outcome);
    notes.prove(CAPABILITY, Vendor::Anthropic, "no");
}

/// codex's own rules let a command out of its sandbox; with this program, that is reported and still decided.
pub fn codex(notes: &mut Notes) {
    let world = World::create("own-rules-codex", USUAL, wishing);
    let rules = world.outside("home/.codex/rules");
    fs::create_dir_all(&rules).expect("codex's own rules");
    let rule = "prefix_rule(pattern = [\"touch\"], decision = \"allow\")\n";
    fs::write(rules.join("default.rules"), rule).expect("codex's own rules");
    let mut alone = world.home.cli(Vendor::Openai);
    alone.args(["exec", "--skip-git-repo-check", "-s", "read-only", "-"]);
    assert_rule_is_live(&world, alone);
    let outcome = world.run(&["--yes-execute"]);
    world.note(notes, &outcome);
    outcome.assert_code(0);
    let said = format!("{}{}", outcome.finished.stdout, outcome.finished.stderr);
    assert!(said.contains("default.rules:1 `touch`"), "{said}");
    assert_wish_declined(&world, &outcome);
    notes.prove(CAPABILITY, Vendor::Openai, "no");
}

/// Checks that the command was never allowed, neither before EXECUTE nor in it.
fn assert_wish_declined(world: &World, outcome: &Outcome) {
    let decisions = outcome.decisions();
    let on_wish: Vec<bool> = decisions
        .iter()
        .filter(|(target, _)| target.contains(WISH))
        .map(|(_, allowed)| *allowed)
        .collect();
    assert_eq!(on_wish, [false, false], "{decisions:?}");
    assert!(!exists(&world.outside("wished.txt")), "{decisions:?}");
}

/// Alone, the CLI obeys the rule, so the scenario proves something.
fn assert_rule_is_live(world: &World, mut alone: Command) {
    alone.current_dir(world.repository.root());
    let limit = std::time::Duration::from_secs(180);
    let finished = bounded::run(alone, "hello", world.home.root(), limit);
    assert_eq!(finished.code(), 0, "{}", bounded::tail(&finished.stderr));
    fs::remove_file(world.outside("wished.txt")).expect("the rule lets the CLI act alone");
}
