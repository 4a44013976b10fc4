//! Measures layout work: a long answer with tables and code, a long chat in a window of another width, a long plan,
//! a search for a word, a search for an action; each compared with the same on an almost empty screen.

use std::time::Duration;

use agent_collab::tui::RunDocumentFiles;
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use crate::drawn::{Drawn, SIZE};
use crate::limit::Limit;
use crate::{side_by_side, timed};

const ROUNDS: usize = 60;
/// How many blocks the long chat has.
const BLOCKS: usize = 5_000;
/// How many steps the long plan has.
const STEPS: usize = 10_000;

pub fn run() -> anyhow::Result<()> {
    an_answer()?;
    another_width()?;
    a_plan()?;
    a_letter(
        "a letter that is looked for, 5,000 blocks",
        KeyCode::Char('f'),
    )?;
    a_letter("a letter in the palette, 5,000 blocks", KeyCode::Char('p'))
}

/// Some lines of each kind that agents write.
fn marked_up() -> String {
    let part = "## A heading\n\nA text with **strong** words and `code` in it, long enough to be wrapped in any window \
                that somebody uses, 一些中文 as well.\n\n- a list\n  - in a list\n\n| column | another |\n|---|---|\n| a | b |\n\n\
                ```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n> quoted\n\n";
    part.repeat(100)
}

fn an_answer() -> anyhow::Result<()> {
    let marked_up = marked_up();
    let plain = "x".repeat(100) + "\n";
    let plain = plain.repeat(marked_up.lines().count());
    let mut ours = || first_frame(&marked_up);
    let mut beside = || first_frame(&plain);
    side_by_side(
        "an answer of 2,000 lines, marked up",
        Limit::None,
        ROUNDS,
        &mut ours,
        &mut beside,
    )
}

/// Measures the time that a screen needs for an answer and the frame that shows it.
fn first_frame(text: &str) -> anyhow::Result<Duration> {
    let mut screen = Drawn::empty()?;
    screen.draw()?;
    let (took, ()) = timed(|| screen.says(text));
    Ok(took + screen.draw()?)
}

fn another_width() -> anyhow::Result<()> {
    let (mut long, mut empty) = (Drawn::long(BLOCKS)?, Drawn::empty()?);
    let mut ours = || resized(&mut long);
    let mut beside = || resized(&mut empty);
    side_by_side(
        "another width, 5,000 blocks",
        Limit::None,
        ROUNDS,
        &mut ours,
        &mut beside,
    )
}

fn resized(screen: &mut Drawn) -> anyhow::Result<Duration> {
    let columns = if screen.terminal.size()?.width == SIZE.0 {
        90
    } else {
        SIZE.0
    };
    screen.terminal.backend_mut().resize(columns, SIZE.1);
    screen.draw()
}

fn a_plan() -> anyhow::Result<()> {
    let plan = |n_steps: usize| {
        let steps = (1..=n_steps).map(|n| format!("{n}. [ ] write part {n} of it, and test it\n"));
        let steps: String = steps.collect();
        format!("---\nversion: 1\n---\n\n# Task: a task\n\n## Steps\n{steps}")
    };
    let (long, short) = (plan(STEPS), plan(3));
    let mut ours = || opened(&long);
    let mut beside = || opened(&short);
    side_by_side(
        "a plan of 10,000 steps, opened",
        Limit::None,
        ROUNDS,
        &mut ours,
        &mut beside,
    )
}

fn opened(plan: &str) -> anyhow::Result<Duration> {
    let mut opened = Drawn::empty()?;
    opened.screen.on_documents(RunDocumentFiles {
        plan: Some(plan.to_owned()),
        ..RunDocumentFiles::default()
    });
    opened.press(KeyCode::Esc);
    opened.draw()?;
    opened.key(KeyCode::Char('2'))
}

/// A letter into the line that a key with Ctrl opens.
fn a_letter(name: &str, opens: KeyCode) -> anyhow::Result<()> {
    let (mut long, mut empty) = (Drawn::long(BLOCKS)?, Drawn::empty()?);
    let letter = |screen: &mut Drawn| {
        screen.press_with(opens, KeyModifiers::CONTROL);
        screen.draw()?;
        let took = screen.key(KeyCode::Char('s'))?;
        screen.press(KeyCode::Esc);
        anyhow::Ok(took)
    };
    let mut ours = || letter(&mut long);
    let mut beside = || letter(&mut empty);
    side_by_side(name, Limit::None, ROUNDS, &mut ours, &mut beside)
}
