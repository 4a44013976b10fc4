//! Finds fenced code blocks in Markdown, and the document that an agent sent in one.
//!
//! What a document must contain is checked elsewhere.

/// A fenced code block: its info string and its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedBlock {
    /// The text after the opening fence, trimmed.
    pub info: String,
    /// The lines between the fences, each with its line end, without the fence's indentation.
    pub content: String,
    /// Whether there is a closing fence.
    pub end: BlockEnd,
}

/// A part of a Markdown text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkdownPart {
    /// Whole lines outside of blocks; may be empty.
    Prose(String),
    /// A block, without its fences.
    Block(FencedBlock),
}

/// How a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockEnd {
    Closed,
    /// By the end of the text.
    Unclosed,
}

/// How a fence with an info string is read inside a block with the same fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FenceSyntax {
    /// As in CommonMark: it is content, and the next bare fence closes the outer block.
    Flat,
    /// As agents mean it: it opens an inner block, which the next bare fence closes.
    Nested,
}

/// A line that is a fence.
#[derive(Debug, Clone, Copy)]
struct FenceLine<'a> {
    indent: usize,
    sign: char,
    len: usize,
    info: &'a str,
}

/// Finds the fenced blocks of a text, in order, as CommonMark defines them: three or more backticks or tildes, indented
/// by at most three spaces, closed by the same sign at least as often.
pub fn find_blocks(text: &str) -> Vec<FencedBlock> {
    parse_blocks(text, FenceSyntax::Flat)
}

/// Finds the document `file_name` in a message: the last closed block whose info string contains the name as a word
/// (`markdown plan.md`, `plan.md`, `title="docs/plan.md"`).
///
/// A document may contain fences of its own length if each opens with an info string.
pub fn find_document(text: &str, file_name: &str) -> Option<String> {
    find_closed_block(parse_blocks(text, FenceSyntax::Nested), file_name)
        .or_else(|| find_closed_block(find_blocks(text), file_name))
}

/// Splits a text into prose and fenced blocks, in order.
pub fn split_parts(text: &str) -> Vec<MarkdownPart> {
    parse_parts(text, FenceSyntax::Flat)
}

/// Puts a text between fences longer than any run of backticks in it. The fences get lines of their own, because a
/// fence on a line with other text does not count as one.
pub fn fence_text(text: &str) -> String {
    fence_text_as("data", text)
}

/// Puts a text into a fenced block with this info string, as [`fence_text`] does.
pub fn fence_text_as(info: &str, text: &str) -> String {
    let mut longest = 2;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let text = text.trim_end_matches(['\n', '\r']);
    format!("\n{fence}{info}\n{text}\n{fence}\n")
}

fn find_closed_block(blocks: Vec<FencedBlock>, file_name: &str) -> Option<String> {
    blocks
        .into_iter()
        .rfind(|block| block.end == BlockEnd::Closed && has_word(&block.info, file_name))
        .map(|block| block.content)
}

fn has_word(info: &str, word: &str) -> bool {
    info.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')))
        .any(|part| part == word)
}

fn parse_blocks(text: &str, reading: FenceSyntax) -> Vec<FencedBlock> {
    let block = |part| match part {
        MarkdownPart::Block(block) => Some(block),
        MarkdownPart::Prose(_) => None,
    };
    parse_parts(text, reading)
        .into_iter()
        .filter_map(block)
        .collect()
}

fn parse_parts(text: &str, reading: FenceSyntax) -> Vec<MarkdownPart> {
    let mut parts = Vec::new();
    let mut prose = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        match parse_opening_fence(line) {
            Some(fence) => {
                parts.push(MarkdownPart::Prose(std::mem::take(&mut prose)));
                parts.push(MarkdownPart::Block(parse_block(fence, &mut lines, reading)));
            }
            None => prose.push_str(line),
        }
    }
    parts.push(MarkdownPart::Prose(prose));
    parts
}

fn parse_block<'a>(
    opened: FenceLine<'_>,
    lines: &mut impl Iterator<Item = &'a str>,
    reading: FenceSyntax,
) -> FencedBlock {
    let mut content = String::new();
    let mut depth = 1usize;
    for line in lines {
        if let Some(fence) = parse_fence(line).filter(|fence| fence.sign == opened.sign) {
            if fence.info.is_empty() && fence.len >= opened.len {
                depth -= 1;
            } else if reading == FenceSyntax::Nested
                && fence.len == opened.len
                && fence.is_opening()
            {
                depth += 1;
            }
        }
        if depth == 0 {
            return FencedBlock {
                info: opened.info.to_owned(),
                content,
                end: BlockEnd::Closed,
            };
        }
        content.push_str(unindent(line, opened.indent));
    }
    FencedBlock {
        info: opened.info.to_owned(),
        content,
        end: BlockEnd::Unclosed,
    }
}

impl FenceLine<'_> {
    /// An info string after backticks must not contain any, or `` ```x``` `` on one line would open a block.
    fn is_opening(&self) -> bool {
        self.sign == '~' || !self.info.contains('`')
    }
}

fn parse_opening_fence(line: &str) -> Option<FenceLine<'_>> {
    parse_fence(line).filter(FenceLine::is_opening)
}

fn parse_fence(line: &str) -> Option<FenceLine<'_>> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let marked = &line[indent..];
    let sign = marked.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = marked.trim_start_matches(sign);
    let len = marked.len() - info.len();
    (indent <= 3 && len >= 3).then(|| FenceLine {
        indent,
        sign,
        len,
        info: info.trim(),
    })
}

fn unindent(line: &str, indent: usize) -> &str {
    let spaces = line
        .bytes()
        .take(indent)
        .take_while(|byte| *byte == b' ')
        .count();
    &line[spaces..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(
            find_document(text, "plan.md").as_deref(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn the_name_may_stand_anywhere_in_the_info_string() {
        for info in [
            "plan.md",
            "markdown plan.md",
            "md title=\"docs/plan.md\"",
            "md:plan.md",
            "{.md file=plan.md}",
        ] {
            check(
                &format!("Here:\n```{info}\n# Plan\n```\nbye"),
                Some("# Plan\n"),
            );
        }
        for info in ["", "markdown", "my-plan.md", "plan.md.bak", "plan"] {
            check(&format!("```{info}\n# Plan\n```"), None);
        }
    }

    #[test]
    fn the_last_closed_block_counts() {
        check(
            "```plan.md\nold\n```\n\n~~~~ plan.md\nnew\n~~~~\n```plan.md\ncut",
            Some("new\n"),
        );
        check("```plan.md\ncut off", None);
        check("", None);
    }

    #[test]
    fn longer_fences_hold_shorter_ones() {
        check(
            "````plan.md\na\n```sh\nls\n```\nb\n````\n",
            Some("a\n```sh\nls\n```\nb\n"),
        );
        check("~~~plan.md\n```\nx\n```\n~~~", Some("```\nx\n```\n"));
        check("`````plan.md\n````\n```\n``````", Some("````\n```\n"));
    }

    #[test]
    fn a_document_may_hold_fences_of_its_own_length() {
        check(
            "```plan.md\na\n```sh\nls\n```\nb\n```\nbye",
            Some("a\n```sh\nls\n```\nb\n"),
        );
    }

    #[test]
    fn an_inner_fence_that_is_never_closed_is_content() {
        check("```plan.md\na\n```sh\nls\n```\nbye", Some("a\n```sh\nls\n"));
    }

    #[test]
    fn indentation_and_line_ends_are_tolerated() {
        check(
            "  ```plan.md\r\n  a\r\n    b\r\n ```\r\n",
            Some("a\r\n  b\r\n"),
        );
        check("    ```plan.md\n    a\n    ```\n", None);
        check("```plan.md```\ntext\n```\n", None);
    }

    #[test]
    fn text_and_blocks_keep_their_order() {
        let found: Vec<String> = split_parts("a\n```sh\nb?\n```\nc\n```\nd")
            .into_iter()
            .map(|part| match part {
                MarkdownPart::Prose(prose) => format!("prose {prose:?}"),
                MarkdownPart::Block(block) => format!("block {:?}", block.content),
            })
            .collect();
        let expected = [
            r#"prose "a\n""#,
            r#"block "b?\n""#,
            r#"prose "c\n""#,
            r#"block "d""#,
            r#"prose """#,
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn every_text_is_read(text in "(```|~~~~|````| |plan.md|\n|x|漢){0,40}") {
            let found = find_blocks(&text);
            prop_assert!(found.iter().rev().skip(1).all(|block| block.end == BlockEnd::Closed));
            find_document(&text, "plan.md");
        }
    }
}
