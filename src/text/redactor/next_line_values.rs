//! Finds values on the line after their name: `name: API_KEY` and `value: x`, YAML blocks, broken JSON, and
//! options continued by a backslash.
//!
//! Only the next line is read, and it is judged as if it were on the line of its name.

use super::key_value::{find_value_at, name_start};
use super::private_key;
use super::secret_heuristics::{has_scrambled_case, looks_random, looks_strongly_random};
use super::secret_names::{is_harmless_name, is_secret_name};
use super::secret_span::SecretSpan;
use super::secret_values::{SeparatorKind, is_listed_secret, secret_kind};
use super::separators::{self, is_blank};

/// A secret whose name was on one line, with its value still to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnnouncedValue {
    /// On a line such as `value: x`.
    ValueLine(String),
    /// The whole next line, and in a block the lines after it.
    WholeLine(String, ValueLines),
    /// On lines of a list: `- x`, or `"x",`.
    Items(String),
    /// In the block of a variable: `default = x`.
    Default(String),
    /// In the element on the next line: `<value>x</value>`.
    Element(String),
    /// In the strings of a list: the lines of a private key.
    PrivateKeyLines,
    /// On lines indented more than this, under any name, encoded: the `data:` of a Kubernetes secret.
    EncodedData(usize),
}

/// How many lines may contain a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueLines {
    One,
    Many,
}

/// How long a line that announces a value may be, in bytes.
const MAX_LINE_BYTES: usize = 160;

/// What may come between a sign and a line's end: how a block, a string or a bracket begins.
const VALUE_OPENINGS: [&str; 16] = [
    "\"\"\"", "'''", "|-", ">-", "|+", ">+", "|2", "|", ">", "\"\\", "'\\", "\\", "(", "[", "\"",
    "'",
];

impl AnnouncedValue {
    /// Returns what a line announces.
    pub(super) fn parse(line: &str) -> Option<Self> {
        if line.len() > MAX_LINE_BYTES {
            return None;
        }
        if let Some(name) = parse_name_line(line) {
            return Some(Self::ValueLine(name.to_owned()));
        }
        if line.ends_with("data:") {
            let indent = indent_len(line);
            return matches!(&line[indent..], "data:" | "binaryData:")
                .then_some(Self::EncodedData(indent));
        }
        let line = line.trim_end();
        if let Some(announced) = parse_block_start(line).or_else(|| parse_plural_name(line)) {
            return Some(announced);
        }
        if let Some(option) = parse_listed_option(line) {
            return Some(Self::WholeLine(option.to_owned(), ValueLines::One));
        }
        let last = line.bytes().next_back()?;
        if !b":=|>-+2\"'\\([".contains(&last) {
            return None;
        }
        parse_open_value(line)
    }

    /// Makes a value that continues on the next line because of a backslash.
    pub(super) fn from_continuation(kind: &str) -> Self {
        Self::WholeLine(kind.to_owned(), ValueLines::One)
    }

    /// Returns what may still follow after a line.
    pub(super) fn after_line(self, line: &str, was_found: bool) -> Option<Self> {
        match self {
            Self::WholeLine(_, ValueLines::Many) if was_found => Some(self),
            Self::EncodedData(outer) if indent_len(line) > outer => Some(self),
            Self::Items(_) if was_found || line.trim_start().starts_with("- ") => Some(self),
            Self::Default(_) if line.starts_with([' ', '\t']) => Some(self),
            Self::PrivateKeyLines if was_found => Some(self),
            Self::WholeLine(..)
            | Self::ValueLine(_)
            | Self::EncodedData(_)
            | Self::Items(_)
            | Self::Default(_)
            | Self::Element(_)
            | Self::PrivateKeyLines => None,
        }
    }

    /// Finds the value in the line that follows.
    pub(super) fn find_value(&self, line: &str) -> Option<SecretSpan> {
        match self {
            Self::ValueLine(name) => {
                let way = separators::parse_value_line(line)?;
                find_value_at(line, way.value_start, way.quote, name, SeparatorKind::Colon)
            }
            Self::WholeLine(name, _) => find_lone_word(line, name),
            Self::Items(name) => find_list_item(line, name),
            Self::Default(name) => {
                let left = line.trim_start().strip_prefix("default")?.trim_start();
                let value = left.strip_prefix('=')?.trim_start().strip_prefix('"')?;
                let at = line.len() - value.len();
                find_value_at(line, at, Some("\""), name, SeparatorKind::Colon)
                    .filter(|span| is_listed_secret(&line[span.start..span.end], name))
            }
            Self::Element(name) => {
                let inner = line.trim_start();
                let value = ["<value>", "<string>"]
                    .iter()
                    .find_map(|tag| inner.strip_prefix(tag))?;
                let start = line.len() - value.len();
                let value = &value[..value.find("</")?];
                is_listed_secret(value, name)
                    .then(|| secret_span(start, value.len(), secret_kind(name)))
            }
            Self::PrivateKeyLines => {
                let inner = line.trim_start().strip_prefix('"')?;
                let start = line.len() - inner.len();
                let value = &inner[..inner.find(['"', '\\'])?];
                let is_key = value.len() >= 4
                    && value
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
                is_key.then(|| secret_span(start, value.len(), private_key::PRIVATE_KEY_KIND))
            }
            Self::EncodedData(_) => find_encoded_value(line),
        }
    }
}

fn secret_span(start: usize, len: usize, kind: &'static str) -> SecretSpan {
    SecretSpan {
        context: start,
        start,
        end: start + len,
        kind,
        open: false,
        quote: None,
    }
}

/// Returns the start of a block whose lines contain a secret: a variable's, an element's, a private key's.
fn parse_block_start(line: &str) -> Option<AnnouncedValue> {
    let is_secret = |name: &&str| is_secret_name(name);
    if let Some(left) = line.strip_suffix('{') {
        let name = left
            .trim_end()
            .strip_prefix("variable \"")?
            .strip_suffix('"');
        return name
            .filter(is_secret)
            .map(|name| AnnouncedValue::Default(name.to_owned()));
    }
    if line.ends_with("KEY-----\",") && line.trim_start().starts_with("\"-----BEGIN ") {
        return line
            .contains("PRIVATE")
            .then_some(AnnouncedValue::PrivateKeyLines);
    }
    let tag = line.trim_start().strip_prefix('<')?.strip_suffix('>')?;
    let name = tag
        .strip_prefix("key>")
        .and_then(|name| name.strip_suffix("</key"))
        .or_else(|| {
            let after = ["name=\"", "key=\""]
                .iter()
                .find_map(|attribute| tag.split_once(attribute))?;
            after.1.split('"').next()
        });
    name.filter(is_secret)
        .map(|name| AnnouncedValue::Element(name.to_owned()))
}

/// Returns the name in `tokens:`, `"passwords": [`.
fn parse_plural_name(line: &str) -> Option<AnnouncedValue> {
    let left = line.strip_suffix('[').unwrap_or(line).trim_end();
    let left = left.strip_suffix([':', '='])?.trim_end();
    let left = left.trim_end_matches(['"', '\'']);
    let name = left[name_start(left, left.len())..].strip_suffix(['s', 'S'])?;
    let is_meant = is_secret_name(name) && !is_harmless_name(name);
    is_meant.then(|| AnnouncedValue::Items(name.to_owned()))
}

/// Finds the value in `- x` or `"x",`.
fn find_list_item(line: &str, name: &str) -> Option<SecretSpan> {
    let is_item = line.trim_start().starts_with(['-', '"', '\'']);
    find_lone_word(line, name).filter(|span| {
        let value = &line[span.start..span.end];
        is_item && looks_random(value) && is_listed_secret(value, name)
    })
}

fn indent_len(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

/// Returns the option in `- --password`, `"--token",`.
fn parse_listed_option(line: &str) -> Option<&str> {
    let word = line.trim_start();
    let word = word.strip_prefix("- ").unwrap_or(word).trim_start();
    let is_listed = line.trim_start().starts_with("- ") || line.ends_with(',');
    let word = word.trim_end_matches(',').trim_matches(['"', '\'']);
    (is_listed && word.starts_with("--") && is_secret_name(word)).then_some(word)
}

/// Finds the value in `  name: VmFsdWUxMjM0NQ==`; a certificate is not a secret.
fn find_encoded_value(line: &str) -> Option<SecretSpan> {
    let colon = line.find(": ")?;
    let start = colon + 2;
    let value = line[start..].trim_end();
    let is_base64 = value.len() >= 8
        && value.len().is_multiple_of(4)
        && value
            .trim_end_matches('=')
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
    let is_public =
        value.starts_with("LS0tLS1CRUdJTiBDRVJU") || value.starts_with("LS0tLS1CRUdJTiBQVUJM");
    let is_secret =
        value.ends_with('=') || has_scrambled_case(value) || looks_strongly_random(value);
    (is_base64 && !is_public && is_secret).then(|| SecretSpan {
        context: start,
        start,
        end: start + value.len(),
        kind: "secret",
        open: false,
        quote: None,
    })
}

/// Returns the name in `- name: API_KEY`.
fn parse_name_line(line: &str) -> Option<&str> {
    let value = separators::parse_name_field(line)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let (name, after) = value.split_at(value.find(|c| !is_name(c)).unwrap_or(value.len()));
    let after = after.strip_prefix(['"', '\'']).unwrap_or(after);
    let after = after.strip_prefix(',').unwrap_or(after);
    let is_alone = after.bytes().all(is_blank);
    (is_alone && (3..=64).contains(&name.len()) && is_secret_name(name)).then_some(name)
}

/// Returns the name in `api_key: |`, `"token":`, `--password \`.
fn parse_open_value(line: &str) -> Option<AnnouncedValue> {
    let opening = VALUE_OPENINGS
        .iter()
        .find(|opening| line.ends_with(**opening));
    let before = opening.map_or(line, |opening| &line[..line.len() - opening.len()]);
    let before = before.trim_end();
    let signed = before
        .strip_suffix([':', '='])
        .map(|left| left.trim_end().trim_end_matches(['"', '\'', '\\']));
    let left = signed.unwrap_or(before);
    let name = &left[name_start(left, left.len())..];
    let is_option = signed.is_none() && opening == Some(&"\\") && name.starts_with("--");
    let is_block = opening.is_some_and(|opening| opening.starts_with(['|', '>']));
    let lines = if is_block {
        ValueLines::Many
    } else {
        ValueLines::One
    };
    let is_open = (signed.is_some() || is_option) && is_secret_name(name);
    is_open.then(|| AnnouncedValue::WholeLine(name.to_owned(), lines))
}

/// Finds a line's only word, if it is a secret.
fn find_lone_word(line: &str, name: &str) -> Option<SecretSpan> {
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
    let item = line.trim_start();
    let item = line.len() - item.strip_prefix("- ").unwrap_or(item).len();
    let start = item + line[item..].find(|c: char| !c.is_whitespace() && !is_quote(c))?;
    let is_end =
        |c: char| is_quote(c) || c.is_whitespace() || matches!(c, '\\' | ',' | ';' | ')' | ']');
    let word = line[start..].trim_end_matches(is_end);
    // A lone word may be anything, for example the next line of code.
    let is_word = word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let is_other = is_word
        || word.ends_with([':', '{', '('])
        || word.starts_with(['-', '#', '/'])
        || word.contains(char::is_whitespace);
    if word.is_empty() || is_other {
        return None;
    }
    find_value_at(
        &line[..start + word.len()],
        start,
        None,
        name,
        SeparatorKind::Colon,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(first: &str, second: &str, expected: Option<&str>) {
        let found = AnnouncedValue::parse(first).and_then(|announced| announced.find_value(second));
        let found = found.map(|span| &second[span.start..span.end]);
        assert_eq!(found, expected, "{first:?} {second:?}");
    }

    #[test]
    fn a_value_may_stand_in_the_next_line() {
        check("- name: DB_PASSWORD", "  value: hunter2", Some("hunter2"));
        check(
            "client_secret: >-",
            "    c6jP8uhPMFGSDgyPnk44",
            Some("c6jP8uhPMFGSDgyPnk44"),
        );
        check(
            "  \"password\":",
            "    \"CVK5lK8b9prf\",",
            Some("CVK5lK8b9prf"),
        );
        check(
            "x --auth-token \\",
            "  HNbs3ntPmGSC1ipyiW0i \\",
            Some("HNbs3ntPmGSC1ipyiW0i"),
        );
        check(
            "TOKEN=\\",
            "RaLJuIX2hYj0dFaj2fXakz",
            Some("RaLJuIX2hYj0dFaj2fXakz"),
        );
        check(
            "api_key = (",
            "  \"sRvCqTTfqFe4rEnE2mil\"",
            Some("sRvCqTTfqFe4rEnE2mil"),
        );
    }

    #[test]
    fn a_value_may_stand_in_a_block() {
        let key = "MIIEpAIBAAKCAQEA7bq1Ab3dEf6hIj9l";
        let line = format!("  \"{key}\",");
        check("  \"-----BEGIN RSA PRIVATE KEY-----\",", &line, Some(key));
        check(
            "tokens:",
            "  - Ab3dEf6hIj9lMn2pQr5t",
            Some("Ab3dEf6hIj9lMn2pQr5t"),
        );
        check(
            "variable \"db_password\" {",
            "  default = \"hunter2A!x\"",
            Some("hunter2A!x"),
        );
        check(
            "<key>ApiToken</key>",
            "  <string>Ab3dEf6hIj9l</string>",
            Some("Ab3dEf6hIj9l"),
        );
        check(
            "<setting name=\"ApiKey\" x=\"y\">",
            "<value>Ab3dEf6hIj9l</value>",
            Some("Ab3dEf6hIj9l"),
        );
    }

    #[test]
    fn what_follows_a_name_may_be_something_else() {
        check("password:", "  min_length: 8", None);
        check("password:", "Enter it here.", None);
        check("token:", "- type: string", None);
        check("the token \\", "c6jP8uhPMFGSDgyPnk44", None);
        check("token:", "", None);
        check("if a == password:", "    return", None);
        check("token:", "name: |", None);
        check("secrets:", "  - db-credentials", None);
        check("variable \"db_password\" {", "  type = string", None);
    }
}
