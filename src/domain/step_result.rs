//! Reads the result of a step as its executor states it: done, already true, or blocked (TRUTH.md T20).
//!
//! It is a claim. What the program itself finds out about the step decides what becomes of it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use super::findings::evidence::EvidenceCheck;
use crate::text::fenced_block::{self, MarkdownPart};
use crate::text::{clean_text, truncate};

/// The info string of the block that states a result.
const RESULT_BLOCK: &str = "step-result";
/// How long the text of a result may be, in characters.
const MAX_TEXT_CHARS: usize = 2_000;

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    pub kind: StepResultKind,
    /// What the agent says of it, cleaned: for `blocked` what stands in the way. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// For `blocked` what the program found of what it quotes; `None` until it looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<EvidenceCheck>,
}

/// What an executor can say of its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum StepResultKind {
    /// The change is complete.
    Done,
    /// The repository did what the step asks before its turn.
    AlreadyTrue,
    /// The step cannot be done as it is written.
    Blocked,
    /// The turn ended without a result.
    #[strum(disabled)]
    Unstated,
}

impl StepResult {
    pub fn new(kind: StepResultKind, text: &str) -> Self {
        let text = truncate::to_chars(clean_text(text).trim(), MAX_TEXT_CHARS);
        let check = None;
        Self { kind, text, check }
    }

    /// Describes the result: `blocked: the file is generated`.
    fn describe(&self) -> String {
        let word = match self.kind {
            StepResultKind::Done => "done",
            StepResultKind::AlreadyTrue => "already true",
            StepResultKind::Blocked => "blocked",
            StepResultKind::Unstated => "not stated",
        };
        if self.text.is_empty() {
            word.to_owned()
        } else {
            format!("{word}: {}", self.text)
        }
    }
}

/// Splits a message into the result that it states and the rest; the last block counts. A message that begins with
/// `BLOCKED:` states one, too: version 0.1 asked for that.
pub fn split_result(message: &str) -> (Option<StepResult>, String) {
    let parts = fenced_block::split_parts(message).into_iter();
    let (blocks, rest): (Vec<_>, Vec<_>) = parts
        .partition(|part| matches!(part, MarkdownPart::Block(block) if block.info == RESULT_BLOCK));
    if blocks.is_empty() {
        return (parse_blocked_line(message), message.to_owned());
    }
    let result = blocks.last().and_then(|part| match part {
        MarkdownPart::Block(block) => parse_result(&block.content),
        MarkdownPart::Prose(_) => None,
    });
    let rest = rest.into_iter().map(|part| match part {
        MarkdownPart::Prose(text) => text,
        MarkdownPart::Block(block) => fenced_block::fence_text_as(&block.info, &block.content)
            .trim_start_matches('\n')
            .to_owned(),
    });
    let rest: String = rest.collect();
    (result, rest.trim_end().to_owned())
}

/// Returns a message with one line in place of the blocks that state a result; a message without one as it is.
pub fn with_result_line(message: &str) -> Cow<'_, str> {
    if !message.contains(RESULT_BLOCK) {
        return Cow::Borrowed(message);
    }
    match split_result(message) {
        (Some(result), rest) if rest != message => {
            let line = format!("Result of the step: {}", result.describe());
            let parts = [rest.as_str(), line.as_str()];
            let parts = parts.into_iter().filter(|part| !part.is_empty());
            Cow::Owned(parts.collect::<Vec<_>>().join("\n\n"))
        }
        _ => Cow::Borrowed(message),
    }
}

/// Reads `blocked: words`, `result: already true` and the like: the word stands first, the text follows.
fn parse_result(content: &str) -> Option<StepResult> {
    let content = content.trim_start();
    let content = content.strip_prefix("result:").unwrap_or(content);
    let content = content.trim_start();
    let word_end = content.find([':', '\n']).unwrap_or(content.len());
    let (word, text) = content.split_at(word_end);
    let word = word.trim().to_lowercase().replace([' ', '-'], "_");
    let kind = word.parse().ok()?;
    let result = StepResult::new(kind, text.trim_start_matches(':'));
    // A blocked result without what stands in the way is none.
    let says_nothing = kind == StepResultKind::Blocked && result.text.is_empty();
    (!says_nothing).then_some(result)
}

/// Reads `BLOCKED: words` at the beginning of a message.
pub fn parse_blocked_line(message: &str) -> Option<StepResult> {
    const MARKS: [char; 5] = ['*', '#', '`', '>', ' '];
    let line = message.trim_start().lines().next()?;
    let (word, why) = line.trim_start_matches(MARKS).split_once(':')?;
    let word = word.trim_end_matches(MARKS);
    let is_blocked = word.eq_ignore_ascii_case("blocked");
    is_blocked.then(|| StepResult::new(StepResultKind::Blocked, why.trim_start_matches(MARKS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_the_result_as_one_line() {
        for (message, expected) in [
            (
                "Wrote.\n\n```step-result\ndone\n```\n",
                "Wrote.\n\nResult of the step: done",
            ),
            (
                "```step-result\nalready true: a.rs:3 has it\n```",
                "Result of the step: already true: a.rs:3 has it",
            ),
            ("A step-result is left out.", "A step-result is left out."),
            (
                "```step-result\nperhaps\n```",
                "```step-result\nperhaps\n```",
            ),
            ("BLOCKED: no step-result", "BLOCKED: no step-result"),
        ] {
            assert_eq!(with_result_line(message), expected);
        }
    }

    #[track_caller]
    fn check(message: &str, expected: Option<(StepResultKind, &str)>, rest: &str) {
        let (result, left) = split_result(message);
        let expected = expected.map(|(kind, text)| StepResult::new(kind, text));
        assert_eq!((result, left.as_str()), (expected, rest), "{message}");
    }

    #[test]
    fn a_result_is_read_from_the_last_block_and_leaves_the_rest() {
        use StepResultKind::{AlreadyTrue, Blocked, Done};
        let said = "Add the parser";
        check(
            &format!("{said}\n\n```step-result\ndone\n```\n"),
            Some((Done, "")),
            said,
        );
        check(
            &format!("```step-result\nresult: already true\n```\n{said}"),
            Some((AlreadyTrue, "")),
            said,
        );
        check(
            "~~~step-result\nAlready-True: a.rs:3 has it\n~~~",
            Some((AlreadyTrue, "a.rs:3 has it")),
            "",
        );
        check(
            "```step-result\nblocked\nThe file says:\n\"no\"\n```",
            Some((Blocked, "The file says:\n\"no\"")),
            "",
        );
        check(
            "```step-result\ndone\n```\nno:\n```step-result\nblocked: it is locked\n```",
            Some((Blocked, "it is locked")),
            "no:",
        );
        check(
            "See\n```sh\nls\n```\n```step-result\ndone\n```",
            Some((Done, "")),
            "See\n```sh\nls\n```",
        );
    }

    #[test]
    fn what_is_no_result_is_none() {
        for message in [
            "",
            "Done.",
            "```\ndone\n```",
            "It was not BLOCKED: see above",
        ] {
            check(message, None, message);
        }
        check("Hm\n```step-result\nperhaps\n```", None, "Hm");
        check("```step-result\n```", None, "");
        check("```step-result\nblocked\n```", None, "");
        check(
            "```step-result\ndone\n```\nor\n```step-result\nperhaps\n```",
            None,
            "or",
        );
    }

    #[test]
    fn a_message_that_begins_with_blocked_is_one() {
        let expected = Some((StepResultKind::Blocked, "no key"));
        for message in [
            "BLOCKED: no key",
            "**Blocked:** no key",
            "> blocked: no key",
        ] {
            check(message, expected, message);
        }
    }
}
