//! One configuration file or flag, read into settings; everything wrong with it becomes a problem.
//!
//! Refuses to know other layers and trust: a file is judged by the list of keys alone.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::builtin;
use super::key::{Key, Preset};
use super::keys::{Found, find, is_chosen_name};
use super::problem::{Place, Problem};
use super::suggest;
use super::value::{Flaw, Value, describe, parse_value};

/// A configuration file's text and the name it is shown by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The file as it is shown.
    pub file: PathBuf,
    /// Its whole text.
    pub text: String,
}

/// One key with the value that one layer gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key.
    pub key: &'static Key,
    /// Its path with the chosen names filled in.
    pub path: String,
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
    /// For rules: where each of them stands, in their order.
    pub rule_places: Vec<Place>,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The flag as the user wrote it, such as `--set`.
    pub flag: String,
    /// The dotted path of the key.
    pub key: String,
    /// The value as text; the quotes of a TOML string may be left out.
    pub value: String,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// The settings that are right, even when others are wrong.
    pub settings: Vec<Setting>,
    /// Everything that is wrong, in the order of lines.
    pub problems: Vec<Problem>,
    /// The paths whose values are wrong, so that nobody reports them as missing too.
    pub broken: Vec<String>,
}

/// Reads a file's text.
pub fn parse_source(source: &SourceText) -> Parsed {
    parse_below(source, Vec::new())
}

/// Reads a theme's own file, whose name is the theme's and whose keys are those of `[themes.NAME]`.
pub fn parse_theme(source: &SourceText) -> Parsed {
    let problem = |what: &str, hint: &str| Parsed {
        problems: vec![Problem {
            place: Place::File(source.file.clone()),
            what: what.to_owned(),
            text: String::new(),
            hint: hint.to_owned(),
        }],
        ..Parsed::default()
    };
    let name = source.file.file_stem().and_then(|name| name.to_str());
    let Some(name) = name.filter(|name| is_plain_name(name)) else {
        return problem(
            "has no name for a theme",
            "call the file NAME.toml, of letters, digits, `-` and `_`, and not `none`",
        );
    };
    let parsed = parse_below(source, vec!["themes".to_owned(), name.to_owned()]);
    match parsed.settings.is_empty() && parsed.problems.is_empty() {
        true => problem(
            "is a theme without a colour",
            "write base = \"nord\", or colours such as good = \"#a3be8c\"; or move it away",
        ),
        false => parsed,
    }
}

/// Reads a text whose keys stand below a path.
fn parse_below(source: &SourceText, mut path: Vec<String>) -> Parsed {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let mut walk = Walk {
        file: &source.file,
        text: &source.text,
        parsed: Parsed::default(),
    };
    for error in &errors {
        walk.syntax_problem(error);
    }
    // What recovery made of a broken line is not worth judging.
    let syntax = std::mem::take(&mut walk.parsed.problems);
    let broken_lines: Vec<usize> = syntax.iter().map(line_of).collect();
    walk.table(&mut path, table.get_ref());
    let mut parsed = walk.parsed;
    parsed
        .problems
        .retain(|problem| !broken_lines.contains(&line_of(problem)));
    parsed.problems.extend(syntax);
    parsed.problems.sort_by(|a, b| a.place.cmp(&b.place));
    parsed.problems.dedup();
    parsed
}

fn line_of(problem: &Problem) -> usize {
    match &problem.place {
        Place::Line { line, .. } => *line,
        Place::File(_) | Place::Flag(_) => 0,
    }
}

struct Walk<'a> {
    file: &'a Path,
    text: &'a str,
    parsed: Parsed,
}

impl Walk<'_> {
    fn table(&mut self, path: &mut Vec<String>, table: &DeTable<'_>) {
        for (name, raw) in table {
            path.push(name.get_ref().to_string());
            match find(path) {
                _ if is_chosen_name(path) && !is_plain_name(name.get_ref()) => {
                    self.bad_name(name.span(), path)
                }
                Found::Key(key) => self.value(key, path, raw),
                Found::Table => self.inner_table(path, name.span(), raw),
                Found::Unknown => self.unknown(name.span(), path),
            }
            path.pop();
        }
    }

    fn inner_table(
        &mut self,
        path: &mut Vec<String>,
        span: Range<usize>,
        raw: &Spanned<DeValue<'_>>,
    ) {
        match raw.get_ref().as_table() {
            Some(table) => self.table(path, table),
            None => {
                let dotted = path.join(".");
                let what = format!(
                    "`{dotted}` must be a table, but is {}",
                    describe(raw.get_ref())
                );
                self.problem(
                    span,
                    what,
                    format!("write [{dotted}] and its keys below it"),
                );
            }
        }
    }

    fn value(&mut self, key: &'static Key, path: &[String], raw: &Spanned<DeValue<'_>>) {
        match parse_value(key.kind, raw) {
            Ok(value) => {
                let rule_places = match &value {
                    Value::Rules(rules) => {
                        rules.iter().map(|rule| self.place(&rule.span)).collect()
                    }
                    _ => Vec::new(),
                };
                let place = self.place(&raw.span());
                self.parsed.settings.push(Setting {
                    key,
                    path: path.join("."),
                    value,
                    place,
                    rule_places,
                });
            }
            Err(flaws) => {
                self.parsed.broken.push(path.join("."));
                flaws
                    .into_iter()
                    .for_each(|flaw| self.flaw(key, path, flaw));
            }
        }
    }

    fn flaw(&mut self, key: &Key, path: &[String], flaw: Flaw) {
        let hint = flaw.hint.unwrap_or_else(|| example(key));
        self.problem(
            flaw.span,
            format!("`{}` {}", path.join("."), flaw.what),
            hint,
        );
    }

    fn unknown(&mut self, span: Range<usize>, path: &[String]) {
        self.parsed.broken.push(path.join("."));
        self.problem(
            span,
            format!("unknown key `{}`", path.join(".")),
            suggest::for_unknown_key(path),
        );
    }

    fn bad_name(&mut self, span: Range<usize>, path: &[String]) {
        let name = path.last().map_or("", String::as_str);
        let what = format!(
            "{name:?} is no name for an entry of `{}`",
            path[..path.len() - 1].join(".")
        );
        self.problem(
            span,
            what,
            "use letters, digits, `-` and `_`, and not `none`".to_owned(),
        );
    }

    fn syntax_problem(&mut self, error: &toml::de::Error) {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().replace('\n', "; ");
        let hint = match message.as_str() {
            text if text.contains("duplicate key") => "keep one of the two",
            text if text.contains("must be quoted") => "put the value into double quotes",
            text if text.contains("unclosed") => "close it",
            _ => "see https://toml.io for how values are written",
        };
        let (what, hint) = (format!("not valid TOML: {message}"), hint.to_owned());
        self.problem(span, what, hint);
    }

    fn problem(&mut self, span: Range<usize>, what: String, hint: String) {
        let place = self.place(&span);
        let line = match &place {
            Place::Line { line, .. } => self.text.lines().nth(line - 1).unwrap_or_default(),
            Place::File(_) | Place::Flag(_) => "",
        };
        let text = line.trim().chars().take(200).collect();
        self.parsed.problems.push(Problem {
            place,
            what,
            text,
            hint,
        });
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place::Line {
            file: self.file.to_owned(),
            line: memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// Reads a setting of the command line.
pub fn parse_override(given: &Override) -> Result<Setting, Vec<Problem>> {
    let place = Place::Flag(given.flag.clone());
    let text = format!("{}={}", given.key, given.value);
    let problem = |what: String, hint: String| Problem {
        place: place.clone(),
        what,
        text: text.clone(),
        hint,
    };
    let path: Vec<String> = given.key.split('.').map(str::to_owned).collect();
    let key = match find(&path) {
        Found::Key(key) => key,
        Found::Table => {
            let what = format!("`{}` is a table, not a key", given.key);
            return Err(vec![problem(
                what,
                "name one of its keys; `agent-collab config show` prints them".to_owned(),
            )]);
        }
        Found::Unknown => {
            return Err(vec![problem(
                format!("unknown key `{}`", given.key),
                suggest::for_unknown_key(&path),
            )]);
        }
    };
    let value = parse_override_value(key, &given.value).map_err(|flaws| {
        let describe = |flaw: Flaw| {
            problem(
                format!("`{}` {}", given.key, flaw.what),
                flaw.hint.unwrap_or_else(|| example(key)),
            )
        };
        flaws.into_iter().map(describe).collect::<Vec<_>>()
    })?;
    let rule_places = match &value {
        Value::Rules(rules) => vec![place.clone(); rules.len()],
        _ => Vec::new(),
    };
    Ok(Setting {
        key,
        path: given.key.clone(),
        value,
        place: place.clone(),
        rule_places,
    })
}

/// A shell takes the quotes away, so the value is read as TOML first and as bare text second.
fn parse_override_value(key: &Key, value: &str) -> Result<Value, Vec<Flaw>> {
    let bare = Spanned::new(0..value.len(), DeValue::String(value.into()));
    match DeValue::parse(value) {
        Ok(raw) => parse_value(key.kind, &raw)
            .or_else(|flaws| parse_value(key.kind, &bare).map_err(|_| flaws)),
        Err(_) => parse_value(key.kind, &bare),
    }
}

/// Shows a right value of a key.
fn example(key: &Key) -> String {
    let value = match key.preset {
        Preset::Is(value) | Preset::Unset(value) | Preset::Named(_, value) => value,
    };
    let name = builtin::example_name(key);
    format!("for example `{name} = {value}`")
}

fn is_plain_name(name: &str) -> bool {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plain && !name.is_empty() && name != "none"
}
