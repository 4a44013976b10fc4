//! A repository without tests: `Test from here:` says which step adds the first ones, and they prove it and what follows.

use super::{node, pytest};
use crate::script::{Agent, say, write};
use crate::world::World;

/// The files of the step with the first tests, and of the one after it.
struct FirstTests {
    command: &'static str,
    plan: [&'static str; 2],
    writes: [&'static [(&'static str, &'static str)]; 2],
}

#[test]
fn the_first_tests_of_a_repository_prove_their_step_and_those_after_it() {
    let python = FirstTests {
        command: "/usr/bin/python3 -m pytest -q",
        plan: [
            "   Files: sums.py, tests/**\n   Test first: tests/test_sums.py\n",
            pytest::TEST_FIRST,
        ],
        writes: [
            &[
                ("sums.py", pytest::SUMS),
                ("tests/test_sums.py", pytest::SUMS_TEST),
            ],
            &[
                ("sums.py", pytest::WITH_PRODUCT),
                ("tests/test_multiply.py", pytest::PRODUCT_TEST),
            ],
        ],
    };
    // Before the step there is no manifest, so that not even the command is there.
    let javascript = FirstTests {
        command: "npm test",
        plan: [
            "   Files: package.json, src/**, test/**\n   Test first: test/sum.test.js\n",
            node::TEST_FIRST,
        ],
        writes: [
            &[
                (
                    "package.json",
                    "{ \"type\": \"module\", \"scripts\": { \"test\": \"node --test\" } }\n",
                ),
                (
                    "src/sum.js",
                    "export function sum(a, b) {\n  return a + b;\n}\n",
                ),
                (
                    "test/sum.test.js",
                    "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n",
                ),
            ],
            &[
                ("src/sum.js", node::WITH_PRODUCT),
                ("test/product.test.js", node::PRODUCT_TEST),
            ],
        ],
    };
    for project in [python, javascript] {
        let mut world = World::new();
        world.proves_steps = true;
        world.config = "[test]\ndefault_command = \"auto\"\n".to_owned();
        let plan = format!(
            "# Task: Sums\n\n## Steps\n1. [ ] Say what it is\n   Files: README.md\n   No test: documentation only\n\
             2. [ ] Add\n{}   Test from here: `{}`\n3. [ ] Multiply\n{}",
            project.plan[0], project.command, project.plan[1]
        );
        let readme = &[("README.md", "# Sums\n")][..];
        let mut agent = Agent::new().plan(&plan);
        for (n, writes) in (1..).zip([readme, project.writes[0], project.writes[1]]) {
            let mut actions: Vec<_> = writes
                .iter()
                .map(|(path, text)| write(path, text))
                .collect();
            actions.push(say("The step is complete."));
            agent = agent.step(n, actions);
        }
        world.cast(&agent, &Agent::approving());
        world
            .run(&["--mode", "yolo", "-s", "test.max_fix_turns=0"])
            .ends(0);
        assert!(world.events_of("baseline.ran").is_empty());
        let done = world.state()["execution"]["done"].clone();
        let tested: Vec<&str> = done
            .as_array()
            .expect("the steps")
            .iter()
            .map(|record| {
                record["proof"]["status"]["status"]
                    .as_str()
                    .unwrap_or("none")
            })
            .collect();
        assert_eq!(tested, ["none", "proven", "proven"], "{done}");
        // Nothing tested the first step.
        world
            .program(&["verify", "--rerun"])
            .ends(6)
            .says("not verified: step 1\n");
    }
}
