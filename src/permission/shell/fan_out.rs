//! Follows programs that run a command once for each of many arguments: `xargs`, `parallel`, `find
//! -exec`, `fd -x`, and git's own.
//!
//! Which files exist is not known.

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::environment::ShellEnvironment;
use super::interpreter::{CommandCall, ProgramLookup, ShellInterpreter, StandardInput};
use super::{CommandWrapper, UNKNOWN_PLACEHOLDER, WrapperKind, command_output};

/// Options of xargs that take a value, in their word or in the next.
const XARGS_VALUE_LETTERS: &str = "IdEnLPsa";
const XARGS_VALUE_OPTIONS: [&str; 9] = [
    "--delimiter",
    "--max-args",
    "--max-procs",
    "--max-lines",
    "--max-chars",
    "--arg-file",
    "--replace",
    "--eof",
    "--process-slot-var",
];
const PARALLEL_VALUE_LETTERS: &str = "jINnLPSa";
const PARALLEL_VALUE_OPTIONS: [&str; 12] = [
    "--jobs",
    "--max-args",
    "--arg-file",
    "--colsep",
    "--delay",
    "--timeout",
    "--joblog",
    "--retries",
    "--sshlogin",
    "--results",
    "--workdir",
    "--tagstring",
];

/// Options of find that take a command.
const FIND_EXEC_OPTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

impl ShellInterpreter {
    pub fn run_xargs(&mut self, call: &CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        let mut at = 1;
        let mut placeholder: Option<String> = None;
        let mut reads_file = false;
        let mut separator: Option<char> = None;
        while let Some(word) = call.words.get(at) {
            let text = word.text();
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') || text.len() < 2 {
                break;
            }
            let next = call.word_text(at + 1);
            let (width, value) =
                parse_option_value(text, next, XARGS_VALUE_LETTERS, &XARGS_VALUE_OPTIONS);
            reads_file |= text.starts_with("-a") || text.starts_with("--arg-file");
            if matches!(text, "-0" | "-0r" | "-r0" | "--null") {
                separator = Some('\0');
            } else if text.starts_with("-d") || text.starts_with("--delimiter") {
                separator = value.and_then(parse_delimiter);
            }
            if text.starts_with("-I") || text.starts_with("--replace") {
                placeholder = Some(value.unwrap_or("{}").to_owned());
            } else if let Some(named) = text.strip_prefix("-i") {
                placeholder = Some(if named.is_empty() { "{}" } else { named }.to_owned());
            }
            at += width;
        }
        let command = call.words.get(at..).unwrap_or_default();
        let command = if command.is_empty() {
            vec![ShellField::known("echo")]
        } else {
            command.to_vec()
        };
        let input = match &call.stdin {
            StandardInput::Values(texts) if !reads_file => texts.clone(),
            _ => PossibleValues::unknown(),
        };
        let wrapper = for_each_wrapper("xargs", call.words.get(..at).unwrap_or_default());
        self.wrappers.push(wrapper);
        let mut out: Option<PossibleValues> = None;
        for value in input.iter() {
            let split = separator.filter(|_| placeholder.is_none());
            let ways = match split {
                Some(separator) => vec![split_by_delimiter(&command, value, separator)],
                None => self.build_xargs_commands(&command, value, placeholder.as_deref(), call),
            };
            for words in ways {
                let mut inner = call.with_words(words);
                inner.stdin = StandardInput::Nothing;
                inner.lookup = ProgramLookup::ProgramsOnly;
                let written = self.run_call(inner, env);
                out = Some(match out {
                    Some(out) => out.merge_with(written),
                    None => written,
                });
            }
        }
        out.unwrap_or_else(PossibleValues::empty_string)
    }

    /// Builds the commands that xargs makes from its arguments.
    fn build_xargs_commands(
        &mut self,
        command: &[ShellField],
        input: &AbstractValue,
        placeholder: Option<&str>,
        call: &CommandCall,
    ) -> Vec<Vec<ShellField>> {
        self.budget
            .spend_steps(1 + input.text.len() / 8, &call.span);
        let Some(placeholder) = placeholder else {
            let arguments = split_xargs_input(input);
            return vec![command.iter().cloned().chain(arguments).collect()];
        };
        let lines: Vec<&str> = input.text.lines().filter(|line| !line.is_empty()).collect();
        let is_known = input.is_fully_known() && lines.len() <= self.budget.limits.max_expansions;
        let values: Vec<AbstractValue> = if is_known {
            lines
                .iter()
                .map(|line| input.with_text(line.trim_start().to_owned()))
                .collect()
        } else {
            vec![input.with_text(UNKNOWN_PLACEHOLDER.to_string())]
        };
        values
            .iter()
            .map(|value| {
                command
                    .iter()
                    .map(|word| replace_placeholder(word, placeholder, value))
                    .collect()
            })
            .collect()
    }

    /// Runs GNU parallel: `parallel command ::: arguments`, or with input lines as arguments.
    pub fn run_parallel(&mut self, call: &CommandCall, env: &ShellEnvironment) -> PossibleValues {
        let mut at = 1;
        while let Some(word) = call.words.get(at) {
            let text = word.text();
            if !text.starts_with('-') || text.len() < 2 {
                break;
            }
            let (width, _) = parse_option_value(
                text,
                call.word_text(at + 1),
                PARALLEL_VALUE_LETTERS,
                &PARALLEL_VALUE_OPTIONS,
            );
            at += width;
        }
        let rest = call.words.get(at..).unwrap_or_default();
        let separator = rest.iter().position(|word| word.text().starts_with(":::"));
        let (command, arguments) = rest.split_at(separator.unwrap_or(rest.len()));
        self.run_parallel_unsplit(command, call, env);
        let command = command_output::join_words(command);
        let values: Vec<AbstractValue> = match (separator, &call.stdin) {
            (Some(_), _) => arguments
                .iter()
                .filter(|word| !word.text().starts_with(":::"))
                .map(|word| word.value.clone())
                .collect(),
            (None, StandardInput::Values(texts)) => texts
                .iter()
                .flat_map(|value| {
                    value
                        .text
                        .lines()
                        .map(|line| value.with_text(line.to_owned()))
                })
                .collect(),
            (None, _) => vec![AbstractValue::unknown()],
        };
        let values = if values.len() > self.budget.limits.max_expansions {
            vec![AbstractValue::unknown()]
        } else {
            values
        };
        let wrapper = for_each_wrapper("parallel", call.words.get(..at).unwrap_or_default());
        let mut inner = call.clone();
        inner.stdin = StandardInput::Nothing;
        for value in &values {
            let text = if command.text.contains('{') {
                fill_placeholder(&command, "{}", value)
            } else {
                let mut text = command.clone();
                if !text.text.is_empty() {
                    text.append(&AbstractValue::known(" "));
                }
                text.append(value);
                text
            };
            self.interpret_nested_scripts_in_subshell(
                &PossibleValues::single(text),
                wrapper.clone(),
                &inner,
                env,
            );
        }
        if values.is_empty() {
            self.record_command(call);
        }
        PossibleValues::unknown()
    }

    /// Follows the words unsplit as well: options decide whether a shell splits parallel's words again.
    fn run_parallel_unsplit(
        &mut self,
        command: &[ShellField],
        call: &CommandCall,
        env: &ShellEnvironment,
    ) {
        if command.len() > 1 && command.iter().any(|word| word.text().contains(' ')) {
            self.wrappers.push(for_each_wrapper("parallel", &[]));
            let mut inner = call.with_words(command.to_vec());
            inner.lookup = ProgramLookup::ProgramsOnly;
            let mut apart = self.branch_environment(env);
            self.run_call(inner, &mut apart);
            self.wrappers.pop();
        }
    }

    /// Runs `find` and each of its commands.
    pub fn run_find(&mut self, call: &CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        let index = self.record_command(call);
        let start = call
            .arguments()
            .iter()
            .find(|word| !matches!(word.text(), "-L" | "-P" | "-H"))
            .filter(|word| !word.text().starts_with(['-', '(', '!']))
            .map_or(".", ShellField::text);
        let found = AbstractValue::known(format!(
            "{}/{UNKNOWN_PLACEHOLDER}",
            start.trim_end_matches('/')
        ));
        let mut at = 1;
        while at < call.words.len() {
            if !FIND_EXEC_OPTIONS.contains(&call.word_text(at)) {
                at += 1;
                continue;
            }
            let behind = call.words.get(at + 1..).unwrap_or_default();
            let end = behind.iter().enumerate().position(|(n, word)| {
                let before = n.checked_sub(1).and_then(|n| behind.get(n));
                word.text() == ";"
                    || word.text() == "+" && before.is_some_and(|word| word.text() == "{}")
            });
            let command = behind
                .get(..end.unwrap_or(behind.len()))
                .unwrap_or_default();
            self.run_search_action(call, replace_placeholders(command, &found), env);
            at += 2 + command.len();
        }
        PossibleValues::single(AbstractValue::from_command_output(index))
    }

    /// Runs `fd -x command` and `fd -X command`.
    pub fn run_fd(&mut self, call: &CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        let index = self.record_command(call);
        let options = ["-x", "-X", "--exec", "--exec-batch"];
        let at = call
            .words
            .iter()
            .position(|word| options.contains(&word.text()));
        if let Some(at) = at {
            let mut command = call.words.get(at + 1..).unwrap_or_default().to_vec();
            if !command.iter().any(|word| word.text().contains('{')) {
                command.push(ShellField::known("{}"));
            }
            let found = AbstractValue::known(format!("./{UNKNOWN_PLACEHOLDER}"));
            self.run_search_action(call, replace_placeholders(&command, &found), env);
        }
        PossibleValues::single(AbstractValue::from_command_output(index))
    }

    /// Runs the command that a search runs for each file it finds.
    fn run_search_action(
        &mut self,
        call: &CommandCall,
        words: Vec<ShellField>,
        env: &mut ShellEnvironment,
    ) {
        if words.is_empty() {
            return;
        }
        let own = call.words.get(..1).unwrap_or_default();
        let name = call.word_text(0).rsplit('/').next().unwrap_or_default();
        self.wrappers.push(for_each_wrapper(name, own));
        let mut inner = call.with_words(words);
        inner.lookup = ProgramLookup::ProgramsOnly;
        self.run_call(inner, env);
        self.wrappers.pop();
    }

    /// git runs commands by `bisect run`, `submodule foreach`, `rebase --exec` and `filter-branch`.
    pub fn run_git(&mut self, call: &CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        let out = self.run_plain_program("git", call, env);
        let verb = call.words.iter().position(|word| {
            matches!(
                word.text(),
                "bisect" | "submodule" | "rebase" | "filter-branch"
            )
        });
        let Some(verb) = verb else {
            return out;
        };
        let rest = call.words.get(verb + 1..).unwrap_or_default();
        let own = call.words.get(..=verb).unwrap_or_default();
        let first = rest
            .iter()
            .position(|word| matches!(word.text(), "run" | "foreach"));
        match (call.word_text(verb), first) {
            ("bisect", Some(at)) => {
                self.wrappers.push(for_each_wrapper("git", own));
                let words = rest.get(at + 1..).unwrap_or_default().to_vec();
                self.run_call(call.with_words(words), env);
                self.wrappers.pop();
            }
            ("submodule", Some(at)) => {
                let words = rest.get(at + 1..).unwrap_or_default();
                let n_options = words
                    .iter()
                    .take_while(|word| word.text().starts_with("--"))
                    .count();
                let text = command_output::join_words(words.get(n_options..).unwrap_or_default());
                self.interpret_git_script(text, own, call, env);
            }
            ("rebase" | "filter-branch", _) => {
                for (at, word) in rest.iter().enumerate() {
                    let text = word.text();
                    let next = rest.get(at + 1).map(|word| word.value.clone());
                    let attached = text
                        .strip_prefix("--exec=")
                        .map(|text| word.value.with_text(text.to_owned()));
                    let takes = matches!(text, "-x" | "--exec") || text.ends_with("-filter");
                    if let Some(text) = attached.or(next.filter(|_| takes)) {
                        self.interpret_git_script(text, own, call, env);
                    }
                }
            }
            _ => {}
        }
        out
    }

    fn interpret_git_script(
        &mut self,
        text: AbstractValue,
        own: &[ShellField],
        call: &CommandCall,
        env: &ShellEnvironment,
    ) {
        if !text.text.is_empty() {
            let wrapper = Self::shell_wrapper("git", own);
            self.interpret_nested_scripts_in_subshell(
                &PossibleValues::single(text),
                wrapper,
                call,
                env,
            );
        }
    }
}

fn for_each_wrapper(name: &str, words: &[ShellField]) -> CommandWrapper {
    CommandWrapper {
        name: name.to_owned(),
        kind: WrapperKind::ForEachArgument,
        words: words.iter().map(ShellField::to_word).collect(),
    }
}

/// Returns how many words an option takes, and its value.
fn parse_option_value<'a>(
    text: &'a str,
    next: &'a str,
    short: &str,
    long: &[&str],
) -> (usize, Option<&'a str>) {
    if text.starts_with("--") {
        return match text.split_once('=') {
            Some((_, value)) => (1, Some(value)),
            None if long.contains(&text) && text != "--replace" && text != "--eof" => {
                (2, Some(next))
            }
            None => (1, None),
        };
    }
    let letters = text.get(1..).unwrap_or_default();
    match letters
        .char_indices()
        .find(|(_, letter)| short.contains(*letter))
    {
        Some((at, letter)) => {
            let value = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            if value.is_empty() {
                (2, Some(next))
            } else {
                (1, Some(value))
            }
        }
        None => (1, None),
    }
}

/// Returns the character that `xargs -d` names.
fn parse_delimiter(text: &str) -> Option<char> {
    match text {
        "\\n" => Some('\n'),
        "\\0" => Some('\0'),
        "\\t" => Some('\t'),
        text => text.chars().next(),
    }
}

/// Adds the parts of an input to a command; only the given character separates them.
fn split_by_delimiter(
    command: &[ShellField],
    input: &AbstractValue,
    separator: char,
) -> Vec<ShellField> {
    let parts = input.text.split(separator).filter(|part| !part.is_empty());
    let arguments = parts.map(|part| ShellField {
        may_split: part.contains(UNKNOWN_PLACEHOLDER),
        value: input.with_text(part.to_owned()),
        ..ShellField::default()
    });
    command.iter().cloned().chain(arguments).collect()
}

/// Splits input into arguments as xargs does: quotes keep words together.
fn split_xargs_input(input: &AbstractValue) -> Vec<ShellField> {
    let mut fields = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = input.text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() || c == '\0' => fields.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    fields.extend(word);
    fields
        .into_iter()
        .map(|text| ShellField {
            may_split: text.contains(UNKNOWN_PLACEHOLDER),
            value: input.with_text(text),
            ..ShellField::default()
        })
        .collect()
}

fn replace_placeholder(word: &ShellField, placeholder: &str, value: &AbstractValue) -> ShellField {
    if placeholder.is_empty() || !word.text().contains(placeholder) {
        return word.clone();
    }
    ShellField {
        value: fill_placeholder(&word.value, placeholder, value),
        ..word.clone()
    }
}

fn replace_placeholders(command: &[ShellField], value: &AbstractValue) -> Vec<ShellField> {
    let words = command.iter();
    words
        .map(|word| replace_placeholder(word, "{}", value))
        .collect()
}

fn fill_placeholder(
    text: &AbstractValue,
    placeholder: &str,
    value: &AbstractValue,
) -> AbstractValue {
    let mut filled = text.with_text(text.text.replace(placeholder, &value.text));
    filled.add_sources(&value.sources);
    filled
}
