//! Commands that only change the view: tabs, scrolling, selection, copying, plan notes.
//!
//! Only adding and removing plan notes produces events.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Screen;
use super::action::{Action, ExternalViewer};
use super::command::ScrollMove;
use super::dialog::ComposerDraft;
use super::diff_view::DiffAction;
use super::document_texts;
use super::finding_location;
use super::keymap::ComposerFocus;
use super::pager::front_transcript;
use super::scroll_view::ScrollTarget;
use super::tabs::{self, TabKind};
use super::text_wrap::to_one_line;
use super::transcript::{ChatTranscript, SelectionMove};
use crate::domain::event::Event;
use crate::domain::findings::Finding;
use crate::domain::plan_note::PlanNote;
use crate::domain::run::{RunState, notes_blocker};
use crate::text::{fenced_block, pluralize};

/// The page height of the chat when its area is unknown.
const FALLBACK_PAGE_LINES: isize = 10;
impl Screen {
    /// Copies what is in front.
    pub(super) fn copy_selection(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.is_board_open() {
            return self.copy_from_board(state);
        }
        if let (Some(view), None) = (&self.diff_view, &self.pager) {
            let Some(text) = view.text() else {
                return self.show_toast("No diff here to copy.");
            };
            let lines = pluralize(text.lines().count(), "line");
            self.toast = Some(format!("Copied the diff, {lines}"));
            return vec![Action::Copy(text)];
        }
        let in_chat = self.focused_tab() == TabKind::Chat && self.pager.is_none();
        let discussion = self.transcript.selected_discussion().filter(|_| in_chat);
        if let Some(id) = discussion.cloned() {
            return self.copy_discussion_result(&id, state);
        }
        match self.selected_text(state) {
            Ok(text) => {
                self.toast = Some(format!("Copied: {}", to_one_line(&text)));
                vec![Action::Copy(text)]
            }
            Err(why) => self.show_toast_with_keys(&why),
        }
    }

    /// Returns the text of what is in front: the open pager, the selection, or the tab's content.
    fn selected_text(&mut self, state: Option<&RunState>) -> Result<String, String> {
        if let Some(pager) = &self.pager {
            return Ok(pager.copy_text());
        }
        let document = |text: &document_texts::DisplayDocument| text.text.clone();
        let of = (self.local_clock(), self.settings.repository.as_str());
        let picked = match self.focused_tab() {
            TabKind::Plan => self.pointed_plan_line().map(|(_, text)| text),
            TabKind::Comments => self.selected_finding_text(state),
            TabKind::Log => self
                .record
                .selected_detail(state, of.0, of.1)
                .map(|(_, text)| text),
            TabKind::Chat => self.transcript.selected_text(),
            TabKind::Status => None,
        };
        let picked = picked.or_else(|| self.selected_merge_command(state));
        let key = |action| self.keymap().key_label(action, ComposerFocus::Unfocused);
        let (text, why) = match self.focused_tab() {
            TabKind::Plan => (document(&self.documents.plan), "No plan yet.".to_owned()),
            TabKind::Comments => (
                document(&self.documents.comments),
                "No comments yet.".to_owned(),
            ),
            TabKind::Log => {
                let (before, next) = (key("previous-block"), key("next-block"));
                let why = format!("Select an event first with {before} and {next}.");
                (None, why)
            }
            TabKind::Status => (
                Some(self.pages.for_tab(TabKind::Status).text()),
                String::new(),
            ),
            TabKind::Chat => {
                let said = self.transcript.last_agent_text().map(str::to_owned);
                (said, "No agent has answered yet.".to_owned())
            }
        };
        picked.or(text).ok_or(why)
    }

    /// Returns the text of the selected finding with its evidence.
    fn selected_finding_text(&self, state: Option<&RunState>) -> Option<String> {
        let n = self.finding_selection.selected_finding()?;
        let all = state?.findings.all().iter();
        let remark = all
            .map(|finding| &finding.remark)
            .find(|remark| remark.n == n)?;
        let evidence = self.documents.evidence.get(&n).map_or("", String::as_str);
        let text = format!(
            "{n}. [{}] {}\n{evidence}",
            remark.severity.as_str(),
            remark.text
        );
        Some(text.trim_end().to_owned())
    }

    /// Copies a code block of what is in front: first the last one, then with each repetition the one above.
    pub(super) fn copy_code_block(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let code = self.selected_code_blocks(state);
        let n = code.len();
        let mut hasher = DefaultHasher::new();
        code.hash(&mut hasher);
        let all = hasher.finish();
        let at = match self.last_copied_code {
            Some((of, at)) if of == all && at + 1 < n => at + 1,
            _ => 0,
        };
        let Some(text) = code.into_iter().rev().nth(at) else {
            return self.show_toast("No code here. Select a block with code.");
        };
        self.last_copied_code = Some((all, at));
        let lines = pluralize(text.lines().count(), "line");
        self.toast = Some(match n {
            1 => format!("Copied: {lines} of code"),
            _ => format!(
                "Copied: code block {} of {n}, counted from the last, {lines}",
                at + 1
            ),
        });
        vec![Action::Copy(text)]
    }

    /// Returns the code blocks of what is in front; in a chat without a selection, those of all agent messages.
    fn selected_code_blocks(&mut self, state: Option<&RunState>) -> Vec<String> {
        let is_chat = self.focused_tab() == TabKind::Chat && self.pager.is_none();
        let texts = if is_chat && self.transcript.selected_text().is_none() {
            self.transcript.agent_texts().map(str::to_owned).collect()
        } else {
            self.selected_text(state).into_iter().collect::<Vec<_>>()
        };
        let blocks = texts
            .iter()
            .flat_map(|text| fenced_block::find_blocks(text));
        blocks.map(|block| block.content).collect()
    }

    /// Opens what is in front in another program.
    pub(super) fn open_in_viewer(
        &mut self,
        with: ExternalViewer,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let chat = Some(&self.transcript).filter(|_| self.focused_tab() == TabKind::Chat);
        let shown = match &self.pager {
            Some(pager) => pager.transcript(),
            None => chat,
        };
        if let Some(call) = shown.and_then(ChatTranscript::selected_truncated_call) {
            return vec![Action::OpenCall { call, with }];
        }
        match self.selected_text(state) {
            Ok(text) => vec![Action::OpenText { text, with }],
            Err(why) => self.show_toast(&why),
        }
    }

    /// Goes to what needs the user: closes what covers it and gives the dialog the keys.
    pub(super) fn go_to_waiting_dialog(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.pending_dialog(state).is_none() {
            if self.is_needed_by_covered_screen {
                return vec![Action::CloseView];
            }
            return self.show_toast("Nothing needs you now.");
        }
        self.input_guard.restore_put_aside();
        self.show_chat();
        self.transcript.go_to_end();
        self.composer_focus = ComposerFocus::Unfocused;
        Vec::new()
    }

    /// Selects another block of the chat, another finding, event or line of the plan.
    pub(super) fn select_adjacent(&mut self, along: SelectionMove, state: Option<&RunState>) {
        if let Some(child) = self.open_child_mut() {
            return child.transcript.move_selection(along);
        }
        let is_next = matches!(along, SelectionMove::Next | SelectionMove::NextTurn);
        if let (TabKind::Comments, None) = (self.focused_tab(), &self.pager) {
            let Some(state) = state.filter(|state| !state.findings.all().is_empty()) else {
                self.show_toast("No findings to select yet.");
                return;
            };
            let above = self
                .pages
                .for_tab(TabKind::Comments)
                .has_target(ScrollTarget::Reviews);
            let above = above.then_some(ScrollTarget::Reviews);
            if let Some(mark) = self.finding_selection.move_selection(is_next, state, above) {
                self.pages.for_tab(TabKind::Comments).scroll_to(mark);
                // The second pane scrolls to the plan line of the finding.
                if self
                    .hit_areas
                    .side_pane
                    .is_some_and(|(_, tab)| tab == TabKind::Plan)
                {
                    self.pages.for_tab(TabKind::Plan).scroll_to(mark);
                }
            }
            return;
        }
        if let (TabKind::Plan, None, Some(text)) =
            (self.focused_tab(), &self.pager, &self.documents.plan.text)
        {
            match (self.plan_view.compared_version(), along) {
                (Some(_), SelectionMove::NextTurn) => {
                    self.plan_view.choose_version(true, &self.documents)
                }
                (Some(_), SelectionMove::PreviousTurn) => {
                    self.plan_view.choose_version(false, &self.documents)
                }
                // A comparison does not contain every line of the plan.
                (Some(_), _) => {
                    let lines = self.pages.for_tab(TabKind::Plan).document_lines();
                    if let Some(line) = self.plan_view.move_selection_among(is_next, &lines) {
                        self.pages
                            .for_tab(TabKind::Plan)
                            .scroll_to(ScrollTarget::Line(line));
                    }
                }
                (None, _) => {
                    let page = self.pages.for_tab(TabKind::Plan);
                    let hidden = |line| page.is_hidden(line);
                    if let Some(line) = self.plan_view.move_selection(is_next, text, hidden) {
                        self.pages
                            .for_tab(TabKind::Plan)
                            .scroll_to(ScrollTarget::Line(line));
                    }
                }
            }
            return;
        }
        if self.focused_tab() == TabKind::Plan && self.pager.is_none() {
            self.show_toast("No plan to select a line of yet.");
            return;
        }
        if self.focused_tab() == TabKind::Log && self.pager.is_none() {
            let find = self.search_query(TabKind::Log);
            if let Some(mark) = self.record.move_selection(is_next, &find, state) {
                self.pages.for_tab(TabKind::Log).scroll_to(mark);
            }
            return;
        }
        self.show_chat();
        self.transcript.move_selection(along);
    }

    /// Switches the filter of findings or events; in the plan, starts or ends the comparison.
    pub(super) fn cycle_filter(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.pager.is_some() {
            return self.show_toast("Close the open text first.");
        }
        if self.focused_tab() == TabKind::Plan {
            if !self.plan_view.toggle_comparison(&self.documents) {
                return self.show_toast("No earlier version of the plan to compare with.");
            }
            return Vec::new();
        }
        if self.focused_tab() == TabKind::Log {
            self.record.next_filter();
            return Vec::new();
        }
        self.show_comments();
        self.finding_selection.next_filter(state);
        Vec::new()
    }

    /// Returns the selected line of the plan, from 1, and its text.
    pub(super) fn pointed_plan_line(&self) -> Option<(u32, String)> {
        let at = self
            .plan_view
            .selected_line()
            .filter(|_| self.focused_tab() == TabKind::Plan)?;
        let text = self.documents.plan.text.as_ref()?.lines().nth(at)?;
        Some((u32::try_from(at).ok()?.checked_add(1)?, text.to_owned()))
    }

    /// Returns the plan line that the selected finding is about, from 1, and its text.
    fn plan_line_of_finding(&self, state: &RunState) -> Option<(u32, String)> {
        let n = self
            .finding_selection
            .selected_finding()
            .filter(|_| self.focused_tab() == TabKind::Comments)?;
        let text = self.documents.plan.text.as_deref()?;
        let mut open = finding_location::locate_open_findings(state, text).into_iter();
        let (_, line) = open.find(|(finding, _)| finding.remark.n == n)?;
        let quote = text.lines().nth(line?)?.to_owned();
        Some((u32::try_from(line?).ok()?.checked_add(1)?, quote))
    }

    /// Selects the first visible line of the plan if nothing is selected, so that the next keys apply to it.
    pub(super) fn point_at_first_visible_line(&mut self) -> Option<(u32, String)> {
        if self.focused_tab() != TabKind::Plan {
            self.show_tab(TabKind::Plan);
            return None;
        }
        let line = self.pages.for_tab(TabKind::Plan).first_visible_line()?;
        self.plan_view.select_line(line);
        self.pointed_plan_line()
    }

    /// Says that something has to be selected first, and with which keys.
    pub(super) fn explain_pointing(&mut self, at: &str) -> Vec<Action> {
        let key = |action| self.keymap().key_label(action, ComposerFocus::Unfocused);
        let (before, next) = (key("previous-block"), key("next-block"));
        self.show_toast(&format!("Select {at} first with {before} and {next}."))
    }

    /// Adds a note to the selected line; without a text, lets the user write one.
    pub(super) fn add_plan_note(&mut self, text: String, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No run yet. Write the goal first.");
        };
        if let Some(why) = notes_blocker(state) {
            return self.show_toast(why);
        }
        let pointed = self.pointed_plan_line();
        let pointed = pointed.or_else(|| self.plan_line_of_finding(state));
        let Some((line, quote)) = pointed.or_else(|| self.point_at_first_visible_line()) else {
            return self.explain_pointing("a plan line");
        };
        if !text.is_empty() {
            return vec![Action::Event(Event::NoteMade { line, quote, text })];
        }
        self.noted_line = Some((line, quote));
        self.draft = Some(ComposerDraft::Note);
        self.focus_composer();
        Vec::new()
    }

    pub(super) fn remove_plan_note(
        &mut self,
        n: Option<u32>,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No run yet.");
        };
        let plan = self.documents.plan.text.as_deref().unwrap_or_default();
        let lines: Vec<&str> = plan.lines().collect();
        let here = self.plan_view.selected_line();
        let is_meant = |note: &&PlanNote| match n {
            Some(n) => note.n == n,
            None => here.is_some() && note.find_line(&lines) == here,
        };
        match state.notes.all().iter().rfind(is_meant) {
            Some(note) => vec![Action::Event(Event::NoteRemoved { n: note.n })],
            None => {
                self.show_toast("No note here. Select its line, or name its number (/unnote 1).")
            }
        }
    }

    /// Jumps from a finding to its line of the plan, or from a line to the finding about it.
    pub(super) fn jump_to_counterpart(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match (
            self.focused_tab(),
            self.finding_selection.selected_finding(),
            self.plan_view.selected_line(),
        ) {
            (TabKind::Comments, Some(n), _) => {
                let text = self.documents.plan.text.as_deref().unwrap_or_default();
                let open = state.map(|state| finding_location::locate_open_findings(state, text));
                let of_finding = |(finding, _): &(&Finding, _)| finding.remark.n == n;
                let found = open.into_iter().flatten().find(of_finding);
                let Some((_, Some(line))) = found else {
                    return self.show_toast(&format!("Finding {n} has no known line in the plan."));
                };
                self.plan_view = tabs::plan::plan_view_state::PlanViewState::default();
                self.plan_view.select_line(line);
                self.show_tab(TabKind::Plan);
                self.pages
                    .for_tab(TabKind::Plan)
                    .scroll_to(ScrollTarget::Finding(n));
                Vec::new()
            }
            (TabKind::Comments, None, _) => self.explain_pointing("a finding"),
            (TabKind::Plan, _, Some(line)) => {
                let text = self.documents.plan.text.as_deref().unwrap_or_default();
                let open = state.map(|state| finding_location::locate_open_findings(state, text));
                let of_line = open.into_iter().flatten().find(|(_, at)| *at == Some(line));
                let Some(n) = of_line.map(|(finding, _)| finding.remark.n) else {
                    return self.show_toast("No open finding is about this line.");
                };
                self.finding_selection.select_finding(n);
                self.show_tab(TabKind::Comments);
                self.pages
                    .for_tab(TabKind::Comments)
                    .scroll_to(ScrollTarget::Finding(n));
                Vec::new()
            }
            _ => self.explain_pointing("a finding or a plan line"),
        }
    }

    /// Clears the selection of the current tab; returns whether there was one.
    pub(super) fn clear_selection(&mut self) -> bool {
        match self.focused_tab() {
            TabKind::Chat => self.transcript.clear_selection(),
            TabKind::Plan => {
                self.plan_view.clear_selection()
                    || self.plan_view.close_comparison()
                    || self.plan_view.fold()
            }
            TabKind::Comments => self.finding_selection.clear_selection(),
            TabKind::Log => self.record.clear_selection(),
            TabKind::Status => false,
        }
    }

    /// Shows the Comments tab and closes what covers it.
    pub(super) fn show_comments(&mut self) {
        self.close_overlays();
        self.tab = TabKind::Comments;
    }

    /// Shows the Chat tab and closes what covers it.
    pub(super) fn show_chat(&mut self) {
        self.close_overlays();
        self.tab = TabKind::Chat;
    }

    pub(super) fn show_tab(&mut self, tab: TabKind) {
        let is_covered = self.pager.is_some() || self.diff_view.is_some() || self.board.is_some();
        self.close_overlays();
        if tab.is_folded_at_first() && self.tab == tab && !is_covered {
            self.unfolded.remove(&tab);
            self.tab = TabKind::Chat;
            return;
        }
        if tab.is_folded_at_first() {
            self.unfolded.insert(tab);
        }
        self.tab = tab;
    }

    pub(super) fn step_tab(&mut self, by: isize) {
        self.close_overlays();
        let shown: Vec<TabKind> = TabKind::ALL
            .into_iter()
            .filter(|tab| !tab.is_folded_at_first() || self.unfolded.contains(tab))
            .collect();
        let at = shown.iter().position(|tab| *tab == self.tab).unwrap_or(0);
        let next = at
            .checked_add_signed(by)
            .unwrap_or(shown.len().saturating_sub(1));
        self.tab = shown.get(next).copied().unwrap_or(TabKind::Chat);
    }

    pub(super) fn scroll_view(&mut self, to: ScrollMove) {
        match &mut self.pager {
            Some(pager) if pager.transcript().is_some() => {
                return self.scroll_tab(TabKind::Chat, to);
            }
            Some(pager) => return pager.scroll(to),
            None => {}
        }
        if let Some(view) = &mut self.diff_view {
            view.scroll(match to {
                ScrollMove::Up => DiffAction::Up,
                ScrollMove::Down => DiffAction::Down,
                ScrollMove::PageUp => DiffAction::PageUp,
                ScrollMove::PageDown => DiffAction::PageDown,
                ScrollMove::Top => DiffAction::Top,
                ScrollMove::End => DiffAction::End,
            });
            return;
        }
        self.scroll_tab(self.focused_tab(), to);
    }

    pub(super) fn scroll_tab(&mut self, tab: TabKind, to: ScrollMove) {
        if tab != TabKind::Chat {
            if (tab, to) == (TabKind::Plan, ScrollMove::End) {
                let _was_open = self.plan_view.fold();
            }
            if (tab, to) == (TabKind::Log, ScrollMove::PageUp)
                && self.pages.for_tab(TabKind::Log).is_first_target_visible()
                && self.record.request_older()
            {
                return;
            }
            self.pages.for_tab(tab).scroll(to);
            return;
        }
        let page = self.hit_areas.body.height.saturating_sub(2);
        let page = isize::try_from(page).unwrap_or(FALLBACK_PAGE_LINES).max(1);
        let transcript = front_transcript(&mut self.pager, &mut self.transcript);
        match to {
            ScrollMove::Up => transcript.scroll_by(-1),
            ScrollMove::Down => transcript.scroll_by(1),
            ScrollMove::PageUp => transcript.scroll_by(-page),
            ScrollMove::PageDown => transcript.scroll_by(page),
            ScrollMove::Top => transcript.go_to_top(),
            ScrollMove::End => transcript.go_to_end(),
        }
    }
}
