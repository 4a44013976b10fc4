//! Applies the user's keys to the default keymap and reports every error.
//!
//! The configuration loader adds files and line numbers to the errors.

use std::collections::BTreeSet;

use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::key_chord::{plain_key, suggest_nearest};
use super::{ActiveKeymap, KeyChord, KeyContext};
use crate::tui::command_table::{CommandRow, all_key_rows};

/// The keys that the user wants for one action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOverride {
    pub action: String,
    /// Its keys as spelled; `none` alone removes all keys.
    pub keys: Vec<String>,
}

/// What is wrong with an override.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeymapError {
    /// The action as the user spelled it.
    pub action: String,
    pub problem: String,
    pub hint: String,
}

/// Actions that must have a key, and whether it must work while the user writes.
const REQUIRED_ACTIONS: &[(&str, KeyContext)] = &[
    ("quit", KeyContext::Composer),
    ("leave", KeyContext::Composer),
    ("write", KeyContext::OutsideComposer),
    ("close", KeyContext::OutsideComposer),
    ("close-diff", KeyContext::OutsideComposer),
    ("close-find", KeyContext::Composer),
];

impl ActiveKeymap {
    /// Returns the default keys with the user's overrides.
    ///
    /// # Errors
    /// All errors in the overrides.
    pub fn with_overrides(wishes: &[KeyOverride]) -> Result<Self, Vec<KeymapError>> {
        let mut keymap = Self::default();
        let mut flaws = Vec::new();
        for wished in wishes {
            let mut lines = all_key_rows().zip(&mut keymap.0);
            let line = lines
                .find(|(binding, _)| binding.name == wished.action && !wished.action.is_empty());
            match line {
                Some((binding, keys)) => match parse_override(binding, wished) {
                    Ok(read) => *keys = read,
                    Err(found) => flaws.extend(found),
                },
                None => flaws.push(unknown_action(&wished.action)),
            }
        }
        // An action with an invalid override falls back to its default keys; conflicts of those are not the user's.
        let wrong: BTreeSet<String> = flaws.iter().map(|flaw| flaw.action.clone()).collect();
        let is_wished = |name: &str| wishes.iter().any(|wished| wished.action == name);
        let conflicts = keymap.find_conflicts(is_wished, |name| wrong.contains(name));
        flaws.extend(conflicts);
        flaws.extend(keymap.find_missing_keys());
        if flaws.is_empty() {
            Ok(keymap)
        } else {
            Err(flaws)
        }
    }

    /// Finds keys shared by two actions in one place; reported at the action that the user changed.
    fn find_conflicts(
        &self,
        is_wished: impl Fn(&str) -> bool,
        is_wrong: impl Fn(&str) -> bool,
    ) -> Vec<KeymapError> {
        let mut flaws = Vec::new();
        for (n, (one, keys)) in self.all_rows().enumerate() {
            for (other, others) in self.all_rows().skip(n + 1) {
                let meets =
                    one.conflicts_with(other) && !is_wrong(one.name) && !is_wrong(other.name);
                let shared = keys.iter().filter(|key| meets && others.contains(key));
                for key in shared {
                    let (told, beside) = if is_wished(one.name) {
                        (one, other)
                    } else {
                        (other, one)
                    };
                    flaws.push(KeymapError {
                        action: told.name.to_owned(),
                        problem: format!("`{}` is also the key of `{}`", key.config_name(), beside.name),
                        hint: format!(
                            "choose another key, or change `{0}`: keys.{0} = \"none\" removes its key",
                            beside.name
                        ),
                    });
                }
            }
        }
        flaws
    }

    fn find_missing_keys(&self) -> Vec<KeymapError> {
        let has_one = |name: &str, context: KeyContext| {
            let row = self.all_rows().find(|(binding, _)| binding.name == name);
            row.is_some_and(|(_, keys)| {
                let fits =
                    |key: &KeyChord| context == KeyContext::OutsideComposer || !key.is_printable();
                keys.iter().any(fits)
            })
        };
        let flaw = |(name, context): &(&str, KeyContext)| KeymapError {
            action: (*name).to_owned(),
            problem: match context {
                context if context.takes_text() => {
                    "needs a key that works while you write".to_owned()
                }
                _ => "needs a key".to_owned(),
            },
            hint: "such as one with Ctrl, or an F key".to_owned(),
        };
        REQUIRED_ACTIONS
            .iter()
            .filter(|(name, context)| !has_one(name, *context))
            .map(flaw)
            .collect()
    }
}

fn parse_override(
    binding: &CommandRow,
    wished: &KeyOverride,
) -> Result<Vec<KeyChord>, Vec<KeymapError>> {
    let flaw = |(what, hint): (String, String)| KeymapError {
        action: wished.action.clone(),
        problem: what,
        hint,
    };
    let mut keys = Vec::new();
    let mut flaws = Vec::new();
    let spelled = wished.keys.iter().filter(|key| key.as_str() != "none");
    for spelled in spelled {
        match KeyChord::parse(spelled).and_then(|key| check_usable(binding, key)) {
            Ok(key) if keys.contains(&key) => {}
            Ok(key) => keys.push(key),
            Err((what, hint)) => flaws.push(flaw((format!("`{spelled}` {what}"), hint))),
        }
    }
    if flaws.is_empty() {
        Ok(keys)
    } else {
        Err(flaws)
    }
}

/// Rejects a key that cannot work for a binding, because writing, dialogs or slash commands need it.
fn check_usable(binding: &CommandRow, key: KeyChord) -> Result<KeyChord, (String, String)> {
    let wrong = |what: &str, hint: &str| Err((what.to_owned(), hint.to_owned()));
    let is_over_composer = matches!(binding.context, KeyContext::Text | KeyContext::Diff);
    if key == super::letter_key('/') && !is_over_composer {
        return wrong("starts a command", "choose another key");
    }
    let writes = matches!(
        key.code,
        KeyCode::Enter
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End
    ) && key.modifiers.is_empty();
    let is_newline = key == super::ctrl_key('j')
        || (key.code == KeyCode::Enter && key.modifiers == KeyModifiers::ALT);
    let is_beside_text = matches!(binding.context, KeyContext::Anywhere | KeyContext::Composer);
    if is_beside_text && (writes || is_newline) {
        return wrong(
            "is needed for writing, where this action's keys also work",
            "use one with Ctrl, or an F key",
        );
    }
    if binding.context == KeyContext::Find && key == plain_key(KeyCode::Backspace) {
        return wrong("is needed for writing", "use one with Ctrl, or an F key");
    }
    if binding.context.takes_text() && key.is_printable() {
        return wrong("is typed as text", "use one with Ctrl, or an F key");
    }
    Ok(key)
}

fn unknown_action(action: &str) -> KeymapError {
    let near = suggest_nearest(action, all_key_rows().map(|binding| binding.name));
    let near = near.map(|near| format!("{near} ")).unwrap_or_default();
    KeymapError {
        action: action.to_owned(),
        problem: "is not an action".to_owned(),
        hint: format!("{near}see all with `agent-collab keys`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::command::ScreenCommand;
    use crate::tui::keymap::ComposerFocus;
    use ratatui::crossterm::event::KeyEvent;

    fn wished(action: &str, keys: &[&str]) -> KeyOverride {
        KeyOverride {
            action: action.to_owned(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        }
    }

    fn check(action: &str, keys: &[&str], wanted: &str) {
        let told = match ActiveKeymap::with_overrides(&[wished(action, keys)]) {
            Ok(keymap) => keymap.key_label(action, ComposerFocus::Unfocused),
            Err(flaws) => {
                let told = flaws
                    .iter()
                    .map(|flaw| format!("{} {}; {}", flaw.action, flaw.problem, flaw.hint));
                told.collect::<Vec<_>>().join("\n")
            }
        };
        assert_eq!(told, wanted, "{action} = {keys:?}");
    }

    #[test]
    fn an_action_takes_any_key_that_terminals_tell() {
        check("go", &["ctrl+g"], "Ctrl+G");
        check("go", &["Alt+Space"], "Alt+Space");
        check("go", &["f5", "none"], "F5");
        check("go", &["*"], "*");
        check("go", &["ctrl++"], "Ctrl++");
        check("go", &["control+alt+PgUp"], "Ctrl+Alt+PgUp");
        check("mode", &["shift+tab"], "Shift+Tab");
        check("go", &["none"], "/go");
        check("history", &["h"], "H");
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said_with_the_remedy() {
        let no_key = "write it as \"g\", \"ctrl+g\", \"alt+g\", \"f5\", \"space\" or \"pageup\"";
        check(
            "go",
            &["ctlr+g"],
            "go `ctlr+g` is not a key; did you mean \"ctrl\"?",
        );
        check(
            "go",
            &["pagup"],
            "go `pagup` is not a key; did you mean \"pageup\"?",
        );
        check("go", &["xyz"], &format!("go `xyz` is not a key; {no_key}"));
        check("go", &["f13"], &format!("go `f13` is not a key; {no_key}"));
        check(
            "go",
            &["shift+g"],
            "go `shift+g` is Shift with a key, which many terminals cannot tell from the key alone; use Ctrl, \
            Alt or an F key (only \"shift+tab\" works with Shift)",
        );
        check(
            "go",
            &["ctrl+i"],
            "go `ctrl+i` is what many terminals send for `tab`; choose another key",
        );
        check("go", &["/"], "go `/` starts a command; choose another key");
        check(
            "find",
            &["enter"],
            "find `enter` is needed for writing, where this action's keys also work; use one with Ctrl, or an F key",
        );
        check(
            "gou",
            &["g"],
            "gou is not an action; did you mean \"go\"? see all with `agent-collab keys`",
        );
        check(
            "go",
            &["a"],
            "go `a` is also the key of `auto`; choose another key, or change `auto`: keys.auto = \"none\" \
            removes its key",
        );
        check(
            "quit",
            &["f"],
            "quit needs a key that works while you write; such as one with Ctrl, or an F key",
        );
        check(
            "write",
            &["none"],
            "write needs a key; such as one with Ctrl, or an F key",
        );
    }

    #[test]
    fn the_table_has_no_two_actions_on_one_key_and_every_name_once() {
        assert_eq!(
            ActiveKeymap::with_overrides(&[]),
            Ok(ActiveKeymap::default())
        );
        let names: Vec<&str> = all_key_rows()
            .map(|binding| binding.name)
            .filter(|name| !name.is_empty())
            .collect();
        let once: std::collections::BTreeSet<&&str> = names.iter().collect();
        assert_eq!(once.len(), names.len());
    }

    #[test]
    fn every_key_of_the_table_is_read_as_it_is_spelled() {
        for (binding, keys) in ActiveKeymap::default().all_rows() {
            for key in keys {
                assert_eq!(
                    KeyChord::parse(&key.config_name()),
                    Ok(*key),
                    "{}",
                    binding.name
                );
            }
        }
    }

    #[test]
    fn two_actions_may_change_places_and_the_old_key_means_nothing_else() {
        let wishes = [wished("go", &["a"]), wished("auto", &["ctrl+g"])];
        let keymap = ActiveKeymap::with_overrides(&wishes).unwrap();
        let press = |text: &str| {
            let key = KeyChord::parse(text).unwrap();
            keymap.find_command(
                &KeyEvent::new(key.code, key.modifiers),
                ComposerFocus::Unfocused,
            )
        };
        assert_eq!(press("a"), Some(ScreenCommand::Go));
        assert_eq!(press("ctrl+g"), Some(ScreenCommand::AutoGate));
        assert_eq!(press("g"), None);
    }
}
