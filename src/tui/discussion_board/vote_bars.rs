//! Renders votes as bars: how many are for a proposal, how confident they are, who they are. The counting
//! happens in the domain layer.

use ratatui::text::{Line, Span};

use super::discussion_labels;
use crate::domain::discussion::{
    DiscussionOutcome, MinorityPosition, ParticipantVote, ProposalName, VoteTally,
};
use crate::tui::text_wrap::{text_width, to_one_line, truncate_to_columns};
use crate::tui::theme;

const MAX_BAR_COLUMNS: usize = 20;
const MAX_PROPOSALS: usize = 4;

/// Renders a row for each proposal, the decided one highlighted; each row is indented by `indent` columns.
pub fn vote_rows(
    tallies: &[VoteTally],
    decision: Option<&ProposalName>,
    indent: usize,
    columns: usize,
) -> Vec<Line<'static>> {
    let n_votes: usize = tallies.iter().map(|tally| tally.votes_for.len()).sum();
    let columns = columns.saturating_sub(indent);
    let wordings = tallies
        .iter()
        .map(|tally| text_width(&to_one_line(&tally.wording)));
    let room = wordings
        .max()
        .unwrap_or(0)
        .min(max_wording_columns(columns));
    let row = |tally: &VoteTally| {
        vote_row(
            tally,
            n_votes,
            decision == Some(&tally.proposal),
            room,
            columns,
        )
    };
    tallies.iter().take(MAX_PROPOSALS).map(row).collect()
}

/// Returns the maximum width of a proposal's wording: the bar and the count keep their room.
fn max_wording_columns(columns: usize) -> usize {
    match columns {
        0..60 => columns.saturating_sub(14).max(6),
        60.. => columns / 2,
    }
}

fn vote_row(
    tally: &VoteTally,
    of: usize,
    is_decided: bool,
    room: usize,
    columns: usize,
) -> Line<'static> {
    let (style, of_bar) = if is_decided {
        (theme::GOOD, theme::GOOD)
    } else {
        (theme::PLAIN, theme::CODE)
    };
    let n = tally.votes_for.len();
    let wording = truncate_to_columns(&to_one_line(&tally.wording), room);
    let pad = room.saturating_sub(text_width(&wording)) + 1;
    let count = format!(" {n} of {of}");
    let left = columns.saturating_sub(room + 1 + text_width(&count));
    let mut spans = vec![
        Span::styled(wording, style.patch(theme::STRONG)),
        Span::raw(" ".repeat(pad)),
    ];
    spans.extend(discussion_labels::bar_spans(
        n,
        of,
        left.min(MAX_BAR_COLUMNS),
        of_bar,
    ));
    spans.push(Span::styled(count, theme::STRONG));
    let sure = mean_confidence(&tally.votes_for)
        .map(|sure| format!("  {}.{:02}", (sure + 5) / 1_000, (sure + 5) % 1_000 / 10));
    let who = describe_voters(tally);
    let who = if who.is_empty() {
        who
    } else {
        format!("  {who}")
    };
    for (text, style) in [
        (sure.unwrap_or_default(), theme::PLAIN),
        (who, theme::QUIET),
    ] {
        let used: usize = spans.iter().map(|span| text_width(&span.content)).sum();
        let text = truncate_to_columns(&text, columns.saturating_sub(used));
        // A cut number would show a wrong value, so it is left out.
        if text_width(&text) > 4 && (style != theme::PLAIN || !text.ends_with('…')) {
            spans.push(Span::styled(text, style));
        }
    }
    Line::from(spans)
}

/// Returns the mean confidence of the votes, in thousandths.
fn mean_confidence(votes: &[ParticipantVote]) -> Option<usize> {
    let sure: Vec<usize> = votes
        .iter()
        .filter_map(|vote| vote.confidence)
        .map(|sure| usize::from(sure.in_thousandths()))
        .collect();
    (!sure.is_empty()).then(|| sure.iter().sum::<usize>() / sure.len())
}

/// Lists who is for and who is against a proposal.
fn describe_voters(tally: &VoteTally) -> String {
    let names = |votes: &[ParticipantVote]| {
        let names: Vec<String> = votes
            .iter()
            .map(|vote| to_one_line(&vote.participant))
            .collect();
        names.join(", ")
    };
    let (yes, no) = (names(&tally.votes_for), names(&tally.against));
    match (yes.is_empty(), no.is_empty()) {
        (false, false) => format!("{yes} · against: {no}"),
        (true, false) => format!("against: {no}"),
        (_, true) => yes,
    }
}

/// Describes the votes before any participant had heard another; empty if they did not change.
pub fn describe_first_votes(outcome: &DiscussionOutcome) -> String {
    let counts = |tallies: &[VoteTally]| {
        let voted = tallies.iter().filter(|tally| !tally.votes_for.is_empty());
        let count = |tally: &VoteTally| {
            format!("{} {}", to_one_line(&tally.wording), tally.votes_for.len())
        };
        voted.map(count).collect::<Vec<String>>()
    };
    let (first, last) = (counts(&outcome.independent), counts(&outcome.votes));
    if first == last {
        String::new()
    } else {
        first.join(" · ")
    }
}

/// Lists who has no vote, and why; empty if everyone voted.
pub fn describe_missing_votes(outcome: &DiscussionOutcome) -> String {
    let none = outcome.no_vote.iter();
    let none = none.map(|none| format!("{} ({})", none.participant, none.why));
    let abstained = outcome
        .abstained
        .iter()
        .map(|name| format!("{name} (abstains)"));
    let all: Vec<String> = none.chain(abstained).collect();
    match all.as_slice() {
        [] => String::new(),
        all => format!("no vote of {}", all.join(", ")),
    }
}

/// Describes a minority position: who, for which proposal, how confident, and why.
pub fn describe_minority(minority: &MinorityPosition, outcome: &DiscussionOutcome) -> String {
    let sure = minority
        .confidence
        .map_or(String::new(), |sure| format!(" ({sure})"));
    let stands = match minority.describe_position(outcome) {
        stands if stands.is_empty() => stands,
        stands => format!(" {stands}"),
    };
    let reason = match minority.reason.trim() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    format!("{}{stands}{sure}{reason}", minority.participant)
}
