//! Wraps styled text to a width in terminal columns, and draws single lines.
//!
//! Width is counted per grapheme, as terminals do: each letter has its own columns, even if a font would join
//! them. The results contain no control characters.

use ratatui::Frame;
use ratatui::buffer::{Cell, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::view_area::row_cells;
use crate::text::clean_text;

/// Makes a text safe to draw: cleaned, with tabs as spaces, and no control characters except line ends.
pub fn clean_for_display(text: &str) -> String {
    to_drawable(clean_text(text))
}

/// Like [`clean_for_display`], for a text that is already cleaned.
pub fn to_drawable(cleaned: String) -> String {
    if !cleaned.contains(|c: char| c.is_control() && c != '\n') {
        return cleaned;
    }
    let mut out = String::with_capacity(cleaned.len());
    for c in cleaned.chars() {
        match c {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Makes a text safe to draw in one line: line ends become spaces.
pub fn to_one_line(text: &str) -> String {
    let text = clean_for_display(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// Returns how many columns a text takes.
pub fn text_width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        split_graphemes(text).map(grapheme_width).sum()
    }
}

/// Splits a text into graphemes, as `graphemes(true)` does. Between two letters of ASCII there is always a border, which
/// is much faster to see.
fn split_graphemes(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let len = match rest.as_bytes() {
            [b' '..=b'~'] | [b' '..=b'~', b' '..=b'~', ..] => 1,
            _ => rest.graphemes(true).next()?.len(),
        };
        let (sign, left) = rest.split_at_checked(len)?;
        rest = left;
        Some(sign)
    })
}

fn grapheme_width(sign: &str) -> usize {
    match sign.len() {
        1 => 1,
        _ => usize::from(sign.cell_width()),
    }
}

/// Returns how many columns a line takes.
pub fn line_width(line: &Line<'_>) -> usize {
    spans_width(&line.spans)
}

/// Returns whether a line takes no column.
pub fn is_blank_line(line: &Line<'_>) -> bool {
    let mut signs = line
        .spans
        .iter()
        .flat_map(|span| split_graphemes(&span.content));
    signs.all(|sign| grapheme_width(sign) == 0)
}

/// Returns how many columns some spans take together.
pub fn spans_width(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| text_width(&span.content)).sum()
}

/// Splits a line for a frame's border into single graphemes: the library truncates it by its own width, which
/// matches the terminal's only grapheme by grapheme.
pub fn fit_border_line(line: Line<'static>) -> Line<'static> {
    let parts = line.spans.iter().flat_map(|span| {
        let signs: Vec<&str> = if span.content.is_ascii() {
            vec![span.content.as_ref()]
        } else {
            span.content.graphemes(true).collect()
        };
        let styled = |sign: &str| Span::styled(sign.to_owned(), span.style);
        signs.into_iter().map(styled).collect::<Vec<_>>()
    });
    let spans = parts.collect();
    Line { spans, ..line }
}

/// Draws a line, each grapheme directly after the one before it.
///
/// The library starts a span where the text before it would end if its letters were joined; in Arabic, the
/// span would cover the last letters.
pub fn draw_line(frame: &mut Frame, line: &Line<'_>, area: Rect) {
    let cells = row_cells(frame.buffer_mut(), area);
    if line.style != Style::new() {
        for cell in cells.iter_mut() {
            cell.set_style(line.style);
        }
    }
    let mut n_drawn = 0;
    for span in &line.spans {
        let room = cells.get_mut(n_drawn..).unwrap_or_default();
        n_drawn += draw_span(room, &span.content, line.style.patch(span.style));
    }
}

/// Draws as much of a text as there are cells for; returns how many of them it takes.
fn draw_span(cells: &mut [Cell], text: &str, style: Style) -> usize {
    let mut n_drawn = 0;
    for sign in split_graphemes(text) {
        let width = match sign.as_bytes() {
            [b' '..=b'~'] => 1,
            _ if sign.contains(char::is_control) => continue,
            _ => grapheme_width(sign),
        };
        let place = cells.get_mut(n_drawn..n_drawn + width);
        match place {
            Some([first, covered @ ..]) => {
                first.set_symbol(sign).set_style(style);
                // What a wide letter covers is blank.
                covered.iter_mut().for_each(Cell::reset);
            }
            Some([]) => {}
            None => break,
        }
        n_drawn += width;
    }
    n_drawn
}

/// Truncates a line to at most `columns`, with an ellipsis if something is missing.
pub fn truncate_to_columns(text: &str, columns: usize) -> String {
    if text_width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in split_graphemes(text) {
        let next = grapheme_width(grapheme);
        if used + next + 1 > columns {
            break;
        }
        used += next;
        out.push_str(grapheme);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// Truncates a line to at most `columns` behind a whole word, where more than half of the room is filled then.
pub fn truncate_to_words(text: &str, columns: usize) -> String {
    let cut = truncate_to_columns(text, columns);
    let Some((kept, rest)) = cut
        .strip_suffix('…')
        .and_then(|kept| Some((kept, text.strip_prefix(kept)?)))
        .filter(|(_, rest)| *rest != "…")
    else {
        return cut;
    };
    let end = if rest.starts_with(' ') {
        Some(kept.len())
    } else {
        kept.rfind(' ')
    };
    let is_between_words = |sign: char| " ,;:&|(-·".contains(sign);
    let words = end.and_then(|end| kept.get(..end));
    let words = words.map_or("", |words| words.trim_end_matches(is_between_words));
    if text_width(words) * 2 > columns {
        format!("{words}…")
    } else {
        cut
    }
}

/// Truncates a line in its middle to at most `columns`, so that the end of a path, the file name, stays.
pub fn truncate_middle(text: &str, columns: usize) -> String {
    if text_width(text) <= columns || columns < 5 {
        return truncate_to_columns(text, columns);
    }
    let for_end = (columns - 1) * 2 / 3;
    let mut end = Vec::new();
    let mut used = 0;
    for grapheme in text.graphemes(true).rev() {
        if used + grapheme_width(grapheme) > for_end {
            break;
        }
        used += grapheme_width(grapheme);
        end.push(grapheme);
    }
    let mut out = truncate_to_columns(text, columns - used);
    out.extend(end.into_iter().rev());
    out
}

/// One grapheme with its width and style.
struct GraphemeCell<'a> {
    grapheme: &'a str,
    width: usize,
    style: Style,
}

/// Returns whether each byte of a text takes one column. Most texts are like that and need no segmentation.
fn is_single_width(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns the spans as one line, if that is cheap to see.
fn lay_out_single_line(spans: &[Span<'_>], columns: usize) -> Option<Line<'static>> {
    let used: usize = spans.iter().map(|span| span.content.len()).sum();
    if used > columns || !spans.iter().all(|span| is_single_width(&span.content)) {
        return None;
    }
    let mut joined: Vec<Span<'static>> = Vec::with_capacity(spans.len());
    for span in spans.iter().filter(|span| !span.content.is_empty()) {
        match joined.last_mut().filter(|last| last.style == span.style) {
            Some(last) => last.content.to_mut().push_str(&span.content),
            None => joined.push(Span::styled(span.content.to_string(), span.style)),
        }
    }
    Some(Line::from(joined))
}

/// The longest row of prose: the eye finds the next one. Code, tables and diffs take the whole width.
const MAX_PROSE_COLUMNS: usize = 100;

/// Wraps prose as [`wrap_spans`] does, in rows that are not too long to read.
pub fn wrap_prose(spans: &[Span<'_>], columns: usize, indent: usize) -> Vec<Line<'static>> {
    wrap_spans(spans, columns.min(MAX_PROSE_COLUMNS), indent)
}

/// Wraps spans to lines of at most `columns`; lines after the first are indented by `indent` spaces.
///
/// Breaks at spaces and between wide characters, else anywhere. A word longer than a line is broken in place
/// if the next line would not start it further left. Always returns at least one line, and every line but the
/// last has at least one grapheme, so wrapping ends at any width.
pub fn wrap_spans(spans: &[Span<'_>], columns: usize, indent: usize) -> Vec<Line<'static>> {
    let columns = columns.max(1);
    if let Some(line) = lay_out_single_line(spans, columns) {
        return vec![line];
    }
    let mut cells: Vec<GraphemeCell<'_>> = Vec::new();
    for span in spans {
        let (text, style) = (&*span.content, span.style);
        let cell = |grapheme, width| GraphemeCell {
            grapheme,
            width,
            style,
        };
        cells.extend(split_graphemes(text).map(|sign| cell(sign, grapheme_width(sign))));
    }
    let indent = if indent * 2 > columns { 0 } else { indent };
    let mut lines = Vec::new();
    let mut from = 0;
    while from < cells.len() || lines.is_empty() {
        let lead = if lines.is_empty() { 0 } else { indent };
        // Only the first line can start further left than those after it.
        let least = if lines.is_empty() { indent } else { 0 };
        let to = find_line_end(&cells, from, columns - lead, least);
        lines.push(build_line(&cells[from..to], lead));
        from = to;
        // Drop the space at the break.
        while from < cells.len() && cells[from].grapheme == " " {
            from += 1;
        }
        if from >= cells.len() {
            break;
        }
    }
    lines
}

/// Like [`wrap_spans`], but at most `most` lines; an ellipsis shows that something is missing.
pub fn wrap_spans_to_rows(
    spans: &[Span<'_>],
    columns: usize,
    indent: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let mut lines = wrap_spans(spans, columns, indent);
    let is_cut = lines.len() > most;
    lines.truncate(most);
    if let (true, Some(last)) = (is_cut, lines.last_mut()) {
        let before: usize = last.spans.iter().rev().skip(1).map(Span::width).sum();
        if let Some(span) = last.spans.last_mut() {
            let text = format!("{} …", span.content.trim_end());
            span.content = if before + text_width(&text) <= columns {
                text.into()
            } else {
                truncate_to_columns(
                    &format!("{}……", span.content),
                    columns.saturating_sub(before),
                )
                .into()
            };
        }
    }
    lines
}

/// Characters that do not start a line after wide characters.
const NO_LINE_START: &str = ",.;:!?)]}%…，。、；：！？）】》」』”’ ";

/// Returns the end of the line that starts at `from`; the line does not end before a word while it
/// has at most `least` columns.
fn find_line_end(cells: &[GraphemeCell<'_>], from: usize, columns: usize, least: usize) -> usize {
    let mut used = 0;
    let mut last_break = None;
    for (at, cell) in cells.iter().enumerate().skip(from) {
        if used + cell.width > columns {
            let end = if cell.grapheme == " " && !is_before_unit(cells, at) {
                at
            } else {
                last_break.unwrap_or(at)
            };
            return end.max(from + 1);
        }
        used += cell.width;
        let next = cells.get(at + 1);
        let is_before_wide = next.is_some_and(|next| next.width == 2);
        let may_start = || next.is_none_or(|next| !NO_LINE_START.contains(next.grapheme));
        let is_break = cell.grapheme == " " || (cell.width == 2 || is_before_wide) && may_start();
        if is_break && used > least && !is_before_unit(cells, at) {
            last_break = Some(at + 1);
        }
    }
    cells.len()
}

/// Returns whether a space stands between a number and its unit of time, which stay together.
fn is_before_unit(cells: &[GraphemeCell<'_>], at: usize) -> bool {
    const UNITS: [&str; 4] = ["s", "ms", "min", "h"];
    let is_digit = |cell: &GraphemeCell<'_>| cell.grapheme.bytes().all(|b| b.is_ascii_digit());
    let before = at.checked_sub(1).and_then(|at| cells.get(at));
    let is_space = cells.get(at).is_some_and(|cell| cell.grapheme == " ");
    if !is_space || !before.is_some_and(is_digit) {
        return false;
    }
    let word = cells.iter().skip(at + 1).map(|cell| cell.grapheme);
    let is_letter = |c: &&str| c.bytes().all(|b| b.is_ascii_alphabetic());
    let word: String = word.take_while(is_letter).take(4).collect();
    UNITS.contains(&word.as_str())
}

fn build_line(cells: &[GraphemeCell<'_>], lead: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    if lead > 0 {
        spans.push(Span::raw(" ".repeat(lead)));
    }
    let mut text = String::new();
    let mut style = None;
    for cell in cells {
        if style != Some(cell.style) {
            if let Some(style) = style {
                spans.push(Span::styled(std::mem::take(&mut text), style));
            }
            style = Some(cell.style);
        }
        text.push_str(cell.grapheme);
    }
    if let Some(style) = style {
        spans.push(Span::styled(text, style));
    }
    Line::from(spans)
}

/// The bar before each line of a quotation.
pub const QUOTE_BAR: &str = "  │ ";

/// Puts lines side by side; the right ones start at this column.
pub fn join_columns(
    left: Vec<Line<'static>>,
    right: Vec<Line<'static>>,
    column: usize,
) -> Vec<Line<'static>> {
    let n_rows = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let styled = |line: Line<'static>| {
        let style = line.style;
        line.spans.into_iter().map(move |span| Span {
            style: style.patch(span.style),
            ..span
        })
    };
    let row = |_| {
        let (left, right) = (
            left.next().unwrap_or_default(),
            right.next().unwrap_or_default(),
        );
        let pad = column.saturating_sub(line_width(&left));
        let mut spans: Vec<Span<'static>> = styled(left).collect();
        spans.push(Span::raw(" ".repeat(pad)));
        spans.extend(styled(right));
        Line::from(spans)
    };
    (0..n_rows).map(row).collect()
}

/// Wraps a line of a quotation; the bar continues on wrapped lines.
pub fn wrap_quotation(text: &str, style: Style, columns: usize) -> Vec<Line<'static>> {
    let room = columns.saturating_sub(text_width(QUOTE_BAR));
    let wrapped = wrap_spans(&[Span::styled(text, style)], room, 0);
    let with_bar = wrapped.into_iter().map(|line| {
        let mut spans = vec![Span::styled(QUOTE_BAR, super::theme::QUIET)];
        spans.extend(line.spans);
        Line::from(spans)
    });
    with_bar.collect()
}

/// Wraps a plain text in one style; its line ends are kept.
pub fn wrap_text(text: &str, columns: usize, style: Style) -> Vec<Line<'static>> {
    wrap_lines(&clean_for_display(text), columns, style)
}

/// Like [`wrap_text`], for the program's own texts. It skips the cleaning, whose setup would delay the first frame.
pub fn wrap_trusted_text(text: &'static str, columns: usize, style: Style) -> Vec<Line<'static>> {
    wrap_lines(text, columns, style)
}

fn wrap_lines(text: &str, columns: usize, style: Style) -> Vec<Line<'static>> {
    text.lines()
        .flat_map(|line| wrap_spans(&[Span::styled(line, style)], columns, 0))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_title_is_cut_behind_a_word() {
        let check = |columns, wanted| {
            let title = "Refuse --top without a number above 0";
            assert_eq!(truncate_to_words(title, columns), wanted);
        };
        check(37, "Refuse --top without a number above 0");
        check(36, "Refuse --top without a number above…");
        check(35, "Refuse --top without a number…");
        check(4, "Ref…");
        let command = "command -v shellcheck && shellcheck wordstat.sh";
        assert_eq!(truncate_to_words(command, 24), "command -v shellcheck…");
        assert_eq!(truncate_to_words("as it is…", 24), "as it is…");
    }

    proptest! {
        #[test]
        fn graphemes_are_split_as_the_library_splits_them(
            text in "([ -~]|[é漢🎉🇩👩\u{301}\u{200d}\u{fe0f}\u{600}\u{94d}\u{915}\r\n]|\\PC){0,30}"
        ) {
            let split: Vec<&str> = split_graphemes(&text).collect();
            prop_assert_eq!(split, text.graphemes(true).collect::<Vec<_>>());
        }
    }

    fn check(text: &str, columns: usize, wanted: &str) {
        let lines: Vec<String> = wrap_text(text, columns, Style::new())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(lines.join("|"), wanted);
    }

    #[test]
    fn lines_break_at_spaces_and_between_wide_characters() {
        check("one two three", 8, "one two |three");
        check("unbreakable", 4, "unbr|eaka|ble");
        check("中文字符宽", 5, "中文|字符|宽");
        check("took 1 s now", 6, "took |1 s |now");
        check("took 1 step", 6, "took 1|step");
        check("a 中文", 3, "a |中|文");
        check("\u{1b}[31mred\tx\u{7}", 20, "red    x");
    }

    #[test]
    fn no_mark_of_a_list_stands_alone_before_a_word_that_has_to_be_broken() {
        let of = |text: &str| -> Vec<String> {
            let lines = wrap_spans(&[Span::raw(text)], 8, 2);
            lines.iter().map(ToString::to_string).collect()
        };
        assert_eq!(of("- unbreakable"), ["- unbrea", "  kable"]);
        assert_eq!(of("- an unbreakable"), ["- an ", "  unbrea", "  kable"]);
    }

    #[test]
    fn letters_that_a_font_joins_take_a_column_each_as_in_terminals() {
        assert_eq!([text_width("لا إله"), text_width("e\u{301}👩‍👩‍👧")], [6, 3]);
        assert_eq!(truncate_to_columns("السلام", 5), "السل…");
        let area = Rect::new(0, 0, 6, 1);
        let line = Line::from(vec![Span::raw("سلا"), Span::raw("م|x")]);
        let mut terminal =
            ratatui::Terminal::new(ratatui::backend::TestBackend::new(6, 1)).unwrap();
        terminal
            .draw(|frame| draw_line(frame, &line, area))
            .unwrap();
        let cells = terminal.backend().buffer().content();
        let drawn: String = cells.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(drawn, "سلام|x");
        assert_eq!(fit_border_line(Line::raw(" سلام ")).width(), 6);
    }

    #[test]
    fn lines_that_are_too_many_are_left_out_and_that_is_said() {
        let check = |text: &str, most: usize, wanted: &str| {
            let lines = wrap_spans_to_rows(&[Span::raw(text)], 8, 0, most);
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            assert_eq!(lines.join("|"), wanted);
        };
        check("one two three", 2, "one two |three");
        check("one two three four", 2, "one two |three …");
        check("one two seventeen", 1, "one two…");
        check("中文字符宽宽", 1, "中文字…");
    }

    #[test]
    fn a_line_that_is_cut_says_so() {
        assert_eq!(truncate_to_columns("中文字符", 5), "中文…");
        assert_eq!(truncate_to_columns("abc", 3), "abc");
        assert_eq!(truncate_to_columns("abc", 0), "");
        assert_eq!(to_one_line("a\nb\t c"), "a b c");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn wrapped_lines_fit_and_lose_nothing_but_spaces(text in "[a-z 中éلا👩‍👩‍👧]{0,60}", columns in 1usize..20) {
            let lines = wrap_text(&text, columns, Style::new());
            for line in &lines {
                proptest::prop_assert!(line_width(line) <= columns.max(2), "{line:?}");
            }
            let bare = |text: &str| text.replace(' ', "");
            let all: String = lines.iter().map(ToString::to_string).collect();
            proptest::prop_assert_eq!(bare(&all), bare(&clean_for_display(&text)));
        }
    }
}
