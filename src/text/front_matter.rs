//! Parses and writes front matter: `key: value` lines between two `---` lines at the top of a document.
//!
//! Every key is kept in order, known or not; their meaning is not known here.

/// A document split into front matter and body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatterDocument<'a> {
    /// Keys and values in the order of the text; empty when there is no front matter. A value is
    /// trimmed, its quotes kept; lines that continue it (lists, indented text) follow after `\n`.
    pub fields: Vec<(String, String)>,
    /// The text after the front matter, unchanged.
    pub body: &'a str,
}

impl FrontMatterDocument<'_> {
    /// Returns the value of the first field with this key, without surrounding quotes.
    pub fn get(&self, key: &str) -> Option<&str> {
        let (_, value) = self.fields.iter().find(|(name, _)| name == key)?;
        Some(unquote(value))
    }
}

/// Splits a document. Never fails: anything that is not well-formed front matter is body.
///
/// A byte order mark is dropped, and so are blank lines before the first `---`. CRLF is accepted, and `...` closes as
/// well as `---`. Between them may be fields, lines that continue one (indented or starting with `-`), blank lines and
/// `#` comments; blank lines and comments are dropped.
pub fn parse_document(text: &str) -> FrontMatterDocument<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    parse_fields(text).unwrap_or_else(|| FrontMatterDocument {
        fields: Vec::new(),
        body: text,
    })
}

/// Writes fields and body as one document that [`parse_document`] reads back; without fields there is no front matter.
///
/// Characters that a key cannot contain become `-`; further lines of a value are indented.
pub fn write_document(fields: &[(String, String)], body: &str) -> String {
    if fields.is_empty() {
        return body.to_owned();
    }
    let mut text = String::from("---\n");
    for (key, value) in fields {
        write_field(key, value, &mut text);
    }
    text.push_str("---\n");
    text.push_str(body);
    text
}

/// Sets a field in place, or adds it at the end.
pub fn set_field(fields: &mut Vec<(String, String)>, key: &str, value: &str) {
    match fields.iter_mut().find(|(name, _)| name == key) {
        Some((_, old)) => value.clone_into(old),
        None => fields.push((key.to_owned(), value.to_owned())),
    }
}

fn parse_fields(text: &str) -> Option<FrontMatterDocument<'_>> {
    let mut rest = text;
    let mut line = next_line(&mut rest)?;
    while line.trim().is_empty() {
        line = next_line(&mut rest)?;
    }
    if line.trim_end() != "---" {
        return None;
    }
    let mut fields: Vec<(String, String)> = Vec::new();
    loop {
        let line = next_line(&mut rest)?.trim_end();
        if matches!(line, "---" | "...") {
            return Some(FrontMatterDocument { fields, body: rest });
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with([' ', '\t', '-']) {
            let (_, value) = fields.last_mut()?;
            value.push('\n');
            value.push_str(line);
        } else {
            fields.push(parse_field(line)?);
        }
    }
}

fn next_line<'a>(rest: &mut &'a str) -> Option<&'a str> {
    if rest.is_empty() {
        return None;
    }
    let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let (line, after) = rest.split_at(end);
    *rest = after;
    Some(line)
}

fn parse_field(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let separated = value.is_empty() || value.starts_with([' ', '\t']);
    let is_key = !key.is_empty() && key.chars().all(is_key_char);
    (separated && is_key).then(|| (key.to_owned(), value.trim().to_owned()))
}

fn is_key_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ')
}

fn write_field(key: &str, value: &str, text: &mut String) {
    let key: String = key
        .trim()
        .chars()
        .map(|c| if is_key_char(c) { c } else { '-' })
        .collect();
    // A key that starts with a hyphen would continue the field before it.
    let key = key.trim_start_matches([' ', '-']);
    text.push_str(if key.is_empty() { "key" } else { key });
    text.push(':');
    for (n, line) in value.lines().map(str::trim_end).enumerate() {
        let continues = line.starts_with([' ', '\t', '-']) && line != "---";
        match n {
            0 if line.trim().is_empty() => continue,
            0 => text.push(' '),
            _ if line.trim().is_empty() => continue,
            _ if continues => text.push('\n'),
            _ => text.push_str("\n  "),
        }
        text.push_str(if n == 0 { line.trim() } else { line });
    }
    text.push('\n');
}

fn unquote(value: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, fields: &[(&str, &str)], body: &str) {
        let document = parse_document(text);
        let found: Vec<(&str, &str)> = document
            .fields
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            (found.as_slice(), document.body),
            (fields, body),
            "{text:?}"
        );
        assert_eq!(
            parse_document(&write_document(&document.fields, document.body)),
            document,
            "{text:?}"
        );
    }

    #[test]
    fn fields_keep_their_order_and_unknown_keys() {
        check(
            "---\nstatus: draft\nx-odd: 1: 2\nstatus: again\nempty:\n---\n# Plan\n",
            &[
                ("status", "draft"),
                ("x-odd", "1: 2"),
                ("status", "again"),
                ("empty", ""),
            ],
            "# Plan\n",
        );
    }

    #[test]
    fn byte_order_mark_crlf_and_blank_lines_are_tolerated() {
        check(
            "\u{feff}\r\n---\r\na: b\r\n\r\n# note\r\n---\r\nbody\r\n",
            &[("a", "b")],
            "body\r\n",
        );
        check("---\na: b\n...", &[("a", "b")], "");
    }

    #[test]
    fn continued_values_are_kept() {
        check(
            "---\ntags:\n  - a\n- b\nt: x\n  y\n---\n",
            &[("tags", "\n  - a\n- b"), ("t", "x\n  y")],
            "",
        );
    }

    #[test]
    fn what_is_no_front_matter_is_body() {
        for text in [
            "",
            "# Plan",
            "---\nnever closed: 1\n",
            "---\nprose without a colon\n---\n",
            "---\nurl:http\n---\n",
            "a\n---\nb: c\n---\n",
            "--- \n  x\n---",
        ] {
            check(text, &[], text);
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        check("\u{feff}[APPROVED]\n", &[], "[APPROVED]\n");
    }

    #[test]
    fn an_empty_front_matter_leaves_the_body() {
        assert_eq!(parse_document("---\n---\nbody").body, "body");
    }

    #[test]
    fn a_value_loses_its_quotes_when_asked_for() {
        let document = parse_document("---\na: \"x y\"\nb: 'z'\nc: \"\n---\n");
        assert_eq!(
            [
                document.get("a"),
                document.get("b"),
                document.get("c"),
                document.get("d")
            ],
            [Some("x y"), Some("z"), Some("\""), None]
        );
    }

    #[test]
    fn a_field_is_set_in_place() {
        let mut fields = parse_document("---\na: 1\nb: 2\n---\n").fields;
        set_field(&mut fields, "a", "3");
        set_field(&mut fields, "c", "4");
        assert_eq!(
            write_document(&fields, "x"),
            "---\na: 3\nb: 2\nc: 4\n---\nx"
        );
    }

    #[test]
    fn an_indented_line_of_hyphens_stays_as_it_is() {
        let document = parse_document("---\na: b---\n\t---\n---\nx");
        let written = write_document(&document.fields, document.body);
        assert_eq!(parse_document(&written), document);
    }

    proptest! {
        #[test]
        fn every_text_is_parsed_and_written_back(text in "(---\n|\\.\\.\\.|\n|\r\n|a: b|:| |- x|#|漢|\t){0,24}") {
            let document = parse_document(&text);
            let mut fields = document.fields.clone();
            set_field(&mut fields, "status", "draft");
            let written = write_document(&fields, document.body);
            let again = parse_document(&written);
            prop_assert_eq!(again.fields, fields);
            prop_assert_eq!(again.body, document.body);
        }

        #[test]
        fn any_field_is_written_so_that_it_can_be_read(key in any::<String>(), value in any::<String>(), body in any::<String>()) {
            let written = write_document(&[(key, value)], &body);
            let once = parse_document(&written);
            prop_assert_eq!(once.fields.len(), 1);
            prop_assert_eq!(once.body, &body);
            let again = write_document(&once.fields, once.body);
            prop_assert_eq!(parse_document(&again), once);
        }
    }
}
