//! The full text of the selected item of the board: a message with its stance, a check with its output, the
//! outcome.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::board_cell::BoardCellContent;
use super::{BoardModel, BoardTarget, discussion_labels};
use crate::domain::discussion::{
    CheckOutcome, CheckRun, DiscussionParticipant, DiscussionSpeech, ParticipantStance,
};
use crate::tui::markdown;
use crate::tui::scroll_view::ScrollView;
use crate::tui::text_wrap::{clean_for_display, draw_line, to_one_line, truncate_to_columns};
use crate::tui::theme;
use crate::tui::view_area::split_top;
use crate::tui::view_moves::ScrollMove;

const MAX_TEXT_COLUMNS: u16 = 112;

/// An open text with its scroll position.
#[derive(Debug, Default)]
pub struct BoardReader {
    page: ScrollView,
}

impl BoardReader {
    /// Applies a scroll move to the open text.
    pub fn scroll(&mut self, to: ScrollMove) {
        self.page.scroll(to);
    }

    /// Draws the title and the visible lines.
    pub fn draw(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        minutes: &BoardModel<'_>,
        spot: BoardTarget,
        column: usize,
    ) {
        let mut area = area;
        let head = split_top(&mut area, 1);
        let title = spot_title(minutes, spot, column);
        let columns = usize::from(area.width);
        let line = Line::from(vec![
            Span::styled("▤ ", theme::STRONG),
            Span::styled(
                truncate_to_columns(&title, columns.saturating_sub(2)),
                theme::STRONG,
            ),
        ]);
        draw_line(frame, &line, head);
        let area = Rect {
            width: area.width.min(MAX_TEXT_COLUMNS),
            ..area
        };
        let columns = usize::from(area.width);
        let text = to_markdown(minutes, spot, column);
        let mut hasher = DefaultHasher::new();
        // A growing text changes its length, so the length is enough to notice new text.
        (columns, spot, column, text.len()).hash(&mut hasher);
        self.page.lay_out(hasher.finish(), || {
            markdown::lay_out(&clean_for_display(&text), columns, theme::PLAIN)
        });
        self.page.draw(frame, area);
    }
}

/// Returns whose text it is, and when it was said.
fn spot_title(minutes: &BoardModel<'_>, spot: BoardTarget, column: usize) -> String {
    let who = |participant: &DiscussionParticipant| {
        let name = to_one_line(&participant.name);
        format!("{name} · {}", to_one_line(&participant.adapter))
    };
    match spot {
        BoardTarget::Outcome => "the outcome".to_owned(),
        BoardTarget::Round(n) => {
            let seats = minutes.column_participants();
            let who = seats.get(column).map_or(String::new(), |seat| who(seat));
            let n = minutes.discussion.rounds.get(n).map_or(0, |round| round.n);
            format!("{who} · round {n} of {}", minutes.discussion.rounds.len())
        }
        BoardTarget::Check(n) => format!("check {}", n + 1),
        BoardTarget::Closing => {
            let who = minutes.closing_moderator().map_or(String::new(), who);
            format!("{who} · final words")
        }
    }
}

/// Returns the whole text as Markdown.
pub fn to_markdown(minutes: &BoardModel<'_>, spot: BoardTarget, column: usize) -> String {
    match spot {
        BoardTarget::Outcome => match &minutes.discussion.outcome {
            Some(_) => minutes.discussion.result_to_markdown(),
            None => "Not finished yet.".to_owned(),
        },
        BoardTarget::Round(n) => {
            let seats = minutes.column_participants();
            let seat = seats.get(column);
            seat.map_or(String::new(), |seat| {
                content_markdown(minutes.cell_content(n, &seat.name))
            })
        }
        BoardTarget::Check(n) => minutes
            .discussion
            .checks
            .get(n)
            .map_or(String::new(), check_markdown),
        BoardTarget::Closing => content_markdown(minutes.closing_content()),
    }
}

fn content_markdown(entry: BoardCellContent<'_>) -> String {
    match entry {
        BoardCellContent::Silent => "Did not answer in this round.".to_owned(),
        BoardCellContent::Pending => "Has not answered yet.".to_owned(),
        BoardCellContent::Waiting { .. } => "Waiting for a free slot.".to_owned(),
        BoardCellContent::Speaking { text, .. } => text.to_owned(),
        BoardCellContent::Finished {
            speech,
            before,
            refused,
        } => speech_markdown(speech, before, refused),
    }
}

fn speech_markdown(
    speech: &DiscussionSpeech,
    before: Option<&ParticipantStance>,
    refused: Option<&str>,
) -> String {
    if let Some(error) = &speech.error {
        return format!("**{}**\n\n{}", error.code.label(), error.message);
    }
    let head = match &speech.stance {
        Some(stance) => stance_markdown(stance, before),
        None => {
            let why = speech.no_stance.as_deref().unwrap_or("no reason given");
            format!("**? no stance, no vote:** {why}")
        }
    };
    let refused =
        refused.map(|why| format!("\n- ⊘ the change does not count: {}", to_one_line(why)));
    format!("{head}{}\n\n{}", refused.unwrap_or_default(), speech.text)
}

fn stance_markdown(stance: &ParticipantStance, before: Option<&ParticipantStance>) -> String {
    let (sign, word, _) = discussion_labels::attitude_label(stance.stance);
    let sure = stance
        .confidence
        .map_or(String::new(), |sure| format!(", {sure} sure"));
    let mut lines = vec![format!("**{sign} {word}{sure}**")];
    let mut say = |name: &str, text: &str| lines.push(format!("- {name}: {}", to_one_line(text)));
    if !stance.proposal.is_empty() {
        say("proposal", &stance.proposal);
    }
    if let Some(instead) = &stance.instead {
        say("instead", instead);
    }
    for blocking in &stance.blocking {
        say("! blocks", blocking);
    }
    if let Some(before) = before.filter(|before| before.stance != stance.stance) {
        say(
            "earlier round",
            discussion_labels::attitude_label(before.stance).1,
        );
    }
    if let Some(why) = &stance.why_changed {
        say("why it changed", why);
    }
    for evidence in &stance.evidence {
        say("by", evidence);
    }
    for check in &stance.checks {
        say("wants a check", &check.command);
    }
    lines.join("\n")
}

fn check_markdown(check: &CheckRun) -> String {
    let (sign, word, _) = discussion_labels::check_label(&check.end);
    let text = match &check.end {
        CheckOutcome::Ran { output, .. } => output,
        CheckOutcome::Refused { reason } | CheckOutcome::Failed { reason } => reason,
    };
    let why = match check.order.why.as_str() {
        "" => String::new(),
        why => format!("- decides: {}\n", to_one_line(why)),
    };
    format!(
        "**{sign} {word}**\n- command: `{}`\n{why}- requested by: {}\n\n```\n{}\n```",
        to_one_line(&check.order.command),
        check.asked_by.join(", "),
        text.trim_end(),
    )
}
