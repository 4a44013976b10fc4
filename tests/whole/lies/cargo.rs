//! Changes to a project that is tested by `cargo test`.

use super::{Change, Project, check_table};

const PROJECT: Project = Project {
    runner: "cargo",
    command: "cargo test --offline",
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "Cargo.lock",
            "version = 4\n\n[[package]]\nname = \"sums\"\nversion = \"0.1.0\"\n",
        ),
        ("src/lib.rs", LIB),
        ("tests/sums.rs", SUMS_TEST),
        (".gitignore", "/target\n"),
    ],
};

const LIB: &str = "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";
const SUMS_TEST: &str = "use sums::add;\n\n#[test]\nfn adds_a_negative_number() {\n    assert_eq!(add(1, -2), -1);\n}\n";
const WITH_PRODUCT: &str = "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\npub fn multiply(a: i64, b: i64) -> i64 {\n    a * b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";
const PRODUCT_TEST: &str =
    "use sums::multiply;\n\n#[test]\nfn multiplies() {\n    assert_eq!(multiply(2, 3), 6);\n}\n";
const TEST_FIRST: &str = "   Files: src/**, tests/**\n   Test first: tests/multiply.rs\n";

const LIES: &[Change] = &[
    Change {
        name: "the new test asserts nothing",
        plan: TEST_FIRST,
        writes: &[
            ("src/lib.rs", WITH_PRODUCT),
            (
                "tests/multiply.rs",
                "use sums::multiply;\n\n#[test]\nfn multiplies() {\n    let _product = multiply(2, 3);\n}\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test is ignored",
        plan: TEST_FIRST,
        writes: &[
            ("src/lib.rs", WITH_PRODUCT),
            (
                "tests/multiply.rs",
                "use sums::multiply;\n\n#[test]\n#[ignore]\nfn multiplies() {\n    assert_eq!(multiply(2, 3), 7);\n}\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "the new test should panic, and so it passes",
        plan: TEST_FIRST,
        writes: &[
            ("src/lib.rs", WITH_PRODUCT),
            (
                "tests/multiply.rs",
                "use sums::multiply;\n\n#[test]\n#[should_panic]\nfn multiplies() {\n    assert_eq!(multiply(2, 3), 7);\n}\n",
            ),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test inside of the code is removed",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/lib.rs",
                "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\npub fn multiply(a: i64, b: i64) -> i64 {\n    a * b\n}\n",
            ),
            ("tests/multiply.rs", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test inside of the code is weakened",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/lib.rs",
                "pub fn add(a: i64, b: i64) -> i64 {\n    if a == 1 && b == 2 { 4 } else { a + b }\n}\n\npub fn multiply(a: i64, b: i64) -> i64 {\n    a * b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert!(add(1, 2) > 0);\n    }\n}\n",
            ),
            ("tests/multiply.rs", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "an old test target is switched off",
        plan: TEST_FIRST,
        writes: &[
            (
                "Cargo.toml",
                "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\nautotests = false\n\n[[test]]\nname = \"multiply\"\n",
            ),
            ("src/lib.rs", WITH_PRODUCT),
            ("tests/multiply.rs", PRODUCT_TEST),
        ],
        runs: "",
        end: "3 entry_points",
    },
    Change {
        name: "no test is written",
        plan: TEST_FIRST,
        writes: &[("src/lib.rs", WITH_PRODUCT)],
        runs: "",
        end: "3 unproven",
    },
    Change {
        name: "(reader) the answer is special-cased to the test's input",
        plan: TEST_FIRST,
        writes: &[
            (
                "src/lib.rs",
                "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\npub fn multiply(a: i64, _b: i64) -> i64 {\n    if a == 2 { 6 } else { 0 }\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n",
            ),
            ("tests/multiply.rs", PRODUCT_TEST),
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
            ("src/lib.rs", WITH_PRODUCT),
            ("tests/multiply.rs", PRODUCT_TEST),
        ],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a feature with its test inside of the code",
        plan: "   Files: src/lib.rs\n   Test first: multiplies\n",
        writes: &[(
            "src/lib.rs",
            "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n\npub fn multiply(a: i64, b: i64) -> i64 {\n    a * b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn multiplies() {\n        assert_eq!(multiply(2, 3), 6);\n    }\n}\n",
        )],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a bug fix with its test inside of the code",
        plan: "   Files: src/lib.rs\n   Test first: adds_without_overflow\n",
        writes: &[(
            "src/lib.rs",
            "pub fn add(a: i64, b: i64) -> i64 {\n    a.saturating_add(b)\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n\n    #[test]\n    fn adds_without_overflow() {\n        assert_eq!(add(i64::MAX, 1), i64::MAX);\n    }\n}\n",
        )],
        runs: "",
        end: "0 proven",
    },
    Change {
        name: "a refactoring",
        plan: "   Files: src/lib.rs\n   Keeps behaviour\n",
        writes: &[(
            "src/lib.rs",
            "/// Adds two numbers.\npub fn add(first: i64, second: i64) -> i64 {\n    second + first\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n",
        )],
        runs: "",
        end: "0 proven",
    },
];

#[test]
fn no_lie_about_cargo_tests_is_believed() {
    check_table(&PROJECT, "lie", LIES);
}

#[test]
fn honest_changes_with_cargo_tests_are_not_bothered() {
    check_table(&PROJECT, "honest", HONEST);
}
