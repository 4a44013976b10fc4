//! Measures a key and the frame that answers it with 100,000 events in the transcript, compared with an empty screen;
//! and a page up in the middle of it, compared with a short transcript.

use agent_collab::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
use agent_collab::domain::turn::Role;
use ratatui::crossterm::event::KeyCode;

use crate::drawn::{Drawn, SLACK};
use crate::limit::Limit;
use crate::side_by_side;

const ROUNDS: usize = 400;

pub fn run() -> anyhow::Result<()> {
    let (mut long, mut empty) = (Drawn::long(100_000)?, Drawn::empty()?);
    side_by_side(
        "a key and its frame, 100,000 events",
        Limit::TimesAnd(1.25, SLACK),
        ROUNDS,
        &mut || long.key(KeyCode::Char('a')),
        &mut || empty.key(KeyCode::Char('a')),
    )?;

    // Both are scrolled to the middle, because at the top a page up would change nothing.
    let mut short = Drawn::long(200)?;
    for screen in [&mut long, &mut short] {
        screen.draw()?;
        for _ in 0..5 {
            screen.key(KeyCode::PageUp)?;
        }
    }
    side_by_side(
        "a page up, 100,000 events / 200",
        Limit::TimesAnd(1.25, SLACK),
        ROUNDS,
        &mut || long.key_and_back(KeyCode::PageUp, KeyCode::PageDown),
        &mut || short.key_and_back(KeyCode::PageUp, KeyCode::PageDown),
    )?;

    let mut writing = Drawn::empty()?;
    let mut piece = || {
        writing.screen.on_delta(TextDelta {
            author: TextAuthor::Role(Role::Planner),
            item: "1".to_owned(),
            change: DeltaChange::Append("a piece of a text\n".to_owned()),
        });
        writing.draw()
    };
    let mut nothing = || {
        empty.screen.mark_dirty();
        empty.draw()
    };
    side_by_side(
        "a piece of an answer and its frame",
        Limit::None,
        ROUNDS,
        &mut piece,
        &mut nothing,
    )
}
