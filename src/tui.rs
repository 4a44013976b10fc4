//! Draws a run and turns keys into actions.
//!
//! Pure: it holds the state of the view and nothing else. It knows no terminal, file, clock or engine;
//! the instant comes with each frame, events and texts are handed in.
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
mod stop_dialogs;
mod tabs;
mod terminal_status;
mod text_comparison;
mod text_versions;
mod text_wrap;
mod theme;
mod todo_lists;
mod tool_labels;
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
pub use child_session_list::ConversationStatus;
use command_palette::CommandPalette;
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
pub use read_only::{OwnerActivity, ReadOnlyStatus, RunCompletion, RunListEntry};
pub use remote_commands::{SENDABLE, check_remote_command};
use screen_layout::ScreenHitAreas;
use scroll_view::TabScrollViews;
pub use scrollback::ScrollbackChunk;
use tabs::TabKind;
use tabs::log::EventLogList;
pub use tabs::status::AdapterSandboxView;
pub use terminal_status::TerminalStatus;
pub use text_versions::ConflictVersions;
pub use theme::{ColorSupport, ColorTheme, THEME_FIELDS, TerminalEnvironment, ThemeError};
use transcript::ChatTranscript;
pub use transcript::{ScrollbackDemand, TruncatedToolCall};
pub use welcome_page::{MissingRequirement, RequirementSeverity, WelcomeInfo};

use crate::domain::diff_scope::DiffScope;
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::reversal_plan::ReversalPreview;
use crate::domain::run::RunState;
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::Role;
use crate::text::fenced_block;

/// What a screen is told once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScreenSettings {
    /// Whether Enter needs a second one before a turn is released.
    pub confirm_enter: bool,
    /// Whether no model is called; the header says so.
    pub demo: bool,
    /// The repository's path or name, for the header.
    pub repository: String,
    /// The branch that is checked out, where there is one.
    pub branch: Option<String>,
    /// The one that was checked out before the run's own branch; the run's commits are merged into it.
    pub base_branch: Option<String>,
    /// Set where the screen only looks.
    pub read_only: Option<ReadOnlyStatus>,
    /// What colours are shown as.
    pub theme: ColorTheme,
    /// By how many seconds the user's time of day is ahead of UTC.
    pub utc_offset: i32,
    /// How the screen looks and listens besides.
    pub appearance: ScreenAppearance,
}

/// The view of a run.
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
    /// The line of the plan that a note is being written on, from 1, and what stands there.
    noted_line: Option<(u32, String)>,
    composer_focus: ComposerFocus,
    draft: Option<ComposerDraft>,
    refiner: Role,
    /// The chosen choice and the dialog it belongs to.
    chosen_choice: Option<(String, usize)>,
    /// What of the tabs was on the screen.
    seen_tabs: header::SeenTabRevisions,
    /// The dialog that the last frame showed.
    drawn_dialog: Option<String>,
    /// A dialog of the screen's own, which asks once more.
    own_dialog: Option<ChoiceDialog>,
    /// Dialogs that came by themselves while the user was being asked whether to stop.
    deferred_dialogs: Vec<ChoiceDialog>,
    /// The unfinished run that lay here at the start, in words.
    unfinished: Option<String>,
    /// The repository's instructions for agents that are asked about, each with its text.
    instructions: Option<Vec<(String, String)>>,
    /// Which instructions for agents there are, and whether they reach them.
    instructions_status: String,
    pager: Option<TextPager>,
    diff_view: Option<DiffView>,
    /// The board of a discussion; never together with a diff.
    board: Option<DiscussionBoard>,
    /// What is known of discussions beside the run's state.
    talks: discussion_commands::DiscussionViewState,
    prompt_preview: Option<prompt_preview::PromptPreview>,
    prompt_history: prompt_preview::PromptHistory,
    /// The call that waits first, exactly.
    exact_call: Option<approval_view::ExactCall>,
    /// Since when the dialog stands there that the last frame showed.
    input_guard: input_guard::InputGuard,
    versions: Vec<ConflictVersions>,
    proposed_goal: Option<String>,
    /// The goal as the agent put it before that.
    goal_before: Option<String>,
    /// Whether it was told which goal is proposed, if any: what came before says no more of it.
    is_goal_known: bool,
    picked_answers: BTreeMap<String, String>,
    /// Of its questions with several answers: those chosen so far.
    ticked_answers: BTreeMap<String, BTreeSet<String>>,
    /// A word to the user that goes away with the next key.
    toast: Option<String>,
    /// The last word in which keys are named that can be clicked.
    toast_with_keys: Option<String>,
    /// Which blocks of code were copied last, and which of them, from the last one.
    last_copied_code: Option<(u64, usize)>,
    cross_tab_toast: Option<cross_tab_toast::CrossTabToast>,
    /// That the running turn gives no sign of life.
    silent_turn: Option<SilentTurn>,
    sandbox_status: Vec<AdapterSandboxView>,
    is_unsandboxed: bool,
    is_quitting: bool,
    /// Whether the user was told how text is selected.
    is_drag_explained: bool,
    /// When the run ended, once it did.
    ended_at: Option<UnixMillis>,
    /// The theme that was shown before the list of them was opened.
    theme_before: Option<ColorTheme>,
    /// What was found before there is a run.
    welcome: WelcomeInfo,
    terminal_status: TerminalStatus,
    /// Whether the run behind this screen waits for the user.
    is_needed_by_covered_screen: bool,
    hit_areas: ScreenHitAreas,
    is_dirty: bool,
}

/// A running turn that gives no sign of life.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SilentTurn {
    since: UnixMillis,
    /// Why, as far as it is known.
    verdict: Option<String>,
}

/// What became of a text that was sent.
#[derive(Debug)]
enum SubmitOutcome {
    /// It was taken.
    Done(Vec<Action>),
    /// It stays in the composer, for this reason.
    StaysInComposer(String),
}

impl Screen {
    /// Makes the view of no run yet.
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

    /// Takes in what is known of the repository once it was looked at; the first frame does not wait for it.
    pub fn on_settings(&mut self, settings: ScreenSettings) {
        self.settings = ScreenSettings {
            theme: self.settings.theme.clone(),
            appearance: self.settings.appearance.clone(),
            ..settings
        };
        self.apply_settings();
        self.is_dirty = true;
    }

    /// Names files and times as they are called here.
    fn apply_settings(&mut self) {
        let repository = &self.settings.repository;
        self.transcript.set_root_folder(repository);
        let pager = self.keymap().key_label("pager", ComposerFocus::Unfocused);
        self.transcript.set_expand_key(&pager);
        if !repository.is_empty() {
            self.transcript.localize_utc_times(self.local_clock());
        }
    }

    /// Takes a recorded event in; also those that are replayed.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        self.is_dirty = true;
        self.transcript.on_event(at, event);
        self.record.on_event(at, event);
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
                // What the steps do is wanted now.
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

    /// Takes a piece of text in.
    pub fn on_delta(&mut self, delta: TextDelta) {
        self.is_dirty = true;
        if let TextDelta::Child { session, text } = &delta {
            return self.on_speech_delta(session, text);
        }
        self.silent_turn = None;
        self.transcript.on_delta(delta);
    }

    /// Takes the documents as they lie on disk now.
    pub fn on_documents(&mut self, documents: RunDocumentFiles) {
        self.is_dirty |= self.documents.update(&documents);
        let documents = [
            (TabKind::Plan, &self.documents.plan),
            (TabKind::Comments, &self.documents.comments),
        ];
        for (tab, document) in documents {
            // One that is gone is nothing new.
            if document.text.is_none() {
                self.seen_tabs.record_seen(tab, document.revision);
            }
        }
    }

    /// Shows something worth knowing, quietly.
    pub fn on_notice(&mut self, text: &str) {
        self.is_dirty = true;
        self.transcript.push_notice(text);
        self.toast = Some(text_wrap::to_one_line(text));
    }

    /// Takes what the turn at the gate will send; comes after the event that asks for its release.
    pub fn on_prompt_preview(&mut self, prompt: &str) {
        self.is_dirty = true;
        self.prompt_preview = Some(self.prompt_history.preview_prompt(prompt));
    }

    /// Takes the texts that the open question is about; comes after the event that asks it.
    pub fn on_versions(&mut self, versions: Vec<ConflictVersions>) {
        self.is_dirty = true;
        self.versions = versions;
    }

    /// Takes what came of a look at changes, and what else can be looked at. Whoever closed the view
    /// in the meantime is not bothered with it.
    pub fn on_diff(&mut self, scope: DiffScope, scopes: Vec<DiffScope>, diff: DiffLookup) {
        if let Some(view) = &mut self.diff_view {
            self.is_dirty = true;
            view.set_diff(scope, scopes, diff);
        }
    }

    /// Asks whether steps shall be undone or redone; the answer is [`Event::UndoAsked`].
    pub fn on_undo_previews(&mut self, offers: &[ReversalPreview], phase: Phase) {
        self.is_dirty = true;
        self.toast = None;
        match dialogs::undo_dialog::build_dialog(offers, phase) {
            Some(sheet) => self.open_or_defer_dialog(sheet),
            None => self.drop_stale_dialog(),
        }
    }

    /// Shows a long text of the program, such as the list of finished runs.
    pub fn show_text(&mut self, title: &str, text: &str) {
        self.is_dirty = true;
        self.open_pager(TextPager::new(title, text, PagerFormat::Plain));
    }

    /// Takes what holds the CLIs.
    pub fn on_sandbox_status(&mut self, held: Vec<AdapterSandboxView>) {
        self.is_dirty = true;
        self.sandbox_status = held;
    }

    /// Takes whether an agent runs with nothing to hold it; the header says so.
    pub fn on_unsandboxed_agent(&mut self, is_uncontained: bool) {
        self.is_dirty = true;
        self.is_unsandboxed = is_uncontained;
    }

    /// Asks whether the unfinished run that `summary` describes goes on; the answer is
    /// [`Action::Resume`] or [`Action::Archive`].
    pub fn ask_to_resume(&mut self, summary: &str) {
        self.is_dirty = true;
        self.unfinished = Some(summary.to_owned());
        self.composer_focus = ComposerFocus::Unfocused;
    }

    /// Asks whether instructions of the repository, each with its text, reach agents; the answer is
    /// [`Action::Instructions`].
    pub fn ask_about_instructions(&mut self, files: Vec<(String, String)>) {
        self.is_dirty = true;
        self.toast = None;
        self.close_overlays();
        self.instructions = Some(files);
        self.composer_focus = ComposerFocus::Unfocused;
    }

    /// Takes which instructions for agents there are, and whether they reach them.
    pub fn on_instructions_status(&mut self, words: String) {
        self.is_dirty = true;
        self.instructions_status = words;
    }

    /// Lets whoever takes a run up answer what it asks: the dialog has the keys, unless something is being written.
    pub fn focus_open_dialog(&mut self, state: Option<&RunState>) {
        if self.composer.is_empty() && self.draft.is_none() && self.pending_dialog(state).is_some()
        {
            self.composer_focus = ComposerFocus::Unfocused;
        }
    }

    /// Turns a key into what the user asks for; keys of the view itself give nothing.
    pub fn on_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        self.is_dirty = true;
        let actions = self.dispatch_key(key, state);
        self.input_guard.on_key();
        self.note_discussion_request(&actions);
        actions
    }

    /// Takes pasted text into the composer, which it focuses; a paste never triggers anything.
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

    /// Takes what the user sent before this program began, the oldest first; `↑` calls it back.
    pub fn set_input_history(&mut self, texts: Vec<String>) {
        self.composer.set_sent_texts(texts);
    }

    /// What the user sent since this was asked last, to be kept for the next time.
    pub fn drain_new_inputs(&mut self) -> Vec<String> {
        self.composer.drain_unsaved_texts()
    }

    /// Turns a click or the wheel into what the user asks for.
    pub fn on_mouse(&mut self, event: MouseEvent, state: Option<&RunState>) -> Vec<Action> {
        self.is_dirty = true;
        let actions = self.dispatch_mouse(event, state);
        self.note_discussion_request(&actions);
        actions
    }

    /// Draws one frame; the screen is clean after it.
    pub fn draw(&mut self, frame: &mut Frame, state: Option<&RunState>, now: UnixMillis) {
        self.end_theme_preview();
        self.open_deferred_dialog();
        self.draw_all(frame, state, now);
        self.collect_hint_areas(frame.buffer_mut());
        self.settings.theme.paint(frame.buffer_mut());
        self.is_dirty = false;
    }

    /// How many times what a tab shows has changed; always 0 for tabs that change with every event.
    fn tab_revision(&self, tab: TabKind) -> u64 {
        match tab {
            TabKind::Chat => self.transcript.total_blocks(),
            TabKind::Plan => self.documents.plan.revision,
            TabKind::Comments => self.documents.comments.revision,
            TabKind::Log | TabKind::Status => 0,
        }
    }

    /// Shows a theme.
    pub fn on_theme(&mut self, theme: ColorTheme) {
        self.settings.theme = theme;
        self.is_dirty = true;
    }

    /// The theme that is shown, which the user may have chosen.
    pub fn theme(&self) -> ColorTheme {
        self.settings.theme.clone()
    }

    /// Tells whether a frame is needed.
    pub fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Makes the next frame needed, after a resize or a return to the terminal.
    pub fn mark_dirty(&mut self) {
        self.is_dirty = true;
    }

    /// The dialog that waits: the screen's own before the run's.
    fn pending_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
        if let Some(own) = self.current_own_dialog(state) {
            return Some(own);
        }
        // What the run waits for is for whoever works on it.
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
            keymap: self.keymap(),
        }
    }

    /// The user's time of day.
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
