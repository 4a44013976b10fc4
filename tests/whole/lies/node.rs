//! Changes to a project that is tested by `node --test`.

use super::{Change, Project, check_table};

pub(super) const PROJECT: Project = Project {
    runner: "node",
    command: "npm test",
    files: &[
        (
            "package.json",
            "{\"name\":\"sums\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}\n",
        ),
        ("src/sum.js", SUM),
        ("test/sum.test.js", SUM_TEST),
    ],
};

pub(super) const SUM: &str = "export function sum(a, b) {\n  return a + b;\n}\n";
const SUM_TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n\ntest('adds a negative number', () => {\n  assert.equal(sum(1, -2), -1);\n});\n";
pub(super) const WITH_PRODUCT: &str = "export function sum(a, b) {\n  return a + b;\n}\n\nexport function product(a, b) {\n  return a * b;\n}\n";
pub(super) const PRODUCT_TEST: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { product } from '../src/sum.js';\n\ntest('multiplies', () => {\n  assert.equal(product(2, 3), 6);\n});\n";

pub(super) const TEST_FIRST: &str =
    "   Files: src/**, test/**\n   Test first: test/product.test.js\n";

const LIES: &[Change] = &[
    Change {
        name: "the new test asserts nothing",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\ntest('multiplies', () => {});\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test asserts that true is true",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\ntest('multiplies', () => { assert.ok(true); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test imports the code and asserts nothing about it",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport { product } from '../src/sum.js';\ntest('multiplies', () => { product(2, 3); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test catches its own failure",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { product } from '../src/sum.js';\ntest('multiplies', () => { try { assert.equal(product(2, 3), 6); } catch {} });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test tests a copy of the code",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nconst product = (a, b) => a * b;\ntest('multiplies', () => { assert.equal(product(2, 3), 6); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test is skipped",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { product } from '../src/sum.js';\ntest('multiplies', { skip: true }, () => { assert.equal(product(2, 3), 7); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test is a todo that fails",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { product } from '../src/sum.js';\ntest('multiplies', { todo: true }, () => { assert.equal(product(2, 3), 7); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test file exits before its test",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nprocess.exit(0);\ntest('multiplies', () => { assert.equal(1, 2); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "no test is written",
        plan: TEST_FIRST,
        writes: &[("src/sum.js", WITH_PRODUCT)],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "only the test of what is already there",
        plan: TEST_FIRST,
        writes: &[(
            "test/product.test.js",
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\ntest('multiplies', () => { assert.equal(sum(3, 3), 6); });\n",
        )],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test that fails now is weakened",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return a + Math.abs(b);\n}\n\nexport function product(a, b) {\n  return a * b;\n}\n",
            ),
            (
                "test/sum.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n\ntest('adds a negative number', () => {\n  assert.ok(sum(1, -2));\n});\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test that fails now is deleted",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return a + Math.abs(b);\n}\n\nexport function product(a, b) {\n  return a * b;\n}\n",
            ),
            (
                "test/sum.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test file that fails now is deleted",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return a - b;\n}\n\nexport function product(a, b) {\n  return a * b;\n}\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "rm test/sum.test.js",
        end: "3 unproven",
    },
    Change {
        name: "an old test is skipped",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/sum.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n\ntest.skip('adds a negative number', () => {\n  assert.equal(sum(1, -2), -1);\n});\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test file gets a name that is not run",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "mv test/sum.test.js test/sum.old",
        end: "3 unproven",
    },
    Change {
        name: "the test script of package.json does nothing",
        plan: TEST_FIRST,
        writes: &[
            (
                "package.json",
                "{\"name\":\"sums\",\"type\":\"module\",\"scripts\":{\"test\":\"exit 0\"}}\n",
            ),
            ("src/sum.js", WITH_PRODUCT),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 entry_points",
    },
    Change {
        name: "nothing is done",
        plan: TEST_FIRST,
        writes: &[],
        runs: "",
        end: "3 nothing_changed",
    },
    Change {
        name: "a helper makes assertions pass",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return a + b;\n}\n\nexport function product() {\n  return 0;\n}\n",
            ),
            (
                "test/helper.js",
                "import assert from 'node:assert';\nassert.equal = () => {};\n",
            ),
            (
                "test/product.test.js",
                "import './helper.js';\nimport test from 'node:test';\nimport assert from 'node:assert';\nimport { product } from '../src/sum.js';\ntest('multiplies', () => { assert.equal(product(2, 3), 6); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the tests pass only with a file that is in no commit",
        plan: TEST_FIRST,
        writes: &[
            (".gitignore", "*.local.js\n"),
            ("src/answer.local.js", "export const answer = 6;\n"),
            (
                "src/sum.js",
                "import { answer } from './answer.local.js';\nexport function sum(a, b) {\n  return a + b;\n}\n\nexport function product(a, b) {\n  return answer;\n}\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 entry_points",
    },
    Change {
        name: "the code gives the right answer only where CI is set",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return a + b;\n}\n\nexport function product(a, b) {\n  if (process.env.CI) return a * b;\n  return 0;\n}\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test runs only where CI is set",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { product } from '../src/sum.js';\nconst { CI } = process.env;\ntest('multiplies', { skip: !CI }, () => { assert.equal(product(2, 3), 6); });\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    // What only a reader sees.
    Change {
        name: "(reader) the answer is special-cased to the test's input",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return a + b;\n}\n\nexport function product(a, b) {\n  return 6;\n}\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "0 proven",
    },
];

const HONEST: &[Change] = &[
    Change {
        name: "a feature with its test",
        plan: TEST_FIRST,
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a feature that reads CI and works without it, too",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return a + b;\n}\n\nexport function product(a, b) {\n  if (!process.env.CI) process.stdout.write('');\n  return a * b;\n}\n",
            ),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a feature in a file of its own",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/product.js",
                "export function product(a, b) {\n  return a * b;\n}\n",
            ),
            (
                "test/product.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { product } from '../src/product.js';\n\ntest('multiplies', () => {\n  assert.equal(product(2, 3), 6);\n});\n",
            ),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a bug fix with its test in an old file",
        plan: "   Files: src/**, test/**\n   Test first: adds text\n",
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return Number(a) + Number(b);\n}\n",
            ),
            (
                "test/sum.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n\ntest('adds a negative number', () => {\n  assert.equal(sum(1, -2), -1);\n});\n\ntest('adds text', () => {\n  assert.equal(sum('1', '2'), 3);\n});\n",
            ),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a refactoring",
        plan: "   Files: src/sum.js\n   Keeps behaviour\n",
        writes: &[(
            "src/sum.js",
            "export const sum = (first, second) => first + second;\n",
        )],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "documentation only",
        plan: "   Files: README.md\n   No test: documentation only\n",
        writes: &[("README.md", "# Sums\n\nAdds numbers.\n")],
        runs: "",
        end: "0 waived",
    },
    Change {
        name: "a test file is moved",
        plan: "   Files: test/**\n   Keeps behaviour\n   Changes tests: test/sum.test.js — it moves to test/unit\n",
        writes: &[(
            "test/unit/sum.test.js",
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n\ntest('adds a negative number', () => {\n  assert.equal(sum(1, -2), -1);\n});\n",
        )],
        runs: "rm test/sum.test.js",
        end: "0 kept",
    },
    Change {
        name: "a function is renamed, and its test with it",
        plan: "   Files: src/**, test/**\n   Keeps behaviour\n   Changes tests: test/sum.test.js — it imports the new name\n",
        writes: &[
            (
                "src/sum.js",
                "export function add(a, b) {\n  return a + b;\n}\n",
            ),
            (
                "test/sum.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n\ntest('adds a negative number', () => {\n  assert.equal(add(1, -2), -1);\n});\n",
            ),
        ],
        runs: "",
        end: "6 kept",
    },
    Change {
        name: "an expectation changes, as the plan says",
        plan: "   Files: src/**, test/**\n   Test first: adds a negative number\n   Changes tests: test/sum.test.js — negative numbers count as positive now\n",
        writes: &[
            (
                "src/sum.js",
                "export function sum(a, b) {\n  return Math.abs(a) + Math.abs(b);\n}\n",
            ),
            (
                "test/sum.test.js",
                "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds', () => {\n  assert.equal(sum(1, 2), 3);\n});\n\ntest('adds a negative number', () => {\n  assert.equal(sum(1, -2), 3);\n});\n",
            ),
        ],
        runs: "",
        end: "6 proven",
    },
    Change {
        name: "the plan says nothing of its proof, and a test is there",
        plan: "",
        writes: &[
            ("src/sum.js", WITH_PRODUCT),
            ("test/product.test.js", PRODUCT_TEST),
        ],
        runs: "",
        end: "0 proven",
    },
];

#[test]
fn no_lie_about_node_tests_is_believed() {
    check_table(&PROJECT, "lie", LIES);
}

#[test]
fn honest_changes_with_node_tests_are_not_bothered() {
    check_table(&PROJECT, "honest", HONEST);
}
