//! Draws a dialog: its frame, the reason and the question, its choices, and what Enter does.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Padding, Paragraph};

use super::dialog_body::MIN_ROWS_OF_TWO_TEXTS;
use super::dialog_size::ENTER_BESIDE_CHOICE;
use super::{
    ChoiceDialog, DialogChoice, DialogFocus, DialogOrigin, DialogWeight, EmptyComposerEnter,
};
use crate::tui::clickable_keys;
use crate::tui::composer::BAR;
use crate::tui::text_wrap::{text_width, truncate_to_columns};
use crate::tui::theme::{self, Surface};

/// No window is higher: a longer text, such as a large edit, is not laid out to its end for each frame.
pub(super) const MAX_ROWS: usize = 500;
/// Says how many rows are missing, and which key shows them, or which keys one after the other.
fn whole_text_hint(n_missing: usize, view: &str) -> Line<'static> {
    let missing = match n_missing {
        0 | MAX_ROWS.. => "▸ more  ".to_owned(),
        1 => "▸ 1 more line  ".to_owned(),
        n => format!("▸ {n} more lines  "),
    };
    let (first, then) = view.split_at(view.find(',').unwrap_or(view.len()));
    Line::from(vec![
        Span::styled(missing, theme::QUIET),
        Span::styled(first.to_owned(), clickable_keys::mark_hint(theme::QUIET)),
        Span::styled(then.to_owned(), theme::QUIET),
    ])
}

/// From how many lines on a dialog's text is apart from its title, where there is room.
const MIN_LINES_BELOW_GAP: usize = 4;

impl ChoiceDialog {
    /// Returns how many rows the dialog would like to have.
    pub fn preferred_rows(&self, columns: usize) -> usize {
        self.rows_within(columns, MAX_ROWS)
    }

    /// Returns how many of these rows the dialog fills.
    pub fn rows_within(&self, columns: usize, rows: usize) -> usize {
        let columns = Self::text_columns(columns);
        let n_other = self.choice_rows(columns).len() + 2;
        let n_body = rows.saturating_sub(n_other);
        let body = self.whole_body_lines(columns, n_body);
        let gap = usize::from(!body.is_empty() && self.has_gap());
        (body.len() + gap).min(n_body) + n_other
    }

    /// Returns how many columns a panel of this width has for its text.
    fn text_columns(columns: usize) -> usize {
        let padding = if columns < usize::from(NARROW_COLUMNS) {
            2
        } else {
            4
        };
        columns.saturating_sub(padding + 1)
    }

    /// Returns whether a blank row stands between the text and the choices.
    fn has_gap(&self) -> bool {
        self.origin == DialogOrigin::Run && !self.choices.is_empty()
    }

    /// Draws the dialog: choices as far as it has the keys, Enter's action at the bottom, and the key that
    /// shows the full text if it is truncated. Returns the areas of the choices, for the mouse.
    pub fn draw(
        &self,
        frame: &mut Frame,
        area: Rect,
        keys: DialogFocus,
        enter: &str,
        view: &str,
    ) -> Vec<(Rect, usize)> {
        frame.render_widget(Clear, area);
        let (inner, columns) = self.draw_panel(frame, area, enter);
        let rows = usize::from(inner.height);
        let choice_rows = self.choice_rows(columns);
        let n_choices = choice_rows.len().min(rows - self.least_body_rows(rows));
        let n_body = rows - n_choices;
        let mut body = self.body_lines(columns, n_body);
        // A line that is cut, or a reason that is shortened, makes the rest fit, but something is missing.
        let is_shortened = body.len() <= n_body
            && n_body > 0
            && self.side_by_side.is_none()
            && !self.fits_into(columns, n_body);
        if is_shortened && body.len() < n_body {
            let n_missing = self.n_missing_rows(columns, body.len());
            body.push(whole_text_hint(n_missing, view));
        } else if is_shortened {
            if n_body > 1 {
                body = self.body_lines(columns, n_body - 1);
            }
            body.resize(n_body + 1, Line::default());
        }
        if body.len() > n_body {
            match n_body {
                0 => body.clear(),
                // With a single row, the text matters more than the note that there is more.
                1 => {
                    body.truncate(1);
                    if let Some(line) = body.first_mut() {
                        shorten_line(line, columns, &format!(" {view} …"));
                    }
                }
                _ => {
                    body.truncate(n_body - 1);
                    let n_missing = self.n_missing_rows(columns, body.len());
                    body.push(whole_text_hint(n_missing, view));
                }
            }
        }
        let has_gap = self.has_gap() && !self.has_no_body();
        let n_spare = rows.saturating_sub(body.len() + n_choices + usize::from(has_gap));
        let n_between = self.rows_between(&choice_rows).min(n_spare);
        if n_spare > n_between + usize::from(!self.note.is_empty()) && self.has_row_below_title() {
            body.insert(0, Line::default());
        }
        let body_rows = u16::try_from(body.len()).unwrap_or(inner.height);
        let body_area = Rect {
            height: body_rows.min(inner.height),
            ..inner
        };
        frame.render_widget(Paragraph::new(body), body_area);
        let has_spare_row = has_gap && body_rows > 0 && usize::from(body_rows) + n_choices < rows;
        let body_rows = body_rows + u16::from(has_spare_row);
        let choices = Rect {
            y: inner.y.saturating_add(body_rows),
            height: inner.height.saturating_sub(body_rows),
            ..inner
        };
        self.draw_choices(frame, choices, keys, &choice_rows)
    }

    /// Returns how many rows the choices take in a panel of this width.
    pub fn n_choice_rows(&self, columns: usize) -> usize {
        self.choice_rows(Self::text_columns(columns)).len()
    }

    /// Returns how many blank rows the dialog can use where there is room: below its title, between its buttons, and
    /// above its note.
    pub fn n_air_rows(&self, columns: usize) -> usize {
        let choice_rows = self.choice_rows(Self::text_columns(columns));
        match self.origin {
            DialogOrigin::Run => {
                self.rows_between(&choice_rows)
                    + usize::from(!self.note.is_empty())
                    + usize::from(self.has_row_below_title())
            }
            DialogOrigin::User => 0,
        }
    }

    fn rows_between(&self, choice_rows: &[Vec<usize>]) -> usize {
        let has_buttons = choice_rows.len() < self.choices.len();
        if has_buttons {
            choice_rows.len() - 1
        } else {
            0
        }
    }

    /// Returns whether a blank row below the title helps.
    fn has_row_below_title(&self) -> bool {
        self.body.len() >= MIN_LINES_BELOW_GAP || self.has_no_body()
    }

    /// Returns whether the choices would follow the title at once.
    pub fn has_no_body(&self) -> bool {
        self.body.is_empty() && self.edit.is_none() && self.side_by_side.is_none()
    }

    /// Returns the indexes of the choices, row by row: short ones side by side, as buttons, others one below the other.
    fn choice_rows(&self, columns: usize) -> Vec<Vec<usize>> {
        let in_list = || (0..self.choices.len()).map(|at| vec![at]).collect();
        let is_short =
            |choice: &DialogChoice| text_width(&choice.label) <= MAX_BUTTON_LABEL_COLUMNS;
        let is_question = self.origin == DialogOrigin::Run && self.choices.len() > 1;
        if !is_question || columns < MIN_BUTTON_COLUMNS || !self.choices.iter().all(is_short) {
            return in_list();
        }
        // One button of a row may have Enter in place of its letter.
        let columns = match self.empty_composer_enter {
            EmptyComposerEnter::FocusesDialog => columns,
            _ => columns.saturating_sub(ENTER_BESIDE_CHOICE.len()),
        };
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let mut used = usize::MAX;
        for (at, choice) in self.choices.iter().enumerate() {
            let width = button_columns(choice) + usize::from(BUTTON_GAP);
            match rows.last_mut() {
                Some(row) if used + width <= columns => {
                    row.push(at);
                    used += width;
                }
                _ => {
                    rows.push(vec![at]);
                    used = width;
                }
            }
        }
        if rows.len() > MAX_BUTTON_ROWS {
            return in_list();
        }
        self.fill_last_row(&mut rows, columns);
        rows
    }

    /// Moves a button down to one that would be alone in the last row, if there is room.
    fn fill_last_row(&self, rows: &mut [Vec<usize>], columns: usize) {
        if let [.., above, last] = rows
            && let (&[.., _, _, moved], &[alone]) = (above.as_slice(), last.as_slice())
        {
            let width = |at: usize| self.choices.get(at).map_or(0, button_columns);
            if width(moved) + width(alone) + 2 * usize::from(BUTTON_GAP) <= columns {
                above.pop();
                last.insert(0, moved);
            }
        }
    }

    /// Draws the choices, scrolled so that the selected one is visible; returns their areas.
    fn draw_choices(
        &self,
        frame: &mut Frame,
        area: Rect,
        keys: DialogFocus,
        rows: &[Vec<usize>],
    ) -> Vec<(Rect, usize)> {
        let columns = usize::from(area.width);
        let n_shown = rows.len().min(usize::from(area.height));
        let pointed_at = keys.pointed_choice().unwrap_or(self.first_choice);
        let pointed_row = rows.iter().position(|row| row.contains(&pointed_at));
        let from = (pointed_row.unwrap_or(0) + 1).saturating_sub(n_shown.max(1));
        let has_buttons = rows.len() < self.choices.len();
        let is_airy = has_buttons && usize::from(area.height) >= rows.len() * 2 - 1;
        let ys = (area.y..area.bottom()).step_by(if is_airy { 2 } else { 1 });
        let mut places = Vec::new();
        for (y, row) in ys.zip(rows.iter().skip(from)) {
            let mut x = area.x;
            for at in row {
                let Some(choice) = self.choices.get(*at) else {
                    continue;
                };
                let is_chosen = keys.pointed_choice() == Some(*at);
                let (line, width) = if has_buttons {
                    let line = button_line(choice, keys, self.weight, is_chosen);
                    let width = line.width();
                    (line, width)
                } else {
                    (self.choice_line(choice, keys, is_chosen, columns), columns)
                };
                let width = u16::try_from(width).unwrap_or(u16::MAX);
                let place = Rect {
                    x,
                    y,
                    width: width.min(area.right().saturating_sub(x)),
                    height: 1,
                };
                frame.render_widget(line, place);
                places.push((place, *at));
                x = place.right().saturating_add(BUTTON_GAP);
            }
        }
        places
    }

    /// Returns how many rows the body keeps of those inside the frame: choices can scroll. Of two texts to compare
    /// both are seen, if the first choice is.
    fn least_body_rows(&self, rows: usize) -> usize {
        let least = usize::from(!self.body.is_empty() && rows > 1);
        match self.side_by_side {
            Some(_) => {
                let beside_choice = rows.saturating_sub(self.first_choice + 1);
                MIN_ROWS_OF_TWO_TEXTS.min(beside_choice).max(least)
            }
            None => least,
        }
    }

    /// Draws the bar, the title and the line about Enter if there is room for them; returns the area between.
    fn draw_panel(&self, frame: &mut Frame, area: Rect, enter: &str) -> (Rect, usize) {
        let columns = usize::from(area.width);
        let sign = match self.origin {
            DialogOrigin::Run => "? ",
            DialogOrigin::User => "",
        };
        let least = match self.preferred_rows(columns) {
            // A list with one choice gets a bar too.
            3 => 3,
            _ => 4,
        };
        if area.height < least || area.width < 12 {
            let named = self.subject_beside_title(columns);
            let named = named.map_or(String::new(), |subject| format!("  {subject}"));
            let title = format!("{sign}{}{named}", self.heading());
            let title = truncate_to_columns(&title, columns);
            let title = Line::styled(title, self.weight.accent_style());
            frame.render_widget(title, area);
            let inner = Rect {
                y: area.y.saturating_add(1),
                height: area.height.saturating_sub(1),
                ..area
            };
            return (inner, columns);
        }
        let block = Block::new()
            .borders(Borders::LEFT)
            .border_set(BAR)
            .border_style(self.weight.bar_style())
            .style(self.weight.ground().style())
            .padding(Padding::horizontal(if area.width < NARROW_COLUMNS {
                1
            } else {
                2
            }));
        let panel = block.inner(area);
        frame.render_widget(block, area);
        let width = usize::from(panel.width);
        let row = |y: u16| Rect {
            y,
            height: 1,
            ..panel
        };
        let n_spare = usize::from(area.height).saturating_sub(self.preferred_rows(columns));
        let top = panel.y + u16::from(n_spare > 0);
        frame.render_widget(self.title_line(width), row(top));
        let inner = Rect {
            y: top + 1,
            height: panel.bottom() - top - 1,
            ..panel
        };
        // The last row is the text's where that needs it more.
        if enter.is_empty() && usize::from(area.height) < self.preferred_rows(columns) {
            return (inner, width);
        }
        let enter = match enter {
            "" => Line::from(clickable_keys::hint_spans(
                self.note_within(width),
                theme::QUIET,
            )),
            enter => {
                let enter = truncate_to_columns(enter, width);
                Line::from(clickable_keys::hint_spans(&enter, theme::QUIET))
            }
        };
        let n_below = 1 + u16::from(n_spare > 1 && !self.note.is_empty());
        frame.render_widget(enter, row(panel.bottom() - n_below));
        let inner = Rect {
            height: inner.height - n_below,
            ..inner
        };
        (inner, width)
    }

    /// Returns the sentences of the note that fit into a row.
    fn note_within(&self, columns: usize) -> &str {
        let ends = self.note.match_indices(". ").map(|(at, _)| at + 1);
        let parts = ends.chain([self.note.len()]).map(|end| &self.note[..end]);
        let fitting = parts.filter(|part| text_width(part) <= columns);
        fitting.last().unwrap_or_default()
    }

    /// Lays out a choice; dimmed if it cannot be chosen now, and without its letter while letters
    /// are typed into the composer.
    fn choice_line(
        &self,
        choice: &DialogChoice,
        keys: DialogFocus,
        is_chosen: bool,
        columns: usize,
    ) -> Line<'static> {
        let sign_style = self.weight.accent_style();
        let lit = match self.origin {
            DialogOrigin::Run => self.weight.chosen_style(choice),
            DialogOrigin::User => theme::PICKED,
        };
        let key = match keys {
            DialogFocus::Dialog(_) | DialogFocus::Nobody => format!("{}  ", key_text(choice)),
            DialogFocus::EnterOnly(_) | DialogFocus::Composer(_) => String::new(),
        };
        let room = columns.saturating_sub(text_width(&key) + 2);
        let has_room = text_width(&choice.label) + text_width(ENTER_BESIDE_CHOICE) <= room;
        let enter = match keys {
            DialogFocus::EnterOnly(_) if is_chosen && has_room => ENTER_BESIDE_CHOICE,
            _ => "",
        };
        let (sign, style, key_style) = match (keys, is_chosen) {
            (DialogFocus::Dialog(_) | DialogFocus::EnterOnly(_), true) => ("▸ ", lit, theme::KEY),
            // One key away from being chosen, so not dimmed.
            (DialogFocus::Dialog(_) | DialogFocus::EnterOnly(_), false) => {
                ("  ", theme::PLAIN, theme::KEY)
            }
            (DialogFocus::Composer(_) | DialogFocus::Nobody, _) => {
                ("  ", theme::QUIET, theme::QUIET)
            }
        };
        Line::from(vec![
            Span::styled(sign, sign_style),
            Span::styled(key, key_style),
            Span::styled(truncate_to_columns(&choice.label, room), style),
            Span::styled(enter, clickable_keys::mark_hint(theme::QUIET)),
        ])
    }
}

/// Below this width, choices stand one below the other.
const MIN_BUTTON_COLUMNS: usize = 56;
/// The longest label of a button.
const MAX_BUTTON_LABEL_COLUMNS: usize = 32;
/// More choices than fit into these rows are a list.
const MAX_BUTTON_ROWS: usize = 2;
/// Between two buttons.
const BUTTON_GAP: u16 = 2;

fn button_columns(choice: &DialogChoice) -> usize {
    text_width(&choice.label) + text_width(&key_text(choice)) + 4
}

fn key_text(choice: &DialogChoice) -> String {
    choice.key.to_uppercase().to_string()
}

/// Lays out a choice as a button: its label and its letter. While letters are typed into the composer, none is shown, and
/// Enter at the button that it carries out.
fn button_line(
    choice: &DialogChoice,
    keys: DialogFocus,
    weight: DialogWeight,
    is_chosen: bool,
) -> Line<'static> {
    // Where there are no colours, the sign tells the chosen one apart.
    let sign = match keys {
        DialogFocus::Dialog(_) | DialogFocus::EnterOnly(_) if is_chosen => "▸",
        _ => " ",
    };
    let button = Surface::Button.style();
    let quiet = button.patch(theme::QUIET);
    let chosen = weight.chosen_style(choice);
    let (style, key_style) = match (keys, is_chosen) {
        (DialogFocus::Dialog(_) | DialogFocus::EnterOnly(_), true) => (chosen, chosen),
        (DialogFocus::Dialog(_) | DialogFocus::EnterOnly(_), false) => {
            (button, button.patch(theme::KEY))
        }
        (DialogFocus::Composer(_) | DialogFocus::Nobody, _) => (quiet, quiet),
    };
    let key = match keys {
        DialogFocus::Dialog(_) | DialogFocus::Nobody => format!("  {} ", key_text(choice)),
        DialogFocus::EnterOnly(_) if is_chosen => format!("{ENTER_BESIDE_CHOICE} "),
        DialogFocus::EnterOnly(_) | DialogFocus::Composer(_) => " ".to_owned(),
    };
    Line::from(vec![
        Span::styled(format!("{sign}{}", choice.label), style),
        Span::styled(key, key_style),
    ])
}

/// Below this width a panel has less padding.
const NARROW_COLUMNS: u16 = 60;

/// Shortens a line so that a word fits at its end.
fn shorten_line(line: &mut Line<'static>, columns: usize, word: &str) {
    let is_text = |span: &&Span<'_>| !span.content.trim().is_empty();
    let style = line.spans.iter().find(is_text);
    let style = style.map_or(theme::PLAIN, |span| span.style);
    let text: String = line
        .spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    let room = columns.saturating_sub(text_width(word));
    let text = truncate_to_columns(text.trim_end(), room);
    *line = Line::from(vec![
        Span::styled(text, style),
        Span::raw(" "),
        Span::styled(
            word.trim_start().to_owned(),
            clickable_keys::mark_hint(theme::QUIET),
        ),
    ]);
}
