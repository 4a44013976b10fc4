//! The composer's state: the text, what helps to write it, and to whom it goes.

use ratatui::layout::Rect;

use super::appearance::ScreenSettings;
use super::completion::ComposerAssist;
use super::composer::{ComposerSpacing, TextComposer};
use super::composer_target::ComposerTarget;
use super::dialog::{ChoiceDialog, ComposerDraft, DialogFocus, EmptyComposerEnter};
use super::keymap::ComposerFocus;
use super::run_commands::CommandOutcome;
use super::tab_kind::TabKind;
use super::view_area::gutter;
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::plan_thread::UserNote;
use crate::domain::run::RunState;
use crate::domain::turn::Role;

/// From this height of the part between header and footer on, the composer has padding.
const MIN_ROWS_OF_PADDED_COMPOSER: usize = 23;
/// The same below a dialog that needs at most a third of that part.
const MIN_ROWS_OF_PADDED_BELOW_DIALOG: usize = 30;
/// From this window height on, a dialog keeps its choices while the user writes a text for it.
const MIN_ROWS_OF_CHOICES_WHILE_WRITING: u16 = 22;
/// In a lower part the composer is one row while nothing is written.
const MIN_ROWS_OF_IDLE_COMPOSER: usize = 14;

/// The composer: the text, what helps to write it, and to whom it goes.
#[derive(Debug)]
pub struct ComposerPane {
    pub editor: TextComposer,
    pub assist: ComposerAssist,
    pub focus: ComposerFocus,
    pub draft: Option<ComposerDraft>,
    /// The line of the plan that a note or an edit is being written for, counted from 1, and its text.
    pub noted_line: Option<UserNote>,
    pub refiner: Role,
    /// The target when the user typed the first letter of the text; `None` for a text that was not typed, or whose target
    /// the user has chosen since.
    pub written_for: Option<ComposerTarget>,
    /// What took the keys when it was last decided who gets them.
    pub key_claim: Option<KeyClaim>,
    /// Whether the user left the composer, so that letters stay commands.
    pub is_left: bool,
    /// Whether a text or a list that the user opened has the keys, which come back when it is closed.
    pub is_lent: bool,
}

/// What takes the keys from an empty composer when it comes to the front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyClaim {
    /// A dialog, by its id.
    Dialog(String),
    /// What an agent proposes in a talk, by its dialog's id: it takes nothing, because one answers by writing.
    Talk(String),
    /// A tab other than the chat.
    Tab(TabKind),
    /// The card with the run's result.
    Result,
}

impl ComposerPane {
    /// Returns how many rows the composer takes, and what stands around its text. A dialog stands in its place unless
    /// something is written.
    pub fn rows_and_spacing(
        &self,
        rest: Rect,
        sheet: Option<&ChoiceDialog>,
    ) -> (usize, ComposerSpacing) {
        let just = |n_rows| (n_rows, ComposerSpacing::TextOnly);
        let height = usize::from(rest.height);
        let is_writing = self.focus == ComposerFocus::Focused;
        // A dialog needs its title, its choices and two lines of text; a list scrolls.
        let least_above = sheet.map_or(1, |sheet| {
            let columns = usize::from(rest.width);
            (sheet.n_choice_rows(columns) + 3).clamp(4, 10)
        });
        if sheet.is_some() && !is_writing {
            let shows_draft = !self.editor.is_empty() && height > least_above + 4;
            return just(usize::from(shows_draft));
        }
        let least_with_mode = match sheet {
            // The mode line says what Enter does to an answer.
            Some(sheet) if sheet.choices.is_empty() => 7,
            _ => 9.max(least_above + 3),
        };
        if height < least_with_mode {
            return just(usize::from(is_writing || height > least_above + 4));
        }
        let spacing = match (sheet, height) {
            (None, MIN_ROWS_OF_PADDED_COMPOSER..) => ComposerSpacing::Padded,
            (Some(sheet), MIN_ROWS_OF_PADDED_BELOW_DIALOG..)
                if sheet.preferred_rows(usize::from(rest.width)) <= height / 3 =>
            {
                ComposerSpacing::Padded
            }
            (None, _) if !is_writing && height < MIN_ROWS_OF_IDLE_COMPOSER => return just(1),
            (_, MIN_ROWS_OF_IDLE_COMPOSER..) => ComposerSpacing::Compact,
            _ => ComposerSpacing::Tight,
        };
        let text_columns = TextComposer::text_columns(rest.width - 2 * gutter(rest.width));
        let text = self.editor.n_rows(text_columns);
        (text.min((height / 4).max(1)) + spacing.n_rows(), spacing)
    }

    /// Returns whether the user is writing a text.
    pub fn has_composer_text(&self) -> bool {
        self.focus == ComposerFocus::Focused && !self.editor.is_empty()
    }

    /// Returns whether the composer is focused and empty.
    pub fn is_composer_awaiting_text(&self) -> bool {
        self.focus == ComposerFocus::Focused && self.editor.is_empty()
    }

    /// Returns whether the user writes a text for a dialog; its choices take no keys meanwhile.
    pub fn is_writing_for_dialog(&self) -> bool {
        self.focus == ComposerFocus::Focused && self.draft.is_some()
    }

    /// The same in a window so low that the choices make room for what the text is about, as a line of the plan.
    pub fn is_writing_in_low_window(&self, rows: u16) -> bool {
        self.is_writing_for_dialog() && rows < MIN_ROWS_OF_CHOICES_WHILE_WRITING
    }

    /// Returns who gets the keys while a dialog with this selected choice is open.
    pub fn dialog_focus(&self, sheet: &ChoiceDialog, chosen: usize) -> DialogFocus {
        let is_empty = self.draft.is_none() && self.editor.is_empty();
        match (self.focus, sheet.empty_composer_enter) {
            (ComposerFocus::Unfocused, _) => DialogFocus::Dialog(chosen),
            (
                ComposerFocus::Focused,
                EmptyComposerEnter::CarriesOutChoice | EmptyComposerEnter::CarriesOutAndLeaves,
            ) if is_empty => DialogFocus::EnterOnly(chosen),
            (ComposerFocus::Focused, _) => DialogFocus::Composer(chosen),
        }
    }

    /// Gives the keys to what has come to the front with this frame; returns whether the composer lost them.
    pub fn yield_focus(&mut self, claim: Option<KeyClaim>) -> bool {
        let takes = !matches!(claim, None | Some(KeyClaim::Talk(_)));
        let is_new = takes && claim != self.key_claim;
        self.key_claim = claim;
        // Something new has the keys, so closing what the user opened does not bring them back.
        self.is_lent &= !is_new;
        let is_for_view = matches!(
            self.draft,
            Some(ComposerDraft::Note | ComposerDraft::Line | ComposerDraft::Topic { .. })
        );
        let is_lost = is_new && self.is_composer_awaiting_text() && !is_for_view;
        if is_lost {
            // An empty draft of another dialog has no use here.
            (self.focus, self.draft) = (ComposerFocus::Unfocused, None);
            self.written_for = None;
        }
        is_lost
    }

    /// Leaves the composer. A prefilled text is discarded, so that it is not sent as a message later.
    pub fn leave_composer(&mut self) {
        self.close_completion();
        if let Some(
            ComposerDraft::Line | ComposerDraft::Pattern { .. } | ComposerDraft::Topic { .. },
        ) = self.draft
        {
            self.editor.set_text("");
        }
        self.focus = ComposerFocus::Unfocused;
        (self.draft, self.noted_line) = (None, None);
        if self.editor.is_empty() {
            self.written_for = None;
        }
    }

    /// Chooses the agent that refines the goal, now or for the next run; without a role, switches to the other one.
    pub fn choose_refiner(
        &mut self,
        role: Option<Role>,
        proposed_goal: Option<String>,
        state: Option<&RunState>,
        settings: &ScreenSettings,
    ) -> CommandOutcome {
        let has_goal = |state: &&RunState| !state.phase.is_final() && state.phase != Phase::Init;
        let Some(state) = state.filter(has_goal) else {
            let wanted = role.unwrap_or(self.refiner.other());
            if settings.next_run.has_no_reviewer() && wanted == Role::Reviewer {
                return CommandOutcome::refuse(
                    "There is no reviewer: roles.reviewer is \"none\" in your configuration.",
                );
            }
            self.refiner = wanted;
            return CommandOutcome::default();
        };
        let role = role.unwrap_or(state.refiner.other());
        let is_idle = state.running.is_none() && state.busy.is_none() && state.awaiting.is_none();
        match state.phase {
            Phase::RefineGoal if state.session(role).is_none() => {
                CommandOutcome::refuse("This run has no reviewer.")
            }
            Phase::RefineGoal if is_idle => {
                self.refiner = role;
                let goal = proposed_goal;
                CommandOutcome::record(Event::RefinerChosen { role, goal })
            }
            Phase::RefineGoal => {
                let keymap = &settings.appearance.keymap;
                let key = keymap.key_label("interrupt", self.focus);
                CommandOutcome::refuse(&format!(
                    "An agent is working on the goal. Interrupt it first ({key})."
                ))
                .with_clickable_keys()
            }
            _ => CommandOutcome::refuse("The goal is confirmed. Go back to it with /stop."),
        }
    }

    /// Saves a half-written text for the next start; called however the program ends.
    pub fn remember_draft(&mut self) {
        self.editor.remember_draft();
    }
}
