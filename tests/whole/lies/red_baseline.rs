//! Tests that fail before the first step: the user decides once, or the approved plan has said that a step fixes them.

use super::pytest::{PRODUCT_TEST, PROJECT, TEST_FIRST, WITH_PRODUCT};
use super::{Change, lay_out, play_in};
use crate::repository::commit_all;
use crate::script::{Agent, say, write};
use crate::world::World;

const RED: &str =
    "from sums import add\n\n\ndef test_adds_text():\n    assert add('1', '2') == 3\n";
const FIXED_SUMS: &str = "def add(a, b):\n    return int(a) + int(b)\n";
const FIX: &str = "   Files: sums.py\n   Test first: test_adds_text\n";

const HONEST: Change = Change {
    name: "a feature beside a test that fails before",
    plan: TEST_FIRST,
    writes: &[
        ("sums.py", WITH_PRODUCT),
        ("tests/test_multiply.py", PRODUCT_TEST),
    ],
    runs: "",
    end: "3 red_baseline",
};

/// The project with a test that fails.
fn red_world() -> World {
    let world = lay_out(&PROJECT);
    world.put("tests/test_text.py", RED);
    commit_all(&world.root, "a test that fails");
    world
}

fn asked(world: &World) -> usize {
    let questions = world.events_of("question.asked");
    let about = questions
        .iter()
        .filter(|event| event.to_string().contains("\"red_baseline\""));
    about.count()
}

#[test]
fn a_user_who_accepts_known_failures_is_asked_once() {
    let world = red_world();
    assert_eq!(
        play_in(&world, &PROJECT, &HONEST),
        Ok(HONEST.end.to_owned())
    );
    assert_eq!(asked(&world), 1);
    world
        .program(&["resume", "--auto", "--answer", "red_baseline=accept"])
        .ends(0);
    let record = &world.state()["execution"]["done"][0];
    assert_eq!(record["proof"]["status"]["status"], "proven", "{record}");
    let extensions = world.state()["extensions"].to_string();
    assert!(
        extensions.contains("tests/test_text.py: test_adds_text"),
        "{extensions}"
    );
    world.program(&["verify"]).ends(0);
}

#[test]
fn a_plan_that_fixes_what_fails_is_not_asked_about() {
    let world = red_world();
    let fix = Change {
        name: "a step that fixes a test which fails before",
        plan: FIX,
        writes: &[("sums.py", FIXED_SUMS)],
        end: "0 proven",
        ..HONEST
    };
    assert_eq!(play_in(&world, &PROJECT, &fix), Ok(fix.end.to_owned()));
    assert_eq!(asked(&world), 0);
}

#[test]
fn failures_that_are_to_be_fixed_first_are_the_first_step_of_another_plan() {
    let world = red_world();
    let plan = |steps: &str| format!("# Task: A change\n\n## Steps\n{steps}");
    let feature = format!("[ ] Multiply\n{TEST_FIRST}");
    let planner = Agent::new()
        .plan(&plan(&format!("1. {feature}")))
        .plan(&plan(&format!("1. [ ] Add texts\n{FIX}2. {feature}")))
        .step(1, vec![write("sums.py", FIXED_SUMS), say("Fixed.")])
        .step(
            2,
            vec![
                write(
                    "sums.py",
                    &format!("{FIXED_SUMS}\n\ndef multiply(a, b):\n    return a * b\n"),
                ),
                write("tests/test_multiply.py", PRODUCT_TEST),
                say("Multiplies."),
            ],
        );
    let reviewer = Agent::new().always(
        "[agent-collab REVIEW",
        vec![write("${comments_path}", "[APPROVED]\n")],
    );
    world.cast(&planner, &reviewer);
    world
        .run(&["--mode", "yolo", "--answer", "red_baseline=fix-first"])
        .ends(0);
    assert_eq!(asked(&world), 1);
    let done = world.state()["execution"]["done"].clone();
    for record in done.as_array().expect("the steps") {
        assert_eq!(record["proof"]["status"]["status"], "proven", "{record}");
    }
}
