//! Checks docs/walks.md: each function that it names is in its file, and the files are numbered.

use crate::{none, read, root};

const TABLES: &str = "docs/walks.md";

#[test]
fn each_function_of_the_walks_is_in_its_file() {
    let text = read(TABLES);
    let mut complaints = Vec::new();
    let mut n_files = 0;
    for line in text.lines() {
        if line.starts_with("## ") {
            n_files = 0;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, number, file, function, ..] = cells.as_slice() else {
            continue;
        };
        let (file, function) = (file.trim_matches('`'), function.trim_matches('`'));
        if !file.starts_with("src/") {
            continue;
        }
        if !number.is_empty() {
            n_files += 1;
            if *number != n_files.to_string() {
                complaints.push(format!(
                    "{TABLES}: {file} has number {number}, not {n_files}"
                ));
            }
        }
        let is_there = root().join(file).is_file() && {
            let text = read(file);
            ["(", "<"]
                .iter()
                .any(|next| text.contains(&format!("fn {function}{next}")))
        };
        if !is_there {
            complaints.push(format!("{TABLES}: {file} has no function {function}"));
        }
    }
    assert!(n_files > 0, "{TABLES} has no table");
    none(&complaints, "follow the value again, and correct the table");
}
