//! Guesses whether an agent's final message asks the user a question; the last resort.
//!
//! Reads only the last paragraph. Whether the turn also delivered a document is checked elsewhere.

use std::sync::LazyLock;

use regex::Regex;

use super::fenced_block::{self, MarkdownPart};

/// Phrases that ask without a question mark.
static ASKING_PHRASES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)请问|要不要|(?:您|你)(?:是否|想|希望|要)|是否(?:需要|要|继续|同意|可以|应该|采用|使用)|(?:^|[。！；\n])\s*是否|请(?:确认|选择|告诉|告知)",
        r"|(?:^|[.!;:\n]\s*)which\b[^.!\n]*$",
        r"|\b(?:should|shall) (?:i|we)\b|\bdo you want\b|\bwould you (?:like|prefer)\b|\b(?:could|can) you (?:please )?(?:confirm|tell|clarify|provide|share|let|specify|choose|check|decide)\b",
        r"|\bcould you\b|\bplease (?:confirm|choose|clarify|specify|let me know|tell me|decide|advise)\b|\blet me know (?:which|whether|if|what|how)\b",
    ))
    .ok()
});

/// Finds the question at the end of a final message: its last paragraph, if that ends in `?` or `？` or contains a
/// phrase that asks. Code and headings are not questions.
pub fn find_question(text: &str) -> Option<String> {
    let paragraph = last_paragraph(text)?;
    let asked = paragraph
        .lines()
        .map(str::trim)
        .filter(|line| !is_heading(line))
        .collect::<Vec<_>>()
        .join("\n");
    let end =
        asked.trim_end_matches(|c: char| c.is_whitespace() || "*_)\"'”’」』）》`".contains(c));
    let asks = ASKING_PHRASES
        .as_ref()
        .is_some_and(|asks| asks.is_match(&asked));
    (end.ends_with(['?', '？']) || asks).then(|| paragraph.trim().to_owned())
}

/// Returns the lines after the last blank line; `None` if the message ends in code.
fn last_paragraph(text: &str) -> Option<String> {
    let blank =
        |part: &MarkdownPart| matches!(part, MarkdownPart::Prose(prose) if prose.trim().is_empty());
    let last = fenced_block::split_parts(text)
        .into_iter()
        .rfind(|part| !blank(part))?;
    let prose = match last {
        MarkdownPart::Prose(prose) => prose,
        MarkdownPart::Block(_) => return None,
    };
    let mut lines: Vec<&str> = prose
        .trim_end()
        .lines()
        .rev()
        .take_while(|line| !line.trim().is_empty())
        .collect();
    lines.reverse();
    let is_code = |line: &&str| line.starts_with("    ") || line.starts_with('\t');
    (!lines.iter().all(is_code)).then(|| lines.join("\n"))
}

/// `# Why?` and `**Why?**` are section titles.
fn is_heading(line: &str) -> bool {
    let bold = line.len() > 4 && line.starts_with("**") && line.ends_with("**");
    line.starts_with('#') || bold && !line[2..line.len() - 2].contains("**")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(find_question(text).as_deref(), expected, "{text}");
    }

    #[test]
    fn every_phrase_is_a_valid_pattern() {
        assert!(ASKING_PHRASES.is_some());
    }

    #[test]
    fn the_last_paragraph_asks() {
        for last in [
            "Which database shall it be?",
            "这样可以吗？",
            "请问使用哪个数据库",
            "要不要我继续",
            "是否继续执行",
            "Should I go on with option B, or wait.",
            "I can do both. Please confirm the plan",
            "Would you like me to add tests",
            "Let me know whether you prefer A",
            "Two ways:\n1. keep it\n2. drop it\nDo you want 1 or 2",
            "(Is that \"right?\")",
            "**Do it?** Say so, could you",
        ] {
            check(&format!("Done so far.\n\n{last}\n\n"), Some(last));
        }
    }

    #[test]
    fn what_came_before_does_not_ask() {
        check("Should I use X? Yes.\n\nI used X and all tests pass.", None);
        check("What is left?\n\nNothing.", None);
    }

    #[test]
    fn code_and_headings_ask_nothing() {
        check("Look:\n```\n```\nIs it good?", Some("Is it good?"));
        check("Done:\n\n```sh\nread -p 'ok?'\n```\n", None);
        check("Done:\n\n```sh\nshould i?", None);
        check("Summary\n\n## What is next?", None);
        check("Topics\n\n# Why?\n**How?**", None);
        check("Done:\n\n    grep -c x?", None);
        check("", None);
    }

    #[test]
    fn statements_ask_nothing() {
        check("I decided which of the two is better and did it.", None);
        check("测试检查了结果是否正确。", None);
        check("All steps are done.", None);
    }
}
