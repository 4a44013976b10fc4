//! The footer: a toast, or the keys that are useful now, taken from the keymap.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::Screen;
use super::clickable_keys;
use super::command::ScreenCommand;
use super::command_table::{changes_run, is_command_available, is_safe_in_overlay};
use super::dialog::{ChoiceAction, ChoiceDialog, DialogChoice};
use super::keymap::{ComposerFocus, KeyContext, KeyHint};
use super::tabs::{self, TabKind};
use super::text_wrap::{text_width, truncate_to_columns, wrap_spans};
use super::theme;
use crate::domain::run::RunState;

/// How many rows a toast takes at most.
const MAX_TOAST_ROWS: usize = 3;

/// The area of each hint, and the command of its key.
pub type FooterButtons = Vec<(Rect, ScreenCommand)>;

/// Draws the footer; returns the areas of the keys, for the mouse.
pub fn draw(
    screen: &Screen,
    frame: &mut Frame,
    area: Rect,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) -> FooterButtons {
    if area.is_empty() {
        return FooterButtons::new();
    }
    let columns = usize::from(area.width);
    if screen.run_facts.is_quitting {
        let key = screen.keymap().key_label("quit", screen.composer.focus);
        let long =
            format!(" Quitting: stopping the turn, everything is saved · {key} again kills it");
        let text = if text_width(&long) <= columns {
            long
        } else {
            format!(" Quitting · {key} again kills it")
        };
        frame.render_widget(
            Line::styled(truncate_to_columns(&text, columns), theme::STRONG),
            area,
        );
        return FooterButtons::new();
    }
    if let Some(toast) = &screen.toast.text {
        let lines = toast_lines(screen, toast, columns, usize::from(area.height));
        frame.render_widget(Paragraph::new(lines), area);
        return FooterButtons::new();
    }
    let mut hints = FooterLine::new(area);
    if screen.overlays.palette.is_some() {
        for (keys, what) in [("↑↓", "choose"), ("Enter", "run"), ("Esc", "close")] {
            hints.add_fixed_keys(keys, what);
        }
        frame.render_widget(Line::from(hints.spans), area);
        return hints.buttons;
    }
    // Until the user decides whether to resume the run, no command applies to it.
    let state = state.filter(|_| screen.dialogs.unfinished_run.is_none());
    let view = view_context(screen);
    match view {
        Some(view @ (KeyContext::Diff | KeyContext::Find)) => {
            let all = screen.keymap().view_hints(view);
            all.into_iter().for_each(|hint| hints.add_hint(hint));
        }
        Some(KeyContext::Board) => {
            let all = screen.board_hints(state);
            all.into_iter().for_each(|hint| hints.add_hint(hint));
        }
        _ => add_hints(&mut hints, screen, state, sheet),
    }
    frame.render_widget(Line::from(hints.spans), area);
    hints.buttons
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
    let text = format!(" {word}");
    let in_row = |text: &str| {
        if screen.toast.with_keys.as_deref() == Some(word) {
            clickable_keys::hint_spans(text, theme::STRONG)
        } else {
            vec![Span::styled(text.to_owned(), theme::STRONG)]
        }
    };
    if most < 2 {
        return vec![Line::from(in_row(&truncate_to_columns(&text, columns)))];
    }
    let mut lines = wrap_spans(&in_row(&text), columns, 1);
    if lines.len() > most {
        let rest: Vec<String> = lines
            .drain(most - 1..)
            .map(|line| line.to_string())
            .collect();
        let rest: Vec<&str> = rest.iter().map(|line| line.trim()).collect();
        let last = truncate_to_columns(&format!(" {}", rest.join(" ")), columns);
        lines.push(Line::styled(last, theme::STRONG));
    }
    lines
}

/// Returns the view that takes the keys, if there is one.
fn view_context(screen: &Screen) -> Option<KeyContext> {
    if screen.overlays.search.is_some() {
        return Some(KeyContext::Find);
    }
    let is_writing = screen.composer.focus == ComposerFocus::Focused;
    let view = screen.overlays.top()?;
    // While the user writes beside a long text, the composer has the keys.
    (view.takes_whole_height() || !is_writing).then(|| view.key_context())
}

/// The hints of one line, as many as fit.
struct FooterLine {
    spans: Vec<Span<'static>>,
    columns_left: usize,
    /// The label of the hint that has reserved space.
    reserved_action: Option<&'static str>,
    /// The areas of the hints; `next` is the area of the next one.
    buttons: FooterButtons,
    next: Rect,
}

impl FooterLine {
    fn new(area: Rect) -> Self {
        Self {
            spans: Vec::new(),
            columns_left: usize::from(area.width),
            reserved_action: None,
            buttons: Vec::new(),
            next: Rect { height: 1, ..area },
        }
    }

    /// Reserves space for a hint.
    fn reserve_room(&mut self, hint: &KeyHint) {
        let needed = hint_width(hint);
        if needed <= self.columns_left {
            self.reserved_action = Some(hint.label);
            self.columns_left -= needed;
        }
    }

    fn add_hint(&mut self, hint: KeyHint) {
        let needed = hint_width(&hint);
        match self.reserved_action {
            Some(kept) if kept == hint.label => self.reserved_action = None,
            // The blank after the last hint may be cut off.
            _ if needed > self.columns_left + 1 => return,
            _ => self.columns_left = self.columns_left.saturating_sub(needed),
        }
        let n_keys = hint.keys.len();
        self.push_span(Span::raw(" "));
        for (n, (key, command)) in hint.keys.into_iter().enumerate() {
            let is_last = n + 1 == n_keys;
            let from = self.next.x;
            self.push_span(Span::styled(key, theme::KEY));
            if is_last {
                self.push_span(Span::styled(format!(" {} ", hint.label), theme::QUIET))
            } else {
                self.push_span(Span::raw(" "))
            }
            let place = Rect {
                x: from,
                width: self.next.x - from,
                ..self.next
            };
            self.buttons.push((place, command));
        }
    }

    fn push_span(&mut self, span: Span<'static>) {
        let columns = u16::try_from(text_width(&span.content)).unwrap_or(u16::MAX);
        self.next.x = self.next.x.saturating_add(columns);
        self.spans.push(span);
    }

    /// Adds a hint for keys that cannot be reassigned.
    fn add_fixed_keys(&mut self, keys: &'static str, what: &str) {
        let needed = text_width(keys) + text_width(what) + 3;
        if needed <= self.columns_left {
            self.columns_left -= needed;
            self.push_span(Span::raw(" "));
            let (first, others) = keys.split_once(' ').unwrap_or((keys, ""));
            let others = if others.is_empty() {
                ""
            } else {
                &keys[first.len()..]
            };
            self.push_span(Span::styled(first, clickable_keys::mark_hint(theme::KEY)));
            self.push_span(Span::styled(others, theme::KEY));
            self.push_span(Span::styled(format!(" {what} "), theme::QUIET));
        }
    }
}

/// Returns how many columns a hint takes.
fn hint_width(hint: &KeyHint) -> usize {
    text_width(&hint.key_labels()) + text_width(hint.label) + 3
}

fn add_hints(
    line: &mut FooterLine,
    screen: &Screen,
    state: Option<&RunState>,
    sheet: Option<&ChoiceDialog>,
) {
    let keymap = screen.keymap();
    // Help explains all other keys, so it always gets space.
    if let Some(hint) = action_hint(screen, "help", "help") {
        line.reserve_room(&hint);
    }
    if screen.overlays.pager.is_some() && screen.composer.focus == ComposerFocus::Unfocused {
        let all = keymap.view_hints(KeyContext::Text);
        all.into_iter().for_each(|hint| line.add_hint(hint));
    } else {
        if sheet.is_some() && screen.composer.focus == ComposerFocus::Unfocused {
            let is_pick = |choice: &DialogChoice| {
                matches!(
                    choice.action,
                    ChoiceAction::PickAnswer(_) | ChoiceAction::TickAnswer { .. }
                )
            };
            if sheet.is_some_and(|sheet| sheet.choices.iter().any(is_pick)) {
                line.add_fixed_keys("↑↓ 1-9", "choose")
            } else {
                line.add_fixed_keys("↑↓", "choose")
            }
            if screen.dialogs.own.is_some() {
                line.add_fixed_keys("Esc", "back");
            }
        }
        if screen.is_read_only() && sheet.is_none() {
            let close = keymap.view_hints(KeyContext::Text).into_iter().next();
            close.into_iter().for_each(|hint| line.add_hint(hint));
        }
    }
    for binding in keymap.footer_rows() {
        if binding.name == "next-tab" && screen.composer.assist.has_completion() {
            // While suggestions are shown, Tab inserts one.
            continue;
        }
        let is_free = |hint: &KeyHint| !is_dialog_key(hint, screen, sheet);
        let is_tab = screen.dialogs.own.is_none()
            && screen.overlays.pager.is_none()
            && screen.composer.focus == ComposerFocus::Unfocused;
        if binding.name == "edit" && is_tab {
            let hints = tab_hints(screen, state).into_iter();
            hints.filter(is_free).for_each(|hint| line.add_hint(hint));
        }
        let hint = action_hint(screen, binding.name, binding.hint);
        let lies_over = (screen.dialogs.own.is_some() || screen.overlays.pager.is_some())
            && screen.composer.focus == ComposerFocus::Unfocused;
        let is_free = |hint: &KeyHint| {
            let is_calm = hint
                .keys
                .iter()
                .all(|(_, command)| is_safe_in_overlay(command));
            is_free(hint) && (is_calm || !lies_over)
        };
        let hint = hint.filter(is_free);
        if let Some(hint) = hint.filter(|hint| is_hint_available(hint, screen, state, sheet)) {
            line.add_hint(hint);
        }
    }
    let is_read = screen.dialogs.own.is_none()
        && screen.overlays.pager.is_none()
        && screen.composer.focus == ComposerFocus::Unfocused;
    if screen.tabs.view.focused() == TabKind::Chat && is_read && sheet.is_none() {
        chat_hints(screen)
            .into_iter()
            .for_each(|hint| line.add_hint(hint));
    }
}

/// Returns the hints for reading the chat. They come last, because scrolling also works.
fn chat_hints(screen: &Screen) -> Vec<KeyHint> {
    let names: tabs::TabHints = if screen.tabs.chat.transcript.is_empty() {
        &[]
    } else {
        tabs::chat::CHAT_HINTS
    };
    let keymap = screen.keymap();
    let keys = |actions: &&[&str]| {
        let keys = actions.iter();
        keys.filter_map(|action| keymap.action_key(action, screen.composer.focus))
            .collect()
    };
    let hints = names.iter().map(|(actions, what)| KeyHint {
        keys: keys(actions),
        label: what,
    });
    hints.filter(|hint| !hint.keys.is_empty()).collect()
}

/// Returns the hints that apply only to the tab.
fn tab_hints(screen: &Screen, state: Option<&RunState>) -> Vec<KeyHint> {
    let tab = screen.tabs.get(screen.tabs.view.focused());
    let context = screen.settings.tab_context(&screen.documents, state);
    let hints = tab.hints().iter().map(|(actions, what)| KeyHint {
        keys: actions
            .iter()
            .filter_map(|action| screen.keymap().action_key(action, screen.composer.focus))
            .collect(),
        label: what,
    });
    let is_there =
        |hint: &KeyHint| !hint.keys.is_empty() && tab.is_hint_useful(hint.label, &context);
    let is_useful = |hint: &KeyHint| is_there(hint) && is_hint_available(hint, screen, state, None);
    hints.filter(is_useful).collect()
}

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
        if *command == ScreenCommand::TogglePaneFocus {
            return screen.tabs.view.side_area.is_some();
        }
        is_command_available(command, state, sheet)
            && !(screen.is_read_only() && changes_run(command))
    })
}
