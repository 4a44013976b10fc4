//! Many tasks at once: there are never more agents than places, whatever happens to each.

use serde_json::{Value, json};

use crate::programs::put_program;
use crate::script::{Agent, say, write};
use crate::world::World;

/// The number of tasks in one call; all but the first few wait.
const TASKS: usize = 64;
const PLACES: usize = 3;

/// Starts the agent under a lock that the kernel keeps until its last process is gone; there are as many as places. An
/// agent without a free lock leaves a note, so no result depends on the time of a check.
const LOCKED: &str = r#"#!/bin/sh
case " $* " in *" --version "*) exec PROGRAM "$@";; esac
for n in $(seq PLACES); do
  exec 9>>"FOLDER/place-$n"
  if flock -n 9; then
    echo taken >&9
    exec PROGRAM "$@"
  fi
done
echo "one too many" >> "FOLDER/too-many"
exec PROGRAM "$@"
"#;

#[test]
fn sixty_four_tasks_at_once_never_have_more_agents_than_places() {
    let mut world = World::new();
    let program = env!("CARGO_BIN_EXE_agent-collab");
    let locked = world.folder.join("locked");
    put_program(
        &locked,
        &LOCKED
            .replace("PROGRAM", program)
            .replace("PLACES", &PLACES.to_string())
            .replace("FOLDER", &world.folder.display().to_string()),
    );
    // The planner has its own adapter and uses no place.
    let script = world.folder.join("scout.json");
    world.config = format!(
        "[limits]\nmax_children = {PLACES}\nper_adapter = 64\ntasks_per_call = 64\n\
         [agents.scout]\nmode = \"subagent\"\nadapter = \"scouts\"\nrules = [[\"edit\", \"*\", \"deny\"]]\n\
         [adapters.scouts]\nkind = \"codex\"\nprogram = {locked:?}\n\
         args = [\"scripted-agent\", \"--as\", \"codex\", \"--fast\", \"--script\", {script:?}]\n"
    );
    let scout = Agent::new().always("[agent-collab task scout", vec![say("Found it.")]);
    std::fs::write(&script, scout.to_json()).expect("script");
    let task = |n: usize| json!({ "agent": "scout", "prompt": format!("look at {n}") });
    let all: Vec<Value> = (0..TASKS).map(task).collect();
    let give = json!({ "do": "tool", "tool": "task", "input": { "tasks": all } });
    let planner = Agent::planning(&["Write"]).step(1, vec![give, write("a.txt", "${answer}\n")]);
    world.cast(&planner, &Agent::approving());
    world.run(&[]).ends(0);
    let told = world.read("a.txt");
    assert_eq!(told.matches("Found it.").count(), TASKS, "{told}");
    // How many places were used at once depends on the machine.
    let taken = |n: usize| std::fs::read_to_string(world.folder.join(format!("place-{n}")));
    let taken: usize = (1..=PLACES)
        .filter_map(|n| taken(n).ok())
        .map(|taken| taken.lines().count())
        .sum();
    assert_eq!(taken, TASKS);
    assert!(!world.folder.join("too-many").exists());
    assert_eq!(world.leftovers(), Vec::<String>::new());
}
