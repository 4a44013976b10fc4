//! What runs a command once for each of many arguments: `xargs`, `parallel`, `find -exec`, `fd -x`, git's own.
//!
//! It refuses to know the files that there are.

use super::env::Env;
use super::reader::{Call, Feed, Names, Reader};
use super::value::{Field, Texts, Value};
use super::{UNKNOWN, Wrapper, WrapperKind, output};

/// Options of xargs that take a value, in their word or the next.
const XARGS_VALUES: &str = "IdEnLPsa";
const XARGS_LONG: [&str; 9] = [
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
const PARALLEL_VALUES: &str = "jINnLPSa";
const PARALLEL_LONG: [&str; 12] = [
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

/// Options of find that name a command.
const EXECUTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

impl Reader {
    pub fn run_xargs(&mut self, call: &Call, env: &mut Env) -> Texts {
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
            let next = call.text(at + 1);
            let (width, value) = option_value(text, next, XARGS_VALUES, &XARGS_LONG);
            reads_file |= text.starts_with("-a") || text.starts_with("--arg-file");
            if matches!(text, "-0" | "-0r" | "-r0" | "--null") {
                separator = Some('\0');
            } else if text.starts_with("-d") || text.starts_with("--delimiter") {
                separator = value.and_then(separator_of);
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
            vec![Field::known("echo")]
        } else {
            command.to_vec()
        };
        let input = match &call.feed {
            Feed::Texts(texts) if !reads_file => texts.clone(),
            _ => Texts::unknown(),
        };
        let wrapper = each_wrapper("xargs", call.words.get(..at).unwrap_or_default());
        self.via.push(wrapper);
        let mut out: Option<Texts> = None;
        for value in input.iter() {
            let split = separator.filter(|_| placeholder.is_none());
            let ways = match split {
                Some(separator) => vec![separated(&command, value, separator)],
                None => self.commands_of(&command, value, placeholder.as_deref(), call),
            };
            for words in ways {
                let mut inner = call.with_words(words);
                inner.feed = Feed::Nothing;
                inner.names = Names::Programs;
                let written = self.run(inner, env);
                out = Some(match out {
                    Some(out) => out.or(written),
                    None => written,
                });
            }
        }
        out.unwrap_or_else(Texts::nothing)
    }

    /// The commands that arguments make of a command.
    fn commands_of(
        &mut self,
        command: &[Field],
        input: &Value,
        placeholder: Option<&str>,
        call: &Call,
    ) -> Vec<Vec<Field>> {
        self.work.take(1 + input.text.len() / 8, &call.span);
        let Some(placeholder) = placeholder else {
            let arguments = arguments_of(input);
            return vec![command.iter().cloned().chain(arguments).collect()];
        };
        let lines: Vec<&str> = input.text.lines().filter(|line| !line.is_empty()).collect();
        let is_known = input.is_sure() && lines.len() <= self.work.limits.expansions;
        let values: Vec<Value> = if is_known {
            lines
                .iter()
                .map(|line| input.with_text(line.trim_start().to_owned()))
                .collect()
        } else {
            vec![input.with_text(UNKNOWN.to_string())]
        };
        values
            .iter()
            .map(|value| {
                command
                    .iter()
                    .map(|word| replaced(word, placeholder, value))
                    .collect()
            })
            .collect()
    }

    /// GNU parallel: `parallel command ::: arguments`, or the arguments as lines of the input.
    pub fn run_parallel(&mut self, call: &Call, env: &Env) -> Texts {
        let mut at = 1;
        while let Some(word) = call.words.get(at) {
            let text = word.text();
            if !text.starts_with('-') || text.len() < 2 {
                break;
            }
            let (width, _) = option_value(text, call.text(at + 1), PARALLEL_VALUES, &PARALLEL_LONG);
            at += width;
        }
        let rest = call.words.get(at..).unwrap_or_default();
        let separator = rest.iter().position(|word| word.text().starts_with(":::"));
        let (command, arguments) = rest.split_at(separator.unwrap_or(rest.len()));
        self.run_kept(command, call, env);
        let command = output::joined(command);
        let values: Vec<Value> = match (separator, &call.feed) {
            (Some(_), _) => arguments
                .iter()
                .filter(|word| !word.text().starts_with(":::"))
                .map(|word| word.value.clone())
                .collect(),
            (None, Feed::Texts(texts)) => texts
                .iter()
                .flat_map(|value| {
                    value
                        .text
                        .lines()
                        .map(|line| value.with_text(line.to_owned()))
                })
                .collect(),
            (None, _) => vec![Value::unknown()],
        };
        let values = if values.len() > self.work.limits.expansions {
            vec![Value::unknown()]
        } else {
            values
        };
        let wrapper = each_wrapper("parallel", call.words.get(..at).unwrap_or_default());
        let mut inner = call.clone();
        inner.feed = Feed::Nothing;
        for value in &values {
            let text = if command.text.contains('{') {
                filled(&command, "{}", value)
            } else {
                let mut text = command.clone();
                if !text.text.is_empty() {
                    text.push(&Value::known(" "));
                }
                text.push(value);
                text
            };
            self.read_texts_apart(&Texts::one(text), wrapper.clone(), &inner, env);
        }
        if values.is_empty() {
            self.emit(call);
        }
        Texts::unknown()
    }

    /// Whether a shell takes parallel's words apart again hangs on options.
    fn run_kept(&mut self, command: &[Field], call: &Call, env: &Env) {
        if command.len() > 1 && command.iter().any(|word| word.text().contains(' ')) {
            self.via.push(each_wrapper("parallel", &[]));
            let mut inner = call.with_words(command.to_vec());
            inner.names = Names::Programs;
            let mut apart = self.branch(env);
            self.run(inner, &mut apart);
            self.via.pop();
        }
    }

    /// `find` itself and each of its commands.
    pub fn run_find(&mut self, call: &Call, env: &mut Env) -> Texts {
        let index = self.emit(call);
        let start = call
            .arguments()
            .iter()
            .find(|word| !matches!(word.text(), "-L" | "-P" | "-H"))
            .filter(|word| !word.text().starts_with(['-', '(', '!']))
            .map_or(".", Field::text);
        let found = Value::known(format!("{}/{UNKNOWN}", start.trim_end_matches('/')));
        let mut at = 1;
        while at < call.words.len() {
            if !EXECUTIONS.contains(&call.text(at)) {
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
            self.run_each(call, all_replaced(command, &found), env);
            at += 2 + command.len();
        }
        Texts::one(Value::output_of(index))
    }

    /// `fd -x command`, `fd -X command`.
    pub fn run_fd(&mut self, call: &Call, env: &mut Env) -> Texts {
        let index = self.emit(call);
        let options = ["-x", "-X", "--exec", "--exec-batch"];
        let at = call
            .words
            .iter()
            .position(|word| options.contains(&word.text()));
        if let Some(at) = at {
            let mut command = call.words.get(at + 1..).unwrap_or_default().to_vec();
            if !command.iter().any(|word| word.text().contains('{')) {
                command.push(Field::known("{}"));
            }
            let found = Value::known(format!("./{UNKNOWN}"));
            self.run_each(call, all_replaced(&command, &found), env);
        }
        Texts::one(Value::output_of(index))
    }

    /// Runs what a search names for each file that it finds.
    fn run_each(&mut self, call: &Call, words: Vec<Field>, env: &mut Env) {
        if words.is_empty() {
            return;
        }
        let own = call.words.get(..1).unwrap_or_default();
        let name = call.text(0).rsplit('/').next().unwrap_or_default();
        self.via.push(each_wrapper(name, own));
        let mut inner = call.with_words(words);
        inner.names = Names::Programs;
        self.run(inner, env);
        self.via.pop();
    }

    /// git runs commands by `bisect run`, `submodule foreach`, `rebase --exec` and `filter-branch`.
    pub fn run_git(&mut self, call: &Call, env: &mut Env) -> Texts {
        let out = self.run_plain("git", call, env);
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
        match (call.text(verb), first) {
            ("bisect", Some(at)) => {
                self.via.push(each_wrapper("git", own));
                let words = rest.get(at + 1..).unwrap_or_default().to_vec();
                self.run(call.with_words(words), env);
                self.via.pop();
            }
            ("submodule", Some(at)) => {
                let words = rest.get(at + 1..).unwrap_or_default();
                let n_options = words
                    .iter()
                    .take_while(|word| word.text().starts_with("--"))
                    .count();
                let text = output::joined(words.get(n_options..).unwrap_or_default());
                self.read_own(text, own, call, env);
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
                        self.read_own(text, own, call, env);
                    }
                }
            }
            _ => {}
        }
        out
    }

    fn read_own(&mut self, text: Value, own: &[Field], call: &Call, env: &Env) {
        if !text.text.is_empty() {
            let wrapper = Self::shell_wrapper("git", own);
            self.read_texts_apart(&Texts::one(text), wrapper, call, env);
        }
    }
}

fn each_wrapper(name: &str, words: &[Field]) -> Wrapper {
    Wrapper {
        name: name.to_owned(),
        kind: WrapperKind::Each,
        words: words.iter().map(Field::word).collect(),
    }
}

/// How many words an option takes, and its value.
fn option_value<'a>(
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

/// The character that `xargs -d` names.
fn separator_of(text: &str) -> Option<char> {
    match text {
        "\\n" => Some('\n'),
        "\\0" => Some('\0'),
        "\\t" => Some('\t'),
        text => text.chars().next(),
    }
}

/// A command with the parts of an input that one character separates; nothing else splits them.
fn separated(command: &[Field], input: &Value, separator: char) -> Vec<Field> {
    let parts = input.text.split(separator).filter(|part| !part.is_empty());
    let arguments = parts.map(|part| Field {
        may_split: part.contains(UNKNOWN),
        value: input.with_text(part.to_owned()),
        ..Field::default()
    });
    command.iter().cloned().chain(arguments).collect()
}

/// The arguments that xargs makes of its input; quotes hold words together.
fn arguments_of(input: &Value) -> Vec<Field> {
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
        .map(|text| Field {
            may_split: text.contains(UNKNOWN),
            value: input.with_text(text),
            ..Field::default()
        })
        .collect()
}

fn replaced(word: &Field, placeholder: &str, value: &Value) -> Field {
    if placeholder.is_empty() || !word.text().contains(placeholder) {
        return word.clone();
    }
    Field {
        value: filled(&word.value, placeholder, value),
        ..word.clone()
    }
}

fn all_replaced(command: &[Field], value: &Value) -> Vec<Field> {
    let words = command.iter();
    words.map(|word| replaced(word, "{}", value)).collect()
}

fn filled(text: &Value, placeholder: &str, value: &Value) -> Value {
    let mut filled = text.with_text(text.text.replace(placeholder, &value.text));
    filled.take_sources(&value.from);
    filled
}
