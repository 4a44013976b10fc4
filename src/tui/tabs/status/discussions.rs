//! The discussions of a run on Status: what each came to or how far it is, and below it who takes part.
//!
//! Refuses to tell what was said: the board does.

use std::collections::BTreeMap;

use super::{Row, row};
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;
use crate::tui::board::{Counted, Entry, Minutes, attitude, decided};
use crate::tui::theme;
use crate::tui::words::elapsed;
use crate::tui::wrap::one_line;

/// The rows, the newest discussion first; none where there was none.
pub(super) fn rows(state: &RunState, now: UnixMillis) -> Vec<Row> {
    let nothing = BTreeMap::new();
    let mut rows = Vec::new();
    for discussion in state.discussions.iter().rev() {
        let minutes = Minutes {
            discussion,
            live: &nothing,
            children: &state.children,
            of_several: (1, 1),
            counted: &Counted::NONE,
        };
        let (text, style) = match (&discussion.outcome, discussion.is_running()) {
            (Some(outcome), _) => decided(outcome),
            (None, false) => ("■ cut off".to_owned(), theme::BAD),
            (None, true) => {
                let n = discussion.round().map_or(0, |round| round.n);
                let most = discussion.order.terms.max_rounds();
                (format!("◌ round {n} of {most}"), theme::KEY)
            }
        };
        let topic = one_line(&discussion.order.topic);
        let began = discussion.order.parent.as_ref().and_then(|parent| {
            let roles = [
                ("planner", Some(&state.planner)),
                ("reviewer", state.reviewer.as_ref()),
            ];
            let mut roles = roles.into_iter();
            roles.find_map(|(name, session)| (session?.id == *parent).then_some(name))
        });
        rows.push(Row::new(
            began.unwrap_or("you"),
            &format!("◆ {topic}"),
            theme::STRONG,
        ));
        rows.push(Row::new(" ", &format!("  {text}"), style));
        let participants = &discussion.order.participants;
        for (at, each) in participants.iter().enumerate() {
            let branch = if at + 1 == participants.len() {
                "└"
            } else {
                "├"
            };
            let text = in_words(&minutes, &each.name, now);
            let name = one_line(&each.name);
            rows.push(row(
                " ",
                &format!("  {branch} {name} ({}): {text}", one_line(&each.adapter)),
            ));
        }
    }
    if !rows.is_empty() {
        rows.push(row(" ", "/board shows who said what"));
    }
    rows
}

/// What a participant is at, else where it stands.
fn in_words(minutes: &Minutes<'_>, name: &str, now: UnixMillis) -> String {
    match minutes.now_of(name) {
        Some(Entry::Speaks { since, .. }) => return format!("speaks {}", elapsed(since, now)),
        Some(Entry::Waits { since }) => {
            return format!("waits for a place {}", elapsed(since, now));
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
        None => "has not spoken".to_owned(),
        Some(speech) => match (&speech.error, &speech.stance) {
            (Some(error), _) => format!("! {}", error.code.label()),
            (None, None) => "? no stance".to_owned(),
            (None, Some(stance)) => {
                let (sign, word, _) = attitude(stance.stance);
                format!("{sign} {word}")
            }
        },
    }
}
