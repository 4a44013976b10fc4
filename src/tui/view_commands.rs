//! Commands that only change the view: tabs, scrolling, selection, diffs, plan notes, child sessions.
//!
//! Only adding and removing plan notes produces events.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::action::Action;
use super::command_table::CommandTarget;
use super::command_table::OpenDialog;
use super::composer_target;
use super::dialog::{ChoiceDialog, ComposerDraft};
use super::dialogs::stale_plan;
use super::diff_view::DiffView;
use super::discussion_board::DiscussionBoard;
use super::document_texts::DisplayDocuments;
use super::keymap::ComposerFocus;
use super::overlays::{LayerContext, LayerPlace, LayerResponse, OverlayStack, ScreenOverlay};
use super::pager::{PagerFormat, TextPager};
use super::tab_kind::TabKind;
use super::tabs::screen_tab::{self, SelectionStep, TabContext};
use super::tabs::{PaneFocus, WIDE};
use super::transcript::ChildSessionView;
use super::view_moves::{ScrollMove, SelectionMove};
use super::{Screen, ScreenSettings, thread_choice};
use crate::domain::diff_scope::DiffScope;
use crate::domain::event::Event;
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::plan_execution::PlanExecution;
use crate::domain::plan_thread::UserNote;
use crate::domain::run::{RunState, notes_blocker};
use crate::text::front_matter;

impl ScreenSettings {
    /// Returns what a tab can see.
    pub(super) fn tab_context<'a>(
        &'a self,
        documents: &'a DisplayDocuments,
        state: Option<&'a RunState>,
    ) -> TabContext<'a> {
        TabContext {
            state,
            documents,
            keymap: &self.appearance.keymap,
            clock: self.local_clock(),
            repository: &self.repository,
            empty_note: "",
            has_keys: true,
            takes_letters: true,
            is_beside_comments: false,
            is_read_only: self.read_only.is_some(),
        }
    }

    /// Returns what the conditions of commands ask: a run of the history that can be resumed is as if a dialog asked it.
    pub(super) fn to_open_dialog(&self, sheet: Option<&ChoiceDialog>) -> Option<OpenDialog> {
        let sheet = sheet.map(ChoiceDialog::to_open_dialog);
        match self.resumable_run() {
            Some(_) => Some(OpenDialog {
                has_resume: true,
                ..sheet.unwrap_or_default()
            }),
            None => sheet,
        }
    }
}

/// What lies over the tab.
impl Screen {
    /// Returns the layers, and what they can see of the screen.
    pub(super) fn split_overlays<'a>(
        &'a mut self,
        state: Option<&'a RunState>,
        waiting: Option<&'a ChoiceDialog>,
    ) -> (&'a mut OverlayStack, LayerContext<'a>) {
        let context = LayerContext {
            state,
            waiting,
            settings: &self.settings,
            tabs: &self.tabs,
            composer: &self.composer,
            discussions: &self.discussions,
            below: &[],
            is_guarded: self.overlays.is_in_front::<DiscussionBoard>()
                && self.dialogs.guard.is_view_guarded(),
            page_rows: self.hit_areas.body.height,
            now: self.dialogs.current_time().unwrap_or(UnixMillis(0)),
        };
        (&mut self.overlays, context)
    }

    /// Asks the layers from the top one down until one does not pass it on, and does what that one asks for. `None` if
    /// all pass it on.
    pub(super) fn ask_overlays(
        &mut self,
        state: Option<&RunState>,
        ask: impl Fn(&mut dyn ScreenOverlay, &LayerContext<'_>) -> LayerResponse,
    ) -> Option<Vec<Action>> {
        if self.overlays.is_empty() {
            return None;
        }
        self.overlays.close_stale_search(&mut self.tabs);
        let waiting = self.pending_dialog(state);
        for n in (0..self.overlays.len()).rev() {
            let (overlays, context) = self.split_overlays(state, waiting.as_ref());
            let Some(response) = overlays.with_layer(n, &context, &ask) else {
                continue;
            };
            let actions = match response {
                LayerResponse::PassedOn => continue,
                LayerResponse::SearchEnded => {
                    self.overlays.close_search(&mut self.tabs);
                    continue;
                }
                LayerResponse::SearchChanged(letters) => {
                    self.overlays.search(&letters, &mut self.tabs);
                    Vec::new()
                }
                LayerResponse::Used(actions) => actions,
                LayerResponse::Command(command) => self.perform_command(command, state),
                LayerResponse::OpenSelected => self.open_selection(state),
                LayerResponse::Toast(text) => self.show_toast_with_keys(&text),
                LayerResponse::Closed => {
                    self.overlays.remove(n);
                    Vec::new()
                }
                LayerResponse::Accepted(entry, read_dialog) => {
                    self.overlays.remove(n);
                    self.run_palette_entry(*entry, read_dialog, state)
                }
            };
            return Some(actions);
        }
        None
    }
}

/// Selecting, opening, filtering.
impl Screen {
    /// Opens the whole text of what the dialog asks about; in a comparison, switches its form.
    pub(super) fn view_full_text(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let pager = self.overlays.find_mut::<TextPager>();
        if pager.is_some_and(TextPager::cycle_layout) {
            return Vec::new();
        }
        let Some(mut sheet) = self.pending_dialog(state) else {
            return self.show_toast("Nothing is waiting that has more to show.");
        };
        // The run's own question is in front, not one of the program.
        let is_of_run = self.dialogs.own.is_none()
            && self.dialogs.instructions.is_none()
            && self.dialogs.unfinished_run.is_none();
        let asked = state.filter(|_| is_of_run);
        let is_about = asked.is_some_and(composer_target::is_versions_question);
        let changed = asked.and_then(|state| stale_plan::open_text_pair(state, &self.documents));
        if asked.is_some_and(composer_target::is_plan_question)
            && let Some(plan) = &self.documents.plan.text
        {
            let body = front_matter::parse_document(plan).body;
            sheet = sheet.with_whole_plan("plan.md", body.trim());
        }
        let id = sheet.id.clone();
        let pager = match changed {
            _ if is_about && !self.dialogs.versions.is_empty() => {
                TextPager::from_versions(&self.dialogs.versions)
            }
            Some(pair) => TextPager::from_pairs("What changed", vec![pair]),
            None => {
                let shown = (sheet.heading(), sheet.to_text());
                let (title, text) = sheet.full_text.clone().unwrap_or(shown);
                if sheet.is_body_full_text {
                    TextPager::from_dialog(&title, &text, sheet)
                } else {
                    // The user decides about this text, so it is shown raw: rendered Markdown leaves characters out.
                    TextPager::new(&title, &text, PagerFormat::Plain)
                }
            }
        };
        self.open_pager(pager.for_dialog(&id))
    }

    /// Opens a long text over the tab.
    pub(super) fn open_pager(&mut self, pager: TextPager) -> Vec<Action> {
        self.overlays.open(pager);
        self.composer.focus = ComposerFocus::Unfocused;
        Vec::new()
    }

    /// Opens a board in place of any other view over the tab.
    pub(super) fn open_board(&mut self, board: DiscussionBoard) -> Vec<Action> {
        self.overlays.open(board);
        self.composer.focus = ComposerFocus::Unfocused;
        Vec::new()
    }

    /// Goes to what needs the user: closes what covers it and gives the dialog the keys.
    pub(super) fn go_to_waiting_dialog(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.pending_dialog(state).is_none() {
            if self.run_facts.is_needed_by_covered_screen {
                return vec![Action::CloseView];
            }
            return self.show_toast("Nothing needs you now.");
        }
        self.dialogs.guard.restore_put_aside();
        self.show_over_all(TabKind::Chat);
        self.tabs.chat.transcript.go_to_end();
        self.composer.focus = ComposerFocus::Unfocused;
        Vec::new()
    }

    /// Selects another block of the chat, another finding, event or line of the plan.
    pub(super) fn select_adjacent(&mut self, along: SelectionMove, state: Option<&RunState>) {
        if let Some(child) = self.open_child_mut() {
            return child.transcript.move_selection(along);
        }
        let context = self.settings.tab_context(&self.documents, state);
        let step = if self.overlays.has::<TextPager>() {
            SelectionStep::NoList
        } else {
            self.tabs.focused().select_adjacent(along, &context)
        };
        match step {
            SelectionStep::Selected(mark) => {
                if let Some(beside) = self.tabs.view.side_tab() {
                    self.tabs.get_mut(beside).follow_selection_beside(mark);
                }
            }
            SelectionStep::AtEdge => {}
            SelectionStep::Empty(why) => {
                self.show_toast(why);
            }
            SelectionStep::NoList => {
                self.show_over_all(TabKind::Chat);
                self.tabs.chat.transcript.move_selection(along);
            }
        }
    }

    /// Moves the selection in a list; scrolls by a line elsewhere.
    pub(super) fn move_by_line(&mut self, to: ScrollMove, state: Option<&RunState>) {
        let is_line =
            matches!(to, ScrollMove::Up | ScrollMove::Down) && !self.overlays.covers_tab();
        if !is_line || !self.step_entry(to == ScrollMove::Down, state) {
            self.scroll_view(to, state);
        }
    }

    /// Selects the entry above or below in the list of the tab; returns whether the selection changed.
    fn step_entry(&mut self, is_next: bool, state: Option<&RunState>) -> bool {
        let context = self.settings.tab_context(&self.documents, state);
        let has_changed = screen_tab::step_entry(self.tabs.focused(), is_next, &context);
        if let (Some(mark), Some(beside)) = (
            self.tabs.focused().selected_entry(&context),
            self.tabs.view.side_tab(),
        ) && has_changed
        {
            self.tabs.get_mut(beside).follow_selection_beside(mark);
        }
        has_changed
    }

    /// Handles Enter in a list: opens the selected entry, or selects a visible one. `None` if there is no list.
    pub(super) fn on_enter_in_list(&mut self, state: Option<&RunState>) -> Option<Vec<Action>> {
        let context = self.settings.tab_context(&self.documents, state);
        if self.tabs.focused().has_selection(&context) {
            return Some(self.open_selection(state));
        }
        self.step_entry(true, state).then(Vec::new)
    }

    /// Says that something has to be selected first, and with which keys.
    pub(super) fn explain_pointing(&mut self, at: &str) -> Vec<Action> {
        let key = |action| self.keymap().key_label(action, ComposerFocus::Unfocused);
        let (before, next) = (key("previous-block"), key("next-block"));
        self.show_toast(&format!("Select {at} first ({before} {next})"))
    }
}

/// Diffs.
impl Screen {
    /// Opens the diff of a step, or says which steps have one.
    pub(super) fn show_diff(&mut self, scope: DiffScope, state: Option<&RunState>) -> Vec<Action> {
        let execution = state.and_then(|state| state.execution.as_ref());
        let scopes = execution
            .map(PlanExecution::diff_scopes)
            .unwrap_or_default();
        let steps: Vec<String> = scopes
            .iter()
            .filter_map(|scope| match scope {
                DiffScope::Step(n) => Some(n.to_string()),
                _ => None,
            })
            .collect();
        match scope {
            DiffScope::Step(n) if !steps.is_empty() && !scopes.contains(&scope) => {
                let steps = steps.join(", ");
                self.show_toast(&format!(
                    "Step {n} changed nothing. Steps with changes: {steps}"
                ))
            }
            _ => self.open_diff(scope),
        }
    }

    /// Opens the diff view at once; the diff itself follows.
    pub(super) fn open_diff(&mut self, scope: DiffScope) -> Vec<Action> {
        self.open_diff_view(DiffView::open(scope), scope)
    }

    /// Opens the diff of all steps at a file.
    pub(super) fn open_diff_of_file(&mut self, path: String) -> Vec<Action> {
        let view = DiffView::open(DiffScope::All).with_file(path);
        self.open_diff_view(view, DiffScope::All)
    }

    fn open_diff_view(&mut self, view: DiffView, scope: DiffScope) -> Vec<Action> {
        self.overlays.open(view);
        self.composer.focus = ComposerFocus::Unfocused;
        vec![Action::ShowDiff(scope)]
    }
}

/// The plan and its notes.
impl Screen {
    /// Returns the selected line of the plan, from 1, and its text, if the Plan tab has the keys.
    pub(super) fn pointed_plan_line(&self) -> Option<(u32, String)> {
        let is_plan = self.tabs.view.focused() == TabKind::Plan;
        self.tabs
            .plan
            .selected_line(&self.documents)
            .filter(|_| is_plan)
    }

    /// Returns the selected line of the plan. If none is, shows the plan or selects its first visible line.
    pub(super) fn point_at_plan_line(&mut self) -> Option<(u32, String)> {
        if let Some(pointed) = self.pointed_plan_line() {
            return Some(pointed);
        }
        if self.tabs.view.focused() != TabKind::Plan {
            self.show_tab(TabKind::Plan);
            return None;
        }
        self.tabs.plan.select_first_visible_line();
        self.pointed_plan_line()
    }

    /// Adds a note to the selected line, finding or thread; without a text, lets the user write one.
    pub(super) fn add_plan_note(&mut self, text: String, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast(self.no_run_reason());
        };
        if let Some(why) = notes_blocker(state) {
            return self.show_toast(why);
        }
        if let Some(note) = thread_choice::parse_note(&text, state, &self.documents) {
            return vec![Action::Event(Event::NoteMade(note))];
        }
        if let Some(place) = thread_choice::find_missing_place(&text) {
            return self.show_toast(&format!(
                "No note is made: there is no {place}. ↑ has your text"
            ));
        }
        let mut pointed = self.noted_place(state);
        if pointed.is_none() && self.point_at_plan_line().is_some() {
            pointed = self.noted_place(state);
        }
        let Some(mut place) = pointed else {
            return self.explain_pointing("a plan line");
        };
        if !text.is_empty() {
            (place.text, place.version) = (text, state.findings.plan_version());
            return vec![Action::Event(Event::NoteMade(place))];
        }
        self.composer.noted_line = Some(place);
        self.composer.draft = Some(ComposerDraft::Note);
        self.composer.written_for = None;
        self.focus_composer();
        Vec::new()
    }

    pub(super) fn close_thread(&mut self, n: Option<u32>, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No run yet.");
        };
        let place = self.noted_place(state);
        match thread_choice::close_thread(n, place.as_ref(), state) {
            Ok(event) => vec![Action::Event(event)],
            Err(why) => self.show_toast(why),
        }
    }

    pub(super) fn noted_place(&mut self, state: &RunState) -> Option<UserNote> {
        let context = self.settings.tab_context(&self.documents, Some(state));
        self.tabs.focused().noted_place(&context)
    }
}

/// Tabs, panes, scrolling, searching.
impl Screen {
    /// Opens the search bar for the view in front.
    pub(super) fn open_search(&mut self) -> Vec<Action> {
        self.overlays.close_search(&mut self.tabs);
        if self.overlays.is_in_front::<DiscussionBoard>() {
            // The board covers the tab, so searching the tab would be confusing.
            let close = self
                .keymap()
                .key_label("close-board", ComposerFocus::Unfocused);
            return self.show_toast(&format!(
                "Find does not work on a board. Close it first ({close})."
            ));
        }
        self.overlays.open_search(&mut self.tabs);
        Vec::new()
    }

    /// Closes everything that covers the tab.
    pub(super) fn close_overlays(&mut self) {
        self.overlays.close_at(LayerPlace::WholeHeight);
        self.overlays.close_at(LayerPlace::Tab);
        self.tabs.view.pane_focus = PaneFocus::default();
    }

    /// Shows a tab and closes what covers it; the tab is never folded by this.
    pub(super) fn show_over_all(&mut self, tab: TabKind) {
        self.close_overlays();
        self.tabs.view.shown = tab;
    }

    pub(super) fn show_tab(&mut self, tab: TabKind) {
        let was_covered = self.overlays.covers_tab();
        self.close_overlays();
        self.tabs.view.show(tab, was_covered);
    }

    /// Scrolls the layer in front, or the tab that has the keys.
    pub(super) fn scroll_view(&mut self, to: ScrollMove, state: Option<&RunState>) {
        let rows = self.hit_areas.body.height;
        let ask = self.ask_overlays(state, |layer, context| layer.scroll(to, context));
        if ask.is_none() {
            self.tabs.focused().scroll(to, rows);
        }
    }

    pub(super) fn scroll_tab(&mut self, tab: TabKind, to: ScrollMove) {
        let page_rows = self.hit_areas.body.height;
        self.tabs.get_mut(tab).scroll(to, page_rows);
    }

    /// Returns whether a capital G goes to the end here, as in other programs. While the user reads, it must
    /// not count as `g`, which sends a turn.
    pub(super) fn is_go_to_end_letter(&self, key: KeyEvent) -> bool {
        let reads =
            self.tabs.view.focused() != TabKind::Chat || !self.tabs.chat.transcript.follows_end();
        key.code == KeyCode::Char('G') && reads && self.dialogs.own.is_none()
    }

    /// Goes to the end; if a turn is waiting, says which key sends it.
    pub(super) fn go_to_end_by_letter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let waiting = self.pending_dialog(state);
        self.scroll_view(ScrollMove::End, state);
        let choice = waiting.as_ref().and_then(|sheet| {
            let mut choices = sheet.choices.iter();
            choices.find(|choice| choice.key == 'g')
        });
        match choice {
            Some(choice) => {
                let word = format!("Capital G goes to the end here. g: {}", choice.label);
                self.show_toast(&word)
            }
            None => Vec::new(),
        }
    }

    /// Moves the keys to the other pane.
    pub(super) fn toggle_pane_focus(&mut self) -> Vec<Action> {
        let view = &mut self.tabs.view;
        if view.side_area.is_none() {
            return self.show_toast(&format!(
                "The window is too narrow for a second pane. It needs {WIDE} columns."
            ));
        }
        view.pane_focus = match view.pane_focus {
            PaneFocus::Main => PaneFocus::Side,
            PaneFocus::Side => PaneFocus::Main,
        };
        Vec::new()
    }
}

/// Child sessions in the pager.
impl Screen {
    /// Creates the view of a child's session, to be filled and shown.
    pub fn new_child_view(&self, session: &SessionId) -> Box<ChildSessionView> {
        Box::new(ChildSessionView::new(session, &self.tabs.chat.transcript))
    }

    /// Shows a child's session.
    pub fn show_child_session(&mut self, child: Box<ChildSessionView>) {
        self.is_dirty = true;
        self.overlays.close_search(&mut self.tabs);
        self.open_pager(TextPager::from_child(child));
    }

    /// Returns the id of the child session that is open.
    pub fn open_child_session(&self) -> Option<&SessionId> {
        self.overlays.find().and_then(TextPager::session)
    }

    /// Returns the child session that is open, to be updated.
    pub fn open_child_mut(&mut self) -> Option<&mut ChildSessionView> {
        self.overlays.find_mut().and_then(TextPager::child_mut)
    }
}
