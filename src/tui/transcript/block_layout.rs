//! The lines of a block, kept for the width of the last frame.
//!
//! A provisional text lays out only the lines that came since; all others are laid out once a width.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::transcript_block::{BlockAuthor, BlockContent, FactTone, FoldState};
use crate::domain::findings::FindingSeverity;
use crate::text::pluralize;
use crate::tui::markdown::{self, MarkdownRenderer};
use crate::tui::text_wrap::{text_width, truncate_to_columns, wrap_quotation, wrap_spans};
use crate::tui::theme;

/// From how many lines on a text of the user's is folded.
const MIN_FOLDED_LINES: usize = 20;
/// How many of its lines are shown then.
const FOLDED_LINES: usize = 8;

/// What the lines of a block depend on, beside the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLayoutOptions {
    /// How wide they may be.
    pub columns: usize,
    /// Whether it is folded, where it can be.
    pub folding: FoldState,
    /// Whether its author's name stands above it.
    pub is_named: bool,
}

/// The lines at one width.
#[derive(Debug, Default)]
pub struct BlockLayout {
    options: Option<BlockLayoutOptions>,
    lines: Vec<Line<'static>>,
    /// The end of a text that grows: its unfinished last line, and a table that may go on.
    tail: Vec<Line<'static>>,
    /// How many bytes of the text are in `lines`.
    laid_out_bytes: usize,
    seen_bytes: usize,
    markdown: MarkdownRenderer,
}

impl BlockLayout {
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
pub fn update_layout(
    laid: &mut BlockLayout,
    who: BlockAuthor,
    content: &BlockContent,
    at: BlockLayoutOptions,
) {
    let is_current = laid.options == Some(at);
    if let BlockContent::Provisional { text, .. } = content {
        if !is_current {
            *laid = BlockLayout::default();
            laid.lines.extend(head_lines(who, at));
        }
        laid.options = Some(at);
        append_text_lines(laid, text, at.columns);
        return;
    }
    if is_current {
        return;
    }
    *laid = BlockLayout {
        options: Some(at),
        lines: content_lines(who, content, at),
        ..BlockLayout::default()
    };
}

fn append_text_lines(laid: &mut BlockLayout, text: &str, columns: usize) {
    if laid.seen_bytes == text.len() {
        return;
    }
    laid.seen_bytes = text.len();
    let rest = &text[laid.laid_out_bytes..];
    let whole = rest.rfind('\n').map_or(0, |at| at + 1);
    let (lines, n_bytes) =
        laid.markdown
            .lay_out_growing(&rest[..whole], columns, theme::PROVISIONAL);
    laid.lines.extend(lines);
    laid.laid_out_bytes += n_bytes;
    let tail = &rest[n_bytes..];
    laid.tail = laid
        .markdown
        .lay_out_rest(tail, columns, theme::PROVISIONAL);
}

/// A name line with a blank before it, so that authors are told apart at a glance.
fn name_lines(who: BlockAuthor) -> Vec<Line<'static>> {
    let span = match who {
        BlockAuthor::Agent(role) => {
            Span::styled(format!("● {}", role.name()), theme::role_style(role))
        }
        BlockAuthor::User => Span::styled("● you", theme::YOU),
        BlockAuthor::System => Span::styled("● agent-collab", theme::QUIET),
    };
    vec![Line::default(), Line::from(span)]
}

/// The name line, or a blank one between two texts of the same author.
fn head_lines(who: BlockAuthor, look: BlockLayoutOptions) -> Vec<Line<'static>> {
    if look.is_named {
        name_lines(who)
    } else {
        vec![Line::default()]
    }
}

/// Tells whether a text is folded: one of the user's that fills a window.
pub fn is_foldable(who: BlockAuthor, text: &str) -> bool {
    who == BlockAuthor::User && text.lines().nth(MIN_FOLDED_LINES).is_some()
}

/// The first lines of a long text, and how many more there are.
fn first_lines(text: &str) -> (&str, usize) {
    let n_bytes: usize = text
        .split_inclusive('\n')
        .take(FOLDED_LINES)
        .map(str::len)
        .sum();
    let shown = text.get(..n_bytes).unwrap_or(text);
    (shown, text.lines().count().saturating_sub(FOLDED_LINES))
}

fn content_lines(
    who: BlockAuthor,
    content: &BlockContent,
    look: BlockLayoutOptions,
) -> Vec<Line<'static>> {
    let BlockLayoutOptions {
        columns, folding, ..
    } = look;
    match content {
        BlockContent::Message { text } | BlockContent::Provisional { text, .. } => {
            let mut lines = head_lines(who, look);
            let (shown, n_more) = if is_foldable(who, text) && folding == FoldState::Folded {
                first_lines(text)
            } else {
                (text.as_str(), 0)
            };
            lines.extend(markdown::lay_out(shown, columns, theme::PLAIN));
            if n_more > 0 {
                let more =
                    truncate_to_columns(&format!("▸ +{}", pluralize(n_more, "line")), columns);
                lines.push(Line::styled(more, theme::QUIET));
            }
            lines
        }
        BlockContent::Thinking { text } => {
            lines_below_name(who, look, thinking_lines(text, columns, folding))
        }
        BlockContent::Tool(card) => lines_below_name(who, look, card.lines(columns, folding)),
        BlockContent::Discussion(talk) => talk.lines(columns),
        BlockContent::Todos(told) => todo_lines(&told.text, columns, folding),
        BlockContent::RunSummary(ending) => ending.lines(columns),
        BlockContent::Notice { text } => signed_lines("· ", text, theme::QUIET, columns),
        BlockContent::Fact { text, tone, more } if more.is_empty() => {
            fact_lines(text, *tone, columns)
        }
        BlockContent::Fact { text, tone, more } => fact_with_detail_lines(text, *tone, more, look),
        BlockContent::Divider { text } => divider_lines(text, columns),
    }
}

/// Lines that need no blank before them, below the name where it stands here.
fn lines_below_name(
    who: BlockAuthor,
    look: BlockLayoutOptions,
    lines: Vec<Line<'static>>,
) -> Vec<Line<'static>> {
    if look.is_named {
        name_lines(who).into_iter().chain(lines).collect()
    } else {
        lines
    }
}

fn thinking_lines(text: &str, columns: usize, folding: FoldState) -> Vec<Line<'static>> {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let first = markdown::strip_marks(first.unwrap_or_default());
    let more = match text.lines().count() {
        0 | 1 => String::new(),
        n => format!("  +{}", pluralize(n - 1, "line")),
    };
    let head = match folding {
        FoldState::Folded => {
            let room = columns.saturating_sub(text_width(&more));
            truncate_to_columns(&format!("▸ thinks: {first}"), room) + &more
        }
        FoldState::Open => "▾ thinks:".to_owned(),
    };
    let mut lines = vec![Line::styled(head, theme::QUIET)];
    if folding == FoldState::Open {
        let laid = markdown::lay_out(text, columns.saturating_sub(2), theme::QUIET);
        lines.extend(laid.into_iter().map(indent_line));
    }
    lines
}

/// A line behind a margin.
fn indent_line(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}

/// How far a list is, and its items where it is open.
fn todo_lines(text: &str, columns: usize, folding: FoldState) -> Vec<Line<'static>> {
    let (head, items) = text.split_once('\n').unwrap_or((text, ""));
    match folding {
        FoldState::Folded => vec![Line::styled(
            truncate_to_columns(&format!("▸ {head}"), columns),
            theme::QUIET,
        )],
        FoldState::Open => {
            let mut lines = signed_lines("▾ ", head, theme::QUIET, columns);
            let items = items.lines();
            lines.extend(items.flat_map(|item| signed_lines("  ", item, theme::QUIET, columns)));
            lines
        }
    }
}

/// What stands before a fact, and how it is written.
pub(super) fn tone_sign(tone: FactTone) -> (&'static str, Style) {
    match tone {
        FactTone::Plain => ("■ ", theme::STRONG),
        FactTone::Good => ("✓ ", theme::GOOD),
        FactTone::Bad => ("✗ ", theme::BAD),
        // As before such a step in the plan.
        FactTone::NoEffect => ("– ", theme::QUIET),
        FactTone::Question => ("? ", theme::QUIET),
    }
}

/// What is known, in one line; of a list below it only what blocks has weight.
fn fact_lines(text: &str, tone: FactTone, columns: usize) -> Vec<Line<'static>> {
    let (sign, style) = tone_sign(tone);
    if tone != FactTone::Plain {
        return signed_lines(sign, text, style, columns);
    }
    let (head, list) = text.split_once('\n').unwrap_or((text, ""));
    let mut lines = signed_lines(sign, head, style, columns);
    for item in list.lines() {
        let spans = match item.split_once(BLOCKING_PREFIX) {
            Some((before, after)) => vec![
                Span::raw(format!("  {before}")),
                Span::styled(
                    BLOCKING_PREFIX,
                    theme::severity_style(FindingSeverity::Blocking),
                ),
                Span::raw(after.to_owned()),
            ],
            None => vec![Span::raw(format!("  {item}"))],
        };
        lines.extend(wrap_spans(&spans, columns, 5));
    }
    lines
}

/// What is known, and what it rests on: folded, but for the last line of what went badly.
fn fact_with_detail_lines(
    text: &str,
    tone: FactTone,
    more: &str,
    look: BlockLayoutOptions,
) -> Vec<Line<'static>> {
    let BlockLayoutOptions {
        columns, folding, ..
    } = look;
    let (fold, below) = match folding {
        FoldState::Folded => (
            "▸ ",
            more.lines().next_back().filter(|_| tone == FactTone::Bad),
        ),
        FoldState::Open => ("▾ ", None),
    };
    let room = columns.saturating_sub(text_width(fold));
    let mut lines = Vec::new();
    for (n, line) in fact_lines(text, tone, room).into_iter().enumerate() {
        let lead = if n == 0 { fold } else { "  " };
        let spans = std::iter::once(Span::styled(lead, theme::QUIET)).chain(line.spans);
        lines.push(Line::from(spans.collect::<Vec<_>>()));
    }
    if let Some(last) = below {
        let last = truncate_to_columns(&format!("    {last}"), columns);
        lines.push(Line::styled(last, theme::QUIET));
    }
    if folding == FoldState::Open {
        let output = more.lines();
        lines.extend(output.flat_map(|line| wrap_quotation(line, theme::QUIET, columns)));
    }
    lines
}

/// What a finding begins with that blocks.
const BLOCKING_PREFIX: &str = "[blocking]";

/// Lines that begin with a sign; those after the first stand below the text.
pub(super) fn signed_lines(
    sign: &str,
    text: &str,
    style: Style,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let lead = if n == 0 {
            sign.to_owned()
        } else {
            " ".repeat(text_width(sign))
        };
        let spans = [
            Span::styled(lead, style),
            Span::styled(line.to_owned(), style),
        ];
        lines.extend(wrap_spans(
            &spans,
            columns,
            text_width(sign) + markdown::hanging_indent(line),
        ));
    }
    lines
}

fn divider_lines(text: &str, columns: usize) -> Vec<Line<'static>> {
    let label = truncate_to_columns(&format!("── {text} "), columns);
    let rest = columns.saturating_sub(text_width(&label));
    vec![
        Line::default(),
        Line::from(vec![
            Span::styled(label, theme::STRONG),
            Span::styled("─".repeat(rest), theme::QUIET),
        ]),
    ]
}
