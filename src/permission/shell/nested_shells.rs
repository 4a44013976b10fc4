//! Follows everything that reads texts as shell commands: shells, `eval`, `source`, `trap`,
//! scheduled jobs, written scripts.
//!
//! Which texts are dangerous is not decided here.

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::environment::ShellEnvironment;
use super::interpreter::{
    CommandCall, ProgramLookup, ShellInterpreter, StandardInput, TrapHandler, child_environment,
};
use super::{CommandWrapper, UNKNOWN_PLACEHOLDER, command_output};

/// Variables whose value some program runs as a shell text.
const COMMAND_VARIABLES: [&str; 16] = [
    "PROMPT_COMMAND",
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_PAGER",
    "GIT_SEQUENCE_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "BROWSER",
    "PS0",
    "PS4",
];

const STDIN_PATHS: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// What a shell's arguments ask for.
enum ScriptSource {
    /// `-c text name arguments…`; the index is that of the text.
    CommandString(usize),
    /// A script; the index is that of its path.
    ScriptFile(usize),
    Stdin,
    /// An unknown word may be an option.
    Unknown,
}

/// The most traps that are followed again at the end.
const MAX_TRAPS: usize = 16;

impl ShellInterpreter {
    /// Runs a shell with its options.
    pub fn run_shell(
        &mut self,
        name: &str,
        call: &CommandCall,
        env: &ShellEnvironment,
    ) -> PossibleValues {
        self.interpret_startup_files(name, call, env);
        if let Some(apart) = split_attached_script(&call.words) {
            return self.run_shell(name, &call.with_words(apart), env);
        }
        match parse_script_source(&call.words) {
            ScriptSource::Unknown => self.record_unknown_script(call, Vec::new()),
            ScriptSource::CommandString(at) => {
                let Some(text) = call.words.get(at) else {
                    self.record_command(call);
                    return PossibleValues::empty_string();
                };
                let rest = call.words.get(at + 1..).unwrap_or_default();
                let mut child =
                    child_environment(env, call, rest.first(), rest.get(1..).unwrap_or_default());
                let own = call.words.get(..at).unwrap_or_default();
                let wrapper = Self::shell_wrapper(name, own);
                let text = PossibleValues::single(text.value.clone());
                self.interpret_nested_scripts(&text, wrapper, call, &mut child)
            }
            ScriptSource::ScriptFile(at) => self.run_script_file(name, call, at, env),
            ScriptSource::Stdin => self.run_stdin_script(name, call, env),
        }
    }

    /// Follows the start files that this text has written.
    fn interpret_startup_files(&mut self, name: &str, call: &CommandCall, env: &ShellEnvironment) {
        let named = call.words.windows(2).filter_map(|pair| match pair {
            [option, path] if matches!(option.text(), "--rcfile" | "--init-file") => Some(path),
            _ => None,
        });
        let assigned = call.assignments.iter();
        let assigned = assigned.filter(|(name, _)| matches!(name.as_str(), "BASH_ENV" | "ENV"));
        let paths: Vec<ShellField> = named
            .chain(assigned.map(|(_, path)| path))
            .cloned()
            .collect();
        for path in paths {
            if let Some(texts) = self.file_contents(&path).cloned() {
                let own = call.words.get(..1).unwrap_or_default();
                let wrapper = Self::shell_wrapper(name, own);
                self.interpret_nested_scripts_in_subshell(&texts, wrapper, call, env);
            }
        }
    }

    /// Runs a shell that reads its commands from standard input.
    fn run_stdin_script(
        &mut self,
        name: &str,
        call: &CommandCall,
        env: &ShellEnvironment,
    ) -> PossibleValues {
        match &call.stdin {
            StandardInput::Nothing => PossibleValues::single(AbstractValue::from_command_output(
                self.record_command(call),
            )),
            StandardInput::Unknown => self.record_unknown_script(call, Vec::new()),
            StandardInput::Values(texts) => {
                let mut child = child_environment(env, call, None, &[]);
                let wrapper = Self::shell_wrapper(name, &call.words);
                self.interpret_nested_scripts(texts, wrapper, call, &mut child)
            }
        }
    }

    fn run_script_file(
        &mut self,
        name: &str,
        call: &CommandCall,
        at: usize,
        env: &ShellEnvironment,
    ) -> PossibleValues {
        let Some(path) = call.words.get(at) else {
            return self.run_stdin_script(name, call, env);
        };
        if STDIN_PATHS.contains(&path.text()) {
            return self.run_stdin_script(name, call, env);
        }
        let arguments = call.words.get(at + 1..).unwrap_or_default();
        match self.file_contents(path).cloned() {
            Some(texts) => {
                let wrapper = Self::shell_wrapper(name, call.words.get(..=at).unwrap_or_default());
                let mut child = child_environment(env, call, Some(path), arguments);
                self.interpret_script_once(&texts, wrapper, call, &mut child)
            }
            None if !path.is_fully_known()
                && path.text().chars().all(|c| c == UNKNOWN_PLACEHOLDER) =>
            {
                self.record_unknown_script(call, path.value.sources.clone())
            }
            None => PossibleValues::single(AbstractValue::from_command_output(
                self.record_command(call),
            )),
        }
    }

    /// Follows a script that this text has written; a script that runs itself is followed once.
    fn interpret_script_once(
        &mut self,
        texts: &PossibleValues,
        wrapper: CommandWrapper,
        call: &CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let path = wrapper.words.last().map_or("", |word| word.text.as_str());
        if self.call_stack.iter().any(|(calling, _)| calling == path) {
            return PossibleValues::single(AbstractValue::from_command_output(
                self.record_command(call),
            ));
        }
        self.call_stack.push((path.to_owned(), self.n_forks));
        let out = self.interpret_nested_scripts(texts, wrapper, call, env);
        self.call_stack.pop();
        out
    }

    /// Runs `./script` if this text has written it, unless its first line names another interpreter.
    pub fn run_script_by_path(
        &mut self,
        call: &CommandCall,
        env: &ShellEnvironment,
    ) -> Option<PossibleValues> {
        let path = call.words.first()?.clone();
        let texts = self.file_contents(&path)?.clone();
        let is_shell = texts.iter().all(|value| {
            let first = value.text.lines().next().unwrap_or_default();
            !first.starts_with("#!") || first.contains("sh")
        });
        if !is_shell {
            return None;
        }
        let wrapper = Self::shell_wrapper("sh", call.words.get(..1).unwrap_or_default());
        let mut child = child_environment(env, call, Some(&path), call.arguments());
        Some(self.interpret_script_once(&texts, wrapper, call, &mut child))
    }

    pub fn run_eval(&mut self, call: &CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        let words = call.arguments();
        let words = words
            .get(usize::from(call.word_text(1) == "--")..)
            .unwrap_or_default();
        if words.is_empty() {
            self.record_command(call);
            return PossibleValues::empty_string();
        }
        let wrapper = Self::shell_wrapper("eval", call.words.get(..1).unwrap_or_default());
        let text = PossibleValues::single(command_output::join_words(words));
        self.interpret_nested_scripts(&text, wrapper, call, env)
    }

    pub fn run_source(&mut self, call: &CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        let words = call.arguments();
        let Some(path) = words.get(usize::from(call.word_text(1) == "--")) else {
            self.record_command(call);
            return PossibleValues::empty_string();
        };
        let texts = match self.stdin_from_file(path, &call.stdin) {
            StandardInput::Values(texts) => texts,
            StandardInput::Nothing => PossibleValues::empty_string(),
            StandardInput::Unknown => {
                let is_named = path
                    .text()
                    .rsplit('/')
                    .next()
                    .is_some_and(|name| !name.contains(UNKNOWN_PLACEHOLDER));
                if is_named && !STDIN_PATHS.contains(&path.text()) {
                    self.record_command(call);
                    return PossibleValues::unknown();
                }
                return self.record_unknown_script(call, path.value.sources.clone());
            }
        };
        let wrapper = Self::shell_wrapper("source", call.words.get(..2).unwrap_or_default());
        self.interpret_script_once(&texts, wrapper, call, env)
    }

    /// Runs `trap 'text' SIGNAL…`.
    pub fn run_trap(&mut self, call: &CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        let words: Vec<&ShellField> = call
            .arguments()
            .iter()
            .filter(|word| word.text() != "--")
            .collect();
        let text = match words.as_slice() {
            [first, _, ..] if !first.text().starts_with('-') && !first.text().is_empty() => first,
            _ => {
                self.record_command(call);
                return PossibleValues::empty_string();
            }
        };
        let wrapper = Self::shell_wrapper("trap", call.words.get(..1).unwrap_or_default());
        let text = PossibleValues::single(text.value.clone());
        self.interpret_nested_scripts_in_subshell(&text, wrapper.clone(), call, env);
        if self.traps.len() < MAX_TRAPS {
            self.traps.push(TrapHandler {
                scripts: text,
                wrapper,
                call: call.clone(),
                n_functions: env.n_functions(),
            });
        }
        PossibleValues::empty_string()
    }

    /// Runs `at`, `batch` and `crontab -`: their input runs later.
    pub fn run_scheduler(
        &mut self,
        name: &str,
        call: &CommandCall,
        env: &ShellEnvironment,
    ) -> PossibleValues {
        let index = self.record_command(call);
        let is_table = name == "crontab";
        if is_table
            && !call
                .arguments()
                .iter()
                .any(|word| STDIN_PATHS.contains(&word.text()))
            && call
                .arguments()
                .iter()
                .any(|word| word.text().starts_with('-'))
        {
            return PossibleValues::single(AbstractValue::from_command_output(index));
        }
        let file = call
            .arguments()
            .iter()
            .find_map(|word| self.file_contents(word));
        let texts = match (&call.stdin, file) {
            (_, Some(texts)) => texts.clone(),
            (StandardInput::Values(texts), None) => texts.clone(),
            (StandardInput::Unknown, None) => return self.record_unknown_script(call, Vec::new()),
            (StandardInput::Nothing, None) => return PossibleValues::empty_string(),
        };
        let texts = if is_table {
            texts.map_values(crontab_commands)
        } else {
            texts
        };
        let wrapper = Self::shell_wrapper(name, &call.words);
        self.interpret_nested_scripts_in_subshell(&texts, wrapper, call, env);
        PossibleValues::empty_string()
    }

    /// Follows a variable that some program will run as a text.
    pub fn interpret_command_variable(
        &mut self,
        name: &str,
        texts: &PossibleValues,
        env: &ShellEnvironment,
    ) {
        if !COMMAND_VARIABLES.contains(&name) {
            return;
        }
        let call = CommandCall {
            words: Vec::new(),
            assignments: Vec::new(),
            redirects: Vec::new(),
            stdin: StandardInput::Nothing,
            span: self.current_span(),
            lookup: ProgramLookup::FunctionsAndPrograms,
        };
        for value in texts.iter().filter(|value| !value.text.trim().is_empty()) {
            if PossibleValues::single(value.clone()).is_entirely_unknown() {
                continue;
            }
            let wrapper = Self::shell_wrapper(name, &[]);
            // A prompt is not a command, but its substitutions are.
            let value = match name {
                "PS4" => value.with_text(format!(": \"{}\"", value.text.replace('"', ""))),
                _ => value.clone(),
            };
            let text = PossibleValues::single(value);
            self.interpret_nested_scripts_in_subshell(&text, wrapper, &call, env);
        }
    }
}

/// Returns the commands of a crontab, without their times.
fn crontab_commands(table: &AbstractValue) -> AbstractValue {
    let lines = table.text.lines().map(|line| {
        let line = line.trim_start();
        let n_fields = if line.starts_with('@') { 1 } else { 5 };
        let mut rest = line;
        if line.starts_with('#') || super::command_wrappers::parse_assignment(line).is_some() {
            return line;
        }
        for _ in 0..n_fields {
            rest = rest.trim_start();
            let end = rest.find([' ', '\t']).unwrap_or(rest.len());
            rest = rest.get(end..).unwrap_or_default();
        }
        rest.trim_start()
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    table.with_text(text)
}

/// `-c'text'`, which no shell accepts but which is often written: returns the words with the text separated.
fn split_attached_script(words: &[ShellField]) -> Option<Vec<ShellField>> {
    let at = 1 + words
        .iter()
        .skip(1)
        .take_while(|word| word.text().starts_with('-') && !word.text().contains(' '))
        .count();
    let word = words.get(at)?;
    let (letters, text) = word.text().strip_prefix('-')?.split_once('c')?;
    let is_cluster = letters.len() < 5 && letters.chars().all(|c| c.is_ascii_alphabetic());
    if !is_cluster || !text.contains(' ') {
        return None;
    }
    let mut apart = words.get(..at)?.to_vec();
    apart.push(ShellField::known(format!("-{letters}c")));
    apart.push(ShellField {
        value: word.value.with_text(text.to_owned()),
        ..word.clone()
    });
    apart.extend_from_slice(words.get(at + 1..).unwrap_or_default());
    Some(apart)
}

fn parse_script_source(words: &[ShellField]) -> ScriptSource {
    let mut at = 1;
    let mut takes_text = false;
    let mut takes_input = false;
    while let Some(word) = words.get(at) {
        let text = word.text();
        if !takes_text && word.may_split && !word.is_fully_known() {
            return ScriptSource::Unknown;
        }
        if text == "--" || text == "-" {
            at += usize::from(text == "--" || takes_text);
            break;
        }
        if !text.starts_with(['-', '+']) || text.len() < 2 {
            break;
        }
        let takes_value = match text {
            "--rcfile" | "--init-file" => true,
            text if text.starts_with("--") => {
                takes_text |= text == "--command";
                false
            }
            text => {
                takes_text |= text.starts_with('-') && text.contains('c');
                takes_input |= text.starts_with('-') && text.contains('s');
                text.ends_with(['o', 'O'])
            }
        };
        at += 1 + usize::from(takes_value);
    }
    if takes_text {
        return ScriptSource::CommandString(at);
    }
    if takes_input || at >= words.len() {
        return ScriptSource::Stdin;
    }
    ScriptSource::ScriptFile(at)
}
