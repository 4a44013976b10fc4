//! Checks the table of `tests/screen/flows.rs`: each requirement of the workflow is played by a test that exists.

use std::path::Path;

use crate::{files_below, none, read, root};

const TABLE: &str = "tests/screen/flows.rs";
/// The requirements that every table of flows has to have.
const NUMBERS: std::ops::RangeInclusive<u32> = 14..=40;

/// The rows of the table: a requirement's number, and the tests that play it.
fn rows() -> Vec<(String, Vec<String>)> {
    let text = read(TABLE);
    let lines = text.lines().filter_map(|line| line.strip_prefix("//! | R"));
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let quoted = cells[2].split('`').skip(1).step_by(2);
        (
            format!("R{}", cells[0]),
            quoted.map(str::to_owned).collect(),
        )
    });
    rows.collect()
}

/// The file in which a test is, by its path: a flow's, another one's of the screen, or a unit test's.
fn is_there(test: &str) -> bool {
    let Some((module, name)) = test.rsplit_once("::") else {
        return false;
    };
    let module = module.replace("::", "/");
    let places = ["tests/screen/flows", "tests/screen", "src"];
    let files = places.map(|place| format!("{place}/{module}.rs"));
    let mut files = files.iter().filter(|file| root().join(file).is_file());
    let function = format!("fn {name}(");
    files.any(|file| {
        let text = read(file);
        let mut before = "";
        text.lines().any(|line| {
            let is_it = line.trim_start().starts_with(&function) && before.trim() == "#[test]";
            before = line;
            is_it
        })
    })
}

#[test]
fn each_requirement_of_the_workflow_is_played_by_tests_that_are_there() {
    let rows = rows();
    let has = |number: &String| {
        rows.iter()
            .any(|(other, tests)| other == number && !tests.is_empty())
    };
    let missing = NUMBERS
        .map(|n| format!("R{n:03}"))
        .filter(|number| !has(number));
    let mut complaints: Vec<String> = missing
        .map(|number| format!("{TABLE}: no test plays {number}"))
        .collect();
    let named = rows
        .iter()
        .flat_map(|(number, tests)| tests.iter().map(move |test| (number, test)));
    let gone = named.filter(|(_, test)| !is_there(test));
    complaints.extend(
        gone.map(|(number, test)| format!("{TABLE}: {number} names `{test}`, which is no test")),
    );
    none(&complaints, "name the test that plays it in the table");
}

#[test]
fn each_flow_that_is_played_stands_in_the_table() {
    let table = read(TABLE);
    let mut complaints = Vec::new();
    for file in files_below("tests/screen/flows", &[]) {
        let module = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = read(&Path::new(&file).to_string_lossy());
        let tests = text.split("#[test]\nfn ").skip(1);
        let names = tests.filter_map(|rest| rest.split_once('(').map(|(name, _)| name));
        let unnamed = names.filter(|name| !table.contains(&format!("`{module}::{name}`")));
        complaints.extend(unnamed.map(|name| format!("{}: {name}", file.display())));
    }
    none(&complaints, "name it beside the requirement that it plays");
}
