//! The diff as a layer over the tab: its clicks and hints, and its place, with the pending dialog, if any, below it.
//!
//! The dialog's keys mean something else in the diff view, so the dialog's choices are not shown.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use crate::domain::diff_scope::DiffScope;
use crate::domain::run::RunState;
use crate::text::{capitalize, pluralize};
use crate::tui::action::Action;
use crate::tui::dialog::{ChoiceDialog, DialogFocus};
use crate::tui::diff_view::diff_footer::{PositionPlace, choose_hints, position_place};
use crate::tui::diff_view::{DiffAction, DiffView};
use crate::tui::keymap::{ComposerFocus, KeyContext, KeyHint};
use crate::tui::overlays::{LayerContext, LayerPlace, LayerResponse, ScreenOverlay};
use crate::tui::run_commands::CommandOutcome;
use crate::tui::searchable_view::SearchableView;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;
use crate::tui::view_area::{gutter, inset, split_bottom};
use crate::tui::view_moves::ScrollMove;

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

impl ScreenOverlay for DiffView {
    fn place(&self) -> LayerPlace {
        LayerPlace::WholeHeight
    }

    fn key_context(&self) -> Option<KeyContext> {
        Some(KeyContext::Diff)
    }

    /// Draws the diff and the dialog that waits.
    fn draw(&mut self, frame: &mut Frame, mut area: Rect, context: &LayerContext<'_>) {
        let keymap = context.keymap();
        let back = keymap.key_label("close-diff", ComposerFocus::Unfocused);
        let below = context.waiting.filter(|_| area.height >= MIN_DIALOG_ROWS);
        if let Some(sheet) = below {
            draw_waiting_dialog(sheet, frame, &mut area, &back);
        }
        let position = position_place(context.state, area.width);
        let area = inset(area, gutter(area.width));
        self.hit_areas.clear();
        if area.is_empty() {
            return;
        }
        let title = match self.scope() {
            DiffScope::All => None,
            DiffScope::Step(n) => context.state.and_then(|state| step_title(n, state)),
            scope @ DiffScope::Plan => Some(capitalize(&scope.describe())),
        };
        let waits = context.waiting.filter(|_| below.is_none());
        let waits = waits.map(ChoiceDialog::heading);
        let about = DiffSurroundings {
            title,
            waits: waits.as_deref(),
            back: &back,
            position,
        };
        self.hit_areas = self.draw_parts(frame, area, &about);
    }

    /// Shows the clicked diff of the strip, or the clicked file of the list.
    fn click(&mut self, at: Position, _context: &LayerContext<'_>) -> LayerResponse {
        let mut areas = self.hit_areas.iter();
        let scope = areas.find_map(|(place, scope)| place.contains(at).then_some(*scope));
        if scope.is_none() {
            self.click_file(at);
        }
        let wanted = scope.and_then(|scope| self.choose_scope(scope));
        LayerResponse::Used(wanted.map(Action::ShowDiff).into_iter().collect())
    }

    fn scroll(&mut self, to: ScrollMove, _context: &LayerContext<'_>) -> LayerResponse {
        self.perform_move(DiffAction::Scroll(to));
        LayerResponse::used()
    }

    fn choose_hints(&self, all: Vec<KeyHint>, _state: Option<&RunState>) -> Vec<KeyHint> {
        choose_hints(&all)
    }

    fn copy(&self, _context: &LayerContext<'_>) -> Option<CommandOutcome> {
        let Some(text) = self.text() else {
            return Some(CommandOutcome::refuse("No diff here to copy."));
        };
        let lines = pluralize(text.lines().count(), "line");
        let note = format!("Copied the diff, {lines}");
        Some(CommandOutcome::act(Action::Copy(text)).with_note(&note))
    }

    fn printed_text(&self, _state: Option<&RunState>) -> Option<(String, String)> {
        let title = format!("Changes of {}", self.scope().describe());
        Some((title, self.loaded_text()?))
    }

    fn searched(&self) -> Option<&dyn SearchableView> {
        Some(self)
    }

    fn searched_mut(&mut self) -> Option<&mut dyn SearchableView> {
        Some(self)
    }
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
