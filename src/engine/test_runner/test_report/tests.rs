//! The parts that runners share: limits, the exit status, the environment, and arbitrary bytes as reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::report_builder::ReportBuilder;
use super::{NamedReporters, ReportingRunner, TestCommandLine};
use crate::domain::test_report::{TestReport, TestStatus};

/// Prints a report: a line for each test, then what is not known.
fn print_report(report: &TestReport) -> String {
    let mut text = String::new();
    for (test, status) in &report.tests {
        let _ = writeln!(text, "{} {test}", format!("{status:?}").to_lowercase());
    }
    if report.failed_to_load {
        text.push_str("failed to load\n");
    }
    for doubt in &report.doubts {
        let _ = writeln!(text, "doubt: {doubt}");
    }
    text
}

/// Prints the report that a reader makes of these files in a folder, for a run that ended with `exit_code`.
pub(super) fn print_reading(
    files: &[(&str, &str)],
    exit_code: i32,
    read: impl FnOnce(&Path, &mut ReportBuilder),
) -> String {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), files);
    let mut report = ReportBuilder::default();
    read(folder.path(), &mut report);
    print_report(&report.finish(Some(exit_code)))
}

/// Makes files in a folder.
pub(super) fn write_files(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn runners() -> [ReportingRunner; 8] {
    [
        ReportingRunner::Pytest {
            folder: PathBuf::from("web"),
        },
        ReportingRunner::NodeTest {
            named: NamedReporters::Nothing,
        },
        ReportingRunner::CargoTest,
        ReportingRunner::Nextest,
        ReportingRunner::Jest,
        ReportingRunner::Vitest,
        ReportingRunner::Mocha,
        ReportingRunner::GoTest { is_in_script: true },
    ]
}

fn check_exit(exit_code: Option<i32>, statuses: &[TestStatus], expected: &str) {
    let mut report = ReportBuilder::default();
    for (n, status) in statuses.iter().enumerate() {
        report.add_test("a.py", &format!("test_{n}"), *status);
    }
    assert_eq!(report.finish(exit_code).doubts.join(", "), expected);
}

#[test]
fn the_exit_status_must_fit_the_tests() {
    use TestStatus::{Failed, Passed, Skipped};
    check_exit(Some(0), &[Passed, Skipped], "");
    check_exit(Some(1), &[Passed, Failed], "");
    check_exit(
        Some(0),
        &[Failed],
        "1 test failed, but the exit status is 0",
    );
    check_exit(
        Some(3),
        &[Passed],
        "no test failed, but the exit status is 3",
    );
    check_exit(
        None,
        &[Passed],
        "the command did not end by itself, so tests may be missing",
    );
}

#[test]
fn the_worse_status_of_a_test_counts_and_names_are_cleaned() {
    let mut report = ReportBuilder::default();
    for status in [TestStatus::Passed, TestStatus::Failed, TestStatus::Skipped] {
        report.add_test("a.js", "adds \u{202e}\u{1b}[31mtwo\u{7}\n numbers", status);
    }
    assert_eq!(
        print_report(&report.finish(Some(1))),
        "failed a.js: adds two numbers\n"
    );
}

#[test]
fn a_report_has_a_limited_size() {
    let mut report = ReportBuilder::default();
    report.add_test("a.js", &"x".repeat(3_000), TestStatus::Passed);
    for n in 0..50 {
        report.doubt(format!("doubt {n}"));
    }
    let report = report.finish(Some(0));
    assert_eq!(report.doubts.len(), 20);
    assert_eq!(
        report.doubts[0],
        "the name of a test is too long and was cut"
    );
    assert!(report.tests.keys().all(|test| test.name.len() <= 2_000));
}

#[test]
fn the_environment_has_one_variable_and_names_the_folder() {
    let folder = Path::new("/run/it's \"here\"");
    let none = BTreeMap::new();
    let variables: Vec<(String, String)> = runners()
        .iter()
        .flat_map(|runner| runner.report_variables(folder, &none))
        .collect();
    let [
        (_, pytest),
        (_, node),
        cargo,
        nextest,
        jest,
        vitest,
        mocha,
        go,
    ] = &variables[..]
    else {
        panic!("{variables:?}");
    };
    assert!(
        pytest.starts_with(r#"'--junitxml=/run/it'\''s "here"/pytest.xml' -o "#),
        "{pytest}"
    );
    assert!(
        node.contains(r#"%24%7B%22%2Frun%2Fit%27s%20%5C%22here%5C%22%22%7D%2Fnode-"#),
        "{node}"
    );
    assert!(!node.contains(['"', '\'', '\\', '\n']), "{node}");
    assert_eq!(*cargo, ("CARGO_TERM_COLOR".to_owned(), "never".to_owned()));
    assert_eq!(nextest, cargo);
    let preload = r#"--require="/run/it's \"here\"/runner_preload.cjs""#;
    for variable in [jest, vitest, mocha] {
        assert_eq!(*variable, ("NODE_OPTIONS".to_owned(), preload.to_owned()));
    }
    assert_eq!(
        *go,
        ("GOFLAGS".to_owned(), "-json -failfast=false".to_owned())
    );
    let go = ReportingRunner::GoTest {
        is_in_script: false,
    };
    assert_eq!(go.report_variables(folder, &none), none);
}

#[test]
fn options_that_the_user_sets_stay() {
    let [.., go] = runners();
    let env = BTreeMap::from([("GOFLAGS".to_owned(), "-tags=slow".to_owned())]);
    assert_eq!(
        go.report_variables(Path::new("/run"), &env)["GOFLAGS"],
        "-tags=slow -json -failfast=false"
    );
}

/// Runs the preload as node does, in the place of a runner with these arguments; returns the arguments that it leaves.
fn preload(runner: &ReportingRunner, program: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    runner.prepare_folder(folder.path()).unwrap();
    let root = tempfile::tempdir().unwrap();
    let print =
        "console.log([...process.argv.slice(2), process.env.NODE_OPTIONS ?? 'clean'].join(' '))";
    write_files(root.path(), &[(program, print)]);
    let mut node = std::process::Command::new("node");
    node.arg(root.path().join(program)).args(arguments);
    let env = BTreeMap::from([("NODE_OPTIONS".to_owned(), "--no-warnings".to_owned())]);
    node.envs(runner.report_variables(folder.path(), &env));
    let printed = String::from_utf8(node.output().unwrap().stdout).unwrap();
    let started = std::fs::read_dir(folder.path()).unwrap().flatten();
    let started =
        started.filter(|entry| entry.path().extension().is_some_and(|end| end == "begin"));
    let name = started.map(|entry| entry.path().with_extension("json").display().to_string());
    let name = name.collect::<String>();
    let printed = printed
        .trim()
        .replace(folder.path().to_str().unwrap(), "FOLDER");
    let name = name.replace(folder.path().to_str().unwrap(), "FOLDER");
    if name.is_empty() {
        printed
    } else {
        printed.replace(&name, "REPORT")
    }
}

#[test]
fn the_preload_adds_options_in_the_process_of_the_runner_alone() {
    let check = |program: &str, arguments: &str, expected: &str| {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let left = preload(&ReportingRunner::Jest, program, &arguments);
        assert_eq!(left, expected, "{program} {arguments:?}");
    };
    check(
        "node_modules/jest/bin/jest.js",
        "--watchAll -b --outputFile x.json --json=false a.test.js -- b",
        "a.test.js --json --outputFile=REPORT --ci --bail=0 -- b --no-warnings",
    );
    check(
        "node_modules/vitest/vitest.mjs",
        "watch -w --bail 1 --outputFile.junit=x.xml --reporter=dot a",
        "watch --reporter=dot a --reporter=json --outputFile.json=REPORT --run --bail=0 --no-warnings",
    );
    check(
        "node_modules/vitest/vitest.mjs",
        "run",
        "run --reporter=default --reporter=json --outputFile.json=REPORT --run --bail=0 --no-warnings",
    );
    check(
        "node_modules/mocha/bin/mocha.js",
        "-R dot --bail --timeout 5 test",
        "--timeout 5 test --reporter FOLDER/mocha_reporter.cjs --reporter-option file=REPORT --no-bail --no-warnings",
    );
    check(
        "tools/other.js",
        "--bail",
        "--bail --no-warnings --require=\"FOLDER/runner_preload.cjs\"",
    );
}

#[test]
fn every_reporter_of_node_has_a_destination() {
    for (named, n_reporters, n_destinations) in [
        (NamedReporters::Nothing, 2, 2),
        (NamedReporters::WithoutDestination, 1, 2),
        (NamedReporters::WithDestinations, 1, 1),
    ] {
        let variables = ReportingRunner::NodeTest { named }
            .report_variables(Path::new("/run"), &BTreeMap::new());
        let count = |option: &str| {
            let words = variables["NODE_OPTIONS"].split(' ');
            words.filter(|word| word.starts_with(option)).count()
        };
        assert_eq!(count("--test-reporter="), n_reporters, "{named:?}");
        assert_eq!(
            count("--test-reporter-destination="),
            n_destinations,
            "{named:?}"
        );
    }
}

#[test]
fn a_command_is_changed_where_its_options_hide_tests() {
    let check = |runner: usize, line: &str, expected: &str| {
        let command = TestCommandLine::parse(line).unwrap();
        let changed = runners()[runner].reporting_command(&command, Path::new("/run"));
        assert_eq!(changed.to_string(), expected);
    };
    check(0, "pytest --junitxml=out/a.xml -q", "pytest -q");
    check(
        0,
        "cd web && pytest -q --junit-xml out/a.xml && echo ok",
        "cd web && pytest -q && echo ok",
    );
    check(0, "pytest -q", "pytest -q");
    check(
        0,
        "set -x; pytest -x --maxfail 2 a --exitfirst -x && ./b -x",
        "set -x; pytest a && ./b -x",
    );
    check(0, "python -m pytest -x", "python -m pytest");
    check(
        1,
        "node --test-reporter=tap --test",
        "node --test-reporter=tap --test",
    );
    check(2, "cargo test", "cargo test --no-fail-fast");
    check(
        2,
        "cargo +nightly t -q -p calc -- a",
        "cargo +nightly t --no-fail-fast -p calc -- a",
    );
    check(
        2,
        "cargo fmt -q; cargo test --doc && cargo test; cargo tree",
        "cargo fmt -q; cargo test --no-fail-fast --doc && cargo test --no-fail-fast; cargo tree",
    );
    check(2, "cargo test --no-fail-fast", "cargo test --no-fail-fast");
    check(2, "make test", "make test");
    check(
        3,
        "cargo nextest run",
        "cargo nextest run --tool-config-file agent-collab:/run/nextest.toml --no-fail-fast",
    );
    check(4, "npx jest --bail", "npx jest --bail");
    check(7, "go test ./...", "go test -json ./...");
}

#[test]
fn what_cargo_builds_is_built_before_the_tests() {
    let check = |runner: usize, line: &str, expected: Option<&str>| {
        let command = TestCommandLine::parse(line).unwrap();
        let reporting = runners()[runner].reporting_command(&command, Path::new("/run"));
        let build = runners()[runner].build_command(&reporting);
        assert_eq!(build.map(|build| build.to_string()).as_deref(), expected);
    };
    check(2, "cargo test", Some("cargo test --no-run --no-fail-fast"));
    check(
        3,
        "cargo nextest run a",
        Some("cargo nextest run --tool-config-file agent-collab:/run/nextest.toml --no-run a"),
    );
    check(2, "make test", None);
    check(4, "npx jest", None);
}

#[test]
fn a_report_that_is_missing_or_no_file_of_its_own_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let [pytest, node, cargo, nextest, jest, _, mocha, go] = runners();
    let doubts = |runner: &ReportingRunner, output| {
        runner
            .read_report(folder.path(), folder.path(), output, Some(0))
            .doubts
            .join(", ")
    };
    assert!(doubts(&pytest, None).starts_with("pytest wrote no report"));
    assert!(doubts(&node, None).starts_with("node wrote no report"));
    assert_eq!(
        doubts(&cargo, None),
        "the output of cargo was cut, so its tests are not known"
    );
    assert_eq!(doubts(&cargo, Some("")), "cargo ran no test program");
    assert_eq!(
        doubts(&go, None),
        "the output of go was cut, so its tests are not known"
    );
    assert!(doubts(&nextest, None).starts_with("nextest wrote no report"));
    assert!(doubts(&jest, None).starts_with("jest wrote no report"));
    assert!(doubts(&mocha, None).starts_with("mocha wrote no report"));

    let outside = tempfile::tempdir().unwrap();
    write_files(outside.path(), &[("secret", "<testsuites/>")]);
    for name in ONE_REPORT_EACH {
        std::os::unix::fs::symlink(outside.path().join("secret"), folder.path().join(name))
            .unwrap();
    }
    for runner in [pytest, node, nextest, jest, mocha] {
        let doubts = doubts(&runner, None);
        assert!(doubts.contains("leads out of"), "{runner:?}: {doubts}");
    }
}

/// A report of each runner that writes one.
const ONE_REPORT_EACH: [&str; 6] = [
    "pytest.xml",
    "node-1-1.jsonl",
    "nextest.xml",
    "jest-1-1.json",
    "vitest-1-1.json",
    "mocha-1-1.json",
];

#[test]
fn a_report_that_is_too_large_is_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    for name in ONE_REPORT_EACH {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_len(super::MAX_REPORT_BYTES + 1).unwrap();
    }
    let [pytest, node, _, nextest, jest, vitest, mocha, _] = runners();
    for runner in [pytest, node, nextest, jest, vitest, mocha] {
        let report = runner.read_report(folder.path(), folder.path(), None, Some(0));
        assert!(report.tests.is_empty());
        let doubts = report.doubts.join(", ");
        assert!(doubts.contains("can have at most"), "{runner:?}: {doubts}");
    }
}

/// Pieces of reports, and bytes that are none.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(vec![
        "<testsuites>",
        "</testsuites>",
        "<testcase classname=\"a.b\" name=\"c\" file=\"a.py\">",
        "</testcase>",
        "<failure message=\"&x;&#0;\"/>",
        "<!DOCTYPE a [<!ENTITY x \"y\">]>",
        "<![CDATA[",
        "<testcase",
        "collected 9 items\n",
        "!!! Exit: x !!!\n",
        "     Running unittests src/lib.rs (target/debug/deps/a-1)\n",
        "   Doc-tests a\n",
        "running 2 tests\n",
        "running 99999999999999999999 tests\n",
        "test a ... ok\n",
        "test b - should panic ... FAILED\n",
        "test src/lib.rs - a (line 3) ... ok\n",
        "test c ... ",
        "ok\n",
        "failures:\n",
        "    b\n",
        "test result: ok. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        "error: test failed, to rerun pass `--lib`\n",
        "error: 1 target failed:\n",
        "\u{1b}[31m",
        "{\"type\":\"test:start\",\"name\":\"a\",\"nesting\":3,\"file\":\"/a/b\"}\n",
        "{\"type\":\"test:pass\",\"name\":\"a\",\"nesting\":0,\"file\":\"a\"}\n",
        "{\"type\":\"end\"}\n",
        "{\"type\":\"test:fail\",\"name\":\"\",\"nesting\":18446744073709551615}\n",
        "{\"type\":\"begin\",\"folder\":\"/\"}\n",
        "{\"type\":\"fail\",\"file\":\"/a\",\"path\":[\"a\",\"b\"],\"kind\":\"hook\"}\n",
        "{\"numTotalTests\":1,\"testResults\":[{\"name\":\"\",\"status\":\"failed\",\"assertionResults\":[",
        "{\"title\":\"\u{7}\",\"status\":\"passed\"}]}]}",
        "{\"Action\":\"run\",\"Package\":\"a\",\"Test\":\"T/\\u0007\"}\n",
        "{\"Action\":\"fail\",\"Package\":\"a\"}\n",
        "FAIL\ta [build failed]\n",
    ]);
    let piece = prop_oneof![
        4 => known.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in pieces(), exit_code in prop::option::of(0..3)) {
        let folder = tempfile::tempdir().unwrap();
        for name in ONE_REPORT_EACH {
            std::fs::write(folder.path().join(name), &bytes).unwrap();
        }
        let output = String::from_utf8_lossy(&bytes);
        for runner in runners() {
            let report = runner.read_report(folder.path(), folder.path(), Some(&output), exit_code);
            runner.readable_output(&output);
            let is_clean = |name: &str| !name.contains(|c: char| c.is_control());
            prop_assert!(report.tests.keys().all(|test| is_clean(&test.name) && is_clean(&test.file)));
        }
    }
}
