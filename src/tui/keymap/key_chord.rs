//! A key with its modifiers: how it is shown, how the configuration spells it, and which events match it.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use similar::get_close_matches;

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyChord {
    /// The key itself; letters are in lower case.
    pub code: KeyCode,
    pub modifiers: KeyModifiers,
}

/// Creates a key without modifiers.
pub const fn plain_key(code: KeyCode) -> KeyChord {
    KeyChord {
        code,
        modifiers: KeyModifiers::NONE,
    }
}

/// Creates a letter or sign key without modifiers.
pub const fn letter_key(c: char) -> KeyChord {
    plain_key(KeyCode::Char(c))
}

/// Creates a letter key with Ctrl.
pub const fn ctrl_key(c: char) -> KeyChord {
    KeyChord {
        code: KeyCode::Char(c),
        modifiers: KeyModifiers::CONTROL,
    }
}

/// Creates a letter key with Alt.
pub const fn alt_key(c: char) -> KeyChord {
    KeyChord {
        code: KeyCode::Char(c),
        modifiers: KeyModifiers::ALT,
    }
}

/// The keys that are named by a word: spelling in the configuration, and label.
const WORD_KEYS: &[(KeyCode, &str, &str)] = &[
    (KeyCode::Char(' '), "space", "Space"),
    (KeyCode::Enter, "enter", "Enter"),
    (KeyCode::Esc, "esc", "Esc"),
    (KeyCode::Tab, "tab", "Tab"),
    (KeyCode::BackTab, "shift+tab", "Shift+Tab"),
    (KeyCode::Backspace, "backspace", "Backspace"),
    (KeyCode::Delete, "delete", "Delete"),
    (KeyCode::Insert, "insert", "Insert"),
    (KeyCode::Up, "up", "↑"),
    (KeyCode::Down, "down", "↓"),
    (KeyCode::Left, "left", "←"),
    (KeyCode::Right, "right", "→"),
    (KeyCode::Home, "home", "Home"),
    (KeyCode::End, "end", "End"),
    (KeyCode::PageUp, "pageup", "PgUp"),
    (KeyCode::PageDown, "pagedown", "PgDn"),
];
/// Alternative spellings that the configuration accepts.
const KEY_ALIASES: &[(&str, &str)] = &[
    ("escape", "esc"),
    ("return", "enter"),
    ("backtab", "shift+tab"),
    ("del", "delete"),
    ("ins", "insert"),
    ("pgup", "pageup"),
    ("pgdn", "pagedown"),
    ("pgdown", "pagedown"),
];
/// Keys that most terminals send in the same way as Ctrl with this letter.
const TERMINAL_EQUIVALENTS: &[(char, &str)] = &[
    ('i', "tab"),
    ('m', "enter"),
    ('[', "esc"),
    ('h', "backspace"),
];
/// How similar a misspelt word must be (0 to 1) to be suggested.
const MIN_SIMILARITY: f32 = 0.6;

impl KeyChord {
    /// Returns the label for hints.
    pub fn label(self) -> String {
        let key = match word_key(self.code) {
            Some((_, _, shown)) => (*shown).to_owned(),
            None => match self.code {
                KeyCode::Char(c) => c.to_ascii_uppercase().to_string(),
                KeyCode::F(n) => format!("F{n}"),
                other => format!("{other:?}"),
            },
        };
        self.with_modifiers(["Ctrl+", "Alt+"], &key)
    }

    /// Returns the spelling in the user's configuration.
    pub fn config_name(self) -> String {
        let key = match word_key(self.code) {
            Some((_, spelled, _)) => (*spelled).to_owned(),
            None => match self.code {
                KeyCode::Char(c) => c.to_string(),
                other => other.to_string().to_lowercase(),
            },
        };
        self.with_modifiers(["ctrl+", "alt+"], &key)
    }

    fn with_modifiers(self, [ctrl, alt]: [&str; 2], key: &str) -> String {
        let of = |modifier, text| {
            if self.modifiers.contains(modifier) {
                text
            } else {
                ""
            }
        };
        let (ctrl, alt) = (of(KeyModifiers::CONTROL, ctrl), of(KeyModifiers::ALT, alt));
        format!("{ctrl}{alt}{key}")
    }

    /// Parses a key as the user spells it, such as `g`, `ctrl+g`, `f5` or `pageup`.
    ///
    /// # Errors
    /// The text is not a usable key: what is wrong with it, and what to write instead.
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        let wrong = |what: &str, hint: String| Err((what.to_owned(), hint));
        let mut rest = text.to_lowercase();
        for (also, spelled) in KEY_ALIASES {
            if let Some(before) = rest.strip_suffix(also)
                && (before.is_empty() || before.ends_with('+'))
            {
                rest = format!("{before}{spelled}");
                break;
            }
        }
        let mut modifiers = KeyModifiers::NONE;
        while parse_word_key(&rest).is_none() {
            let Some((modifier, after)) =
                rest.split_once('+').filter(|(_, after)| !after.is_empty())
            else {
                break;
            };
            modifiers |= match modifier {
                "ctrl" | "control" => KeyModifiers::CONTROL,
                "alt" | "meta" | "option" => KeyModifiers::ALT,
                "shift" => {
                    let what =
                        "is Shift with a key, which many terminals cannot tell from the key alone";
                    return wrong(
                        what,
                        "use Ctrl, Alt or an F key (only \"shift+tab\" works with Shift)"
                            .to_owned(),
                    );
                }
                other => {
                    let near = suggest_nearest(other, ["ctrl", "alt", "shift"].into_iter());
                    return wrong(
                        "is not a key",
                        near.unwrap_or_else(|| KEY_EXAMPLES.to_owned()),
                    );
                }
            };
            rest = after.to_owned();
        }
        let mut chars = rest.chars();
        let code = match (parse_word_key(&rest), chars.next(), chars.next()) {
            (Some(code), ..) => code,
            (None, Some(c), None) if !c.is_control() => KeyCode::Char(c),
            _ => match parse_function_key(&rest) {
                Some(code) => code,
                None => {
                    let words = WORD_KEYS.iter().map(|(_, spelled, _)| *spelled);
                    return wrong(
                        "is not a key",
                        suggest_nearest(&rest, words).unwrap_or_else(|| KEY_EXAMPLES.to_owned()),
                    );
                }
            },
        };
        let same = TERMINAL_EQUIVALENTS
            .iter()
            .find(|(c, _)| code == KeyCode::Char(*c));
        if let Some((_, same)) = same.filter(|_| modifiers == KeyModifiers::CONTROL) {
            let what = format!("is what many terminals send for `{same}`");
            return Err((what, "choose another key".to_owned()));
        }
        Ok(Self { code, modifiers })
    }

    /// Parses a key label as shown in hints.
    pub fn parse_label(name: &str) -> Option<Self> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = name;
        for (lead, modifier) in [
            ("Ctrl+", KeyModifiers::CONTROL),
            ("Alt+", KeyModifiers::ALT),
        ] {
            if let Some(behind) = rest.strip_prefix(lead) {
                modifiers |= modifier;
                rest = behind;
            }
        }
        let mut chars = rest.chars();
        let word = WORD_KEYS.iter().find(|(.., shown)| *shown == rest);
        let code = match (word, chars.next(), chars.next()) {
            (Some((code, ..)), ..) => *code,
            (None, Some(c), None) if c.is_ascii_uppercase() || c.is_ascii_punctuation() => {
                KeyCode::Char(c.to_ascii_lowercase())
            }
            _ => parse_function_key(&rest.to_lowercase()).filter(|_| rest.starts_with('F'))?,
        };
        Some(Self { code, modifiers })
    }

    /// Returns whether the key types a character in the composer.
    pub fn is_printable(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && self.modifiers.is_empty()
    }

    /// Returns whether an event is this key.
    pub fn matches(self, event: &KeyEvent) -> bool {
        let code = match event.code {
            KeyCode::Char(c) => KeyCode::Char(c.to_ascii_lowercase()),
            other => other,
        };
        // Letters and BackTab already include Shift.
        self.code == code && self.modifiers == event.modifiers - KeyModifiers::SHIFT
    }
}

const KEY_EXAMPLES: &str =
    "write it as \"g\", \"ctrl+g\", \"alt+g\", \"f5\", \"space\" or \"pageup\"";

fn word_key(code: KeyCode) -> Option<&'static (KeyCode, &'static str, &'static str)> {
    WORD_KEYS.iter().find(|(known, ..)| *known == code)
}

fn parse_word_key(text: &str) -> Option<KeyCode> {
    let word = WORD_KEYS.iter().find(|(_, spelled, _)| *spelled == text);
    word.map(|(code, ..)| *code)
}

fn parse_function_key(text: &str) -> Option<KeyCode> {
    let n: u8 = text.strip_prefix('f')?.parse().ok()?;
    (1..=12).contains(&n).then_some(KeyCode::F(n))
}

/// Suggests the known word that is most similar to a text.
pub fn suggest_nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.filter(|word| !word.is_empty()).collect();
    let near = get_close_matches(text, &known, 1, MIN_SIMILARITY);
    near.first().map(|near| format!("did you mean \"{near}\"?"))
}
