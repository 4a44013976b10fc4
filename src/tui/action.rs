//! The requests of the user that the screen passes on: the program performs them, not the screen.

use super::truncated_call::TruncatedToolCall;
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::export_format::ExportFormat;
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::instructions_choice::InstructionsChoice;
use crate::domain::question::EditFollowUp;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::turn::Role;

/// A request of the user that the program carries out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a key makes one or two of them; none is kept"
)]
pub enum Action {
    /// An event for the log and the run.
    Event(Event),
    Quit(QuitStep),
    /// Suspends the program (Ctrl+Z).
    Suspend,
    /// Opens a document in the user's editor.
    Edit(DocumentKind),
    /// Replaces a line of `plan.md`, provided it still has the text in `was`.
    Rewrite {
        /// The line number, from 1.
        line: u32,
        /// The text that the screen showed.
        was: String,
        /// The new text; may have several lines.
        text: String,
    },
    /// The user has finished editing `plan.md` by hand: read it, then answer question `id` with `then`.
    EditingDone {
        id: u32,
        then: EditFollowUp,
    },
    /// Requests the changes of the run or of one step; answered by `Screen::on_diff`.
    ShowDiff(DiffScope),
    /// Requests a preview of an undo or redo; answered by `Screen::on_undo_previews`.
    Undo(UndoRequest),
    NewRun {
        /// The goal as the user typed it.
        goal: String,
        /// The agent that refines the goal with the user.
        refiner: Role,
    },
    /// Resumes the unfinished run of this repository.
    Resume,
    /// The user's choice about the repository's agent instructions; `None` means that the goal is to be written again.
    Instructions(Option<InstructionsChoice>),
    /// Moves the unfinished run to the history, so that a new one can start.
    Archive,
    /// Requests the list of finished runs; answered by `Screen::show_run_history`.
    ShowHistory,
    /// Opens a finished run for reading, by the name of its directory.
    OpenRun(String),
    /// Exports the open run as one page; the path is reported with `Screen::set_toast`.
    ExportRun(ExportFormat),
    /// Makes an unfinished run of the history the current one and resumes it, by the name of its directory.
    BringBack(String),
    /// Closes a read-only screen.
    CloseView,
    /// Takes over the run: the repository is free, and the screen restarts with write access.
    TakeOver,
    /// Answers an agent's tool call.
    AnswerApproval {
        /// The call's number in the run.
        call: u32,
        answer: ApprovalDecision,
    },
    /// Requests the approvals for more than one call; answered by `Screen::show_stored_approvals`.
    ShowPermissions,
    /// Revokes an approval, by its number.
    Revoke(u64),
    /// Gives an agent a task.
    GiveTask {
        agent: String,
        prompt: String,
    },
    /// Starts a discussion between several agents.
    Discuss(DiscussionTopic),
    /// Requests the plan of a discussion before it starts; answered by `Screen::show_discussion_plan`.
    PlanDiscussion(DiscussionTopic),
    /// Stops a discussion; its contributions so far are kept.
    StopDiscussion(DiscussionId),
    /// Resumes a discussion that was stopped, interrupted or has failed.
    GoOnDiscussing(DiscussionId),
    /// Exports a discussion as Markdown.
    ExportDiscussion(DiscussionId),
    /// Requests the budget of a discussion, with a preset or without one; answered by `Screen::show_text`.
    ShowBudget(Option<String>),
    /// Runs the doctor's checks; answered by `Screen::show_text`.
    Diagnose,
    /// Requests a child's session for reading; answered by `Screen::show_child_session`.
    ShowChild(SessionId),
    /// Stops a child's task.
    StopChild(SessionId),
    /// Requests the files of the repository; answered by `Screen::on_repository_files`.
    ListFiles,
    /// Opens a text in another program, which gets the terminal.
    OpenText {
        /// The text, safe to draw.
        text: String,
        with: ExternalViewer,
    },
    /// Opens a tool call in another program, with all of the tool's output that is on disk.
    OpenCall {
        call: TruncatedToolCall,
        with: ExternalViewer,
    },
    /// Redraws the whole terminal, in case another program has written to it.
    Redraw,
    /// Copies a text to the clipboard.
    Copy(String),
    /// Saves a theme for later sessions, by its name; the file, or why it failed, is shown afterwards.
    KeepTheme(String),
}

/// The topic of a discussion that the user wants to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscussionTopic {
    /// The question; empty when the finding itself is the question.
    pub text: String,
    /// The name of the preset to use.
    pub preset: Option<String>,
    /// The number of the finding that the discussion is about.
    pub finding: Option<u32>,
}

/// A program of the user that displays texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalViewer {
    /// The program in `VISUAL` or `EDITOR`.
    Editor,
    /// The program in `PAGER`.
    Pager,
}

/// How urgently the user wants to quit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuitStep {
    /// Interrupts the running turn, then sends TERM, then KILL, then ends.
    Ask,
    /// Kills everything and ends at once.
    Now,
}

/// A document that the user can edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    Plan,
    Comments,
    /// The file in which the user merges the two versions of the open conflict.
    Merge,
}

impl DocumentKind {
    /// Returns the document's name in messages, which need not be the name of its file.
    pub fn label(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Comments => "review",
            Self::Merge => "merge",
        }
    }
}
