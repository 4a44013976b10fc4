//! The help: every key and slash command, out of the one keymap.

use super::keymap::{Binding, Context, IsWriting, Key, Keymap};
use super::pager::{Form, Pager};

/// Where the text of a line begins.
pub const INDENT: usize = 1 + KEYS_WIDE + 1 + NAMES_WIDE + 1;
/// How wide the column of keys is.
const KEYS_WIDE: usize = 9;
/// How wide the column of commands is.
const NAMES_WIDE: usize = 28;

/// The help, to be read.
pub fn pager(keymap: &Keymap) -> Pager {
    Pager::new("keys and commands", &text(keymap), Form::Keys)
}

/// The help.
pub fn text(keymap: &Keymap) -> String {
    let mut lines = vec![
        format!(
            "What needs you stands in a thick yellow frame; its last line says what Enter does. \
             Letters are commands only while you do not write: {} leaves the composer, {} goes back. \
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
        String::new(),
    ];
    lines.extend(keymap.rows().map(line));
    lines.push(String::new());
    lines.push(
        "In a dialog: ↑ ↓ and Enter, or the letter beside the choice. /answer takes: ".to_owned()
            + "go · pass, more:N, edit · review, accept · yes, changes:TEXT · retry, new-session, stop · "
            + "overwrite, discard · include, leave-out · allow · skip · go-on · dismiss, TEXT · continue, done, redo · cancel",
    );
    lines.push(String::new());
    lines.extend(Context::VIEWS.map(|view| {
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
    }));
    lines.join("\n")
}

fn line((binding, keys): (&Binding, &[Key])) -> String {
    let keys: Vec<String> = keys.iter().map(|key| key.name()).collect();
    let keys = keys.join(" ");
    let pad = |text: &str, columns: usize| {
        let width = super::wrap::width(text);
        format!("{text}{}", " ".repeat(columns.saturating_sub(width)))
    };
    let names = pad(binding.slash, NAMES_WIDE);
    // A longer name keeps a gap of its own.
    let gap = match super::wrap::width(&names) > NAMES_WIDE {
        true => "  ",
        false => " ",
    };
    format!(" {} {names}{gap}{}", pad(&keys, KEYS_WIDE), binding.help)
}
