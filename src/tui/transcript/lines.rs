//! The lines of a block, kept for the width of the last frame.
//!
//! A provisional text lays out only the lines that came since; all others are laid out once a width.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::block::{Content, Folding, Tone, Who};
use crate::domain::findings::FindingSeverity;
use crate::text::pluralize;
use crate::tui::markdown::{self, Markdown};
use crate::tui::theme;
use crate::tui::wrap::{barred, cut, width, wrap};

/// From how many lines on a text of the user's is folded.
const LONG: usize = 20;
/// How many of its lines are shown then.
const SHOWN: usize = 8;

/// What the lines of a block depend on, beside the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// How wide they may be.
    pub columns: usize,
    /// Whether it is folded, where it can be.
    pub folding: Folding,
    /// Whether its author's name stands above it.
    pub is_named: bool,
}

/// The lines at one width.
#[derive(Debug, Default)]
pub struct Laid {
    at: Option<Look>,
    lines: Vec<Line<'static>>,
    /// The end of a text that grows: its unfinished last line, and a table that may go on.
    tail: Vec<Line<'static>>,
    /// How many bytes of the text are in `lines`.
    n_bytes: usize,
    n_seen: usize,
    markdown: Markdown,
}

impl Laid {
    /// How many lines there are.
    pub fn n_lines(&self) -> usize {
        self.lines.len() + self.tail.len()
    }

    /// The lines from the first.
    pub fn lines(&self) -> impl Iterator<Item = Line<'static>> {
        self.lines.iter().chain(&self.tail).cloned()
    }
}

/// Brings the lines up to date with the content and the width.
pub fn lay_out(laid: &mut Laid, who: Who, content: &Content, at: Look) {
    let is_current = laid.at == Some(at);
    if let Content::Provisional { text, .. } = content {
        if !is_current {
            *laid = Laid::default();
            laid.lines.extend(head(who, at));
        }
        laid.at = Some(at);
        grow(laid, text, at.columns);
        return;
    }
    if is_current {
        return;
    }
    *laid = Laid {
        at: Some(at),
        lines: finished(who, content, at),
        ..Laid::default()
    };
}

fn grow(laid: &mut Laid, text: &str, columns: usize) {
    if laid.n_seen == text.len() {
        return;
    }
    laid.n_seen = text.len();
    let rest = &text[laid.n_bytes..];
    let whole = rest.rfind('\n').map_or(0, |at| at + 1);
    let (lines, n_bytes) = laid
        .markdown
        .growing(&rest[..whole], columns, theme::PROVISIONAL);
    laid.lines.extend(lines);
    laid.n_bytes += n_bytes;
    let tail = &rest[n_bytes..];
    laid.tail = laid.markdown.so_far(tail, columns, theme::PROVISIONAL);
}

/// A name line with a blank before it, so that authors are told apart at a glance.
fn name(who: Who) -> Vec<Line<'static>> {
    let span = match who {
        Who::Agent(role) => Span::styled(format!("● {}", role.name()), theme::role(role)),
        Who::You => Span::styled("● you", theme::YOU),
        Who::System => Span::styled("● agent-collab", theme::QUIET),
    };
    vec![Line::default(), Line::from(span)]
}

/// The name line, or a blank one between two texts of the same author.
fn head(who: Who, look: Look) -> Vec<Line<'static>> {
    match look.is_named {
        true => name(who),
        false => vec![Line::default()],
    }
}

/// Tells whether a text is folded: one of the user's that fills a window.
pub fn folds(who: Who, text: &str) -> bool {
    who == Who::You && text.lines().nth(LONG).is_some()
}

/// The first lines of a long text, and how many more there are.
fn beginning(text: &str) -> (&str, usize) {
    let n_bytes: usize = text.split_inclusive('\n').take(SHOWN).map(str::len).sum();
    let shown = text.get(..n_bytes).unwrap_or(text);
    (shown, text.lines().count().saturating_sub(SHOWN))
}

fn finished(who: Who, content: &Content, look: Look) -> Vec<Line<'static>> {
    let Look {
        columns, folding, ..
    } = look;
    match content {
        Content::Speech { text } | Content::Provisional { text, .. } => {
            let mut lines = head(who, look);
            let (shown, n_more) = match folds(who, text) && folding == Folding::Folded {
                true => beginning(text),
                false => (text.as_str(), 0),
            };
            lines.extend(markdown::lay_out(shown, columns, theme::PLAIN));
            if n_more > 0 {
                let more = cut(&format!("▸ +{}", pluralize(n_more, "line")), columns);
                lines.push(Line::styled(more, theme::QUIET));
            }
            lines
        }
        Content::Thinking { text } => below_name(who, look, thinking(text, columns, folding)),
        Content::Tool(card) => below_name(who, look, card.lines(columns, folding)),
        Content::Talk(talk) => talk.lines(columns),
        Content::Todos(told) => todos(&told.text, columns, folding),
        Content::Ending(ending) => ending.lines(columns),
        Content::Notice { text } => marked("· ", text, theme::QUIET, columns),
        Content::Fact { text, tone, more } if more.is_empty() => fact(text, *tone, columns),
        Content::Fact { text, tone, more } => proven(text, *tone, more, look),
        Content::Divider { text } => divider(text, columns),
    }
}

/// Lines that need no blank before them, below the name where it stands here.
fn below_name(who: Who, look: Look, lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    match look.is_named {
        true => name(who).into_iter().chain(lines).collect(),
        false => lines,
    }
}

fn thinking(text: &str, columns: usize, folding: Folding) -> Vec<Line<'static>> {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let first = markdown::words(first.unwrap_or_default());
    let more = match text.lines().count() {
        0 | 1 => String::new(),
        n => format!("  +{}", pluralize(n - 1, "line")),
    };
    let head = match folding {
        Folding::Folded => {
            let room = columns.saturating_sub(width(&more));
            cut(&format!("▸ thinks: {first}"), room) + &more
        }
        Folding::Open => "▾ thinks:".to_owned(),
    };
    let mut lines = vec![Line::styled(head, theme::QUIET)];
    if folding == Folding::Open {
        let laid = markdown::lay_out(text, columns.saturating_sub(2), theme::QUIET);
        lines.extend(laid.into_iter().map(indented));
    }
    lines
}

/// A line behind a margin.
fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}

/// How far a list is, and its items where it is open.
fn todos(text: &str, columns: usize, folding: Folding) -> Vec<Line<'static>> {
    let (head, items) = text.split_once('\n').unwrap_or((text, ""));
    match folding {
        Folding::Folded => vec![Line::styled(
            cut(&format!("▸ {head}"), columns),
            theme::QUIET,
        )],
        Folding::Open => {
            let mut lines = marked("▾ ", head, theme::QUIET, columns);
            let items = items.lines();
            lines.extend(items.flat_map(|item| marked("  ", item, theme::QUIET, columns)));
            lines
        }
    }
}

/// What stands before a fact, and how it is written.
pub(super) fn sign(tone: Tone) -> (&'static str, Style) {
    match tone {
        Tone::Plain => ("■ ", theme::STRONG),
        Tone::Good => ("✓ ", theme::GOOD),
        Tone::Bad => ("✗ ", theme::BAD),
        // As before such a step in the plan.
        Tone::Still => ("– ", theme::QUIET),
        Tone::Asked => ("? ", theme::QUIET),
    }
}

/// What is known, in one line; of a list below it only what blocks has weight.
fn fact(text: &str, tone: Tone, columns: usize) -> Vec<Line<'static>> {
    let (sign, style) = sign(tone);
    if tone != Tone::Plain {
        return marked(sign, text, style, columns);
    }
    let (head, list) = text.split_once('\n').unwrap_or((text, ""));
    let mut lines = marked(sign, head, style, columns);
    for item in list.lines() {
        let spans = match item.split_once(BLOCKS) {
            Some((before, after)) => vec![
                Span::raw(format!("  {before}")),
                Span::styled(BLOCKS, theme::severity(FindingSeverity::Blocking)),
                Span::raw(after.to_owned()),
            ],
            None => vec![Span::raw(format!("  {item}"))],
        };
        lines.extend(wrap(&spans, columns, 5));
    }
    lines
}

/// What is known, and what it rests on: folded, but for the last line of what went badly.
fn proven(text: &str, tone: Tone, more: &str, look: Look) -> Vec<Line<'static>> {
    let Look {
        columns, folding, ..
    } = look;
    let (fold, below) = match folding {
        Folding::Folded => ("▸ ", more.lines().next_back().filter(|_| tone == Tone::Bad)),
        Folding::Open => ("▾ ", None),
    };
    let room = columns.saturating_sub(width(fold));
    let mut lines = Vec::new();
    for (n, line) in fact(text, tone, room).into_iter().enumerate() {
        let lead = if n == 0 { fold } else { "  " };
        let spans = std::iter::once(Span::styled(lead, theme::QUIET)).chain(line.spans);
        lines.push(Line::from(spans.collect::<Vec<_>>()));
    }
    if let Some(last) = below {
        let last = cut(&format!("    {last}"), columns);
        lines.push(Line::styled(last, theme::QUIET));
    }
    if folding == Folding::Open {
        let output = more.lines();
        lines.extend(output.flat_map(|line| barred(line, theme::QUIET, columns)));
    }
    lines
}

/// What a finding begins with that blocks.
const BLOCKS: &str = "[blocking]";

/// Lines that begin with a sign; those after the first stand below the text.
pub(super) fn marked(sign: &str, text: &str, style: Style, columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let lead = if n == 0 {
            sign.to_owned()
        } else {
            " ".repeat(width(sign))
        };
        let spans = [
            Span::styled(lead, style),
            Span::styled(line.to_owned(), style),
        ];
        lines.extend(wrap(&spans, columns, width(sign) + markdown::hanging(line)));
    }
    lines
}

fn divider(text: &str, columns: usize) -> Vec<Line<'static>> {
    let label = cut(&format!("── {text} "), columns);
    let rest = columns.saturating_sub(width(&label));
    vec![
        Line::default(),
        Line::from(vec![
            Span::styled(label, theme::STRONG),
            Span::styled("─".repeat(rest), theme::QUIET),
        ]),
    ]
}
