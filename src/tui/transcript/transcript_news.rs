//! What of the transcript has not been printed yet, for linear mode: each block once, when it is complete.
//!
//! A text that is being received is printed by whole lines. How much of a block is printed is kept in the block, so it
//! does not matter where later blocks are inserted.

use super::block_content::{BlockContent, FactTone};
use super::transcript_block::{BlockAuthor, PrintedPart, TranscriptBlock};
use crate::text::pluralize;
use crate::tui::markdown;

/// How many lines of details are printed, such as those of failed tests.
const MAX_DETAIL_LINES: usize = 12;

/// Something to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptNews {
    /// Words of an agent or the user.
    Speech {
        author: BlockAuthor,
        /// Whether it is a fresh session that judges a dispute.
        is_judge: bool,
        /// Whether the beginning of the text is printed already.
        continues: bool,
        lines: Vec<String>,
        /// The part of the text that the user wrote as the reason of a decision, if it is one with a reason.
        reason: Option<String>,
    },
    /// What an agent did or thought.
    Deed {
        author: BlockAuthor,
        lines: Vec<String>,
    },
    /// The start of a stage of the run, or of a step.
    Heading { text: String, of_step: Option<u32> },
    /// What the program says.
    Report(Vec<String>),
}

/// Returns how much of a finished text is printed, given the text as it was received so far.
pub(super) fn printed_of_finished(received: &TranscriptBlock, finished: &str) -> PrintedPart {
    let BlockContent::Provisional { text, .. } = &received.content else {
        return received.printed;
    };
    let printed = text.get(..received.printed.n_bytes()).unwrap_or_default();
    let printed = printed.trim_start_matches(['\n', '\r']);
    let same = printed
        .split_inclusive('\n')
        .zip(finished.split_inclusive('\n'))
        .take_while(|(one, other)| one.trim_end() == other.trim_end());
    let n_bytes: usize = same.map(|(_, line)| line.len()).sum();
    match (n_bytes, received.printed) {
        (_, PrintedPart::Nothing) => PrintedPart::Nothing,
        (n_bytes, _) if n_bytes == finished.len() => PrintedPart::Whole,
        (n_bytes, _) => PrintedPart::Beginning(n_bytes),
    }
}

/// Returns what of a block is to be printed, and how much is printed then.
pub(super) fn block_news(
    block: &TranscriptBlock,
    printed: PrintedPart,
) -> Option<(TranscriptNews, PrintedPart)> {
    if printed == PrintedPart::Whole {
        return None;
    }
    let author = block.author;
    let news = match &block.content {
        BlockContent::Provisional { text, .. } => {
            let rest = text.get(printed.n_bytes()..)?;
            let n_bytes = rest.rfind('\n')? + 1;
            let news = speech(block, printed, rest.get(..n_bytes)?);
            return Some((news, PrintedPart::Beginning(printed.n_bytes() + n_bytes)));
        }
        BlockContent::Message { text } => speech(block, printed, text.get(printed.n_bytes()..)?),
        BlockContent::Thinking { text } => TranscriptNews::Deed {
            author,
            lines: vec![format!("thought: {}", first_line(text))],
        },
        BlockContent::Tool(card) => TranscriptNews::Deed {
            author,
            lines: card.ended_lines()?,
        },
        BlockContent::Discussion(talk) if talk.is_over() => {
            TranscriptNews::Report(talk.outcome_lines())
        }
        BlockContent::Discussion(talk) => {
            let is_first = printed == PrintedPart::Nothing;
            let news = TranscriptNews::Report(talk.start_lines());
            return is_first.then_some((news, PrintedPart::Beginning(0)));
        }
        BlockContent::Todos(told) => TranscriptNews::Report(vec![first_line(&told.text)]),
        BlockContent::RunSummary(ending) => TranscriptNews::Report(ending.linear_lines()),
        BlockContent::Notice { text } => TranscriptNews::Report(to_lines(text)),
        BlockContent::Divider(divider) => TranscriptNews::Heading {
            text: divider.text(),
            of_step: divider.step,
        },
        BlockContent::Fact {
            text,
            tone,
            list,
            more,
            step: _,
        } => {
            let mut lines = to_lines(text);
            lines.extend(list.iter().map(ToString::to_string));
            if *tone == FactTone::Bad {
                lines.extend(detail_lines(more));
            }
            TranscriptNews::Report(lines)
        }
    };
    Some((news, PrintedPart::Whole))
}

fn speech(block: &TranscriptBlock, printed: PrintedPart, text: &str) -> TranscriptNews {
    TranscriptNews::Speech {
        author: block.author,
        is_judge: block.is_judge,
        continues: printed != PrintedPart::Nothing,
        lines: to_lines(text),
        reason: block.reason.clone(),
    }
}

fn to_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

fn first_line(text: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    markdown::strip_marks(first.unwrap_or_default())
}

/// Returns the last lines of details, and says how many come before them.
fn detail_lines(more: &str) -> Vec<String> {
    let all = to_lines(more);
    let n_left = all.len().saturating_sub(MAX_DETAIL_LINES);
    let left = (n_left > 0).then(|| format!("  ({} before these)", pluralize(n_left, "line")));
    let shown = all.iter().skip(n_left).map(|line| format!("  {line}"));
    left.into_iter().chain(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{AgentActivity, Event};
    use crate::domain::ids::{TurnId, UnixMillis};
    use crate::domain::text_delta::DeltaChange;
    use crate::domain::turn::Role;
    use crate::tui::transcript::ChatTranscript;
    use proptest::prelude::*;

    fn spoken(transcript: &mut ChatTranscript) -> Vec<String> {
        let lines = transcript.take_news().into_iter().map(|news| match news {
            TranscriptNews::Speech { lines, .. } | TranscriptNews::Report(lines) => lines,
            other => panic!("{other:?}"),
        });
        lines.flatten().collect()
    }

    fn receive(transcript: &mut ChatTranscript, text: &str) {
        let more = DeltaChange::Append(text.to_owned());
        transcript.change_streaming_text(BlockAuthor::Agent(Role::Planner), "1", &more);
    }

    fn finish(transcript: &mut ChatTranscript, text: &str) {
        let event = Event::Agent {
            turn: TurnId::new("trn_1"),
            role: Role::Planner,
            news: AgentActivity::Text {
                text: text.to_owned(),
            },
        };
        transcript.on_event(UnixMillis(0), &event);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_text_is_printed_once_however_it_comes(
            lines in proptest::collection::vec("[a-z *`#.]{0,12}", 1..8),
            pieces in proptest::collection::vec(1usize..20, 0..30),
        ) {
            let text = lines.join("\n");
            let (mut transcript, mut printed) = (ChatTranscript::default(), Vec::new());
            let mut rest = text.as_str();
            for n_bytes in pieces {
                let (piece, after) = rest.split_at(n_bytes.min(rest.len()));
                receive(&mut transcript, piece);
                printed.extend(spoken(&mut transcript));
                rest = after;
            }
            finish(&mut transcript, &text);
            printed.extend(spoken(&mut transcript));
            prop_assert_eq!(printed, to_lines(&text));
            prop_assert!(transcript.take_news().is_empty());
        }
    }

    #[test]
    fn a_text_that_ends_otherwise_than_it_began_is_printed_from_the_difference_on() {
        let mut transcript = ChatTranscript::default();
        receive(&mut transcript, "one\ntwo\nthr");
        assert_eq!(spoken(&mut transcript), ["one", "two"]);
        finish(&mut transcript, "one\nTWO\nthree");
        assert_eq!(spoken(&mut transcript), ["TWO", "three"]);
    }

    #[test]
    fn a_text_that_starts_over_says_so_if_some_of_it_was_printed() {
        for (received, told) in [("one\ntw", true), ("on", false)] {
            let mut transcript = ChatTranscript::default();
            receive(&mut transcript, received);
            spoken(&mut transcript);
            let author = BlockAuthor::Agent(Role::Planner);
            transcript.change_streaming_text(author, "1", &DeltaChange::Withdraw);
            let notice = ["The agent starts this text over"];
            assert_eq!(spoken(&mut transcript), notice[..usize::from(told)]);
        }
    }
}
