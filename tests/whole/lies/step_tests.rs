//! Steps that their own tests prove, with the whole suite once after the last one (`test.proof = "red"`).

use std::fs;

use super::lay_out;
use super::node::{PRODUCT_TEST, PROJECT, SUM, WITH_PRODUCT};
use crate::repository::commit_all;
use crate::script::{Agent, say, write};
use crate::world::World;

const PLAN: &str = "# Task: Products\n\n## Goal\nProducts.\n\n## Steps\n1. [ ] Multiply\n   Files: src/**, test/**\n   Test first: test/product.test.js\n\
     2. [ ] Divide\n   Files: src/**, test/**\n   Test first: test/quotient.test.js\n";
const QUOTIENT: &str = "export const quotient = (a, b) => a / b;\n";
const QUOTIENT_TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { quotient } from '../src/quotient.js';\n\ntest('divides', () => {\n  assert.equal(quotient(6, 3), 2);\n});\n";

/// Runs two steps, of which the first writes this into `src/sum.js`; returns the exit code, the world, and how often the
/// tests of no step ran.
fn run_two_steps(sum: &str) -> (i32, World, usize) {
    let mut world = lay_out(&PROJECT);
    world.config.push_str("proof = \"red\"\n");
    let count = world.written_by_tests("count");
    fs::write(&count, "").expect("a file");
    let other = format!(
        "import fs from 'node:fs';\nimport test from 'node:test';\nimport assert from 'node:assert';\nimport {{ sum }} from '../src/sum.js';\n\n\
         test('adds nothing', () => {{\n  fs.appendFileSync({count:?}, 'x');\n  assert.equal(sum(1, 0), 1);\n}});\n"
    );
    world.put("test/other.test.js", &other);
    commit_all(&world.root, "a test of no step");
    let first = vec![
        write("src/sum.js", sum),
        write("test/product.test.js", PRODUCT_TEST),
        say("Done."),
    ];
    let second = vec![
        write("src/quotient.js", QUOTIENT),
        write("test/quotient.test.js", QUOTIENT_TEST),
        say("Done."),
    ];
    let agent = Agent::new().plan(PLAN).step(1, first).step(2, second);
    world.cast(&agent, &Agent::approving());
    let ran = world.run(&["-s", "test.max_fix_turns=0", "--mode", "yolo"]);
    let runs = fs::read(&count).expect("the count").len();
    (ran.code, world, runs)
}

#[test]
fn the_suite_runs_before_the_first_step_and_after_the_last() {
    let (code, world, runs) = run_two_steps(WITH_PRODUCT);
    assert_eq!((code, runs), (0, 2));
    let state = world.state();
    let summary = |n: usize| {
        let found = &state["execution"]["done"][n]["proof"];
        assert_eq!(found["status"]["status"], "proven", "{found}");
        found["found"]["scope"].as_str().unwrap_or("whole_suite")
    };
    assert_eq!(summary(0), "step_tests");
    assert_eq!(summary(1), "step_tests_and_suite");
}

#[test]
fn what_an_earlier_step_broke_is_found_with_the_step() {
    let broken = WITH_PRODUCT.replace("return a + b", "return b === 0 ? 0 : a + b");
    assert_ne!(broken, SUM);
    let (code, world, _) = run_two_steps(&broken);
    let asked = &world.state()["awaiting"]["kind"];
    assert_eq!((code, &asked["about"]), (3, &"tests_failed".into()));
    let found = asked["found"].as_str().expect("what was found");
    assert!(found.contains("since step 1"), "{found}");
}
