//! Renders Markdown as HTML, as far as agents use it: headings, lists, boxes, code, quotations, emphasis; all else is
//! text.
//!
//! Accepts any text, and none of it becomes markup: unknown syntax is shown as it is.

use super::escape_html;
use crate::text::fenced_block::{self, MarkdownPart};

/// Maximum depth of nested quotations; deeper ones are shown as text.
const MAX_QUOTE_DEPTH: usize = 4;

/// Renders Markdown as HTML; everything in the text is escaped.
pub fn to_html(text: &str) -> String {
    render_nested(text, 0)
}

fn render_nested(text: &str, depth: usize) -> String {
    let parts = fenced_block::split_parts(text).into_iter();
    parts
        .map(|part| match part {
            MarkdownPart::Prose(text) => render_prose(&text, depth),
            MarkdownPart::Block(block) => {
                format!("<pre><code>{}</code></pre>\n", escape_html(&block.content))
            }
        })
        .collect()
}

/// Returns the quoted text of a quotation line.
fn strip_quote_mark(line: &str, depth: usize) -> Option<&str> {
    let rest = line.strip_prefix('>').filter(|_| depth < MAX_QUOTE_DEPTH)?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

fn render_prose(text: &str, depth: usize) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.peek() {
        let is_quoted = strip_quote_mark(line, depth).is_some();
        let mut run = Vec::new();
        while let Some(line) =
            lines.next_if(|line| strip_quote_mark(line, depth).is_some() == is_quoted)
        {
            run.push(strip_quote_mark(line, depth).unwrap_or(line));
        }
        let run = run.join("\n");
        if is_quoted {
            let quoted = render_nested(&run, depth + 1);
            out.push_str(&format!("<blockquote>\n{quoted}</blockquote>\n"));
        } else {
            out.push_str(&render_paragraphs(&run))
        }
    }
    out
}

fn render_paragraphs(text: &str) -> String {
    let mut out = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let end = |paragraph: &mut Vec<&str>, out: &mut String| {
        if !paragraph.is_empty() {
            let lines: Vec<String> = paragraph.drain(..).map(render_inline).collect();
            out.push_str(&format!("<p dir=\"auto\">{}</p>\n", lines.join("<br>\n")));
        }
    };
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            end(&mut paragraph, &mut out);
        } else if let Some((level, title)) = parse_heading(trimmed) {
            end(&mut paragraph, &mut out);
            // The page itself uses heading levels 1 and 2.
            let level = (level + 2).min(6);
            out.push_str(&format!(
                "<h{level} dir=\"auto\">{}</h{level}>\n",
                render_inline(title)
            ));
        } else {
            paragraph.push(line);
        }
    }
    end(&mut paragraph, &mut out);
    out
}

fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| (level, text.trim()))
}

/// Renders one line: its indentation, boxes, code and emphasis.
pub fn render_inline(line: &str) -> String {
    let trimmed = line.trim_start();
    let lead = "&nbsp;".repeat((line.len() - trimmed.len()).min(24));
    let (sign, rest) = match trimmed
        .strip_prefix("- ")
        .or_else(|| trimmed.strip_prefix("* "))
    {
        Some(rest) => ("• ", rest),
        None => ("", trimmed),
    };
    format!("{lead}{sign}{}", render_emphasis(&replace_checkboxes(rest)))
}

/// Replaces checkboxes with symbols.
fn replace_checkboxes(text: &str) -> String {
    for (sign, shown) in [("[ ] ", "☐ "), ("[x] ", "☑ "), ("[X] ", "☑ ")] {
        if let Some((number, rest)) = text.split_once(sign)
            && number
                .chars()
                .all(|c| c.is_ascii_digit() || ". )".contains(c))
        {
            return format!("{number}{shown}{rest}");
        }
    }
    text.to_owned()
}

/// Renders `code` and **strong**, each only if it is closed.
fn render_emphasis(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*']) {
        let (before, from) = rest.split_at(at);
        out.push_str(&escape_html(before));
        let (mark, tag) = if from.starts_with('`') {
            ("`", "code")
        } else {
            ("**", "strong")
        };
        let inner = from.strip_prefix(mark).and_then(|from| {
            let (inner, after) = from.split_once(mark)?;
            (!inner.trim().is_empty()).then_some((inner, after))
        });
        match inner {
            Some((inner, after)) => {
                out.push_str(&format!("<{tag}>{}</{tag}>", escape_html(inner)));
                rest = after;
            }
            None => {
                let (one, after) = from.split_at(1);
                out.push_str(&escape_html(one));
                rest = after;
            }
        }
    }
    out.push_str(&escape_html(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        assert_eq!(to_html(text), wanted, "{text}");
    }

    #[test]
    fn what_is_known_has_a_form_and_all_else_is_text() {
        check(
            "# T <b>\n\na `x<y` **b**\n- [ ] c",
            "<h3 dir=\"auto\">T &lt;b&gt;</h3>\n<p dir=\"auto\">a <code>x&lt;y</code> <strong>b</strong><br>\n• ☐ c</p>\n",
        );
        check(
            "1. [x] done `open\n",
            "<p dir=\"auto\">1. ☑ done `open</p>\n",
        );
        check(
            "```rs\n<script>&\n```\n",
            "<pre><code>&lt;script&gt;&amp;\n</code></pre>\n",
        );
        check(
            "a\n> # b\n>> c\n>\n> ```\n> > d\n> ```\ne",
            "<p dir=\"auto\">a</p>\n<blockquote>\n<h3 dir=\"auto\">b</h3>\n<blockquote>\n<p dir=\"auto\">c</p>\n</blockquote>\n\
             <pre><code>&gt; d\n</code></pre>\n</blockquote>\n<p dir=\"auto\">e</p>\n",
        );
        check("2 * 3 ** 4", "<p dir=\"auto\">2 * 3 ** 4</p>\n");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn no_text_becomes_markup(text in "([<>&\"'`*# \\n-]|script|onload=|\\[ \\]|é){0,60}") {
            let page = to_html(&text);
            let known = ["p dir=\"auto\"", "/p", "br", "code", "/code", "strong", "/strong", "pre", "/pre", "blockquote", "/blockquote"];
            for tag in page.split('<').skip(1) {
                let name = tag.split('>').next().unwrap_or_default();
                let is_heading = name.trim_start_matches('/').starts_with('h');
                proptest::prop_assert!(known.contains(&name) || is_heading && name.len() < 14, "{name} in {page}");
            }
        }
    }
}
