//! The head of the board: what is discussed, and then either who is awaited and what leads, or, once it is over,
//! the outcome: what was decided on what grounds, every vote, the minority, what stays open, why it stopped.
//!
//! Where not all of it fits, what matters least goes first.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Minutes;
use super::cell::{Entry, cut_rows, led};
use super::votes;
use super::words;
use crate::domain::discussion::{DiscussionOutcome, GroupDiscussion};
use crate::domain::ids::UnixMillis;
use crate::text::pluralize;
use crate::tui::theme;
use crate::tui::words::elapsed;
use crate::tui::wrap::{cut, line_width, one_line, width, wrap};

/// How many columns the names of the rows take.
const NAMES: usize = 12;
/// Below how many columns the rows have no names.
const NARROW: usize = 60;

/// A line, and how much it matters: of more than fit, the lowest go.
struct Weighed {
    weight: u8,
    line: Line<'static>,
    /// Whether the one after it goes on with it.
    goes_on: bool,
}

/// The lines, and how they are added.
struct Head {
    columns: usize,
    lines: Vec<Weighed>,
}

impl Head {
    /// Adds lines, the first with one weight, those after it with another.
    fn add(&mut self, (first, rest): (u8, u8), lines: Vec<Line<'static>>) {
        let last = lines.len().saturating_sub(1);
        let weighed = lines.into_iter().enumerate().map(|(n, line)| Weighed {
            weight: if n == 0 { first } else { rest },
            line,
            goes_on: n < last,
        });
        self.lines.extend(weighed);
    }

    /// Keeps so many of them, those that matter most; one that is cut says so.
    fn keep(mut self, rows: usize) -> Vec<Line<'static>> {
        while self.lines.len() > rows.max(1) {
            let all = self.lines.iter().enumerate().rev();
            let Some((at, _)) = all.min_by_key(|(_, line)| line.weight) else {
                break;
            };
            self.lines.remove(at);
            let before = at.checked_sub(1).and_then(|at| self.lines.get_mut(at));
            if let Some(before) = before.filter(|before| before.goes_on) {
                before.goes_on = false;
                end_cut(&mut before.line, self.columns);
            }
        }
        self.lines.into_iter().map(|line| line.line).collect()
    }
}

/// Says at a line's end that there was more.
fn end_cut(line: &mut Line<'static>, columns: usize) {
    if line_width(line) < columns {
        line.spans.push(Span::styled("…", theme::QUIET));
    } else if let Some(last) = line.spans.last_mut() {
        let room = width(&last.content).saturating_sub(1);
        *last = Span::styled(cut(&last.content, room), last.style);
    }
}

/// At most `rows` lines.
pub fn lines(
    minutes: &Minutes<'_>,
    (columns, rows): (usize, usize),
    now: UnixMillis,
) -> Vec<Line<'static>> {
    let mut head = Head {
        columns,
        lines: Vec::new(),
    };
    title(&mut head, minutes, now);
    match &minutes.discussion.outcome {
        Some(outcome) => {
            // The last word stands below with all that it says.
            let most = match minutes.discussion.closing {
                Some(_) => 2,
                None => 4,
            };
            of_outcome(&mut head, outcome, most);
        }
        None => under_way(&mut head, minutes, now),
    }
    head.keep(rows)
}

/// How it is discussed, and how far it is.
fn about(minutes: &Minutes<'_>, now: UnixMillis) -> String {
    let discussion = minutes.discussion;
    let terms = &discussion.order.terms;
    let mut parts = Vec::new();
    let (at, n) = minutes.of_several;
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
        parts.push(elapsed(discussion.running_since, now));
    }
    parts.join(" · ")
}

/// The topic, and how it is discussed behind it where there is room.
fn title(head: &mut Head, minutes: &Minutes<'_>, now: UnixMillis) {
    let columns = head.columns;
    let about = about(minutes, now);
    let topic = one_line(&minutes.discussion.order.topic);
    let gap = columns.saturating_sub(width(&topic) + width(&about));
    if gap >= 2 {
        let line = Line::from(vec![
            Span::styled(topic, theme::STRONG),
            Span::raw(" ".repeat(gap)),
            Span::styled(about, theme::QUIET),
        ]);
        return head.add((9, 9), vec![line]);
    }
    head.add((9, 1), led("", &topic, (columns, 2), theme::STRONG));
    let about = Line::styled(cut(&about, columns), theme::QUIET);
    head.add((4, 4), vec![about]);
}

/// Who is awaited and since when, and what leads.
fn under_way(head: &mut Head, minutes: &Minutes<'_>, now: UnixMillis) {
    let (text, style) = awaited(minutes, now);
    let line = Line::styled(cut(&text, head.columns), style);
    head.add((10, 10), vec![line]);
    let standing = &minutes.counted.standing;
    let rows = votes::rows(standing, None, indent(head.columns), head.columns);
    head.add((5, 3), led_by(rows, "so far", head.columns));
}

fn awaited(minutes: &Minutes<'_>, now: UnixMillis) -> (String, Style) {
    let discussion = minutes.discussion;
    if let Some(why) = discussion.stopping.filter(|_| discussion.is_running()) {
        let text = format!("■ it is being stopped: {}", why.describe());
        return (text, theme::WARNING);
    }
    if !discussion.is_running() {
        return (cut_off(discussion), theme::WARNING);
    }
    let mut parts = Vec::new();
    for participant in &discussion.order.participants {
        let name = one_line(&participant.name);
        match minutes.now_of(&participant.name) {
            Some(Entry::Speaks { since, .. }) => {
                parts.push(format!("{name} speaks {}", elapsed(since, now)));
            }
            Some(Entry::Waits { since }) => {
                parts.push(format!("{name} waits for a place {}", elapsed(since, now)));
            }
            _ => {}
        }
    }
    if let Some(check) = &discussion.checking {
        parts.push(format!("$ {} runs", one_line(&check.command)));
    }
    match parts.as_slice() {
        [] => ("◌ the next ones are asked".to_owned(), theme::QUIET),
        parts => (format!("◌ {}", parts.join(" · ")), theme::KEY),
    }
}

fn cut_off(discussion: &GroupDiscussion) -> String {
    let why = discussion
        .stopping
        .map_or("it was cut off", |why| why.describe());
    let n = usize::try_from(discussion.n_finished_rounds()).unwrap_or(0);
    format!("■ {why}; kept: {}", pluralize(n, "round"))
}

/// The outcome, its conclusion in at most so many lines.
fn of_outcome(head: &mut Head, outcome: &DiscussionOutcome, most: usize) {
    let columns = head.columns;
    let (sign, word, style) = words::basis(outcome);
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
    let mut decided = wrap(&decided, columns, 2);
    cut_rows(&mut decided, columns, 2);
    head.add((10, 6), decided);
    let conclusion = outcome.conclusion.replace("**", "").replace('`', "");
    let conclusion = named("", &conclusion, (columns, most), theme::PLAIN);
    head.add((3, 2), conclusion);
    let decision = outcome.decision.as_ref();
    let rows = votes::rows(&outcome.votes, decision, indent(columns), columns);
    head.add((8, 5), led_by(rows, "votes", columns));
    let at_first = votes::at_first(outcome);
    head.add(
        (1, 1),
        named("at first", &at_first, (columns, 1), theme::QUIET),
    );
    let without = votes::without(outcome);
    head.add((2, 2), named("", &without, (columns, 1), theme::QUIET));
    for (n, minority) in outcome.minority.iter().take(3).enumerate() {
        let text = votes::minority(minority, outcome);
        let name = if n == 0 { "minority" } else { "" };
        head.add((7, 3), named(name, &text, (columns, 2), theme::PLAIN));
    }
    for (n, point) in outcome.unresolved.iter().take(3).enumerate() {
        let text = format!("! {} ({})", point.text, point.participant);
        let name = if n == 0 { "unsettled" } else { "" };
        head.add((7, 3), named(name, &text, (columns, 2), theme::BAD));
    }
    let stopped = words::stopped(outcome);
    head.add((6, 6), named("ended", &stopped, (columns, 1), theme::QUIET));
}

/// How far rows are indented that have a name before them.
fn indent(columns: usize) -> usize {
    match columns {
        0..NARROW => 2,
        NARROW.. => NAMES,
    }
}

fn lead(name: &str, columns: usize) -> Span<'static> {
    match indent(columns) {
        NAMES => Span::styled(format!("  {name:<10}"), theme::QUIET),
        _ => Span::raw("  "),
    }
}

/// Puts a name before the first of several lines.
fn led_by(rows: Vec<Line<'static>>, name: &str, columns: usize) -> Vec<Line<'static>> {
    let mut rows = rows;
    for (n, line) in rows.iter_mut().enumerate() {
        line.spans
            .insert(0, lead(if n == 0 { name } else { "" }, columns));
    }
    rows
}

/// A name and a text in at most so many lines; in a narrow window the name stands in the text.
fn named(
    name: &str,
    text: &str,
    (columns, most): (usize, usize),
    style: Style,
) -> Vec<Line<'static>> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let text = match (indent(columns), name) {
        (NAMES, _) | (_, "" | "ended") => one_line(text),
        (_, name) => format!("{name} {}", one_line(text)),
    };
    let room = columns.saturating_sub(indent(columns));
    led_by(led("", &text, (room, most), style), name, columns)
}
