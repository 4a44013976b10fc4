//! Lays out the lines of a block and caches them for the width of the last frame.
//!
//! For a text that is still being received only the new lines are laid out; every other block is laid out
//! once per width.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::block_content::{BlockContent, FactTone};
use super::card_rows::{PANEL_INDENT, panel_lines, signed_lines};
use super::finished_step_row::{FACT_GAP, FinishedStepRow};
use super::read_fold::{FoldState, ReadFold};
use super::transcript_block::BlockAuthor;
use crate::domain::event_wording::DetailLine;
use crate::text::{pluralize, without_full_stop};
use crate::tui::failure_excerpt::{failure_excerpt, is_failure_line};
use crate::tui::labels::{JUDGE_TITLE, finding_label_style, role_title};
use crate::tui::markdown::{self, MarkdownRenderer};
use crate::tui::text_wrap::{line_width, text_width, truncate_to_columns, wrap_prose};
use crate::tui::theme::{self};

/// The gap between a name and what a turn used.
const MIN_META_GAP: usize = 2;
/// A user's text with more lines than this is folded.
const MIN_FOLDED_LINES: usize = 20;
/// Stands where the next piece of a text will appear.
const STREAMING_CARET: &str = "▍";
/// How many lines of a folded text are shown.
const FOLDED_LINES: usize = 8;

/// What the lines of a block depend on, beside the block's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLayoutOptions {
    /// Maximum width of a line.
    pub columns: usize,
    /// Whether the block is folded, if it can be.
    pub folding: FoldState,
    /// Whether the author's name is above the block.
    pub is_named: bool,
    /// Whether its call stands below the row of an open fold.
    pub is_in_fold: bool,
    /// What of it a dialog below says.
    pub dialog_overlap: DialogOverlap,
    /// Whether its list is visible beside the chat.
    pub is_list_beside: bool,
    /// Whether a blank row divides it from what is above it.
    pub is_set_apart: bool,
}

/// Whether a block has rows of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockVisibility {
    #[default]
    Shown,
    /// A read for which the row of its fold stands.
    Folded,
    /// A read below the row of its fold, which is open.
    Unfolded,
    /// What another row says: the end of a turn and the version of a CLI beside its agent's name, the user's decision
    /// about a call beside the call.
    ShownElsewhere,
}

impl BlockVisibility {
    pub fn has_rows(self) -> bool {
        matches!(self, Self::Shown | Self::Unfolded)
    }
}

/// What of a block the dialog below says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DialogOverlap {
    #[default]
    Nothing,
    /// What failed, but not that it did.
    Details,
    Whole,
}

/// What stands above the content of a block.
#[derive(Debug, Clone, Copy)]
pub struct BlockHeading<'a> {
    pub author: BlockAuthor,
    /// Whether it is a fresh session that judges a dispute.
    pub is_judge: bool,
    /// The CLI with its version, behind the name; often empty.
    pub cli: &'a str,
    /// What is shown at the right of the name, the least important first.
    pub meta: &'a [String],
    /// The row of the fold that the block is the first of.
    pub reads: Option<&'a ReadFold>,
}

/// Cached lines at one width.
#[derive(Debug, Default)]
pub struct BlockLayout {
    options: Option<BlockLayoutOptions>,
    lines: Vec<Line<'static>>,
    /// The end of a text that is being received: its unfinished last line, and a table that may continue.
    tail: Vec<Line<'static>>,
    /// How many bytes of the text are in `lines`.
    laid_out_bytes: usize,
    seen_bytes: usize,
    markdown: MarkdownRenderer,
}

impl BlockLayout {
    /// Returns the number of lines.
    pub fn n_lines(&self) -> usize {
        self.lines.len() + self.tail.len()
    }

    /// Returns all lines from the first one on.
    pub fn lines(&self) -> impl Iterator<Item = &Line<'static>> {
        self.lines.iter().chain(&self.tail)
    }
}

/// Updates the lines for the content and the width.
pub fn update_layout(
    laid: &mut BlockLayout,
    who: BlockHeading<'_>,
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
        append_text_lines(laid, who.author, text, at.columns);
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

fn append_text_lines(laid: &mut BlockLayout, who: BlockAuthor, text: &str, columns: usize) {
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
    let caret = Span::styled(STREAMING_CARET, author_style(who));
    match laid.tail.last_mut() {
        Some(last) if line_width(last) < columns => last.push_span(caret),
        Some(_) => {}
        None => laid.tail.push(Line::from(caret)),
    }
}

fn author_style(who: BlockAuthor) -> Style {
    match who {
        BlockAuthor::Agent(role) => theme::role_style(role),
        BlockAuthor::Subagent => theme::STRONG,
        BlockAuthor::User | BlockAuthor::TaskGiver => theme::YOU,
        BlockAuthor::System => theme::QUIET,
    }
}

/// Renders an author's name with a blank line before it, so that authors are easy to tell apart. The ground says what
/// the user wrote.
fn name_lines(who: BlockHeading<'_>, columns: usize) -> Vec<Line<'static>> {
    let name = match who.author {
        BlockAuthor::Agent(_) if who.is_judge => JUDGE_TITLE,
        BlockAuthor::Agent(role) => role_title(role),
        BlockAuthor::Subagent => "Agent",
        BlockAuthor::User => "You",
        BlockAuthor::TaskGiver => "Task",
        BlockAuthor::System => "agent-collab",
    };
    let mut line = Line::from(Span::styled(name, author_style(who.author)));
    if !who.cli.is_empty() {
        let room = columns.saturating_sub(text_width(name) + 2);
        line.push_span(Span::raw("  "));
        line.push_span(Span::styled(
            truncate_to_columns(who.cli, room),
            theme::QUIET,
        ));
    }
    let room = columns.saturating_sub(line_width(&line) + MIN_META_GAP);
    let mut forms = (0..who.meta.len()).map(|from| who.meta[from..].join(" · "));
    let meta = forms.find(|meta| text_width(meta) <= room);
    if let Some(meta) = meta {
        let gap = columns.saturating_sub(line_width(&line) + text_width(&meta));
        line.push_span(Span::raw(" ".repeat(gap)));
        line.push_span(Span::styled(meta, theme::QUIET));
    }
    vec![Line::default(), line]
}

/// Renders the name line, or a blank line between two texts of the same author.
fn head_lines(who: BlockHeading<'_>, look: BlockLayoutOptions) -> Vec<Line<'static>> {
    if look.is_named {
        name_lines(who, look.columns)
    } else {
        vec![Line::default()]
    }
}

/// Returns whether a text can be folded: a text of the user, or of a task, that would fill a window.
pub fn is_foldable(who: BlockAuthor, text: &str) -> bool {
    matches!(who, BlockAuthor::User | BlockAuthor::TaskGiver)
        && text.lines().nth(MIN_FOLDED_LINES).is_some()
}

/// Returns the first lines of a long text, and how many more there are.
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
    who: BlockHeading<'_>,
    content: &BlockContent,
    look: BlockLayoutOptions,
) -> Vec<Line<'static>> {
    let BlockLayoutOptions {
        columns, folding, ..
    } = look;
    match content {
        BlockContent::Message { text } | BlockContent::Provisional { text, .. } => {
            let mut lines = head_lines(who, look);
            // What stands on a ground keeps a margin there.
            let columns = match who.author {
                BlockAuthor::User | BlockAuthor::TaskGiver => columns.saturating_sub(2),
                _ => columns,
            };
            let (shown, n_more) = if is_foldable(who.author, text) && folding == FoldState::Folded {
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
        BlockContent::Tool(card) => {
            let row = who.reads.map(|reads| reads.line(columns));
            let is_shown = who
                .reads
                .is_none_or(|reads| reads.folding == FoldState::Open);
            let call = if look.is_in_fold {
                card.lines(columns.saturating_sub(2), folding)
                    .into_iter()
                    .map(indent_line)
                    .collect()
            } else {
                card.lines(columns, folding)
            };
            let call = call.into_iter().filter(|_| is_shown);
            lines_below_name(who, look, row.into_iter().chain(call).collect())
        }
        BlockContent::Discussion(talk) => talk.lines(columns),
        BlockContent::Todos(told) => {
            lines_below_name(who, look, todo_lines(&told.text, columns, folding))
        }
        BlockContent::RunSummary(ending) => ending.lines(columns),
        BlockContent::Notice { text } => {
            set_apart(signed_lines("· ", text, theme::QUIET, columns), look)
        }
        BlockContent::Fact {
            text,
            tone,
            list,
            more,
            step,
        } => {
            let mut lines = if more.is_empty() {
                fact_lines(text, *tone, step.as_ref(), columns)
            } else {
                fact_with_detail_lines(text, *tone, step.as_ref(), more, look)
            };
            let list = list.iter().filter(|_| !look.is_list_beside);
            lines.extend(list.flat_map(|line| list_rows(line, columns)));
            set_apart(lines, look)
        }
        BlockContent::Divider(divider) => divider.lines(columns),
    }
}

/// Returns the program's own lines, below a blank line if they are set apart.
fn set_apart(mut lines: Vec<Line<'static>>, look: BlockLayoutOptions) -> Vec<Line<'static>> {
    if look.is_set_apart {
        lines.insert(0, Line::default());
    }
    lines
}

/// Returns lines that need no blank line before them, below the name if it is shown here.
fn lines_below_name(
    who: BlockHeading<'_>,
    look: BlockLayoutOptions,
    lines: Vec<Line<'static>>,
) -> Vec<Line<'static>> {
    if look.is_named {
        let name = name_lines(who, look.columns);
        name.into_iter().chain(lines).collect()
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
            truncate_to_columns(&format!("▸ Thought: {first}"), room) + &more
        }
        FoldState::Open => "▾ Thought".to_owned(),
    };
    let mut lines = vec![Line::styled(head, theme::ASIDE)];
    if folding == FoldState::Open {
        let laid = markdown::lay_out(text, columns.saturating_sub(2), theme::ASIDE);
        lines.extend(laid.into_iter().map(indent_line));
    }
    lines
}

fn indent_line(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}

/// Renders the progress of a todo list, and its items if the block is open.
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

/// Returns the sign before a fact, and its style.
pub(super) fn tone_sign(tone: FactTone) -> (&'static str, Style) {
    match tone {
        FactTone::Plain => ("• ", theme::STRONG),
        FactTone::Good => ("✓ ", theme::GOOD),
        FactTone::Bad => ("✗ ", theme::BAD),
        // The same sign as for such a step on the Plan tab.
        FactTone::NoEffect => ("– ", theme::QUIET),
        FactTone::Question => ("? ", theme::QUIET),
    }
}

/// Renders a fact on one line; further lines of its text are indented.
fn fact_lines(
    text: &str,
    tone: FactTone,
    step: Option<&FinishedStepRow>,
    columns: usize,
) -> Vec<Line<'static>> {
    let (sign, style) = tone_sign(tone);
    if let Some(rows) = step.and_then(|step| step.lines(Span::styled(sign, style), columns)) {
        return rows;
    }
    if matches!(tone, FactTone::NoEffect | FactTone::Question) {
        return signed_lines(sign, text, style, columns);
    }
    let (head, list) = text.split_once('\n').unwrap_or((text, ""));
    let mut spans = vec![Span::styled(sign, style)];
    spans.extend(markdown::style_code(head, theme::PLAIN));
    let mut lines = wrap_prose(&spans, columns, text_width(sign));
    for item in list.lines() {
        lines.extend(list_rows(&DetailLine::from(item.to_owned()), columns));
    }
    lines
}

/// The width of a severity, or of what became of a finding.
const LABEL_COLUMNS: usize = 9;
/// From this width on, the text of a finding is indented by its number and its label.
const MIN_COLUMNS_OF_LIST_INDENT: usize = 57;

/// Renders a line of a list below a fact. What was found of a finding's evidence is at the right end, where it fits.
fn list_rows(line: &DetailLine, columns: usize) -> Vec<Line<'static>> {
    let label = match (line.severity, line.outcome) {
        (Some(severity), _) => Some((severity.as_str(), finding_label_style(severity))),
        (None, Some(outcome)) => Some((outcome.label(), theme::QUIET)),
        (None, None) => None,
    };
    let mut spans = vec![Span::raw("  ")];
    let Some((number, (label, style))) = line.number.zip(label) else {
        spans.extend(markdown::style_code(&line.text, theme::PLAIN));
        return wrap_prose(&spans, columns, 5);
    };
    let lead = format!("{number}  ");
    let indent = 2 + text_width(&lead) + LABEL_COLUMNS + 2;
    spans.push(Span::styled(lead, theme::QUIET));
    spans.push(Span::styled(format!("{label:<LABEL_COLUMNS$}"), style));
    spans.push(Span::raw("  "));
    let text = without_full_stop(&line.text);
    spans.extend(markdown::style_code(text, theme::PLAIN));
    let indent = if columns < MIN_COLUMNS_OF_LIST_INDENT {
        5
    } else {
        indent
    };
    let mut lines = wrap_prose(&spans, columns, indent);
    if line.evidence.is_empty() {
        return lines;
    }
    let used = lines.last().map_or(0, line_width);
    let room = columns.saturating_sub(used + text_width(&line.evidence));
    match lines.last_mut() {
        Some(last) if room >= 2 => {
            last.spans.push(Span::raw(" ".repeat(room)));
            last.spans
                .push(Span::styled(line.evidence.clone(), theme::QUIET));
            lines
        }
        _ => {
            let gap = columns.saturating_sub(text_width(&line.evidence));
            let evidence = Span::styled(line.evidence.clone(), theme::QUIET);
            lines.push(Line::from(vec![Span::raw(" ".repeat(gap)), evidence]));
            lines
        }
    }
}

/// How many lines of details a folded fact of a failure shows.
const MAX_FAILURE_LINES: usize = 8;

/// Returns the lines of a failure's details that are shown while they are folded.
pub fn folded_failure(more: &str) -> String {
    let output: Vec<&str> = failure_output(more).collect();
    failure_excerpt(&output.join("\n"), MAX_FAILURE_LINES)
}

/// Returns the command that failed, with how long it took, from the first line of a failure's details.
fn failed_command(more: &str) -> Option<&str> {
    more.lines().next().filter(|line| line.starts_with("$ "))
}

/// Returns the lines of output in a failure's details, without the command.
fn failure_output(more: &str) -> impl Iterator<Item = &str> {
    let output = more.lines().skip(failed_command(more).iter().count());
    output.filter(|line| !line.trim().is_empty())
}

/// Renders a fact and its details: folded, except the lines of a bad fact that say what failed.
fn fact_with_detail_lines(
    text: &str,
    tone: FactTone,
    step: Option<&FinishedStepRow>,
    more: &str,
    look: BlockLayoutOptions,
) -> Vec<Line<'static>> {
    let BlockLayoutOptions {
        columns, folding, ..
    } = look;
    let fold = match folding {
        FoldState::Folded => " ▸",
        FoldState::Open => " ▾",
    };
    let room = columns.saturating_sub(text_width(fold));
    let mut lines = fact_lines(text, tone, step, room);
    let is_failure_folded = tone == FactTone::Bad && folding == FoldState::Folded;
    let command = failed_command(more).filter(|_| is_failure_folded && lines.len() == 1);
    if let Some(first) = lines.first_mut() {
        let used = line_width(first);
        let room_beside = room.saturating_sub(used + FACT_GAP);
        let command = command.filter(|command| text_width(command) <= room_beside);
        let command = command.unwrap_or_default();
        // At the right end, so that the signs of all steps are in one column.
        let gap = room.saturating_sub(used + text_width(command));
        first.push_span(Span::raw(" ".repeat(gap)));
        first.push_span(Span::styled(command.to_owned(), theme::QUIET));
        first.push_span(Span::styled(fold, theme::QUIET));
    }
    match folding {
        FoldState::Open => {
            let output = more.lines();
            lines.extend(output.flat_map(|line| panel_lines(line, theme::QUIET, columns)));
        }
        FoldState::Folded if is_failure_folded && look.dialog_overlap == DialogOverlap::Nothing => {
            let excerpt = folded_failure(more);
            let room = columns.saturating_sub(PANEL_INDENT + 2);
            let rows = excerpt.lines().map(|line| truncate_to_columns(line, room));
            lines.extend(rows.flat_map(|line| {
                let style = if is_failure_line(&line) {
                    theme::BAD
                } else {
                    theme::QUIET
                };
                panel_lines(&line, style, columns)
            }));
            let n_more = failure_output(more)
                .count()
                .saturating_sub(excerpt.lines().count());
            if n_more > 0 {
                let more = format!("▸ {}", pluralize(n_more, "more line"));
                lines.extend(panel_lines(&more, theme::QUIET, columns));
            }
        }
        FoldState::Folded => {}
    }
    lines
}
