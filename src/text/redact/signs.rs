//! What stands between the name of a secret and its value: signs, blanks, brackets and quotes, byte by byte.
//!
//! Most names lead to nothing, and that must be seen at a glance, so nothing here is a pattern. Refuses to know
//! which names and which values are meant.

/// How one comes from a name to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way<'t> {
    /// The quote that ends the name, with its backslashes and a bracket after it.
    pub(super) around: &'t str,
    /// The sign, with the blanks around it; a word or nothing where blanks are the sign.
    pub(super) sign: &'t str,
    /// Where the value begins, counted from the end of the name.
    pub(super) value: usize,
    /// The quote right before the value, with its backslashes.
    pub(super) quote: Option<&'t str>,
}

/// How many blanks may stand in one place.
const MOST_BLANKS: usize = 40;

/// What may stand around a literal in code.
const WRAPPERS: [&str; 8] = [
    "<<",
    "default=",
    "Some(",
    "Ok(",
    "SecretString::new(",
    "SecretString::from(",
    "Secret(",
    "String::from(",
];

/// `: "x"`, ` = 'x'`, `" => x`, `: &str = "x"`, and all the other signs.
pub(super) fn sign(rest: &str) -> Option<Way<'_>> {
    let mut reader = Reader::new(rest);
    reader.word("%22");
    if reader.quote(b"\"'`").is_none() && reader.many(b"\\") > 0 && reader.sees("u003") {
        reader.at -= 1;
    }
    _ = reader.word("[]") || reader.one(b"]");
    let is_call = [") ?", ") |"].iter().any(|end| reader.sees(end));
    if is_call {
        reader.at += 1;
    }
    let around = reader.since(0);
    reader.colours();
    let from = reader.at;
    reader.blanks(MOST_BLANKS);
    reader.sign()?;
    reader.blanks(MOST_BLANKS);
    let sign = reader.since(from);
    if sign.starts_with("%3") {
        reader.word("%22");
    }
    if reader.colours() {
        reader.blanks(MOST_BLANKS);
        reader.colours();
    }
    let quote = reader.opening();
    Some(Way {
        around,
        sign,
        value: reader.at,
        quote,
    })
}

/// `("x"`, ` 'x'`: a quoted value right after a name.
pub(super) fn call(rest: &str) -> Option<Way<'_>> {
    let mut reader = Reader::new(rest);
    if reader.one(b"({") {
        reader.blanks(1);
    } else if reader.blanks(8) == 0 {
        return None;
    }
    let quote = reader.quote(b"\"'")?;
    Some(reader.way(Some(quote)))
}

/// ` x`, ` "x"`, ` is x`: the sign is the word, or nothing.
pub(super) fn blank(rest: &str) -> Option<Way<'_>> {
    let mut reader = Reader::new(rest);
    if reader.quote(b"\"'`").is_none() {
        reader.many(b"\\");
    }
    if reader.blanks(MOST_BLANKS) == 0 {
        return None;
    }
    let from = reader.at;
    let sign = reader.told().unwrap_or_default();
    if sign.is_empty() {
        reader.at = from;
    }
    let quote = reader.quote(b"\"'`");
    Some(Way {
        sign,
        ..reader.way(quote)
    })
}

/// `", "value": "x"`: the value that stands beside its name.
pub(super) fn value_beside(rest: &str) -> Option<Way<'_>> {
    let mut reader = Reader::new(rest);
    reader.quote(b"\"'");
    reader.blanks(MOST_BLANKS);
    reader.one(b",;");
    reader.blanks(MOST_BLANKS);
    if reader.quote(b"\"'").is_none() {
        reader.many(b"\\");
    }
    reader.named(&["value"]).then_some(())?;
    reader.value()
}

/// `value: x`, with what lists and objects put before it.
pub(super) fn value_alone(line: &str) -> Option<Way<'_>> {
    let mut reader = Reader::new(line);
    reader.no_word();
    reader.named(&["value"]).then_some(())?;
    reader.value()
}

/// The value of `- name: x`, with the quotes that it may have.
pub(super) fn named_value(line: &str) -> Option<&str> {
    let mut reader = Reader::new(line);
    reader.no_word();
    reader.named(&["name", "key"]).then_some(())?;
    let way = reader.value()?;
    line.get(way.value..)
}

/// A place in a text that is read from left to right.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    pub(super) fn since(&self, from: usize) -> &'t str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn sees(&self, word: &str) -> bool {
        self.rest().starts_with(word.as_bytes())
    }

    pub(super) fn take(&mut self, most: usize, test: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest().iter().take(most);
        let n = rest.take_while(|byte| test(**byte)).count();
        self.at += n;
        n
    }

    pub(super) fn blanks(&mut self, most: usize) -> usize {
        self.take(most, is_blank)
    }

    pub(super) fn many(&mut self, of: &[u8]) -> usize {
        self.take(usize::MAX, |byte| of.contains(&byte))
    }

    pub(super) fn one(&mut self, of: &[u8]) -> bool {
        self.take(1, |byte| of.contains(&byte)) == 1
    }

    pub(super) fn word(&mut self, word: &str) -> bool {
        let is_there = self.sees(word);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    /// Takes a quote with the backslashes before it.
    fn quote(&mut self, of: &[u8]) -> Option<&'t str> {
        let from = self.at;
        self.many(b"\\");
        if self.one(of) {
            Some(self.since(from))
        } else {
            self.at = from;
            None
        }
    }

    pub(super) fn quote_or_slashes(&mut self) {
        if self.quote(b"\"'`").is_none() {
            self.many(b"\\");
        }
    }

    /// Takes the sequences that colour what follows, as programs write them around names and values.
    pub(super) fn colours(&mut self) -> bool {
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

    fn sign(&mut self) -> Option<()> {
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
            [b'=', ..] => self.take(3, |byte| byte == b'=') > 0,
            [b':', ..] => self.typed() || self.one(b":"),
            [b',', ..] => self.one(b","),
            [b'%', ..] => ["%3d", "%3D", "%3a", "%3A"]
                .iter()
                .any(|sign| self.word(sign)),
            [b'\\', ..] => self.word("\\u003d") || self.word("\\u003D"),
            _ => false,
        };
        is_sign.then_some(())
    }

    /// Takes `: &'static str =`.
    fn typed(&mut self) -> bool {
        let from = self.at;
        self.one(b":");
        self.blanks(1);
        self.one(b"&");
        self.word("'static ");
        let is_type = self.take(1, |byte| byte.is_ascii_alphabetic() || byte == b'_') == 1;
        self.take(24, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'[' | b']')
        });
        let is_typed = is_type && self.blanks(1) == 1 && self.one(b"=");
        if !is_typed {
            self.at = from;
        }
        is_typed
    }

    /// Takes what may stand between a sign and a quoted value, and the quote; without a quote, nothing.
    fn opening(&mut self) -> Option<&'t str> {
        let from = self.at;
        if self.one(b"[") {
            self.blanks(MOST_BLANKS);
        }
        let _wrapped = WRAPPERS.iter().any(|wrapper| self.word(wrapper));
        self.take(2, |byte| {
            matches!(byte, b'b' | b'f' | b'r' | b'u' | b'@' | b'$')
        });
        let quote = self.quote(b"\"'`");
        match quote {
            // Three quotes begin a longer string.
            Some("\"") => _ = self.word("\"\""),
            Some("'") => _ = self.word("''"),
            Some(_) => {}
            None => self.at = from,
        }
        quote
    }

    /// Takes `is ` or `was: `.
    fn told(&mut self) -> Option<&'t str> {
        let from = self.at;
        if !(self.word("is") || self.word("was")) {
            return None;
        }
        let word = self.since(from);
        let n = self.blanks(8);
        let n = if self.one(b":") { self.blanks(4) } else { n };
        (n > 0).then_some(word)
    }

    /// Takes what is no word, as lists and objects have it before a name.
    fn no_word(&mut self) {
        self.take(MOST_BLANKS, |byte| {
            !byte.is_ascii_alphanumeric() && byte != b'_'
        });
    }

    /// Takes one of some names, in either case, and the quote after it.
    fn named(&mut self, names: &[&str]) -> bool {
        let rest = self.rest();
        let is_there = |name: &&&str| {
            rest.get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        };
        let Some(name) = names.iter().find(is_there) else {
            return false;
        };
        self.at += name.len();
        if self.quote(b"\"'").is_none() {
            self.many(b"\\");
        }
        true
    }

    /// Takes a colon or an equals sign and the quote after it.
    fn value(&mut self) -> Option<Way<'t>> {
        self.blanks(MOST_BLANKS);
        self.one(b":=").then_some(())?;
        self.blanks(MOST_BLANKS);
        let quote = self.quote(b"\"'");
        Some(self.way(quote))
    }

    fn way(&self, quote: Option<&'t str>) -> Way<'t> {
        Way {
            around: "",
            sign: "",
            value: self.at,
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

    fn check(way: Option<Way<'_>>, rest: &str, expected: &str) {
        let seen = way.map(|way| {
            let value = &rest[way.value..];
            format!("{}|{}|{:?}|{value}", way.around, way.sign, way.quote)
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
            check(sign(rest), rest, expected);
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
            check(blank(rest), rest, expected);
        }
        check(call("( 'x'"), "( 'x'", "||Some(\"'\")|x'");
        check(call(" \"x"), " \"x", "||Some(\"\\\"\")|x");
        check(call("x\""), "x\"", "none");
    }

    #[test]
    fn names_and_values_are_found_beside_each_other() {
        let rest = "\", \"value\": \"x\"";
        check(value_beside(rest), rest, "||Some(\"\\\"\")|x\"");
        check(value_alone("  - Value = x"), "  - Value = x", "||None|x");
        assert_eq!(named_value("  - name: \"API_KEY\","), Some("API_KEY\","));
        assert_eq!(named_value("a name: x"), None);
    }
}
