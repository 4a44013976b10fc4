//! What the rest of the screen shows beside the chat, so that the chat need not repeat it, and what its steps have reached.

use super::Screen;
use super::step_trail::StepTrail;
use super::tab_kind::TabKind;
use crate::domain::ids::UnixMillis;
use crate::domain::run::RunState;

/// Tells the chat what its headings of steps show, and what it need not repeat.
pub(super) fn update_chat_context(screen: &mut Screen, state: Option<&RunState>, now: UnixMillis) {
    let columns = screen.hit_areas.window_columns;
    let beside = screen.tabs.tab_beside(columns, &screen.documents, state);
    let board = &screen.tabs.plan.proof_board;
    let trail = state.and_then(|state| StepTrail::with_clock(state, board, now));
    let are_steps_beside = screen.hit_areas.has_sidebar || beside == Some(TabKind::Plan);
    let transcript = &mut screen.tabs.chat.transcript;
    transcript.set_findings_beside(beside == Some(TabKind::Comments));
    if let Some(plan) = state.and_then(|state| state.plan.as_ref()) {
        transcript.set_missing_steps(&plan.plan);
    }
    transcript.show_step_trail(trail, are_steps_beside);
}
