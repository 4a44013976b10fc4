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
mod command_availability;
mod command_dispatch;
mod command_palette;
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
mod log_range;
mod markdown;
mod message_queue;
mod mouse;
mod overlays;
mod pager;
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
mod searchable_view;
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
mod view_area;
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
use completion::ComposerAssist;
use composer::{PasteResult, TextComposer};
use dialog::{ChoiceDialog, ComposerDraft};
use dialogs::DialogContext;
pub use diff_view::DiffLookup;
pub use discussion_commands::DiscussionPlanView;
use discussion_commands::DiscussionViewState;
use document_texts::DisplayDocuments;
pub use document_texts::{DocumentRevision, RunDocumentFiles};
use keymap::ComposerFocus;
pub use keymap::{ActiveKeymap, KeyOverride as WishedKeys, KeymapError as KeyFlaw};
use overlays::OverlayStack;
use pager::{PagerFormat, TextPager};
pub use read_only::{OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry};
pub use remote_commands::{SENDABLE, check_remote_command};
use screen_layout::ScreenHitAreas;
pub use scrollback::ScrollbackChunk;
pub use tabs::status::AdapterSandboxView;
use tabs::status::SilentTurn;
use tabs::{ScreenTabs, TabKind};
pub use terminal_status::TerminalStatus;
pub use text_versions::ConflictVersions;
pub use theme::{ColorSupport, ColorTheme, TerminalEnvironment, ThemeError};
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

impl ScreenSettings {
    fn local_clock(&self) -> labels::LocalClock {
        labels::LocalClock(self.utc_offset)
    }
}

/// The view of one run: all that is drawn, and what keys and clicks do.
#[derive(Debug)]
pub struct Screen {
    settings: ScreenSettings,
    documents: DisplayDocuments,
    tabs: ScreenTabs,
    overlays: OverlayStack,
    composer: ComposerPane,
    dialogs: DialogPane,
    toast: ToastLine,
    /// What is known about discussions beyond the run's state.
    discussions: DiscussionViewState,
    run_facts: RunFacts,
    /// Which code block was copied last: a hash of all blocks that it was chosen from, and its index
    /// counted from the last one.
    last_copied_code: Option<(u64, usize)>,
    hit_areas: ScreenHitAreas,
    is_dirty: bool,
}

/// The composer: the text, what helps to write it, and to whom it goes.
#[derive(Debug)]
struct ComposerPane {
    editor: TextComposer,
    assist: ComposerAssist,
    focus: ComposerFocus,
    draft: Option<ComposerDraft>,
    /// The line of the plan that a note or an edit is being written for, counted from 1, and its text.
    noted_line: Option<(u32, String)>,
    refiner: Role,
}

/// The dialogs: the screen's own, and what the run's dialogs show beside the run's state.
#[derive(Debug, Default)]
struct DialogPane {
    /// The selected choice, with the id of the dialog that it belongs to.
    chosen: Option<(String, usize)>,
    /// The dialog that the last frame showed.
    drawn: Option<String>,
    /// A dialog that the screen opened itself: a list or a confirmation.
    own: Option<ChoiceDialog>,
    /// Dialogs that arrived while the user was being asked whether to stop.
    deferred: Vec<ChoiceDialog>,
    /// A summary of the unfinished run that was found at the start.
    unfinished_run: Option<String>,
    /// The agent instructions in the repository that the user is asked about, each with its text.
    instructions: Option<Vec<(String, String)>>,
    prompt_preview: Option<prompt_preview::PromptPreview>,
    prompt_history: prompt_preview::PromptHistory,
    /// The first pending call, exactly as the agent made it.
    exact_call: Option<approval_view::ExactCall>,
    /// Since when the dialog of the last frame has been on the screen.
    guard: input_guard::InputGuard,
    versions: Vec<ConflictVersions>,
    proposed_goal: Option<String>,
    /// The agent's previous proposal of the goal.
    goal_before: Option<String>,
    /// Whether the proposed goal is known; if so, older events loaded from the log no longer change it.
    is_goal_known: bool,
    picked_answers: BTreeMap<String, String>,
    /// For questions with several answers: the answers chosen so far.
    ticked_answers: BTreeMap<String, BTreeSet<String>>,
    /// The theme that was in use before the theme list was opened.
    theme_before: Option<ColorTheme>,
}

/// Short messages that disappear by themselves.
#[derive(Debug, Default)]
struct ToastLine {
    /// A message that disappears with the next key.
    text: Option<String>,
    /// The last toast that names clickable keys.
    with_keys: Option<String>,
    cross_tab: Option<cross_tab_toast::CrossTabToast>,
    /// Whether the user has been shown how to select text.
    is_drag_explained: bool,
}

/// What the program told about the run and its surroundings.
#[derive(Debug, Default)]
struct RunFacts {
    is_unsandboxed: bool,
    is_quitting: bool,
    /// When the run ended, once it did.
    ended_at: Option<UnixMillis>,
    welcome: WelcomeInfo,
    terminal_status: TerminalStatus,
    /// Whether the run on the screen behind this one needs the user.
    is_needed_by_covered_screen: bool,
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
        let focus = match settings.read_only {
            Some(_) => ComposerFocus::Unfocused,
            None => ComposerFocus::Focused,
        };
        let composer = ComposerPane {
            editor: TextComposer::default(),
            assist: ComposerAssist::default(),
            focus,
            draft: None,
            noted_line: None,
            refiner: Role::Planner,
        };
        Self {
            settings,
            documents: DisplayDocuments::default(),
            tabs: ScreenTabs::default(),
            overlays: OverlayStack::default(),
            composer,
            dialogs: DialogPane::default(),
            toast: ToastLine::default(),
            discussions: DiscussionViewState::default(),
            run_facts: RunFacts::default(),
            last_copied_code: None,
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
        self.tabs.chat.transcript.set_root_folder(repository);
        let pager = self.keymap().key_label("pager", ComposerFocus::Unfocused);
        self.tabs.chat.transcript.set_expand_key(&pager);
        if !repository.is_empty() {
            self.tabs
                .chat
                .transcript
                .localize_utc_times(self.local_clock());
        }
    }

    /// Applies a recorded event, live or replayed.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        self.is_dirty = true;
        self.tabs.on_event(at, event);
        if let Some(child) = self.open_child_mut() {
            child.on_event(at, event);
        }
        self.on_discussion_event(event);
        self.note_cross_tab_event(at, event);
        match event {
            Event::Agent { news, .. } => self.on_agent_activity(news),
            Event::RunCreated(_) => self.reset_run_state(),
            Event::SessionLost { .. } | Event::SessionMoved { .. } => self.clear_prompt_history(),
            Event::GoalGiven { .. } => {
                (self.dialogs.proposed_goal, self.dialogs.goal_before) = (None, None);
                self.dialogs.is_goal_known = true;
                self.toast.text = None;
            }
            Event::GoalConfirmed { .. } => {
                (self.dialogs.proposed_goal, self.dialogs.goal_before) = (None, None);
                self.dialogs.is_goal_known = true;
            }
            Event::TurnSendConfirmed | Event::TurnStarted { .. } => {
                if let Some(preview) = self.dialogs.prompt_preview.take() {
                    self.dialogs.prompt_history.record_prompt(&preview);
                }
                self.drop_stale_dialog();
            }
            Event::PhaseChanged { to, .. } => {
                self.drop_stale_dialog();
                self.run_facts.ended_at = to.is_final().then_some(at);
            }
            Event::UndoAsked { .. } => self.drop_stale_dialog(),
            Event::QuestionAsked { .. } => {
                self.dialogs.prompt_preview = None;
                self.dialogs.versions.clear();
                self.clear_picked_answers();
            }
            Event::QuestionAnswered { .. } | Event::AgentQuestionWithdrawn { .. } => {
                self.clear_picked_answers()
            }
            _ => {}
        }
    }

    fn on_agent_activity(&mut self, news: &AgentActivity) {
        if let AgentActivity::Text { text } = news {
            let proposed = fenced_block::find_document(text, "goal.md");
            if let Some(goal) = proposed.filter(|goal| !goal.trim().is_empty()) {
                self.dialogs.goal_before = self.dialogs.proposed_goal.replace(goal);
                self.dialogs.is_goal_known = true;
            }
        }
    }

    /// Applies a piece of text that an agent is writing.
    pub fn on_delta(&mut self, delta: TextDelta) {
        self.is_dirty = true;
        if let TextDelta::Child { session, text } = &delta {
            return self.on_speech_delta(session, text);
        }
        self.tabs.status.silent_turn = None;
        self.tabs.chat.transcript.on_delta(delta);
    }

    /// Applies the start or the end of a test run that proves a step.
    pub fn on_proof_progress(&mut self, at: UnixMillis, progress: &ProofProgress) {
        self.is_dirty = true;
        self.tabs.plan.proof_board.on_progress(at, progress);
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
                self.tabs.view.record_seen(tab, document.revision);
            }
        }
    }

    /// Shows a notice in the chat and as a toast, without interrupting the user.
    pub fn on_notice(&mut self, text: &str) {
        self.is_dirty = true;
        self.tabs.chat.transcript.push_notice(text);
        self.toast.text = Some(text_wrap::to_one_line(text));
    }

    /// Stores the prompt of the turn that waits at the gate. It arrives after the event that asks the user to send it.
    pub fn on_prompt_preview(&mut self, prompt: &str) {
        self.is_dirty = true;
        self.dialogs.prompt_preview = Some(self.dialogs.prompt_history.preview_prompt(prompt));
    }

    /// Stores the texts that the open question is about. They arrive after the event that asks the question.
    pub fn on_versions(&mut self, versions: Vec<ConflictVersions>) {
        self.is_dirty = true;
        self.dialogs.versions = versions;
    }

    /// Shows the result of a diff request and the other diffs that can be opened. Does nothing if the user
    /// has closed the view in the meantime.
    pub fn on_diff(&mut self, scope: DiffScope, scopes: Vec<DiffScope>, diff: DiffLookup) {
        if let Some(view) = &mut self.overlays.diff {
            self.is_dirty = true;
            view.set_diff(scope, scopes, diff);
        }
    }

    /// Asks whether to undo or redo steps; the answer is [`Event::UndoAsked`].
    pub fn on_undo_previews(&mut self, offers: &[ReversalPreview], phase: Phase) {
        self.is_dirty = true;
        self.toast.text = None;
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
        self.tabs.status.sandboxes = held;
    }

    /// Stores whether an agent runs without a sandbox; the header shows it.
    pub fn on_unsandboxed_agent(&mut self, is_uncontained: bool) {
        self.is_dirty = true;
        self.run_facts.is_unsandboxed = is_uncontained;
    }

    /// Asks whether to resume the unfinished run that `summary` describes; the answer is
    /// [`Action::Resume`] or [`Action::Archive`].
    pub fn ask_to_resume(&mut self, summary: &str) {
        self.is_dirty = true;
        self.dialogs.unfinished_run = Some(summary.to_owned());
        self.composer.focus = ComposerFocus::Unfocused;
    }

    /// Asks whether agents get the repository's instructions, each given with its text; the answer is
    /// [`Action::Instructions`].
    pub fn ask_about_instructions(&mut self, files: Vec<(String, String)>) {
        self.is_dirty = true;
        self.toast.text = None;
        self.close_overlays();
        self.dialogs.instructions = Some(files);
        self.composer.focus = ComposerFocus::Unfocused;
    }

    /// Stores which agent instructions exist, and whether agents get them.
    pub fn on_instructions_status(&mut self, words: String) {
        self.is_dirty = true;
        self.tabs.status.instructions_note = words;
    }

    /// Gives the keys to the open dialog when a run is resumed, unless the user is writing something.
    pub fn focus_open_dialog(&mut self, state: Option<&RunState>) {
        if self.composer.editor.is_empty()
            && self.composer.draft.is_none()
            && self.pending_dialog(state).is_some()
        {
            self.composer.focus = ComposerFocus::Unfocused;
        }
    }

    /// Turns a key into the user's request. Keys that only change the view return nothing.
    pub fn on_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        self.is_dirty = true;
        let actions = self.dispatch_key(key, state);
        self.dialogs.guard.on_key();
        self.note_discussion_request(&actions);
        actions
    }

    /// Puts pasted text into the composer and focuses it; a paste never triggers anything.
    pub fn on_paste(&mut self, text: &str) {
        self.is_dirty = true;
        self.toast.text = None;
        if self.paste_into_palette(text) || self.overlays.paste_into_search(text, &mut self.tabs) {
            return;
        }
        if let Some(why) = self.read_only_reason() {
            self.show_toast(&why);
            return;
        }
        self.focus_composer();
        self.close_completion();
        if let PasteResult::TooLarge { n_bytes } = self.composer.editor.on_paste(text) {
            self.show_toast(&composer_submit::describe_too_large(Some(n_bytes)));
        }
    }

    /// Sets the texts that the user sent in earlier sessions, the oldest first; `↑` recalls them.
    pub fn set_input_history(&mut self, texts: Vec<String>) {
        self.composer.editor.set_sent_texts(texts);
    }

    /// Returns the texts that the user has sent since the last call, for saving.
    pub fn drain_new_inputs(&mut self) -> Vec<String> {
        self.composer.editor.drain_unsaved_texts()
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
        if let Some(files) = &self.dialogs.instructions {
            return Some(dialogs::instructions_dialog::build_dialog(files));
        }
        if let Some(summary) = &self.dialogs.unfinished_run {
            return Some(dialogs::unfinished_run_dialog::build_dialog(summary));
        }
        dialogs::pending_dialog(state?, &self.dialog_context())
    }

    fn dialog_context(&self) -> DialogContext<'_> {
        DialogContext {
            preview: self.dialogs.prompt_preview.as_ref(),
            exact_call: self.dialogs.exact_call.as_ref(),
            versions: &self.dialogs.versions,
            proposed_goal: self.dialogs.proposed_goal.as_deref(),
            goal_before: self.dialogs.goal_before.as_deref(),
            picked_answers: &self.dialogs.picked_answers,
            ticked_answers: &self.dialogs.ticked_answers,
            noted_line: self.composer.noted_line.as_ref(),
            documents: &self.documents,
            clock: self.local_clock(),
            confirm_enter: self.settings.confirm_enter,
        }
    }

    fn local_clock(&self) -> labels::LocalClock {
        self.settings.local_clock()
    }

    fn chosen_choice(&self, sheet: &ChoiceDialog) -> usize {
        match &self.dialogs.chosen {
            Some((id, chosen)) if *id == sheet.id => {
                (*chosen).min(sheet.choices.len().saturating_sub(1))
            }
            Some(_) | None => sheet.first_choice,
        }
    }
}
