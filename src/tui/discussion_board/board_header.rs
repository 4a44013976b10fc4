//! The header of the board. It shows the topic, then who is awaited and what leads; once the discussion is
//! over, the outcome: the decision and its basis, every vote, the minority, open points, the stop reason.
//!
//! Where not everything fits, the least important lines go first.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::BoardModel;
use super::board_cell::{BoardCellContent, signed_lines, truncate_rows};
use super::vote_bars;
use super::{board_columns, discussion_labels};
use crate::domain::discussion::{DiscussionOutcome, GroupDiscussion};
use crate::domain::ids::UnixMillis;
use crate::text::pluralize;
use crate::tui::labels::format_elapsed;
use crate::tui::text_wrap::{line_width, text_width, to_one_line, truncate_to_columns, wrap_spans};
use crate::tui::theme;

/// Width of the row names.
const NAME_COLUMNS: usize = 12;
/// Below this width, rows have no names.
const MIN_NAMED_COLUMNS: usize = 60;

/// A line and its importance: the lowest weights are dropped first.
struct WeightedLine {
    weight: u8,
    line: Line<'static>,
    /// Whether the next line continues this one.
    goes_on: bool,
}

/// Collects the lines of the header.
struct HeaderLines {
    columns: usize,
    lines: Vec<WeightedLine>,
}

impl HeaderLines {
    /// Adds lines: the first with one weight, the others with another.
    fn add_weighted(&mut self, first: u8, rest: u8, lines: Vec<Line<'static>>) {
        let last = lines.len().saturating_sub(1);
        let weighed = lines.into_iter().enumerate().map(|(n, line)| WeightedLine {
            weight: if n == 0 { first } else { rest },
            line,
            goes_on: n < last,
        });
        self.lines.extend(weighed);
    }

    /// Keeps the most important lines, at most `rows`; a cut text is marked.
    fn into_fitting(mut self, rows: usize) -> Vec<Line<'static>> {
        while self.lines.len() > rows.max(1) {
            let all = self.lines.iter().enumerate().rev();
            let Some((at, _)) = all.min_by_key(|(_, line)| line.weight) else {
                break;
            };
            self.lines.remove(at);
            let before = at.checked_sub(1).and_then(|at| self.lines.get_mut(at));
            if let Some(before) = before.filter(|before| before.goes_on) {
                before.goes_on = false;
                mark_line_cut(&mut before.line, self.columns);
            }
        }
        self.lines.into_iter().map(|line| line.line).collect()
    }
}

/// Marks at the end of a line that text was cut.
fn mark_line_cut(line: &mut Line<'static>, columns: usize) {
    if line_width(line) < columns {
        line.spans.push(Span::styled("…", theme::QUIET));
    } else if let Some(last) = line.spans.last_mut() {
        let room = text_width(&last.content).saturating_sub(1);
        *last = Span::styled(truncate_to_columns(&last.content, room), last.style);
    }
}

/// Lays out the header in at most `rows` lines.
pub fn header_lines(
    minutes: &BoardModel<'_>,
    columns: usize,
    rows: usize,
    now: UnixMillis,
) -> Vec<Line<'static>> {
    let mut head = HeaderLines {
        columns,
        lines: Vec::new(),
    };
    add_title(&mut head, minutes, now);
    match &minutes.discussion.outcome {
        Some(outcome) => {
            // The moderator's final message is shown in full below the header.
            let most = match minutes.discussion.closing {
                Some(_) => 2,
                None => 4,
            };
            add_outcome(&mut head, outcome, most);
        }
        None => add_progress(&mut head, minutes, now),
    }
    head.into_fitting(rows)
}

/// Describes the mode of the discussion and its progress.
fn describe_progress(minutes: &BoardModel<'_>, now: UnixMillis) -> String {
    let discussion = minutes.discussion;
    let terms = &discussion.order.terms;
    let mut parts = Vec::new();
    let (at, n) = minutes.position;
    if n > 1 {
        parts.push(format!("{at} of {n}"));
    }
    parts.extend(discussion.order.finding.map(|n| format!("finding {n}")));
    parts.push(terms.mode.as_str().to_owned());
    parts.push(match discussion.round() {
        Some(round) => format!("round {} of {}", round.n, terms.rounds),
        None => pluralize(usize::try_from(terms.rounds).unwrap_or(0), "round"),
    });
    if discussion.is_running() {
        parts.push(format_elapsed(discussion.running_since, now));
    }
    parts.join(" · ")
}

/// Adds the topic and, where there is room, the settings behind it.
fn add_title(head: &mut HeaderLines, minutes: &BoardModel<'_>, now: UnixMillis) {
    let columns = head.columns;
    let about = describe_progress(minutes, now);
    let topic = to_one_line(&minutes.discussion.order.topic);
    let gap = columns.saturating_sub(text_width(&topic) + text_width(&about));
    if gap >= 2 {
        let line = Line::from(vec![
            Span::styled(topic, theme::STRONG),
            Span::raw(" ".repeat(gap)),
            Span::styled(about, theme::QUIET),
        ]);
        return head.add_weighted(9, 9, vec![line]);
    }
    head.add_weighted(9, 1, signed_lines("", &topic, columns, 2, theme::STRONG));
    let about = Line::styled(truncate_to_columns(&about, columns), theme::QUIET);
    head.add_weighted(4, 4, vec![about]);
}

/// Adds who is awaited, since when, and which proposal leads.
fn add_progress(head: &mut HeaderLines, minutes: &BoardModel<'_>, now: UnixMillis) {
    if let Some((text, style)) = describe_awaited(minutes, head.columns, now) {
        let line = Line::styled(truncate_to_columns(&text, head.columns), style);
        head.add_weighted(10, 10, vec![line]);
    }
    let standing = &minutes.counts.tallies;
    let rows = vote_bars::vote_rows(standing, None, name_indent(head.columns), head.columns);
    head.add_weighted(5, 3, prefix_name(rows, "so far", head.columns));
}

/// Describes who is awaited; `None` if the columns below say all of it.
fn describe_awaited(
    minutes: &BoardModel<'_>,
    columns: usize,
    now: UnixMillis,
) -> Option<(String, Style)> {
    let discussion = minutes.discussion;
    if let Some(why) = discussion.stopping.filter(|_| discussion.is_running()) {
        let text = format!("■ stopping: {}", why.describe());
        return Some((text, theme::WARNING));
    }
    if !discussion.is_running() {
        return Some((describe_interruption(discussion), theme::WARNING));
    }
    let with_column = minutes.column_participants();
    let are_columns_seen = board_columns::fit_all(with_column.len(), columns);
    let (mut parts, mut is_seen_below) = (Vec::new(), false);
    for participant in &discussion.order.participants {
        let name = to_one_line(&participant.name);
        let has_column = with_column
            .iter()
            .any(|other| other.name == participant.name);
        if are_columns_seen && has_column {
            is_seen_below |= minutes.current_content(&participant.name).is_some();
            continue;
        }
        match minutes.current_content(&participant.name) {
            Some(BoardCellContent::Speaking { since, .. }) => {
                parts.push(format!(
                    "{name} is answering {}",
                    format_elapsed(since, now)
                ));
            }
            Some(BoardCellContent::Waiting { since }) => {
                parts.push(format!(
                    "{name} is waiting for a free slot {}",
                    format_elapsed(since, now)
                ));
            }
            _ => {}
        }
    }
    if let Some(check) = &discussion.checking {
        parts.push(format!("$ {} running", to_one_line(&check.command)));
    }
    match parts.as_slice() {
        [] if is_seen_below => None,
        [] => Some(("◐ asking the next participants".to_owned(), theme::QUIET)),
        parts => Some((format!("◐ {}", parts.join(" · ")), theme::ACCENT)),
    }
}

fn describe_interruption(discussion: &GroupDiscussion) -> String {
    let why = discussion.stopping.map_or("cut off", |why| why.describe());
    let n = usize::try_from(discussion.n_finished_rounds()).unwrap_or(0);
    format!("■ {why}; kept: {}", pluralize(n, "round"))
}

/// Adds the outcome, with its conclusion in at most `most` lines.
fn add_outcome(head: &mut HeaderLines, outcome: &DiscussionOutcome, most: usize) {
    let columns = head.columns;
    let (sign, word, style) = discussion_labels::basis_label(outcome);
    let style = style.patch(theme::STRONG);
    let decision = outcome.decision.as_ref();
    let decision = decision.map(|decision| outcome.proposal_wording(decision));
    let decided = match decision {
        None => vec![Span::styled(format!("{sign} {word}"), style)],
        Some(decision) => vec![
            Span::styled(format!("{sign} {word}: "), style),
            Span::styled(decision, theme::STRONG),
        ],
    };
    let mut decided = wrap_spans(&decided, columns, 2);
    truncate_rows(&mut decided, columns, 2);
    head.add_weighted(10, 6, decided);
    let conclusion = outcome.conclusion.replace("**", "").replace('`', "");
    let conclusion = named_lines("", &conclusion, columns, most, theme::PLAIN);
    head.add_weighted(3, 2, conclusion);
    let decision = outcome.decision.as_ref();
    let rows = vote_bars::vote_rows(&outcome.votes, decision, name_indent(columns), columns);
    head.add_weighted(8, 5, prefix_name(rows, "votes", columns));
    let at_first = vote_bars::describe_first_votes(outcome);
    head.add_weighted(
        1,
        1,
        named_lines("at first", &at_first, columns, 1, theme::QUIET),
    );
    let without = vote_bars::describe_missing_votes(outcome);
    head.add_weighted(2, 2, named_lines("", &without, columns, 1, theme::QUIET));
    for (n, minority) in outcome.minority.iter().take(3).enumerate() {
        let text = vote_bars::describe_minority(minority, outcome);
        let name = if n == 0 { "minority" } else { "" };
        head.add_weighted(7, 3, named_lines(name, &text, columns, 2, theme::PLAIN));
    }
    for (n, point) in outcome.unresolved.iter().take(3).enumerate() {
        let text = format!("! {} ({})", point.text, point.participant);
        let name = if n == 0 { "open" } else { "" };
        head.add_weighted(7, 3, named_lines(name, &text, columns, 2, theme::BAD));
    }
    let stopped = discussion_labels::describe_stop(outcome);
    head.add_weighted(
        6,
        6,
        named_lines("ended", &stopped, columns, 1, theme::QUIET),
    );
}

/// Returns the indent of rows that have a name before them.
fn name_indent(columns: usize) -> usize {
    match columns {
        0..MIN_NAMED_COLUMNS => 2,
        MIN_NAMED_COLUMNS.. => NAME_COLUMNS,
    }
}

fn name_span(name: &str, columns: usize) -> Span<'static> {
    match name_indent(columns) {
        NAME_COLUMNS => Span::styled(format!("  {name:<10}"), theme::QUIET),
        _ => Span::raw("  "),
    }
}

/// Puts a name before the first of several lines.
fn prefix_name(rows: Vec<Line<'static>>, name: &str, columns: usize) -> Vec<Line<'static>> {
    let mut rows = rows;
    for (n, line) in rows.iter_mut().enumerate() {
        line.spans
            .insert(0, name_span(if n == 0 { name } else { "" }, columns));
    }
    rows
}

/// Renders a name and a text in at most so many lines; in a narrow window the name becomes part of the
/// text.
fn named_lines(
    name: &str,
    text: &str,
    columns: usize,
    most: usize,
    style: Style,
) -> Vec<Line<'static>> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let text = match (name_indent(columns), name) {
        (NAME_COLUMNS, _) | (_, "" | "ended") => to_one_line(text),
        (_, name) => format!("{name} {}", to_one_line(text)),
    };
    let room = columns.saturating_sub(name_indent(columns));
    prefix_name(signed_lines("", &text, room, most, style), name, columns)
}
