//! Classifies what a command would do: safe, confirm or dangerous.
//!
//! Reads a text as a shell would and judges each command in it by the user's phrases and by the built-in rules.
//! Permission rules and approvals are not known here, and nothing is read from the disk.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::shell::{self, AnalysisLimits};

mod archive_extraction;
mod builtin_rules;
mod classifier;
mod code_analysis;
mod code_interpreters;
mod command_arguments;
mod command_invocation;
mod command_pattern;
mod command_scene;
mod databases;
mod devices;
mod embedded_commands;
mod file_modes;
mod file_operations;
mod git_commands;
mod infrastructure;
mod path_class;
mod remote_code;
mod system_administration;
mod unknown_wrappers;
mod user_patterns;

pub use builtin_rules::{BuiltinRule, all_builtin_rules, find_builtin_rule};

/// How much harm a command can do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Class {
    /// Nothing that the classifier looks for.
    Safe,
    /// The user is asked in every mode.
    Confirm,
    /// The user is asked with No preselected, and the answer is never stored.
    Dangerous,
}

/// How a text is classified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandClassification {
    /// The strictest class of all commands in the text.
    pub class: Class,
    /// The name of the rule that gives the class; empty when the text is safe.
    pub rule: String,
    /// Why, in one line; empty when the text is safe.
    pub reason: String,
    /// The bytes of the text that the rule is about; empty when the text is safe.
    pub span: Range<usize>,
}

impl CommandClassification {
    /// Returns the reason for the user, with the rule's name where the reason does not contain it.
    pub fn describe(&self) -> String {
        if self.rule.starts_with(user_patterns::CONFIG_SECTION) {
            self.reason.clone()
        } else {
            format!("{} ({})", self.reason, self.rule)
        }
    }
}

impl Class {
    /// Returns the class as the configuration and JSON spell it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How a user changes a built-in rule, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum BuiltinRuleLevel {
    /// The rule does not apply; it gives confirm where [`BuiltinRule::can_be_disabled`] returns false.
    Off,
    Confirm,
    Dangerous,
}

/// The settings of the classifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSafetySettings {
    /// Phrases that make a command dangerous.
    pub blocked_patterns: Vec<String>,
    /// Phrases that make a command one to confirm.
    pub confirm_patterns: Vec<String>,
    /// Changed levels of built-in rules, by the rule's name; see `builtin_rules`.
    pub builtin_levels: BTreeMap<String, BuiltinRuleLevel>,
    /// The repository's root, absolute: everything below it belongs to the project. `None` when it is unknown.
    pub root: Option<PathBuf>,
    /// The folder that the text would run in, absolute; `None` when it is unknown.
    pub cwd: Option<PathBuf>,
    /// The user's home folder, absolute; the same as `~`.
    pub home: Option<PathBuf>,
    /// How much work one text may take.
    pub limits: AnalysisLimits,
}

impl Default for CommandSafetySettings {
    fn default() -> Self {
        let owned = |phrases: &[&str]| phrases.iter().map(|phrase| (*phrase).to_owned()).collect();
        Self {
            blocked_patterns: owned(&["rm -rf", "sudo", "chmod 777", "> /dev/"]),
            confirm_patterns: owned(&["git push", "npm publish"]),
            builtin_levels: BTreeMap::new(),
            root: None,
            cwd: None,
            home: None,
            limits: AnalysisLimits::default(),
        }
    }
}

/// Classifies a text that a shell would run.
pub fn classify_script(text: &str, settings: &CommandSafetySettings) -> CommandClassification {
    if text.contains('\0') {
        return classify_script_with_nul(text, settings);
    }
    classifier::classify_analysis(
        &shell::analyze_script(text, &settings.limits),
        text,
        settings,
    )
}

/// A text with a NUL byte never reaches a shell. What a shell would make of it is unknown, so it is at least confirmed.
fn classify_script_with_nul(text: &str, settings: &CommandSafetySettings) -> CommandClassification {
    let parted = classify_script(&text.replace('\0', " "), settings);
    let joined = classify_script(&text.replace('\0', ""), settings);
    let strictest = if joined.class > parted.class {
        joined
    } else {
        parted
    };
    let least = classifier::unreadable_classification(settings);
    let found = if strictest.class >= least.class {
        strictest
    } else {
        least
    };
    CommandClassification {
        span: 0..text.len(),
        ..found
    }
}

/// Classifies a command that starts without a shell; spans count in its words joined by single spaces.
pub fn classify_argv(argv: &[String], settings: &CommandSafetySettings) -> CommandClassification {
    let reading = shell::analyze_argv(argv, &settings.limits);
    classifier::classify_analysis(&reading, &argv.join(" "), settings)
}

#[cfg(test)]
mod tests;
