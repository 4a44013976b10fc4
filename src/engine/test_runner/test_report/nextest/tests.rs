//! A recorded report of nextest, and how it is asked for.

use std::path::Path;

use super::super::tests::{print_reading, write_files};
use super::{read_report, with_report};

/// The files of the repository that was recorded.
const FILES: [(&str, &str); 8] = [
    ("core/Cargo.toml", "[package]\nname = \"my-core\"\n"),
    ("core/src/lib.rs", ""),
    ("core/tests/it.rs", ""),
    ("tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
    ("tool/src/main.rs", ""),
    ("tool/src/bin/other.rs", ""),
    ("tool/tests/it.rs", ""),
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"core\", \"tool\"]\n",
    ),
];

fn read(xml: Option<&str>, exit_code: i32) -> String {
    let root = tempfile::tempdir().unwrap();
    write_files(root.path(), &FILES);
    let files: Vec<(&str, &str)> = xml.map(|xml| ("nextest.xml", xml)).into_iter().collect();
    print_reading(&files, exit_code, |folder, report| {
        read_report(folder, root.path(), Some(exit_code), report);
    })
}

#[test]
fn a_recorded_report_names_each_test_with_its_file() {
    let xml = include_str!("../../../../../tests/fixtures/test_reports/nextest.xml");
    assert_eq!(
        read(Some(xml), 100),
        "\
passed core/src/lib.rs: tests::adds
passed core/src/lib.rs: tests::exits
passed core/src/lib.rs: tests::panics
failed core/src/lib.rs: tests::subtracts
failed core/tests/it.rs: aborts
passed core/tests/it.rs: adds
passed tool/src/bin/other.rs: in_other
passed tool/src/main.rs: in_main
passed tool/tests/it.rs: adds
"
    );
}

#[test]
fn a_report_that_is_missing_or_broken_is_told() {
    assert_eq!(read(None, 101), "failed to load\n");
    assert_eq!(
        read(None, 0),
        "doubt: nextest wrote no report: it ran no tests, or its settings put the report elsewhere\n"
    );
    assert_eq!(
        read(
            Some("<testsuites><testcase classname=\"gone::it\" name=\"a\"/>"),
            0
        ),
        "passed gone::it: a\ndoubt: the report of nextest is cut\n"
    );
}

#[test]
fn commands_are_asked_for_a_report() {
    let check = |line: &str, folder: &str, expected: &str| {
        assert_eq!(with_report(line, Path::new(folder)), expected);
    };
    check(
        "cargo fmt --check && cargo +nightly nextest run --fail-fast -P ci --max-fail=1:immediate a",
        "/run",
        "cargo fmt --check && cargo +nightly nextest run --tool-config-file agent-collab:/run/nextest.toml --no-fail-fast -P ci a",
    );
    check(
        "sh -c 'cargo nextest r'",
        "/run",
        "sh -c 'cargo nextest r --tool-config-file agent-collab:/run/nextest.toml --no-fail-fast'",
    );
    check("cargo nextest run", "/it's", "cargo nextest run");
    check("cargo nextest list", "/run", "cargo nextest list");
}
