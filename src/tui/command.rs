//! The commands of the screen, whether they come from a key, a slash command or the mouse.
//!
//! Only commands that other code names or that have an arm in `perform_command` are variants; any other is a
//! `RowCall`. Everything else about a command is its row in `command_table`.

use std::mem::discriminant;

use super::action::DocumentKind;
use super::command_table::{CommandRow, ScreenFunction};
use super::diff_view::DiffAction;
use super::discussion_board::BoardAction as BoardDoes;
use super::discussion_commands::DiscussionScreenCommand;
use super::tab_kind::TabKind;
use super::view_moves::{ScrollMove, SearchStep, SelectionMove};
use crate::domain::diff_scope::DiffScope;
use crate::domain::export_format::ExportFormat;
use crate::domain::phase::Mode;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::turn::Role;

/// A command of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenCommand {
    /// Send the waiting turn, or confirm the goal.
    Go,
    /// Start each turn without asking.
    AutoGate,
    /// Ask before each turn.
    ManualGate,
    /// Set how much runs without approval; without a mode, switch to the next one except yolo.
    Mode(Option<Mode>),
    /// Stop and go back to the goal.
    StopToGoal,
    /// Send a message to the agent whose turn is running.
    SteerTurn(String),
    /// Interrupt the running turn, and nothing else.
    InterruptTurn,
    ApprovePlan,
    /// Request changes to the approved plan.
    Changes(String),
    CancelRun,
    SetGoal(String),
    Edit(DocumentKind),
    /// Allow the agent's pending call.
    AllowCall,
    /// Reject the agent's pending call; with a reason, the agent continues.
    RejectCall(String),
    /// Answer the open question with the name of an answer.
    AnswerQuestion(String),
    /// Undo or redo steps.
    Undo(UndoRequest),
    /// Skip a step: its number, and why.
    SkipStep(u32, String),
    /// Have a step planned again: its number, and what the planner is told.
    ReplanStep(u32, String),
    /// Show the changes of the run or of a step.
    Diff(DiffScope),
    /// Show the changes of the run, at the file of this path.
    DiffOfFile(String),
    /// Give an agent a task: the agent's name, and the prompt.
    StartTask(String, String),
    Discuss(DiscussionScreenCommand),
    /// A command for the open discussion board.
    BoardAction(BoardDoes),
    ResumeRun,
    /// Export the run as one page.
    ExportRun(ExportFormat),
    /// Choose the agent that refines the goal; without a role, switch to the other one.
    ChooseRefiner(Option<Role>),
    /// Show the full text of the open dialog.
    ViewFullText,
    /// Switch to a theme, or open the theme list.
    Theme(Option<String>),
    ToggleThinking,
    /// Copy the selected block, or the last answer of an agent.
    Copy,
    /// Select another block of the chat.
    SelectAdjacent(SelectionMove),
    /// Go to what needs the user.
    GoToWaitingDialog,
    /// Search in the open view.
    OpenSearch,
    /// Add a note to the selected line of the plan; without a text, start writing one.
    AddPlanNote(String),
    /// Remove the note with this number, or the note on the selected line.
    CloseThread(Option<u32>),
    /// Edit the selected line of the plan.
    RewritePlanLine,
    /// Move the keys to the other pane.
    TogglePaneFocus,
    Show(TabKind),
    /// Scroll the view by lines or pages.
    Scroll(ScrollMove),
    FocusComposer,
    Quit,
    /// Show the key bindings.
    ShowHelp,
    /// Open the command palette.
    OpenPalette,
    /// A command for the open diff.
    DiffAction(DiffAction),
    /// Undo the step whose diff is open, with those after it.
    UndoShownStep,
    /// A command for the search bar.
    SearchAction(SearchStep),
    /// Close the long text, or whatever is on top.
    Close,
    /// A command that only its row in the table knows.
    Call(RowCall),
}

/// A call of the function in a row of the command table.
#[derive(Debug, Clone)]
pub struct RowCall {
    pub row: &'static CommandRow,
    pub function: ScreenFunction,
    /// What follows the slash command; empty for a key.
    pub argument: String,
}

impl PartialEq for RowCall {
    /// Two rows with one slash command do the same.
    fn eq(&self, other: &Self) -> bool {
        (self.row.slash.name, &self.argument) == (other.row.slash.name, &other.argument)
    }
}

impl Eq for RowCall {}

impl ScreenCommand {
    /// Returns whether both are one command, whatever their arguments are.
    pub fn is_same_command(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Call(one), Self::Call(other)) => one.row.slash.name == other.row.slash.name,
            (Self::Discuss(one), Self::Discuss(other)) => discriminant(one) == discriminant(other),
            (Self::BoardAction(one), Self::BoardAction(other)) => one == other,
            _ => discriminant(self) == discriminant(other),
        }
    }

    /// Returns whether a command that may have an argument has none.
    pub fn lacks_argument(&self) -> bool {
        match self {
            Self::SetGoal(text) | Self::Discuss(DiscussionScreenCommand::Start(text)) => {
                text.is_empty()
            }
            Self::Call(call) => call.argument.is_empty(),
            _ => false,
        }
    }
}
