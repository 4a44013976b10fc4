//! The user's phrases, such as `rm -rf`, `git push`, `> /etc/`, each matched with the full shell analysis.
//!
//! A phrase that names no command is searched as words among the executed words, never in the raw
//! text. Built-in rules are elsewhere.

use std::ops::Range;

use crate::permission::program_table::{ProgramTrait, has_trait, program_facts};
use crate::permission::shell::{CommandInput, RedirectKind, SimpleCommand};

use super::command_invocation::{CommandInvocation, normalize_program_name};
use super::command_pattern::PatternMatch;
use super::command_scene::CommandScene;
use super::devices::is_harmless_device;
use super::file_modes::parse_mode_bits;
use super::path_class::normalize_path;
use super::{Class, CommandClassification, CommandSafetySettings};

/// Where the phrases are in the configuration.
pub const CONFIG_SECTION: &str = "safety.";

/// A phrase of the user, parsed and ready to be matched.
#[derive(Debug)]
pub struct UserPattern {
    text: String,
    class: Class,
    form: UserPatternForm,
}

#[derive(Debug)]
enum UserPatternForm {
    /// Writing to a path or below it.
    Redirect(String),
    /// Commands joined by pipes, the last one first.
    Commands(Vec<CommandTemplate>),
    /// Consecutive words among the executed words.
    Words(Vec<String>),
}

#[derive(Debug)]
struct CommandTemplate {
    program: String,
    options: Vec<Vec<String>>,
    operands: Vec<String>,
}

impl UserPattern {
    /// Parses all phrases of the settings.
    pub fn from_settings(settings: &CommandSafetySettings) -> Vec<Self> {
        let of = |phrases: &[String], class| {
            let read = phrases.iter().map(move |text| Self::parse(text, class));
            read.flatten().collect::<Vec<_>>()
        };
        let mut all = of(&settings.blocked_patterns, Class::Dangerous);
        all.extend(of(&settings.confirm_patterns, Class::Confirm));
        all
    }

    fn parse(text: &str, class: Class) -> Option<Self> {
        let trimmed = text.trim();
        let redirected = trimmed.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        let form = if let Some(target) = redirected.strip_prefix('>') {
            UserPatternForm::Redirect(target.trim_start_matches(['>', '|']).trim().to_owned())
        } else {
            let parts: Option<Vec<CommandTemplate>> = trimmed
                .split('|')
                .rev()
                .map(CommandTemplate::parse)
                .collect();
            match parts {
                Some(commands) => UserPatternForm::Commands(commands),
                None => UserPatternForm::Words(
                    trimmed.split_whitespace().map(str::to_lowercase).collect(),
                ),
            }
        };
        (!trimmed.is_empty()).then(|| Self {
            text: trimmed.to_owned(),
            class,
            form,
        })
    }

    /// Returns whether the phrase begins with a program of this plain name.
    pub fn begins_with_program(&self, program: &str) -> bool {
        match &self.form {
            UserPatternForm::Commands(commands) => commands
                .iter()
                .any(|described| described.program == program),
            UserPatternForm::Redirect(_) => false,
            UserPatternForm::Words(words) => words.first().is_some_and(|word| word == program),
        }
    }

    /// Returns the classification where the phrase matches.
    pub fn to_classification(&self, span: &Range<usize>) -> CommandClassification {
        let list = match self.class {
            Class::Dangerous => "blocked_commands",
            Class::Confirm | Class::Safe => "require_confirm_for",
        };
        CommandClassification {
            class: self.class,
            rule: format!("{CONFIG_SECTION}{list}: {}", self.text),
            reason: format!("it is `{}`, which {CONFIG_SECTION}{list} stops", self.text),
            span: span.clone(),
        }
    }

    /// Matches a command against the phrase.
    pub fn match_command(
        &self,
        command: &CommandInvocation<'_>,
        scene: &CommandScene<'_>,
    ) -> PatternMatch {
        match &self.form {
            UserPatternForm::Redirect(_) => PatternMatch::No,
            UserPatternForm::Commands(commands) => match_pipeline(commands, command, scene),
            UserPatternForm::Words(words) => {
                if contains_words(command, words) {
                    PatternMatch::Yes
                } else {
                    PatternMatch::No
                }
            }
        }
    }
}

/// Records the redirects of a command that match a phrase.
pub fn check_redirects(simple: &SimpleCommand, phrases: &[UserPattern], scene: &CommandScene<'_>) {
    let writes = simple.redirects.iter().filter(|redirect| {
        matches!(
            redirect.kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        )
    });
    for redirect in writes {
        for phrase in phrases {
            if phrase.matches_target(&redirect.target.text, scene) {
                scene.record_user_pattern(phrase, &simple.span);
            }
        }
    }
}

/// Returns whether a phrase covers writing to a path.
pub fn is_blocked_target(target: &str, phrases: &[UserPattern], scene: &CommandScene<'_>) -> bool {
    let dangerous = phrases
        .iter()
        .filter(|phrase| phrase.class == Class::Dangerous);
    dangerous
        .into_iter()
        .any(|phrase| phrase.matches_target(target, scene))
}

impl UserPattern {
    fn matches_target(&self, target: &str, scene: &CommandScene<'_>) -> bool {
        let UserPatternForm::Redirect(prefix) = &self.form else {
            return false;
        };
        let path = scene.resolve_path(target);
        if is_harmless_device(&path) {
            return false;
        }
        let is_below = |path: &str| match path.strip_prefix(&normalize_path(prefix)) {
            Some(rest) => {
                prefix.is_empty()
                    || prefix == "/"
                    || rest.starts_with('/')
                    || (rest.is_empty() && !prefix.ends_with('/'))
            }
            None => false,
        };
        is_below(&path) || is_below(&normalize_path(target))
    }
}

fn match_pipeline(
    commands: &[CommandTemplate],
    command: &CommandInvocation<'_>,
    scene: &CommandScene<'_>,
) -> PatternMatch {
    let Some((last, before)) = commands.split_first() else {
        return PatternMatch::No;
    };
    let found = last.match_command(command);
    if before.is_empty() || found == PatternMatch::No {
        return found;
    }
    let CommandInput::Pipe(from) = &command.simple.input else {
        return PatternMatch::No;
    };
    let sources = from
        .iter()
        .filter_map(|at| scene.analysis.commands.get(*at));
    sources
        .filter_map(|source| CommandInvocation::from_words(&source.words, source))
        .map(|source| match_pipeline(before, &source, scene))
        .max()
        .unwrap_or(PatternMatch::No)
        .min(found)
}

fn contains_words(command: &CommandInvocation<'_>, words: &[String]) -> bool {
    if has_trait(&command.program, ProgramTrait::TextOnly) {
        return false;
    }
    let executed = command.words.iter().flat_map(|word| {
        word.text
            .split(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | ')' | ','))
    });
    let executed: Vec<String> = executed.map(str::to_lowercase).collect();
    executed.windows(words.len()).any(|window| window == words)
}

impl CommandTemplate {
    /// Parses a command; `None` when its first word cannot be a program's name.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let first = words.next()?;
        let is_name = |c: char| {
            c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '/' | '+')
        };
        if !first.chars().all(is_name) || first.starts_with('-') {
            return None;
        }
        let program = normalize_program_name(first);
        let (mut options, mut operands) = (Vec::new(), Vec::new());
        for word in words {
            match word.strip_prefix('-') {
                Some(cluster)
                    if cluster.len() > 1
                        && !cluster.starts_with('-')
                        && is_option_cluster(&program, cluster) =>
                {
                    options.extend(
                        cluster
                            .chars()
                            .map(|letter| equivalent_options(&program, &format!("-{letter}"))),
                    );
                }
                Some(rest) if !rest.is_empty() => options.push(equivalent_options(&program, word)),
                _ => operands.push(word.to_owned()),
            }
        }
        Some(Self {
            program,
            options,
            operands,
        })
    }

    fn match_command(&self, command: &CommandInvocation<'_>) -> PatternMatch {
        if self.program != command.program || command.only_shows_help() {
            return PatternMatch::No;
        }
        let mut dry_run = program_facts(&self.program).dry_run.iter();
        if !self.operands.is_empty() && dry_run.any(|name| is_spelled_out(command, name)) {
            return PatternMatch::No;
        }
        let found = self.match_operands(command);
        if found == PatternMatch::No || self.has_options(command) {
            return found;
        }
        let may_hide = command
            .argument_words()
            .iter()
            .any(|word| !word.is_fully_known && word.may_split);
        if may_hide {
            PatternMatch::Maybe
        } else {
            PatternMatch::No
        }
    }

    fn has_options(&self, command: &CommandInvocation<'_>) -> bool {
        self.options.iter().all(|names| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            command.arguments.has_option(&names)
        })
    }

    fn match_operands(&self, command: &CommandInvocation<'_>) -> PatternMatch {
        let mut at = 0;
        let mut found = PatternMatch::Yes;
        for (place, described) in self.operands.iter().enumerate() {
            match self.match_next_operand(command, at, described, place) {
                (PatternMatch::No, _) => return PatternMatch::No,
                (some, next) => {
                    found = found.min(some);
                    at = next;
                }
            }
        }
        found
    }

    fn match_next_operand(
        &self,
        command: &CommandInvocation<'_>,
        from: usize,
        described: &str,
        place: usize,
    ) -> (PatternMatch, usize) {
        // A sub-command comes first, a path can be anywhere.
        let anywhere = place > 0 || described.contains(['/', '.', '~']);
        for (at, operand) in command.arguments.operands.iter().enumerate().skip(from) {
            let text = operand.word.text.as_str();
            if self.is_same_operand(described, text) {
                return (PatternMatch::Yes, at + 1);
            }
            if !operand.word.is_fully_known {
                return (PatternMatch::Maybe, at + 1);
            }
            if !anywhere && !operand.may_be_value {
                return (PatternMatch::No, at);
            }
        }
        (PatternMatch::No, command.arguments.operands.len())
    }

    fn is_same_operand(&self, described: &str, text: &str) -> bool {
        match (self.program.as_str(), parse_mode_bits(described)) {
            ("chmod", Some(wanted)) => {
                parse_mode_bits(text).is_some_and(|granted| granted & wanted == wanted)
            }
            _ if described.contains('/') => normalize_path(described) == normalize_path(text),
            ("npm" | "pnpm", _) => {
                text == described || (text.len() > 2 && described.starts_with(text))
            }
            _ => described == text,
        }
    }
}

fn is_spelled_out(command: &CommandInvocation<'_>, name: &str) -> bool {
    command
        .arguments
        .find_option(name)
        .is_some_and(|given| given.name.len() == 2 || given.name.len() >= 5)
}

/// In `-rf` each letter is an option; terraform's `-auto-approve` is one option.
fn is_option_cluster(program: &str, letters: &str) -> bool {
    letters.len() <= 3
        && letters.chars().all(|c| c.is_ascii_alphabetic())
        && !has_trait(program, ProgramTrait::WholeWordOptions)
}

fn equivalent_options(program: &str, name: &str) -> Vec<String> {
    let mut groups = program_facts(program).same_options.iter();
    match groups.find(|group| group.iter().any(|option| option == name)) {
        Some(group) => group.clone(),
        None => vec![name.to_owned()],
    }
}
