//! Classifies an analysed text: the strictest result of user phrases, rule families and doubts counts.
//!
//! What single programs do is known in the families.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;

use crate::permission::program_table::{ProgramTrait, has_trait};
use crate::permission::shell::{
    self, AnalysisDoubt, AnalysisLimits, CommandInput, ShellAnalysis, ShellWord, SimpleCommand,
    WrapperKind,
};

use super::builtin_rules::{BuiltinRule, PATTERNS_BY_PROGRAM, RuleName};
use super::command_invocation::{CommandInvocation, normalize_program_name, strip_carrier};
use super::command_pattern::PatternMatch;
use super::path_class::join_path;
use super::user_patterns::UserPattern;
use super::{Class, CommandClassification, CommandSafetySettings};
use super::{
    archive_extraction, code_interpreters, databases, devices, file_modes, file_operations,
    git_commands, infrastructure, remote_code, system_administration, unknown_wrappers,
    user_patterns,
};

/// The rule for words that are unknown and may hide something.
pub const UNKNOWN_WORDS: RuleName = RuleName::new("undecided.words");
const UNKNOWN_PROGRAM: RuleName = RuleName::new("undecided.program");
const UNKNOWN_SCRIPT: RuleName = RuleName::new("undecided.text");
const UNPARSABLE_SYNTAX: RuleName = RuleName::new("undecided.syntax");
const LIMIT_EXCEEDED: RuleName = RuleName::new("undecided.limit");

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

/// A text with its analysis and the strictest rule found so far.
pub struct CommandClassifier<'a> {
    /// Everything that the text would run.
    pub analysis: &'a ShellAnalysis,
    pub settings: &'a CommandSafetySettings,
    /// The working folder after an earlier `cd`, where it is known; `None` for the folder that the text starts in.
    pub cwd: Option<String>,
    user_patterns: &'a [UserPattern],
    depth: usize,
    strictest: RefCell<Option<CommandClassification>>,
    /// The steps left for this text and the texts inside it.
    steps_left: &'a Cell<usize>,
    has_fetcher: OnceCell<bool>,
}

impl CommandClassifier<'_> {
    /// Records that a rule applies to a part of the text.
    pub fn record_rule(&self, rule: RuleName, span: &Range<usize>) {
        self.record_builtin_rule(rule.row(), span);
    }

    fn record_builtin_rule(&self, rule: &BuiltinRule, span: &Range<usize>) {
        let change = self.settings.builtin_levels.get(&rule.name).copied();
        let Some(class) = rule.class_at_level(change) else {
            return;
        };
        self.record_classification(CommandClassification {
            class,
            rule: rule.name.clone(),
            reason: format!("it {}", rule.reason),
            span: span.clone(),
        });
    }

    /// Judges a text that a command of this one runs.
    pub fn classify_nested_script(&self, text: &str, span: &Range<usize>) {
        if self.depth >= MAX_NESTING {
            return self.record_rule(LIMIT_EXCEEDED, span);
        }
        let reading = shell::analyze_script(text, &self.nested_limits());
        if self.spend_steps(1 + reading.steps, span) {
            self.classify_nested_analysis(&reading, text, span);
        }
    }

    /// Judges a command that a command of this one starts without a shell.
    pub fn classify_nested_argv(&self, argv: &[String], span: &Range<usize>) {
        if self.depth >= MAX_NESTING {
            return self.record_rule(LIMIT_EXCEEDED, span);
        }
        let reading = shell::analyze_argv(argv, &self.nested_limits());
        if self.spend_steps(1 + reading.steps, span) {
            self.classify_nested_analysis(&reading, &argv.join(" "), span);
        }
    }

    /// Each level gets half of the work of the level above.
    fn nested_limits(&self) -> AnalysisLimits {
        let limits = self.settings.limits;
        AnalysisLimits {
            max_bytes: limits.max_bytes,
            max_steps: (limits.max_steps >> (self.depth + 1)).min(self.steps_left.get()),
            ..limits
        }
    }

    /// Spends steps; returns `false`, and records it, when none are left.
    pub fn spend_steps(&self, steps: usize, span: &Range<usize>) -> bool {
        let left = self.steps_left.get().saturating_sub(steps);
        self.steps_left.set(left);
        if left == 0 {
            self.record_rule(LIMIT_EXCEEDED, span);
        }
        left > 0
    }

    /// Returns whether some command fetches bytes from another machine.
    pub fn has_fetcher(&self) -> bool {
        *self
            .has_fetcher
            .get_or_init(|| self.analysis.commands.iter().any(remote_code::is_fetcher))
    }

    fn classify_nested_analysis(&self, reading: &ShellAnalysis, text: &str, span: &Range<usize>) {
        let inner = CommandClassifier {
            analysis: reading,
            settings: self.settings,
            cwd: self.cwd.clone(),
            user_patterns: self.user_patterns,
            depth: self.depth + 1,
            strictest: RefCell::new(None),
            steps_left: self.steps_left,
            has_fetcher: OnceCell::new(),
        };
        if let Some(verdict) = inner.into_classification(text) {
            self.record_classification(CommandClassification {
                span: span.clone(),
                ..verdict
            });
        }
    }

    /// Judges a text that cannot be parsed, by its words at any position.
    pub fn classify_rough_text(&self, text: &str, span: &Range<usize>) {
        if text.contains(' ') && self.spend_steps(1 + text.len() / 8, span) {
            self.check_rough_lines(&shell::split_rough_lines(text), span, false);
        }
    }

    /// Returns where a path of a command leads, by name.
    pub fn resolve_path(&self, text: &str) -> String {
        join_path(self.cwd.as_deref(), text)
    }

    fn record_classification(&self, verdict: CommandClassification) {
        let mut found = self.strictest.borrow_mut();
        if found
            .as_ref()
            .is_none_or(|found| found.class < verdict.class)
        {
            *found = Some(verdict);
        }
    }

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
        self.strictest.into_inner()
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

    /// Records that a redirect matches a user phrase.
    pub fn record_user_pattern(&self, phrase: &UserPattern, span: &Range<usize>) {
        self.record_classification(phrase.to_classification(span));
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
            if self
                .strictest
                .borrow()
                .as_ref()
                .is_some_and(|found| found.class == Class::Dangerous)
            {
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
    let scene = CommandClassifier {
        analysis: reading,
        settings,
        cwd: initial_folder(settings),
        user_patterns: &phrases,
        depth: 0,
        strictest: RefCell::new(None),
        steps_left: &left,
        has_fetcher: OnceCell::new(),
    };
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

fn initial_folder(settings: &CommandSafetySettings) -> Option<String> {
    let cwd = settings.cwd.as_deref()?.to_str()?;
    Some(cwd.to_owned())
}

/// Returns whether a command runs once for each of many unknown arguments.
pub fn is_run_for_each_argument(simple: &SimpleCommand) -> bool {
    let mut wrappers = simple
        .wrappers
        .iter()
        .rev()
        .skip_while(|wrapper| wrapper.kind == WrapperKind::Known);
    let is_next = wrappers
        .next()
        .is_some_and(|wrapper| wrapper.kind == WrapperKind::ForEachArgument);
    let is_any = simple
        .wrappers
        .iter()
        .any(|wrapper| wrapper.kind == WrapperKind::ForEachArgument);
    is_next || (is_any && simple.words.iter().any(|word| !word.is_fully_known))
}
