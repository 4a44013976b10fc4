//! How high a dialog gets, and how much of a label fits.

use ratatui::layout::Rect;

use super::ChoiceDialog;
use crate::tui::tab_kind::TabKind;
use crate::tui::view_area::{gutter, inset};

/// How many rows of the tab must stay visible beside a dialog.
const MIN_BODY_ROWS: usize = 5;
/// From which height on a dialog has a free row above its title, and one below its note.
const MIN_ROWS_FOR_PADDING: usize = 30;
/// From which height on its parts are apart, too.
const MIN_ROWS_FOR_AIR: usize = 34;
/// What header and footer take of a high window.
const HEADER_AND_FOOTER_ROWS: usize = 5;
/// How many rows may follow in the chat on what a dialog asks about: the end of the turn, and blank rows.
const ROWS_AFTER_TEXT: usize = 4;

/// Whether the user reads a tab beside the dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TabReading {
    BesideDialog,
    DialogOnly,
}

/// Returns how many rows the chat keeps above a dialog in a window, or a part of it, that is at least 12 rows high.
pub fn least_chat_rows(height: usize) -> usize {
    match height {
        0..20 => 2,
        20..26 => 3,
        26.. => height / 4,
    }
}

/// Returns the height of a dialog. It gets what it needs except a few rows for the tab, or two fifths if the
/// tab is being read. It always keeps its choices, unless they would hide the tab that is read.
pub fn dialog_rows(sheet: &ChoiceDialog, rest: Rect, reads_on: TabReading) -> usize {
    let height = usize::from(rest.height);
    let columns = usize::from(inset(rest, gutter(rest.width)).width);
    let wanted = sheet.preferred_rows(columns);
    let for_body = match (height, reads_on) {
        (0..12, _) => 0,
        (_, TabReading::BesideDialog) => height * 2 / 5,
        (12.., TabReading::DialogOnly) => least_chat_rows(height),
    };
    let frame_and_line = 2 + usize::from(!sheet.body.is_empty());
    let least = (sheet.n_choice_rows(columns) + frame_and_line).min(height);
    let rows = wanted.min(height.saturating_sub(for_body)).max(least);
    let rows = rows.min(sheet.rows_within(columns, rows));
    // A blank row above the title, and one below a note, which has the last row otherwise.
    let n_air = match height {
        MIN_ROWS_FOR_AIR.. => sheet.n_air_rows(columns),
        MIN_ROWS_FOR_PADDING.. => usize::from(sheet.has_no_body()),
        _ => 0,
    };
    let n_padding = 1 + usize::from(!sheet.note.is_empty()) + n_air;
    let n_spare = height.saturating_sub(wanted + for_body);
    let rows = if height >= MIN_ROWS_FOR_PADDING && rows == wanted {
        rows + n_padding.min(n_spare)
    } else {
        rows
    };
    // If almost nothing of the tab would stay visible, the title and the action of Enter are enough.
    if reads_on == TabReading::BesideDialog && height < rows + MIN_BODY_ROWS {
        2.min(height)
    } else {
        rows
    }
}

/// Returns whether a page of so many rows has room above a dialog.
pub fn fits_above(n_page_rows: usize, sheet: &ChoiceDialog, window: Rect) -> bool {
    let n_dialog = sheet.preferred_rows(usize::from(window.width));
    n_page_rows + n_dialog + HEADER_AND_FOOTER_ROWS <= usize::from(window.height)
}

/// Drops what also stands in the chat, if the window shows all of it right above the dialog; otherwise the first of
/// several such texts alone, which the chat has last.
pub fn without_text_above(sheet: ChoiceDialog, window: Rect) -> ChoiceDialog {
    let (columns, height) = (usize::from(window.width), usize::from(window.height));
    let wanted = sheet.preferred_rows(columns);
    let is_above = |less: &ChoiceDialog, rows_after: usize| {
        let n_rows = less.preferred_rows(columns);
        let n_dropped = wanted.saturating_sub(n_rows);
        let n_chat = height.saturating_sub(HEADER_AND_FOOTER_ROWS + n_rows);
        n_dropped + rows_after <= n_chat.max(least_chat_rows(height))
    };
    let all = sheet.clone().without_text_of_tab(TabKind::Chat);
    let first = sheet.clone().without_first_text_of_tab(TabKind::Chat);
    if is_above(&all, ROWS_AFTER_TEXT) {
        all
    } else if first.body.len() > all.body.len() && is_above(&first, 0) {
        first
    } else {
        sheet
    }
}

/// Stands behind a chosen choice that Enter carries out while its letter is text in the composer.
pub const ENTER_BESIDE_CHOICE: &str = "  Enter";
