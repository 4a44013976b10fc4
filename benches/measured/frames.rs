//! A key and the frame that answers it, with 100,000 events in the transcript, beside an empty screen.

use std::time::Duration;

use agent_collab::domain::delta::Delta;
use agent_collab::domain::event::{Event, News};
use agent_collab::domain::ids::{At, TurnId};
use agent_collab::domain::turn::Role;
use agent_collab::tui::{Screen, ScreenSettings};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::{side_by_side, timed};

const ROUNDS: usize = 400;

pub fn run() -> anyhow::Result<()> {
    let mut long = Screen::new(ScreenSettings::default());
    for n in 0..100_000 {
        let text = format!(
            "{n}: {}",
            "the state file is written after every step. ".repeat(20)
        );
        let news = News::Text { text };
        long.on_event(
            At(n),
            &Event::Agent {
                turn: TurnId::new("trn_1"),
                role: Role::Planner,
                news,
            },
        );
    }
    let mut empty = Screen::new(ScreenSettings::default());
    let (mut a, mut b) = (terminal()?, terminal()?);
    let mut with_all = || key(&mut long, &mut a, KeyCode::Char('a'));
    let mut with_none = || key(&mut empty, &mut b, KeyCode::Char('a'));
    side_by_side(
        "a key and its frame, 100,000 events",
        "<= 1.25 (+0.5 ms)",
        ROUNDS,
        &mut with_all,
        &mut with_none,
    )?;

    let mut long_again = || key(&mut long, &mut a, KeyCode::PageUp);
    let mut empty_again = || key(&mut empty, &mut b, KeyCode::PageUp);
    side_by_side(
        "a page up, 100,000 events",
        "-",
        ROUNDS,
        &mut long_again,
        &mut empty_again,
    )?;

    let mut writing = Screen::new(ScreenSettings::default());
    let mut piece = || {
        writing.on_delta(Delta::Text {
            role: Role::Planner,
            item: "1".to_owned(),
            text: "a piece of a text\n".to_owned(),
        });
        draw(&mut writing, &mut a)
    };
    let mut nothing = || {
        empty.touch();
        draw(&mut empty, &mut b)
    };
    side_by_side(
        "a piece of an answer and its frame",
        "-",
        ROUNDS,
        &mut piece,
        &mut nothing,
    )
}

fn terminal() -> anyhow::Result<Terminal<TestBackend>> {
    Ok(Terminal::new(TestBackend::new(200, 50))?)
}

fn key(
    screen: &mut Screen,
    terminal: &mut Terminal<TestBackend>,
    code: KeyCode,
) -> anyhow::Result<Duration> {
    let (took, _actions) = timed(|| screen.on_key(KeyEvent::new(code, KeyModifiers::NONE), None));
    Ok(took + draw(screen, terminal)?)
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
