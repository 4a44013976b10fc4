//! Draws a run and turns keys into actions.
//!
//! Pure: it keeps only the state of the view. It has no access to a terminal, a file, a clock or the engine:
//! each frame brings its instant, and the caller passes in events and texts.
//!
//! ```text
//!   program: events, documents, settings            keys, clicks, pastes
//!              │                                          │
//!              ▼                                          ▼
//!   screen.rs: Screen::on_…                 key_dispatch.rs, mouse.rs
//!     │ one struct, twelve parts                 │ palette ▸ search bar ▸ view in front ▸ composer ▸ dialog ▸ keymap
//!     │                                          ▼
//!     │                              command_table: the row of the command
//!     │                                          │
//!     │                 command_dispatch · view_commands · discussion_commands
//!     │                                          │
//!     ▼                                          ▼
//!   screen_layout.rs: one frame          Vec<Action>, which the program carries out
//! ```
//!
//! What lives where:
//!
//! - `tabs`: five tabs, each with its page and its view state, behind the trait `ScreenTab`. A tab says what opening,
//!   selecting, filtering and copying mean in it, and asks the screen for the rest (`OpenedEntry`).
//! - `overlays`: the stack of what lies over the tab (`ScreenOverlay`): a diff or a board, a long text in front of it, the search
//!   bar, the palette. The topmost layer gets the key, and asks the screen for the rest (`LayerResponse`).
//! - `composer_pane`, `dialog_pane`: the text that is written, and the dialogs with all that they show beside the run's state.
//!   A dialog itself is built again for each frame from the run's state (`dialogs`).
//! - `tab_kind`, `view_moves`, `command`, `action`: the names that all use, below everything that carries them out.
//! - `command_table`: one row a command; it sees the screen as a `CommandTarget`, so that keys and help can be read anywhere. Keys, help, palette, completion, footer, `agent-collab keys` and the manual read it.
//! - `run_commands`: commands to the run, computed from its state alone. They return a `CommandOutcome`, as do
//!   `copy_commands` and the methods of the parts; `Screen::apply` carries it out.
//! - Eight files give `Screen` methods: `screen` (its parts and doors), `key_dispatch`, `key_focus`, `command_dispatch`,
//!   `command_functions` (what only a row calls), `view_commands`, `composer_submit`, `screen_layout`. What works on the screen
//!   as a whole borrows it with the run's state: `MouseHandler`, `DiscussionCommands`, `ModeLine`, and `LineInterface`, which
//!   prints the screen as lines and takes lines in place of keys. What concerns one part is a method
//!   of that part (`ComposerPane`, `DialogPane`, `OverlayStack`, `ScreenTabs`, `ScreenSettings`, `CommandPalette`);
//!   what reads several takes a struct that borrows them (`FrontView`, `PaletteContext`, `CompletionSources`,
//!   `SummaryContext`, `WelcomePage`, `SidebarContext`).
//! - `transcript`, `markdown`, `diff_row`, `scroll_view`, `list_index`, `labels`, `text_wrap`, `theme`: how things look and move; they
//!   know nothing of the screen, its dialogs and its commands.
//!
//! What goes wrong here:
//!
//! - A key meant for something else answers a dialog. `input_guard` decides when a dialog takes keys; nothing may go around it.
//! - An agent's text is drawn with control characters, or with a clickable key. Clean with `text_wrap`, mark keys with
//!   `clickable_keys` only in the program's own texts.
//! - A frame costs more with a long run. Lay out only what is visible, and cache by a key (`ScrollView::lay_out`).
//! - A view shows what the run was, not what it is. Keep no copy of the run's state; it comes with each call.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod action;
mod activity_text;
mod agent_dialogs;
mod appearance;
mod approval_view;
mod chat_context;
mod child_session_list;
mod clickable_keys;
mod command;
mod command_dispatch;
mod command_functions;
mod command_palette;
mod command_table;
mod completion;
mod composer;
mod composer_pane;
mod composer_submit;
mod composer_target;
mod copy_commands;
mod cross_tab_toast;
mod delayed_letter;
mod dialog;
mod dialog_pane;
mod dialogs;
mod diff_row;
mod diff_view;
mod discussion_board;
mod discussion_commands;
mod document_texts;
mod failure_excerpt;
mod finding_location;
mod footer;
mod fuzzy_picker;
mod header;
mod help;
mod hit_areas;
mod input_guard;
mod key_dispatch;
mod key_focus;
mod keymap;
mod labels;
mod linear_view;
mod list_index;
mod log_range;
mod markdown;
mod mode_line;
mod mouse;
mod overlays;
mod pager;
mod popup;
mod prompt_preview;
mod proof_board;
mod read_only;
mod remote_commands;
mod run_commands;
mod run_facts;
mod run_summary;
mod screen;
mod screen_layout;
mod scroll_view;
mod scrollback;
mod scrollback_chunk;
mod search_bar;
mod search_highlight;
mod searchable_view;
mod sidebar;
mod step_trail;
mod tab_kind;
mod tabs;
mod terminal_status;
mod text_comparison;
mod text_versions;
mod text_wrap;
mod theme;
mod thread_choice;
mod toast_line;
mod todo_lists;
mod transcript;
mod truncated_call;
mod view_area;
mod view_commands;
mod view_moves;
mod welcome_page;

#[cfg(test)]
mod tests;

pub use action::{Action, DiscussionTopic, DocumentKind, ExternalViewer, QuitStep};
pub use activity_text::{SPINNER, SPINNER_STEP};
pub use agent_dialogs::AgentEntry;
pub use appearance::{MouseCapture, ScreenAppearance};
pub use appearance::{NextRunSettings, ScreenSettings};
pub use approval_view::{ApprovalEntry, ExactCall};
pub use command_table::{ManualEntry, ManualSection, command_manual};
pub use diff_view::DiffLookup;
pub use discussion_commands::DiscussionPlanView;
pub use document_texts::{DocumentRevision, RunDocumentFiles};
pub use keymap::{ActiveKeymap, KeyOverride as WishedKeys, KeymapError as KeyFlaw};
pub use linear_view::{LineInterface, LineTiming, LinearOutput};
pub use read_only::{OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry};
pub use remote_commands::{check_remote_command, sendable_commands};
pub use screen::Screen;
pub use scrollback_chunk::ScrollbackChunk;
pub use tabs::status::AdapterSandboxView;
pub use terminal_status::TerminalStatus;
pub use text_versions::ConflictVersions;
pub use theme::{ColorSupport, ColorTheme, TerminalBackground, TerminalEnvironment, ThemeError};
pub use transcript::{ChildSessionView, ScrollbackDemand};
pub use truncated_call::TruncatedToolCall;
pub use welcome_page::{
    MissingRequirement, ReadyOwner, ReadyPart, RequirementSeverity, WelcomeInfo,
};
