//! The footer: what happens now and at most four keys, or a toast.
//!
//! The keys stand in a fixed order: two of the view, then the palette and help, which know all others.

mod tab_hints;

use tab_hints::{chat_hints, has_entries, plan_hints, tab_hints};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Screen;
use super::activity_text::{self, PresentRoom, PresentText};
use super::clickable_keys;
use super::command::ScreenCommand;
use super::command_palette::CommandPalette;
use super::command_table::{changes_run, is_command_available, is_safe_in_overlay};
use super::dialog::{ChoiceAction, ChoiceDialog, DialogChoice};
use super::diff_view::{self, DiffAction, DiffView, MIN_SIDES_WINDOW_COLUMNS, PositionPlace};
use super::hit_areas::FooterButtons;
use super::keymap::{ComposerFocus, KeyContext, KeyHint};
use super::pager::TextPager;
use super::tab_kind::TabKind;
use super::text_wrap::{text_width, truncate_to_columns, wrap_spans};
use super::theme;
use super::toast_line::ToastKind;
use super::view_area::{gutter, inset};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;

/// How many rows a toast takes at most.
const MAX_TOAST_ROWS: usize = 3;

/// How many hints stand before the palette's and help's.
const MAX_VIEW_HINTS: usize = 2;

/// The clickable areas of the footer.
#[derive(Debug, Default)]
pub struct FooterHitAreas {
    pub buttons: FooterButtons,
    /// The text that says that the run waits for the user.
    pub need: Rect,
}

/// The least gap between what happens now and the hints.
const MIN_HINT_GAP: usize = 3;

/// Draws the footer; returns the areas of the keys, for the mouse.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
    now: UnixMillis,
) -> FooterHitAreas {
    let nothing = FooterHitAreas::default();
    if area.is_empty() {
        return nothing;
    }
    let margin = gutter(area.width);
    let columns = usize::from(area.width);
    if screen.run_facts.is_quitting {
        let key = screen.keymap().key_label("quit", screen.composer.focus);
        let text = format!("Stopping · {key} again kills it");
        let row = inset(area, margin);
        let text = truncate_to_columns(&text, usize::from(row.width));
        frame.render_widget(Line::styled(text, theme::STRONG), row);
        return nothing;
    }
    let row = Rect {
        height: 1,
        ..inset(area, margin)
    };
    if let Some(toast) = &screen.toast.text {
        let lines = toast_lines(screen, toast, columns, usize::from(area.height));
        let n_used = lines
            .first()
            .map_or(0, |line| text_width(line.to_string().trim_end()));
        let is_one_row = lines.len() == 1;
        frame.render_widget(Paragraph::new(lines), area);
        let room = usize::from(row.right() - area.x).saturating_sub(n_used + MIN_HINT_GAP);
        // A short note leaves the keys that are named to its right.
        let hints = if is_one_row && area.height == 1 {
            fit_hints(footer_hints(screen, state, sheet), room)
        } else {
            Vec::new()
        };
        return FooterHitAreas {
            buttons: draw_hints(frame, row, hints),
            ..nothing
        };
    }
    let hints = footer_hints(screen, state, sheet);
    let present = present_text(screen, state, now, usize::from(row.width), &hints);
    // In a view all hints come first.
    let is_view = screen.overlays.key_layer(screen.composer.focus).is_some();
    let has_room =
        || present.width() + MIN_HINT_GAP + hints_width(&hints) <= usize::from(row.width);
    let present = if is_view && !has_room() {
        PresentText::default()
    } else {
        present
    };
    let n_present = present.width();
    let present_columns = u16::try_from(n_present).unwrap_or(u16::MAX);
    let needs_user = [theme::NEEDS_YOU, activity_text::WAITS_FOR_ROUTINE].contains(&present.style);
    frame.render_widget(present.into_line(), row);
    let gap = if n_present == 0 { 0 } else { MIN_HINT_GAP };
    let room = usize::from(row.width).saturating_sub(n_present + gap);
    let need = if needs_user {
        Rect {
            width: present_columns.min(row.width),
            ..row
        }
    } else {
        Rect::default()
    };
    FooterHitAreas {
        buttons: draw_hints(frame, row, fit_hints(hints, room)),
        need,
    }
}

/// Returns all hints that apply now, the most important of them first in its part: those of the view, then the palette's and
/// help's.
fn footer_hints(
    screen: &Screen,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) -> Vec<FooterHint> {
    if screen.overlays.has::<CommandPalette>() {
        let keys = [("↑↓", "choose"), ("Enter", "run"), ("Esc", "close")];
        return keys
            .map(|(keys, what)| FooterHint::fixed(keys, what))
            .to_vec();
    }
    // Until the user decides whether to resume the run, no command applies to it.
    let state = state.filter(|_| screen.dialogs.unfinished_run.is_none());
    if let Some(layer) = screen.overlays.key_layer(screen.composer.focus) {
        let Some(context) = layer.key_context() else {
            return Vec::new();
        };
        let mut all = screen.keymap().view_hints(context);
        all.retain(|hint| is_hint_available(hint, screen, state, None));
        if context == KeyContext::Text {
            all.splice(0..0, action_hint(screen, "help", "help"));
        }
        let all = layer.choose_hints(all, state).into_iter();
        return all.map(FooterHint::from).collect();
    }
    let own = plan_hints(screen, state, sheet).filter(|_| sheet.is_some());
    let is_plan = own.is_some();
    let mut hints = own.unwrap_or_else(|| {
        let mut hints = view_hints(screen, state, sheet);
        hints.truncate(MAX_VIEW_HINTS);
        hints
    });
    let fixed = [("palette", "commands"), ("help", "help")];
    let fixed = fixed
        .into_iter()
        .filter(|(name, _)| !is_plan || *name == "help")
        .filter_map(|(name, what)| action_hint(screen, name, what));
    hints.extend(fixed.map(FooterHint::from));
    hints
}

/// Returns what is at the left: the position in the diff in front, or what happens now.
fn present_text(
    screen: &Screen,
    state: Option<&RunState>,
    now: UnixMillis,
    columns: usize,
    hints: &[FooterHint],
) -> PresentText {
    let room = columns.saturating_sub(hints_width(hints) + MIN_HINT_GAP);
    if let Some(position) = diff_position(screen, state, room) {
        return PresentText::quiet(position);
    }
    let room = PresentRoom {
        columns,
        hint_columns: hints.last().map_or(0, FooterHint::width),
    };
    // Until the user decides whether to resume the run, nothing happens in it.
    let state = state.filter(|_| screen.dialogs.unfinished_run.is_none());
    activity_text::present_text(screen, state, now, room)
}

/// Returns the position in the diff in front in at most `room` columns, where the footer has it.
fn diff_position(screen: &Screen, state: Option<&RunState>, room: usize) -> Option<String> {
    let view = screen.overlays.find::<DiffView>()?;
    let place = diff_view::position_place(state, screen.hit_areas.window_columns);
    let is_here = screen.overlays.is_in_front::<DiffView>() && place == PositionPlace::Footer;
    is_here.then(|| view.describe_position(room))?
}

fn hints_width(hints: &[FooterHint]) -> usize {
    let all: usize = hints.iter().map(FooterHint::width).sum();
    all + 2 * hints.len().saturating_sub(1)
}

/// Drops hints until the rest fits: of the view's the last first, then help's, or the palette's where that alone is too wide.
/// The one that interrupts an agent stays longer than help's, which the palette lists.
fn fit_hints(mut hints: Vec<FooterHint>, columns: usize) -> Vec<FooterHint> {
    while !hints.is_empty() && hints_width(&hints) > columns {
        if let [interrupt, _palette, help] = hints.as_slice()
            && interrupt.is_for(&ScreenCommand::InterruptTurn)
        {
            let n_without_help = hints_width(&hints).saturating_sub(help.width() + 2);
            if n_without_help <= columns {
                hints.pop();
                continue;
            }
        }
        // In a narrow window the palette stays: it lists the help too.
        let is_palette_enough = matches!(
            hints.as_slice(),
            [palette, _] if palette.is_for(&ScreenCommand::OpenPalette) && palette.width() <= columns
        );
        let n_fixed = if is_palette_enough {
            0
        } else {
            MAX_FIXED_HINTS.min(hints.len() - 1)
        };
        hints.remove(hints.len() - 1 - n_fixed);
    }
    hints
}

/// The palette's and help's hints.
const MAX_FIXED_HINTS: usize = 2;

/// Draws hints at the right end of a row; returns the areas of those that can be clicked.
fn draw_hints(frame: &mut Frame, row: Rect, hints: Vec<FooterHint>) -> FooterButtons {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut buttons: Vec<(usize, usize, ScreenCommand)> = Vec::new();
    let mut at = 0;
    for (n, hint) in hints.into_iter().enumerate() {
        if n > 0 {
            spans.push(Span::raw("  "));
            at += 2;
        }
        let n_keys = hint.keys.len();
        for (n, (key, command)) in hint.keys.into_iter().enumerate() {
            let from = at;
            let style = match command {
                Some(_) => theme::KEY,
                None => clickable_keys::mark_hint(theme::KEY),
            };
            at += text_width(&key) + 1;
            spans.push(Span::styled(key, style));
            spans.push(Span::raw(" "));
            if n + 1 == n_keys {
                at += text_width(hint.label);
                spans.push(Span::styled(hint.label, theme::QUIET));
            }
            if let Some(command) = command {
                buttons.push((from, at, command));
            }
        }
    }
    let short = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let from = row.right().saturating_sub(short(at)).max(row.x);
    let place = Rect {
        x: from,
        width: row.right() - from,
        ..row
    };
    frame.render_widget(Line::from(spans), place);
    let area = |start: usize, end: usize| Rect {
        x: from.saturating_add(short(start)),
        width: short(end - start),
        ..row
    };
    let buttons = buttons.into_iter();
    buttons
        .map(|(start, end, command)| (area(start, end).intersection(row), command))
        .collect()
}

/// Returns how many rows the footer takes: one, or up to three for a long toast.
pub fn n_rows(screen: &Screen, window: Rect) -> usize {
    let most = match window.height {
        0..3 => return 0,
        3..8 => 1,
        8..12 => 2,
        12.. => MAX_TOAST_ROWS,
    };
    let columns = usize::from(window.width);
    match &screen.toast.text {
        Some(toast) if !screen.run_facts.is_quitting => {
            toast_lines(screen, toast, columns, most).len().max(1)
        }
        _ => 1,
    }
}

/// Lays out a toast in at most `most` rows.
fn toast_lines(screen: &Screen, word: &str, columns: usize, most: usize) -> Vec<Line<'static>> {
    let margin = usize::from(gutter(u16::try_from(columns).unwrap_or(u16::MAX))).max(1);
    let text = format!("{:margin$}{word}", "");
    let in_row = |text: &str| {
        if screen.toast.kind == ToastKind::Plain {
            vec![Span::styled(text.to_owned(), theme::STRONG)]
        } else {
            clickable_keys::hint_spans(text, theme::STRONG)
        }
    };
    if most < 2 {
        return vec![Line::from(in_row(&truncate_to_columns(&text, columns)))];
    }
    let mut lines = wrap_spans(&in_row(&text), columns, margin);
    if lines.len() > most {
        let rest: Vec<String> = lines
            .drain(most - 1..)
            .map(|line| line.to_string())
            .collect();
        let rest: Vec<&str> = rest.iter().map(|line| line.trim()).collect();
        let last = format!("{:margin$}{}", "", rest.join(" "));
        let last = truncate_to_columns(&last, columns);
        lines.push(Line::styled(last, theme::STRONG));
    }
    lines
}

/// A key or related keys with what they do. A key without a command cannot be reassigned.
#[derive(Debug, Clone)]
struct FooterHint {
    keys: Vec<(String, Option<ScreenCommand>)>,
    label: &'static str,
}

impl From<KeyHint> for FooterHint {
    fn from(hint: KeyHint) -> Self {
        let keys = hint.keys.into_iter();
        Self {
            keys: keys.map(|(key, command)| (key, Some(command))).collect(),
            label: hint.label,
        }
    }
}

impl FooterHint {
    fn fixed(keys: &str, label: &'static str) -> Self {
        let keys = keys.split(' ').map(|key| (key.to_owned(), None)).collect();
        Self { keys, label }
    }

    fn is_for(&self, command: &ScreenCommand) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|(_, of)| of.as_ref() == Some(command))
    }

    fn width(&self) -> usize {
        let keys: usize = self.keys.iter().map(|(key, _)| text_width(key) + 1).sum();
        keys + text_width(self.label)
    }
}

/// Returns the hints of the view and of what is open in it, the most important first.
fn view_hints(
    screen: &Screen,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) -> Vec<FooterHint> {
    let mut hints = Vec::new();
    let is_reading = screen.composer.focus == ComposerFocus::Unfocused;
    if sheet.is_some() && is_reading {
        let is_pick = |choice: &DialogChoice| {
            matches!(
                choice.action,
                ChoiceAction::PickAnswer(_) | ChoiceAction::TickAnswer { .. }
            )
        };
        let picks = sheet.is_some_and(|sheet| sheet.choices.iter().any(is_pick));
        let keys = match screen.hit_areas.has_buttons() {
            true => "←→",
            false if picks => "↑↓ 1-9",
            false => "↑↓",
        };
        hints.push(FooterHint::fixed(keys, "choose"));
        if screen.picks_beside_buttons() && has_entries(screen, state) {
            let entries = screen.tabs.get(screen.tabs.view.focused()).entries_label();
            hints.push(FooterHint::fixed("↑↓", entries));
        }
        if screen.dialogs.own.is_some() {
            hints.push(FooterHint::fixed("Esc", "back"));
        }
    }
    if screen.is_read_only() && sheet.is_none() {
        let close = screen
            .keymap()
            .view_hints(KeyContext::Text)
            .into_iter()
            .next();
        hints.extend(close.map(FooterHint::from));
    }
    let has_own = screen.dialogs.own.is_some();
    let lies_over = (has_own || screen.overlays.has::<TextPager>()) && is_reading;
    let is_free = |hint: &KeyHint| !is_dialog_key(hint, screen, sheet);
    let is_tab = !lies_over && is_reading;
    let rows = screen.keymap().footer_rows();
    let row_hint = |name: &str| {
        let row = rows.iter().find(|row| row.name == name)?;
        // Of a dialog the composer has the keys until it is left.
        let is_choice = name == LEAVE_ACTION && sheet.is_some();
        let what = if is_choice { "choose" } else { row.hint };
        let hint = action_hint(screen, row.name, what)?;
        let is_calm = hint
            .keys
            .iter()
            .all(|(_, command)| is_safe_in_overlay(command));
        let is_useful = is_free(&hint)
            && (is_calm || !lies_over)
            && is_hint_available(&hint, screen, state, sheet);
        is_useful.then_some(FooterHint::from(hint))
    };
    // The card of a result has the keys for what comes next.
    let is_result = state.is_some_and(|state| state.phase.is_final())
        && is_tab
        && sheet.is_none()
        && screen.tabs.view.focused() == TabKind::Chat;
    let is_offered = |name: &str| !(is_result && RESULT_KEYS.contains(&name));
    let first = FIRST_HINTS.iter().filter(|name| is_offered(name));
    hints.extend(first.filter_map(|name| row_hint(name)));
    if is_tab {
        let own = tab_hints(screen, state).into_iter();
        hints.extend(own.filter(is_free).map(FooterHint::from));
    }
    // While suggestions are shown, Tab inserts one.
    let has_completion = screen.composer.assist.has_completion();
    let others = rows.iter().map(|row| row.name);
    let others =
        others.filter(|name| !FIRST_HINTS.contains(name) && !["palette", "help"].contains(name));
    let others = others.filter(|name| !(has_completion && *name == "next-tab"));
    // On the welcome page there is nothing to go back to, and the other tabs are empty.
    let is_welcome = screen.shows_welcome_page(state);
    let others = others.filter(|name| !(is_welcome && ["leave", "next-tab"].contains(name)));
    let others = others.filter(|name| shows_document(screen) || *name != "edit");
    hints.extend(others.filter(|name| is_offered(name)).filter_map(row_hint));
    if screen.tabs.view.focused() == TabKind::Chat && is_tab && sheet.is_none() && !is_result {
        hints.extend(chat_hints(screen).into_iter().map(FooterHint::from));
    }
    hints
}

/// The actions that the card of a result offers, or that make no sense there.
const RESULT_KEYS: &[&str] = &["write", "edit", "diff", "undo", "quit"];

/// Returns whether there is anything to edit in the tab: Status and Log show no document.
fn shows_document(screen: &Screen) -> bool {
    !matches!(screen.tabs.view.focused(), TabKind::Status | TabKind::Log)
}

/// The action that leaves the composer.
const LEAVE_ACTION: &str = "leave";

/// The actions whose keys come before those of the tab.
const FIRST_HINTS: &[&str] = &["interrupt", "resume", "write"];

fn action_hint(screen: &Screen, action: &str, what: &'static str) -> Option<KeyHint> {
    let key = screen.keymap().action_key(action, screen.composer.focus)?;
    Some(KeyHint {
        keys: vec![key],
        label: what,
    })
}

/// Returns whether the hint's key is a letter of the open dialog, which shows the letter itself.
fn is_dialog_key(hint: &KeyHint, screen: &Screen, sheet: Option<&ChoiceDialog>) -> bool {
    let sheet = sheet.filter(|_| screen.composer.focus == ComposerFocus::Unfocused);
    let choices = sheet.map_or(&[][..], |sheet| &sheet.choices);
    let is_letter = |name: &str| {
        choices
            .iter()
            .any(|one| one.key.to_uppercase().eq(name.chars()))
    };
    hint.keys.iter().any(|(name, _)| is_letter(name))
}

/// Returns whether all commands of a hint are available now.
fn is_hint_available(
    hint: &KeyHint,
    screen: &Screen,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) -> bool {
    hint.keys.iter().all(|(_, command)| {
        if *command == ScreenCommand::ResumeRun {
            return screen.settings.resumable_run().is_some();
        }
        if *command == ScreenCommand::DiffAction(DiffAction::SideBySide) {
            // Before the first frame the width is unknown.
            return !(1..MIN_SIDES_WINDOW_COLUMNS).contains(&screen.hit_areas.window_columns);
        }
        if *command == ScreenCommand::TogglePaneFocus {
            return screen.tabs.view.side_area.is_some();
        }
        is_command_available(command, state, sheet.map(ChoiceDialog::to_open_dialog))
            && !(screen.is_read_only() && changes_run(command))
    })
}
