//! Classifies an analysed text: the strictest result of user phrases, rule families and doubts counts.
//!
//! What single programs do is known in the families.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use crate::permission::program_table::{ProgramTrait, has_trait};
use crate::permission::shell::{
    self, AnalysisDoubt, CommandInput, ShellAnalysis, ShellWord, SimpleCommand,
};

use super::builtin_rules::{PATTERNS_BY_PROGRAM, RuleName};
use super::command_invocation::{CommandInvocation, normalize_program_name, strip_carrier};
use super::command_pattern::PatternMatch;
use super::command_scene::{
    CommandScene, LIMIT_EXCEEDED, NestedCommands, UNKNOWN_WORDS, initial_folder,
};
use super::user_patterns::UserPattern;
use super::{Class, CommandClassification, CommandSafetySettings};
use super::{
    archive_extraction, code_interpreters, databases, devices, file_modes, file_operations,
    git_commands, infrastructure, remote_code, system_administration, unknown_wrappers,
    user_patterns,
};

const UNKNOWN_PROGRAM: RuleName = RuleName::new("undecided.program");
const UNKNOWN_SCRIPT: RuleName = RuleName::new("undecided.text");
const UNPARSABLE_SYNTAX: RuleName = RuleName::new("undecided.syntax");

/// How deep texts inside texts are followed.
const MAX_NESTING: usize = 6;

/// The longest run of words that is checked from one position of a text that cannot be parsed.
const MAX_ROUGH_WORDS: usize = 24;

/// The most commands that are looked for in a text that cannot be parsed.
const MAX_ROUGH_COMMANDS: usize = 400;

/// The steps for judging a command, in addition to those for its words.
const STEPS_PER_COMMAND: usize = 16;

/// The longest name of a working folder that is followed; a longer one is cut.
const MAX_FOLDER_CHARS: usize = 256;

/// Classifies commands inside a text; a text that cannot be parsed only records what is dangerous.
fn classify_nested(scene: &CommandScene<'_>, nested: NestedCommands<'_>, span: &Range<usize>) {
    if let NestedCommands::RoughText(text) = nested {
        if text.contains(' ') && scene.spend_steps(1 + text.len() / 8, span) {
            scene.check_rough_lines(&shell::split_rough_lines(text), span, false);
        }
        return;
    }
    if scene.depth >= MAX_NESTING {
        return scene.record_rule(LIMIT_EXCEEDED, span);
    }
    let limits = scene.nested_limits();
    let (analysis, text) = match nested {
        NestedCommands::Script(text) | NestedCommands::RoughText(text) => {
            (shell::analyze_script(text, &limits), Cow::Borrowed(text))
        }
        NestedCommands::Argv(argv) => (
            shell::analyze_argv(argv, &limits),
            Cow::Owned(argv.join(" ")),
        ),
    };
    if !scene.spend_steps(1 + analysis.steps, span) {
        return;
    }
    if let Some(verdict) = scene.for_nested(&analysis).into_classification(&text) {
        scene.record_classification(CommandClassification {
            span: span.clone(),
            ..verdict
        });
    }
}

impl CommandScene<'_> {
    fn into_classification(mut self, text: &str) -> Option<CommandClassification> {
        let commands = &self.analysis.commands;
        for simple in commands {
            if !self.spend_steps(classification_cost(simple), &simple.span) {
                break;
            }
            self.check_simple_command(simple);
            self.apply_cd(simple);
        }
        self.cwd = initial_folder(self.settings);
        if self.steps_left.get() > 0 {
            remote_code::check_command_combinations(&self);
        }
        self.check_doubts(text);
        self.into_strictest()
    }

    fn check_simple_command(&self, simple: &SimpleCommand) {
        for wrapper in &simple.wrappers {
            if let Some(command) = CommandInvocation::from_words(&wrapper.words, simple) {
                self.check_user_patterns(&command);
                system_administration::check_wrapper(wrapper, &command, self);
                unknown_wrappers::check_wrapper(wrapper, simple, self);
            }
        }
        devices::check_redirects(simple, self);
        file_operations::check_redirects(simple, self);
        user_patterns::check_redirects(simple, self.user_patterns, self);
        git_commands::check_assignments(simple, self);
        let words = strip_carrier(&simple.words);
        self.check_words(&words, simple);
        if let Cow::Borrowed(behind) = &words
            && behind.len() < simple.words.len()
            && let Some(carrier) = CommandInvocation::from_words(&simple.words, simple)
        {
            self.check_user_patterns(&carrier);
        }
    }

    fn check_words(&self, words: &[ShellWord], simple: &SimpleCommand) {
        let Some(command) = CommandInvocation::from_words(words, simple) else {
            return;
        };
        if words.first().is_some_and(|first| !first.is_fully_known) {
            return self.check_unknown_program(words, simple);
        }
        if command.only_shows_help() && !command.is_one_of(file_operations::TREE_REMOVERS) {
            return;
        }
        self.check_user_patterns(&command);
        self.check_without_unknown_prefixes(words, simple);
        self.check_builtin_patterns(&command);
        file_operations::check_command(&command, self);
        archive_extraction::check_command(&command, self);
        file_modes::check_command(&command, self);
        devices::check_command(&command, self);
        git_commands::check_command(&command, self);
        remote_code::check_command(&command, self);
        code_interpreters::check_command(&command, self);
        databases::check_command(&command, self);
        infrastructure::check_command(&command, self);
        unknown_wrappers::check_command(&command, self);
        system_administration::check_command(&command, self);
    }

    /// `rm ${nothing}-rf x`: an unknown part before an option is usually empty.
    fn check_without_unknown_prefixes(&self, words: &[ShellWord], simple: &SimpleCommand) {
        let is_hidden = |word: &ShellWord| {
            word.text.starts_with(shell::UNKNOWN_PLACEHOLDER)
                && word
                    .text
                    .trim_start_matches(shell::UNKNOWN_PLACEHOLDER)
                    .starts_with('-')
        };
        if !words.iter().any(is_hidden) {
            return;
        }
        let bare: Vec<ShellWord> = words
            .iter()
            .map(|word| {
                if is_hidden(word) {
                    ShellWord::new(word.text.trim_start_matches(shell::UNKNOWN_PLACEHOLDER))
                } else {
                    word.clone()
                }
            })
            .collect();
        if let Some(command) = CommandInvocation::from_words(&bare, simple) {
            self.check_user_patterns(&command);
        }
    }

    /// The words after an unknown program may be a command themselves, or arguments of `rm`.
    fn check_unknown_program(&self, words: &[ShellWord], simple: &SimpleCommand) {
        self.record_rule(UNKNOWN_PROGRAM, &simple.span);
        let rest = words.get(1..).unwrap_or_default();
        if rest
            .iter()
            .any(|word| file_operations::is_recursive_force_flag(&word.text))
        {
            self.record_rule(file_operations::UNKNOWN_TREE, &simple.span);
        }
        for at in 0..rest.len().min(8) {
            let behind = &rest[at..];
            if let Some(command) = CommandInvocation::from_words(behind, simple) {
                self.check_user_patterns(&command);
            }
        }
    }

    fn check_user_patterns(&self, command: &CommandInvocation<'_>) {
        for phrase in self.user_patterns {
            match phrase.match_command(command, self) {
                PatternMatch::No => {}
                PatternMatch::Maybe => self.record_rule(UNKNOWN_WORDS, &command.simple.span),
                PatternMatch::Yes => {
                    self.record_classification(phrase.to_classification(&command.simple.span))
                }
            }
        }
    }

    fn check_builtin_patterns(&self, command: &CommandInvocation<'_>) {
        for (rule, pattern) in PATTERNS_BY_PROGRAM
            .get(&command.program)
            .into_iter()
            .flatten()
        {
            match pattern.match_command(command) {
                PatternMatch::No => {}
                PatternMatch::Maybe => self.record_rule(UNKNOWN_WORDS, &command.simple.span),
                PatternMatch::Yes => self.record_builtin_rule(rule, &command.simple.span),
            }
        }
    }

    fn apply_cd(&mut self, simple: &SimpleCommand) {
        let mut words = simple.words.iter();
        if !words
            .next()
            .is_some_and(|first| has_trait(&first.text, ProgramTrait::ChangesFolder))
        {
            return;
        }
        let target = words.find(|word| !matches!(word.text.as_str(), "-P" | "-L" | "-e" | "--"));
        self.cwd = match target {
            None => Some("~".to_owned()),
            Some(word) if word.text == "-" || !word.is_fully_known => initial_folder(self.settings),
            Some(word) => Some(truncate_folder(self.resolve_path(&word.text))),
        };
    }

    fn check_doubts(&self, text: &str) {
        let mut is_rough = false;
        for doubt in &self.analysis.doubts {
            match doubt {
                AnalysisDoubt::ForkBomb { span } => {
                    self.record_rule(system_administration::FORK_BOMB, span)
                }
                AnalysisDoubt::Unparsable { span } => {
                    self.record_rule(UNPARSABLE_SYNTAX, span);
                    is_rough = true;
                }
                AnalysisDoubt::Limit { span, .. } => {
                    self.record_rule(LIMIT_EXCEEDED, span);
                    is_rough = true;
                }
                AnalysisDoubt::DynamicProgram { span } => self.record_rule(UNKNOWN_PROGRAM, span),
                AnalysisDoubt::DynamicScript { span }
                    if remote_code::is_project_script(self, span) => {}
                AnalysisDoubt::DynamicScript { span } => self.record_rule(UNKNOWN_SCRIPT, span),
            }
        }
        if self.steps_left.get() == 0 {
            self.check_rough_text(&shell::split_rough_lines(text), text);
        } else if is_rough {
            self.check_rough_text(&self.analysis.rough_lines, text);
        }
    }

    /// Looks for commands at every position of a text that cannot be parsed; only dangerous ones count.
    fn check_rough_text(&self, lines: &[Vec<String>], text: &str) {
        self.check_rough_lines(lines, &(0..text.len()), text.contains('>'));
    }

    fn check_rough_lines(&self, lines: &[Vec<String>], span: &Range<usize>, has_redirect: bool) {
        let mut left = MAX_ROUGH_COMMANDS;
        for line in lines {
            let words: Vec<ShellWord> = line.iter().map(ShellWord::new).collect();
            let redirected = line.first().filter(|_| has_redirect);
            if redirected.is_some_and(|target| {
                user_patterns::is_blocked_target(target, self.user_patterns, self)
            }) {
                self.record_rule(devices::WRITE, span);
            }
            for at in 0..words.len() {
                let behind = words
                    .get(at..words.len().min(at + MAX_ROUGH_WORDS))
                    .unwrap_or_default();
                if left > 0 && self.check_rough_command(behind, span) {
                    left -= 1;
                }
            }
            if self.is_dangerous() {
                return;
            }
        }
    }

    /// Returns whether the first word is a program that is looked for.
    fn check_rough_command(&self, words: &[ShellWord], span: &Range<usize>) -> bool {
        let Some(first) = words.first() else {
            return false;
        };
        let name = normalize_program_name(&first.text);
        let is_known = PATTERNS_BY_PROGRAM.contains_key(&name)
            || self
                .user_patterns
                .iter()
                .any(|phrase| phrase.begins_with_program(&name));
        if !is_known {
            return false;
        }
        let simple = SimpleCommand {
            words: words.to_vec(),
            wrappers: Vec::new(),
            redirects: Vec::new(),
            input: CommandInput::Nothing,
            assignments: Vec::new(),
            span: span.clone(),
        };
        if let Some(command) = CommandInvocation::from_words(&simple.words, &simple) {
            self.check_user_patterns(&command);
            self.check_builtin_patterns(&command);
        }
        true
    }
}

/// Returns how many steps it takes to judge a command.
fn classification_cost(simple: &SimpleCommand) -> usize {
    let around: usize = simple
        .wrappers
        .iter()
        .map(|wrapper| 2 + wrapper.words.len())
        .sum();
    let input = match &simple.input {
        CommandInput::KnownText(text) => text.len() / 64,
        CommandInput::Pipe(from) => from.len(),
        CommandInput::Nothing | CommandInput::Unknown => 0,
    };
    STEPS_PER_COMMAND + simple.words.len() + around + simple.redirects.len() + input
}

/// Cuts a folder's name to the length limit.
fn truncate_folder(mut path: String) -> String {
    if let Some((at, _)) = path.char_indices().nth(MAX_FOLDER_CHARS) {
        path.truncate(at);
    }
    path
}

/// Returns the strictest classification of an analysis; `text` is its source.
pub fn classify_analysis(
    reading: &ShellAnalysis,
    text: &str,
    settings: &CommandSafetySettings,
) -> CommandClassification {
    let phrases = UserPattern::from_settings(settings);
    let left = Cell::new(settings.limits.steps_for_script(text.len()));
    let scene = CommandScene::new(reading, settings, &phrases, &left, classify_nested);
    scene
        .into_classification(text)
        .unwrap_or(CommandClassification {
            class: Class::Safe,
            rule: String::new(),
            reason: String::new(),
            span: 0..0,
        })
}

/// Returns the classification of a text that cannot be given to a shell.
pub fn unreadable_classification(settings: &CommandSafetySettings) -> CommandClassification {
    let rule = UNPARSABLE_SYNTAX.row();
    let change = settings.builtin_levels.get(&rule.name).copied();
    CommandClassification {
        class: rule.class_at_level(change).unwrap_or(rule.class),
        rule: rule.name.clone(),
        reason: format!("it {}", rule.reason),
        span: 0..0,
    }
}
