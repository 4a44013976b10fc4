//! Recorded reports of jest and vitest, and hostile ones.

use std::path::Path;

use super::super::tests::print_reading;
use super::read_reports;

fn read(runner: &str, files: &[(&str, &str)], exit_code: i32) -> String {
    print_reading(files, exit_code, |folder, report| {
        read_reports(runner, folder, Path::new("/repo"), report);
    })
}

/// Checks the report of one process of jest that ended with 0.
fn check(json: &str, expected: &str) {
    let files = [("jest-1-1.begin", ""), ("jest-1-1.json", json)];
    assert_eq!(read("jest", &files, 0), expected, "{json}");
}

#[test]
fn recorded_reports_name_each_test_with_its_file_and_suites() {
    let of_jest = include_str!("../../../../../tests/fixtures/test_reports/jest.json");
    let files = [("jest-7-1.begin", ""), ("jest-7-1.json", of_jest)];
    let expected = "\
passed test/a.test.js: <weird> \"name\" bidi
passed test/a.test.js: adds
passed test/a.test.js: after fails > passes
failed test/a.test.js: hook fails > never
failed test/a.test.js: inline snapshot that is not
failed test/a.test.js: same name
failed test/a.test.js: snapshot that is not there
failed test/a.test.js: subtracts
passed test/a.test.js: suite > each 1
failed test/a.test.js: suite > each 2
skipped test/a.test.js: suite > is expected to fail
skipped test/a.test.js: suite > is todo
skipped test/a.test.js: suite > nested suite > three
passed test/a.test.js: suite > nested suite > two
failed test/a.test.js: throws later
skipped test/skipped.test.js: s > skipped in a suite
failed to load
";
    assert_eq!(read("jest", &files, 1), expected);
    let of_vitest = include_str!("../../../../../tests/fixtures/test_reports/vitest.json");
    let files = [("vitest-7-1.begin", ""), ("vitest-7-1.json", of_vitest)];
    // After a hook that fails, vitest skips; it reports a test that is expected to fail as what it is.
    let expected = expected
        .replace(
            "failed test/a.test.js: hook",
            "skipped test/a.test.js: hook",
        )
        .replace(
            "skipped test/a.test.js: suite > is expected",
            "passed test/a.test.js: suite > is expected",
        );
    assert_eq!(read("vitest", &files, 1), expected);
}

#[test]
fn several_processes_add_up_and_each_must_report() {
    let report = |file: &str| {
        format!(
            "{{\"numTotalTests\":1,\"testResults\":[{{\"name\":\"/repo/{file}\",\"status\":\"passed\",\
             \"assertionResults\":[{{\"ancestorTitles\":[\"\",\"s\"],\"title\":\"adds\",\"status\":\"passed\"}}]}}]}}"
        )
    };
    let (a, b) = (report("a.js"), report("b.js"));
    let both = [
        ("jest-1-1.begin", ""),
        ("jest-1-1.json", a.as_str()),
        ("jest-2-1.begin", ""),
        ("jest-2-1.json", b.as_str()),
        ("vitest-2-1.json", "{"),
    ];
    let passed = "passed a.js: s > adds\npassed b.js: s > adds\n";
    assert_eq!(read("jest", &both, 0), passed);
    let stopped = "doubt: jest ended before it wrote its report: it could not start, or was stopped from inside\n";
    let missing = [&both[..], &[("jest-3-1.begin", "")]].concat();
    assert_eq!(read("jest", &missing, 0), format!("{passed}{stopped}"));
    assert_eq!(
        read("jest", &[("jest-1-1.json", &a)], 0),
        "passed a.js: s > adds\n\
         doubt: jest wrote no report: it did not start, or the command sets NODE_OPTIONS\n"
    );
}

#[test]
fn what_speaks_against_a_report_is_a_doubt() {
    check("", "doubt: a report of jest is cut, or not jest's\n");
    check("[]", "doubt: a report of jest is cut, or not jest's\n");
    check(
        r#"{"numTotalTests":2,"testResults":[]}"#,
        "doubt: jest ran 2 tests, but its report names 0\n",
    );
    check(
        r#"{"numTotalTests":0,"testResults":[],"snapshot":{"added":1,"updated":2}}"#,
        "doubt: jest wrote 3 snapshots, so the tests with them compared nothing\n",
    );
    check(
        r#"{"numTotalTests":0,"testResults":[{"name":"/repo/a.js","status":"failed","assertionResults":[]}]}"#,
        "failed to load\ndoubt: tests could not be loaded, but the exit status is 0\n",
    );
    check(
        r#"{"numTotalTests":1,"testResults":[{"name":"/repo/a.js","status":"failed","assertionResults":[{"title":"a\u001b[1m","status":"passed"}]}]}"#,
        "failed a.js: (whole file)\npassed a.js: a\ndoubt: 1 test failed, but the exit status is 0\n",
    );
}
