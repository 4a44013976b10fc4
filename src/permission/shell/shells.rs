//! What reads texts as shell commands: shells, `eval`, `source`, `trap`, scheduled jobs, written scripts.
//!
//! It refuses to know which texts are dangerous.

use super::env::Env;
use super::reader::{Call, Feed, Names, Reader, Trap, child_env};
use super::value::{Field, Texts, Value};
use super::{UNKNOWN, Wrapper, output};

/// Variables whose value some program runs as a shell text.
const TEXT_VARIABLES: [&str; 16] = [
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

/// Names of standard input.
const STDIN: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// What a shell's own words ask for.
enum Asked {
    /// `-c text name arguments…`, at the text.
    Text(usize),
    /// A script, at its path.
    Script(usize),
    Stdin,
    /// A word that is not known may be an option.
    Unknown,
}

/// Most traps that are looked at again at the end.
const MOST_TRAPS: usize = 16;

impl Reader {
    /// A shell with its options.
    pub fn run_shell(&mut self, name: &str, call: &Call, env: &Env) -> Texts {
        self.read_start_files(name, call, env);
        if let Some(apart) = glued(&call.words) {
            return self.run_shell(name, &call.with_words(apart), env);
        }
        match asked(&call.words) {
            Asked::Unknown => self.emit_dynamic(call, Vec::new()),
            Asked::Text(at) => {
                let Some(text) = call.words.get(at) else {
                    self.emit(call);
                    return Texts::nothing();
                };
                let rest = call.words.get(at + 1..).unwrap_or_default();
                let mut child =
                    child_env(env, call, rest.first(), rest.get(1..).unwrap_or_default());
                let own = call.words.get(..at).unwrap_or_default();
                let wrapper = Self::shell_wrapper(name, own);
                let text = Texts::one(text.value.clone());
                self.read_texts(&text, wrapper, call, &mut child)
            }
            Asked::Script(at) => self.run_script(name, call, at, env),
            Asked::Stdin => self.run_input(name, call, env),
        }
    }

    /// Start files that this text has written.
    fn read_start_files(&mut self, name: &str, call: &Call, env: &Env) {
        let named = call.words.windows(2).filter_map(|pair| match pair {
            [option, path] if matches!(option.text(), "--rcfile" | "--init-file") => Some(path),
            _ => None,
        });
        let assigned = call.assigned.iter();
        let assigned = assigned.filter(|(name, _)| matches!(name.as_str(), "BASH_ENV" | "ENV"));
        let paths: Vec<Field> = named
            .chain(assigned.map(|(_, path)| path))
            .cloned()
            .collect();
        for path in paths {
            if let Some(texts) = self.file(&path).cloned() {
                let own = call.words.get(..1).unwrap_or_default();
                let wrapper = Self::shell_wrapper(name, own);
                self.read_texts_apart(&texts, wrapper, call, env);
            }
        }
    }

    /// A shell that reads its commands from standard input.
    fn run_input(&mut self, name: &str, call: &Call, env: &Env) -> Texts {
        match &call.feed {
            Feed::Nothing => Texts::one(Value::output_of(self.emit(call))),
            Feed::Unknown => self.emit_dynamic(call, Vec::new()),
            Feed::Texts(texts) => {
                let mut child = child_env(env, call, None, &[]);
                let wrapper = Self::shell_wrapper(name, &call.words);
                self.read_texts(texts, wrapper, call, &mut child)
            }
        }
    }

    fn run_script(&mut self, name: &str, call: &Call, at: usize, env: &Env) -> Texts {
        let Some(path) = call.words.get(at) else {
            return self.run_input(name, call, env);
        };
        if STDIN.contains(&path.text()) {
            return self.run_input(name, call, env);
        }
        let arguments = call.words.get(at + 1..).unwrap_or_default();
        match self.file(path).cloned() {
            Some(texts) => {
                let wrapper = Self::shell_wrapper(name, call.words.get(..=at).unwrap_or_default());
                let mut child = child_env(env, call, Some(path), arguments);
                self.read_script(&texts, wrapper, call, &mut child)
            }
            None if !path.is_sure() && path.text().chars().all(|c| c == UNKNOWN) => {
                self.emit_dynamic(call, path.value.from.clone())
            }
            None => Texts::one(Value::output_of(self.emit(call))),
        }
    }

    /// Reads a script that this text has written; one that runs itself is read once.
    fn read_script(
        &mut self,
        texts: &Texts,
        wrapper: Wrapper,
        call: &Call,
        env: &mut Env,
    ) -> Texts {
        let path = wrapper.words.last().map_or("", |word| word.text.as_str());
        if self.calls.iter().any(|(calling, _)| calling == path) {
            return Texts::one(Value::output_of(self.emit(call)));
        }
        self.calls.push((path.to_owned(), self.n_forks));
        let out = self.read_texts(texts, wrapper, call, env);
        self.calls.pop();
        out
    }

    /// `./script` that this text has written, unless its first line names another interpreter.
    pub fn run_written(&mut self, call: &Call, env: &Env) -> Option<Texts> {
        let path = call.words.first()?.clone();
        let texts = self.file(&path)?.clone();
        let is_shell = texts.iter().all(|value| {
            let first = value.text.lines().next().unwrap_or_default();
            !first.starts_with("#!") || first.contains("sh")
        });
        if !is_shell {
            return None;
        }
        let wrapper = Self::shell_wrapper("sh", call.words.get(..1).unwrap_or_default());
        let mut child = child_env(env, call, Some(&path), call.arguments());
        Some(self.read_script(&texts, wrapper, call, &mut child))
    }

    pub fn run_eval(&mut self, call: &Call, env: &mut Env) -> Texts {
        let words = call.arguments();
        let words = words
            .get(usize::from(call.text(1) == "--")..)
            .unwrap_or_default();
        if words.is_empty() {
            self.emit(call);
            return Texts::nothing();
        }
        let wrapper = Self::shell_wrapper("eval", call.words.get(..1).unwrap_or_default());
        let text = Texts::one(output::joined(words));
        self.read_texts(&text, wrapper, call, env)
    }

    pub fn run_source(&mut self, call: &Call, env: &mut Env) -> Texts {
        let words = call.arguments();
        let Some(path) = words.get(usize::from(call.text(1) == "--")) else {
            self.emit(call);
            return Texts::nothing();
        };
        let texts = match self.file_feed(path, &call.feed) {
            Feed::Texts(texts) => texts,
            Feed::Nothing => Texts::nothing(),
            Feed::Unknown => {
                let is_named = path
                    .text()
                    .rsplit('/')
                    .next()
                    .is_some_and(|name| !name.contains(UNKNOWN));
                if is_named && !STDIN.contains(&path.text()) {
                    self.emit(call);
                    return Texts::unknown();
                }
                return self.emit_dynamic(call, path.value.from.clone());
            }
        };
        let wrapper = Self::shell_wrapper("source", call.words.get(..2).unwrap_or_default());
        self.read_script(&texts, wrapper, call, env)
    }

    /// `trap 'text' SIGNAL…`.
    pub fn run_trap(&mut self, call: &Call, env: &mut Env) -> Texts {
        let words: Vec<&Field> = call
            .arguments()
            .iter()
            .filter(|word| word.text() != "--")
            .collect();
        let text = match words.as_slice() {
            [first, _, ..] if !first.text().starts_with('-') && !first.text().is_empty() => first,
            _ => {
                self.emit(call);
                return Texts::nothing();
            }
        };
        let wrapper = Self::shell_wrapper("trap", call.words.get(..1).unwrap_or_default());
        let text = Texts::one(text.value.clone());
        self.read_texts_apart(&text, wrapper.clone(), call, env);
        if self.traps.len() < MOST_TRAPS {
            self.traps.push(Trap {
                texts: text,
                wrapper,
                call: call.clone(),
                n_functions: env.n_functions(),
            });
        }
        Texts::nothing()
    }

    /// `at`, `batch`, `crontab -`: their input is run later.
    pub fn run_scheduled(&mut self, name: &str, call: &Call, env: &Env) -> Texts {
        let index = self.emit(call);
        let is_table = name == "crontab";
        if is_table
            && !call
                .arguments()
                .iter()
                .any(|word| STDIN.contains(&word.text()))
            && call
                .arguments()
                .iter()
                .any(|word| word.text().starts_with('-'))
        {
            return Texts::one(Value::output_of(index));
        }
        let file = call.arguments().iter().find_map(|word| self.file(word));
        let texts = match (&call.feed, file) {
            (_, Some(texts)) => texts.clone(),
            (Feed::Texts(texts), None) => texts.clone(),
            (Feed::Unknown, None) => return self.emit_dynamic(call, Vec::new()),
            (Feed::Nothing, None) => return Texts::nothing(),
        };
        let texts = if is_table { texts.map(jobs) } else { texts };
        let wrapper = Self::shell_wrapper(name, &call.words);
        self.read_texts_apart(&texts, wrapper, call, env);
        Texts::nothing()
    }

    /// A variable that some program will run as a text.
    pub fn read_variable(&mut self, name: &str, texts: &Texts, env: &Env) {
        if !TEXT_VARIABLES.contains(&name) {
            return;
        }
        let call = Call {
            words: Vec::new(),
            assigned: Vec::new(),
            redirects: Vec::new(),
            feed: Feed::Nothing,
            span: self.here(),
            names: Names::All,
        };
        for value in texts.iter().filter(|value| !value.text.trim().is_empty()) {
            if Texts::one(value.clone()).is_unknown() {
                continue;
            }
            let wrapper = Self::shell_wrapper(name, &[]);
            // A prompt is no command, but what it substitutes is one.
            let value = match name {
                "PS4" => value.with_text(format!(": \"{}\"", value.text.replace('"', ""))),
                _ => value.clone(),
            };
            let text = Texts::one(value);
            self.read_texts_apart(&text, wrapper, &call, env);
        }
    }
}

/// The commands of a crontab, without their times.
fn jobs(table: &Value) -> Value {
    let lines = table.text.lines().map(|line| {
        let line = line.trim_start();
        let n_fields = if line.starts_with('@') { 1 } else { 5 };
        let mut rest = line;
        if line.starts_with('#') || super::wrappers::assignment(line).is_some() {
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

/// `-c'text'`, which no shell takes and many write: the words with the text apart.
fn glued(words: &[Field]) -> Option<Vec<Field>> {
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
    apart.push(Field::known(format!("-{letters}c")));
    apart.push(Field {
        value: word.value.with_text(text.to_owned()),
        ..word.clone()
    });
    apart.extend_from_slice(words.get(at + 1..).unwrap_or_default());
    Some(apart)
}

fn asked(words: &[Field]) -> Asked {
    let mut at = 1;
    let mut takes_text = false;
    let mut takes_input = false;
    while let Some(word) = words.get(at) {
        let text = word.text();
        if !takes_text && word.may_split && !word.is_sure() {
            return Asked::Unknown;
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
        return Asked::Text(at);
    }
    if takes_input || at >= words.len() {
        return Asked::Stdin;
    }
    Asked::Script(at)
}
