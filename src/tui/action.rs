//! What the user asked for by key, slash command or mouse.
//!
//! Refuses to perform anything: whoever holds the screen does.

use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{ApprovalDecision, Event};
use crate::domain::export_format::ExportFormat;
use crate::domain::ids::{DiscussionId, SessionId};
use crate::domain::instructions_choice::InstructionsChoice;
use crate::domain::question::EditFollowUp;
use crate::domain::reversal_plan::UndoRequest;
use crate::domain::turn::Role;
use crate::tui::transcript::TruncatedToolCall;

/// One thing that the user asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a key makes one or two of them; none is kept"
)]
pub enum Action {
    /// Goes to the event log and the run.
    Event(Event),
    /// The program shall end.
    Quit(QuitStep),
    /// The program goes to the background (Ctrl+Z).
    Suspend,
    /// A document is edited in the user's editor.
    Edit(DocumentKind),
    /// A line of `plan.md` is written anew, where it still says what it said.
    Rewrite {
        /// Its number, from 1.
        line: u32,
        /// What it said on the screen.
        was: String,
        /// What it is to say; may be several lines.
        text: String,
    },
    /// The user is done editing `plan.md` by hand: read it and answer question `id` with what follows.
    EditingDone {
        /// The question that waits for it.
        id: u32,
        /// What follows.
        then: EditFollowUp,
    },
    /// What the run changed, or one step of it; comes back by `Screen::on_diff`.
    ShowDiff(DiffScope),
    /// Steps are to be undone or redone; what it would do comes back by `Screen::on_undo`.
    Undo(UndoRequest),
    /// A run begins.
    NewRun {
        /// Its goal as typed.
        goal: String,
        /// Who talks with the user about it.
        refiner: Role,
    },
    /// The unfinished run of this repository goes on.
    Resume,
    /// What the user said of the repository's instructions for agents; `None` where the goal is to be written again.
    Instructions(Option<InstructionsChoice>),
    /// The unfinished run goes to the history, and a new one can begin.
    Archive,
    /// The finished runs; comes back by `Screen::on_history`.
    ShowHistory,
    /// A finished run is opened to be read; its directory's name.
    OpenRun(String),
    /// The run in front is written down as one page; where, comes back by `Screen::on_word`.
    ExportRun(ExportFormat),
    /// An unfinished run of the history becomes the one that lies here, and goes on; its directory's name.
    BringBack(String),
    /// A screen that only looks is closed.
    CloseView,
    /// The repository is free: the screen begins anew and acts.
    TakeOver,
    /// An agent's call is decided.
    AnswerApproval {
        /// The call, as the run counts those that waited: requests are named alike again and again.
        call: u32,
        /// What the user said.
        answer: ApprovalDecision,
    },
    /// What the user approved for more than one call; comes back by `Screen::on_permissions`.
    ShowPermissions,
    /// An approval is taken back, by its number.
    Revoke(u64),
    /// An agent gets a task.
    GiveTask {
        /// Its name.
        agent: String,
        /// What it is to do.
        prompt: String,
    },
    /// Several agents discuss something.
    Discuss(DiscussionTopic),
    /// What a discussion would be begun with is wanted; comes back by `Screen::on_planned`.
    PlanDiscussion(DiscussionTopic),
    /// A discussion is stopped; what was said stays.
    StopDiscussion(DiscussionId),
    /// A discussion that was stopped, was cut off or failed goes on.
    GoOnDiscussing(DiscussionId),
    /// A discussion is written down as Markdown.
    ExportDiscussion(DiscussionId),
    /// What a discussion would be given is wanted, by a preset or without one; comes back by `Screen::on_text`.
    ShowBudget(Option<String>),
    /// What everything stands on is wanted; comes back by `Screen::on_text`.
    Diagnose,
    /// A child's session is wanted to be read; comes back by `Screen::on_child`.
    ShowChild(SessionId),
    /// The task of a child is stopped.
    StopChild(SessionId),
    /// The files of the repository are wanted; they come back by `Screen::on_files`.
    ListFiles,
    /// A text is opened in another program, which gets the terminal.
    OpenText {
        /// The text, drawable.
        text: String,
        /// In which.
        with: ExternalViewer,
    },
    /// The same with a call, with all that its tool said as far as the disk has it.
    OpenCall {
        /// The call.
        call: TruncatedToolCall,
        /// In which.
        with: ExternalViewer,
    },
    /// The terminal gets the next frame whole, whatever stands on it.
    Redraw,
    /// A text goes to the clipboard.
    Copy(String),
    /// A theme is kept for the starts to come, by its name; where, or why not, comes back by `Screen::on_word`.
    KeepTheme(String),
}

/// What shall be discussed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscussionTopic {
    /// The question; empty for that which a finding raises by itself.
    pub text: String,
    /// The preset that says how.
    pub preset: Option<String>,
    /// The number of the finding that it is about.
    pub finding: Option<u32>,
}

/// A program of the user's for reading texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalViewer {
    /// The one of `VISUAL` or `EDITOR`.
    Editor,
    /// The one of `PAGER`.
    Pager,
}

/// How far a wish to quit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuitStep {
    /// Interrupt the running turn, then TERM, then KILL, then end.
    Ask,
    /// Kill everything and end at once.
    Now,
}

/// A document that the user can edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// `plan.md`
    Plan,
    /// `comments.md`
    Comments,
    /// What the two texts of the open conflict are merged into.
    Merge,
}

impl DocumentKind {
    /// What it is called in a message: the user may have named its file otherwise.
    pub fn label(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Comments => "review",
            Self::Merge => "merge",
        }
    }
}
