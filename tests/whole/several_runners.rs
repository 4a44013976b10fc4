//! Tests a repository with a service in Python and a front end for node, each with its own test command.

use serde_json::Value;

use crate::repository::commit_all;
use crate::script::{Agent, say, write};
use crate::world::World;

const CONFIG: &str = "[[test.command]]\nrun = \"cd service && /usr/bin/python3 -m pytest -q\"\npaths = [\"service/**\"]\n\
     [[test.command]]\nrun = \"cd web && node --test\"\npaths = [\"web\"]\n";
const PLAN: &str = "# Task: Products\n\n## Goal\nProducts.\n\n## Steps\n1. [ ] Multiply in the front end\n   Files: web/**\n   Test first: web/test/product.test.mjs\n\
     2. [ ] Multiply in the service\n   Files: service/**\n   Test first: service/tests/test_multiply.py\n";
const FILES: [(&str, &str); 5] = [
    (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ("service/sums.py", "def add(a, b):\n    return a + b\n"),
    (
        "service/tests/test_sums.py",
        "from sums import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
    ),
    ("web/sum.mjs", "export const sum = (a, b) => a + b;\n"),
    (
        "web/test/sum.test.mjs",
        "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../sum.mjs';\ntest('adds', () => assert.equal(sum(1, 2), 3));\n",
    ),
];

/// Lists the checks of the run as `step cell runner`, without repeating one.
fn list_checks(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    for (_, bytes) in world.files(".agent-collab/receipts") {
        let Ok(receipt) = serde_json::from_slice::<Value>(&bytes) else {
            continue;
        };
        let data = &receipt["data"];
        let command = data["command"].as_str().unwrap_or_default();
        let runner = if command.contains("pytest") {
            "pytest"
        } else {
            "node"
        };
        let cell = data["cell"].as_str().unwrap_or_default();
        let line = format!("{} {cell} {runner}", data["step"]);
        if receipt["kind"] == "check" && !found.contains(&line) {
            found.push(line);
        }
    }
    found.sort();
    found
}

#[test]
fn each_step_is_tested_by_the_commands_of_its_paths() {
    let mut world = World::new();
    world.proves_steps = true;
    world.config = format!("[test]\n{CONFIG}");
    for (path, text) in FILES {
        world.put(path, text);
    }
    commit_all(&world.root, "project");
    let web = vec![
        write(
            "web/sum.mjs",
            "export const sum = (a, b) => a + b;\nexport const product = (a, b) => a * b;\n",
        ),
        write(
            "web/test/product.test.mjs",
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport * as sums from '../sum.mjs';\ntest('multiplies', () => assert.equal(sums.product(2, 3), 6));\n",
        ),
        say("The step is complete."),
    ];
    let service = vec![
        write(
            "service/sums.py",
            "def add(a, b):\n    return a + b\n\n\ndef multiply(a, b):\n    return a * b\n",
        ),
        write(
            "service/tests/test_multiply.py",
            "import sums\n\n\ndef test_multiplies():\n    assert sums.multiply(2, 3) == 6\n",
        ),
        say("The step is complete."),
    ];
    let agent = Agent::new().plan(PLAN).step(1, web).step(2, service);
    world.cast(&agent, &Agent::approving());
    world
        .run(&["-s", "test.max_fix_turns=0", "--mode", "yolo"])
        .ends(0);
    let state = world.state();
    for at in 0..2 {
        let proof = &state["execution"]["done"][at]["proof"]["status"];
        assert_eq!(proof["status"], "proven", "{proof}");
    }
    assert_eq!(
        list_checks(&world),
        [
            "0 baseline node",
            "0 baseline pytest",
            "1 green node",
            "1 kept node",
            "1 red node",
            "2 baseline pytest",
            "2 green pytest",
            "2 kept pytest",
            "2 red pytest",
        ]
    );
    world
        .program(&["verify", "--rerun"])
        .ends(0)
        .says("step 2  proven");
}

#[test]
fn one_command_and_several_cannot_both_be_set() {
    let mut world = World::new();
    world.config = format!("[test]\ndefault_command = \"make test\"\n{CONFIG}");
    let agent = Agent::new().plan(PLAN);
    world.cast(&agent, &Agent::approving());
    world
        .run(&[])
        .complains("`test.default_command` and `[[test.command]]` are both set")
        .complains("config.toml:")
        .complains("keep one of them");
}
