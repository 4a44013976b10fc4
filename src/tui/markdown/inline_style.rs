//! Styles emphasis, code and links within a line; marks without a partner stay as they are.

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::code_style;
use crate::tui::theme;

/// The mark pairs, and how the text between them is styled.
const EMPHASIS_PAIRS: [(&str, Modifier); 7] = [
    ("***", Modifier::BOLD.union(Modifier::ITALIC)),
    ("___", Modifier::BOLD.union(Modifier::ITALIC)),
    ("**", Modifier::BOLD),
    ("__", Modifier::BOLD),
    ("~~", Modifier::CROSSED_OUT),
    ("*", Modifier::ITALIC),
    ("_", Modifier::ITALIC),
];

/// The longest line that is parsed, in bytes: one with a thousand unpaired marks is not prose.
const MAX_LINE_BYTES: usize = 16 << 10;

/// Styles the parts of a line.
pub fn style_inline(line: &str, base: Style) -> Vec<Span<'_>> {
    if line.len() > MAX_LINE_BYTES {
        return vec![Span::styled(line, base)];
    }
    let mut spans = Vec::new();
    let mut rest = line;
    // The start of the text that is not part of a pair.
    let mut plain = line;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let found = parse_escape(rest, base)
            .or_else(|| parse_code(rest, base))
            .or_else(|| parse_link(rest, base))
            .or_else(|| parse_pair(rest, before, base));
        match found {
            Some((styled, n_bytes)) => {
                let text = &plain[..plain.len() - rest.len()];
                if !text.is_empty() {
                    spans.push(Span::styled(text, base));
                }
                spans.extend(styled);
                rest = &rest[n_bytes..];
                plain = rest;
                before = Some(' ');
            }
            None => {
                before = Some(c);
                rest = &rest[unpaired_bytes(rest, c)..];
            }
        }
    }
    if !plain.is_empty() {
        spans.push(Span::styled(plain, base));
    }
    spans
}

/// Styles only the code of a line: every other mark can be part of a name or a pattern.
pub fn style_code(line: &str, base: Style) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let (mut plain, mut rest) = (line, line);
    while let Some(at) = rest.find('`').filter(|_| line.len() <= MAX_LINE_BYTES) {
        let from_mark = &rest[at..];
        match parse_code(from_mark, base) {
            Some((code, n_bytes)) => {
                let before = &plain[..plain.len() - from_mark.len()];
                spans.extend((!before.is_empty()).then(|| Span::styled(before, base)));
                spans.extend(code);
                rest = &from_mark[n_bytes..];
                plain = rest;
            }
            None => rest = &from_mark[unpaired_bytes(from_mark, '`')..],
        }
    }
    spans.extend((!plain.is_empty()).then(|| Span::styled(plain, base)));
    spans
}

/// Returns how many bytes are plain text: a run of unpaired marks, or one character.
fn unpaired_bytes(text: &str, c: char) -> usize {
    match c {
        '`' | '*' | '_' | '~' => text.len() - text.trim_start_matches(c).len(),
        _ => c.len_utf8(),
    }
}

/// Parses an escaped mark; the backslash is dropped.
fn parse_escape(text: &str, base: Style) -> Option<(Vec<Span<'_>>, usize)> {
    let mark = text.strip_prefix('\\')?.chars().next()?;
    // In paths and patterns, a backslash comes before other characters.
    let is_mark = "\\`*_~[]#>".contains(mark);
    is_mark.then(|| (vec![Span::styled(&text[1..2], base)], 2))
}

/// Parses inline code, which ends with as many backticks as it starts with.
fn parse_code(text: &str, base: Style) -> Option<(Vec<Span<'_>>, usize)> {
    let inner = text.trim_start_matches('`');
    let n = text.len() - inner.len();
    if n == 0 {
        return None;
    }
    let mut from = 0;
    let end = loop {
        let at = from + inner.get(from..)?.find('`')?;
        let n_here = inner[at..].len() - inner[at..].trim_start_matches('`').len();
        if n_here == n {
            break at;
        }
        from = at + n_here;
    };
    let content = &inner[..end];
    // Spaces separate backticks in the code from those around it.
    let bare = content
        .strip_prefix(' ')
        .and_then(|rest| rest.strip_suffix(' '));
    let content = bare
        .filter(|bare| n > 1 && !bare.trim().is_empty())
        .unwrap_or(content);
    Some((vec![Span::styled(content, code_style(base))], end + 2 * n))
}

/// Parses an emphasis pair; returns how many bytes it takes.
fn parse_pair<'a>(
    text: &'a str,
    before: Option<char>,
    base: Style,
) -> Option<(Vec<Span<'a>>, usize)> {
    let (mark, modifier) = EMPHASIS_PAIRS
        .iter()
        .find(|(mark, _)| text.starts_with(mark))?;
    let inner = &text[mark.len()..];
    let end = find_closing_mark(inner, mark)?;
    let content = &inner[..end];
    let n_bytes = end + 2 * mark.len();
    // Multiplication and words_with_underscores are not emphasis.
    let touches = !content.starts_with(' ') && !content.ends_with(' ');
    let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let after = text[n_bytes..].chars().next();
    let stands_alone = !mark.starts_with('_') || !in_word(before) && !in_word(after);
    if !touches || !stands_alone {
        return None;
    }
    Some((style_inline(content, base.add_modifier(*modifier)), n_bytes))
}

/// Finds the closing mark: not at the start of the text, not inside code, and not escaped.
fn find_closing_mark(text: &str, mark: &str) -> Option<usize> {
    let sign = mark.chars().next()?;
    let mut from = 0;
    while let Some(c) = text.get(from..)?.chars().next() {
        let rest = &text[from..];
        if let Some((_, n)) =
            parse_escape(rest, Style::new()).or_else(|| parse_code(rest, Style::new()))
        {
            from += n;
            continue;
        }
        if c != sign {
            from += c.len_utf8();
            continue;
        }
        let n_here = rest.len() - rest.trim_start_matches(sign).len();
        // In a run of three, the inner emphasis closes first, so the last marks are the partner.
        let is_partner = n_here == mark.len() || n_here > mark.len() && n_here != 2;
        if from > 0 && is_partner {
            return Some(from + n_here - mark.len());
        }
        from += n_here;
    }
    None
}

/// Parses a link: its text, and its address if that is different.
fn parse_link(text: &str, base: Style) -> Option<(Vec<Span<'_>>, usize)> {
    let inner = text.strip_prefix('[')?;
    let end = inner.find("](")?;
    let (words, rest) = (&inner[..end], &inner[end + 2..]);
    let close = rest.find(')')?;
    let address = &rest[..close];
    if words.is_empty() || words.contains('[') || address.contains(char::is_whitespace) {
        return None;
    }
    let mut spans = vec![Span::styled(words, base.add_modifier(Modifier::UNDERLINED))];
    if address != words && !address.is_empty() {
        spans.push(Span::styled(format!(" ({address})"), theme::QUIET));
    }
    Some((spans, 1 + end + 2 + close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the parts, each with a sign for its style.
    fn check(line: &str, wanted: &str) {
        let parts = style_inline(line, Style::new()).into_iter().map(|span| {
            let sign = match span.style {
                style if style == theme::CODE => "c",
                style if style == theme::QUIET => "q",
                style if style.add_modifier.contains(Modifier::BOLD) => "b",
                style if style.add_modifier.contains(Modifier::ITALIC) => "i",
                style if style.add_modifier.contains(Modifier::UNDERLINED) => "u",
                style if style.add_modifier.contains(Modifier::CROSSED_OUT) => "x",
                _ => "-",
            };
            format!("{sign}:{}", span.content)
        });
        assert_eq!(parts.collect::<Vec<String>>().join("|"), wanted);
    }

    #[test]
    fn pairs_of_marks_are_taken_away_and_others_stay() {
        check(
            "a **b** *c* _d_ ~~e~~ `f_g`",
            "-:a |b:b|-: |i:c|-: |i:d|-: |x:e|-: |c:f_g",
        );
        check(
            "2 * 3 * 4, snake_case_name, **open",
            "-:2 * 3 * 4, snake_case_name, **open",
        );
        check("**中文**字", "b:中文|-:字");
        check("`**x**`", "c:**x**");
        check("***a*** b *c*", "b:a|-: b |i:c");
        check("**a *b* c** d", "b:a |b:b|b: c|-: d");
        check("*a **b** c* d", "i:a |b:b|i: c|-: d");
        check("``a`b`` and `` ` ``", "c:a`b|-: and |c:`");
        check("`**` and **b**", "c:**|-: and |b:b");
    }

    #[test]
    fn what_is_meant_as_it_is_stands_so() {
        check(r"\*a\* **b**", "-:*|-:a|-:*|-: |b:b");
        check(r"*a\*b* c", "i:a|i:*|i:b|-: c");
        check(r"C:\dir and \d+", r"-:C:\dir and \d+");
    }

    #[test]
    fn of_a_line_with_names_only_code_is_styled() {
        for (line, wanted) in [
            ("a `b c` **d** `e", "-:a |c:b c|-: **d** `e"),
            ("``x`y`` _z_", "c:x`y|-: _z_"),
            ("src/**/*.rs", "-:src/**/*.rs"),
            ("", ""),
        ] {
            let parts = style_code(line, Style::new()).into_iter().map(|span| {
                let is_code = span.style == theme::CODE;
                format!("{}:{}", if is_code { "c" } else { "-" }, span.content)
            });
            assert_eq!(parts.collect::<Vec<String>>().join("|"), wanted);
        }
    }

    #[test]
    fn a_link_says_where_it_leads() {
        check(
            "see [the page](https://a.b/c).",
            "-:see |u:the page|q: (https://a.b/c)|-:.",
        );
        check("[ ] no link (x)", "-:[ ] no link (x)");
        check("[https://a.b](https://a.b)", "u:https://a.b");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(256))]
        #[test]
        fn no_line_loses_a_letter(line in "([a中 `*_~\\[\\])é]|\\(b\\)){0,40}") {
            // The address of a link is always `b`, which is never a text: one that is its text is shown once.
            let all: String = style_inline(&line, Style::new()).iter().map(|span| span.content.as_ref()).collect();
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
            proptest::prop_assert_eq!(letters(&all), letters(&line));
        }
    }
}
