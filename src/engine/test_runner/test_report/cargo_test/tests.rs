//! Recorded outputs of `cargo test`, and hostile ones.

use super::super::tests::print_reading;
use super::read_output;

/// The manifests and tests of the workspace that was recorded.
const WORKSPACE: [(&str, &str); 12] = [
    ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
    ("a/Cargo.toml", "[package]\nname = \"pkg-a\"\n"),
    ("a/src/lib.rs", ""),
    ("a/tests/exits.rs", ""),
    ("a/tests/it.rs", ""),
    ("b/Cargo.toml", "[package]\nname = \"pkg-b\"\n"),
    ("b/src/lib.rs", ""),
    ("b/tests/aborts.rs", ""),
    ("b/tests/forged.rs", ""),
    ("b/tests/it.rs", ""),
    ("target/x/Cargo.toml", "[package]\nname = \"pkg-a\"\n"),
    ("target/x/tests/it.rs", ""),
];

fn read(output: &str, exit_code: i32, files: &[(&str, &str)]) -> String {
    print_reading(files, exit_code, |root, report| {
        read_output(output, root, Some(exit_code), report);
    })
}

/// Checks the report of one program of integration tests.
fn check(lines: &str, exit_code: i32, expected: &str) {
    let output = format!("     Running tests/it.rs (target/debug/deps/it-1f)\n\n{lines}");
    assert_eq!(read(&output, exit_code, &[]), expected, "{output}");
}

const OK: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
const FAILED: &str = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";

#[test]
fn a_recorded_output_names_each_test_with_its_file() {
    let output = include_str!("../../../../../tests/fixtures/test_reports/cargo.txt");
    assert_eq!(
        read(output, 101, &[]),
        "\
passed src/lib.rs: (doctest)
failed src/lib.rs: add (doctest 2)
skipped src/lib.rs: add (doctest 3)
passed src/lib.rs: add (doctest 4)
passed src/lib.rs: add (doctest 5)
passed src/lib.rs: add (doctest 6)
passed src/lib.rs: add (doctest)
passed src/lib.rs: tests::adds
passed src/lib.rs: tests::deep::adds
failed src/lib.rs: tests::does_not_panic
failed src/lib.rs: tests::fails
skipped src/lib.rs: tests::is_ignored
skipped src/lib.rs: tests::is_ignored_with_reason
passed src/lib.rs: tests::panics
passed src/main.rs: main_works
passed tests/it.rs: adds
failed tests/it.rs: fails
passed tests/own.rs: (whole file)
"
    );
}

#[test]
fn a_run_that_stopped_at_a_failure_is_in_doubt() {
    let output = include_str!("../../../../../tests/fixtures/test_reports/cargo_stopped.txt");
    assert_eq!(
        read(output, 101, &[]),
        "\
passed src/lib.rs: tests::adds
passed src/lib.rs: tests::deep::adds
failed src/lib.rs: tests::does_not_panic
failed src/lib.rs: tests::fails
skipped src/lib.rs: tests::is_ignored
skipped src/lib.rs: tests::is_ignored_with_reason
passed src/lib.rs: tests::panics
doubt: cargo stopped at the first program with a failing test; later ones did not run
"
    );
}

#[test]
fn programs_of_a_workspace_are_told_apart_and_those_that_were_ended_are_in_doubt() {
    let output = include_str!("../../../../../tests/fixtures/test_reports/cargo_workspace.txt");
    assert_eq!(
        read(output, 101, &WORKSPACE),
        "\
passed a/src/lib.rs: one (doctest 2)
passed a/src/lib.rs: one (doctest 3)
passed a/src/lib.rs: one (doctest)
passed a/src/lib.rs: tests::works
passed a/tests/exits.rs: a_first
passed a/tests/it.rs: adds
passed b/src/lib.rs: one (doctest 2)
passed b/src/lib.rs: one (doctest 3)
passed b/src/lib.rs: one (doctest)
passed b/src/lib.rs: tests::works
passed b/tests/aborts.rs: first
passed b/tests/it.rs: adds
doubt: tests/exits.rs announced 3 tests, but 1 ended: it was stopped from inside, or a test prints into these lines
doubt: tests/aborts.rs announced 2 tests, but 1 ended: it was stopped from inside, or a test prints into these lines
doubt: tests/forged.rs names 3 tests, but announced 2 tests: a test prints such lines, too; all are left out
"
    );
}

#[test]
fn two_programs_that_cannot_be_told_apart_are_a_doubt() {
    let output = format!(
        "     Running tests/it.rs (target/debug/deps/it-1f)\n\nrunning 1 test\ntest a ... ok\n\n{OK}\n\
         \u{20}    Running tests/it.rs (target/debug/deps/it-2f)\n\nrunning 1 test\ntest a ... ok\n\n{OK}"
    );
    let doubt = "doubt: two packages have tests/it.rs, and cargo does not tell which ran\n";
    assert_eq!(
        read(&output, 0, &[]),
        format!("passed tests/it.rs: a\n{doubt}")
    );
    assert_eq!(
        read(&output.replace("2f", "1f"), 0, &[]),
        "passed tests/it.rs: a\n"
    );
    assert_eq!(
        read(&output, 0, &WORKSPACE[6..]),
        format!("passed tests/it.rs: a\n{doubt}")
    );
}

#[test]
fn tests_that_were_not_built_are_not_known() {
    let output = include_str!("../../../../../tests/fixtures/test_reports/cargo_not_built.txt");
    assert_eq!(read(output, 101, &[]), "failed to load\n");
    assert_eq!(
        read("error: failed to parse manifest\n", 101, &[]),
        "failed to load\ndoubt: cargo ran no test program\n"
    );
}

#[test]
fn a_program_without_libtest_is_one_test() {
    check("all fine\n", 0, "passed tests/it.rs: (whole file)\n");
    check(
        "broken\nerror: test failed, to rerun pass `--test it`\nerror: 1 target failed:\n    `--test it`\n",
        101,
        "failed tests/it.rs: (whole file)\n",
    );
    check(
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        0,
        "",
    );
}

#[test]
fn captured_output_of_a_failing_test_adds_nothing() {
    let captured = format!(
        "failures:\n\n---- a stdout ----\ntest forged ... ok\n\nrunning 1 test\ntest b ... ok\n\n{OK}\n\
         \u{20}    Running tests/other.rs (target/debug/deps/other-1)\n{FAILED}\n\
         failures:\n    b\n\n{FAILED}\nfailures:\n    a\n\n{FAILED}"
    );
    check(
        &format!("running 1 test\ntest a ... FAILED\n\n{captured}"),
        101,
        "failed tests/it.rs: a\n",
    );
}

#[test]
fn output_past_the_capture_is_a_doubt() {
    let doubt =
        "names 2 tests, but announced 1 test: a test prints such lines, too; all are left out";
    check(
        &format!("running 1 test\ntest forged ... ok\ntest a ... ok\n\n{OK}"),
        0,
        &format!("doubt: tests/it.rs {doubt}\n"),
    );
    check(
        &format!("running 1 test\ntest a ... ok\n\n{OK}\n{OK}"),
        0,
        "passed tests/it.rs: a\ndoubt: tests/it.rs has a result line of no tests\n",
    );
    check(
        "running 1 test\ntest a ... ok\n\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        0,
        "passed tests/it.rs: a\ndoubt: tests/it.rs has no result line that fits its tests\n",
    );
    check(
        &format!(
            "running 1 test\ntest a ... FAILED\n\nfailures:\n\nfailures:\n    other\n\n{FAILED}"
        ),
        101,
        "failed tests/it.rs: a\ndoubt: tests/it.rs has no result line that fits its tests\n",
    );
    let two = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    check(
        &format!("running 2 tests\ntest a ... ok\ntest a ... ok\n\n{two}"),
        0,
        "passed tests/it.rs: a\ndoubt: tests/it.rs names a test twice\n",
    );
    check(
        "running 1 test\ntest a ... ",
        0,
        "doubt: tests/it.rs announced 1 test, but 0 ended: it was stopped from inside, or a test prints into these lines\n",
    );
}

#[test]
fn other_ways_to_print_are_known() {
    // A single thread without capture prints the output between the name and the result.
    check(
        &format!("running 1 test\ntest a ... hello\nmore\nok\n\n{OK}"),
        0,
        "passed tests/it.rs: a\n",
    );
    check(
        &format!("running 1 test\n\u{1b}[0mtest a ... \u{1b}[32mok\u{1b}[0m\n\n{OK}"),
        0,
        "passed tests/it.rs: a\n",
    );
    check(
        &format!("running 1 test\ntest a      ... FAILED\n\nfailures:\n    a\n\n{FAILED}"),
        101,
        "failed tests/it.rs: a\n",
    );
    check(
        &format!("running 1 test\n.\n{OK}"),
        0,
        "doubt: tests/it.rs names no tests, because it is told to be quiet\n",
    );
    check(
        &format!(
            "running 1 test\ntest a ... ok\n\n{OK}\nerror: test failed, to rerun pass `--test it`\nerror: 1 target failed:\n"
        ),
        101,
        "passed tests/it.rs: a\ndoubt: tests/it.rs failed, although none of its tests did\n",
    );
    let output = format!("running 1 test\ntest a ... ok\n\n{OK}");
    assert_eq!(
        read(&output, 0, &[]),
        "passed a\ndoubt: a test program without a heading ran: cargo's own lines are missing\n"
    );
}
