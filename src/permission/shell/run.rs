//! One simple command: what it really runs, once wrappers, functions and aliases are taken off.
//!
//! It refuses to know what programs do beyond running others.

use super::env::{Env, Function};
use super::reader::{Call, Feed, Names, Reader};
use super::value::{Field, Texts, Value};
use super::wrappers::{self, Found, Rest, Spec};
use super::{Doubt, UNKNOWN, Wrapper, WrapperKind, output};
use crate::permission::wildcard;

/// Programs that a pattern in the program's place is tried on.
const TRIED: [&str; 40] = [
    "rm", "rmdir", "dd", "mkfs", "shred", "unlink", "chmod", "chown", "mv", "cp", "ln", "kill",
    "killall", "pkill", "sudo", "su", "doas", "sh", "bash", "dash", "zsh", "git", "curl", "wget",
    "python", "python3", "perl", "ruby", "node", "env", "xargs", "find", "reboot", "shutdown",
    "crontab", "iptables", "truncate", "wipefs", "fdisk", "tee",
];

/// Programs that run the recipes of a file.
const MAKERS: [&str; 3] = ["make", "gmake", "bmake"];

/// Programs that run a script in a language of their own.
const INTERPRETERS: [&str; 9] = [
    "python", "pypy", "perl", "ruby", "node", "deno", "php", "lua", "Rscript",
];

impl Reader {
    /// Runs a call; answers what it writes to standard output.
    pub fn run(&mut self, call: Call, env: &mut Env) -> Texts {
        if !self.work.enter(&call.span) {
            return Texts::unknown();
        }
        let n_via = self.via.len();
        let out = if self.work.take(1 + call.words.len(), &call.span) {
            self.run_program(call, env)
        } else {
            Texts::unknown()
        };
        self.via.truncate(n_via);
        self.work.leave();
        out
    }

    fn run_program(&mut self, mut call: Call, env: &mut Env) -> Texts {
        let Some(program) = call.words.first_mut() else {
            self.emit(&call);
            return Texts::nothing();
        };
        let text = program.text().to_owned();
        let name = text.rsplit('/').next().unwrap_or_default().to_owned();
        let splits_name = program.may_split && !text.contains('/');
        if splits_name || name.contains(UNKNOWN) {
            return self.run_unknown(&name, call, env);
        }
        if program.glob {
            return self.run_pattern(&name, call, env);
        }
        if !program.is_sure() {
            // Only its folder is not known.
            *program = Field::known(name.clone());
        }
        if text.contains('/') {
            return match self.run_written(&call, env) {
                Some(out) => out,
                None => self.run_known(&name, call, env),
            };
        }
        if call.names == Names::All {
            self.run_alias(&name, &call, env);
            let functions = env.functions(&name);
            if !functions.is_empty() {
                return self.run_function(&name, &functions, call, env);
            }
        }
        self.run_known(&name, call, env)
    }

    /// Runs a function, and the program of its name where there may be no function.
    fn run_function(
        &mut self,
        name: &str,
        functions: &[Function],
        call: Call,
        env: &mut Env,
    ) -> Texts {
        for (name, field) in &call.assigned {
            env.set_text(name, field.value.clone());
        }
        let out = self.call_function(functions, &call, env);
        if functions.contains(&Function::Program) {
            return out.or(self.run_known(name, call, env));
        }
        out
    }

    /// A program whose name is not known; where a part of it is, it may be one that is tried.
    fn run_unknown(&mut self, name: &str, call: Call, env: &mut Env) -> Texts {
        let span = call.span.clone();
        self.work.doubt(Doubt::DynamicProgram { span });
        let out = Texts::one(Value::output_of(self.emit(&call)));
        let known = name.replace(UNKNOWN, "");
        if TRIED.contains(&known.as_str()) {
            let mut words = call.words.clone();
            if let Some(first) = words.first_mut() {
                *first = Field::known(known);
            }
            return out.or(self.run(call.with_words(words), env));
        }
        out
    }

    /// Runs a program by its name.
    fn run_known(&mut self, name: &str, call: Call, env: &mut Env) -> Texts {
        match name {
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "ksh93" | "mksh" | "ash" | "rbash"
            | "fish" | "yash" | "csh" | "tcsh" | "posh" => self.run_shell(name, &call, env),
            "eval" => self.run_eval(&call, env),
            "source" | "." => self.run_source(&call, env),
            "trap" => self.run_trap(&call, env),
            "xargs" | "gxargs" => self.run_xargs(&call, env),
            "parallel" => self.run_parallel(&call, env),
            "find" | "gfind" => self.run_find(&call, env),
            "fd" | "fdfind" => self.run_fd(&call, env),
            "at" | "batch" | "crontab" => self.run_scheduled(name, &call, env),
            "git" => self.run_git(&call, env),
            "command" | "exec" if is_lookup(&call) => self.run_plain(name, &call, env),
            _ => match wrappers::find(name) {
                Some(spec) => match wrappers::command_of(spec, &call.words) {
                    Some(found) if found.is_doubtful => {
                        let out = self.run_plain(name, &call, env);
                        out.or(self.run_wrapped(name, found, call, env))
                    }
                    Some(found) => self.run_wrapped(name, found, call, env),
                    None => self.run_plain(name, &call, env),
                },
                None => self.run_plain(name, &call, env),
            },
        }
    }

    /// A program that runs no other.
    pub fn run_plain(&mut self, name: &str, call: &Call, env: &mut Env) -> Texts {
        self.change(name, call, env);
        let index = match self.script_of(name, call) {
            Some(texts) => {
                let mut call = call.clone();
                call.feed = Feed::Texts(texts);
                self.emit(&call)
            }
            None => self.emit(call),
        };
        let written = output::of(name, call.arguments(), &call.feed, |path| {
            self.file(path).cloned()
        });
        let out = written.unwrap_or_else(|| Texts::one(Value::output_of(index)));
        self.note_written(name, call, &out, index);
        out
    }

    /// The script that an interpreter runs, when this text has written it.
    fn script_of(&self, name: &str, call: &Call) -> Option<Texts> {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if MAKERS.contains(&base) {
            return self.recipes_of(call);
        }
        if !INTERPRETERS.contains(&base) {
            return None;
        }
        let mut operands = call
            .arguments()
            .iter()
            .filter(|word| !word.text().starts_with('-'));
        operands.find_map(|word| self.file(word)).cloned()
    }

    /// The file of recipes that `make` is named, or finds by its name.
    fn recipes_of(&self, call: &Call) -> Option<Texts> {
        let mut words = call.arguments().iter();
        let is_file = |word: &&Field| matches!(word.text(), "-f" | "--file" | "--makefile");
        let named = words.find(is_file).and_then(|_| words.next());
        match named {
            Some(path) => self.file(path),
            None => ["Makefile", "makefile", "GNUmakefile"]
                .iter()
                .find_map(|name| self.file(&Field::known(*name))),
        }
        .cloned()
    }

    fn run_wrapped(&mut self, name: &str, found: Found, call: Call, env: &mut Env) -> Texts {
        let mut rest = call.words.get(found.at..).unwrap_or_default().to_vec();
        // `npm exec rm -- -rf x`: the dashes are for npm.
        let is_npm = matches!(name, "npm" | "npx" | "pnpm" | "yarn" | "bun");
        if is_npm && rest.get(1).is_some_and(|word| word.text() == "--") {
            rest.remove(1);
        }
        let own = call.words.get(..found.at).unwrap_or(&call.words);
        let wrapper = Wrapper {
            name: name.to_owned(),
            kind: found.spec.kind,
            words: own.iter().map(Field::word).collect(),
        };
        if name == "env" && own.iter().any(|word| is_split_option(word.text())) {
            return self.run_split(wrapper, &call, env);
        }
        let is_bare = rest.is_empty() && found.texts.is_empty();
        if is_bare || found.spec.kind == WrapperKind::Remote {
            let index = self.emit(&call);
            if is_bare {
                if found.spec.rest == Rest::Joined {
                    self.read_remote_input(wrapper, &call, env);
                }
                return Texts::one(Value::output_of(index));
            }
        }
        let mut inner = call.clone();
        inner.assigned.extend(found.assigned);
        let mut out = Texts::nothing();
        for text in found.texts {
            out = self.read_texts_apart(&Texts::one(text), wrapper.clone(), &inner, env);
        }
        if rest.is_empty() {
            return out;
        }
        inner.words = rest;
        self.run_rest(found.spec, wrapper, inner, env)
    }

    /// Runs the words of a call as the wrapper before them takes them.
    fn run_rest(&mut self, spec: &Spec, wrapper: Wrapper, mut inner: Call, env: &mut Env) -> Texts {
        let rest = std::mem::take(&mut inner.words);
        let mut out = Texts::nothing();
        match spec.rest {
            Rest::Words => {
                // A program's name with blanks in it is a text that the wrapper gives to a shell.
                if rest.first().is_some_and(|first| first.text().contains(' ')) {
                    let text = Texts::one(output::joined(&rest));
                    let bare = inner.with_words(Vec::new());
                    self.read_texts_apart(&text, wrapper.clone(), &bare, env);
                }
                self.via.push(wrapper);
                inner.names = Names::Programs;
                out = self.run(inner.with_words(rest), env);
            }
            Rest::Joined => {
                let text = Texts::one(output::joined(&rest));
                out = self.read_texts_apart(&text, wrapper.clone(), &inner, env);
                let behind = rest.get(1..).unwrap_or_default();
                // Whether the words are joined or kept may hang on an option.
                if spec.kind == WrapperKind::Known
                    && behind.iter().any(|word| word.text().contains(' '))
                {
                    self.via.push(wrapper);
                    inner.names = Names::Programs;
                    self.run(inner.with_words(rest), env);
                }
            }
            Rest::Texts => {
                for word in &rest {
                    let text = Texts::one(word.value.clone());
                    out = self.read_texts_apart(&text, wrapper.clone(), &inner, env);
                }
            }
            // `nix run x -- command`.
            Rest::Nothing => {
                self.via.push(wrapper);
                inner.names = Names::Programs;
                out = self.run(inner.with_words(rest), env);
            }
        }
        out
    }

    /// `ssh host <<EOF`: the shell over there reads the text.
    fn read_remote_input(&mut self, wrapper: Wrapper, call: &Call, env: &Env) {
        if let (WrapperKind::Remote, Feed::Texts(texts)) = (wrapper.kind, &call.feed)
            && !texts.is_unknown()
        {
            self.read_texts_apart(texts, wrapper, call, env);
        }
    }

    /// `env -S 'text'`: the text is split into words, of which the first is an option, a variable or the program.
    fn run_split(&mut self, wrapper: Wrapper, call: &Call, env: &mut Env) -> Texts {
        let mut text = Value::default();
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
                    text.push(&word.value.with_text(format!("env {attached} ")));
                }
                _ if word.text() == "--split-string" && !is_taken => {
                    is_taken = true;
                    text.push(&Value::known("env "));
                }
                _ => {
                    text.push(&word.value);
                    text.push(&Value::known(" "));
                }
            }
        }
        self.read_texts_apart(&Texts::one(text), wrapper, call, env)
    }

    /// `/bin/r[m]`: every program that it may be.
    fn run_pattern(&mut self, name: &str, call: Call, env: &mut Env) -> Texts {
        let mut names: Vec<String> = TRIED
            .iter()
            .filter(|tried| wildcard::matches(name, tried))
            .map(|tried| (*tried).to_owned())
            .collect();
        // `[[` and `[` are programs, and a class of one letter hides nothing.
        let plain: String = name.replace(['[', ']'], "");
        if names.is_empty() && wildcard::matches(name, &plain) && !plain.contains(['*', '?']) {
            names.push(plain);
        }
        if name == "[" {
            return self.run_plain(name, &call, env);
        }
        let is_sure = names.len() == 1 && !name.contains(['*', '?']);
        if !is_sure {
            let span = call.span.clone();
            self.work.doubt(Doubt::DynamicProgram { span });
            self.emit(&call);
        }
        let mut out = Texts::unknown();
        for name in names {
            let mut words = call.words.clone();
            if let Some(first) = words.first_mut() {
                *first = Field::known(name);
            }
            out = self.run(call.with_words(words), env);
        }
        out
    }

    /// Runs what an alias stands for; whether the shell expands aliases is not known.
    fn run_alias(&mut self, name: &str, call: &Call, env: &mut Env) {
        let aliases = env.aliases(name);
        if aliases.is_empty() || self.calls.iter().any(|(calling, _)| calling == name) {
            return;
        }
        let wrapper = Self::shell_wrapper("alias", call.words.get(..1).unwrap_or_default());
        let mut text = Texts::any(aliases);
        for word in call.arguments() {
            let quoted = format!(" '{}'", word.text().replace('\'', "'\\''"));
            text = text.then(&Texts::one(word.value.with_text(quoted)));
        }
        self.calls.push((name.to_owned(), self.n_forks));
        self.read_texts(&text, wrapper, call, env);
        self.calls.pop();
    }
}

/// `command -v x` and its like only look.
fn is_lookup(call: &Call) -> bool {
    let option = call.text(1);
    call.text(0).ends_with("command")
        && option.starts_with('-')
        && !option.starts_with("--")
        && option.contains(['v', 'V'])
}

fn is_split_option(text: &str) -> bool {
    let short = text.starts_with('-') && !text.starts_with("--") && text.contains('S');
    short || text.starts_with("--split-string")
}
