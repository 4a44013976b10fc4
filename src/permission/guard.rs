//! The guard: what a command would do, as a class.
//!
//! It reads a text as a shell would and judges each command in it, by the user's phrases and by the
//! built-in set. It refuses to know who asks, rules and approvals; it looks at no disk.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::shell::{self, Limits, Reading};

mod builtin;
mod carried;
mod code;
mod command;
mod databases;
mod devices;
mod examples;
mod files;
mod git;
mod infrastructure;
mod interpreters;
mod judge;
mod options;
mod pattern;
mod permissions;
mod phrases;
mod place;
mod publish;
mod remote;
mod system;
mod unpacked;
mod wrapped;

pub use builtin::{Builtin, builtin, named};

/// How much harm a command can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Nothing that the guard looks for.
    Safe,
    /// Asked in every mode.
    Confirm,
    /// Asked with No preselected, never stored.
    Dangerous,
}

/// What the guard says about a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The strictest class of all commands in the text.
    pub class: Class,
    /// The name of the rule that gives the class; empty when the text is safe.
    pub rule: String,
    /// Why, in one line; empty when the text is safe.
    pub reason: String,
    /// The bytes of the text that the rule speaks of; empty when the text is safe.
    pub span: Range<usize>,
}

impl Verdict {
    /// The reason for people, with the rule where the reason does not name it.
    pub fn told(&self) -> String {
        match self.rule.starts_with(phrases::SECTION) {
            true => self.reason.clone(),
            false => format!("{} ({})", self.reason, self.rule),
        }
    }
}

impl Class {
    /// Its name as the configuration and JSON have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Confirm => "confirm",
            Self::Dangerous => "dangerous",
        }
    }
}

/// What a user makes of a built-in rule, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is never applied; it gives confirm where [`Builtin::may_be_off`] says no.
    Off,
    /// It gives confirm.
    Confirm,
    /// It gives dangerous.
    Dangerous,
}

impl Change {
    /// The words of `[safety.builtin]`, the mildest first.
    pub const NAMES: [&str; 3] = ["off", "confirm", "dangerous"];

    /// Its word of [`Change::NAMES`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Confirm => "confirm",
            Self::Dangerous => "dangerous",
        }
    }

    /// Reads one of [`Change::NAMES`].
    pub fn parsed(name: &str) -> Option<Self> {
        let all = [Self::Off, Self::Confirm, Self::Dangerous];
        all.into_iter().find(|change| change.name() == name)
    }
}

/// What the guard goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Phrases whose commands are dangerous.
    pub blocked: Vec<String>,
    /// Phrases whose commands are confirmed.
    pub confirm: Vec<String>,
    /// Changes of the built-in set, by the rule's name; see [`builtin`].
    pub builtin: BTreeMap<String, Change>,
    /// The repository's root, absolute; what lies in it is the project's. `None` when there is none to go by.
    pub root: Option<PathBuf>,
    /// Where the text would be run, absolute; `None` when that is not known.
    pub cwd: Option<PathBuf>,
    /// The user's home, absolute; the same as `~`.
    pub home: Option<PathBuf>,
    /// How much work one text may be.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        let owned = |phrases: &[&str]| phrases.iter().map(|phrase| (*phrase).to_owned()).collect();
        Self {
            blocked: owned(&["rm -rf", "sudo", "chmod 777", "> /dev/"]),
            confirm: owned(&["git push", "npm publish"]),
            builtin: BTreeMap::new(),
            root: None,
            cwd: None,
            home: None,
            limits: Limits::default(),
        }
    }
}

/// Classifies a text that a shell would run.
pub fn classify(text: &str, settings: &Settings) -> Verdict {
    if text.contains('\0') {
        return with_nul(text, settings);
    }
    judge::verdict(&shell::read(text, &settings.limits), text, settings)
}

/// No shell is given a text with a NUL: what it would make of it cannot be told, but is asked about at least.
fn with_nul(text: &str, settings: &Settings) -> Verdict {
    let parted = classify(&text.replace('\0', " "), settings);
    let joined = classify(&text.replace('\0', ""), settings);
    let strictest = match joined.class > parted.class {
        true => joined,
        false => parted,
    };
    let least = judge::unreadable(settings);
    let found = match strictest.class >= least.class {
        true => strictest,
        false => least,
    };
    Verdict {
        span: 0..text.len(),
        ..found
    }
}

/// Classifies a command that is started without a shell; spans count in its words joined by blanks.
pub fn classify_argv(argv: &[String], settings: &Settings) -> Verdict {
    let reading = shell::read_argv(argv, &settings.limits);
    judge::verdict(&reading, &argv.join(" "), settings)
}

/// Classifies what was read already; `text` is what it was read from.
pub fn classify_reading(reading: &Reading, text: &str, settings: &Settings) -> Verdict {
    judge::verdict(reading, text, settings)
}

#[cfg(test)]
mod tests;
