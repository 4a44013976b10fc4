//! Tests that sometimes fail: those that did before the step are no fault of the step, and those that the step made so are.

use std::fs;
use std::path::Path;

use super::node::{PRODUCT_TEST, PROJECT, TEST_FIRST, WITH_PRODUCT};
use super::{Change, lay_out, play_in};
use crate::repository::commit_all;

const HONEST: Change = Change {
    name: "a feature beside an old flaky test",
    plan: TEST_FIRST,
    writes: &[
        ("src/sum.js", WITH_PRODUCT),
        ("test/product.test.js", PRODUCT_TEST),
    ],
    runs: "",
    end: "0 proven",
};

/// A module whose function fails every second time that a test run calls it.
fn alternating(count: &Path) -> String {
    format!(
        "import fs from 'node:fs';\n\nexport function check() {{\n  const n = fs.readFileSync({count:?}, 'utf8').length;\n  \
         fs.appendFileSync({count:?}, 'x');\n  if (n % 2 === 1) throw new Error('every second time');\n}}\n"
    )
}

const TEST: &str = "import test from 'node:test';\nimport { check } from '../src/check.js';\n\ntest('checks', () => check());\n";

#[test]
fn an_old_flaky_test_is_no_fault_of_the_step() {
    let world = lay_out(&PROJECT);
    let count = world.written_by_tests("count");
    fs::write(&count, "").expect("a file");
    world.put("src/check.js", &alternating(&count));
    world.put("test/check.test.js", TEST);
    let beside = world.written_by_tests("beside");
    fs::write(&beside, "").expect("a file");
    world.put(
        "test/beside.test.js",
        &format!("import fs from 'node:fs';\nimport test from 'node:test';\n\ntest('beside', () => fs.appendFileSync({beside:?}, 'x'));\n"),
    );
    commit_all(&world.root, "a flaky test");
    assert_eq!(
        play_in(&world, &PROJECT, &HONEST),
        Ok(HONEST.end.to_owned())
    );
    // The first test run passes and the second, with the step, does not; one more each shows why.
    let n_runs = |file| fs::read(file).expect("the count").len();
    assert!(n_runs(&count) > 4);
    // It runs alone then.
    assert!(n_runs(&beside) + 2 <= n_runs(&count), "{}", n_runs(&beside));
}

#[test]
fn a_test_that_the_step_makes_flaky_fails_the_step() {
    let world = lay_out(&PROJECT);
    let count = world.written_by_tests("count");
    fs::write(&count, "x").expect("a file");
    world.put("src/check.js", "export function check() {}\n");
    world.put("test/check.test.js", TEST);
    commit_all(&world.root, "a test that never fails");
    let code: &'static str = alternating(&count).leak();
    let writes: &'static [(&str, &str)] = Vec::leak(vec![("src/check.js", code)]);
    let lie = Change {
        name: "the step makes an old test flaky",
        writes,
        end: "3 tests_failed",
        ..HONEST
    };
    assert_eq!(play_in(&world, &PROJECT, &lie), Ok(lie.end.to_owned()));
}
