//! Parses what is between the name of a secret and its value: signs, spaces, brackets and quotes, byte by byte.
//!
//! Most names lead to no value, and this must be seen fast, so there are no regular expressions here. Which names and
//! values count is decided elsewhere.

/// The text between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueSeparator<'t> {
    /// The quote that ends the name, with its backslashes and a bracket after it.
    pub(super) name_quote: &'t str,
    /// The sign, with the spaces around it; a word or nothing where spaces are the sign.
    pub(super) separator: &'t str,
    /// Where the value begins, counted from the end of the name.
    pub(super) value_start: usize,
    /// The quote directly before the value, with its backslashes.
    pub(super) quote: Option<&'t str>,
}

/// How many spaces may be in one place.
const MAX_BLANKS: usize = 40;

/// What may be around a literal in code.
const LITERAL_WRAPPERS: [&str; 8] = [
    "<<",
    "default=",
    "Some(",
    "Ok(",
    "SecretString::new(",
    "SecretString::from(",
    "Secret(",
    "String::from(",
];

/// Parses `: "x"`, ` = 'x'`, `" => x`, `: &str = "x"`, and all other signs.
pub(super) fn parse_separator(rest: &str) -> Option<ValueSeparator<'_>> {
    let mut reader = ByteReader::new(rest);
    reader.skip_word("%22");
    if reader.take_quote(b"\"'`").is_none()
        && reader.skip_any_of(b"\\") > 0
        && reader.starts_with("u003")
    {
        reader.at -= 1;
    }
    _ = reader.skip_word("[]") || reader.skip_one_of(b"]");
    let is_call = [") ?", ") |"].iter().any(|end| reader.starts_with(end));
    if is_call {
        reader.at += 1;
    }
    let around = reader.since(0);
    reader.skip_colours();
    let from = reader.at;
    reader.skip_blanks(MAX_BLANKS);
    reader.skip_separator()?;
    reader.skip_blanks(MAX_BLANKS);
    let sign = reader.since(from);
    if sign.starts_with("%3") {
        reader.skip_word("%22");
    }
    if reader.skip_colours() {
        reader.skip_blanks(MAX_BLANKS);
        reader.skip_colours();
    }
    let quote = reader.take_opening_quote();
    Some(ValueSeparator {
        name_quote: around,
        separator: sign,
        value_start: reader.at,
        quote,
    })
}

/// Parses `("x"`, ` 'x'`: a quoted value directly after a name.
pub(super) fn parse_call_argument(rest: &str) -> Option<ValueSeparator<'_>> {
    let mut reader = ByteReader::new(rest);
    if reader.skip_one_of(b"({") {
        reader.skip_blanks(1);
    } else if reader.skip_blanks(8) == 0 {
        return None;
    }
    let quote = reader.take_quote(b"\"'")?;
    Some(reader.build_separator(Some(quote)))
}

/// Parses ` x`, ` "x"`, ` is x`: the sign is the word, or nothing.
pub(super) fn parse_blank_separator(rest: &str) -> Option<ValueSeparator<'_>> {
    let mut reader = ByteReader::new(rest);
    if reader.take_quote(b"\"'`").is_none() {
        reader.skip_any_of(b"\\");
    }
    if reader.skip_blanks(MAX_BLANKS) == 0 {
        return None;
    }
    let from = reader.at;
    let sign = reader.take_copula().unwrap_or_default();
    if sign.is_empty() {
        reader.at = from;
    }
    let quote = reader.take_quote(b"\"'`");
    Some(ValueSeparator {
        separator: sign,
        ..reader.build_separator(quote)
    })
}

/// Parses `", "value": "x"`: a value in the member after its name.
pub(super) fn parse_value_beside(rest: &str) -> Option<ValueSeparator<'_>> {
    let mut reader = ByteReader::new(rest);
    reader.take_quote(b"\"'");
    reader.skip_blanks(MAX_BLANKS);
    reader.skip_one_of(b",;");
    reader.skip_blanks(MAX_BLANKS);
    if reader.take_quote(b"\"'").is_none() {
        reader.skip_any_of(b"\\");
    }
    reader.skip_name(&["value"]).then_some(())?;
    reader.parse_value()
}

/// Parses `value: x`, with what lists and objects put before it.
pub(super) fn parse_value_line(line: &str) -> Option<ValueSeparator<'_>> {
    let mut reader = ByteReader::new(line);
    reader.skip_non_word();
    reader.skip_name(&["value"]).then_some(())?;
    reader.parse_value()
}

/// Returns the value of `- name: x`, with any quotes.
pub(super) fn parse_name_field(line: &str) -> Option<&str> {
    let mut reader = ByteReader::new(line);
    reader.skip_non_word();
    reader.skip_name(&["name", "key"]).then_some(())?;
    let way = reader.parse_value()?;
    line.get(way.value_start..)
}

/// A position in a text that is read from left to right.
pub(super) struct ByteReader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> ByteReader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    pub(super) fn since(&self, from: usize) -> &'t str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn starts_with(&self, word: &str) -> bool {
        self.rest().starts_with(word.as_bytes())
    }

    pub(super) fn skip_while(&mut self, most: usize, test: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest().iter().take(most);
        let n = rest.take_while(|byte| test(**byte)).count();
        self.at += n;
        n
    }

    pub(super) fn skip_blanks(&mut self, most: usize) -> usize {
        self.skip_while(most, is_blank)
    }

    pub(super) fn skip_any_of(&mut self, of: &[u8]) -> usize {
        self.skip_while(usize::MAX, |byte| of.contains(&byte))
    }

    pub(super) fn skip_one_of(&mut self, of: &[u8]) -> bool {
        self.skip_while(1, |byte| of.contains(&byte)) == 1
    }

    pub(super) fn skip_word(&mut self, word: &str) -> bool {
        let is_there = self.starts_with(word);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    /// Consumes a quote with the backslashes before it.
    fn take_quote(&mut self, of: &[u8]) -> Option<&'t str> {
        let from = self.at;
        self.skip_any_of(b"\\");
        if self.skip_one_of(of) {
            Some(self.since(from))
        } else {
            self.at = from;
            None
        }
    }

    pub(super) fn skip_quote_or_slashes(&mut self) {
        if self.take_quote(b"\"'`").is_none() {
            self.skip_any_of(b"\\");
        }
    }

    /// Consumes colour sequences, which programs write around names and values.
    pub(super) fn skip_colours(&mut self) -> bool {
        let from = self.at;
        while let Some(sequence) = self.rest().strip_prefix(b"\x1b[") {
            let n = sequence
                .iter()
                .take(16)
                .take_while(|byte| matches!(byte, b'0'..=b'9' | b';'))
                .count();
            if !matches!(sequence.get(n), Some(b'm' | b'K')) {
                break;
            }
            self.at += n + 3;
        }
        self.at > from
    }

    fn skip_separator(&mut self) -> Option<()> {
        let is_sign = match self.rest() {
            [b'=', b'>', ..]
            | [b'?', b':', ..]
            | [b':' | b'?' | b'+', b'=', ..]
            | [b'<', b'-', ..]
            | [b'|', b'|', ..]
            | [b'?', b'?', ..] => {
                self.at += 2;
                true
            }
            [b'=', ..] => self.skip_while(3, |byte| byte == b'=') > 0,
            [b':', ..] => self.skip_type_annotation() || self.skip_one_of(b":"),
            [b',', ..] => self.skip_one_of(b","),
            [b'%', ..] => ["%3d", "%3D", "%3a", "%3A"]
                .iter()
                .any(|sign| self.skip_word(sign)),
            [b'\\', ..] => self.skip_word("\\u003d") || self.skip_word("\\u003D"),
            _ => false,
        };
        is_sign.then_some(())
    }

    /// Consumes `: &'static str =`.
    fn skip_type_annotation(&mut self) -> bool {
        let from = self.at;
        self.skip_one_of(b":");
        self.skip_blanks(1);
        self.skip_one_of(b"&");
        self.skip_word("'static ");
        let is_type = self.skip_while(1, |byte| byte.is_ascii_alphabetic() || byte == b'_') == 1;
        self.skip_while(24, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'[' | b']')
        });
        let is_typed = is_type && self.skip_blanks(1) == 1 && self.skip_one_of(b"=");
        if !is_typed {
            self.at = from;
        }
        is_typed
    }

    /// Consumes what may be between a sign and a quoted value, and the quote; without a quote, nothing.
    fn take_opening_quote(&mut self) -> Option<&'t str> {
        let from = self.at;
        if self.skip_one_of(b"[") {
            self.skip_blanks(MAX_BLANKS);
        }
        let _wrapped = LITERAL_WRAPPERS
            .iter()
            .any(|wrapper| self.skip_word(wrapper));
        self.skip_while(2, |byte| {
            matches!(byte, b'b' | b'f' | b'r' | b'u' | b'@' | b'$')
        });
        let quote = self.take_quote(b"\"'`");
        match quote {
            // Three quotes begin a longer string.
            Some("\"") => _ = self.skip_word("\"\""),
            Some("'") => _ = self.skip_word("''"),
            Some(_) => {}
            None => self.at = from,
        }
        quote
    }

    /// Consumes `is ` or `was: `.
    fn take_copula(&mut self) -> Option<&'t str> {
        let from = self.at;
        if !(self.skip_word("is") || self.skip_word("was")) {
            return None;
        }
        let word = self.since(from);
        let n = self.skip_blanks(8);
        let n = if self.skip_one_of(b":") {
            self.skip_blanks(4)
        } else {
            n
        };
        (n > 0).then_some(word)
    }

    /// Consumes what is not a word, as lists and objects put before a name.
    fn skip_non_word(&mut self) {
        self.skip_while(MAX_BLANKS, |byte| {
            !byte.is_ascii_alphanumeric() && byte != b'_'
        });
    }

    /// Consumes one of some names, ignoring case, and the quote after it.
    fn skip_name(&mut self, names: &[&str]) -> bool {
        let rest = self.rest();
        let is_there = |name: &&&str| {
            rest.get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        };
        let Some(name) = names.iter().find(is_there) else {
            return false;
        };
        self.at += name.len();
        if self.take_quote(b"\"'").is_none() {
            self.skip_any_of(b"\\");
        }
        true
    }

    /// Parses a colon or an equals sign and the quote after it.
    fn parse_value(&mut self) -> Option<ValueSeparator<'t>> {
        self.skip_blanks(MAX_BLANKS);
        self.skip_one_of(b":=").then_some(())?;
        self.skip_blanks(MAX_BLANKS);
        let quote = self.take_quote(b"\"'");
        Some(self.build_separator(quote))
    }

    fn build_separator(&self, quote: Option<&'t str>) -> ValueSeparator<'t> {
        ValueSeparator {
            name_quote: "",
            separator: "",
            value_start: self.at,
            quote,
        }
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(way: Option<ValueSeparator<'_>>, rest: &str, expected: &str) {
        let seen = way.map(|way| {
            let value = &rest[way.value_start..];
            format!(
                "{}|{}|{:?}|{value}",
                way.name_quote, way.separator, way.quote
            )
        });
        assert_eq!(seen.as_deref().unwrap_or("none"), expected, "{rest:?}");
    }

    #[test]
    fn every_sign_leads_to_the_value() {
        for (rest, expected) in [
            ("\": \"x\"", "\"|: |Some(\"\\\"\")|x\""),
            ("\\\":\\\"x", "\\\"|:|Some(\"\\\\\\\"\")|x"),
            ("=x", "|=|None|x"),
            (" == 'x'", "| == |Some(\"'\")|x'"),
            ("'] => x", "']| => |None|x"),
            (
                ": &'static str = \"x\"",
                "|: &'static str = |Some(\"\\\"\")|x\"",
            ),
            (": Option<T> = x", "|: |None|Option<T> = x"),
            (" = Some(String", "| = |None|Some(String"),
            (" = Some(\"x\")", "| = |Some(\"\\\"\")|x\")"),
            (": [ b'x'", "|: |Some(\"'\")|x'"),
            ("\\u003dx", "|\\u003d|None|x"),
            ("%3Dx", "|%3D|None|x"),
            ("<-x", "|<-|None|x"),
            (" x", "none"),
            ("?", "none"),
        ] {
            check(parse_separator(rest), rest, expected);
        }
    }

    #[test]
    fn blanks_and_words_are_signs_where_no_other_is() {
        for (rest, expected) in [
            (" x", "||None|x"),
            ("\"  is : 'x'", "|is|Some(\"'\")|x'"),
            (" was x", "|was|None|x"),
            (" isx", "||None|isx"),
            ("x", "none"),
        ] {
            check(parse_blank_separator(rest), rest, expected);
        }
        check(parse_call_argument("( 'x'"), "( 'x'", "||Some(\"'\")|x'");
        check(parse_call_argument(" \"x"), " \"x", "||Some(\"\\\"\")|x");
        check(parse_call_argument("x\""), "x\"", "none");
    }

    #[test]
    fn names_and_values_are_found_beside_each_other() {
        let rest = "\", \"value\": \"x\"";
        check(parse_value_beside(rest), rest, "||Some(\"\\\"\")|x\"");
        check(
            parse_value_line("  - Value = x"),
            "  - Value = x",
            "||None|x",
        );
        assert_eq!(
            parse_name_field("  - name: \"API_KEY\","),
            Some("API_KEY\",")
        );
        assert_eq!(parse_name_field("a name: x"), None);
    }
}
