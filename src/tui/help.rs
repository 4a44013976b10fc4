//! The help: every key and slash command, out of the one keymap, by what it is about; what is about the tab comes first.

use std::collections::BTreeSet;

use ratatui::text::{Line, Span};

use super::hints;
use super::keymap::{Binding, Context, GROUPS, IsWriting, Key, Keymap};
use super::pager::Pager;
use super::theme;
use super::wrap::{cut, width, wrap};

/// Where the text of a line begins.
const INDENT: usize = 1 + KEYS_WIDE + 1 + NAMES_WIDE + 1;
/// From how many columns on what keys do stands in a column of its own.
const WIDE: usize = 100;
/// How wide the column of keys is.
const KEYS_WIDE: usize = 9;
/// How wide the column of commands is.
const NAMES_WIDE: usize = 28;

/// The help, to be read; `here` heads the actions that are about the tab, and names them.
pub fn pager(keymap: &Keymap, here: (String, Vec<&'static str>)) -> Pager {
    Pager::of_keys("keys and commands", lines(keymap, here))
}

/// One line of the help.
#[derive(Debug)]
pub enum Told {
    /// A sentence, or nothing.
    Prose(String),
    /// What the lines below are about.
    Heading(String),
    /// An action.
    Row {
        /// Its keys.
        keys: String,
        /// What to type for it.
        names: &'static str,
        /// What it does.
        does: &'static str,
    },
}

impl Told {
    /// The line, as wide as `columns`.
    pub fn lay_out(&self, columns: usize) -> Vec<Line<'static>> {
        let (keys, names, does) = match self {
            Self::Prose(text) => return wrap(&[Span::raw(text.as_str())], columns, 0),
            Self::Heading(text) => {
                let heading = Line::styled(cut(&format!("── {text} "), columns), theme::STRONG);
                return vec![Line::default(), heading];
            }
            Self::Row { keys, names, does } => (keys, names, does),
        };
        let pad = |text: &str, wanted: usize| {
            let blanks = wanted.saturating_sub(width(text));
            format!("{text}{}", " ".repeat(blanks))
        };
        let is_wide = columns >= WIDE;
        let wanted = if is_wide { NAMES_WIDE } else { 0 };
        // A name that is as long as its column, or has none, keeps a gap.
        let gap = match (is_wide, width(names) > NAMES_WIDE, names.is_empty()) {
            (false, _, true) => "",
            (true, false, _) => " ",
            (true, true, _) | (false, ..) => "  ",
        };
        let mut spans = vec![Span::raw(" ")];
        for (n, key) in keys.split(' ').filter(|key| !key.is_empty()).enumerate() {
            spans.extend((n > 0).then(|| Span::raw(" ")));
            spans.push(Span::styled(key.to_owned(), hints::marked(theme::KEY)));
        }
        let blanks = KEYS_WIDE.saturating_sub(width(keys)) + 1;
        spans.extend([
            Span::raw(" ".repeat(blanks)),
            Span::styled(pad(names, wanted), theme::STRONG),
            Span::raw(gap),
            Span::raw(*does),
        ]);
        let indent = match (is_wide, columns) {
            (true, _) => INDENT,
            (false, 60..) => KEYS_WIDE + 2,
            (false, _) => 4,
        };
        wrap(&spans, columns, indent)
    }
}

/// A line of the table, with its keys.
type TableRow<'a> = (&'static Binding, &'a [Key]);

/// The help.
fn lines(keymap: &Keymap, (heading, names): (String, Vec<&'static str>)) -> Vec<Told> {
    let mut rows: Vec<TableRow<'_>> = keymap.rows().collect();
    let mut here = Vec::new();
    for name in names {
        let at = rows.iter().position(|(binding, _)| binding.name == name);
        here.extend(at.map(|at| rows.remove(at)));
    }
    let mut told = Vec::new();
    if !here.is_empty() {
        told.push(Told::Heading(heading));
        told.extend(here.into_iter().map(|row| line(row, row.0.slash)));
    }
    told.push(Told::Heading("the screen".to_owned()));
    told.extend(about_the_screen(keymap).map(Told::Prose));
    let mut seen = BTreeSet::new();
    for group in GROUPS {
        told.push(Told::Heading(group.name.to_owned()));
        let own = group
            .of(&mut rows, |(binding, _)| Some(binding))
            .into_iter();
        told.extend(own.map(|row| {
            // The same command on another key is named once.
            let is_new = row.0.slash.is_empty() || seen.insert(row.0.slash);
            line(row, if is_new { row.0.slash } else { "" })
        }));
    }
    told.push(Told::Heading("where other keys work".to_owned()));
    told.extend(elsewhere(keymap).map(Told::Prose));
    told
}

fn about_the_screen(keymap: &Keymap) -> impl Iterator<Item = String> {
    let told = [
        format!(
            "What needs you stands in a thick frame; its last line says what Enter does. \
             Letters are commands only while you do not write: {} leaves the composer, {} goes back. \
             A click on a hint presses the key that it names; a click on a choice points at it, one more takes it. \
             With Shift held a drag selects text as in any terminal; {} leaves the mouse to it. \
             `agent-collab keys` prints these keys as your configuration takes others.",
            keymap.named("leave", IsWriting::Yes),
            keymap.named("write", IsWriting::No),
            keymap.named("mouse", IsWriting::Yes),
        ),
        "While you write: Enter sends, Shift+Enter, Alt+Enter or Ctrl+J begins a new line, ↑ in an empty composer \
         recalls what you sent. / offers commands and @ files, Tab takes one. Ctrl+/ undoes, Ctrl+R redoes, Ctrl+U \
         and Ctrl+K remove to the line's beginning and end, Ctrl+W a word. A large paste is one mark."
            .to_owned(),
    ];
    told.into_iter()
}

/// The keys of dialogs and of views.
fn elsewhere(keymap: &Keymap) -> impl Iterator<Item = String> {
    let dialogs = "In a dialog: ↑ ↓ and Enter, or the letter beside the choice. /answer takes: "
        .to_owned()
        + "go · pass, more:N, edit · review, accept · yes, changes:TEXT · retry, new-session, stop · "
        + "overwrite, discard · include, leave-out · allow · skip · go-on · dismiss, TEXT · continue, done, redo · cancel";
    let views = Context::VIEWS.map(|view| {
        let hints = keymap.hints_of(view);
        let keys: Vec<String> = hints
            .iter()
            .map(|hint| format!("{} {}", hint.names(), hint.what))
            .collect();
        let mut told = format!("{}{}.", view.lead(), keys.join(" · "));
        if let Some(first) = told.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        told
    });
    std::iter::once(dialogs).chain(views)
}

fn line((binding, keys): (&'static Binding, &[Key]), names: &'static str) -> Told {
    let keys: Vec<String> = keys.iter().map(|key| key.name()).collect();
    Told::Row {
        keys: keys.join(" "),
        names,
        does: binding.help,
    }
}
