//! Recorded events of mocha, and hostile ones.

use std::path::Path;

use super::super::tests::print_reading;
use super::read_reports;

fn read(files: &[(&str, &str)], exit_code: i32) -> String {
    print_reading(files, exit_code, |folder, report| {
        read_reports(folder, Path::new("/repo"), Some(exit_code), report);
    })
}

/// Checks the events of one process.
fn check(events: &str, expected: &str) {
    let exit_code = i32::from(expected.contains("failed "));
    let files = [("mocha-1-1.begin", ""), ("mocha-1-1.json", events)];
    assert_eq!(read(&files, exit_code), expected, "{events}");
}

#[test]
fn recorded_events_name_each_test_with_its_file_and_suites() {
    check(
        include_str!("../../../../../tests/fixtures/test_reports/mocha.jsonl"),
        "\
passed test/a.test.js: <weird> \"name\" bidi
passed test/a.test.js: adds
failed test/a.test.js: after fails > \"after all\" hook for \"passes\"
passed test/a.test.js: after fails > passes
failed test/a.test.js: calls done twice
failed test/a.test.js: each hook fails > \"before each\" hook for \"never two\"
failed test/a.test.js: each hook fails > never two
failed test/a.test.js: hook fails > \"before all\" hook for \"never\"
failed test/a.test.js: same name
failed test/a.test.js: subtracts
passed test/a.test.js: suite > fails first
skipped test/a.test.js: suite > is pending
skipped test/a.test.js: suite > nested suite > three
passed test/a.test.js: suite > nested suite > two
skipped test/a.test.js: suite > skips itself
failed test/a.test.js: throws later
passed test/b.js: b > adds
",
    );
}

#[test]
fn a_run_that_ends_too_early_is_in_doubt_or_did_not_load() {
    let began = r#"{"type":"begin","file":"/repo/a.js","path":["s","a"],"kind":"test"}"#;
    check(
        began,
        "doubt: 1 test began and did not end, such as \"s > a\": the process was stopped from inside\n\
         doubt: mocha ended before its report was complete\n",
    );
    check(
        "{\"type\":\"complete\"}\nnot json",
        "doubt: a report of mocha has a line that is not an event\n",
    );
    let started = ("mocha-1-1.begin", "");
    assert_eq!(read(&[started], 1), "failed to load\n");
    assert_eq!(
        read(&[started], 0),
        "doubt: mocha wrote no report: it was stopped from inside\n"
    );
    assert_eq!(
        read(&[], 0),
        "doubt: mocha wrote no report: it did not start, or the command sets NODE_OPTIONS\n"
    );
}
