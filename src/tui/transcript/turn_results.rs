//! What the end of a turn adds to the stream, and what it makes unnecessary there: a failure, which also counts the tries
//! before it, or the judgement of a dispute.

use super::ChatTranscript;
use super::block_content::{BlockContent, FactTone};
use super::event_blocks;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use super::turn_failure_note::TurnFailureNote;
use crate::domain::event::Event;
use crate::domain::event_wording::{TurnFailureWording, word_event, word_turn_failure};
use crate::domain::question::QuestionKind;
use crate::domain::review::{JUDGEMENT_BLOCK, parse_judgements};
use crate::domain::turn::{MissingDocumentReason, Role, TurnOutcome};
use crate::text::fenced_block::{BlockEnd, MarkdownPart, split_parts};

/// Returns the blocks of what a turn ended with.
pub(super) fn turn_result_blocks(
    transcript: &mut ChatTranscript,
    event: &Event,
) -> Vec<TranscriptBlock> {
    match event {
        Event::TurnEnded {
            result: TurnOutcome::Failed { kind, message, .. },
            ..
        } => {
            let adapter = transcript.turns.adapter(failed_role(transcript));
            let words = word_turn_failure(adapter, kind, message);
            failure_blocks(transcript, &words, message)
        }
        Event::DocumentMissing {
            reason: MissingDocumentReason::Defect(text),
            ..
        } => {
            let words = TurnFailureWording {
                title: "The turn returned no document".to_owned(),
                reason: text.clone(),
            };
            failure_blocks(transcript, &words, text)
        }
        Event::TurnEnded {
            result: TurnOutcome::Completed { .. },
            ..
        } => {
            forget_failures(transcript);
            event_blocks::from_event(event)
        }
        Event::DisputesJudged { judgements, .. } => {
            remove_judgement_text(transcript, judgements.len());
            let wording = word_event(event);
            wording.map_or(Vec::new(), |wording| event_blocks::from_review(&wording))
        }
        _ => event_blocks::from_event(event),
    }
}

/// Returns whether the stream ends with the failure that the question is about.
pub(super) fn ends_with_failure_of(transcript: &ChatTranscript, event: &Event) -> bool {
    let Event::QuestionAsked { question } = event else {
        return false;
    };
    let message = match &question.kind {
        QuestionKind::AdapterFailed { message, .. } => message.clone(),
        QuestionKind::NoDocument { reason, .. } => reason.to_string(),
        _ => return false,
    };
    let last = transcript.blocks.back().and_then(failure_of);
    last.is_some_and(|failure| failure.message == message)
}

/// Returns whose turn failed, if the stream says so.
fn failed_role(transcript: &ChatTranscript) -> Option<Role> {
    let retried = transcript
        .blocks
        .back()
        .filter(|block| block.failure.is_some());
    let retried = retried.and_then(|block| block.about);
    transcript.turns.last_role().or(retried)
}

/// Returns the block of a failure. One block counts all tries that ended with the same words.
fn failure_blocks(
    transcript: &mut ChatTranscript,
    words: &TurnFailureWording,
    message: &str,
) -> Vec<TranscriptBlock> {
    let mut n_tries = 1;
    let is_retry = |block: &mut TranscriptBlock| {
        let is_notice = matches!(block.content, BlockContent::Notice { .. });
        is_notice
            && block
                .failure
                .as_ref()
                .is_some_and(|one| one.message == message)
    };
    while let Some(retry) = transcript.blocks.pop_back_if(is_retry) {
        n_tries += retry.failure.as_ref().map_or(0, |one| one.n_tries);
    }
    if let Some((at, before)) = find_same_failure(transcript, message) {
        n_tries += before;
        fold_failure(transcript, at);
    }
    transcript
        .scroll
        .follow_end_if_gone(transcript.end_number(), transcript.end_number());
    transcript.recount_bytes();
    let tried = match n_tries {
        1 => String::new(),
        n => format!(", tried {n} times"),
    };
    let reason = match words.reason.trim() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let text = format!("{}{tried}{reason}", words.title);
    let content = BlockContent::fact(FactTone::Bad, &text);
    let mut block = TranscriptBlock::new(BlockAuthor::System, content);
    block.failure = Some(TurnFailureNote::new(message, n_tries));
    vec![block]
}

/// Finds the failure of the try before this one, if it ended with the same words and the user has said nothing since.
fn find_same_failure(transcript: &ChatTranscript, message: &str) -> Option<(usize, u32)> {
    let blocks = transcript.blocks.iter().enumerate().rev();
    let mut blocks = blocks.take_while(|(_, block)| {
        let is_heading = matches!(block.content, BlockContent::Divider(_));
        !is_heading && !matches!(block.author, BlockAuthor::User | BlockAuthor::TaskGiver)
    });
    let (at, failure) = blocks.find_map(|(at, block)| Some((at, failure_of(block)?)))?;
    (failure.message == message).then_some((at, failure.n_tries))
}

/// Removes a failure that a later row counts, with what was said since if that repeats what was said before; otherwise
/// leaves a row that says that there was another try: what the CLI said is in the later row.
fn fold_failure(transcript: &mut ChatTranscript, at: usize) {
    // A row that only a dialog hides counts here.
    let has_rows = |block: &&TranscriptBlock| block.visibility.has_rows();
    let since: Vec<&TranscriptBlock> = transcript.blocks.range(at + 1..).filter(has_rows).collect();
    let mut before = transcript.blocks.range(..at).rev().filter(has_rows);
    let is_repeated = since.iter().rev().all(|block| {
        let other = before.next();
        other.is_some_and(|other| other.author == block.author && other.content == block.content)
    });
    if is_repeated {
        transcript.blocks.truncate(at);
        transcript.turns.reset_name();
    } else if let Some(block) = transcript.blocks.get_mut(at) {
        block.replace_content(BlockContent::notice("Failed, tried again"));
        block.failure = None;
    }
}

/// Lets no later failure count those before a turn that completed.
fn forget_failures(transcript: &mut ChatTranscript) {
    let blocks = transcript.blocks.iter_mut().rev();
    for block in blocks.take_while(|block| !matches!(block.content, BlockContent::Divider(_))) {
        block.failure = None;
    }
}

/// Removes the block with the judgements from the text of the agent that judged, where the list of the judgements, which
/// has so many, repeats all of it.
fn remove_judgement_text(transcript: &mut ChatTranscript, n_judgements: usize) {
    let mut blocks = transcript.blocks.iter_mut().rev();
    let Some(block) = blocks.find(|block| block.author.is_agent()) else {
        return;
    };
    let BlockContent::Message { text } = &block.content else {
        return;
    };
    let is_repeated = |judged: &str| {
        let n_lines = judged
            .lines()
            .filter(|line| !line.trim().is_empty())
            .count();
        n_lines == n_judgements && parse_judgements(judged).len() == n_judgements
    };
    let parts = split_parts(text);
    if let [
        MarkdownPart::Prose(said),
        MarkdownPart::Block(judged),
        MarkdownPart::Prose(rest),
    ] = parts.as_slice()
        && judged.info == JUDGEMENT_BLOCK
        && judged.end == BlockEnd::Closed
        && is_repeated(&judged.content)
        && !said.trim().is_empty()
        && rest.trim().is_empty()
    {
        block.replace_content(BlockContent::message(said));
        transcript.recount_bytes();
    }
}

/// Returns what a failure in the stream says, if the block is one.
fn failure_of(block: &TranscriptBlock) -> Option<&TurnFailureNote> {
    let is_fact = matches!(block.content, BlockContent::Fact { .. });
    block.failure.as_ref().filter(|_| is_fact)
}
