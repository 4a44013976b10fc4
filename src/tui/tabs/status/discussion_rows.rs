//! The discussions of a run on the Status tab: the result or progress of each, and its participants. The
//! board shows what they said.

use std::collections::BTreeMap;

use super::status_row::{StatusRow, plain_row};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::discussion_board::{
    BoardCellContent, BoardModel, DiscussionCounts, attitude_label, describe_decision,
};
use crate::tui::labels::format_elapsed;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// Returns the rows, newest discussion first; empty without discussions.
pub(super) fn discussion_rows(state: &RunState, now: UnixMillis) -> Vec<StatusRow> {
    let nothing = BTreeMap::new();
    let mut rows = Vec::new();
    for discussion in state.discussions.iter().rev() {
        let minutes = BoardModel {
            discussion,
            live_texts: &nothing,
            children: &state.children,
            position: (1, 1),
            counts: &DiscussionCounts::EMPTY,
        };
        let (text, style) = match (&discussion.outcome, discussion.is_running()) {
            (Some(outcome), _) => describe_decision(outcome),
            (None, false) => ("■ cut off".to_owned(), theme::BAD),
            (None, true) => {
                let n = discussion.round().map_or(0, |round| round.n);
                let most = discussion.order.terms.max_rounds();
                (format!("◐ round {n} of {most}"), theme::ACCENT)
            }
        };
        let topic = to_one_line(&discussion.order.topic);
        let began = discussion.order.parent.as_ref().and_then(|parent| {
            let roles = [
                ("planner", Some(&state.planner)),
                ("reviewer", state.reviewer.as_ref()),
            ];
            let mut roles = roles.into_iter();
            roles.find_map(|(name, session)| (session?.id == *parent).then_some(name))
        });
        rows.push(StatusRow::new(
            began.unwrap_or("you"),
            &format!("◆ {topic}"),
            theme::STRONG,
        ));
        rows.push(StatusRow::new(" ", &format!("  {text}"), style));
        let participants = &discussion.order.participants;
        for (at, each) in participants.iter().enumerate() {
            let branch = if at + 1 == participants.len() {
                "└"
            } else {
                "├"
            };
            let text = participant_status(&minutes, &each.name, now);
            let name = to_one_line(&each.name);
            rows.push(plain_row(
                " ",
                &format!("  {branch} {name} ({}): {text}", to_one_line(&each.adapter)),
            ));
        }
    }
    if !rows.is_empty() {
        rows.push(plain_row(" ", "see who said what with /board"));
    }
    rows
}

/// Returns what a participant does now, else its stance.
fn participant_status(minutes: &BoardModel<'_>, name: &str, now: UnixMillis) -> String {
    match minutes.current_content(name) {
        Some(BoardCellContent::Speaking { since, .. }) => {
            return format!("answering {}", format_elapsed(since, now));
        }
        Some(BoardCellContent::Waiting { since }) => {
            return format!("waiting for a slot {}", format_elapsed(since, now));
        }
        _ => {}
    }
    let discussion = minutes.discussion;
    let rounds = discussion.rounds.iter().rev();
    let closing = discussion
        .closing
        .iter()
        .filter(|speech| speech.participant == name);
    let said = closing
        .chain(rounds.filter_map(|round| round.speech(name)))
        .next();
    match said {
        None => "has not answered".to_owned(),
        Some(speech) => match (&speech.error, &speech.stance) {
            (Some(error), _) => format!("! {}", error.code.label()),
            (None, None) => "? no stance".to_owned(),
            (None, Some(stance)) => {
                let (sign, word, _) = attitude_label(stance.stance);
                format!("{sign} {word}")
            }
        },
    }
}
