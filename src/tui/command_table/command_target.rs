//! What rows of the command table may call.

use crate::domain::run::RunState;
use crate::tui::action::{Action, ExternalViewer};

/// The screen as rows of the command table see it: the functions that only they name. Each returns what it asks of the
/// program. The table is below the screen, so that everything on the screen can read its keys and texts.
pub trait CommandTarget {
    /// Opens or folds the selected entry of the view in front; nothing here changes the run.
    fn open_selection(&mut self, state: Option<&RunState>) -> Vec<Action>;

    /// Switches the filter of findings or events; in the plan, starts or ends the comparison.
    fn cycle_filter(&mut self, state: Option<&RunState>) -> Vec<Action>;

    /// Compares the plan with the version on which the selected finding was raised or the selected thread was opened.
    fn show_plan_change(&mut self, n: &str, state: Option<&RunState>) -> Vec<Action>;

    /// Jumps from a finding to its line of the plan, or from a line to the finding about it.
    fn jump_to_counterpart(&mut self, state: Option<&RunState>) -> Vec<Action>;

    /// Shows the tab that many places further on; the ends meet.
    fn step_tab(&mut self, by: isize) -> Vec<Action>;

    /// Switches between both agents side by side and one column.
    fn toggle_chat_arrangement(&mut self) -> Vec<Action>;

    /// Shows or hides the second pane; while plan versions are compared, switches the form of the comparison.
    fn toggle_side_pane(&mut self, state: Option<&RunState>) -> Vec<Action>;

    /// Switches mouse handling between the program and the terminal.
    fn toggle_mouse_capture(&mut self) -> Vec<Action>;

    /// Shows all todo lists.
    fn show_todo_lists(&mut self, state: Option<&RunState>) -> Vec<Action>;

    /// Copies a code block of what is in front.
    fn copy_code_block(&mut self, state: Option<&RunState>) -> Vec<Action>;

    fn leave_composer(&mut self) -> Vec<Action>;

    /// Opens the view in front in another program.
    fn open_in_viewer(&mut self, with: ExternalViewer, state: Option<&RunState>) -> Vec<Action>;

    /// Lists the agents, or shows one by its name.
    fn show_agents(&mut self, name: &str, state: Option<&RunState>) -> Vec<Action>;

    /// Lists the child sessions of the run.
    fn list_children(&mut self, state: Option<&RunState>) -> Vec<Action>;

    /// Tells the user something in one line.
    fn show_toast(&mut self, note: &str) -> Vec<Action>;
}
