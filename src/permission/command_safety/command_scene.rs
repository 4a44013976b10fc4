//! What a family of rules sees of the text that is classified, and where it records its result.
//!
//! Texts inside the text are passed back to the classifier, which alone knows the families.

use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;

use crate::permission::shell::{AnalysisLimits, ShellAnalysis};

use super::builtin_rules::{BuiltinRule, RuleName};
use super::path_class::join_path;
use super::user_patterns::UserPattern;
use super::{Class, CommandClassification, CommandSafetySettings};

/// The rule for words that are unknown and may hide something.
pub const UNKNOWN_WORDS: RuleName = RuleName::new("undecided.words");
pub const LIMIT_EXCEEDED: RuleName = RuleName::new("undecided.limit");

/// Commands inside a text.
pub enum NestedCommands<'a> {
    /// A text that a command runs by a shell.
    Script(&'a str),
    /// A command that a command starts without a shell.
    Argv(&'a [String]),
    /// A text that cannot be parsed and is judged by its words at any position.
    RoughText(&'a str),
}

/// Classifies nested commands, and records the result at a part of the outer text.
pub type NestedClassifier = fn(&CommandScene<'_>, NestedCommands<'_>, &Range<usize>);

/// A text with its analysis and the strictest rule found so far.
pub struct CommandScene<'a> {
    /// Everything that the text would run.
    pub analysis: &'a ShellAnalysis,
    pub settings: &'a CommandSafetySettings,
    /// The working folder after an earlier `cd`, where it is known; `None` for the folder that the text starts in.
    pub cwd: Option<String>,
    pub user_patterns: &'a [UserPattern],
    /// How many texts this one is inside of.
    pub depth: usize,
    /// The steps left for this text and the texts inside it.
    pub steps_left: &'a Cell<usize>,
    /// Whether some command fetches bytes from another machine, once that was asked.
    pub has_fetcher: OnceCell<bool>,
    strictest: RefCell<Option<CommandClassification>>,
    classify_nested: NestedClassifier,
}

impl<'a> CommandScene<'a> {
    pub fn new(
        analysis: &'a ShellAnalysis,
        settings: &'a CommandSafetySettings,
        user_patterns: &'a [UserPattern],
        steps_left: &'a Cell<usize>,
        classify_nested: NestedClassifier,
    ) -> Self {
        Self {
            analysis,
            settings,
            cwd: initial_folder(settings),
            user_patterns,
            depth: 0,
            steps_left,
            has_fetcher: OnceCell::new(),
            strictest: RefCell::new(None),
            classify_nested,
        }
    }

    /// Returns the scene of a text inside this one.
    pub fn for_nested(&'a self, analysis: &'a ShellAnalysis) -> Self {
        Self {
            cwd: self.cwd.clone(),
            depth: self.depth + 1,
            ..Self::new(
                analysis,
                self.settings,
                self.user_patterns,
                self.steps_left,
                self.classify_nested,
            )
        }
    }

    /// Records that a rule applies to a part of the text.
    pub fn record_rule(&self, rule: RuleName, span: &Range<usize>) {
        self.record_builtin_rule(rule.row(), span);
    }

    pub fn record_builtin_rule(&self, rule: &BuiltinRule, span: &Range<usize>) {
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
        (self.classify_nested)(self, NestedCommands::Script(text), span);
    }

    /// Judges a command that a command of this one starts without a shell.
    pub fn classify_nested_argv(&self, argv: &[String], span: &Range<usize>) {
        (self.classify_nested)(self, NestedCommands::Argv(argv), span);
    }

    /// Judges a text that cannot be parsed, by its words at any position.
    pub fn classify_rough_text(&self, text: &str, span: &Range<usize>) {
        (self.classify_nested)(self, NestedCommands::RoughText(text), span);
    }

    /// Each level gets half of the work of the level above.
    pub fn nested_limits(&self) -> AnalysisLimits {
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

    /// Returns where a path of a command leads, by name.
    pub fn resolve_path(&self, text: &str) -> String {
        join_path(self.cwd.as_deref(), text)
    }

    /// Records that a redirect matches a user phrase.
    pub fn record_user_pattern(&self, phrase: &UserPattern, span: &Range<usize>) {
        self.record_classification(phrase.to_classification(span));
    }

    pub fn record_classification(&self, verdict: CommandClassification) {
        let mut found = self.strictest.borrow_mut();
        if found
            .as_ref()
            .is_none_or(|found| found.class < verdict.class)
        {
            *found = Some(verdict);
        }
    }

    /// Returns whether a dangerous command was found.
    pub fn is_dangerous(&self) -> bool {
        let found = self.strictest.borrow();
        found
            .as_ref()
            .is_some_and(|found| found.class == Class::Dangerous)
    }

    /// Returns the strictest classification that was recorded.
    pub fn into_strictest(self) -> Option<CommandClassification> {
        self.strictest.into_inner()
    }
}

/// Returns the folder that a text starts in, where it is known.
pub fn initial_folder(settings: &CommandSafetySettings) -> Option<String> {
    let cwd = settings.cwd.as_deref()?.to_str()?;
    Some(cwd.to_owned())
}
