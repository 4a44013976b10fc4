//! Protects dialogs from keys that the user pressed before seeing them.
//!
//! A dialog about an agent's call, one that takes the keys from the composer, or one that appears while the user is typing,
//! ignores keys until it has been visible for a moment and no key has arrived for a moment. The time comes from the caller; there is no clock here.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::Action;
use super::command::ScreenCommand;
use super::command_table::answers_dialog;
use super::dialog::ChoiceDialog;
use super::dialog_pane::DialogPane;
use super::dialogs::{self, DialogContext};
use super::discussion_commands::DiscussionScreenCommand;
use super::keymap::ComposerFocus;
use super::labels::LocalClock;
use super::pager::TextPager;
use super::text_wrap::to_one_line;
use crate::domain::ids::UnixMillis;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;

/// How long a dialog about an agent's call is visible before it takes a key, in milliseconds.
const CALL_DIALOG_DELAY_MS: i64 = 150;
/// The same for any other dialog if a key came just before it, in milliseconds.
const DIALOG_DELAY_MS: i64 = 100;
/// The same for a dialog that takes the keys from the composer, where the user may be about to write, in milliseconds.
const COMPOSER_DIALOG_DELAY_MS: i64 = 400;
/// The least time between two presses of Esc that interrupt a turn, in milliseconds; a held key repeats faster.
const SECOND_ESCAPE_MS: i64 = 150;
/// How recent that key must be, in milliseconds.
const RECENT_KEY_MS: i64 = 400;
/// The pause without keys before one counts, in milliseconds; so neither a held key nor repeated presses decide.
const KEY_PAUSE_MS: i64 = 100;

/// What the user can have read of the dialogs.
#[derive(Debug, Default)]
pub(super) struct InputGuard {
    /// The dialog that waits for the user and was drawn last.
    dialog: Option<DialogArrival>,
    /// The id of the screen's own dialog that opened without a request from the user.
    own_dialog: Option<String>,
    /// The view that opened without a request from the user.
    view: Option<DialogArrival>,
    /// The current time, if known.
    now: Option<UnixMillis>,
    /// The time of the last key.
    key_at: Option<UnixMillis>,
    /// The last key.
    key: Option<KeyCode>,
    /// The key after which the composer got the keys back; held down or pressed twice, it is no text.
    answer_key: Option<KeyCode>,
    /// The end of the usage limit whose dialog the user has reduced to a line.
    put_aside: Option<UnixMillis>,
    /// Letters that came before the dialog could be read.
    early_letters: String,
    /// When a letter acted that may have been meant as a text.
    letter_acted_at: Option<UnixMillis>,
    /// The id of the screen's own dialog that it opened, until that takes keys.
    delayed_dialog: Option<String>,
    /// Whether the next dialog takes the keys from the composer.
    takes_keys: bool,
    /// Whether a key failed to open the composer; the keys typed after it are then meant as text.
    is_refused_text: bool,
}

#[derive(Debug)]
struct DialogArrival {
    id: String,
    at: UnixMillis,
    /// How long it must be visible, in milliseconds.
    delay_ms: i64,
    is_read: bool,
    /// Whether a key came that it did not take.
    has_ignored_key: bool,
}

impl DialogArrival {
    /// Returns when it starts to take keys, given the time of the last key; `None` if it already does.
    fn ready_at(&self, key_at: Option<UnixMillis>) -> Option<UnixMillis> {
        let quiet = key_at.map_or(i64::MIN, |at| at.0 + KEY_PAUSE_MS);
        (!self.is_read).then(|| UnixMillis((self.at.0 + self.delay_ms).max(quiet)))
    }
}

impl InputGuard {
    /// Returns when the dialog starts to take keys; `None` if it already does.
    fn ready_at(&self) -> Option<UnixMillis> {
        self.dialog.as_ref()?.ready_at(self.key_at)
    }

    /// Sets the current time.
    pub(super) fn on_time(&mut self, now: UnixMillis) {
        self.now = Some(now);
        // If the clock was set back, do not wait for the difference.
        self.key_at = self.key_at.map(|at| at.min(now));
        for came in [&mut self.dialog, &mut self.view].into_iter().flatten() {
            came.at = came.at.min(now);
            came.is_read |= came.ready_at(self.key_at).is_some_and(|at| at.0 <= now.0);
        }
        let delayed = self.delayed_dialog.as_ref();
        if self
            .dialog
            .as_ref()
            .is_some_and(|came| came.is_read && delayed == Some(&came.id))
        {
            self.delayed_dialog = None;
        }
    }

    /// Notes that the dialog did not take a key, because it takes none yet.
    pub(super) fn note_ignored_key(&mut self) {
        if let Some(came) = &mut self.dialog {
            came.has_ignored_key = true;
        }
    }

    fn note_dialog(&mut self, id: &str) {
        if self.dialog.as_ref().is_some_and(|came| came.id == id) {
            return;
        }
        self.dialog = self.new_arrival(id);
        let is_after_letter = match (self.now, self.letter_acted_at) {
            (Some(now), Some(at)) => now.0 - at.0 <= COMPOSER_DIALOG_DELAY_MS,
            _ => false,
        };
        if (std::mem::take(&mut self.takes_keys) || is_after_letter)
            && let Some(came) = &mut self.dialog
        {
            (came.delay_ms, came.is_read) = (COMPOSER_DIALOG_DELAY_MS, false);
        }
    }

    /// Records the arrival of a dialog or view; `None` without a known time, because no delay can be measured.
    fn new_arrival(&self, id: &str) -> Option<DialogArrival> {
        let is_call = id.starts_with(dialogs::approval_dialog::DIALOG_ID_PREFIX);
        self.now.map(|at| {
            let is_hurried = self.key_at.is_some_and(|key| at.0 - key.0 <= RECENT_KEY_MS);
            DialogArrival {
                id: id.to_owned(),
                at,
                delay_ms: if is_call {
                    CALL_DIALOG_DELAY_MS
                } else {
                    DIALOG_DELAY_MS
                },
                // If no key came just before, only a dialog about a call has to wait.
                is_read: !is_call && !is_hurried,
                has_ignored_key: false,
            }
        })
    }

    /// Notes that a view opened without a request from the user.
    pub(super) fn note_view_opened(&mut self) {
        self.view = self.new_arrival("");
    }

    /// Returns whether such a view takes no keys yet.
    pub(super) fn is_view_guarded(&self) -> bool {
        self.view.as_ref().is_some_and(|came| !came.is_read)
    }

    /// Notes whether the dialog that is drawn next takes the keys from the composer.
    pub(super) fn set_keys_taken(&mut self, is_taken: bool) {
        self.takes_keys = is_taken;
    }

    /// Reduces the dialog of a usage limit to a line after the user has chosen to wait.
    pub(super) fn put_limit_aside(&mut self, state: Option<&RunState>) {
        self.put_aside = state.and_then(usage_limit_end);
    }

    /// Shows the reduced dialog in full again.
    pub(super) fn restore_put_aside(&mut self) {
        self.put_aside = None;
    }

    /// Notes that the user has read the dialog: linear mode knows it from the line that answers it.
    pub(super) fn mark_read(&mut self) {
        if let Some(came) = &mut self.dialog {
            came.is_read = true;
        }
    }

    /// Notes that the user opened one of the screen's own dialogs.
    pub(super) fn note_user_dialog(&mut self) {
        (self.own_dialog, self.delayed_dialog) = (None, None);
    }

    /// Forgets the dialog, so that it counts as newly shown when it is uncovered.
    pub(super) fn clear_dialog(&mut self) {
        self.dialog = None;
    }

    /// Returns whether to ignore a key: it was typed after one that failed to open the composer.
    pub(super) fn is_key_swallowed(&mut self, key: KeyEvent, focus: ComposerFocus) -> bool {
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        let types = matches!(
            key.code,
            KeyCode::Char(_) | KeyCode::Enter | KeyCode::Backspace
        );
        self.is_refused_text_key() && is_plain && types && focus == ComposerFocus::Unfocused
    }

    /// Notes the result of a key: if it failed to open the composer, the keys typed after it without a pause
    /// are meant as text.
    pub(super) fn note_refused_command(
        &mut self,
        command: &ScreenCommand,
        actions: &[Action],
        focus: ComposerFocus,
    ) {
        let writes = match command {
            ScreenCommand::AddPlanNote(text) => text.is_empty(),
            ScreenCommand::RewritePlanLine
            | ScreenCommand::Discuss(
                DiscussionScreenCommand::DiscussFinding | DiscussionScreenCommand::Quote,
            ) => true,
            _ => false,
        };
        if writes && actions.is_empty() && focus == ComposerFocus::Unfocused {
            self.is_refused_text = true;
        }
    }

    /// Returns whether a key that comes now belongs to text that was meant for the composer.
    fn is_refused_text_key(&mut self) -> bool {
        self.is_refused_text &= self.is_just_after_key();
        self.is_refused_text
    }

    /// Records a key, after it was handled.
    pub(super) fn on_key(&mut self, key: KeyEvent) {
        (self.key_at, self.key) = (self.now, Some(key.code));
    }

    /// Adds a letter to those that just came before the dialog could be read, and returns them all. If the letter is meant
    /// for what the dialog shows, they are forgotten and it returns `None`.
    pub(super) fn add_early_letter(&mut self, letter: char, is_meant: bool) -> Option<String> {
        let is_first = !self.is_just_after_key();
        self.early_letters.retain(|_| !is_first && !is_meant);
        if is_meant {
            return None;
        }
        self.early_letters.push(letter);
        Some(self.early_letters.clone())
    }

    /// Returns whether letters just came before the dialog could be read.
    pub(super) fn has_early_letters(&self) -> bool {
        self.is_just_after_key() && !self.early_letters.is_empty()
    }

    /// Forgets the letters that came before the dialog could be read: they are written in the composer.
    pub(super) fn clear_early_letters(&mut self) {
        self.early_letters.clear();
    }

    /// Returns whether the last key was only a moment ago.
    fn is_just_after_key(&self) -> bool {
        match (self.now, self.key_at) {
            (Some(now), Some(key)) => now.0 - key.0 <= RECENT_KEY_MS,
            _ => false,
        }
    }

    /// Notes that the composer got the keys back.
    pub(super) fn note_keys_returned(&mut self) {
        let is_text = |key: &KeyCode| matches!(key, KeyCode::Char(_) | KeyCode::Enter);
        self.answer_key = self.key.filter(is_text);
    }

    /// Returns whether no key came for so long that another Esc is meant.
    pub(super) fn has_paused(&self) -> bool {
        match (self.now, self.key_at) {
            (Some(now), Some(at)) => now.0 - at.0 >= SECOND_ESCAPE_MS,
            _ => true,
        }
    }

    /// Returns whether a key only repeats the one that answered a dialog.
    pub(super) fn is_repeated_answer(&mut self, key: KeyEvent) -> bool {
        let is_recent = self.is_just_after_key();
        self.answer_key
            .take_if(|code| !is_recent || *code != key.code);
        self.answer_key.is_some()
    }
}

/// Returns the end of the usage limit that the user is asked about; `None` while an agent's question comes first.
fn usage_limit_end(state: &RunState) -> Option<UnixMillis> {
    match &state.current_question()?.kind {
        QuestionKind::UsageLimit { until, .. } => Some(*until),
        _ => None,
    }
}

impl DialogPane {
    /// Returns whether the user opened the dialog.
    pub fn is_user_dialog(&self, sheet: &ChoiceDialog) -> bool {
        let is_own = self.own.as_ref().is_some_and(|own| own.id == sheet.id);
        is_own && self.guard.own_dialog.as_ref() != Some(&sheet.id)
    }

    /// Returns whether a dialog takes no keys yet.
    pub fn is_dialog_guarded(&self, sheet: &ChoiceDialog) -> bool {
        let came = self.guard.dialog.as_ref();
        let is_delayed = self.guard.delayed_dialog.as_ref() == Some(&sheet.id);
        let takes_keys_at_once = self.is_user_dialog(sheet) && !is_delayed;
        !takes_keys_at_once && came.is_some_and(|came| came.id == sheet.id && !came.is_read)
    }

    /// Returns whether a dialog takes no keys yet and did not take one that came.
    pub fn has_ignored_key(&self, sheet: &ChoiceDialog) -> bool {
        let mut came = self.guard.dialog.iter();
        self.is_dialog_guarded(sheet) && came.any(|came| came.has_ignored_key)
    }

    /// Returns whether the user can have read a dialog: it was drawn, and long enough ago that no earlier key
    /// reaches it. Dialogs that the user opened take keys at once.
    pub fn is_dialog_ready(&self, sheet: &ChoiceDialog) -> bool {
        self.drawn.as_ref() == Some(&sheet.id) && !self.is_dialog_guarded(sheet)
    }

    /// Notes that a dialog was drawn.
    pub fn note_dialog_drawn(&mut self, sheet: &ChoiceDialog) {
        self.drawn = Some(sheet.id.clone());
        if self.is_user_dialog(sheet) {
            if self.guard.delayed_dialog.as_ref() == Some(&sheet.id) {
                self.guard.note_dialog(&sheet.id);
            } else {
                self.guard.clear_dialog();
            }
            // What it covers takes no key that was meant for it, typed slowly either.
            self.guard.takes_keys = true;
        } else {
            self.guard.note_dialog(&sheet.id);
        }
    }

    /// Returns the current time, if known.
    pub fn current_time(&self) -> Option<UnixMillis> {
        self.guard.now
    }

    /// Returns the line that replaces the current dialog if the user has put it aside.
    pub fn put_aside_line(&self, state: Option<&RunState>, clock: LocalClock) -> Option<String> {
        let state = state.filter(|state| state.approvals.is_empty())?;
        let is_its =
            self.own.is_none() && self.unfinished_run.is_none() && !self.is_quit_dialog_open();
        let end = usage_limit_end(state).filter(|_| is_its)?;
        let QuestionKind::UsageLimit { adapter, .. } = &state.current_question()?.kind else {
            return None;
        };
        (self.guard.put_aside == Some(end)).then(|| {
            let until = clock.time_with_minutes(end);
            format!(
                "{} usage limit reached. Waiting until {until}",
                to_one_line(adapter)
            )
        })
    }

    /// Opens one of the screen's own dialogs without a direct request from the user; it is guarded like the
    /// run's dialogs.
    pub fn open_guarded(&mut self, sheet: ChoiceDialog) {
        self.guard.clear_dialog();
        self.guard.own_dialog = Some(sheet.id.clone());
        self.own = Some(sheet);
        self.chosen = None;
    }

    /// Notes that a letter acted which may have been meant as a text: a dialog that comes soon after it, one of the run or the
    /// screen's own that it has just opened, waits like one that takes the keys from the composer.
    pub fn note_letter_acted(&mut self) {
        self.guard.letter_acted_at = self.guard.now;
        if let Some(own) = &self.own {
            self.guard.clear_dialog();
            self.guard.delayed_dialog = Some(own.id.clone());
        }
    }

    /// Returns the id of the dialog that the user can have read, in its place or in full in the pager.
    pub fn readable_dialog_id(&self, pager: Option<&TextPager>) -> Option<String> {
        let is_deaf = self.guard.ready_at().is_some();
        let dialog = pager.and_then(TextPager::dialog_id);
        let stands = self.drawn.as_deref().filter(|_| !is_deaf);
        dialog.or(stands).map(str::to_owned)
    }

    /// Returns how long the drawn dialog still ignores keys; `None` if it already takes them.
    pub fn guard_remaining(&self) -> Option<Duration> {
        let at = self.drawn.as_ref().and_then(|_| self.guard.ready_at())?;
        let left = at.0.saturating_sub(self.guard.now?.0);
        Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
    }
}

/// Returns why a command that answers the run's dialog is not carried out; `shown` is the dialog that the
/// user had read.
pub(super) fn unseen_dialog_reason(
    command: &ScreenCommand,
    shown: Option<&str>,
    state: Option<&RunState>,
    known: &DialogContext<'_>,
) -> Option<String> {
    let decides = answers_dialog(command);
    let waits = dialogs::pending_dialog(state.filter(|_| decides)?, known)?;
    (shown != Some(waits.id.as_str()))
        .then(|| format!("Look first, this was not on the screen: {}", waits.title))
}
