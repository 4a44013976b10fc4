//! Recorded events of `node --test`, and hostile ones.

use std::path::Path;

use super::super::tests::{print_reading, write_files};
use super::read_reports;

fn read(reports: &[(&str, &str)], exit_code: i32) -> String {
    print_reading(reports, exit_code, |folder, report| {
        read_reports(folder, Path::new("/repo"), report);
    })
}

/// Checks the report of events that follow each other in one process.
fn check(events: &str, expected: &str) {
    let events = format!("{{\"type\":\"begin\",\"folder\":\"/repo\"}}\n{events}");
    let exit_code = i32::from(expected.contains("failed "));
    assert_eq!(
        read(&[("node-1-1.jsonl", &events)], exit_code),
        expected,
        "{events}"
    );
}

#[test]
fn recorded_events_name_each_test_with_its_file_and_suites() {
    let expected = "\
passed test/a.test.js: <weird> \"name\" & bidi
passed test/a.test.js: adds
failed test/a.test.js: after fails
passed test/a.test.js: after fails > passes
failed test/a.test.js: hook fails
failed test/a.test.js: hook fails > never
failed test/a.test.js: hook fails > never two
skipped test/a.test.js: is skipped
skipped test/a.test.js: is todo
failed test/a.test.js: outer
passed test/a.test.js: outer > inner
failed test/a.test.js: outer > inner fails
failed test/a.test.js: same name
skipped test/a.test.js: skipped suite
failed test/a.test.js: subtracts
skipped test/a.test.js: suite > nested suite > three
passed test/a.test.js: suite > nested suite > two
passed test/a.test.js: suite > one
failed test/a.test.js: throws
failed test/a.test.js: throws > x
skipped test/a.test.js: todo without body
passed test/b.test.js: adds
failed test/broken.test.js: (whole file)
passed test/empty.test.js: (whole file)
passed test/exits.test.js: (whole file)
passed test/helper.js: (whole file)
passed test/helper.js: shared works
failed test/late.test.js: (whole file)
passed test/late.test.js: first
passed test/plain.test.js: (whole file)
failed test/plainfail.test.js: (whole file)
failed to load
";
    let of_20 = include_str!("../../../../../tests/fixtures/test_reports/node_20.jsonl");
    let of_22 = include_str!("../../../../../tests/fixtures/test_reports/node_22.jsonl");
    assert_eq!(read(&[("node-7-1.jsonl", of_20)], 1), expected);
    assert_eq!(read(&[("node-7-1.jsonl", of_22)], 1), expected);
    // Other files in the folder are none of node's.
    assert_eq!(
        read(&[("node-7-1.jsonl", of_22), ("other.jsonl", "{")], 1),
        expected
    );
}

#[test]
fn several_processes_add_up() {
    let report = |file: &str| {
        format!(
            "{{\"type\":\"test:start\",\"name\":\"adds\",\"file\":\"/repo/{file}\"}}\n\
             {{\"type\":\"test:pass\",\"name\":\"adds\",\"file\":\"/repo/{file}\"}}\n{{\"type\":\"end\"}}\n"
        )
    };
    let reports = [
        ("node-1-1.jsonl", report("a.js")),
        ("node-2-1.jsonl", report("b.js")),
    ];
    let reports = reports
        .each_ref()
        .map(|(name, text)| (*name, text.as_str()));
    assert_eq!(read(&reports, 0), "passed a.js: adds\npassed b.js: adds\n");
}

#[test]
fn a_file_is_known_by_each_of_its_names() {
    for name in [
        "/repo/test/a.test.js",
        "test/a.test.js",
        "./test/a.test.js",
        "../repo/test/a.test.js",
    ] {
        let events = format!(
            "{{\"type\":\"test:enqueue\",\"name\":\"{name}\",\"file\":\"/repo/test/a.test.js\"}}\n{{\"type\":\"end\"}}\n"
        );
        check(&events, "");
    }
}

#[test]
fn tests_that_began_must_end() {
    check(
        r#"{"type":"test:enqueue","name":"a","nesting":0,"file":"/repo/a.js"}
{"type":"test:enqueue","name":"b","nesting":0,"file":"/repo/a.js"}
{"type":"test:start","name":"a","nesting":0,"file":"/repo/a.js"}
{"type":"test:pass","name":"a","nesting":0,"file":"/repo/a.js"}
{"type":"end"}"#,
        "passed a.js: a\n\
         doubt: 1 test began and did not end, such as \"b\": the process was stopped from inside\n",
    );
}

#[test]
fn a_file_with_tests_that_reports_none_is_in_doubt() {
    let root = tempfile::tempdir().unwrap();
    let call = "import { test } from 'node:test';\ntest('a', () => process.exit(0));\n";
    let helper =
        "import { test } from 'node:test';\nexport function check() {\n  test('a', () => {});\n}\n";
    write_files(
        root.path(),
        &[
            ("a.test.js", call),
            ("helper.js", helper),
            ("plain.js", "test('a')\n"),
        ],
    );
    let mut events = String::new();
    for name in ["a.test.js", "helper.js", "plain.js"] {
        let file = root.path().join(name).display().to_string();
        events.push_str(&format!(
            "{{\"type\":\"test:pass\",\"name\":\"{name}\",\"file\":\"{file}\"}}\n"
        ));
    }
    events.push_str("{\"type\":\"end\"}\n");
    let told = print_reading(&[("node-1-1.jsonl", &events)], 0, |folder, report| {
        read_reports(folder, root.path(), report);
    });
    let doubt = "doubt: a.test.js has tests, but none was reported: its process may have been ended from inside\n";
    assert!(
        told.ends_with(doubt) && told.matches("doubt").count() == 1,
        "{told}"
    );
}

#[test]
fn hostile_events_are_doubts() {
    check("", "doubt: node ended before its report was complete\n");
    check(
        "{\"type\":\"test:pass\",\"name\":\"a\",\"nesting\":5000}\n{\"type\":\"end\"}\nnot json",
        "doubt: the suites of node are nested too deeply\n\
         doubt: a report of node has a line that is not an event\n",
    );
    check(
        "{\"type\":\"test:fail\",\"name\":\"a\\u001b]0;x\\u0007\\u202eb\",\"nesting\":2,\"file\":\"/etc/passwd\"}\n{\"type\":\"end\"}",
        "failed /etc/passwd: > > ab\n",
    );
}
