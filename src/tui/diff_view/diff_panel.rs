//! Places the diff on the screen, with the pending dialog, if any, below it.
//!
//! The dialog's keys mean something else in the diff view, so the dialog's choices are not shown.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::domain::diff_scope::DiffScope;
use crate::domain::run::RunState;
use crate::text::capitalize;
use crate::tui::dialog::{ChoiceDialog, DialogFocus};
use crate::tui::diff_view::DiffView;
use crate::tui::diff_view::diff_footer::{PositionPlace, position_place};
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;
use crate::tui::view_area::{gutter, inset, split_bottom};

/// Below this height, the diff's first row names the pending dialog instead.
const MIN_DIALOG_ROWS: u16 = 14;

/// What is around the text of a diff.
pub struct DiffSurroundings<'a> {
    /// What the chosen diff is of, where its name in the strip does not say it.
    pub title: Option<String>,
    /// What needs the user behind the view.
    pub waits: Option<&'a str>,
    /// The key that goes there.
    pub back: &'a str,
    pub position: PositionPlace,
}

/// Draws the diff and the dialog that waits; `back` is the key that closes the diff. Returns the areas of the diffs
/// that can be clicked.
pub fn draw_diff_panel(
    view: &mut DiffView,
    frame: &mut Frame,
    mut area: Rect,
    state: Option<&RunState>,
    waiting: Option<&ChoiceDialog>,
    back: &str,
) -> Vec<(Rect, DiffScope)> {
    let below = waiting.filter(|_| area.height >= MIN_DIALOG_ROWS);
    if let Some(sheet) = below {
        draw_waiting_dialog(sheet, frame, &mut area, back);
    }
    let position = position_place(state, area.width);
    let area = inset(area, gutter(area.width));
    if area.is_empty() {
        return Vec::new();
    }
    let title = match view.scope() {
        DiffScope::All => None,
        DiffScope::Step(n) => state.and_then(|state| step_title(n, state)),
        scope @ DiffScope::Plan => Some(capitalize(&scope.describe())),
    };
    let waits = waiting.filter(|_| below.is_none());
    let waits = waits.map(ChoiceDialog::heading);
    let about = DiffSurroundings {
        title,
        waits: waits.as_deref(),
        back,
        position,
    };
    view.draw(frame, area, &about)
}

/// Draws the pending dialog below the diff, with the key that goes back to it.
fn draw_waiting_dialog(sheet: &ChoiceDialog, frame: &mut Frame, area: &mut Rect, back: &str) {
    let hint = format!("{back} goes back to answer");
    let (sheet, enter) = if sheet.body.is_empty() {
        (sheet.clone().with_text(&hint, theme::QUIET), "")
    } else {
        (sheet.clone(), hint.as_str())
    };
    let sheet = sheet.without_choices();
    let margin = gutter(area.width);
    let wanted = sheet.preferred_rows(usize::from(area.width - 2 * margin));
    let most = usize::from(area.height / 3);
    let area = inset(split_bottom(area, wanted.min(most)), margin);
    let _no_choice = sheet.draw(frame, area, DialogFocus::Nobody, enter, back);
}

/// Returns the text of a step.
fn step_title(n: u32, state: &RunState) -> Option<String> {
    let execution = state.execution.as_ref()?;
    let done = execution.done.iter().map(|record| (record.n, &record.text));
    let current = execution.current.iter().map(|step| (step.n, &step.text));
    let mut steps = done.chain(current);
    steps
        .find(|(step, _)| *step == n)
        .map(|(_, text)| to_one_line(text))
}
