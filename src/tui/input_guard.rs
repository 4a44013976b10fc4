//! Whether a dialog was read before a key reaches it.
//!
//! A key that was meant for what stood there before decides nothing: what asks about an agent's call, or comes while
//! keys are pressed, takes none until it stood for a moment and none came for a moment. Refuses to read a clock: it is
//! told the time.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::Action;
use super::command::ScreenCommand;
use super::dialog::ChoiceDialog;
use super::discussion_commands::DiscussionScreenCommand;
use super::keymap::ComposerFocus;
use super::pager::TextPager;
use super::text_wrap::to_one_line;
use super::{Screen, dialogs};
use crate::domain::ids::UnixMillis;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;

/// How long a dialog about an agent's call is drawn before it takes a key, in milliseconds.
const CALL_DIALOG_DELAY_MS: i64 = 150;
/// How long another dialog is, where the last key came just before it, in milliseconds.
const DIALOG_DELAY_MS: i64 = 100;
/// How long ago that is at most, in milliseconds.
const RECENT_KEY_MS: i64 = 400;
/// How long no key came before one counts, in milliseconds; so neither a held key nor a hammered one decides.
const KEY_PAUSE_MS: i64 = 100;

/// What of the dialogs the user can have read.
#[derive(Debug, Default)]
pub(super) struct InputGuard {
    /// The dialog that waits for the user and was drawn last.
    dialog: Option<DialogArrival>,
    /// The dialog of the screen's own that came by itself, by its id.
    own_dialog: Option<String>,
    /// The view that came by itself.
    view: Option<DialogArrival>,
    /// The time, where it is told.
    now: Option<UnixMillis>,
    /// When the last key came.
    key_at: Option<UnixMillis>,
    /// When the usage limit ends whose dialog the user put aside: a line stands for it.
    put_aside: Option<UnixMillis>,
    /// Whether a key failed that was to open the composer: what was typed behind it is text.
    is_refused_text: bool,
}

#[derive(Debug)]
struct DialogArrival {
    id: String,
    at: UnixMillis,
    /// How long it has to stand, in milliseconds.
    delay_ms: i64,
    is_read: bool,
}

impl DialogArrival {
    /// From when on it takes keys, where the last one came then; nothing where it does already.
    fn ready_at(&self, key_at: Option<UnixMillis>) -> Option<UnixMillis> {
        let quiet = key_at.map_or(i64::MIN, |at| at.0 + KEY_PAUSE_MS);
        (!self.is_read).then(|| UnixMillis((self.at.0 + self.delay_ms).max(quiet)))
    }
}

impl InputGuard {
    /// From when on the dialog takes keys; nothing where it does already.
    fn ready_at(&self) -> Option<UnixMillis> {
        self.dialog.as_ref()?.ready_at(self.key_at)
    }

    fn on_time(&mut self, now: UnixMillis) {
        self.now = Some(now);
        // A clock that is put back makes nobody wait.
        self.key_at = self.key_at.map(|at| at.min(now));
        for came in [&mut self.dialog, &mut self.view].into_iter().flatten() {
            came.at = came.at.min(now);
            came.is_read |= came.ready_at(self.key_at).is_some_and(|at| at.0 <= now.0);
        }
    }

    fn note_dialog(&mut self, id: &str) {
        if self.dialog.as_ref().is_some_and(|came| came.id == id) {
            return;
        }
        self.dialog = self.new_arrival(id);
    }

    /// What comes now; where nobody tells the time nothing can be waited for.
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
                is_read: !is_call && !is_hurried,
            }
        })
    }

    /// Notes that a view came by itself.
    pub(super) fn note_view_opened(&mut self) {
        self.view = self.new_arrival("");
    }

    /// Tells whether a view that came by itself takes no keys yet.
    pub(super) fn is_view_guarded(&self) -> bool {
        self.view.as_ref().is_some_and(|came| !came.is_read)
    }

    /// Puts the dialog of a usage limit aside, whose wait the user chose.
    pub(super) fn put_limit_aside(&mut self, state: Option<&RunState>) {
        self.put_aside = state.and_then(usage_limit_end);
    }

    /// Has the dialog stand there again that was put aside.
    pub(super) fn restore_put_aside(&mut self) {
        self.put_aside = None;
    }

    /// Notes that the user opened a dialog of the screen's own.
    pub(super) fn note_user_dialog(&mut self) {
        self.own_dialog = None;
    }

    /// What was covered comes up anew.
    pub(super) fn clear_dialog(&mut self) {
        self.dialog = None;
    }

    /// Takes what is typed without a pause for a text from here on.
    fn on_text_refused(&mut self) {
        self.is_refused_text = true;
    }

    /// Tells whether a key that comes now belongs to a text that nobody takes.
    fn is_refused_text_key(&mut self) -> bool {
        self.is_refused_text = self.is_refused_text
            && match (self.now, self.key_at) {
                (Some(now), Some(key)) => now.0 - key.0 <= RECENT_KEY_MS,
                _ => false,
            };
        self.is_refused_text
    }

    /// Notes that a key came, after it was passed on.
    pub(super) fn on_key(&mut self) {
        self.key_at = self.now;
    }
}

/// When the usage limit ends that the user is asked about first; an agent's question comes before it.
fn usage_limit_end(state: &RunState) -> Option<UnixMillis> {
    match &state.current_question()?.kind {
        QuestionKind::UsageLimit { until, .. } => Some(*until),
        _ => None,
    }
}

impl Screen {
    /// What stands for the dialog that is drawn now, where the user put it aside.
    pub(super) fn put_aside_line(&self, state: Option<&RunState>) -> Option<String> {
        let state = state.filter(|state| state.approvals.is_empty())?;
        let is_its =
            self.own_dialog.is_none() && self.unfinished.is_none() && !self.is_quit_dialog_open();
        let end = usage_limit_end(state).filter(|_| is_its)?;
        let QuestionKind::UsageLimit { adapter, .. } = &state.current_question()?.kind else {
            return None;
        };
        (self.input_guard.put_aside == Some(end)).then(|| {
            let until = self.local_clock().time_with_minutes(end);
            format!(
                "{}'s usage limit: you wait until {until}",
                to_one_line(adapter)
            )
        })
    }

    /// Tells whether a key is swallowed: it was typed behind one that was to open the composer and did not.
    pub(super) fn is_key_swallowed(&mut self, key: KeyEvent) -> bool {
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        let types = matches!(
            key.code,
            KeyCode::Char(_) | KeyCode::Enter | KeyCode::Backspace
        );
        self.input_guard.is_refused_text_key()
            && is_plain
            && types
            && self.composer_focus == ComposerFocus::Unfocused
    }

    /// Notes what became of a key: where it was to open the composer and did not, a text comes behind it.
    pub(super) fn note_refused_command(&mut self, command: &ScreenCommand, actions: &[Action]) {
        let writes = match command {
            ScreenCommand::AddPlanNote(text) => text.is_empty(),
            ScreenCommand::RewritePlanLine
            | ScreenCommand::Discuss(
                DiscussionScreenCommand::DiscussFinding | DiscussionScreenCommand::Quote,
            ) => true,
            _ => false,
        };
        if writes && actions.is_empty() && self.composer_focus == ComposerFocus::Unfocused {
            self.input_guard.on_text_refused();
        }
    }

    /// Tells whether the user can have read a dialog: it was drawn, and long enough ago that a key meant for what
    /// stood there before does not reach it. What the user opened themselves takes keys at once.
    pub(super) fn is_dialog_ready(&self, sheet: &ChoiceDialog) -> bool {
        self.drawn_dialog.as_ref() == Some(&sheet.id) && !self.is_dialog_guarded(sheet)
    }

    /// Tells whether a dialog takes no keys yet.
    pub(super) fn is_dialog_guarded(&self, sheet: &ChoiceDialog) -> bool {
        let came = self.input_guard.dialog.as_ref();
        !self.is_user_dialog(sheet) && came.is_some_and(|came| came.id == sheet.id && !came.is_read)
    }

    /// Tells whether the user opened it themselves.
    fn is_user_dialog(&self, sheet: &ChoiceDialog) -> bool {
        let is_own = self
            .own_dialog
            .as_ref()
            .is_some_and(|own| own.id == sheet.id);
        is_own && self.input_guard.own_dialog.as_ref() != Some(&sheet.id)
    }

    /// Opens a dialog of the screen's own that comes by itself, or once something was looked up: it takes keys as one of
    /// the run's does, and whoever writes goes on writing.
    pub(super) fn open_guarded_dialog(&mut self, sheet: ChoiceDialog) {
        self.is_dirty = true;
        self.input_guard.clear_dialog();
        self.input_guard.own_dialog = Some(sheet.id.clone());
        self.own_dialog = Some(sheet);
        self.chosen_choice = None;
        if self.composer.is_empty() {
            self.composer_focus = ComposerFocus::Unfocused;
        }
    }

    /// The dialog that the user can have read, by its id: where it stands, or all of it in the long text.
    pub(super) fn readable_dialog_id(&self) -> Option<String> {
        let is_deaf = self.input_guard.ready_at().is_some();
        let dialog = self.pager.as_ref().and_then(TextPager::dialog_id);
        let stands = self.drawn_dialog.as_deref().filter(|_| !is_deaf);
        dialog.or(stands).map(str::to_owned)
    }

    /// Why a command that decides about what the run waits for is not carried out; `readable_dialog_id` is what its user had read.
    pub(super) fn unseen_dialog_reason(
        &self,
        command: &ScreenCommand,
        shown: Option<&str>,
        state: Option<&RunState>,
    ) -> Option<String> {
        let decides = matches!(
            command,
            ScreenCommand::Go
                | ScreenCommand::ApprovePlan
                | ScreenCommand::AllowCall
                | ScreenCommand::RejectCall(_)
                | ScreenCommand::AnswerQuestion(_)
                | ScreenCommand::Changes(_)
        );
        let waits = dialogs::pending_dialog(state.filter(|_| decides)?, &self.dialog_context())?;
        (shown != Some(waits.id.as_str()))
            .then(|| format!("look first, it was not on the screen: {}", waits.title))
    }

    /// Notes that a dialog is drawn.
    pub(super) fn note_dialog_drawn(&mut self, sheet: &ChoiceDialog) {
        self.drawn_dialog = Some(sheet.id.clone());
        if !self.is_user_dialog(sheet) {
            self.input_guard.note_dialog(&sheet.id);
        }
    }

    /// Says what time it is, before keys and clicks are passed on and before a frame.
    pub fn on_time(&mut self, now: UnixMillis) {
        self.input_guard.on_time(now);
    }

    /// The time, where it is told.
    pub(super) fn current_time(&self) -> Option<UnixMillis> {
        self.input_guard.now
    }

    /// After how long the dialog that is drawn takes keys, which a frame shows; nothing where it does already.
    pub fn guard_remaining(&self) -> Option<Duration> {
        let at = self
            .drawn_dialog
            .as_ref()
            .and_then(|_| self.input_guard.ready_at())?;
        let left = at.0.saturating_sub(self.input_guard.now?.0);
        Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
    }
}
