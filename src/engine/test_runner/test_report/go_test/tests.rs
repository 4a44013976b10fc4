//! Recorded output of go, and hostile ones.

use super::super::tests::print_reading;
use super::{read_output, readable_output, with_report};

const OF_1_19: &str = include_str!("../../../../../tests/fixtures/test_reports/go_1_19.txt");
const OF_1_27: &str = include_str!("../../../../../tests/fixtures/test_reports/go_1_27.txt");

/// The files of the repository that was recorded.
const FILES: [(&str, &str); 4] = [
    ("go.mod", "module example.com/gop // a comment\n\ngo 1.19\n"),
    (
        "calc/calc_test.go",
        "package calc\n\nfunc TestAdds(t *testing.T) {}\nfunc TestSubtracts(t *testing.T) {}\nfunc TestSkipped(t *testing.T) {}\n\
         func TestTable(t *testing.T) {}\nfunc ExampleSum() {}\nfunc FuzzSum(f *testing.F) {}\n",
    ),
    (
        "calc/outer_test.go",
        "package calc_test\nfunc TestParallel(t *testing.T) {}\n",
    ),
    (
        "exits/e_test.go",
        "func TestBefore(t *testing.T) {}\nfunc TestExits(t *testing.T) {}\n",
    ),
];

fn read(output: &str, exit_code: i32) -> String {
    print_reading(&FILES, exit_code, |root, report| {
        read_output(output, root, report);
    })
}

/// Checks events of a package without files, as a run that fails if one of them does.
fn check(events: &[&str], expected: &str) {
    let exit_code = i32::from(events.iter().any(|event| event.contains("fail")));
    let output: String = events
        .iter()
        .map(|event| {
            let (action, test) = event.split_once(' ').unwrap_or((event, ""));
            format!("{{\"Action\":\"{action}\",\"Package\":\"p\",\"Test\":\"{test}\"}}\n")
        })
        .collect();
    assert_eq!(read(&output, exit_code), expected, "{events:?}");
}

#[test]
fn recorded_output_names_each_test_with_its_file() {
    let expected = "\
passed calc/calc_test.go: ExampleSum
passed calc/calc_test.go: FuzzSum
passed calc/calc_test.go: FuzzSum/seed#0
passed calc/calc_test.go: TestAdds
skipped calc/calc_test.go: TestSkipped
failed calc/calc_test.go: TestSubtracts
failed calc/calc_test.go: TestTable
passed calc/calc_test.go: TestTable/case_1/x
failed calc/calc_test.go: TestTable/case_2/x
passed calc/outer_test.go: TestParallel
passed exits/e_test.go: TestBefore
failed exits/e_test.go: TestExits
failed vetted: (whole file)
failed to load
";
    assert_eq!(read(OF_1_27, 1), expected);
    // A test of this project prints `--- PASS: TestSubtracts (0.00s)`.
    let forged = "doubt: example.com/gop/calc: TestSubtracts began 1 time and ended 2 times: \
                  it was stopped from inside, or a test prints such lines\n";
    assert_eq!(read(OF_1_19, 1), format!("{expected}{forged}"));
}

#[test]
fn tests_must_begin_and_end() {
    check(&["run TestA", "pass TestA", "pass"], "passed p: TestA\n");
    check(
        &["run TestA", "pass TestA", "run TestA", "fail TestA", "fail"],
        "failed p: TestA\n",
    );
    check(&["run TestA", "fail"], "failed p: TestA\n");
    check(&["skip"], "");
    check(
        &["run TestA", "pass"],
        "doubt: p: TestA began 1 time and ended 0 times: it was stopped from inside, or a test prints such lines\n",
    );
    check(
        &["pass TestForged", "pass"],
        "passed p: TestForged\n\
         doubt: p: TestForged began 0 times and ended 1 time: it was stopped from inside, or a test prints such lines\n",
    );
    check(
        &["run TestA", "pass TestA"],
        "passed p: TestA\ndoubt: go ended before it reported the end of p\n",
    );
    check(&[], "doubt: go reported no package\n");
    // As Go 1.19 writes it, without an event.
    assert_eq!(read("FAIL\tp [build failed]\n", 1), "failed to load\n");
}

#[test]
fn people_read_what_failed() {
    let text = readable_output(OF_1_19);
    for shown in [
        "broken/b.go:3:19: too many return values\n",
        "FAIL\texample.com/gop/broken [build failed]\n",
        "    calc_test.go:16: no\n",
        "FAIL\texample.com/gop/calc\t0.005s\n",
        "?   \texample.com/gop/none\t[no test files]\n",
    ] {
        assert!(text.contains(shown), "{shown}{text}");
    }
    assert!(!text.contains("TestAdds"), "{text}");
    assert!(readable_output(OF_1_27).contains("broken/b.go:3:19: too many return values\n"));
}

#[test]
fn commands_are_asked_for_events() {
    let check = |line: &str, expected: &str| assert_eq!(with_report(line), expected);
    check("go test ./...", "go test -json ./...");
    check(
        "go vet ./... && cd web && A=1 go test -failfast -v --json -run a; go tool x",
        "go vet ./... && cd web && A=1 go test -json -v -run a; go tool x",
    );
    check("sh -c 'go test'", "sh -c 'go test -json'");
    check("cargo test", "cargo test");
}
