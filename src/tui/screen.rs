//! The view of one run: its parts, and what the program tells it.
//!
//! Keys and clicks come in by `key_dispatch` and `mouse`, commands are carried out in `command_dispatch`,
//! `view_commands` and `discussion_commands`, and `screen_layout` draws.

use std::time::Duration;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};

use super::action::Action;
use super::agent_dialogs::AgentEntry;
use super::appearance::{MouseCapture, ScreenAppearance, ScreenSettings};
use super::approval_view::clean_lines;
use super::approval_view::{ApprovalEntry, ExactCall};
use super::completion::ComposerAssist;
use super::composer::{PasteResult, TextComposer, describe_too_large};
use super::composer_pane::ComposerPane;
use super::cross_tab_toast::CrossTabToast;
use super::dialog::ChoiceDialog;
use super::dialog::ComposerDraft;
use super::dialog_pane::DialogPane;
use super::dialogs::DialogContext;
use super::diff_view::{DiffLookup, DiffView};
use super::discussion_board::DiscussionBoard;
use super::discussion_commands::DiscussionPlanView;
use super::discussion_commands::DiscussionViewState;
use super::document_texts::DisplayDocuments;
use super::document_texts::RunDocumentFiles;
use super::hit_areas::ScreenHitAreas;
use super::keymap::{ActiveKeymap, ComposerFocus};
use super::linear_view::LinearView;
use super::mouse::MouseHandler;
use super::overlays::OverlayStack;
use super::pager::{PagerFormat, TextPager};
use super::read_only::{ReadOnlyStatus, RunListEntry};
use super::run_facts::RunFacts;
use super::scrollback_chunk::ScrollbackChunk;
use super::tab_kind::TabKind;
use super::tabs::ScreenTabs;
use super::tabs::log::EventLogList;
use super::tabs::status::AdapterSandboxView;
use super::terminal_status::TerminalStatus;
use super::text_versions::ConflictVersions;
use super::theme::{ColorTheme, TerminalBackground};
use super::toast_line::{ToastKind, ToastLine};
use super::transcript::BlockAuthor;
use super::transcript::ChatTranscript;
use super::transcript::ScrollbackDemand;
use super::welcome_page::WelcomeInfo;
use super::{dialogs, labels, tabs};
use crate::domain::diff_scope::DiffScope;
use crate::domain::discussion::DiscussionEvent;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::proof_progress::ProofProgress;
use crate::domain::reversal_plan::ReversalPreview;
use crate::domain::run::RunState;
use crate::domain::text_delta::{TextAuthor, TextDelta};
use crate::domain::turn::Role;

const DEMO_TEXT: &str = "Demo: two scripted agents play codex and claude, no model is called.";

/// The view of one run: all that is drawn, and what keys and clicks do.
#[derive(Debug)]
pub struct Screen {
    pub(super) settings: ScreenSettings,
    pub(super) documents: DisplayDocuments,
    pub(super) tabs: ScreenTabs,
    pub(super) overlays: OverlayStack,
    pub(super) composer: ComposerPane,
    pub(super) dialogs: DialogPane,
    pub(super) toast: ToastLine,
    /// What is known about discussions beyond the run's state.
    pub(super) discussions: DiscussionViewState,
    pub(super) run_facts: RunFacts,
    pub(super) hit_areas: ScreenHitAreas,
    /// What linear mode has printed.
    pub(super) linear: LinearView,
    pub(super) is_dirty: bool,
}

impl Screen {
    /// Creates a screen that has no run yet.
    pub fn new(settings: ScreenSettings) -> Self {
        let mut screen = Self::with_defaults(settings);
        screen.apply_settings();
        screen
    }

    pub(super) fn with_defaults(settings: ScreenSettings) -> Self {
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
            written_for: None,
            key_claim: None,
            is_left: false,
            is_lent: false,
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
            hit_areas: ScreenHitAreas::default(),
            linear: LinearView::default(),
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
        if self.settings.next_run.has_no_reviewer() {
            self.composer.refiner = Role::Planner;
        }
        self.apply_settings();
        self.is_dirty = true;
    }

    /// Makes the transcript show paths relative to the repository and times in the user's time zone.
    pub(super) fn apply_settings(&mut self) {
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
        self.tabs.chat.transcript.is_leaving = self.run_facts.is_quitting;
        self.tabs.on_event(at, event);
        if let Some(child) = self.open_child_mut() {
            child.on_event(at, event);
        }
        self.on_discussion_event(event);
        let notice = CrossTabToast::from_event(at, event, &self.tabs.chat.transcript);
        self.toast.cross_tab = notice.or(self.toast.cross_tab.take());
        self.dialogs.on_event(event);
        self.linear.on_event(event);
        match event {
            Event::RunCreated(_) => {
                self.reset_run_state();
                self.introduce_demo();
            }
            Event::GoalGiven { .. } => self.toast.text = None,
            // Esc leads to the dialog now, whatever the note says.
            Event::ApprovalRequested(_) | Event::QuestionAsked { .. }
                if self.toast.shown_kind() == Some(ToastKind::EscapeAgain) =>
            {
                self.toast.text = None;
            }
            Event::PhaseChanged { to, .. } => {
                self.run_facts.ended_at = to.is_final().then_some(at);
            }
            _ => {}
        }
    }

    /// Applies a piece of text that an agent is writing.
    pub fn on_delta(&mut self, delta: TextDelta) {
        self.is_dirty = true;
        match delta.author {
            TextAuthor::Role(role) => {
                let author = BlockAuthor::Agent(role);
                let chat = &mut self.tabs.chat.transcript;
                chat.change_streaming_text(author, &delta.item, &delta.change);
                self.tabs.status.silent_turn = None;
            }
            TextAuthor::Child(session) => {
                let (item, change) = (&delta.item, &delta.change);
                self.discussions.live.change_text(&session, item, change);
                if let Some(child) = self.open_child_mut()
                    && *child.session() == session
                {
                    child.change_text(item, change);
                }
            }
        }
    }

    /// Applies the start or the end of a test run that proves a step.
    pub fn on_proof_progress(&mut self, at: UnixMillis, progress: &ProofProgress) {
        self.is_dirty = true;
        self.tabs.plan.proof_board.on_progress(at, progress);
        self.linear.on_proof_progress(progress);
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
        self.toast.show(text, ToastKind::Plain);
    }

    /// Adds a notice to the chat alone: it stays true for longer than a toast is shown.
    pub fn add_chat_notice(&mut self, text: &str) {
        self.is_dirty = true;
        self.tabs.chat.transcript.push_notice(text);
    }

    /// Stores what was found in the repository.
    pub fn on_welcome(&mut self, welcome: WelcomeInfo) {
        self.is_dirty = true;
        self.run_facts.welcome = welcome;
    }

    /// Says why no run could start. For problems that the page already explains, a short toast is enough.
    pub fn on_start_error(&mut self, why: &str) {
        let named = self.run_facts.welcome.named_problems(why).join(", ");
        if named.is_empty() {
            self.on_notice(why);
        } else {
            self.set_toast(&format!("First fix this (see above): {named}"));
        }
    }

    /// Shows a toast that disappears with the next key and is stored nowhere else.
    pub fn set_toast(&mut self, text: &str) {
        self.is_dirty = true;
        self.show_toast(text);
    }

    /// Removes the toast when it is no longer true.
    pub fn clear_toast(&mut self) {
        self.is_dirty = true;
        self.toast.text = None;
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
        if let Some(view) = self.overlays.find_mut::<DiffView>() {
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
            None => self.dialogs.drop_stale_dialog(),
        }
    }

    /// Shows a long text from the program, such as the output of the doctor.
    pub fn show_text(&mut self, title: &str, text: &str) {
        self.is_dirty = true;
        self.open_pager(TextPager::new(title, text, PagerFormat::Report));
    }

    /// Stores how each CLI is sandboxed.
    pub fn on_sandbox_status(&mut self, held: Vec<AdapterSandboxView>) {
        self.is_dirty = true;
        self.tabs.status.sandboxes = held;
    }

    /// Stores how long a turn may take.
    pub fn on_turn_timeout(&mut self, limit: Duration) {
        self.is_dirty = true;
        self.tabs.status.turn_timeout = Some(limit);
    }

    /// Stores whether an agent runs without a sandbox; the header shows it.
    pub fn on_unsandboxed_agent(&mut self, is_uncontained: bool) {
        self.is_dirty = true;
        self.run_facts.is_unsandboxed = is_uncontained;
    }

    /// Applies an event: updates the current speaker, and opens the board of a discussion that the user started.
    pub(super) fn on_discussion_event(&mut self, event: &Event) {
        self.discussions.live.on_event(event);
        if let Event::Discussion {
            id,
            news: DiscussionEvent::Started { order },
        } = event
        {
            let is_mine =
                order.parent.is_none() && std::mem::take(&mut self.discussions.is_starting);
            // Do not interrupt the user while they write.
            if is_mine && self.composer.editor.is_empty() && self.dialogs.own.is_none() {
                let _nothing_to_do = self.open_board(DiscussionBoard::new(id.clone()));
                self.dialogs.guard.note_view_opened();
            }
        }
    }

    /// Stores the discussion presets, each with its description.
    pub fn on_discussion_presets(&mut self, presets: Vec<(String, String)>) {
        self.discussions.presets = presets;
    }

    /// Shows the plan of a discussion before it starts; the answer is [`Action::Discuss`].
    pub fn show_discussion_plan(&mut self, planned: &DiscussionPlanView) {
        self.is_dirty = true;
        self.close_overlays();
        self.toast.text = None;
        self.open_or_defer_dialog(dialogs::discussion_start::build_dialog(planned));
        self.discussions
            .planned_topic
            .clone_from(&planned.topic.text);
    }

    /// Notes that the user has requested a discussion, so that its board opens when it starts.
    pub(super) fn note_discussion_request(&mut self, actions: &[Action]) {
        let begins = |action: &Action| matches!(action, Action::Discuss(_));
        self.discussions.is_starting |= actions.iter().any(begins);
    }

    /// Notes that the requested discussion has not started, so that no board opens for it.
    pub fn on_discussion_not_started(&mut self) {
        self.discussions.is_starting = false;
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

    /// Sets the current time; called before keys and clicks are handled and before each frame.
    pub fn on_time(&mut self, now: UnixMillis) {
        self.dialogs.on_time(now);
    }

    /// Lets the sign for work turn, or stand still.
    pub fn set_spinning(&mut self, is_spinning: bool) {
        self.run_facts.is_spinning = is_spinning;
    }

    /// Returns how long the drawn dialog still ignores keys, which a frame shows; `None` if it already takes them.
    pub fn guard_remaining(&self) -> Option<Duration> {
        self.dialogs.guard_remaining()
    }

    /// Turns a key into the user's request. Keys that only change the view return nothing.
    pub fn on_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        self.is_dirty = true;
        if self.composer.focus == ComposerFocus::Unfocused {
            let sheet = self.pending_dialog(state);
            self.return_focus(sheet.as_ref(), state);
        }
        let had_keys = self.composer.focus == ComposerFocus::Focused;
        let actions = self.dispatch_key(key, state);
        let is_opened = self.overlays.covers_tab() || self.dialogs.own.is_some();
        if had_keys && is_opened && self.composer.focus == ComposerFocus::Unfocused {
            self.composer.is_lent = true;
        }
        self.dialogs.guard.on_key(key);
        self.note_discussion_request(&actions);
        actions
    }

    /// Puts pasted text into the composer and focuses it; a paste never triggers anything.
    pub fn on_paste(&mut self, text: &str) {
        self.is_dirty = true;
        self.toast.text = None;
        let ask = self.ask_overlays(None, |layer, _| layer.on_paste(text));
        if ask.is_some() {
            return;
        }
        if let Some(why) = self.settings.read_only_reason() {
            self.show_toast(&why);
            return;
        }
        self.focus_composer();
        self.write_delayed_letter();
        self.composer.close_completion();
        if let PasteResult::TooLarge { n_bytes } = self.composer.editor.on_paste(text) {
            self.show_toast(&describe_too_large(Some(n_bytes)));
        }
    }

    /// Sets the texts that the user sent in earlier sessions, the oldest first; `↑` recalls them.
    pub fn set_input_history(&mut self, texts: Vec<String>) {
        self.composer.editor.set_sent_texts(texts);
    }

    /// Returns whether the composer holds a text.
    pub fn has_composer_text(&self) -> bool {
        self.composer.has_composer_text()
    }

    /// Returns whether the composer has the keys and waits for a text.
    pub fn is_composer_awaiting_text(&self) -> bool {
        self.composer.is_composer_awaiting_text()
    }

    /// Keeps a text that was not sent, so that `↑` recalls it in the next session.
    pub fn remember_draft(&mut self) {
        self.composer.remember_draft();
    }

    /// Returns the texts that the user has sent since the last call, for saving.
    pub fn drain_new_inputs(&mut self) -> Vec<String> {
        self.composer.editor.drain_unsaved_texts()
    }

    /// Turns a click or a wheel event into the user's request.
    pub fn on_mouse(&mut self, event: MouseEvent, state: Option<&RunState>) -> Vec<Action> {
        self.is_dirty = true;
        let actions = MouseHandler::new(self, state).on_event(event);
        self.note_discussion_request(&actions);
        actions
    }

    /// Draws one frame; the screen is clean afterwards.
    pub fn draw(&mut self, frame: &mut Frame, state: Option<&RunState>, now: UnixMillis) {
        if self.dialogs.is_theme_preview_over() {
            self.restore_theme();
        }
        self.open_deferred_dialog();
        let n_plan_rows = self.tabs.plan_row_count();
        self.draw_all(frame, state, now);
        // What a dialog leaves out beside the plan depends on how high the plan is, which only this frame found out.
        if !self.hit_areas.dialog.is_empty() && self.tabs.plan_row_count() != n_plan_rows {
            frame.buffer_mut().reset();
            self.draw_all(frame, state, now);
        }
        // Removes the hint marks, which the terminal must not see.
        let place = self.overlays.window_area();
        self.hit_areas.collect_hints(frame.buffer_mut(), place);
        self.theme().paint(frame.buffer_mut());
        // What lies behind stays as it is while a theme is previewed.
        let place = place.filter(|_| self.overlays.previewed_theme().is_none());
        if let Some(place) = place {
            self.settings.theme.fade_outside(frame.buffer_mut(), place);
        }
        self.is_dirty = false;
    }

    /// Switches to another theme, with the surfaces that the terminal's background gives it.
    pub fn on_theme(&mut self, theme: ColorTheme) {
        self.settings.set_theme(theme);
        self.is_dirty = true;
    }

    /// Returns the theme that is shown: the one in use, or one that is only previewed.
    pub fn theme(&self) -> &ColorTheme {
        let preview = self.overlays.previewed_theme();
        preview.unwrap_or(&self.settings.theme)
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
    pub(super) fn pending_dialog(&self, state: Option<&RunState>) -> Option<ChoiceDialog> {
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

    pub(super) fn dialog_context(&self) -> DialogContext<'_> {
        let noted_line = self.composer.noted_line.as_ref();
        self.dialogs
            .context(noted_line, &self.documents, &self.settings)
    }

    pub(super) fn local_clock(&self) -> labels::LocalClock {
        self.settings.local_clock()
    }
}

/// Older events from the log.
impl Screen {
    /// Adds the piece of the log directly before what the screen shows or has searched.
    pub fn on_scrollback(&mut self, past: ScrollbackChunk) {
        self.is_dirty = true;
        if let Some(looked) = past.log_search {
            return self.tabs.chat.on_log_search_result(&looked);
        }
        self.tabs.chat.transcript.prepend_chunk(past.transcript);
        self.tabs.log.events.prepend_chunk(past.record);
        self.tabs.chat.go_to_loaded_match();
        self.run_facts.ended_at = self.run_facts.ended_at.or(past.ended_at);
        // Proposals from before the goal was given or confirmed no longer count.
        if !self.dialogs.is_goal_known {
            self.dialogs.is_goal_known = past.is_goal_known;
            (self.dialogs.proposed_goal, self.dialogs.goal_before) =
                (past.proposed_goal, past.goal_before);
        }
    }

    /// Returns the part of the log that should be loaded or searched next.
    pub fn wanted_scrollback(&self) -> Option<ScrollbackDemand> {
        let looks = self.tabs.chat.wanted_log_search();
        let of_log = || {
            let is_seen = self.tabs.view.shown == TabKind::Log;
            self.tabs.log.events.wanted_scrollback().filter(|_| is_seen)
        };
        looks
            .or_else(of_log)
            .or_else(|| self.tabs.chat.transcript.wanted_scrollback())
    }

    /// Handles a log that cannot be read: stops waiting for more of it.
    pub fn on_scrollback_error(&mut self) {
        self.is_dirty |= self.tabs.chat.wanted_log_search().is_some()
            || self.tabs.log.events.wanted_scrollback().is_some();
        self.tabs.log.events.stop_scrollback();
        self.tabs.chat.stop_log_search();
    }

    /// Clears everything that was said and done: it belongs to a run that is not resumed.
    pub fn clear_run(&mut self) {
        self.is_dirty = true;
        self.tabs.chat.transcript = ChatTranscript::default();
        self.apply_settings();
        self.tabs.log.events = EventLogList::default();
        (self.dialogs.proposed_goal, self.dialogs.goal_before) = (None, None);
        self.dialogs.is_goal_known = false;
        self.run_facts.ended_at = None;
        self.tabs.mark_all_seen(&self.documents);
    }
}

/// A new run.
impl Screen {
    /// Says at the start of a demo's run what it is and what to press.
    fn introduce_demo(&mut self) {
        if !self.settings.demo || self.is_read_only() {
            return;
        }
        let mut text = DEMO_TEXT.to_owned();
        // In linear mode, the introduction says how to answer.
        if self.keymap().has_keys() {
            let help = self.keymap().key_label("help", ComposerFocus::Focused);
            text += &format!(" Enter takes the marked answer, {help} lists keys.");
        }
        self.tabs.chat.transcript.push_notice(&text);
    }

    /// Drops what belongs to the previous run, because numbers of findings and lines of the plan start over.
    pub(super) fn reset_run_state(&mut self) {
        self.tabs.comments.selection = tabs::comments::FindingSelection::default();
        let form = self.tabs.plan.view.form;
        self.tabs.plan.view = tabs::plan::plan_view_state::PlanViewState::default();
        self.tabs.plan.view.form = form;
        (self.tabs.status.silent_turn, self.toast.cross_tab) = (None, None);
        if self.composer.draft == Some(ComposerDraft::Line) {
            self.composer.editor.set_text("");
        }
        (self.composer.draft, self.composer.noted_line) = (None, None);
        self.tabs.mark_all_seen(&self.documents);
    }
}

/// Requests of agents.
impl Screen {
    /// Shows the first pending call exactly as the agent made it.
    pub fn on_pending_call(&mut self, mut exact: ExactCall) {
        self.is_dirty = true;
        if !exact.diff.is_empty() {
            // Both can contain paths.
            (exact.text, exact.diff) = (clean_lines(&exact.text), clean_lines(&exact.diff));
        }
        self.dialogs.exact_call = Some(exact);
    }

    /// Lists the approvals that cover more than one call; the answer is [`Action::Revoke`].
    pub fn show_stored_approvals(&mut self, kept: &[ApprovalEntry]) {
        self.is_dirty = true;
        if kept.is_empty() {
            self.show_toast("You approved nothing for more than one call in this repository.");
            return;
        }
        self.open_dialog(dialogs::stored_approvals::build_dialog(kept));
    }
}

impl Screen {
    /// Stores the files of the repository for `@`, relative to its root, without ignored ones.
    pub fn on_repository_files(&mut self, files: Vec<String>) {
        self.is_dirty = true;
        // Only the completion of a file name depends on the files.
        if self.composer.set_repository_files(files) {
            self.update_completion(None);
        }
    }

    /// Stores the list of agents.
    pub fn on_agents(&mut self, agents: Vec<AgentEntry>) {
        self.is_dirty = true;
        self.composer.assist.agents = agents;
    }
}

/// What the program has to show outside of the frames, or by its clock.
impl Screen {
    /// Returns the window title and the alert, as of the last frame.
    pub fn terminal_status(&self) -> &TerminalStatus {
        &self.run_facts.terminal_status
    }

    /// Updates the status while another screen covers this one, so that no frame updates it.
    pub fn update_covered_status(&mut self, state: Option<&RunState>) -> &TerminalStatus {
        let waiting = self.pending_dialog(state);
        self.update_terminal_status(waiting.as_ref(), state);
        &self.run_facts.terminal_status
    }

    /// Stores the status of the screen that this one covers.
    pub fn on_covered_screen_status(&mut self, behind: &TerminalStatus) {
        self.is_dirty |= self.run_facts.is_needed_by_covered_screen != behind.needs_user;
        self.run_facts.is_needed_by_covered_screen = behind.needs_user;
    }

    /// Returns how much longer the notice about news in another tab is shown.
    pub fn cross_tab_toast_remaining(&self) -> Option<Duration> {
        let notice = self.toast.cross_tab.as_ref()?;
        notice.remaining(self.dialogs.current_time())
    }

    /// Updates the status for a frame with this open dialog.
    pub(super) fn update_terminal_status(
        &mut self,
        waiting: Option<&ChoiceDialog>,
        state: Option<&RunState>,
    ) {
        // The user opened the screen's own dialogs with a key, so they need no alert.
        let asked = waiting.filter(|_| self.dialogs.own.is_none());
        self.run_facts.terminal_status =
            TerminalStatus::describe(&self.settings.repository, asked, state);
    }
}

/// Read-only screens.
impl Screen {
    /// Lists the finished runs; the answer is [`Action::OpenRun`].
    pub fn show_run_history(&mut self, runs: &[RunListEntry]) {
        self.is_dirty = true;
        if runs.is_empty() {
            self.show_toast("No finished runs yet.");
            return;
        }
        self.open_or_defer_dialog(dialogs::run_history_list::build_dialog(runs));
    }

    /// Asks whether to take over the repository after the other instance has ended; the
    /// answer is [`Action::TakeOver`].
    pub fn ask_to_take_over(&mut self) {
        self.is_dirty = true;
        self.open_or_defer_dialog(dialogs::take_over::build_dialog());
    }

    /// Changes how a read-only screen describes itself.
    pub fn on_read_only(&mut self, read_only: ReadOnlyStatus) {
        self.is_dirty = true;
        self.settings.read_only = Some(read_only);
    }

    /// Returns whether the Chat tab is shown without a run, and asks what to build.
    pub(super) fn shows_welcome_page(&self, state: Option<&RunState>) -> bool {
        state.is_none() && self.tabs.view.shown == TabKind::Chat && !self.is_read_only()
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.settings.read_only.is_some()
    }
}

/// The user's settings.
impl Screen {
    /// Applies the user's settings once they are loaded; the first frame does not wait for them.
    pub fn on_appearance(&mut self, look: ScreenAppearance) {
        self.is_dirty = true;
        self.settings.set_appearance(look);
    }

    /// Returns the chosen theme and the settings for another screen; a theme that is only previewed is left out.
    pub fn chosen_appearance(&self) -> (ColorTheme, ScreenAppearance) {
        let shown = &self.settings.theme;
        let theme = self.dialogs.theme_before.as_ref().unwrap_or(shown);
        (theme.clone(), self.settings.appearance.clone())
    }

    /// Applies the theme and settings that were chosen on another screen.
    pub fn apply_appearance(&mut self, theme: ColorTheme, look: ScreenAppearance) {
        self.is_dirty = true;
        self.dialogs.theme_before = None;
        (self.settings.theme, self.settings.appearance) = (theme, look);
        self.apply_settings();
    }

    /// Derives the surfaces from the terminal's background, and switches to the light theme for a light one, unless the
    /// user has chosen a theme.
    pub fn on_background(&mut self, background: TerminalBackground) {
        let theme = self.settings.fit_background(background);
        self.on_theme(theme);
        if let Some(before) = self.dialogs.theme_before.take() {
            self.dialogs.theme_before = Some(before.on_background(background));
        }
    }

    /// Returns whether the program or the terminal handles the mouse now.
    pub fn mouse_capture(&self) -> MouseCapture {
        self.settings.appearance.mouse_capture
    }

    /// Restores the theme that was in use before the list was opened.
    pub(super) fn restore_theme(&mut self) {
        self.dialogs.restore_theme(&mut self.settings);
        self.apply_settings();
    }

    pub(super) fn keymap(&self) -> &ActiveKeymap {
        &self.settings.appearance.keymap
    }
}
