//! What Enter does with the composer's text: run a command, give a task, or send a message.
//!
//! A text that nothing accepts stays in the composer.

use super::Screen;
use super::action::Action;
use super::agent_dialogs::AgentMention;
use super::clickable_keys;
use super::command::ScreenCommand;
use super::command_table::{CommandParseError, parse_slash_command};
use super::completion::CompletionSources;
use super::composer::{ComposerLook, ComposerSpacing, TextComposer};
use super::composer_pane::ComposerPane;
use super::composer_target::{self, ComposerOutcome, ComposerTarget};
use super::cross_tab_toast::draw_toast;
use super::dialog::{ChoiceDialog, ComposerDraft};
use super::dialogs;
use super::discussion_commands::DiscussionScreenCommand;
use super::footer;
use super::input_guard::unseen_dialog_reason;
use super::keymap::ComposerFocus;
use super::mode_line::ModeLine;
use super::overlays::LayerPlace;
use super::pager::TextPager;
use super::tab_kind::TabKind;
use super::text_wrap::{text_width, to_one_line, truncate_to_columns};
use super::theme;
use super::view_area::{gutter, inset, split_bottom};
use super::welcome_page::CenteredWelcome;
use crate::domain::event::Event;
use crate::domain::ids::UnixMillis;
use crate::domain::phase::Phase;
use crate::domain::plan_thread::UserNote;
use crate::domain::run::RunState;
use crate::domain::run::notes_blocker;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// How high a text may get in the middle of the welcome page.
const MAX_CENTERED_TEXT_ROWS: usize = 8;

/// Shown because a half-written text would be sent together with the draft.
pub(super) const SEND_FIRST: &str = "Send or delete your text first.";

/// The result of sending the composer's text.
#[derive(Debug)]
pub(super) enum SubmitOutcome {
    /// The text was sent.
    Done(Vec<Action>),
    /// The text stays in the composer, for this reason.
    StaysInComposer(String),
}

impl Screen {
    /// Updates the suggestions for the word at the cursor; requests the files when they are needed.
    pub(super) fn update_completion(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let sources = CompletionSources {
            state,
            known: self.dialog_context(),
            presets: &self.discussions.presets,
            appearance: &self.settings.appearance,
        };
        let found = sources.find_completion(&self.composer);
        self.composer.assist.show_completion(found)
    }

    /// Returns the label of the empty composer: what a text in it is for.
    pub(super) fn describe_target(&self, state: Option<&RunState>) -> String {
        let target = self.target(state);
        composer_target::target_label(
            &target,
            ModeLine::new(self, state).other_refiner(),
            self.keymap(),
        )
    }

    /// Returns what Enter does with the current text, as a verb with its object; `None` where nobody gets it.
    pub(super) fn enter_effect(&self, state: Option<&RunState>) -> Option<String> {
        composer_target::enter_effect(
            &self.target(state),
            ModeLine::new(self, state).other_refiner(),
            self.keymap(),
        )
    }

    /// Returns the label that says what Enter does with the current text, a command or a message.
    pub(super) fn describe_enter(&self, state: Option<&RunState>) -> String {
        let of_command = self.composer.describe_enter_command();
        let of_text = || Some(format!("Enter: {}", self.enter_effect(state)?));
        let label = of_command.or_else(of_text);
        label.unwrap_or_else(|| self.describe_target(state))
    }

    fn target(&self, state: Option<&RunState>) -> ComposerTarget {
        composer_target::composer_target(state, self.composer.draft, &self.dialog_context())
    }

    /// Stores the current target when the user types the first letter of a text.
    pub(super) fn note_addressee(&mut self, state: Option<&RunState>) {
        if self.composer.editor.is_empty() {
            self.composer.written_for = None;
        } else if self.composer.written_for.is_none() {
            self.composer.written_for = Some(self.target(state));
        }
    }

    /// Returns whether the text would go to somebody else than when the user started it: a turn may have ended meanwhile.
    pub(super) fn has_new_addressee(&self, state: Option<&RunState>) -> bool {
        let is_message = self.composer.describe_enter_command().is_none();
        let now = self.target(state);
        let written = self.composer.written_for.as_ref().filter(|_| is_message);
        written.is_some_and(|written| !written.is_same_addressee(&now))
    }

    /// Returns why a text that is only the letter of a choice is not sent: the user most likely means the dialog.
    fn refuse_dialog_letter(&self, text: &str, state: Option<&RunState>) -> Option<String> {
        let sheet = self
            .pending_dialog(state)
            .filter(|_| self.composer.draft.is_none())?;
        let mut letters = text.trim().chars();
        let (letter, None) = (letters.next()?.to_ascii_lowercase(), letters.next()) else {
            return None;
        };
        let choice = sheet.choices.iter().find(|choice| choice.key == letter)?;
        let leave = self.keymap().key_label("leave", ComposerFocus::Focused);
        let key = choice.key.to_uppercase();
        Some(format!(
            "One letter is not sent. {leave}, then {key}: {}",
            choice.label
        ))
    }

    /// Sends the composer's text: a command, a task, or a message for its current target.
    pub(super) fn submit_composer(&mut self, state: Option<&RunState>) -> SubmitOutcome {
        let text = self.composer.editor.text();
        let mention = self.composer.parse_mention(&text);
        self.composer.close_completion();
        match mention {
            Some(AgentMention::Task(agent, prompt)) => {
                self.composer.editor.submit_text();
                return SubmitOutcome::Done(
                    self.perform_command(ScreenCommand::StartTask(agent, prompt), state),
                );
            }
            Some(AgentMention::Wrong(why)) => return SubmitOutcome::StaysInComposer(why),
            None => {}
        }
        let target =
            composer_target::composer_target(state, self.composer.draft, &self.dialog_context());
        match parse_slash_command(&text) {
            Ok(command) => {
                if let ScreenCommand::Discuss(DiscussionScreenCommand::Start(topic)) = &command
                    && let Some(why) = self.discussions.preset_typo_hint(topic)
                {
                    return SubmitOutcome::StaysInComposer(why);
                }
                let shown = self.dialogs.readable_dialog_id(self.overlays.find());
                let known = self.dialog_context();
                let unseen = unseen_dialog_reason(&command, shown.as_deref(), state, &known);
                if let Some(why) = unseen {
                    return SubmitOutcome::StaysInComposer(why);
                }
                self.composer.editor.submit_text();
                return SubmitOutcome::Done(self.perform_command(command, state));
            }
            Err(CommandParseError::Wrong(why)) => return SubmitOutcome::StaysInComposer(why),
            Err(CommandParseError::Text) => {}
        }
        if let Some(why) = self.refuse_dialog_letter(&text, state) {
            return SubmitOutcome::StaysInComposer(why);
        }
        match composer_target::submit_to_target(&target, &text, self.composer.refiner) {
            Ok(ComposerOutcome::Act(actions)) => {
                self.composer.editor.submit_text();
                let was_asked_for = self.composer.draft.take().is_some();
                self.composer.noted_line = None;
                self.tabs.chat.transcript.go_to_end();
                if was_asked_for {
                    // The text belonged to a dialog, so the next dialog gets the keys.
                    self.composer.focus = ComposerFocus::Unfocused;
                }
                SubmitOutcome::Done(actions)
            }
            Ok(ComposerOutcome::QueueMessage(text)) => {
                self.composer.editor.submit_text();
                self.composer.assist.queued_messages.push(text);
                SubmitOutcome::Done(Vec::new())
            }
            Ok(ComposerOutcome::PickAnswer(text)) => {
                self.composer.editor.submit_text();
                if self.composer.draft.take().is_some() {
                    self.composer.focus = ComposerFocus::Unfocused;
                }
                SubmitOutcome::Done(self.dialogs.pick_answer(&text, state))
            }
            Err(why) => SubmitOutcome::StaysInComposer(why),
        }
    }
}

impl ComposerPane {
    /// Returns the label for a command, a task or a suggestion, which are not sent as a message.
    pub fn describe_enter_command(&self) -> Option<String> {
        if let Some(word) = self.assist.accepted_by_enter(&self.editor) {
            return Some(format!("Enter: insert {}", to_one_line(word.trim_end())));
        }
        let text = self.editor.text();
        match self.parse_mention(&text) {
            Some(AgentMention::Task(agent, _)) => {
                return Some(format!("Enter: give {agent} this task"));
            }
            Some(AgentMention::Wrong(why)) => return Some(why),
            None => {}
        }
        let name = text.split_whitespace().next().unwrap_or_default();
        match parse_slash_command(&text) {
            Ok(_) => Some(format!("Enter: run {name}")),
            Err(CommandParseError::Wrong(why)) => Some(why),
            Err(CommandParseError::Text) => None,
        }
    }
}

/// Texts that the composer gets as a starting point.
impl Screen {
    /// Puts the selected line of the plan into the composer.
    pub(super) fn rewrite_plan_line(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.show_toast("No run yet. Write the goal first.");
        };
        if let Some(why) = notes_blocker(state) {
            return self.show_toast(why);
        }
        let Some((line, was)) = self.point_at_plan_line() else {
            return self.explain_pointing("a line of the plan");
        };
        if !self.composer.editor.is_empty() {
            return self.show_toast(SEND_FIRST);
        }
        self.composer.editor.set_text(&was);
        self.composer.noted_line = Some(UserNote::at_line(line, was));
        self.composer.draft = Some(ComposerDraft::Line);
        self.composer.written_for = None;
        self.focus_composer();
        Vec::new()
    }

    /// Focuses the composer. Closes a diff or a board, because they leave no room for it.
    pub(super) fn focus_composer(&mut self) {
        self.overlays.close_at(LayerPlace::WholeHeight);
        self.composer.focus = ComposerFocus::Focused;
        (self.composer.is_left, self.composer.is_lent) = (false, false);
    }

    /// Lets the user write what a dialog asks for. A suggestion is only put into an empty composer.
    pub(super) fn begin_draft(
        &mut self,
        draft: ComposerDraft,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let proposed = match (draft, state) {
            (ComposerDraft::Pattern { .. }, Some(state)) => {
                Some(dialogs::approval_dialog::suggest_pattern(state))
            }
            (ComposerDraft::Topic { .. }, _) => Some(self.discussions.planned_topic.clone()),
            _ => None,
        };
        if proposed.is_some() && !self.composer.editor.is_empty() {
            return self.show_toast(SEND_FIRST);
        }
        if let Some(text) = proposed {
            let _fits = self.composer.editor.on_paste(&text);
        }
        self.composer.draft = Some(draft);
        self.composer.written_for = None;
        self.dialogs.own = None;
        self.focus_composer();
        Vec::new()
    }
}

/// Messages that are sent when the turn ends.
impl Screen {
    /// Returns the queued messages as actions once the agent can take them; call it after each change of the run.
    pub fn drain_due_messages(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state.filter(|_| !self.composer.assist.queued_messages.is_empty()) else {
            return Vec::new();
        };
        if state.phase != Phase::RefineGoal {
            self.recall_queued_messages();
            return self.show_toast("The goal is confirmed. Your queued messages were not sent.");
        }
        let is_idle = state.running.is_none() && state.busy.is_none();
        if !is_idle || state.awaiting.is_some() || !state.approvals.is_empty() {
            return Vec::new();
        }
        self.is_dirty = true;
        let text = std::mem::take(&mut self.composer.assist.queued_messages).join("\n\n");
        vec![Action::Event(Event::GoalMessageAdded { text })]
    }

    /// Puts the queued messages before the composer's text; returns whether there were any.
    pub(super) fn recall_queued_messages(&mut self) -> bool {
        let queued = std::mem::take(&mut self.composer.assist.queued_messages);
        let was_there = !queued.is_empty();
        self.return_messages(queued);
        was_there
    }

    /// Puts texts that could not be delivered before the composer's text, so that the user can send them again.
    pub fn return_messages(&mut self, mut texts: Vec<String>) {
        if texts.is_empty() {
            return;
        }
        self.is_dirty = true;
        texts.push(self.composer.editor.text());
        self.composer.close_completion();
        self.composer.editor.set_text(texts.join("\n\n").trim());
        if !self.overlays.has_place(LayerPlace::WholeHeight) {
            self.composer.focus = ComposerFocus::Focused;
        }
    }
}

/// Drawing.
impl Screen {
    /// Draws the area below the dialog: the composer or the search bar, and the footer.
    pub(super) fn draw_bottom_area(
        &mut self,
        frame: &mut Frame,
        composer: Rect,
        foot: Rect,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
        now: UnixMillis,
    ) {
        let line = LayerPlace::ComposerLine;
        let word = if self.overlays.has_place(line) {
            self.draw_layer(line, frame, composer, state, sheet, now);
            None
        } else {
            self.draw_composer(frame, composer, state, sheet)
        };
        let mode_buttons = std::mem::take(&mut self.hit_areas.buttons);
        let foot = footer::draw(self, frame, foot, state, sheet, now);
        let commands = foot.buttons.iter().map(|(_, command)| command.clone());
        self.hit_areas.footer_commands = commands.collect();
        (self.hit_areas.buttons, self.hit_areas.need) = (foot.buttons, foot.need);
        let word = word.map(|place| (place, ScreenCommand::Show(TabKind::Chat)));
        self.hit_areas
            .buttons
            .extend(word.into_iter().chain(mode_buttons));
    }

    /// Takes the composer's rows from an area: at its end, or in the middle of the welcome page, where a dialog may stand in
    /// its place.
    pub(super) fn place_composer(
        &self,
        rest: &mut Rect,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
    ) -> (Rect, ComposerSpacing, Option<CenteredWelcome>) {
        let centered = self.centered_welcome(*rest, state);
        if let Some(places) = centered.filter(|_| sheet.is_none()) {
            return (places.composer, ComposerSpacing::Padded, Some(places));
        }
        let (n_rows, spacing) = self.composer_rows(*rest, sheet);
        let place = inset(split_bottom(rest, n_rows), gutter(rest.width));
        // One of the screen's own dialogs stands where the composer was.
        let own = sheet.filter(|_| n_rows == 0 && self.dialogs.own.is_some());
        let centered = centered.zip(own);
        let centered = centered.and_then(|(places, own)| places.with_dialog(own, *rest));
        (place, spacing, centered)
    }

    /// Returns the parts of the welcome page around the composer, if it is shown and the window is large.
    fn centered_welcome(&self, area: Rect, state: Option<&RunState>) -> Option<CenteredWelcome> {
        let is_covered =
            self.overlays.covers_tab() || self.overlays.has_place(LayerPlace::ComposerLine);
        if is_covered || !self.shows_welcome_page(state) {
            return None;
        }
        let rows = |columns| {
            self.composer
                .editor
                .n_rows(TextComposer::text_columns(columns))
        };
        let n_text = rows(CenteredWelcome::columns(area.width)).min(MAX_CENTERED_TEXT_ROWS);
        let n_rows = u16::try_from(n_text + ComposerSpacing::Padded.n_rows()).ok()?;
        self.welcome_page().centered(area, n_rows)
    }

    /// Returns how many rows the composer takes, and what stands around its text.
    fn composer_rows(&self, rest: Rect, sheet: Option<&ChoiceDialog>) -> (usize, ComposerSpacing) {
        if self.overlays.has_place(LayerPlace::ComposerLine) {
            return (1, ComposerSpacing::TextOnly);
        }
        if self.is_read_only() || self.overlays.takes_whole_height() {
            return (0, ComposerSpacing::TextOnly);
        }
        self.composer.rows_and_spacing(rest, sheet)
    }

    /// Draws the composer; returns the area of the toast about another tab, if one is drawn in it.
    fn draw_composer(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        state: Option<&RunState>,
        sheet: Option<&ChoiceDialog>,
    ) -> Option<Rect> {
        if area.is_empty() {
            return None;
        }
        let is_writing = self.composer.focus == ComposerFocus::Focused;
        if !is_writing && area.height == 1 {
            let key = self.keymap().key_label("write", ComposerFocus::Unfocused);
            let n_taken = text_width("› Press  to write") + text_width(&key);
            let toast = match sheet {
                None => self.draw_cross_tab_toast(frame, area, n_taken),
                Some(_) => None,
            };
            let left = Rect {
                width: toast.map_or(area.width, |toast| toast.x - area.x),
                ..area
            };
            self.composer.editor.draw_folded(frame, left, &key);
            return toast;
        }
        let asked = self.pending_dialog(state);
        let dialog = self.settings.to_open_dialog(asked.as_ref());
        self.composer.order_completion(state, dialog);
        let is_empty = self.composer.editor.is_empty();
        let label = self.composer_label(state);
        let columns = TextComposer::text_columns(area.width);
        // Before a run the keys stay: a row that changes with each first letter is noise.
        let is_goal = state.is_none() && self.composer.describe_enter_command().is_none();
        let shows_mode = is_goal || is_empty;
        let mode = ModeLine::new(self, state);
        let mode_line = if shows_mode {
            mode.lay_out(columns)
        } else {
            // The placeholder is gone, so what Enter does stands here.
            let label = truncate_to_columns(&label, columns);
            Line::from(clickable_keys::hint_spans(&label, theme::QUIET))
        };
        let bar = match (is_writing, mode.addressee()) {
            (false, _) => theme::QUIET,
            (true, Some(role)) => theme::role_style(role),
            (true, None) => theme::YOU,
        };
        let look = ComposerLook {
            placeholder: label,
            mode_line,
            bar,
            spacing: self.hit_areas.composer_spacing,
            has_cursor: is_writing,
        };
        let mode_row = self.composer.editor.draw(frame, area, look);
        // Behind a text in front the keys of these words do nothing either.
        let takes_clicks = shows_mode
            && !self.is_read_only()
            && !self.overlays.covers_tab()
            && self.dialogs.unfinished_run.is_none();
        if takes_clicks {
            self.hit_areas.buttons = ModeLine::new(self, state).buttons(mode_row);
        }
        // While a dialog is open, it reports the news itself. Only the row above the text is always free.
        let toast = match sheet {
            None if self.hit_areas.composer_spacing.n_rows() > 1 => {
                self.draw_cross_tab_toast(frame, area, 4)
            }
            _ => None,
        };
        if is_writing && self.composer.assist.has_completion() {
            let theme = self.theme();
            self.hit_areas.completion = self.composer.draw_completion(frame, area, theme);
            // They may be covered now.
            self.hit_areas.runs.clear();
        }
        toast
    }

    /// Returns what stands in the empty composer, or below a text: who gets it, what Enter does, or how to write.
    fn composer_label(&self, state: Option<&RunState>) -> String {
        let is_for_goal =
            self.composer.draft.is_none() && self.overlays.find::<TextPager>().is_none();
        // The card of the result has the key.
        if is_for_goal && self.composer.editor.is_empty() && state.is_some_and(RunState::is_over) {
            return "What is the next goal?".to_owned();
        }
        if self.composer.focus == ComposerFocus::Unfocused {
            let key = self.keymap().key_label("write", ComposerFocus::Unfocused);
            // In a text `/` searches.
            let pager = self.overlays.find::<TextPager>();
            let commands = pager.map_or(", / for commands", |_| "");
            return format!("Press {key} to write{commands}");
        }
        let label = if self.composer.editor.is_empty() {
            self.describe_target(state)
        } else {
            self.describe_enter(state)
        };
        match self.composer.assist.queued_messages.len() {
            0 => label,
            n => format!("{n} queued, ↑ edits · {label}"),
        }
    }

    /// Draws the notice about news in another tab, beside the composer.
    fn draw_cross_tab_toast(&self, frame: &mut Frame, row: Rect, n_taken: usize) -> Option<Rect> {
        let notice = self.toast.cross_tab.as_ref()?;
        let text = notice.visible_text(&self.tabs.view, self.dialogs.current_time())?;
        let key = match self.composer.focus {
            ComposerFocus::Focused => None,
            focus @ ComposerFocus::Unfocused => Some(self.keymap().key_label("show-chat", focus)),
        };
        draw_toast(text, key, frame, row, n_taken)
    }
}
