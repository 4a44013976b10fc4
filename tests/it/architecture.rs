//! Checks the parts of ARCHITECTURE.md that are generated from the code, so that they cannot become outdated.
//!
//! `UPDATE_DOCS=1 cargo test --test it` rewrites them.

use agent_collab::domain::phase::{TRANSITIONS, TransitionCause};

use crate::{layers, read, root};

const FILE: &str = "ARCHITECTURE.md";

/// The legal changes of phase, one row for each cause and target.
fn transitions() -> String {
    let mut rows: Vec<(TransitionCause, &str, Vec<&str>)> = Vec::new();
    for transition in TRANSITIONS {
        let (from, to) = (transition.from.name(), transition.to.name());
        match rows
            .iter_mut()
            .find(|(cause, target, _)| *cause == transition.cause && *target == to)
        {
            Some((_, _, origins)) => origins.push(from),
            None => rows.push((transition.cause, to, vec![from])),
        }
    }
    let source = read("src/domain/phase.rs");
    let row = |(cause, to, from): &(TransitionCause, &str, Vec<&str>)| {
        format!(
            "| {} | {} | {to} |",
            from.join(", "),
            explained(&source, *cause)
        )
    };
    let mut lines = vec![
        "| from | cause | to |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    lines.extend(rows.iter().map(row));
    lines.join("\n")
}

/// Returns the doc comment of a cause.
fn explained(source: &str, cause: TransitionCause) -> String {
    let variant = format!("    {cause:?},");
    let (_, causes) = source.split_once("pub enum TransitionCause {").unwrap();
    let at = causes.lines().position(|line| line == variant).unwrap();
    let comment = causes.lines().nth(at - 1).unwrap();
    comment
        .trim()
        .trim_start_matches("/// ")
        .trim_end_matches('.')
        .to_owned()
}

/// Compares the part between the marker's two comments with what is printed.
fn check(marker: &str, printed: &str) {
    let (open, close) = (format!("<!-- {marker} -->"), format!("<!-- /{marker} -->"));
    let text = read(FILE);
    let parts = text.split_once(&open).and_then(|(before, rest)| {
        let (part, after) = rest.split_once(&close)?;
        Some((before, part, after))
    });
    let (before, part, after) =
        parts.unwrap_or_else(|| panic!("{FILE} lacks `{open}` followed by `{close}`"));
    if part.trim() == printed {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_DOCS").is_some(),
        "{FILE} tells something else between `{open}` and `{close}` than the code:\n{printed}\n\
         hint: UPDATE_DOCS=1 cargo test --test it rewrites it; read the change before you commit it"
    );
    let rewritten = format!("{before}{open}\n{printed}\n{close}{after}");
    std::fs::write(root().join(FILE), rewritten).unwrap();
}

/// One test, because both parts are rewritten in one file.
#[test]
fn the_printed_tables_are_those_of_the_code() {
    check("transitions", &transitions());
    check("layers", &layers::as_markdown());
}
