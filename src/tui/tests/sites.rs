//! Checks that the tests of all dialogs reach every line that creates a dialog.
//!
//! Each such line is recorded as it runs; the test names those in the source that no place of the monkey
//! test reaches.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::Location;
use std::path::Path;

use super::monkey::places;
use super::world::{drawn, questions, screen};
use crate::domain::question::QuestionKind;

/// A line of a file below `src`.
type Site = (String, u32);

thread_local! {
    static MADE: RefCell<BTreeSet<Site>> = const { RefCell::new(BTreeSet::new()) };
}

/// Dialogs that only a bug could show, by a part of their line, with the reason.
const UNREACHED: &[(&str, &str)] = &[(
    "ChoiceDialog::new(question_dialog_id(id), \"The run waits\")",
    "a question of another kind, which whoever calls it rules out",
)];

/// Records that a dialog is created at this line.
pub fn note(at: &'static Location<'static>) {
    MADE.with_borrow_mut(|made| made.insert((below_src(at.file()), at.line())));
}

fn below_src(path: &str) -> String {
    path.rsplit_once("src/tui").unwrap().1.to_owned()
}

/// Returns every file of the screen except its tests.
#[expect(
    clippy::disallowed_methods,
    reason = "the source is what this test is about"
)]
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((below_src(path.to_str().unwrap()), text));
        }
    }
}

/// Returns every line that creates a dialog, except in functions that receive their caller's location.
fn sites() -> BTreeSet<Site> {
    let tui = Path::new(file!()).ancestors().nth(2).unwrap();
    let tui = if tui.is_absolute() {
        tui.to_owned()
    } else {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(tui)
    };
    let mut files = Vec::new();
    sources(&tui, &mut files);
    let mut sites = BTreeSet::new();
    for (file, text) in files {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut makers = vec![
            "ChoiceDialog::new(".to_owned(),
            "ChoiceDialog::list(".to_owned(),
        ];
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines
            .windows(2)
            .filter(|pair| pair[0].contains("track_caller"))
        {
            let name = pair[1]
                .split("fn ")
                .nth(1)
                .unwrap()
                .split('(')
                .next()
                .unwrap();
            makers.push(format!(" {name}("));
        }
        let mut is_handed_on = false;
        for (n, line) in (1..).zip(lines) {
            is_handed_on |= line.contains("track_caller");
            let is_known = UNREACHED.iter().any(|(part, _)| line.contains(part));
            let makes = makers.iter().any(|maker| line.contains(maker.as_str()));
            if makes && !is_handed_on && !is_known && !line.contains(" fn ") {
                sites.insert((file.clone(), n));
            }
            is_handed_on &= line.trim() != "}" || line.starts_with("        ");
        }
    }
    sites
}

#[test]
fn every_dialog_of_the_code_is_a_place_of_the_monkeys_and_is_held_to_every_size() {
    MADE.with_borrow_mut(BTreeSet::clear);
    for place in places() {
        let mut screen = screen();
        place.open(&mut screen);
        drawn(&mut screen, (80, 24), place.state());
    }
    let sites = sites();
    assert!(sites.len() > 25, "the source was not read: {sites:?}");
    let made = MADE.with_borrow(BTreeSet::clone);
    let missing: Vec<&Site> = sites.difference(&made).collect();
    assert!(
        missing.is_empty(),
        "a dialog is made there which no place of `monkey::places()` opens: {missing:?}"
    );
}

/// Returns a number for each kind of question; a new kind does not compile here until it has one.
fn number(kind: &QuestionKind) -> usize {
    match kind {
        QuestionKind::Gate { .. } => 0,
        QuestionKind::Arbitration { .. } => 1,
        QuestionKind::ManualEdit => 2,
        QuestionKind::StalePlan { .. } => 3,
        QuestionKind::Execute { .. } => 4,
        QuestionKind::NoDocument { .. } => 5,
        QuestionKind::Agent { .. } => 6,
        QuestionKind::AdapterFailed { .. } => 8,
        QuestionKind::UsageLimit { .. } => 9,
        QuestionKind::Conflict { .. } => 10,
        QuestionKind::Draft { .. } => 11,
        QuestionKind::DirtyFiles { .. } => 12,
        QuestionKind::EntryPoints { .. } => 13,
        QuestionKind::HeldEdits { .. } => 14,
        QuestionKind::TestsFailed { .. } => 15,
        QuestionKind::CommitFailed { .. } => 16,
        QuestionKind::StepRecovery { .. } => 17,
        QuestionKind::CannotExecute { .. } => 18,
        QuestionKind::TestNetwork { .. } => 19,
        QuestionKind::NothingChanged { .. } => 20,
        QuestionKind::Blocked { .. } => 21,
        QuestionKind::TestsInDoubt { .. } => 22,
        QuestionKind::TestSocket { .. } => 23,
        QuestionKind::RunnerMissing { .. } => 7,
        QuestionKind::Dispute { .. } => 24,
        QuestionKind::Unproven { .. } => 25,
        QuestionKind::OutOfScope { .. } => 26,
        QuestionKind::ApprovalChanged { .. } => 27,
        QuestionKind::RedBaseline { .. } => 28,
    }
}

#[test]
fn every_kind_of_question_is_among_the_places() {
    let own = questions().into_iter().map(|(_, kind)| number(&kind));
    let asked = places();
    let asked = asked
        .iter()
        .filter_map(|place| place.state()?.current_question());
    let found: BTreeSet<usize> = own.chain(asked.map(|asked| number(&asked.kind))).collect();
    assert!((0..=28).eq(found), "a kind of question is missing");
}
