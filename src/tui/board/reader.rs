//! What is pointed at on the board, whole: a speech with its stance, a check with its output, the outcome.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::cell::Entry;
use super::{Minutes, Spot, words};
use crate::domain::discussion::{
    CheckOutcome, CheckRun, DiscussionParticipant, DiscussionSpeech, ParticipantStance,
};
use crate::tui::command::Move;
use crate::tui::layout::take_above;
use crate::tui::markdown;
use crate::tui::page::Page;
use crate::tui::theme;
use crate::tui::wrap::{cut, one_line, put, shown};

/// How wide a text gets.
const WIDEST: u16 = 112;

/// An open text.
#[derive(Debug, Default)]
pub struct Reader {
    page: Page,
}

impl Reader {
    /// Moves the view.
    pub fn scroll(&mut self, to: Move) {
        self.page.scroll(to);
    }

    /// Draws whose it is, and the visible lines.
    pub fn draw(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        (minutes, spot, column): (&Minutes<'_>, Spot, usize),
    ) {
        let mut area = area;
        let head = take_above(&mut area, 1);
        let title = title(minutes, spot, column);
        let columns = usize::from(area.width);
        let line = Line::from(vec![
            Span::styled("▤ ", theme::STRONG),
            Span::styled(cut(&title, columns.saturating_sub(2)), theme::STRONG),
        ]);
        put(frame, &line, head);
        let area = Rect {
            width: area.width.min(WIDEST),
            ..area
        };
        let columns = usize::from(area.width);
        let text = text(minutes, spot, column);
        let mut hasher = DefaultHasher::new();
        // A text that grows has another length.
        (columns, spot, column, text.len()).hash(&mut hasher);
        self.page.lay_out(hasher.finish(), || {
            markdown::lay_out(&shown(&text), columns, theme::PLAIN)
        });
        self.page.draw(frame, area);
    }
}

/// Whose it is, and when it was said.
fn title(minutes: &Minutes<'_>, spot: Spot, column: usize) -> String {
    let who = |participant: &DiscussionParticipant| {
        let name = one_line(&participant.name);
        format!("{name} · {}", one_line(&participant.adapter))
    };
    match spot {
        Spot::Outcome => "the outcome".to_owned(),
        Spot::Round(n) => {
            let seats = minutes.seats();
            let who = seats.get(column).map_or(String::new(), |seat| who(seat));
            let n = minutes.discussion.rounds.get(n).map_or(0, |round| round.n);
            format!("{who} · round {n} of {}", minutes.discussion.rounds.len())
        }
        Spot::Check(n) => format!("check {}", n + 1),
        Spot::Closing => {
            let who = minutes.closer().map_or(String::new(), who);
            format!("{who} · the last word")
        }
    }
}

/// The whole text as Markdown.
pub fn text(minutes: &Minutes<'_>, spot: Spot, column: usize) -> String {
    match spot {
        Spot::Outcome => match &minutes.discussion.outcome {
            Some(_) => minutes.discussion.result_to_markdown(),
            None => "It is not over yet.".to_owned(),
        },
        Spot::Round(n) => {
            let seats = minutes.seats();
            let seat = seats.get(column);
            seat.map_or(String::new(), |seat| entry(minutes.entry(n, &seat.name)))
        }
        Spot::Check(n) => minutes
            .discussion
            .checks
            .get(n)
            .map_or(String::new(), check),
        Spot::Closing => entry(minutes.closing()),
    }
}

fn entry(entry: Entry<'_>) -> String {
    match entry {
        Entry::Silent => "It did not speak in this round.".to_owned(),
        Entry::ToCome => "It has not spoken yet.".to_owned(),
        Entry::Waits { .. } => "It waits for a place among those that may run.".to_owned(),
        Entry::Speaks { text, .. } => text.to_owned(),
        Entry::Spoke {
            speech,
            before,
            refused,
        } => said(speech, before, refused),
    }
}

fn said(
    speech: &DiscussionSpeech,
    before: Option<&ParticipantStance>,
    refused: Option<&str>,
) -> String {
    if let Some(error) = &speech.error {
        return format!("**{}**\n\n{}", error.code.label(), error.message);
    }
    let head = match &speech.stance {
        Some(stance) => of_stance(stance, before),
        None => {
            let why = speech.no_stance.as_deref().unwrap_or("none was named");
            format!("**? no stance, so no vote:** {why}")
        }
    };
    let refused = refused.map(|why| format!("\n- ⊘ the move does not count: {}", one_line(why)));
    format!("{head}{}\n\n{}", refused.unwrap_or_default(), speech.text)
}

fn of_stance(stance: &ParticipantStance, before: Option<&ParticipantStance>) -> String {
    let (sign, word, _) = words::attitude(stance.stance);
    let sure = stance
        .confidence
        .map_or(String::new(), |sure| format!(", {sure} sure"));
    let mut lines = vec![format!("**{sign} {word}{sure}**")];
    let mut say = |name: &str, text: &str| lines.push(format!("- {name}: {}", one_line(text)));
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
        say("a round before", words::attitude(before.stance).1);
    }
    if let Some(why) = &stance.why_changed {
        say("why it moved", why);
    }
    for evidence in &stance.evidence {
        say("by", evidence);
    }
    for check in &stance.checks {
        say("wants checked", &check.command);
    }
    lines.join("\n")
}

fn check(check: &CheckRun) -> String {
    let (sign, word, _) = words::check(&check.end);
    let text = match &check.end {
        CheckOutcome::Ran { output, .. } => output,
        CheckOutcome::Refused { reason } | CheckOutcome::Failed { reason } => reason,
    };
    let why = match check.order.why.as_str() {
        "" => String::new(),
        why => format!("- settles: {}\n", one_line(why)),
    };
    format!(
        "**{sign} {word}**\n- command: `{}`\n{why}- wanted by: {}\n\n```\n{}\n```",
        one_line(&check.order.command),
        check.asked_by.join(", "),
        text.trim_end(),
    )
}
