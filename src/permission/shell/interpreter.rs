//! The state of one analysis: the commands found, the files written, and the calls being followed.
//!
//! Syntax is in `shell_parser`; programs are in the files next to this one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::environment::{ShellEnvironment, VariableValue};
use super::shell_parser;
use super::step_budget::StepBudget;
use super::syntax_tree::CommandList;
use super::word_expansion::WordExpander;
use super::{
    AnalysisDoubt, AnalysisLimitKind, AnalysisLimits, CommandInput, CommandRedirect,
    CommandWrapper, ShellAnalysis, ShellWord, SimpleCommand, WrapperKind, fallback_lexer,
};

/// The state of a running analysis.
pub struct ShellInterpreter {
    pub budget: StepBudget,
    pub commands: Vec<SimpleCommand>,
    /// The commands that traps run at the end, when functions defined after them are known.
    pub traps: Vec<TrapHandler>,
    /// The wrappers around the text being read, outermost first.
    pub wrappers: Vec<CommandWrapper>,
    /// The files that the text has written so far, by name without folder.
    files: BTreeMap<String, PossibleValues>,
    /// The functions and scripts being run, each with the number of forks around its call.
    pub call_stack: Vec<(String, usize)>,
    /// How many pipes and background jobs are around the text being read.
    pub n_forks: usize,
    /// Functions that were called or followed.
    pub visited_functions: BTreeSet<String>,
    current_span: Range<usize>,
    n_processes: usize,
    /// The `>(…)` lists that the running commands may write to.
    pub output_substitutions: Vec<OutputSubstitution>,
}

/// A list that reads what is written to the name of its `>(…)`.
pub struct OutputSubstitution {
    pub name: String,
    pub list: Rc<CommandList>,
    pub environment: ShellEnvironment,
    /// Whether any followed output was written to it.
    pub is_fed: bool,
}

/// The command that a trap runs.
pub struct TrapHandler {
    pub scripts: PossibleValues,
    pub wrapper: CommandWrapper,
    pub call: CommandCall,
    /// How many functions were known when the trap was set.
    pub n_functions: usize,
}

/// What standard input is.
#[derive(Debug, Clone)]
pub enum StandardInput {
    Nothing,
    Values(PossibleValues),
    Unknown,
}

impl StandardInput {
    /// Returns how many steps a copy of it takes.
    pub fn copy_cost(&self) -> usize {
        match self {
            Self::Nothing | Self::Unknown => 0,
            Self::Values(texts) => texts.copy_cost(),
        }
    }
}

/// Steps for each command found, for judging it later.
const STEPS_PER_COMMAND: usize = 8;

/// A command that is about to run.
#[derive(Debug, Clone)]
pub struct CommandCall {
    pub words: Vec<ShellField>,
    pub assignments: Vec<(String, ShellField)>,
    pub redirects: Vec<CommandRedirect>,
    pub stdin: StandardInput,
    pub span: Range<usize>,
    /// What kind of program the name may be.
    pub lookup: ProgramLookup,
}

/// What the first word of a call may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramLookup {
    /// A function, an alias or a program.
    FunctionsAndPrograms,
    /// A program, after a wrapper.
    ProgramsOnly,
}

impl CommandCall {
    /// Returns the same call with other words.
    pub fn with_words(&self, words: Vec<ShellField>) -> Self {
        Self {
            words,
            assignments: self.assignments.clone(),
            redirects: self.redirects.clone(),
            stdin: self.stdin.clone(),
            span: self.span.clone(),
            lookup: self.lookup,
        }
    }

    pub fn word_text(&self, at: usize) -> &str {
        self.words.get(at).map_or("", ShellField::text)
    }

    /// Returns the words after the program.
    pub fn arguments(&self) -> &[ShellField] {
        self.words.get(1..).unwrap_or_default()
    }
}

impl ShellInterpreter {
    /// Makes an interpreter for a text of this many bytes.
    pub fn new(limits: AnalysisLimits, n_bytes: usize) -> Self {
        Self {
            budget: StepBudget::new(limits, n_bytes),
            commands: Vec::new(),
            traps: Vec::new(),
            wrappers: Vec::new(),
            files: BTreeMap::new(),
            call_stack: Vec::new(),
            n_forks: 0,
            visited_functions: BTreeSet::new(),
            current_span: 0..0,
            n_processes: 0,
            output_substitutions: Vec::new(),
        }
    }

    /// Analyses the outermost text.
    pub fn interpret_script(mut self, text: &str) -> ShellAnalysis {
        let whole = 0..text.len();
        let mut env = ShellEnvironment::default();
        if text.len() > self.budget.limits.max_bytes {
            self.budget
                .record_exceeded_limit(AnalysisLimitKind::Bytes, &whole);
        } else {
            let list = shell_parser::parse_script(text, None, &mut self.budget);
            self.interpret_list(&list, &mut env, &StandardInput::Nothing);
            for trap in std::mem::take(&mut self.traps) {
                if trap.n_functions < env.n_functions() {
                    self.interpret_nested_scripts_in_subshell(
                        &trap.scripts,
                        trap.wrapper,
                        &trap.call,
                        &env,
                    );
                }
            }
            self.interpret_uncalled_functions(&mut env);
        }
        self.into_analysis(|| fallback_lexer::split_rough_lines(text))
    }

    /// Analyses a command that starts without a shell.
    pub fn interpret_argv(mut self, argv: &[String]) -> ShellAnalysis {
        let n_bytes = argv.iter().map(|word| word.len() + 1).sum::<usize>();
        let span = 0..n_bytes.saturating_sub(1);
        if n_bytes > self.budget.limits.max_bytes {
            self.budget
                .record_exceeded_limit(AnalysisLimitKind::Bytes, &span);
        } else if !argv.is_empty() {
            let call = CommandCall {
                words: argv.iter().map(ShellField::known).collect(),
                assignments: Vec::new(),
                redirects: Vec::new(),
                stdin: StandardInput::Nothing,
                span,
                lookup: ProgramLookup::FunctionsAndPrograms,
            };
            self.run_call(call, &mut ShellEnvironment::default());
        }
        self.into_analysis(|| {
            argv.iter()
                .flat_map(|word| fallback_lexer::split_rough_lines(word))
                .collect()
        })
    }

    fn into_analysis(self, rough: impl FnOnce() -> Vec<Vec<String>>) -> ShellAnalysis {
        ShellAnalysis {
            rough_lines: if self.budget.is_incomplete {
                rough()
            } else {
                Vec::new()
            },
            commands: self.commands,
            steps: self.budget.steps_spent(),
            doubts: self.budget.doubts,
        }
    }

    /// Returns the owner of word expansion in a state of the shell.
    pub fn expander<'a>(&'a mut self, env: &'a mut ShellEnvironment) -> WordExpander<'a> {
        WordExpander {
            interpreter: self,
            env,
        }
    }

    /// Returns the span of the command being read.
    pub fn current_span(&self) -> Range<usize> {
        self.current_span.clone()
    }

    pub fn set_current_span(&mut self, span: &Range<usize>) {
        self.current_span = span.clone();
    }

    /// Records a command; returns its index.
    pub fn record_command(&mut self, call: &CommandCall) -> usize {
        let input = to_command_input(&call.stdin);
        self.record_command_with_input(call, input)
    }

    pub fn record_command_with_input(&mut self, call: &CommandCall, input: CommandInput) -> usize {
        let n_words: usize = self
            .wrappers
            .iter()
            .map(|wrapper| 1 + wrapper.words.len())
            .sum();
        let n_around = call.redirects.len() + call.assignments.len();
        let steps =
            STEPS_PER_COMMAND + call.words.len() + n_words + n_around + call.stdin.copy_cost();
        if self.budget.spend_steps(steps, &call.span) {
            self.commands.push(SimpleCommand {
                words: call.words.iter().map(ShellField::to_word).collect(),
                wrappers: self.wrappers.clone(),
                redirects: call.redirects.clone(),
                input,
                assignments: assignment_words(call),
                span: call.span.clone(),
            });
        }
        self.commands.len().saturating_sub(1)
    }

    /// Records the redirects and assignments of something whose words are not a command.
    pub fn record_redirects_and_assignments(&mut self, call: &CommandCall) {
        if !call.redirects.is_empty() || !call.assignments.is_empty() {
            self.record_command(&call.with_words(Vec::new()));
        }
    }

    /// Records a command that runs an unknown text; `sources` are the commands that wrote it.
    pub fn record_unknown_script(
        &mut self,
        call: &CommandCall,
        from: Vec<usize>,
    ) -> PossibleValues {
        let span = call.span.clone();
        self.budget
            .record_doubt(AnalysisDoubt::DynamicScript { span });
        let input = if from.is_empty() {
            to_command_input(&call.stdin)
        } else {
            CommandInput::Pipe(from)
        };
        PossibleValues::single(AbstractValue::from_command_output(
            self.record_command_with_input(call, input),
        ))
    }

    /// Analyses texts that a call runs as shell commands; `env` is the state that they see and change.
    pub fn interpret_nested_scripts(
        &mut self,
        texts: &PossibleValues,
        wrapper: CommandWrapper,
        call: &CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let n_commands = self.commands.len();
        // Commands read from the input consume it, so nothing known is left of it.
        let feed = match &call.stdin {
            StandardInput::Values(input) if input == texts => StandardInput::Nothing,
            feed => feed.clone(),
        };
        let mut out: Option<PossibleValues> = None;
        for value in texts.iter() {
            let known = PossibleValues::single(value.clone());
            // Another command's output may be a line of its own anywhere in the text.
            let begins_unknown = value
                .text
                .lines()
                .any(|line| line.trim_start().starts_with(super::UNKNOWN_PLACEHOLDER));
            let mut written = PossibleValues::empty_string();
            if known.is_entirely_unknown() || begins_unknown && !value.sources.is_empty() {
                written = self.record_unknown_script(call, value.sources.clone());
            }
            if !known.is_entirely_unknown() {
                let inner = CommandCall {
                    words: Vec::new(),
                    stdin: feed.clone(),
                    ..call.clone()
                };
                written = self.interpret_nested_script(&value.text, wrapper.clone(), &inner, env);
            }
            out = Some(match out {
                Some(out) => out.merge_with(written),
                None => written,
            });
        }
        if self.commands.len() == n_commands {
            self.record_command(call);
        } else {
            self.record_redirects_and_assignments(call);
        }
        out.unwrap_or_else(PossibleValues::unknown)
    }

    /// Analyses texts that do not change the state of this shell.
    pub fn interpret_nested_scripts_in_subshell(
        &mut self,
        texts: &PossibleValues,
        wrapper: CommandWrapper,
        call: &CommandCall,
        env: &ShellEnvironment,
    ) -> PossibleValues {
        let mut apart = self.branch_environment(env);
        self.interpret_nested_scripts(texts, wrapper, call, &mut apart)
    }

    fn interpret_nested_script(
        &mut self,
        text: &str,
        wrapper: CommandWrapper,
        call: &CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        if !self.budget.enter_level(&call.span) {
            return PossibleValues::unknown();
        }
        self.budget.spend_steps(1 + text.len() / 32, &call.span);
        let list = shell_parser::parse_script(text, Some(call.span.clone()), &mut self.budget);
        self.wrappers.push(wrapper);
        let out = self.interpret_list(&list, env, &call.stdin);
        self.wrappers.pop();
        self.budget.leave_level();
        out
    }

    /// Returns the content of a file that this text has written; `None` when it has not.
    pub fn file_contents(&self, path: &ShellField) -> Option<&PossibleValues> {
        self.files.get(file_name(path.text()))
    }

    /// Adds a possible content to what a file may contain.
    pub fn write_file(&mut self, path: &str, texts: PossibleValues) {
        if self.is_output_substitution(path) {
            return self.feed_output_substitution(path, texts);
        }
        let here = self.current_span();
        let held = self
            .files
            .get(file_name(path))
            .map_or(0, PossibleValues::copy_cost);
        self.budget
            .spend_steps(4 * (texts.copy_cost() + held), &here);
        let name = file_name(path).to_owned();
        let texts = match self.files.remove(&name) {
            // An appended text may be the whole content, or follow the old one.
            Some(old) => old.clone().concat(&texts).merge_with(texts).merge_with(old),
            None => texts,
        };
        self.files.insert(name, texts);
    }

    /// Makes a name for the output of a process substitution.
    pub fn open_process_substitution(&mut self, texts: PossibleValues) -> String {
        self.n_processes += 1;
        let name = format!("/dev/fd/{}", 1_000 + self.n_processes);
        self.files.insert(file_name(&name).to_owned(), texts);
        name
    }

    /// Makes the shell wrapper of a call: its words up to the text that it runs.
    pub fn shell_wrapper(name: &str, words: &[ShellField]) -> CommandWrapper {
        CommandWrapper {
            name: name.to_owned(),
            kind: WrapperKind::Shell,
            words: words.iter().map(ShellField::to_word).collect(),
        }
    }
}

/// Returns a file's name without its folder; an unknown name equals itself.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn assignment_words(call: &CommandCall) -> Vec<(String, ShellWord)> {
    let pairs = call.assignments.iter();
    pairs
        .map(|(name, field)| (name.clone(), field.to_word()))
        .collect()
}

/// Converts standard input to the form in the analysis result.
fn to_command_input(feed: &StandardInput) -> CommandInput {
    let texts = match feed {
        StandardInput::Nothing => return CommandInput::Nothing,
        StandardInput::Unknown => return CommandInput::Unknown,
        StandardInput::Values(texts) => texts,
    };
    let from = texts.sources();
    if !from.is_empty() {
        return CommandInput::Pipe(from);
    }
    let texts: Vec<&str> = texts.iter().map(|value| value.text.as_str()).collect();
    CommandInput::KnownText(texts.join("\n"))
}

/// Makes the state of a shell that a call starts with arguments.
pub fn child_environment(
    env: &ShellEnvironment,
    call: &CommandCall,
    name: Option<&ShellField>,
    arguments: &[ShellField],
) -> ShellEnvironment {
    let mut child = env.clone();
    child.mark_functions_uncertain();
    for (name, field) in &call.assignments {
        child.set_single_value(name, field.value.clone());
    }
    if let Some(name) = name {
        child.set_single_value("0", name.value.clone());
    }
    let values = arguments.iter().map(|field| field.value.clone()).collect();
    child.set_variable("@", vec![VariableValue::Array(values)]);
    child
}
