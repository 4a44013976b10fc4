//! Signs, words and bars for discussions. A sign and a word carry the meaning; color only helps.

use ratatui::style::Style;
use ratatui::text::Span;

use crate::domain::discussion::{
    CheckOutcome, DecisionBasis, DiscussionOutcome, ParticipantStance, ProposalAttitude,
    StanceConfidence,
};
use crate::text::pluralize;
use crate::tui::labels::format_millis;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// A sign, a word and a style.
pub type SignedLabel = (&'static str, &'static str, Style);

/// Returns the label of an attitude to a proposal.
pub fn attitude_label(attitude: ProposalAttitude) -> SignedLabel {
    let (sign, style) = match attitude {
        ProposalAttitude::Agree => ("✓", theme::GOOD),
        ProposalAttitude::AgreeWithChanges => ("±", theme::CODE),
        ProposalAttitude::Disagree => ("✗", theme::BAD),
        ProposalAttitude::Abstain => ("–", theme::QUIET),
    };
    (sign, attitude.label(), style)
}

/// The label of a message without a stance.
pub const NO_STANCE: SignedLabel = ("?", "no stance, no vote", theme::WARNING);

/// Returns the label of how an outcome was decided.
pub fn basis_label(outcome: &DiscussionOutcome) -> SignedLabel {
    let (sign, style) = match outcome.basis {
        DecisionBasis::Consensus | DecisionBasis::Vote | DecisionBasis::Moderator => {
            ("✓", theme::GOOD)
        }
        DecisionBasis::None if !outcome.tie.is_empty() => ("=", theme::WARNING),
        DecisionBasis::None => ("✗", theme::BAD),
    };
    (sign, outcome.basis_label(), style)
}

/// Returns the label of how a check ended.
pub fn check_label(end: &CheckOutcome) -> (&'static str, String, Style) {
    match end {
        CheckOutcome::Ran {
            exit_code: Some(0), ..
        } => ("✓", "exit 0".to_owned(), theme::GOOD),
        CheckOutcome::Ran {
            exit_code: Some(code),
            ..
        } => ("✗", format!("exit {code}"), theme::BAD),
        CheckOutcome::Ran {
            exit_code: None, ..
        } => ("✗", "killed by a signal".to_owned(), theme::BAD),
        CheckOutcome::Refused { .. } => ("⊘", "not allowed to run".to_owned(), theme::BAD),
        CheckOutcome::Failed { .. } => ("!", "failed".to_owned(), theme::BAD),
    }
}

/// Returns the proposal that a stance votes for, in its original wording, else the one that it opposes.
pub fn stance_position(stance: &ParticipantStance) -> Option<(&'static str, &str)> {
    match stance.stance {
        ProposalAttitude::Abstain => None,
        ProposalAttitude::Disagree => match stance.instead.as_deref() {
            Some(instead) => Some(("→ ", instead)),
            None => Some(("not ", stance.proposal.as_str())),
        },
        ProposalAttitude::Agree | ProposalAttitude::AgreeWithChanges => {
            Some(("→ ", stance.proposal.as_str()))
        }
    }
}

/// Renders `share` of `most` as a bar of so many columns.
pub fn bar_spans(share: usize, most: usize, columns: usize, style: Style) -> [Span<'static>; 2] {
    // Rounds to half columns; any share above zero is visible.
    let most = most.max(1);
    let halves = (share.min(most) * columns * 4 + most) / (2 * most);
    let halves = halves.max(usize::from(share > 0)).min(columns * 2);
    let filled = "█".repeat(halves / 2) + if halves % 2 == 1 { "▌" } else { "" };
    [
        Span::styled(filled, style),
        Span::styled("░".repeat(columns - halves.div_ceil(2)), theme::QUIET),
    ]
}

/// Renders a confidence as a short bar and a number; nothing if none was stated.
pub fn confidence_spans(confidence: Option<StanceConfidence>, style: Style) -> Vec<Span<'static>> {
    let Some(confidence) = confidence else {
        return Vec::new();
    };
    let share = usize::from(confidence.in_thousandths());
    let mut spans = bar_spans(share, 1_000, 5, style).to_vec();
    spans.push(Span::raw(format!(" {confidence}")));
    spans
}

/// Describes the decision and its basis on one line, and returns the style to show it in.
pub fn describe_decision(outcome: &DiscussionOutcome) -> (String, Style) {
    let (sign, _, style) = basis_label(outcome);
    (format!("{sign} {}", outcome.describe_decision()), style)
}

/// Describes why the discussion stopped, after how many rounds, and what went wrong.
pub fn describe_stop(outcome: &DiscussionOutcome) -> String {
    let rounds = pluralize(usize::try_from(outcome.rounds).unwrap_or(0), "round");
    let took = format_millis(i64::try_from(outcome.duration_ms).unwrap_or(i64::MAX));
    let mut text = format!("{} · {rounds} · {took}", outcome.stop.describe());
    for error in outcome.errors.iter().take(2) {
        let who = to_one_line(&error.participant);
        text.push_str(&format!(" · ! {who} {}", error.error.code.label()));
    }
    if outcome.errors.len() > 2 {
        text.push_str(&format!(" and {} more", outcome.errors.len() - 2));
    }
    text
}
