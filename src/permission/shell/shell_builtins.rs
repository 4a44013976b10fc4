//! Follows builtins that change the shell's state, and programs that write files.
//!
//! Whether a change is dangerous is not decided here.

use crate::permission::program_table::{ProgramTrait, has_trait};

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::environment::{ShellEnvironment, VariableValue};
use super::expression_evaluation::{MAX_NAMES, is_numeric_operator};
use super::interpreter::{CommandCall, ShellInterpreter, StandardInput};
use super::{UNKNOWN_PLACEHOLDER, command_wrappers};

/// The most lines of an input that are followed separately.
const MAX_LINES: usize = 64;

impl ShellInterpreter {
    /// Applies a builtin to the state of the shell.
    pub fn apply_builtin(&mut self, name: &str, call: &CommandCall, env: &mut ShellEnvironment) {
        let compares = || {
            call.arguments()
                .iter()
                .any(|word| is_numeric_operator(word.text()))
        };
        let evaluates = match name {
            "printf" => call.word_text(1) == "-v",
            "test" | "[" => compares(),
            name => has_trait(name, ProgramTrait::EvaluatesIndex),
        };
        if evaluates {
            let n_words = if name == "printf" { 2 } else { usize::MAX };
            for word in call.arguments().iter().take(n_words) {
                self.expander(env).evaluate_index(word.text());
            }
        }
        match name {
            _ if has_trait(name, ProgramTrait::Declaration) => self.declare_variables(call, env),
            "alias" => define_aliases(call, env),
            "hash" => define_hash_alias(call, env),
            "set" => set_positional_arguments(call, env),
            "shift" => shift_positional_arguments(call, env),
            "unset" => call
                .arguments()
                .iter()
                .for_each(|word| env.unset(word.text())),
            "read" => read_into_variables(call, env),
            "mapfile" | "readarray" => read_lines_into_array(call, env),
            "printf" if call.word_text(1) == "-v" => self.printf_to_variable(call, env),
            "getopts" => env.set_single_value(call.word_text(2), AbstractValue::unknown()),
            _ => {}
        }
    }

    fn declare_variables(&mut self, call: &CommandCall, env: &mut ShellEnvironment) {
        let options = call.arguments().iter().map(ShellField::text);
        let is_option = |text: &str| text.starts_with('-') && !text.starts_with("--");
        if options
            .into_iter()
            .any(|text| is_option(text) && text.contains('n'))
        {
            return Self::declare_reference(call, env);
        }
        for word in call
            .arguments()
            .iter()
            .filter(|word| !word.is_completed_assignment)
        {
            if let Some((name, value)) = command_wrappers::parse_assignment(word.text()) {
                let value = word.value.with_text(value.to_owned());
                env.set_single_value(name, value.clone());
                self.interpret_command_variable(name, &PossibleValues::single(value), env);
            }
        }
    }

    /// `declare -n d=c`: another name for a variable, which may still change.
    fn declare_reference(call: &CommandCall, env: &mut ShellEnvironment) {
        for word in call.arguments() {
            if let Some((name, target)) = command_wrappers::parse_assignment(word.text()) {
                let now = env.variable_values(target);
                let later = VariableValue::One(AbstractValue::unknown());
                let both = now.into_iter().take(MAX_NAMES).chain([later]);
                env.set_variable(name, both.collect());
            }
        }
    }

    fn printf_to_variable(&mut self, call: &CommandCall, env: &mut ShellEnvironment) {
        let words = call.words.get(3..).unwrap_or_default();
        let texts =
            super::command_output::predict_output("printf", words, &StandardInput::Nothing, |_| {
                None
            });
        let texts = texts.unwrap_or_else(PossibleValues::unknown);
        env.set_variable(
            call.word_text(2),
            texts.iter().cloned().map(VariableValue::One).collect(),
        );
    }

    /// Records the files that a program has written.
    pub fn record_written_files(
        &mut self,
        name: &str,
        call: &CommandCall,
        out: &PossibleValues,
        index: usize,
    ) {
        let operands = || {
            call.arguments()
                .iter()
                .filter(|word| !word.text().starts_with('-'))
        };
        if has_trait(name, ProgramTrait::CopiesInput) {
            let paths: Vec<String> = operands().map(|word| word.text().to_owned()).collect();
            for path in paths {
                self.write_file(&path, out.clone());
            }
        } else if has_trait(name, ProgramTrait::CopiesFiles) {
            let operands: Vec<&ShellField> = operands().collect();
            if let [.., from, to] = operands.as_slice()
                && let Some(texts) = self
                    .file_contents(from)
                    .cloned()
                    .or_else(|| copied_program_script(from))
            {
                let path = to.text().to_owned();
                self.write_file(&path, texts);
            }
        } else if has_trait(name, ProgramTrait::FollowedDownload) {
            for path in download_paths(name, call) {
                self.write_file(
                    &path,
                    PossibleValues::single(AbstractValue::from_command_output(index)),
                );
            }
        }
    }
}

/// Returns a script for the copy of a program: it does the same as the program.
fn copied_program_script(program: &ShellField) -> Option<PossibleValues> {
    let (folder, name) = program.text().rsplit_once('/')?;
    let is_program = folder.ends_with("bin") && program.is_fully_known() && !name.is_empty();
    is_program.then(|| PossibleValues::single(AbstractValue::known(format!("'{name}' \"$@\""))))
}

/// Returns the files that a download goes to.
fn download_paths(name: &str, call: &CommandCall) -> Vec<String> {
    let mut paths = Vec::new();
    let mut takes_name = has_trait(name, ProgramTrait::NamesDownload);
    for (at, word) in call.words.iter().enumerate().skip(1) {
        let text = word.text();
        let letters = text
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'));
        let option = if name == "curl" { 'o' } else { 'O' };
        match letters.and_then(|letters| letters.split_once(option)) {
            Some((_, "")) => paths.push(call.word_text(at + 1).to_owned()),
            Some((_, attached)) => paths.push(attached.to_owned()),
            None if matches!(text, "--output" | "--output-document") => {
                paths.push(call.word_text(at + 1).to_owned());
            }
            None => {
                let attached = text.strip_prefix("--output=");
                let attached = attached.or_else(|| text.strip_prefix("--output-document="));
                paths.extend(attached.map(str::to_owned));
            }
        }
        takes_name |=
            text == "--remote-name" || letters.is_some_and(|letters| letters.contains('O'));
    }
    if takes_name {
        let urls = call
            .arguments()
            .iter()
            .filter(|word| word.text().contains("//"));
        paths.extend(urls.map(|url| {
            url.text()
                .split(['?', '#'])
                .next()
                .unwrap_or_default()
                .to_owned()
        }));
    }
    paths.retain(|path| path != "-");
    paths
}

fn define_aliases(call: &CommandCall, env: &mut ShellEnvironment) {
    for word in call.arguments() {
        if let Some((name, text)) = word.text().split_once('=') {
            env.set_alias(name, word.value.with_text(text.to_owned()));
        }
    }
}

/// `hash -p /bin/rm ls` makes `ls` run `rm`.
fn define_hash_alias(call: &CommandCall, env: &mut ShellEnvironment) {
    if call.word_text(1) == "-p" {
        env.set_alias(call.word_text(3), AbstractValue::known(call.word_text(2)));
    }
}

/// Follows `set -- a b`.
fn set_positional_arguments(call: &CommandCall, env: &mut ShellEnvironment) {
    let words = call.arguments();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.text();
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if !text.starts_with(['-', '+']) {
            break;
        }
        at += 1 + usize::from(text.ends_with('o'));
    }
    let rest = words.get(at..).unwrap_or_default();
    let ends_options = words
        .get(at.saturating_sub(1))
        .is_some_and(|word| word.text() == "--");
    if !rest.is_empty() || ends_options {
        let values = rest.iter().map(|word| word.value.clone()).collect();
        env.set_variable("@", vec![VariableValue::Array(values)]);
    }
}

fn shift_positional_arguments(call: &CommandCall, env: &mut ShellEnvironment) {
    let n_gone: usize = call.word_text(1).parse().unwrap_or(1);
    let shifted = env
        .variable_values("@")
        .into_iter()
        .map(|variable| match variable {
            VariableValue::Array(values) if values.iter().all(AbstractValue::is_fully_known) => {
                VariableValue::Array(values.into_iter().skip(n_gone).collect())
            }
            variable => variable,
        });
    let shifted = shifted.collect();
    env.set_variable("@", shifted);
}

/// Returns the lines of the input; `read` may get any one of them.
fn input_lines(feed: &StandardInput) -> Vec<AbstractValue> {
    let StandardInput::Values(texts) = feed else {
        return vec![AbstractValue::unknown()];
    };
    let lines: Vec<AbstractValue> = texts
        .iter()
        .flat_map(|value| {
            value
                .text
                .lines()
                .map(|line| value.with_text(line.to_owned()))
        })
        .collect();
    match lines.len() {
        0 => vec![AbstractValue::default()],
        n_lines if n_lines > MAX_LINES => vec![
            texts
                .map_values(|value| value.with_text(UNKNOWN_PLACEHOLDER.to_string()))
                .iter()
                .next()
                .cloned()
                .unwrap_or_else(AbstractValue::unknown),
        ],
        _ => lines,
    }
}

fn read_into_variables(call: &CommandCall, env: &mut ShellEnvironment) {
    let mut names: Vec<&str> = Vec::new();
    let mut is_array = false;
    let mut words = call.arguments().iter();
    while let Some(word) = words.next() {
        let text = word.text();
        if !text.starts_with('-') {
            names.push(text);
            continue;
        }
        is_array |= text.contains('a');
        if text.ends_with(['d', 'n', 'N', 'p', 't', 'u', 'i']) {
            words.next();
        }
    }
    if names.is_empty() {
        names.push("REPLY");
    }
    let assigned = call.assignments.iter().find(|(name, _)| name == "IFS");
    let separators = assigned.map_or(" \t", |(_, field)| field.text());
    let lines = input_lines(&call.stdin);
    let n_names = names.len();
    for (at, name) in names.iter().enumerate() {
        let values = lines.iter().map(|line| {
            if is_array {
                let parts = line
                    .text
                    .split(|c| separators.contains(c))
                    .filter(|part| !part.is_empty());
                return VariableValue::Array(
                    parts.map(|part| line.with_text(part.to_owned())).collect(),
                );
            }
            VariableValue::One(line.with_text(line_field(&line.text, at, n_names, separators)))
        });
        env.set_variable(name, values.collect());
    }
}

/// Returns the part of a line that the variable at a position gets; the last one gets all the rest.
fn line_field(line: &str, at: usize, n_names: usize, separators: &str) -> String {
    let mut rest = line.trim_matches(|c| separators.contains(c) && c != '\0');
    for _ in 0..at {
        let end = rest.find(|c| separators.contains(c)).unwrap_or(rest.len());
        if line.contains(UNKNOWN_PLACEHOLDER) && end == rest.len() {
            return UNKNOWN_PLACEHOLDER.to_string();
        }
        rest = rest
            .get(end..)
            .unwrap_or_default()
            .trim_start_matches(|c| separators.contains(c));
    }
    if at + 1 < n_names {
        let end = rest.find(|c| separators.contains(c)).unwrap_or(rest.len());
        rest = rest.get(..end).unwrap_or_default();
    }
    rest.to_owned()
}

fn read_lines_into_array(call: &CommandCall, env: &mut ShellEnvironment) {
    let name = call
        .arguments()
        .iter()
        .rfind(|word| !word.text().starts_with('-'));
    let name = name.map_or("MAPFILE", ShellField::text).to_owned();
    env.set_variable(&name, vec![VariableValue::Array(input_lines(&call.stdin))]);
}
