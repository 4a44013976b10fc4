//! Resolves one simple command to what it really runs, without its wrappers, functions and aliases.
//!
//! What programs do is not known here, except that some run other programs.

use super::abstract_value::{AbstractValue, PossibleValues, ShellField};
use super::command_wrappers::{self, WrapperMatch};
use super::environment::{FunctionMeaning, ShellEnvironment};
use super::interpreter::{CommandCall, ProgramLookup, ShellInterpreter, StandardInput};
use super::{AnalysisDoubt, CommandWrapper, UNKNOWN_PLACEHOLDER, WrapperKind, command_output};
use crate::permission::program_table::{
    CommandForm, ProgramTrait, WrapperSpec, has_trait, program_facts, programs_with_trait,
};
use crate::permission::wildcard;

impl ShellInterpreter {
    /// Runs a call; returns what it writes to standard output.
    pub fn run_call(&mut self, call: CommandCall, env: &mut ShellEnvironment) -> PossibleValues {
        if !self.budget.enter_level(&call.span) {
            return PossibleValues::unknown();
        }
        let n_via = self.wrappers.len();
        let out = if self.budget.spend_steps(1 + call.words.len(), &call.span) {
            self.resolve_program(call, env)
        } else {
            PossibleValues::unknown()
        };
        self.wrappers.truncate(n_via);
        self.budget.leave_level();
        out
    }

    fn resolve_program(
        &mut self,
        mut call: CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let Some(program) = call.words.first_mut() else {
            self.record_command(&call);
            return PossibleValues::empty_string();
        };
        let text = program.text().to_owned();
        let name = text.rsplit('/').next().unwrap_or_default().to_owned();
        let splits_name = program.may_split && !text.contains('/');
        if splits_name || name.contains(UNKNOWN_PLACEHOLDER) {
            return self.run_unknown_program(&name, call, env);
        }
        if program.is_glob {
            return self.run_program_glob(&name, call, env);
        }
        if !program.is_fully_known() {
            // Only its folder is unknown.
            *program = ShellField::known(name.clone());
        }
        if text.contains('/') {
            return match self.run_script_by_path(&call, env) {
                Some(out) => out,
                None => self.run_program_by_name(&name, call, env),
            };
        }
        if call.lookup == ProgramLookup::FunctionsAndPrograms {
            self.run_alias(&name, &call, env);
            let functions = env.functions(&name);
            if !functions.is_empty() {
                return self.run_function(&name, &functions, call, env);
            }
        }
        self.run_program_by_name(&name, call, env)
    }

    /// Runs a function, and also the program of the same name if the function may not exist.
    fn run_function(
        &mut self,
        name: &str,
        functions: &[FunctionMeaning],
        call: CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        for (name, field) in &call.assignments {
            env.set_single_value(name, field.value.clone());
        }
        let out = self.call_function(functions, &call, env);
        if functions.contains(&FunctionMeaning::Program) {
            return out.merge_with(self.run_program_by_name(name, call, env));
        }
        out
    }

    /// Runs a program with an unknown name; if a part of the name is known, it may be one of the candidates.
    fn run_unknown_program(
        &mut self,
        name: &str,
        call: CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let span = call.span.clone();
        self.budget
            .record_doubt(AnalysisDoubt::DynamicProgram { span });
        let out = PossibleValues::single(AbstractValue::from_command_output(
            self.record_command(&call),
        ));
        let known = name.replace(UNKNOWN_PLACEHOLDER, "");
        if has_trait(&known, ProgramTrait::GlobCandidate) {
            let mut words = call.words.clone();
            if let Some(first) = words.first_mut() {
                *first = ShellField::known(known);
            }
            return out.merge_with(self.run_call(call.with_words(words), env));
        }
        out
    }

    fn run_program_by_name(
        &mut self,
        name: &str,
        call: CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        match name {
            _ if has_trait(name, ProgramTrait::FollowedShell) => self.run_shell(name, &call, env),
            "eval" => self.run_eval(&call, env),
            "source" | "." => self.run_source(&call, env),
            "trap" => self.run_trap(&call, env),
            "xargs" | "gxargs" => self.run_xargs(&call, env),
            "parallel" => self.run_parallel(&call, env),
            "find" | "gfind" => self.run_find(&call, env),
            "fd" | "fdfind" => self.run_fd(&call, env),
            "at" | "batch" | "crontab" => self.run_scheduler(name, &call, env),
            "git" => self.run_git(&call, env),
            "command" | "exec" if is_command_lookup(&call) => {
                self.run_plain_program(name, &call, env)
            }
            _ => match program_facts(name).wrapper() {
                Some(spec) => match command_wrappers::match_wrapper(spec, &call.words) {
                    Some(found) if found.is_doubtful => {
                        let out = self.run_plain_program(name, &call, env);
                        out.merge_with(self.run_wrapped_command(name, found, call, env))
                    }
                    Some(found) => self.run_wrapped_command(name, found, call, env),
                    None => self.run_plain_program(name, &call, env),
                },
                None => self.run_plain_program(name, &call, env),
            },
        }
    }

    /// Runs a program that runs no other program.
    pub fn run_plain_program(
        &mut self,
        name: &str,
        call: &CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        self.apply_builtin(name, call, env);
        let index = match self.interpreter_script(name, call) {
            Some(texts) => {
                let mut call = call.clone();
                call.stdin = StandardInput::Values(texts);
                self.record_command(&call)
            }
            None => self.record_command(call),
        };
        let written = command_output::predict_output(name, call.arguments(), &call.stdin, |path| {
            self.file_contents(path).cloned()
        });
        let out = written
            .unwrap_or_else(|| PossibleValues::single(AbstractValue::from_command_output(index)));
        self.record_written_files(name, call, &out, index);
        out
    }

    /// Returns the script that an interpreter runs, if this text wrote it.
    fn interpreter_script(&self, name: &str, call: &CommandCall) -> Option<PossibleValues> {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if has_trait(base, ProgramTrait::Make) {
            return self.makefile_contents(call);
        }
        if !has_trait(base, ProgramTrait::ScriptInterpreter) {
            return None;
        }
        let mut operands = call
            .arguments()
            .iter()
            .filter(|word| !word.text().starts_with('-'));
        operands.find_map(|word| self.file_contents(word)).cloned()
    }

    /// Returns the makefile that `make` is given or finds by its default name.
    fn makefile_contents(&self, call: &CommandCall) -> Option<PossibleValues> {
        let mut words = call.arguments().iter();
        let is_file = |word: &&ShellField| matches!(word.text(), "-f" | "--file" | "--makefile");
        let named = words.find(is_file).and_then(|_| words.next());
        match named {
            Some(path) => self.file_contents(path),
            None => ["Makefile", "makefile", "GNUmakefile"]
                .iter()
                .find_map(|name| self.file_contents(&ShellField::known(*name))),
        }
        .cloned()
    }

    fn run_wrapped_command(
        &mut self,
        name: &str,
        found: WrapperMatch,
        call: CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let mut rest = call
            .words
            .get(found.command_index..)
            .unwrap_or_default()
            .to_vec();
        // `npm exec rm -- -rf x`: the dashes are for npm.
        if has_trait(name, ProgramTrait::OwnDashes)
            && rest.get(1).is_some_and(|word| word.text() == "--")
        {
            rest.remove(1);
        }
        let own = call.words.get(..found.command_index).unwrap_or(&call.words);
        let wrapper = CommandWrapper {
            name: name.to_owned(),
            kind: found.spec.kind,
            words: own.iter().map(ShellField::to_word).collect(),
        };
        if name == "env" && own.iter().any(|word| is_split_string_option(word.text())) {
            return self.run_env_split_string(wrapper, &call, env);
        }
        let is_bare = rest.is_empty() && found.scripts.is_empty();
        if is_bare || found.spec.kind == WrapperKind::Remote {
            let index = self.record_command(&call);
            if is_bare {
                if found.spec.command_form == CommandForm::JoinedScript {
                    self.interpret_remote_stdin(wrapper, &call, env);
                }
                return PossibleValues::single(AbstractValue::from_command_output(index));
            }
        }
        let mut inner = call.clone();
        inner.assignments.extend(found.assignments);
        let mut out = PossibleValues::empty_string();
        for text in found.scripts {
            out = self.interpret_nested_scripts_in_subshell(
                &PossibleValues::single(text),
                wrapper.clone(),
                &inner,
                env,
            );
        }
        if rest.is_empty() {
            return out;
        }
        inner.words = rest;
        self.run_wrapper_operands(found.spec, wrapper, inner, env)
    }

    /// Runs the words of a call the way its wrapper reads them.
    fn run_wrapper_operands(
        &mut self,
        spec: &WrapperSpec,
        wrapper: CommandWrapper,
        mut inner: CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let rest = std::mem::take(&mut inner.words);
        let mut out = PossibleValues::empty_string();
        match spec.command_form {
            CommandForm::Words => {
                // A program name with spaces is a text that the wrapper passes to a shell.
                if rest.first().is_some_and(|first| first.text().contains(' ')) {
                    let text = PossibleValues::single(command_output::join_words(&rest));
                    let bare = inner.with_words(Vec::new());
                    self.interpret_nested_scripts_in_subshell(&text, wrapper.clone(), &bare, env);
                }
                self.wrappers.push(wrapper);
                inner.lookup = ProgramLookup::ProgramsOnly;
                out = self.run_call(inner.with_words(rest), env);
            }
            CommandForm::JoinedScript => {
                let text = PossibleValues::single(command_output::join_words(&rest));
                out =
                    self.interpret_nested_scripts_in_subshell(&text, wrapper.clone(), &inner, env);
                let behind = rest.get(1..).unwrap_or_default();
                // An option may decide whether the words are joined.
                if spec.kind == WrapperKind::Known
                    && behind.iter().any(|word| word.text().contains(' '))
                {
                    self.wrappers.push(wrapper);
                    inner.lookup = ProgramLookup::ProgramsOnly;
                    self.run_call(inner.with_words(rest), env);
                }
            }
            CommandForm::ScriptPerWord => {
                for word in &rest {
                    let text = PossibleValues::single(word.value.clone());
                    out = self.interpret_nested_scripts_in_subshell(
                        &text,
                        wrapper.clone(),
                        &inner,
                        env,
                    );
                }
            }
            // `nix run x -- command`.
            CommandForm::OptionOnly => {
                self.wrappers.push(wrapper);
                inner.lookup = ProgramLookup::ProgramsOnly;
                out = self.run_call(inner.with_words(rest), env);
            }
        }
        out
    }

    /// `ssh host <<EOF`: the remote shell reads the text.
    fn interpret_remote_stdin(
        &mut self,
        wrapper: CommandWrapper,
        call: &CommandCall,
        env: &ShellEnvironment,
    ) {
        if let (WrapperKind::Remote, StandardInput::Values(texts)) = (wrapper.kind, &call.stdin)
            && !texts.is_entirely_unknown()
        {
            self.interpret_nested_scripts_in_subshell(texts, wrapper, call, env);
        }
    }

    /// `env -S 'text'`: the text is split into words; the first is an option, a variable or the program.
    fn run_env_split_string(
        &mut self,
        wrapper: CommandWrapper,
        call: &CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let mut text = AbstractValue::default();
        let mut is_taken = false;
        for word in call.arguments() {
            let attached = word.text().strip_prefix("--split-string=").or_else(|| {
                word.text()
                    .split_once('S')
                    .filter(|(before, _)| before.starts_with('-'))
                    .map(|(_, after)| after)
            });
            match attached {
                Some(attached) if !is_taken => {
                    is_taken = true;
                    text.append(&word.value.with_text(format!("env {attached} ")));
                }
                _ if word.text() == "--split-string" && !is_taken => {
                    is_taken = true;
                    text.append(&AbstractValue::known("env "));
                }
                _ => {
                    text.append(&word.value);
                    text.append(&AbstractValue::known(" "));
                }
            }
        }
        self.interpret_nested_scripts_in_subshell(&PossibleValues::single(text), wrapper, call, env)
    }

    /// `/bin/r[m]`: runs every program that the pattern may match.
    fn run_program_glob(
        &mut self,
        name: &str,
        call: CommandCall,
        env: &mut ShellEnvironment,
    ) -> PossibleValues {
        let mut names: Vec<String> = programs_with_trait(ProgramTrait::GlobCandidate)
            .filter(|tried| wildcard::matches(name, tried))
            .map(str::to_owned)
            .collect();
        // `[[` and `[` are programs, and a class of one letter hides nothing.
        let plain: String = name.replace(['[', ']'], "");
        if names.is_empty() && wildcard::matches(name, &plain) && !plain.contains(['*', '?']) {
            names.push(plain);
        }
        if name == "[" {
            return self.run_plain_program(name, &call, env);
        }
        let is_sure = names.len() == 1 && !name.contains(['*', '?']);
        if !is_sure {
            let span = call.span.clone();
            self.budget
                .record_doubt(AnalysisDoubt::DynamicProgram { span });
            self.record_command(&call);
        }
        let mut out = PossibleValues::unknown();
        for name in names {
            let mut words = call.words.clone();
            if let Some(first) = words.first_mut() {
                *first = ShellField::known(name);
            }
            out = self.run_call(call.with_words(words), env);
        }
        out
    }

    /// Runs what an alias means; whether the shell expands aliases is unknown.
    fn run_alias(&mut self, name: &str, call: &CommandCall, env: &mut ShellEnvironment) {
        let aliases = env.aliases(name);
        // An alias may define another one with its own name.
        let meanings: Vec<&str> = aliases.iter().map(|value| value.text.as_str()).collect();
        let key = format!("alias {name}={}", meanings.join("\n"));
        if aliases.is_empty() || self.call_stack.iter().any(|(calling, _)| *calling == key) {
            return;
        }
        let wrapper = Self::shell_wrapper("alias", call.words.get(..1).unwrap_or_default());
        let mut text = PossibleValues::from_values(aliases);
        for word in call.arguments() {
            let quoted = format!(" '{}'", word.text().replace('\'', "'\\''"));
            text = text.concat(&PossibleValues::single(word.value.with_text(quoted)));
        }
        self.call_stack.push((key, self.n_forks));
        self.interpret_nested_scripts(&text, wrapper, call, env);
        self.call_stack.pop();
    }
}

/// `command -v x` and similar calls only look a program up.
fn is_command_lookup(call: &CommandCall) -> bool {
    let option = call.word_text(1);
    call.word_text(0).ends_with("command")
        && option.starts_with('-')
        && !option.starts_with("--")
        && option.contains(['v', 'V'])
}

fn is_split_string_option(text: &str) -> bool {
    let short = text.starts_with('-') && !text.starts_with("--") && text.contains('S');
    short || text.starts_with("--split-string")
}
