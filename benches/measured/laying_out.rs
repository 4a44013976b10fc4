//! What is laid out anew: a long answer with tables and code, a long chat in a window of another width, a long plan,
//! a word that is looked for, an action that is looked for; each beside the same on a screen with next to nothing.

use std::time::Duration;

use agent_collab::domain::event::{Event, News};
use agent_collab::domain::ids::{At, TurnId};
use agent_collab::domain::turn::Role;
use agent_collab::tui::{Documents, Screen, ScreenSettings};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::{side_by_side, timed};

const ROUNDS: usize = 60;
/// How many blocks the long chat has.
const BLOCKS: usize = 5_000;
/// How many steps the long plan has.
const STEPS: usize = 10_000;
const SIZE: (u16, u16) = (200, 50);

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
        "-",
        ROUNDS,
        &mut ours,
        &mut beside,
    )
}

/// How long a screen takes for an answer and the frame that shows it.
fn first_frame(text: &str) -> anyhow::Result<Duration> {
    let mut screen = Screen::new(ScreenSettings::default());
    let mut terminal = terminal()?;
    draw(&mut screen, &mut terminal)?;
    let (took, ()) = timed(|| says(&mut screen, text));
    Ok(took + draw(&mut screen, &mut terminal)?)
}

fn another_width() -> anyhow::Result<()> {
    let (mut long, mut empty) = (long(), Screen::new(ScreenSettings::default()));
    let (mut a, mut b) = (terminal()?, terminal()?);
    let mut ours = || resized(&mut long, &mut a);
    let mut beside = || resized(&mut empty, &mut b);
    side_by_side(
        "another width, 5,000 blocks",
        "-",
        ROUNDS,
        &mut ours,
        &mut beside,
    )
}

fn resized(screen: &mut Screen, terminal: &mut Terminal<TestBackend>) -> anyhow::Result<Duration> {
    let columns = if terminal.size()?.width == SIZE.0 {
        90
    } else {
        SIZE.0
    };
    terminal.backend_mut().resize(columns, SIZE.1);
    draw(screen, terminal)
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
        "-",
        ROUNDS,
        &mut ours,
        &mut beside,
    )
}

fn opened(plan: &str) -> anyhow::Result<Duration> {
    let mut screen = Screen::new(ScreenSettings::default());
    let mut terminal = terminal()?;
    screen.on_documents(Documents {
        plan: Some(plan.to_owned()),
        ..Documents::default()
    });
    press(&mut screen, KeyCode::Esc, KeyModifiers::NONE);
    draw(&mut screen, &mut terminal)?;
    let (took, ()) = timed(|| press(&mut screen, KeyCode::Char('2'), KeyModifiers::NONE));
    Ok(took + draw(&mut screen, &mut terminal)?)
}

/// A letter into the line that a key with Ctrl opens.
fn a_letter(name: &str, opens: KeyCode) -> anyhow::Result<()> {
    let (mut long, mut empty) = (long(), Screen::new(ScreenSettings::default()));
    let (mut a, mut b) = (terminal()?, terminal()?);
    let letter = |screen: &mut Screen, terminal: &mut Terminal<TestBackend>| {
        press(screen, opens, KeyModifiers::CONTROL);
        draw(screen, terminal)?;
        let (took, ()) = timed(|| press(screen, KeyCode::Char('s'), KeyModifiers::NONE));
        let took = took + draw(screen, terminal)?;
        press(screen, KeyCode::Esc, KeyModifiers::NONE);
        anyhow::Ok(took)
    };
    let mut ours = || letter(&mut long, &mut a);
    let mut beside = || letter(&mut empty, &mut b);
    side_by_side(name, "-", ROUNDS, &mut ours, &mut beside)
}

fn long() -> Screen {
    let mut screen = Screen::new(ScreenSettings::default());
    for n in 0..BLOCKS {
        says(
            &mut screen,
            &format!("{n}: {}", "a sentence of an answer. ".repeat(30)),
        );
    }
    screen
}

fn says(screen: &mut Screen, text: &str) {
    let news = News::Text {
        text: text.to_owned(),
    };
    let (turn, role) = (TurnId::new("trn_1"), Role::Planner);
    screen.on_event(At(0), &Event::Agent { turn, role, news });
}

fn press(screen: &mut Screen, code: KeyCode, modifiers: KeyModifiers) {
    let _actions = screen.on_key(KeyEvent::new(code, modifiers), None);
}

fn terminal() -> anyhow::Result<Terminal<TestBackend>> {
    Ok(Terminal::new(TestBackend::new(SIZE.0, SIZE.1))?)
}

fn draw(screen: &mut Screen, terminal: &mut Terminal<TestBackend>) -> anyhow::Result<Duration> {
    let (took, drawn) = timed(|| {
        terminal
            .draw(|frame| screen.draw(frame, None, At(0)))
            .map(drop)
    });
    drawn?;
    Ok(took)
}
