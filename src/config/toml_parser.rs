//! Parses one configuration file or flag into settings; everything wrong with it becomes a problem.
//!
//! A file is checked against the list of keys only; other layers and trust are applied later.

use std::ops::Range;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::builtin_rule_overrides;
use super::config_key::ConfigKey;
use super::config_layer::ConfigLayer;
use super::config_layers::ConfigSetting;
use super::diagnostic::{ConfigLocation, ConfigNotice, ConfigProblem};
use super::key_suggestions;
use super::schema::{KeyLookup, find_key, is_chosen_name, retired_key_reason};
use super::value_check::{ValueError, check_value, describe_toml_value};

/// A configuration file's text and the name under which it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigSource {
    /// The file, as it is shown.
    pub file: PathBuf,
    pub text: String,
}

/// A setting given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigOverride {
    /// The flag as the user wrote it, such as `--set`.
    pub flag: String,
    /// The dotted path of the key.
    pub key: String,
    /// The value as text; the quotes of a TOML string may be omitted.
    pub value: String,
}

/// The result of parsing a file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceParseResult {
    /// The correct settings, even if others are wrong.
    pub settings: Vec<ConfigSetting>,
    /// Everything that is wrong, in line order.
    pub problems: Vec<ConfigProblem>,
    /// Keys that have no effect any more.
    pub notices: Vec<ConfigNotice>,
    /// The paths with wrong values, so that they are not reported as missing too.
    pub broken: Vec<String>,
}

/// Parses a file's text.
pub fn parse_source(layer: ConfigLayer, source: &ConfigSource) -> SourceParseResult {
    parse_under(layer, source, Vec::new())
}

/// Parses a theme file of the user. The file name is the theme's name, and its keys are those of `[themes.NAME]`.
pub fn parse_theme(source: &ConfigSource) -> SourceParseResult {
    let problem = |what: &str, hint: &str| SourceParseResult {
        problems: vec![ConfigProblem::new(
            ConfigLocation::File(source.file.clone()),
            what.to_owned(),
            hint,
        )],
        ..SourceParseResult::default()
    };
    let name = source.file.file_stem().and_then(|name| name.to_str());
    let Some(name) = name.filter(|name| is_plain_name(name)) else {
        return problem(
            "has no valid theme name",
            "name the file NAME.toml, with letters, digits, `-` and `_`, but not `none`",
        );
    };
    let table = vec!["themes".to_owned(), name.to_owned()];
    let parsed = parse_under(ConfigLayer::Global, source, table);
    if parsed.settings.is_empty() && parsed.problems.is_empty() {
        problem(
            "has no colours",
            "add base = \"nord\" or colours such as good = \"#a3be8c\", or move the file away",
        )
    } else {
        parsed
    }
}

/// Parses a text whose keys are below a path.
fn parse_under(
    layer: ConfigLayer,
    source: &ConfigSource,
    mut path: Vec<String>,
) -> SourceParseResult {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let mut walk = TableWalker {
        layer,
        source: ConfigLocation::File(source.file.clone()),
        text: &source.text,
        parsed: SourceParseResult::default(),
    };
    for error in &errors {
        walk.report_syntax_error(error);
    }
    // Values that the parser recovered from a broken line are not checked.
    let syntax = std::mem::take(&mut walk.parsed.problems);
    let broken_lines: Vec<usize> = syntax.iter().map(line_number).collect();
    walk.walk_table(&mut path, table.get_ref());
    let mut parsed = walk.parsed;
    parsed
        .problems
        .retain(|problem| !broken_lines.contains(&line_number(problem)));
    parsed.problems.extend(syntax);
    parsed.problems.sort_by(|a, b| a.place.cmp(&b.place));
    parsed.problems.dedup();
    parsed
}

fn line_number(problem: &ConfigProblem) -> usize {
    match &problem.place {
        ConfigLocation::Line { line, .. } => *line,
        ConfigLocation::File(_) | ConfigLocation::Flag(_) => 0,
    }
}

struct TableWalker<'a> {
    layer: ConfigLayer,
    /// The file or the flag.
    source: ConfigLocation,
    text: &'a str,
    parsed: SourceParseResult,
}

impl TableWalker<'_> {
    fn walk_table(&mut self, path: &mut Vec<String>, table: &DeTable<'_>) {
        for (name, raw) in table {
            path.push(name.get_ref().to_string());
            match find_key(path) {
                _ if is_chosen_name(path) && !is_plain_name(name.get_ref()) => {
                    self.report_bad_name(name.span(), path)
                }
                KeyLookup::Key(key) => self.read_value(key, path, raw),
                KeyLookup::Table => self.walk_inner_table(path, name.span(), raw),
                KeyLookup::Unknown => self.report_unknown_key(name.span(), path),
            }
            path.pop();
        }
    }

    fn walk_inner_table(
        &mut self,
        path: &mut Vec<String>,
        span: Range<usize>,
        raw: &Spanned<DeValue<'_>>,
    ) {
        match raw.get_ref().as_table() {
            Some(table) => self.walk_table(path, table),
            None => {
                let dotted = path.join(".");
                let what = format!(
                    "`{dotted}` must be a table, but is {}",
                    describe_toml_value(raw.get_ref())
                );
                self.report_problem(
                    span,
                    what,
                    format!("write [{dotted}] and its keys below it"),
                );
            }
        }
    }

    fn read_value(&mut self, key: &'static ConfigKey, path: &[String], raw: &Spanned<DeValue<'_>>) {
        match check_value(key.kind, raw) {
            Ok(value) => {
                let items = raw.get_ref().as_array().filter(|_| key.kind.is_rules());
                let items = items.into_iter().flatten();
                let rule_places = items.map(|item| self.location_of(&item.span())).collect();
                let place = self.location_of(&raw.span());
                self.parsed.settings.push(ConfigSetting {
                    key,
                    path: path.join("."),
                    value,
                    layer: self.layer,
                    place,
                    rule_places,
                });
            }
            Err(flaws) => {
                self.parsed.broken.push(path.join("."));
                flaws
                    .into_iter()
                    .for_each(|flaw| self.report_value_error(key, path, flaw));
            }
        }
    }

    fn report_value_error(&mut self, key: &ConfigKey, path: &[String], flaw: ValueError) {
        let hint = flaw.hint.unwrap_or_else(|| example_hint(key));
        self.report_problem(
            flaw.span,
            format!("`{}` {}", path.join("."), flaw.what),
            hint,
        );
    }

    fn report_unknown_key(&mut self, span: Range<usize>, path: &[String]) {
        if let Some(reason) = retired_key_reason(path) {
            return self.parsed.notices.push(ConfigNotice {
                place: self.location_of(&span),
                what: format!("{} has no effect any more: {reason}", path.join(".")),
                hint: "remove it".to_owned(),
            });
        }
        self.parsed.broken.push(path.join("."));
        self.report_problem(
            span,
            format!("unknown key `{}`", path.join(".")),
            key_suggestions::hint_for_unknown_key(path),
        );
    }

    fn report_bad_name(&mut self, span: Range<usize>, path: &[String]) {
        let name = path.last().map_or("", String::as_str);
        let what = format!(
            "{name:?} is not a valid name for an entry of `{}`",
            path[..path.len() - 1].join(".")
        );
        self.report_problem(
            span,
            what,
            "use letters, digits, `-` and `_`, but not `none`".to_owned(),
        );
    }

    fn report_syntax_error(&mut self, error: &toml::de::Error) {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().replace('\n', "; ");
        let hint = match message.as_str() {
            text if text.contains("duplicate key") => "remove one of the two",
            text if text.contains("must be quoted") => "put the value into double quotes",
            text if text.contains("unclosed") => "close it",
            _ => "see https://toml.io for how values are written",
        };
        let (what, hint) = (format!("not valid TOML: {message}"), hint.to_owned());
        self.report_problem(span, what, hint);
    }

    fn report_problem(&mut self, span: Range<usize>, what: String, hint: String) {
        let place = self.location_of(&span);
        let line = match &place {
            ConfigLocation::Line { line, .. } => {
                self.text.lines().nth(line - 1).unwrap_or_default()
            }
            ConfigLocation::File(_) | ConfigLocation::Flag(_) => self.text,
        };
        let text = line.trim().chars().take(200).collect();
        self.parsed.problems.push(ConfigProblem {
            place,
            what,
            text,
            hint,
        });
    }

    fn location_of(&self, span: &Range<usize>) -> ConfigLocation {
        let ConfigLocation::File(file) = &self.source else {
            return self.source.clone();
        };
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        ConfigLocation::Line {
            file: file.clone(),
            line: memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// Parses a setting of the command line.
pub fn parse_override(given: &ConfigOverride) -> SourceParseResult {
    let mut walk = TableWalker {
        layer: ConfigLayer::Flag,
        source: ConfigLocation::Flag(given.flag.clone()),
        text: &format!("{}={}", given.key, given.value),
        parsed: SourceParseResult::default(),
    };
    let path: Vec<String> = given.key.split('.').map(str::to_owned).collect();
    match find_key(&path) {
        KeyLookup::Key(key) => walk.read_value(key, &path, &parse_flag_value(key, &given.value)),
        KeyLookup::Table => walk.report_problem(
            0..0,
            format!("`{}` is a table, not a key", given.key),
            "name one of its keys; `agent-collab config show` prints them".to_owned(),
        ),
        KeyLookup::Unknown => walk.report_unknown_key(0..0, &path),
    }
    walk.parsed
}

/// Parses the value as TOML, or else as bare text, because a shell removes the quotes.
fn parse_flag_value<'a>(key: &ConfigKey, value: &'a str) -> Spanned<DeValue<'a>> {
    let bare = Spanned::new(0..value.len(), DeValue::String(value.into()));
    let fits = |raw| check_value(key.kind, raw).is_ok();
    match DeValue::parse(value) {
        Ok(raw) if fits(&raw) || !fits(&bare) => raw,
        Ok(_) | Err(_) => bare,
    }
}

/// Returns a hint with a correct value of a key.
fn example_hint(key: &ConfigKey) -> String {
    let name = builtin_rule_overrides::example_key_name(key);
    format!("for example `{name} = {}`", key.example())
}

fn is_plain_name(name: &str) -> bool {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plain && !name.is_empty() && name != "none"
}
