//! The tests run once before the first step: failures are reported, stop nothing, and are not blamed on a step.

use crate::repository::commit_all;
use crate::script::{Agent, say, write};
use crate::world::World;

/// A test runner that prints `result.txt` and fails if the file mentions a failure.
const RUNNER: &str = "#!/bin/sh\ncat result.txt\n! grep -q failed result.txt\n";
const PYTEST: [&str; 2] = ["-s", "test.default_command=pytest"];
/// Where tests may write, too.
const SAID: &str = "home/.ccache/said";
const RED: &str = "FAILED tests/test_a.py::test_old - assert 0\n1 failed, 3 passed in 0.1s\n";

fn with_a_runner(result: &str) -> World {
    let mut world = World::new();
    world.put("result.txt", result);
    commit_all(&world.root, "result");
    let tools = world.folder.join("tools");
    crate::programs::put_program(&tools.join("pytest"), RUNNER);
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", tools.display());
    world.env.push(("PATH".to_owned(), path));
    world
}

fn writer() -> Agent {
    Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
}

#[test]
fn red_before_the_first_step_is_told_by_name_and_no_fix_turn_is_spent_on_it() {
    let world = with_a_runner(RED);
    world.cast(&writer(), &Agent::approving());
    let told = "Before step 1: tests failed (exit 1): 3 passed, 1 failed, 0 skipped, test command from --set; \
        failing: tests/test_a.py::test_old (no step has to fix what already fails)";
    world
        .run(&PYTEST)
        .ends(3)
        .says(told)
        .complains("needs you (tests_failed): Step 1: tests failed")
        .complains("no failures beyond those before step 1: tests/test_a.py::test_old");
    assert_eq!(world.events_of("baseline.ran").len(), 1);
    assert_eq!(world.events_of("tests.ran").len(), 1);
    assert_eq!(world.state()["execution"]["current"]["fix_turns"], 0);
    let log = world.read(".agent-collab/log.md");
    assert!(log.contains(&told.replace("Before", "before")), "{log}");
    let accepts = ["resume", "--auto", "--answer", "tests_failed=accept"];
    world
        .program(&[&accepts[..], &PYTEST[..]].concat())
        .ends(6)
        .complains("step 1 was accepted with failing tests");
    assert_eq!(world.events_of("baseline.ran").len(), 1);
}

#[test]
fn a_step_that_breaks_something_else_gets_its_fix_turn() {
    let world = with_a_runner(RED);
    let worse = "FAILED tests/test_a.py::test_new - assert 0\n1 failed, 3 passed in 0.1s\n";
    let agent = Agent::planning(&["Write"])
        .step(1, vec![write("result.txt", worse), say("Wrote.")])
        .fix(
            1,
            1,
            vec![write("result.txt", "4 passed in 0.1s\n"), say("Fixed.")],
        );
    world.cast(&agent, &Agent::approving());
    world.run(&PYTEST).ends(0);
    assert!(world.read(".agent-collab/log.md").contains("fix turns: 1"));
}

#[test]
fn a_first_step_that_loses_tests_is_in_doubt() {
    let world = with_a_runner("4 passed in 0.1s\n");
    let agent = Agent::planning(&["Write"]).step(
        1,
        vec![write("result.txt", "3 passed in 0.1s\n"), say("Wrote.")],
    );
    world.cast(&agent, &Agent::approving());
    world
        .run(&PYTEST)
        .ends(3)
        .complains("needs you (tests_in_doubt): Step 1: fewer tests ran than before");
}

#[test]
fn known_failures_are_accepted_in_every_step_of_a_long_plan() {
    let world = with_a_runner(RED);
    let names = ["a", "b", "c", "d"];
    let mut agent = Agent::planning(&names);
    for (n, name) in (1..).zip(names) {
        agent = agent.step(n, vec![write(&format!("{name}.txt"), name), say("Wrote.")]);
    }
    world.cast(&agent, &Agent::approving());
    world
        .run(&[&PYTEST[..], &["--answer", "tests_failed=accept"]].concat())
        .ends(6)
        .complains("step 4 was accepted with failing tests");
}

#[test]
fn it_is_left_out_where_the_configuration_says_so_or_nothing_is_tested() {
    let world = with_a_runner("4 passed in 0.1s\n");
    world.cast(&writer(), &Agent::approving());
    world
        .run(&[&PYTEST[..], &["-s", "test.baseline=false"]].concat())
        .ends(0);
    assert!(world.events_of("baseline.ran").is_empty());
    let world = World::new();
    world.cast(&writer(), &Agent::approving());
    world.run(&["-s", "test.default_command=auto"]).ends(6);
    assert!(world.events_of("baseline.ran").is_empty());
}

#[test]
fn a_program_that_is_killed_in_it_runs_it_again() {
    let world = World::new();
    let first = world.written_by_tests("first");
    let (said, gate) = (world.fifo(SAID), world.fifo("home/.ccache/gate"));
    let command = format!(
        "sh -c 'test -e {0} || {{ touch {0}; echo here > {said}; cat {gate}; }}'",
        first.display()
    );
    let configured = format!("test.default_command={command}");
    world.cast(&writer(), &Agent::approving());
    let running = world.start_run(&["-s", &configured]);
    world.heard(SAID);
    running.signal("KILL");
    running.wait();
    assert!(world.events_of("baseline.ran").is_empty());
    world
        .program(&["resume", "--auto", "--yes-execute", "-s", &configured])
        .ends(0);
    assert_eq!(world.events_of("baseline.ran").len(), 1);
    assert_eq!(world.committed(), ["new.txt"]);
}
