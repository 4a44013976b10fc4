//! The board as a layer over the tab: how it gets its model, and which keys, clicks and copies reach it.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use super::{BoardAction, BoardModel, DiscussionBoard};
use crate::domain::discussion::GroupDiscussion;
use crate::domain::ids::DiscussionId;
use crate::domain::run::RunState;
use crate::tui::command::ScreenCommand;
use crate::tui::dialog::ChoiceDialog;
use crate::tui::discussion_commands::{DiscussionViewState, discussions_of_run};
use crate::tui::keymap::{KeyContext, KeyHint};
use crate::tui::overlays::{
    LayerContext, LayerPlace, LayerResponse, MAX_OVERLAY_HINTS, ScreenOverlay,
};
use crate::tui::run_commands::CommandOutcome;
use crate::tui::view_area::{gutter, inset};
use crate::tui::view_moves::ScrollMove;

impl ScreenOverlay for DiscussionBoard {
    fn place(&self) -> LayerPlace {
        LayerPlace::WholeHeight
    }

    fn key_context(&self) -> Option<KeyContext> {
        Some(KeyContext::Board)
    }

    fn draw(&mut self, frame: &mut Frame, area: Rect, context: &LayerContext<'_>) {
        let minutes = self.model(context);
        let waits = context.waiting.map(ChoiceDialog::heading);
        let area = inset(area, gutter(area.width).max(1));
        self.draw_board(frame, area, minutes.as_ref(), waits.as_deref(), context.now);
    }

    fn click(&mut self, at: Position, context: &LayerContext<'_>) -> LayerResponse {
        if let Some(minutes) = self.model(context) {
            self.click_item(at, &minutes);
        }
        LayerResponse::used()
    }

    /// Moves the selection, or scrolls the open contribution.
    fn scroll(&mut self, to: ScrollMove, context: &LayerContext<'_>) -> LayerResponse {
        if let Some(minutes) = self.model(context) {
            self.move_selection(to, &minutes);
        }
        LayerResponse::used()
    }

    /// A step of the wheel selects the next row.
    fn wheel_lines(&self) -> usize {
        1
    }

    fn choose_hints(&self, mut all: Vec<KeyHint>, state: Option<&RunState>) -> Vec<KeyHint> {
        let discussion = state.and_then(|state| state.discussion(&self.id));
        let is_over = discussion.is_some_and(|each| each.outcome.is_some());
        let is_reading = self.reader.is_some();
        let has = |does: BoardAction| match does {
            BoardAction::Open | BoardAction::NextDiscussion if is_reading => false,
            BoardAction::PreviousRound | BoardAction::NextRound => is_reading,
            BoardAction::Quote => is_over,
            BoardAction::Settle => {
                is_over && discussion.is_some_and(|each| each.order.finding.is_some())
            }
            BoardAction::Stop => discussion.is_some_and(GroupDiscussion::is_running),
            BoardAction::Resume => discussion.is_some_and(GroupDiscussion::can_resume),
            BoardAction::NextDiscussion => discussions_of_run(state).len() > 1,
            _ => true,
        };
        all.retain(|hint| {
            hint.keys.iter().all(|(_, command)| match command {
                ScreenCommand::BoardAction(does) => has(*does),
                ScreenCommand::Scroll(ScrollMove::Up | ScrollMove::Down) => true,
                ScreenCommand::Scroll(ScrollMove::PageUp | ScrollMove::PageDown) => is_reading,
                _ => !is_reading,
            })
        });
        let is_line = |command: &ScreenCommand| {
            matches!(
                command,
                ScreenCommand::Scroll(ScrollMove::Up | ScrollMove::Down)
            )
        };
        for hint in &mut all {
            if !is_reading && hint.keys.iter().all(|(_, command)| is_line(command)) {
                hint.label = "round";
            }
        }
        move_action_forward(&mut all);
        all.truncate(MAX_OVERLAY_HINTS);
        all
    }

    /// Copies the open contribution, or the discussion's result.
    fn copy(&self, context: &LayerContext<'_>) -> Option<CommandOutcome> {
        let Some(minutes) = self.model(context) else {
            return Some(CommandOutcome::default());
        };
        let read = self.open_speech_text(&minutes);
        let text = read.unwrap_or_else(|| minutes.discussion.result_to_markdown());
        Some(CommandOutcome::copy(text))
    }

    fn printed_text(&self, state: Option<&RunState>) -> Option<(String, String)> {
        let discussion = state.and_then(|state| state.discussion(&self.id));
        let text = discussion.map(GroupDiscussion::to_markdown);
        Some(("Discussion".to_owned(), text.unwrap_or_default()))
    }
}

/// Moves what can be done with the discussion now into the hints that are shown; the first ones move and close.
fn move_action_forward(all: &mut Vec<KeyHint>) {
    let position = |wanted: &[BoardAction]| {
        let is_wanted = |command: &ScreenCommand| match command {
            ScreenCommand::BoardAction(does) => wanted.contains(does),
            _ => false,
        };
        all.iter()
            .position(|hint| hint.keys.iter().any(|(_, command)| is_wanted(command)))
    };
    let decides = [BoardAction::Settle, BoardAction::Stop, BoardAction::Resume];
    let at = position(&decides).or_else(|| position(&[BoardAction::Quote]));
    if let Some(at) = at.filter(|at| *at >= MAX_OVERLAY_HINTS) {
        let hint = all.remove(at);
        all.insert(MAX_OVERLAY_HINTS - 1, hint);
    }
}

impl DiscussionBoard {
    fn model<'a>(&self, context: &LayerContext<'a>) -> Option<BoardModel<'a>> {
        build_board_model(&self.id, context.discussions, context.state)
    }
}

/// Returns the model of a discussion's board.
pub fn build_board_model<'a>(
    id: &DiscussionId,
    discussions: &'a DiscussionViewState,
    state: Option<&'a RunState>,
) -> Option<BoardModel<'a>> {
    let state = state?;
    let at = state.discussions.iter().position(|each| each.id() == id)?;
    Some(BoardModel {
        discussion: state.discussions.get(at)?,
        live_texts: &discussions.live.texts,
        children: &state.children,
        position: (at + 1, state.discussions.len()),
        counts: discussions.counts_of(id),
    })
}
