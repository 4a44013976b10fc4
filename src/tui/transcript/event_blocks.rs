//! Converts an event into the blocks that the stream shows for it.
//!
//! Only new blocks are created here; other modules update blocks, for finished tool calls and texts.

use std::borrow::Cow;

use super::block_content::{BlockContent, FactTone};
use super::stage_divider::StageDivider;
use super::tool_call_card::ToolCallCard;
use super::transcript_block::{BlockAuthor, TranscriptBlock};
use crate::domain::event::{AgentActivity, Event};
use crate::domain::event_wording::{
    EventSpeaker, EventTone, EventWording, word_activity, word_event,
};
use crate::domain::phase::Gate;
use crate::domain::question::QuestionKind;
use crate::domain::receipt::Receipt;
use crate::domain::step_proof::StepProof;
use crate::domain::turn::Role;
use crate::tui::labels::format_millis;
use crate::tui::text_wrap::{clean_for_display, to_one_line};

/// Returns the user's approval of a plan in the words of the answer that was chosen, which sets the gate before.
pub fn plan_approval(gate: Gate) -> Vec<TranscriptBlock> {
    let text = match gate {
        Gate::Auto => "Run all steps of the plan",
        Gate::Manual => "Run the plan step by step",
    };
    let text = BlockContent::message(text);
    vec![TranscriptBlock::new(BlockAuthor::User, text)]
}

/// Returns the goal that the user wrote in place of the proposed one, and that it is confirmed.
pub fn goal_in_own_words(goal: &str) -> Vec<TranscriptBlock> {
    let goal = TranscriptBlock::new(BlockAuthor::User, BlockContent::message(goal));
    vec![goal, goal_confirmation("Goal confirmed in your words")]
}

fn goal_confirmation(text: &str) -> TranscriptBlock {
    TranscriptBlock::new(
        BlockAuthor::System,
        BlockContent::fact(FactTone::Good, text),
    )
}

/// Returns the blocks of an event; none if another part of the screen shows it.
pub fn from_event(event: &Event) -> Vec<TranscriptBlock> {
    let is_shown_elsewhere = match event {
        Event::QuestionAsked { question } => matches!(question.kind, QuestionKind::Gate { .. }),
        // Shown by modules that know the calls, the turns, the steps and the tasks.
        Event::SessionVersion { .. }
        | Event::StepAudited(_)
        | Event::TaskPatched { .. }
        | Event::Discussion { .. } => true,
        // The question that follows says it.
        Event::DocumentConflict { .. } => true,
        _ => false,
    };
    if is_shown_elsewhere {
        return Vec::new();
    }
    if let Event::Agent { role, news, .. } = event {
        return from_activity(BlockAuthor::Agent(*role), news);
    }
    let Some(wording) = word_event(&without_test_origin(event)) else {
        return Vec::new();
    };
    match event {
        Event::TestsRan { receipt, .. } => with_test_receipt(&wording, receipt),
        Event::BaselineRan(baseline) => {
            let mut blocks = with_test_receipt(&wording, &baseline.receipt);
            let cost = baseline.describe_cost();
            blocks.extend(cost.iter().flat_map(|cost| notice(cost)));
            blocks
        }
        Event::PhaseChanged { .. } if !wording.detail.is_empty() => {
            let reasons = wording.detail.iter().map(|reason| {
                let reason = BlockContent::fact(FactTone::Good, &reason.to_string());
                TranscriptBlock::new(BlockAuthor::System, reason)
            });
            from_wording(&wording).into_iter().chain(reasons).collect()
        }
        // The title is in the goal, which is right above, and in the header.
        Event::GoalConfirmed { .. } => vec![goal_confirmation("Goal confirmed")],
        Event::ReviewCommitted { .. } => from_review(&wording),
        _ => from_wording(&wording),
    }
}

/// Returns the block of a step's proof in short, with what was seen as details.
pub fn from_step_proof(step: u32, short: &str, proof: &StepProof) -> Vec<TranscriptBlock> {
    let shown = proof.describe_in_plain_words();
    fact_with_detail(FactTone::Plain, &format!("Step {step}: {short}"), &shown)
}

/// Returns the block of a review, with its list of findings.
pub fn from_review(wording: &EventWording) -> Vec<TranscriptBlock> {
    let (tone, text) = (fact_tone(wording.tone), &wording.text);
    let findings = BlockContent::fact_with_list(tone, text, &wording.detail);
    vec![TranscriptBlock::new(BlockAuthor::System, findings)]
}

/// Returns the event without the origin of a test command, which is told where the command is approved and on the Status
/// tab.
fn without_test_origin(event: &Event) -> Cow<'_, Event> {
    let mut event = Cow::Borrowed(event);
    if matches!(*event, Event::TestsRan { .. } | Event::BaselineRan(_)) {
        match event.to_mut() {
            Event::TestsRan { receipt, .. } => receipt.origin = None,
            Event::BaselineRan(baseline) => baseline.receipt.origin = None,
            _ => {}
        }
    }
    event
}

/// Returns the block of an event's words, without their details; none for a minor event.
pub fn from_wording(wording: &EventWording) -> Vec<TranscriptBlock> {
    let text = &wording.text;
    let content = match wording.tone {
        EventTone::Minor => return Vec::new(),
        EventTone::Message => BlockContent::message(text),
        EventTone::Quiet | EventTone::Warning => BlockContent::notice(text),
        EventTone::Heading => BlockContent::Divider(StageDivider::of_stage(text.clone())),
        EventTone::Plain | EventTone::Good | EventTone::Bad | EventTone::Question => {
            BlockContent::fact(fact_tone(wording.tone), text)
        }
    };
    let author = match (wording.tone, wording.speaker) {
        (EventTone::Message, EventSpeaker::User) => BlockAuthor::User,
        (EventTone::Message, EventSpeaker::Agent(Some(role))) => BlockAuthor::Agent(role),
        _ => BlockAuthor::System,
    };
    vec![TranscriptBlock::new(author, content)]
}

/// Returns the blocks of an agent's activity.
pub fn from_activity(who: BlockAuthor, news: &AgentActivity) -> Vec<TranscriptBlock> {
    let agent = |content| vec![TranscriptBlock::new(who, content)];
    match news {
        AgentActivity::Thinking { text } if !text.trim().is_empty() => {
            agent(BlockContent::Thinking {
                text: clean_for_display(text.trim()),
            })
        }
        AgentActivity::ToolStarted {
            item,
            tool,
            title,
            detail,
        } => agent(BlockContent::Tool(ToolCallCard::new(
            item,
            tool.clone(),
            title,
            detail.as_ref(),
        ))),
        AgentActivity::Notice { text } => notice(&format!(
            "{}: {text}",
            who.role().map_or("agent", Role::name)
        )),
        _ => {
            let wording = word_activity(who.role(), news);
            wording.map_or(Vec::new(), |wording| from_wording(&wording))
        }
    }
}

/// Returns a dimmed line.
pub fn notice(text: &str) -> Vec<TranscriptBlock> {
    vec![TranscriptBlock::new(
        BlockAuthor::System,
        BlockContent::notice(text),
    )]
}

fn fact_with_detail(tone: FactTone, text: &str, proof: &str) -> Vec<TranscriptBlock> {
    vec![TranscriptBlock::new(
        BlockAuthor::System,
        BlockContent::fact_with_detail(tone, text, proof),
    )]
}

fn fact_tone(tone: EventTone) -> FactTone {
    match tone {
        EventTone::Good => FactTone::Good,
        EventTone::Bad => FactTone::Bad,
        EventTone::Question => FactTone::Question,
        EventTone::Plain
        | EventTone::Message
        | EventTone::Minor
        | EventTone::Quiet
        | EventTone::Warning
        | EventTone::Heading => FactTone::Plain,
    }
}

/// Returns a fact that opens to the test command, its duration and the end of its output, if a command ran.
fn with_test_receipt(wording: &EventWording, receipt: &Receipt) -> Vec<TranscriptBlock> {
    let proof = match receipt.command.as_str() {
        "" => String::new(),
        command => format!(
            "$ {}  {}\n{}",
            to_one_line(command),
            format_millis(i64::try_from(receipt.duration_ms).unwrap_or(i64::MAX)),
            receipt.output_tail.trim_end()
        ),
    };
    fact_with_detail(fact_tone(wording.tone), &wording.text, &proof)
}
