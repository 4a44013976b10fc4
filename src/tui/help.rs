//! The help: every key and slash command from the command table, by group; those of the current tab come first.

use std::collections::BTreeSet;

use ratatui::text::{Line, Span};

use super::clickable_keys;
use super::command_table::{CommandGroup, CommandRow};
use super::keymap::{ActiveKeymap, ComposerFocus, KeyChord, KeyContext};
use super::pager::TextPager;
use super::text_wrap::{join_columns, text_width, truncate_to_columns, wrap_spans};
use super::theme;

/// The width of the keys column.
const KEYS_COLUMNS: usize = 9;
/// Between two columns, and before the first one.
const GAP_COLUMNS: usize = 1;

/// Returns the width of the commands column; `None` where there is no room for columns.
fn names_columns(columns: usize) -> Option<usize> {
    match columns {
        0..60 => None,
        60..100 => Some(16),
        100.. => Some(28),
    }
}

/// Creates the help pager; `here` is the heading for the tab's commands, and their names.
pub fn help_pager(keymap: &ActiveKeymap, here: (String, Vec<&'static str>)) -> TextPager {
    TextPager::from_help("Keys and commands", help_lines(keymap, here.0, here.1))
}

#[derive(Debug)]
pub enum HelpLine {
    /// A sentence; may be empty.
    Prose(String),
    Heading(String),
    Row {
        keys: String,
        names: String,
        does: &'static str,
    },
}

impl HelpLine {
    /// Lays out the line in this width.
    pub fn lay_out(&self, columns: usize) -> Vec<Line<'static>> {
        let (keys, names, does) = match self {
            Self::Prose(text) => return wrap_spans(&[Span::raw(text.as_str())], columns, 0),
            Self::Heading(text) => {
                let heading = Line::styled(
                    truncate_to_columns(&format!("── {text} "), columns),
                    theme::STRONG,
                );
                return vec![Line::default(), heading];
            }
            Self::Row { keys, names, does } => (keys, names, does),
        };
        let mut spans = vec![Span::raw(" ")];
        for (n, key) in keys.split(' ').filter(|key| !key.is_empty()).enumerate() {
            spans.extend((n > 0).then(|| Span::raw(" ")));
            spans.push(Span::styled(
                key.to_owned(),
                clickable_keys::mark_hint(theme::KEY),
            ));
        }
        let blanks = KEYS_COLUMNS.saturating_sub(text_width(keys)) + GAP_COLUMNS;
        spans.push(Span::raw(" ".repeat(blanks)));
        let names = Span::styled(names.clone(), theme::STRONG);
        let Some(width) = names_columns(columns) else {
            let gap = if names.content.is_empty() { "" } else { "  " };
            spans.extend([names, Span::raw(gap), Span::raw(*does)]);
            return wrap_spans(&spans, columns, 4);
        };
        let indent = GAP_COLUMNS + KEYS_COLUMNS + GAP_COLUMNS;
        spans.push(names);
        let left = wrap_spans(&spans, indent + width, indent);
        let column = indent + width + GAP_COLUMNS;
        let right = wrap_spans(&[Span::raw(*does)], columns.saturating_sub(column), 0);
        join_columns(left, right, column)
    }
}

/// A binding with its keys.
type KeymapRow<'a> = (&'static CommandRow, &'a [KeyChord]);

/// Builds the lines of the help.
fn help_lines(keymap: &ActiveKeymap, heading: String, names: Vec<&'static str>) -> Vec<HelpLine> {
    let mut rows: Vec<KeymapRow<'_>> = keymap.table_rows().collect();
    let mut here = Vec::new();
    for name in names {
        let at = rows.iter().position(|(binding, _)| binding.name == name);
        here.extend(at.map(|at| rows.remove(at)));
    }
    let mut told = Vec::new();
    if !here.is_empty() {
        told.push(HelpLine::Heading(heading));
        told.extend(here.into_iter().map(help_row));
    }
    told.push(HelpLine::Heading("The screen".to_owned()));
    told.extend(screen_notes(keymap).map(HelpLine::Prose));
    let mut seen = BTreeSet::new();
    for group in CommandGroup::ALL {
        told.push(HelpLine::Heading(group.label().to_owned()));
        let own = rows.iter().copied().filter(|(row, _)| row.group == group);
        told.extend(own.map(|row| {
            // A command with several bindings is named once.
            match (seen.insert(row.0.slash), help_row(row)) {
                (false, HelpLine::Row { keys, does, .. }) => HelpLine::Row {
                    keys,
                    names: String::new(),
                    does,
                },
                (_, line) => line,
            }
        }));
    }
    told.push(HelpLine::Heading("Where other keys work".to_owned()));
    told.extend(dialog_and_view_keys(keymap).map(HelpLine::Prose));
    told
}

fn screen_notes(keymap: &ActiveKeymap) -> impl Iterator<Item = String> {
    let told = [
        format!(
            "What needs you has a colored bar at its left. You write in the composer until a question, another tab \
            or the result takes the keys: then letters are commands. {} leaves the composer, {} returns to it. \
            Click a hint to press its \
            key. Click a choice to select it, click again to choose it. Hold Shift and drag to select text, or \
            press {} to give the mouse to the terminal. agent-collab keys prints these keys in the form that \
            your configuration accepts.",
            keymap.key_label("leave", ComposerFocus::Focused),
            keymap.key_label("write", ComposerFocus::Unfocused),
            keymap.key_label("mouse", ComposerFocus::Focused),
        ),
        "While you write: Enter sends. Shift+Enter, Alt+Enter or Ctrl+J starts a new line. ↑ in an empty \
        composer recalls what you sent. / lists commands and @ lists files, Tab inserts one. Ctrl+/ undoes, \
        Ctrl+R redoes. Ctrl+U and Ctrl+K delete to the start and end of the line, Ctrl+W deletes a word. A \
        large paste shows as one mark."
            .to_owned(),
    ];
    told.into_iter()
}

/// Returns the notes on the keys of dialogs and views.
fn dialog_and_view_keys(keymap: &ActiveKeymap) -> impl Iterator<Item = String> {
    let dialogs =
        "In a dialog: ↑ ↓ and Enter, or the letter beside the choice. At a question of the run, a \
        letter or number with another one right after it begins a text. Words for /answer: "
            .to_owned()
            + "go · pass, more:N, edit · review, accept · yes, changes:TEXT · retry, new-session, stop · "
            + "overwrite, discard · include, leave-out · allow · skip · go-on · dismiss, TEXT · continue, done, \
        redo · cancel";
    let views = KeyContext::VIEWS.map(|view| {
        let hints = keymap.view_hints(view);
        let keys: Vec<String> = hints
            .iter()
            .map(|hint| format!("{} {}", hint.key_labels(), hint.label))
            .collect();
        let mut told = format!("{}{}.", view.prefix(), keys.join(" · "));
        if let Some(first) = told.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        told
    });
    std::iter::once(dialogs).chain(views)
}

fn help_row((binding, keys): KeymapRow<'_>) -> HelpLine {
    let keys: Vec<String> = keys.iter().map(|key| key.label()).collect();
    HelpLine::Row {
        keys: keys.join(" "),
        names: binding.slash_names(),
        does: binding.help,
    }
}
