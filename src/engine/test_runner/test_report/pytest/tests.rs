//! Recorded reports of pytest, and hostile ones.

use std::path::Path;

use super::super::tests::{print_reading, write_files};
use super::{COLLECTED_NAME, PytestFiles, read_report};

/// The files of the repository that was recorded.
const FILES: [(&str, &str); 7] = [
    ("mod.py", ""),
    ("test_root.py", ""),
    ("tests/__init__.py", ""),
    ("tests/base.py", ""),
    ("tests/test_a.py", ""),
    ("tests/test_broken.py", ""),
    ("tests/test_module_skip.py", ""),
];

fn read(
    xml: &str,
    output: Option<&str>,
    exit_code: i32,
    runs_in: &str,
    files: &[(&str, &str)],
) -> String {
    let root = tempfile::tempdir().unwrap();
    write_files(root.path(), files);
    let files = PytestFiles::new(root.path(), Path::new(runs_in));
    print_reading(&[("pytest.xml", xml)], exit_code, |folder, report| {
        read_report(folder, files, output, report);
    })
}

fn check(xml: &str, expected: &str) {
    assert_eq!(read(xml, None, 0, "", &[]), expected, "{xml}");
}

#[test]
fn a_recorded_report_names_each_test_with_its_file() {
    let expected = "\
passed mod.py: mod.f
passed test_root.py: test_adds
skipped tests/test_a.py: Old::test_expected
passed tests/test_a.py: Old::test_old
failed tests/test_a.py: Old::test_sub
passed tests/test_a.py: TestInherited::test_inherited
passed tests/test_a.py: TestThings::TestInner::test_deep
passed tests/test_a.py: TestThings::test_in_class
passed tests/test_a.py: test_adds
passed tests/test_a.py: test_equal[1-1]
failed tests/test_a.py: test_equal[2-3]
passed tests/test_a.py: test_equal[x/y [z]-::]
failed tests/test_a.py: test_fails_twice
failed tests/test_a.py: test_setup_error
skipped tests/test_a.py: test_skipped
failed tests/test_a.py: test_subtests
failed tests/test_a.py: test_subtracts
failed tests/test_a.py: test_teardown_error
skipped tests/test_a.py: test_xfails
passed tests/test_a.py: test_xpasses
failed tests/test_a.py: test_xpasses_strictly
skipped tests/test_module_skip.py: (whole file)
failed to load
";
    let output = include_str!("../../../../../tests/fixtures/test_reports/pytest.txt");
    let xml = include_str!("../../../../../tests/fixtures/test_reports/pytest.xml");
    assert_eq!(read(xml, Some(output), 1, "", &FILES), expected);
    // The newer form of the report names no files: they are found by their modules.
    let xml = include_str!("../../../../../tests/fixtures/test_reports/pytest_xunit2.xml");
    assert_eq!(read(xml, Some(output), 1, "", &FILES), expected);
}

#[test]
fn a_run_that_a_test_ended_is_in_doubt() {
    let output = include_str!("../../../../../tests/fixtures/test_reports/pytest_exit.txt");
    let xml = include_str!("../../../../../tests/fixtures/test_reports/pytest_exit.xml");
    assert_eq!(
        read(xml, Some(output), 0, "", &[("test_a.py", "")]),
        "passed test_a.py: test_a\n\
         doubt: a test began and did not end: pytest was told to stop\n\
         doubt: pytest collected 3 tests, but its report names 1\n\
         doubt: pytest stopped early: _pytest.outcomes.Exit: done\n"
    );
}

#[test]
fn files_are_relative_to_the_root_of_the_repository() {
    let xml = r#"<testsuites><testsuite><testcase classname="tests.test_a" name="test_b" file="tests/test_a.py"/></testsuite></testsuites>"#;
    let both = [("web/tests/test_a.py", ""), ("tests/test_a.py", "")];
    assert_eq!(
        read(xml, None, 0, "web", &both),
        "passed web/tests/test_a.py: test_b\n"
    );
    // Where the configuration is in the root, pytest names files from there, wherever it runs.
    assert_eq!(
        read(xml, None, 0, "web", &both[1..]),
        "passed tests/test_a.py: test_b\n"
    );
    assert_eq!(
        read(xml, None, 0, "web", &[]),
        "passed tests/test_a.py: test_b\n"
    );
}

#[test]
fn the_number_of_collected_tests_is_compared() {
    let xml = r#"<testsuites><testsuite><testcase classname="a" name="test_b" file="a.py"/></testsuite></testsuites>"#;
    for (output, expected) in [
        ("collected 1 item", ""),
        ("collected 3 items / 2 deselected / 1 selected", ""),
        (
            "collected 2 items",
            "doubt: pytest collected 2 tests, but its report names 1\n",
        ),
        (
            "2 workers [2 items]",
            "doubt: pytest collected 2 tests, but its report names 1\n",
        ),
        (
            "!!!!!! stopping after 1 failures !!!!!!",
            "doubt: pytest stopped early: stopping after 1 failures\n",
        ),
        ("1 passed in 0.1s", ""),
    ] {
        let report = read(xml, Some(output), 0, "", &[]);
        assert_eq!(
            report,
            format!("passed a.py: test_b\n{expected}"),
            "{output}"
        );
    }
}

#[test]
fn what_was_collected_and_is_not_in_the_report_is_a_doubt() {
    let xml = r#"<testsuites><testsuite><testcase classname="tests.test_a" name="test_b" file="tests/test_a.py"/><testcase classname="tests.test_a.TestC" name="test_d[x::y]" file="tests/test_a.py"/></testsuite></testsuites>"#;
    let named = "passed tests/test_a.py: TestC::test_d[x::y]\npassed tests/test_a.py: test_b\n";
    let both = r#""tests/test_a.py::test_b","tests/test_a.py::TestC::test_d[x::y]""#;
    for (collected, doubt) in [
        (format!("[{both}]"), ""),
        ("[]".to_owned(), ""),
        (
            format!(r#"[{both},"tests/test_e.py::test_f"]"#),
            "doubt: pytest collected tests/test_e.py::test_f, but its report does not name it\n",
        ),
        (
            format!(r#"["tests/test_a.py::test_d[x::y]","tests/test_e.py::test_f",{both}]"#),
            "doubt: pytest collected tests/test_a.py::test_d[x::y] and 1 more, but its report does not name it\n",
        ),
        (
            "{}".to_owned(),
            "doubt: the names that pytest collected cannot be read\n",
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        write_files(root.path(), &FILES);
        let files = PytestFiles::new(root.path(), Path::new(""));
        let written = [("pytest.xml", xml), (COLLECTED_NAME, &collected)];
        let report = print_reading(&written, 0, |folder, report| {
            read_report(folder, files, None, report);
        });
        assert_eq!(report, format!("{named}{doubt}"), "{collected}");
    }
}

#[test]
fn hostile_reports_are_doubts() {
    check("", "doubt: the report of pytest is cut\n");
    check(
        r#"<testsuites><testsuite><testcase classname="a" name="b" file="a.py"/><testcase classname="a" "#,
        "passed a.py: b\ndoubt: the report of pytest is not well-formed; what follows is left out\n",
    );
    check(
        r#"<testsuites><testsuite><testcase classname="a" name="b" file="a.py"/>"#,
        "passed a.py: b\ndoubt: the report of pytest is cut\n",
    );
    check(
        r#"<!DOCTYPE x [<!ENTITY a "&b;&b;"><!ENTITY b "lol">]><testsuites><testcase name="&a;"/></testsuites>"#,
        "doubt: the report of pytest has a document type, so it is not pytest's\n",
    );
    check(
        r#"<testsuites><testcase classname="a" name="&a;" file="a.py"/></testsuites>"#,
        "doubt: a test in the report of pytest has an attribute that cannot be read\n\
         doubt: a test began and did not end: pytest was told to stop\n",
    );
    check(
        "<testsuites><testcase classname=\"../../etc.x\" name=\"b&#x1b;[31m&#x202e;c\" file=\"../../../etc/passwd\"/></testsuites>",
        "passed ../../../etc/passwd: /::/etc::x::bc\n",
    );
}
