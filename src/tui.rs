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
mod composer_draft;
mod composer_layout;
mod composer_submit;
mod composer_target;
mod cross_tab_toast;
mod dialog;
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
mod list_navigation;
mod log_range;
mod markdown;
mod message_queue;
mod mouse;
mod open_selection;
mod pager;
mod panes;
mod popup;
mod prompt_preview;
mod proof_board;
mod quit_flow;
mod read_only;
mod remote_commands;
mod run_summary;
mod screen_layout;
mod screen_reset;
mod scroll_view;
mod scrollback;
mod search_bar;
mod search_highlight;
mod step_commands;
mod stop_dialogs;
mod tabs;
mod terminal_status;
mod text_comparison;
mod text_versions;
mod text_wrap;
mod theme;
mod todo_lists;
mod transcript;
mod view_commands;
mod welcome_page;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ratatui::Frame;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};

pub use action::{Action, DiscussionTopic, DocumentKind, ExternalViewer, QuitStep};
pub use agent_dialogs::AgentEntry;
pub use appearance::{MouseCapture, ScreenAppearance};
pub use approval_view::{ApprovalEntry, ExactCall};
use command_palette::CommandPalette;
pub use command_table::{ManualEntry, ManualSection, command_manual};
use completion::ComposerAssist;
use composer::{PasteResult, TextComposer};
use dialog::{ChoiceDialog, ComposerDraft};
use dialogs::DialogContext;
pub use diff_view::DiffLookup;
use diff_view::DiffView;
use discussion_board::DiscussionBoard;
pub use discussion_commands::DiscussionPlanView;
use document_texts::DisplayDocuments;
pub use document_texts::{DocumentRevision, RunDocumentFiles};
use keymap::ComposerFocus;
pub use keymap::{ActiveKeymap, KeyOverride as WishedKeys, KeymapError as KeyFlaw};
use pager::{PagerFormat, TextPager};
use proof_board::ProofBoard;
pub use read_only::{OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry};
pub use remote_commands::{check_remote_command, sendable_commands};
use screen_layout::ScreenHitAreas;
use scroll_view::TabScrollViews;
pub use scrollback::ScrollbackChunk;
use tabs::TabKind;
use tabs::log::EventLogList;
pub use tabs::status::AdapterSandboxView;
pub use terminal_status::TerminalStatus;
pub use text_versions::ConflictVersions;
pub use theme::{ColorSupport, ColorTheme, TerminalEnvironment, ThemeError};
use transcript::ChatTranscript;
pub use transcript::{ChildSessionView, ScrollbackDemand, TruncatedToolCall};
pub use welcome_page::{MissingRequirement, RequirementSeverity, WelcomeInfo};

use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::proof_progress::ProofProgress;
use crate::domain::reversal_plan::ReversalPreview;
use crate::domain::run::RunState;
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::Role;
use crate::text::fenced_block;

/// What the program knows about the repository and the user's settings, as far as the screen shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScreenSettings {
    /// Whether a turn is sent only after a second Enter.
    pub confirm_enter: bool,
    /// Whether this is a demo that calls no model; the header shows it.
    pub demo: bool,
    /// The repository's path or name, for the header.
    pub repository: String,
    /// The checked-out branch, if there is one.
    pub branch: Option<String>,
    /// The branch that was checked out before the run created its own; the run's commits are merged into it.
    pub base_branch: Option<String>,
    /// Set when the screen may only read the run.
    pub read_only: Option<ReadOnlyStatus>,
    pub theme: ColorTheme,
    /// The user's UTC offset in seconds; positive east of Greenwich.
    pub utc_offset: i32,
    pub appearance: ScreenAppearance,
}

/// The view of one run: all that is drawn, and what keys and clicks do.
#[derive(Debug)]
pub struct Screen {
    settings: ScreenSettings,
    transcript: ChatTranscript,
    documents: DisplayDocuments,
    record: EventLogList,
    pages: TabScrollViews,
    tab: TabKind,
    unfolded: BTreeSet<TabKind>,
    composer: TextComposer,
    assist: ComposerAssist,
    palette: Option<CommandPalette>,
    search_bar: Option<search_bar::SearchBar>,
    side_pane: panes::SidePaneVisibility,
    pane_focus: panes::PaneFocus,
    chat_arrangement: panes::ChatArrangement,
    finding_selection: tabs::comments::FindingSelection,
    plan_view: tabs::plan::plan_view_state::PlanViewState,
    /// The line of the plan that a note or an edit is being written for, counted from 1, and its text.
    noted_line: Option<(u32, String)>,
    composer_focus: ComposerFocus,
    draft: Option<ComposerDraft>,
    refiner: Role,
    /// The selected choice, with the id of the dialog that it belongs to.
    chosen_choice: Option<(String, usize)>,
    /// Which revision of each tab the user has seen.
    seen_tabs: header::SeenTabRevisions,
    /// The dialog that the last frame showed.
    drawn_dialog: Option<String>,
    /// A dialog that the screen opened itself: a list or a confirmation.
    own_dialog: Option<ChoiceDialog>,
    /// Dialogs that arrived while the user was being asked whether to stop.
    deferred_dialogs: Vec<ChoiceDialog>,
    /// A summary of the unfinished run that was found at the start.
    unfinished: Option<String>,
    /// The agent instructions in the repository that the user is asked about, each with its text.
    instructions: Option<Vec<(String, String)>>,
    /// Which agent instructions exist, and whether agents get them.
    instructions_status: String,
    pager: Option<TextPager>,
    diff_view: Option<DiffView>,
    /// The board of a discussion; never open together with a diff.
    board: Option<DiscussionBoard>,
    /// What is known about discussions beyond the run's state.
    talks: discussion_commands::DiscussionViewState,
    prompt_preview: Option<prompt_preview::PromptPreview>,
    prompt_history: prompt_preview::PromptHistory,
    /// The first pending call, exactly as the agent made it.
    exact_call: Option<approval_view::ExactCall>,
    /// Since when the dialog of the last frame has been on the screen.
    input_guard: input_guard::InputGuard,
    versions: Vec<ConflictVersions>,
    proposed_goal: Option<String>,
    /// The agent's previous proposal of the goal.
    goal_before: Option<String>,
    /// Whether the proposed goal is known; if so, older events loaded from the log no longer change it.
    is_goal_known: bool,
    picked_answers: BTreeMap<String, String>,
    /// For questions with several answers: the answers chosen so far.
    ticked_answers: BTreeMap<String, BTreeSet<String>>,
    /// A short message that disappears with the next key.
    toast: Option<String>,
    /// The last toast that names clickable keys.
    toast_with_keys: Option<String>,
    /// Which code block was copied last: a hash of all blocks that it was chosen from, and its index
    /// counted from the last one.
    last_copied_code: Option<(u64, usize)>,
    cross_tab_toast: Option<cross_tab_toast::CrossTabToast>,
    /// Set while the running turn gives no output.
    silent_turn: Option<SilentTurn>,
    proof_board: ProofBoard,
    sandbox_status: Vec<AdapterSandboxView>,
    is_unsandboxed: bool,
    is_quitting: bool,
    /// Whether the user has been shown how to select text.
    is_drag_explained: bool,
    /// When the run ended, once it did.
    ended_at: Option<UnixMillis>,
    /// The theme that was in use before the theme list was opened.
    theme_before: Option<ColorTheme>,
    welcome: WelcomeInfo,
    terminal_status: TerminalStatus,
    /// Whether the run on the screen behind this one needs the user.
    is_needed_by_covered_screen: bool,
    hit_areas: ScreenHitAreas,
    is_dirty: bool,
}

/// A running turn that gives no output.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SilentTurn {
    since: UnixMillis,
    /// The likely reason, where one is known.
    verdict: Option<String>,
}

/// The result of sending the composer's text.
#[derive(Debug)]
enum SubmitOutcome {
    /// The text was sent.
    Done(Vec<Action>),
    /// The text stays in the composer, for this reason.
    StaysInComposer(String),
}

impl Screen {
    /// Creates a screen that has no run yet.
    pub fn new(settings: ScreenSettings) -> Self {
        let mut screen = Self::with_defaults(settings);
        screen.apply_settings();
        screen
    }

    fn with_defaults(settings: ScreenSettings) -> Self {
        let writing = match settings.read_only {
            Some(_) => ComposerFocus::Unfocused,
            None => ComposerFocus::Focused,
        };
        Self {
            settings,
            transcript: ChatTranscript::default(),
            documents: DisplayDocuments::default(),
            record: EventLogList::default(),
            pages: TabScrollViews::default(),
            tab: TabKind::Chat,
            unfolded: BTreeSet::new(),
            composer: TextComposer::default(),
            assist: ComposerAssist::default(),
            palette: None,
            search_bar: None,
            side_pane: panes::SidePaneVisibility::default(),
            pane_focus: panes::PaneFocus::default(),
            chat_arrangement: panes::ChatArrangement::default(),
            finding_selection: tabs::comments::FindingSelection::default(),
            plan_view: tabs::plan::plan_view_state::PlanViewState::default(),
            noted_line: None,
            composer_focus: writing,
            draft: None,
            refiner: Role::Planner,
            chosen_choice: None,
            seen_tabs: header::SeenTabRevisions::default(),
            drawn_dialog: None,
            own_dialog: None,
            deferred_dialogs: Vec::new(),
            unfinished: None,
            instructions: None,
            instructions_status: String::new(),
            pager: None,
            diff_view: None,
            board: None,
            talks: discussion_commands::DiscussionViewState::default(),
            prompt_preview: None,
            prompt_history: prompt_preview::PromptHistory::default(),
            exact_call: None,
            input_guard: input_guard::InputGuard::default(),
            versions: Vec::new(),
            proposed_goal: None,
            goal_before: None,
            is_goal_known: false,
            picked_answers: BTreeMap::new(),
            ticked_answers: BTreeMap::new(),
            toast: None,
            toast_with_keys: None,
            last_copied_code: None,
            cross_tab_toast: None,
            silent_turn: None,
            proof_board: ProofBoard::default(),
            sandbox_status: Vec::new(),
            is_unsandboxed: false,
            is_quitting: false,
            is_drag_explained: false,
            ended_at: None,
            theme_before: None,
            welcome: WelcomeInfo::default(),
            terminal_status: TerminalStatus::default(),
            is_needed_by_covered_screen: false,
            hit_areas: ScreenHitAreas::default(),
            is_dirty: true,
        }
    }

    /// Applies what is known about the repository. It arrives after the first frame, which does not wait for it.
    pub fn on_settings(&mut self, settings: ScreenSettings) {
        self.settings = ScreenSettings {
            theme: self.settings.theme.clone(),
            appearance: self.settings.appearance.clone(),
            ..settings
        };
        self.apply_settings();
        self.is_dirty = true;
    }

    /// Makes the transcript show paths relative to the repository and times in the user's time zone.
    fn apply_settings(&mut self) {
        let repository = &self.settings.repository;
        self.transcript.set_root_folder(repository);
        let pager = self.keymap().key_label("pager", ComposerFocus::Unfocused);
        self.transcript.set_expand_key(&pager);
        if !repository.is_empty() {
            self.transcript.localize_utc_times(self.local_clock());
        }
    }

    /// Applies a recorded event, live or replayed.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        self.is_dirty = true;
        self.transcript.on_event(at, event);
        if let Some(child) = self.open_child_mut() {
            child.on_event(at, event);
        }
        self.record.on_event(at, event);
        self.proof_board.on_event(event);
        self.on_discussion_event(event);
        self.note_cross_tab_event(at, event);
        match event {
            Event::Agent { news, .. } => self.on_agent_activity(at, news),
            Event::RunCreated(_) => self.reset_run_state(),
            Event::SessionLost { .. } | Event::SessionMoved { .. } => self.clear_prompt_history(),
            Event::GoalGiven { .. } => {
                (self.proposed_goal, self.goal_before) = (None, None);
                self.is_goal_known = true;
                self.toast = None;
            }
            Event::GoalConfirmed { .. } => {
                (self.proposed_goal, self.goal_before) = (None, None);
                self.is_goal_known = true;
            }
            Event::TurnSendConfirmed | Event::TurnStarted { .. } => {
                if let Some(preview) = self.prompt_preview.take() {
                    self.prompt_history.record_prompt(&preview);
                }
                self.silent_turn = None;
                self.drop_stale_dialog();
            }
            Event::TurnEnded { .. } => self.silent_turn = None,
            Event::PhaseChanged { to, .. } => {
                // From here on the user wants to see what the steps do.
                if *to == Phase::Execute {
                    self.plan_view.close_comparison();
                }
                self.drop_stale_dialog();
                self.ended_at = to.is_final().then_some(at);
            }
            Event::UndoAsked { .. } => self.drop_stale_dialog(),
            Event::QuestionAsked { .. } => {
                self.prompt_preview = None;
                self.versions.clear();
                self.clear_picked_answers();
            }
            Event::QuestionAnswered { .. } | Event::AgentQuestionWithdrawn { .. } => {
                self.clear_picked_answers()
            }
            _ => {}
        }
    }

    fn on_agent_activity(&mut self, at: UnixMillis, news: &AgentActivity) {
        self.silent_turn = match news {
            AgentActivity::Silent { seconds, verdict } => {
                let millis = i64::try_from(*seconds).unwrap_or(0).saturating_mul(1_000);
                Some(SilentTurn {
                    since: UnixMillis(at.0.saturating_sub(millis)),
                    verdict: verdict.clone(),
                })
            }
            _ => None,
        };
        if let AgentActivity::Text { text } = news {
            let proposed = fenced_block::find_document(text, "goal.md");
            if let Some(goal) = proposed.filter(|goal| !goal.trim().is_empty()) {
                self.goal_before = self.proposed_goal.replace(goal);
                self.is_goal_known = true;
            }
        }
    }

    /// Applies a piece of text that an agent is writing.
    pub fn on_delta(&mut self, delta: TextDelta) {
        self.is_dirty = true;
        if let TextDelta::Child { session, text } = &delta {
            return self.on_speech_delta(session, text);
        }
        self.silent_turn = None;
        self.transcript.on_delta(delta);
    }

    /// Applies the start or the end of a test run that proves a step.
    pub fn on_proof_progress(&mut self, at: UnixMillis, progress: &ProofProgress) {
        self.is_dirty = true;
        self.proof_board.on_progress(at, progress);
    }

    /// Applies the documents as they are on disk now.
    pub fn on_documents(&mut self, documents: RunDocumentFiles) {
        self.is_dirty |= self.documents.update(&documents);
        let documents = [
            (TabKind::Plan, &self.documents.plan),
            (TabKind::Comments, &self.documents.comments),
        ];
        for (tab, document) in documents {
            // A deleted document is not news.
            if document.text.is_none() {
                self.seen_tabs.record_seen(tab, document.revision);
            }
        }
    }

    /// Shows a notice in the chat and as a toast, without interrupting the user.
    pub fn on_notice(&mut self, text: &str) {
        self.is_dirty = true;
        self.transcript.push_notice(text);
        self.toast = Some(text_wrap::to_one_line(text));
    }

    /// Stores the prompt of the turn that waits at the gate. It arrives after the event that asks the user to send it.
    pub fn on_prompt_preview(&mut self, prompt: &str) {
        self.is_dirty = true;
        self.prompt_preview = Some(self.prompt_history.preview_prompt(prompt));
    }

    /// Stores the texts that the open question is about. They arrive after the event that asks the question.
    pub fn on_versions(&mut self, versions: Vec<ConflictVersions>) {
        self.is_dirty = true;
        self.versions = versions;
    }

    /// Shows the result of a diff request and the other diffs that can be opened. Does nothing if the user
    /// has closed the view in the meantime.
    pub fn on_diff(&mut self, scope: DiffScope, scopes: Vec<DiffScope>, diff: DiffLookup) {
        if let Some(view) = &mut self.diff_view {
            self.is_dirty = true;
            view.set_diff(scope, scopes, diff);
        }
    }

    /// Asks whether to undo or redo steps; the answer is [`Event::UndoAsked`].
    pub fn on_undo_previews(&mut self, offers: &[ReversalPreview], phase: Phase) {
        self.is_dirty = true;
        self.toast = None;
        match dialogs::undo_dialog::build_dialog(offers, phase) {
            Some(sheet) => self.open_or_defer_dialog(sheet),
            None => self.drop_stale_dialog(),
        }
    }

    /// Shows a long text from the program, such as the output of the doctor.
    pub fn show_text(&mut self, title: &str, text: &str) {
        self.is_dirty = true;
        self.open_pager(TextPager::new(title, text, PagerFormat::Plain));
    }

    /// Stores how each CLI is sandboxed.
    pub fn on_sandbox_status(&mut self, held: Vec<AdapterSandboxView>) {
        self.is_dirty = true;
        self.sandbox_status = held;
    }

    /// Stores whether an agent runs without a sandbox; the header shows it.
    pub fn on_unsandboxed_agent(&mut self, is_uncontained: bool) {
        self.is_dirty = true;
        self.is_unsandboxed = is_uncontained;
    }

    /// Asks whether to resume the unfinished run that `summary` describes; the answer is
    /// [`Action::Resume`] or [`Action::Archive`].
    pub fn ask_to_resume(&mut self, summary: &str) {
        self.is_dirty = true;
        self.unfinished = Some(summary.to_owned());
        self.composer_focus = ComposerFocus::Unfocused;
    }

    /// Asks whether agents get the repository's instructions, each given with its text; the answer is
    /// [`Action::Instructions`].
    pub fn ask_about_instructions(&mut self, files: Vec<(String, String)>) {
        self.is_dirty = true;
        self.toast = None;
        self.close_overlays();
        self.instructions = Some(files);
        self.composer_focus = ComposerFocus::Unfocused;
    }

    /// Stores which agent instructions exist, and whether agents get them.
    pub fn on_instructions_status(&mut self, words: String) {
        self.is_dirty = true;
        self.instructions_status = words;
    }

    /// Gives the keys to the open dialog when a run is resumed, unless the user is writing something.
    pub fn focus_open_dialog(&mut self, state: Option<&RunState>) {
        if self.composer.is_empty() && self.draft.is_none() && self.pending_dialog(state).is_some()
        {
            self.composer_focus = ComposerFocus::Unfocused;
        }
    }

    /// Turns a key into the user's request. Keys that only change the view return nothing.
    pub fn on_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        self.is_dirty = true;
        let actions = self.dispatch_key(key, state);
        self.input_guard.on_key();
        self.note_discussion_request(&actions);
        actions
    }

    /// Puts pasted text into the composer and focuses it; a paste never triggers anything.
    pub fn on_paste(&mut self, text: &str) {
        self.is_dirty = true;
        self.toast = None;
        if self.paste_into_palette(text) || self.paste_into_search(text) {
            return;
        }
        if let Some(why) = self.read_only_reason() {
            self.show_toast(&why);
            return;
        }
        self.focus_composer();
        self.close_completion();
        if let PasteResult::TooLarge { n_bytes } = self.composer.on_paste(text) {
            self.show_toast(&composer_submit::describe_too_large(Some(n_bytes)));
        }
    }

    /// Sets the texts that the user sent in earlier sessions, the oldest first; `↑` recalls them.
    pub fn set_input_history(&mut self, texts: Vec<String>) {
        self.composer.set_sent_texts(texts);
    }

    /// Returns the texts that the user has sent since the last call, for saving.
    pub fn drain_new_inputs(&mut self) -> Vec<String> {
        self.composer.drain_unsaved_texts()
    }

    /// Turns a click or a wheel event into the user's request.
    pub fn on_mouse(&mut self, event: MouseEvent, state: Option<&RunState>) -> Vec<Action> {
        self.is_dirty = true;
        let actions = self.dispatch_mouse(event, state);
        self.note_discussion_request(&actions);
        actions
    }

    /// Draws one frame; the screen is clean afterwards.
    pub fn draw(&mut self, frame: &mut Frame, state: Option<&RunState>, now: UnixMillis) {
        self.end_theme_preview();
        self.open_deferred_dialog();
        self.draw_all(frame, state, now);
        // Removes the hint marks, which the terminal must not see.
        self.collect_hint_areas(frame.buffer_mut());
        self.settings.theme.paint(frame.buffer_mut());
        self.is_dirty = false;
    }

    /// Returns a number that grows whenever the content of a tab changes; always 0 for tabs
    /// that change with every event.
    fn tab_revision(&self, tab: TabKind) -> u64 {
        match tab {
            TabKind::Chat => self.transcript.total_blocks(),
            TabKind::Plan => self.documents.plan.revision,
            TabKind::Comments => self.documents.comments.revision,
            TabKind::Log | TabKind::Status => 0,
        }
    }

    /// Switches to another theme.
    pub fn on_theme(&mut self, theme: ColorTheme) {
        self.settings.theme = theme;
        self.is_dirty = true;
    }

    /// Returns the theme in use, which the user may have chosen.
    pub fn theme(&self) -> ColorTheme {
        self.settings.theme.clone()
    }

    /// Returns whether the screen has changed since the last frame.
    pub fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Requests a frame, for example after a resize or a return to the terminal.
    pub fn mark_dirty(&mut self) {
        self.is_dirty = true;
    }

    /// Returns the dialog that is open; the screen's own dialogs come before the run's.
    fn pending_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
        if let Some(own) = self.current_own_dialog(state) {
            return Some(own);
        }
        // Only the owner of the run can answer its questions.
        if self.is_read_only() {
            return None;
        }
        if let Some(files) = &self.instructions {
            return Some(dialogs::instructions_dialog::build_dialog(files));
        }
        if let Some(summary) = &self.unfinished {
            return Some(dialogs::unfinished_run_dialog::build_dialog(summary));
        }
        dialogs::pending_dialog(state?, &self.dialog_context())
    }

    fn dialog_context(&self) -> DialogContext<'_> {
        DialogContext {
            preview: self.prompt_preview.as_ref(),
            exact_call: self.exact_call.as_ref(),
            versions: &self.versions,
            proposed_goal: self.proposed_goal.as_deref(),
            goal_before: self.goal_before.as_deref(),
            picked_answers: &self.picked_answers,
            ticked_answers: &self.ticked_answers,
            noted_line: self.noted_line.as_ref(),
            documents: &self.documents,
            clock: self.local_clock(),
            confirm_enter: self.settings.confirm_enter,
        }
    }

    fn local_clock(&self) -> labels::LocalClock {
        labels::LocalClock(self.settings.utc_offset)
    }

    fn chosen_choice(&self, sheet: &ChoiceDialog) -> usize {
        match &self.chosen_choice {
            Some((id, chosen)) if *id == sheet.id => {
                (*chosen).min(sheet.choices.len().saturating_sub(1))
            }
            Some(_) | None => sheet.first_choice,
        }
    }
}
