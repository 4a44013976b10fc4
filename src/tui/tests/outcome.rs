//! Describes the effect of a key, a word or a click in one line: the actions, and the changed parts of the
//! screen.
//!
//! It contains no wording, so that a table of outcomes records what happens and not how it is phrased.

use super::world::{NOW, drawn, painted, screen};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::command_palette::CommandPalette;
use crate::tui::dialog::ComposerDraft;
use crate::tui::diff_view::DiffView;
use crate::tui::discussion_board::DiscussionBoard;
use crate::tui::keymap::ComposerFocus;
use crate::tui::pager::TextPager;
use crate::tui::search_bar::SearchBar;
use crate::tui::{Action, Screen};

/// The window for outcomes: wide enough for a second pane.
pub const SIZE: (u16, u16) = (200, 30);

/// Returns a screen that has shown the pending dialog for long enough to accept keys.
pub fn awake(state: Option<&RunState>, open: impl FnOnce(&mut Screen)) -> Screen {
    awake_at(SIZE, state, open)
}

/// Like [`awake`], in a window of another size.
pub fn awake_at(
    size: (u16, u16),
    state: Option<&RunState>,
    open: impl FnOnce(&mut Screen),
) -> Screen {
    let mut screen = screen();
    screen.composer.leave_to_view();
    open(&mut screen);
    wake_at(size, &mut screen, state);
    screen
}

/// Shows the pending dialog for long enough to accept keys.
pub fn wake(screen: &mut Screen, state: Option<&RunState>) {
    wake_at(SIZE, screen, state);
}

fn wake_at(size: (u16, u16), screen: &mut Screen, state: Option<&RunState>) {
    screen.on_time(NOW);
    painted(screen, size, state);
    screen.on_time(UnixMillis(NOW.0 + 60_000));
}

/// The observable parts of a screen.
#[derive(Clone, PartialEq)]
struct Look {
    parts: Vec<(&'static str, String)>,
    own: Option<String>,
    toast: Option<String>,
    picture: String,
}

fn look(screen: &mut Screen, state: Option<&RunState>) -> Look {
    let on = |is_on: bool| if is_on { "on" } else { "off" }.to_owned();
    let picture = drawn(screen, SIZE, state);
    let waiting = screen.pending_dialog(state);
    let chosen = waiting.map(|sheet| screen.dialogs.chosen_choice(&sheet).to_string());
    Look {
        parts: vec![
            (
                "writing",
                on(screen.composer.focus == ComposerFocus::Focused),
            ),
            ("draft", draft(screen)),
            (
                "composer",
                screen
                    .composer
                    .editor
                    .text()
                    .replace('\n', "\\n")
                    .trim_end()
                    .to_owned(),
            ),
            ("tab", screen.tabs.view.shown.slash_name().to_owned()),
            ("text", on(screen.overlays.has::<TextPager>())),
            ("diff", on(screen.overlays.has::<DiffView>())),
            ("board", on(screen.overlays.has::<DiscussionBoard>())),
            ("palette", on(screen.overlays.has::<CommandPalette>())),
            ("find", on(screen.overlays.has::<SearchBar>())),
            ("unfinished", on(screen.dialogs.unfinished_run.is_some())),
            ("instructions", on(screen.dialogs.instructions.is_some())),
            ("clicks", format!("{:?}", screen.mouse_capture())),
            ("theme", screen.theme().name().to_owned()),
            ("refiner", format!("{:?}", screen.composer.refiner)),
            ("picked", format!("{:?}", screen.dialogs.picked_answers)),
            ("ticked", format!("{:?}", screen.dialogs.ticked_answers)),
            ("chosen", chosen.unwrap_or_else(|| "none".to_owned())),
        ],
        own: screen.dialogs.own.as_ref().map(|own| own.id.clone()),
        toast: screen.toast.text.clone(),
        picture,
    }
}

/// Returns the text that a dialog asked for; the id of a call is left out, because it is an arbitrary
/// number.
fn draft(screen: &Screen) -> String {
    match screen.composer.draft {
        None => "none".to_owned(),
        Some(ComposerDraft::Refusal { .. }) => "Refusal".to_owned(),
        Some(ComposerDraft::Pattern { scope, .. }) => format!("Pattern for {scope:?}"),
        Some(draft) => format!("{draft:?}"),
    }
}

/// Does something and describes the effect in one line; `nothing` if there is none.
pub fn outcome(
    screen: &mut Screen,
    state: Option<&RunState>,
    act: impl FnOnce(&mut Screen) -> Vec<Action>,
) -> String {
    screen.toast.text = None;
    let before = look(screen, state);
    let actions = act(screen);
    let after = look(screen, state);
    let mut told: Vec<String> = actions.iter().map(|action| format!("{action:?}")).collect();
    match (&before.own, &after.own) {
        (before, Some(own)) if before.as_ref() != Some(own) => told.push(format!("asks {own}")),
        (Some(own), None) => told.push(format!("closes {own}")),
        _ => {}
    }
    let is_asked_else = before.own != after.own;
    for ((name, was), (_, is)) in before.parts.iter().zip(&after.parts) {
        // Another dialog has another preselected choice.
        if was != is && !(is_asked_else && *name == "chosen") {
            told.push(format!("{name} {is}"));
        }
    }
    if after.toast.is_some() {
        told.push("a word".to_owned());
    }
    if told.is_empty() && before.picture != after.picture {
        told.push("another picture".to_owned());
    }
    if told.is_empty() {
        "nothing".to_owned()
    } else {
        told.join("; ")
    }
}

/// Compares lines to a table and names each difference.
pub fn assert_table(wanted: &str, found: &[String]) {
    let wanted: Vec<&str> = wanted.lines().filter(|line| !line.is_empty()).collect();
    let missing: Vec<&&str> = wanted
        .iter()
        .filter(|line| !found.iter().any(|found| found == **line))
        .collect();
    let new: Vec<&String> = found
        .iter()
        .filter(|line| !wanted.contains(&line.as_str()))
        .collect();
    assert!(
        missing.is_empty() && new.is_empty(),
        "the table says\n{missing:#?}\nand this is so\n{new:#?}\n\nall of it:\n{}",
        found.join("\n")
    );
}
