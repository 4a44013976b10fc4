//! Measures the view of a run's changes: opening a diff of 50,000 lines and moving by a page, compared with one file.

use std::fmt::Write;
use std::time::Duration;

use agent_collab::domain::diff_scope::DiffScope;
use agent_collab::text::unified_diff::UnifiedDiff;
use agent_collab::tui::{Action, DiffLookup};
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use crate::drawn::{Drawn, SLACK};
use crate::limit::Limit;
use crate::{side_by_side, timed};

const ROUNDS: usize = 40;
const FILES: usize = 500;

pub fn run() -> anyhow::Result<()> {
    let (long, short) = (patch(FILES)?, patch(3)?);
    let opened = |text: &str| {
        let (took, screen) = open(text)?;
        drop(screen);
        anyhow::Ok(took)
    };
    side_by_side(
        "a diff of 50,000 lines, opened / read only",
        Limit::Times(1.5),
        ROUNDS,
        &mut || opened(&long),
        &mut || Ok(timed(|| UnifiedDiff::parse(&long)).0),
    )?;
    let ((_, mut long), (_, mut short)) = (open(&long)?, open(&short)?);
    side_by_side(
        "a page of it / of a diff of 300 lines",
        Limit::TimesAnd(1.25, SLACK),
        ROUNDS,
        &mut || long.key_and_back(KeyCode::PageDown, KeyCode::PageUp),
        &mut || short.key_and_back(KeyCode::PageDown, KeyCode::PageUp),
    )
}

/// A diff of so many files of a hundred lines each.
fn patch(n_files: usize) -> anyhow::Result<String> {
    let mut text = String::new();
    for n in 0..n_files {
        writeln!(text, "diff --git a/src/f{n}.rs b/src/f{n}.rs")?;
        writeln!(
            text,
            "--- a/src/f{n}.rs\n+++ b/src/f{n}.rs\n@@ -1,72 +1,72 @@"
        )?;
        for line in 0..24 {
            writeln!(
                text,
                "     let kept_{line} = compute({line}, \"naïve 漢字\");"
            )?;
            writeln!(text, "-    let changed = before({line});")?;
            writeln!(text, "+    let changed = after({line}, {n});")?;
            writeln!(text, "     // what follows is as it was")?;
        }
    }
    Ok(text)
}

/// Measures the time from git's output to the frame that shows it.
fn open(text: &str) -> anyhow::Result<(Duration, Drawn)> {
    let mut opened = Drawn::empty()?;
    opened.press(KeyCode::Esc);
    let mut acts = Vec::new();
    for code in "/diff".chars().map(KeyCode::Char).chain([KeyCode::Enter]) {
        acts.extend(opened.press_with(code, KeyModifiers::NONE).1);
    }
    anyhow::ensure!(acts == [Action::ShowDiff(DiffScope::All)], "{acts:?}");
    opened.draw()?;
    let (took, ()) = timed(|| {
        let found = DiffLookup::Changes(UnifiedDiff::parse(text));
        opened
            .screen
            .on_diff(DiffScope::All, vec![DiffScope::All], found);
    });
    let took = took + opened.draw()?;
    Ok((took, opened))
}
