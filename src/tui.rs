//! Draws a run and turns keys into actions.
//!
//! Pure: it keeps only the state of the view. It has no access to a terminal, a file, a clock or the engine:
//! each frame brings its instant, and the caller passes in events and texts.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod action;
mod agent_dialogs;
mod appearance;
mod approval_view;
mod child_session_list;
mod clickable_keys;
mod command;
mod command_dispatch;
mod command_palette;
mod command_table;
mod completion;
mod composer;
mod composer_pane;
mod composer_submit;
mod composer_target;
mod cross_tab_toast;
mod dialog;
mod dialog_pane;
mod dialogs;
mod diff_view;
mod discussion_board;
mod discussion_commands;
mod document_texts;
mod finding_location;
mod footer;
mod fuzzy_picker;
mod header;
mod help;
mod input_guard;
mod key_dispatch;
mod keymap;
mod labels;
mod list_index;
mod log_range;
mod markdown;
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
mod search_bar;
mod search_highlight;
mod searchable_view;
mod tabs;
mod terminal_status;
mod text_comparison;
mod text_versions;
mod text_wrap;
mod theme;
mod todo_lists;
mod transcript;
mod view_area;
mod view_commands;
mod welcome_page;

#[cfg(test)]
mod tests;

pub use action::{Action, DiscussionTopic, DocumentKind, ExternalViewer, QuitStep};
pub use agent_dialogs::AgentEntry;
pub use appearance::ScreenSettings;
pub use appearance::{MouseCapture, ScreenAppearance};
pub use approval_view::{ApprovalEntry, ExactCall};
pub use command_table::{ManualEntry, ManualSection, command_manual};
pub use diff_view::DiffLookup;
pub use discussion_commands::DiscussionPlanView;
pub use document_texts::{DocumentRevision, RunDocumentFiles};
pub use keymap::{ActiveKeymap, KeyOverride as WishedKeys, KeymapError as KeyFlaw};
pub use read_only::{OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry};
pub use remote_commands::{check_remote_command, sendable_commands};
pub use screen::Screen;
pub use scrollback::ScrollbackChunk;
pub use tabs::status::AdapterSandboxView;
pub use terminal_status::TerminalStatus;
pub use text_versions::ConflictVersions;
pub use theme::{ColorSupport, ColorTheme, TerminalEnvironment, ThemeError};
pub use transcript::{ChildSessionView, ScrollbackDemand, TruncatedToolCall};
pub use welcome_page::{MissingRequirement, RequirementSeverity, WelcomeInfo};
