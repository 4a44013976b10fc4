//! Follows lists, pipelines and blocks in the order in which a shell runs them.
//!
//! Where it is unknown which branch a shell takes, both are followed and their results are merged. What
//! programs do is not known here.

use std::rc::Rc;

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::environment::{FunctionMeaning, ShellEnvironment, VariableValue};
use super::interpreter::{CommandCall, ProgramLookup, ShellInterpreter, StandardInput};
use super::syntax_tree::{
    CommandList, CommandNode, CommandNodeKind, ForLoop, PipelineCondition, PipelineItem, RawWord,
};
use super::word_expansion::FieldList;
use super::{AnalysisDoubt, AnalysisLimitKind};
use crate::permission::program_table::{ProgramTrait, programs_with_trait};

impl ShellInterpreter {
    /// Follows a list; returns what it writes to standard output.
    pub fn interpret_list(
        &mut self,
        list: &CommandList,
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let mut out = PossibleValues::empty_string();
        // The state that a chain of `&&` and `||` may leave when it ends early.
        let mut left: Option<ShellEnvironment> = None;
        let mut is_certain = false;
        for item in &list.items {
            if self.budget.is_exhausted() {
                break;
            }
            match item.condition {
                PipelineCondition::Always => {
                    self.merge_environment(env, left.take());
                }
                PipelineCondition::IfSucceeded if is_certain => {}
                PipelineCondition::IfSucceeded | PipelineCondition::IfFailed => {
                    let mut ended = self.branch_environment(env);
                    self.merge_environment(&mut ended, left.take());
                    if item.condition == PipelineCondition::IfFailed {
                        *env = ended.clone();
                    }
                    left = Some(ended);
                }
            }
            let written = self.interpret_pipeline(item, env, feed);
            let copied = match item.condition {
                PipelineCondition::IfFailed => out.copy_cost() + written.copy_cost(),
                PipelineCondition::Always | PipelineCondition::IfSucceeded => written.copy_cost(),
            };
            let here = self.current_span();
            self.budget.spend_steps(copied, &here);
            out = if item.condition == PipelineCondition::IfFailed {
                out.clone().concat(&written).merge_with(out)
            } else {
                out.concat(&written)
            };
            is_certain = has_only_assignments(item);
        }
        self.merge_environment(env, left);
        out
    }

    /// Copies the state for another branch.
    pub fn branch_environment(&mut self, env: &ShellEnvironment) -> ShellEnvironment {
        let here = self.current_span();
        // The copy is shared until one of the two changes.
        self.budget.spend_steps(env.n_names() / 4, &here);
        env.clone()
    }

    /// Follows a list that does not change the state.
    pub fn interpret_list_in_subshell(
        &mut self,
        list: &CommandList,
        env: &ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let mut apart = self.branch_environment(env);
        self.interpret_list(list, &mut apart, feed)
    }

    fn interpret_command_in_subshell(
        &mut self,
        command: &CommandNode,
        env: &ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let mut apart = self.branch_environment(env);
        self.interpret_command(command, &mut apart, feed)
    }

    /// Merges the state that another branch may leave.
    fn merge_environment(
        &mut self,
        env: &mut ShellEnvironment,
        other: Option<ShellEnvironment>,
    ) -> bool {
        let Some(other) = other else {
            return false;
        };
        let here = self.current_span();
        self.budget.spend_steps(env.merge_cost(&other), &here);
        env.merge(&other)
    }

    fn interpret_pipeline(
        &mut self,
        item: &PipelineItem,
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        match item.commands.as_slice() {
            [only] if !item.is_background => self.interpret_command(only, env, feed),
            commands => {
                self.n_forks += 1;
                let mut feed = feed.clone();
                let mut out = PossibleValues::empty_string();
                for command in commands {
                    out = self.interpret_command_in_subshell(command, env, &feed);
                    feed = StandardInput::Values(out.clone());
                }
                self.n_forks -= 1;
                out
            }
        }
    }

    fn interpret_command(
        &mut self,
        command: &CommandNode,
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        if !self.budget.enter_level(&command.span) {
            return PossibleValues::unknown();
        }
        let before = self.current_span();
        let n_waiting = self.output_substitutions.len();
        self.set_current_span(&command.span);
        let mut out = PossibleValues::unknown();
        if self.budget.spend_steps(1, &command.span) {
            out = match &command.kind {
                CommandNodeKind::Simple { .. } => self.interpret_simple_command(command, env, feed),
                _ => self.interpret_compound_command(command, env, feed),
            };
        }
        self.finish_output_substitutions(n_waiting);
        self.set_current_span(&before);
        self.budget.leave_level();
        out
    }

    fn interpret_compound_command(
        &mut self,
        command: &CommandNode,
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let redirected = self.interpret_redirections(&command.redirects, env, feed);
        if !redirected.redirects.is_empty() {
            self.record_command(&CommandCall {
                words: Vec::new(),
                assignments: Vec::new(),
                redirects: redirected.redirects,
                stdin: redirected.stdin.clone(),
                span: command.span.clone(),
                lookup: ProgramLookup::FunctionsAndPrograms,
            });
        }
        let feed = &redirected.stdin;
        let out = match &command.kind {
            CommandNodeKind::Simple { .. } => PossibleValues::empty_string(),
            CommandNodeKind::Group(list) => self.interpret_list(list, env, feed),
            CommandNodeKind::Subshell(list) => self.interpret_list_in_subshell(list, env, feed),
            CommandNodeKind::If(branches) => self.interpret_if(branches, env, feed),
            CommandNodeKind::Loop { test, body } => self.interpret_loop(test, body, env, feed),
            CommandNodeKind::For(each) => self.interpret_for(each, env, feed),
            CommandNodeKind::Case { subject, arms } => {
                self.interpret_case(subject, arms, env, feed)
            }
            CommandNodeKind::Function { name, body } => {
                env.define_function(name, FunctionMeaning::Body(Rc::clone(body)));
                PossibleValues::empty_string()
            }
            CommandNodeKind::Test(words) => {
                let words: Vec<PossibleValues> = words
                    .iter()
                    .map(|word| self.expander(env).expand_without_splitting(&word.pieces))
                    .collect();
                self.expander(env).evaluate_test(&words);
                PossibleValues::empty_string()
            }
            CommandNodeKind::Coprocess(command) => {
                self.n_forks += 1;
                self.interpret_command_in_subshell(command, env, feed);
                self.n_forks -= 1;
                PossibleValues::empty_string()
            }
        };
        self.redirect_output(&redirected.stdout_paths, out)
    }

    fn interpret_if(
        &mut self,
        branches: &[(CommandList, CommandList)],
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let mut left: Option<ShellEnvironment> = None;
        let mut out: Option<PossibleValues> = None;
        let mut has_else = false;
        for (test, body) in branches {
            if self.budget.is_exhausted() {
                break;
            }
            self.interpret_list(test, env, feed);
            has_else = test.items.is_empty();
            let mut taken = self.branch_environment(env);
            let written = self.interpret_list(body, &mut taken, feed);
            self.merge_environment(&mut taken, left.take());
            left = Some(taken);
            out = Some(match out {
                Some(out) => out.merge_with(written),
                None => written,
            });
        }
        match left {
            Some(left) if has_else => *env = left,
            left => {
                self.merge_environment(env, left);
            }
        }
        let out = out.unwrap_or_else(PossibleValues::empty_string);
        if has_else {
            out
        } else {
            out.merge_with(PossibleValues::empty_string())
        }
    }

    /// Follows a loop twice if the first round changes what the second does.
    fn interpret_loop(
        &mut self,
        test: &CommandList,
        body: &CommandList,
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let mut out = PossibleValues::empty_string();
        for _ in 0..2 {
            self.interpret_list(test, env, feed);
            let mut after = self.branch_environment(env);
            let written = self.interpret_list(body, &mut after, feed);
            let here = self.current_span();
            self.budget.spend_steps(out.copy_cost(), &here);
            out = out.clone().concat(&written).merge_with(out);
            if !self.merge_environment(env, Some(after)) || self.budget.is_exhausted() {
                break;
            }
        }
        out
    }

    fn interpret_for(
        &mut self,
        each: &ForLoop,
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let ForLoop { name, words, body } = each;
        let values = match words.as_deref() {
            Some(words) => self.expander(env).expand_words(words),
            None => env
                .variable_values("@")
                .into_iter()
                .map(variable_to_fields)
                .collect(),
        };
        let mut out = PossibleValues::empty_string();
        let n_values: usize = values.iter().map(Vec::len).sum();
        if n_values > self.budget.limits.max_expansions {
            let here = self.current_span();
            self.budget
                .record_exceeded_limit(AnalysisLimitKind::Expansions, &here);
            env.set_single_value(name, AbstractValue::unknown());
            return self.interpret_list(body, env, feed);
        }
        let before = self.branch_environment(env);
        for field in values.into_iter().flatten() {
            // An uncertain word may mean several rounds.
            let n_rounds = if field.may_split || field.is_glob {
                2
            } else {
                1
            };
            for _ in 0..n_rounds {
                if self.budget.is_exhausted() {
                    break;
                }
                env.set_single_value(name, field.value.clone());
                let at_start = self.branch_environment(env);
                let written = self.interpret_list(body, env, feed);
                out = out.concat(&written);
                if !self.merge_environment(env, Some(at_start)) {
                    break;
                }
            }
        }
        self.merge_environment(env, Some(before));
        out
    }

    fn interpret_case(
        &mut self,
        subject: &RawWord,
        arms: &[(Vec<RawWord>, CommandList)],
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        self.expander(env).expand_without_splitting(&subject.pieces);
        let mut out = PossibleValues::empty_string();
        let mut left: Option<ShellEnvironment> = None;
        for (patterns, body) in arms {
            if self.budget.is_exhausted() {
                break;
            }
            for pattern in patterns {
                self.expander(env).expand_without_splitting(&pattern.pieces);
            }
            let mut taken = self.branch_environment(env);
            out = out.merge_with(self.interpret_list(body, &mut taken, feed));
            self.merge_environment(&mut taken, left.take());
            left = Some(taken);
        }
        self.merge_environment(env, left);
        out
    }

    fn interpret_simple_command(
        &mut self,
        command: &CommandNode,
        env: &mut ShellEnvironment,
        feed: &StandardInput,
    ) -> PossibleValues {
        let CommandNodeKind::Simple { assigns, words } = &command.kind else {
            return PossibleValues::empty_string();
        };
        let ways = self.expander(env).expand_words(words);
        self.budget.spend_steps(feed.copy_cost(), &command.span);
        let redirected = self.interpret_redirections(&command.redirects, env, feed);
        let is_lasting = words.is_empty();
        let mut scratch = if is_lasting || assigns.is_empty() {
            ShellEnvironment::default()
        } else {
            self.branch_environment(env)
        };
        let mut assigned = Vec::new();
        for assign in assigns {
            let target = if is_lasting { &mut *env } else { &mut scratch };
            let texts = self.expander(target).apply_assignment(assign);
            for value in texts.iter() {
                let field = ShellField {
                    value: value.clone(),
                    ..ShellField::default()
                };
                assigned.push((assign.name.clone(), field));
            }
        }
        let mut out: Option<PossibleValues> = None;
        for words in ways {
            if self.budget.is_exhausted() {
                break;
            }
            let call = CommandCall {
                words,
                assignments: assigned.clone(),
                redirects: redirected.redirects.clone(),
                stdin: redirected.stdin.clone(),
                span: command.span.clone(),
                lookup: ProgramLookup::FunctionsAndPrograms,
            };
            let written = self.run_call(call, env);
            out = Some(match out {
                Some(out) => out.merge_with(written),
                None => written,
            });
        }
        let out = out.unwrap_or_else(PossibleValues::empty_string);
        self.redirect_output(&redirected.stdout_paths, out)
    }

    /// Returns the text of `$(…)`: the output without line breaks at its end.
    pub fn interpret_command_substitution(
        &mut self,
        list: &CommandList,
        env: &ShellEnvironment,
    ) -> PossibleValues {
        let here = self.current_span();
        if !self.budget.enter_level(&here) {
            return PossibleValues::unknown();
        }
        let out = match self.file_substitution_values(list, env) {
            Some(texts) => texts,
            None => self.interpret_list_in_subshell(list, env, &StandardInput::Nothing),
        };
        self.budget.leave_level();
        self.set_current_span(&here);
        out.map_values(|value| value.with_text(value.text.trim_end_matches('\n').to_owned()))
    }

    /// Returns the text of `$(< file)`.
    fn file_substitution_values(
        &mut self,
        list: &CommandList,
        env: &ShellEnvironment,
    ) -> Option<PossibleValues> {
        let [item] = list.items.as_slice() else {
            return None;
        };
        let [command] = item.commands.as_slice() else {
            return None;
        };
        let CommandNodeKind::Simple { assigns, words } = &command.kind else {
            return None;
        };
        if !assigns.is_empty() || !words.is_empty() || command.redirects.len() != 1 {
            return None;
        }
        let mut apart = self.branch_environment(env);
        let redirected =
            self.interpret_redirections(&command.redirects, &mut apart, &StandardInput::Nothing);
        match redirected.stdin {
            StandardInput::Values(texts) => Some(texts),
            StandardInput::Unknown => Some(PossibleValues::unknown()),
            StandardInput::Nothing => None,
        }
    }

    /// Runs the bodies of the function that a call names.
    pub fn call_function(
        &mut self,
        functions: &[FunctionMeaning],
        call: &CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let name = call.word_text(0).to_owned();
        self.visited_functions.insert(name.clone());
        self.record_redirects_and_assignments(call);
        self.wrappers.push(Self::shell_wrapper(&name, &call.words));
        let arguments = env.variable_values("@");
        let values = call.arguments().iter().map(|field| field.value.clone());
        env.set_variable("@", vec![VariableValue::Array(values.collect())]);
        let mut out: Option<PossibleValues> = None;
        for function in functions {
            let FunctionMeaning::Body(body) = function else {
                continue;
            };
            let written = self.call_function_body(&name, body, call, env);
            out = Some(match out {
                Some(out) => out.merge_with(written),
                None => written,
            });
        }
        env.set_variable("@", arguments);
        self.wrappers.pop();
        out.unwrap_or_else(PossibleValues::empty_string)
    }

    /// Follows a function's body, unless the function is already running.
    fn call_function_body(
        &mut self,
        name: &str,
        body: &Rc<CommandNode>,
        call: &CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        // A function may define another one with its own name.
        let key = format!("{name} {:p}", Rc::as_ptr(body));
        let outer = self.call_stack.iter().find(|(calling, _)| *calling == key);
        if let Some((_, n_forks)) = outer {
            if self.n_forks > *n_forks {
                let span = call.span.clone();
                self.budget.record_doubt(AnalysisDoubt::ForkBomb { span });
            }
            return PossibleValues::unknown();
        }
        self.call_stack.push((key, self.n_forks));
        let out = self.interpret_command(body, env, &call.stdin);
        self.call_stack.pop();
        out
    }

    /// Follows functions that have the name of a common program but were never called.
    pub fn interpret_uncalled_functions(&mut self, env: &mut ShellEnvironment) {
        let mut followed: Vec<&str> = Vec::new();
        // A function that is followed may define the next one.
        while let Some(name) = programs_with_trait(ProgramTrait::FollowedFunction).find(|name| {
            !followed.contains(name)
                && !self.visited_functions.contains(*name)
                && !env.functions(name).is_empty()
        }) {
            followed.push(name);
            let functions = env.functions(name);
            let bodies = functions.iter().filter_map(|function| match function {
                FunctionMeaning::Body(body) => Some(body.span.clone()),
                FunctionMeaning::Program => None,
            });
            let call = CommandCall {
                words: vec![ShellField::known(name)],
                assignments: Vec::new(),
                redirects: Vec::new(),
                stdin: StandardInput::Nothing,
                span: bodies.min_by_key(|span| span.start).unwrap_or(0..0),
                lookup: ProgramLookup::FunctionsAndPrograms,
            };
            self.call_function(&functions, &call, env);
        }
    }
}

fn variable_to_fields(variable: VariableValue) -> FieldList {
    let values = match variable {
        VariableValue::One(value) => vec![value],
        VariableValue::Array(values) => values,
    };
    values
        .into_iter()
        .map(|value| ShellField {
            may_split: !value.is_fully_known(),
            value,
            ..ShellField::default()
        })
        .collect()
}

/// Returns whether an item is only assignments, which never fail.
fn has_only_assignments(item: &PipelineItem) -> bool {
    matches!(item.commands.as_slice(), [CommandNode { kind: CommandNodeKind::Simple { words, .. }, .. }] if words.is_empty())
}
