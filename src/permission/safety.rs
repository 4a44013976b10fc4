//! Which commands are held back whatever else allows them: words of the safety lists in a line.
//!
//! It refuses to know how a shell reads the line, so it errs on the side of asking.

use serde::Serialize;

/// How dangerous a command is. Ordered from mild to strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Nothing holds it back.
    Safe,
    /// Asked about in every mode.
    Confirm,
    /// Asked about in every mode, each time.
    Dangerous,
}

/// The lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Commands that stop and ask.
    pub blocked: Vec<String>,
    /// Commands that run only after confirmation.
    pub confirm: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            blocked: own(&["rm -rf", "sudo", "chmod 777", "> /dev/"]),
            confirm: own(&["git push", "npm publish"]),
        }
    }
}

/// A class and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The class.
    pub class: Class,
    /// What of the lists it holds.
    pub rule: String,
    /// Why, in a line.
    pub reason: String,
}

/// Classes a command line.
pub fn classify(text: &str, settings: &Settings) -> Verdict {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let held = |words: &Vec<String>| {
        words
            .iter()
            .find(|word| line.contains(word.trim()))
            .cloned()
    };
    let (class, rule) = match (held(&settings.blocked), held(&settings.confirm)) {
        (Some(rule), _) => (Class::Dangerous, rule),
        (None, Some(rule)) => (Class::Confirm, rule),
        (None, None) => (Class::Safe, String::new()),
    };
    let reason = match class {
        Class::Dangerous => format!("it holds `{rule}`, which safety.blocked_commands stops"),
        Class::Confirm => format!("it holds `{rule}`, which safety.require_confirm_for stops"),
        Class::Safe => "nothing of the safety lists is in it".to_owned(),
    };
    Verdict {
        class,
        rule,
        reason,
    }
}
