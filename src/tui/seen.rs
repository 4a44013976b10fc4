//! Whether a dialog was read before a key reaches it.
//!
//! A key that was meant for what stood there before decides nothing: what asks about an agent's call, or comes while
//! keys are pressed, takes none until it stood for a moment and none came for a moment. Refuses to read a clock: it is
//! told the time.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::Action;
use super::command::Command;
use super::discussing::Wish;
use super::keymap::IsWriting;
use super::pager::Pager;
use super::sheet::Sheet;
use super::wrap::one_line;
use super::{Screen, dialogs};
use crate::domain::ids::UnixMillis;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;

/// How long a dialog about an agent's call is drawn before it takes a key, in milliseconds.
const CALL_MS: i64 = 150;
/// How long another dialog is, where the last key came just before it, in milliseconds.
const OTHER_MS: i64 = 100;
/// How long ago that is at most, in milliseconds.
const JUST_MS: i64 = 400;
/// How long no key came before one counts, in milliseconds; so neither a held key nor a hammered one decides.
const QUIET_MS: i64 = 100;

/// What of the dialogs the user can have read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The dialog that waits for the user and was drawn last.
    dialog: Option<Came>,
    /// The dialog of the screen's own that came by itself, by its id.
    brought: Option<String>,
    /// The view that came by itself.
    view: Option<Came>,
    /// The time, where it is told.
    now: Option<UnixMillis>,
    /// When the last key came.
    key_at: Option<UnixMillis>,
    /// When the usage limit ends whose dialog the user put aside: a line stands for it.
    put_aside: Option<UnixMillis>,
    /// Whether a key failed that was to open the composer: what was typed behind it is text.
    is_text: bool,
}

#[derive(Debug)]
struct Came {
    id: String,
    at: UnixMillis,
    /// How long it has to stand, in milliseconds.
    stands: i64,
    is_read: bool,
}

impl Came {
    /// From when on it takes keys, where the last one came then; nothing where it does already.
    fn awake_at(&self, key_at: Option<UnixMillis>) -> Option<UnixMillis> {
        let quiet = key_at.map_or(i64::MIN, |at| at.0 + QUIET_MS);
        (!self.is_read).then(|| UnixMillis((self.at.0 + self.stands).max(quiet)))
    }
}

impl Reading {
    /// From when on the dialog takes keys; nothing where it does already.
    fn awake_at(&self) -> Option<UnixMillis> {
        self.dialog.as_ref()?.awake_at(self.key_at)
    }

    fn on_time(&mut self, now: UnixMillis) {
        self.now = Some(now);
        // A clock that is put back makes nobody wait.
        self.key_at = self.key_at.map(|at| at.min(now));
        for came in [&mut self.dialog, &mut self.view].into_iter().flatten() {
            came.at = came.at.min(now);
            came.is_read |= came.awake_at(self.key_at).is_some_and(|at| at.0 <= now.0);
        }
    }

    fn note(&mut self, id: &str) {
        if self.dialog.as_ref().is_some_and(|came| came.id == id) {
            return;
        }
        self.dialog = self.came(id);
    }

    /// What comes now; where nobody tells the time nothing can be waited for.
    fn came(&self, id: &str) -> Option<Came> {
        let is_call = id.starts_with(dialogs::approval::ID);
        self.now.map(|at| {
            let is_hurried = self.key_at.is_some_and(|key| at.0 - key.0 <= JUST_MS);
            Came {
                id: id.to_owned(),
                at,
                stands: if is_call { CALL_MS } else { OTHER_MS },
                is_read: !is_call && !is_hurried,
            }
        })
    }

    /// Notes that a view came by itself.
    pub(super) fn note_view(&mut self) {
        self.view = self.came("");
    }

    /// Tells whether a view that came by itself takes no keys yet.
    pub(super) fn is_view_deaf(&self) -> bool {
        self.view.as_ref().is_some_and(|came| !came.is_read)
    }

    /// Puts the dialog of a usage limit aside, whose wait the user chose.
    pub(super) fn put_aside(&mut self, state: Option<&RunState>) {
        self.put_aside = state.and_then(end_of_limit);
    }

    /// Has the dialog stand there again that was put aside.
    pub(super) fn take_up(&mut self) {
        self.put_aside = None;
    }

    /// Notes that the user opened a dialog of the screen's own.
    pub(super) fn note_opened(&mut self) {
        self.brought = None;
    }

    /// What was covered comes up anew.
    pub(super) fn forget(&mut self) {
        self.dialog = None;
    }

    /// Takes what is typed without a pause for a text from here on.
    fn on_text_refused(&mut self) {
        self.is_text = true;
    }

    /// Tells whether a key that comes now belongs to a text that nobody takes.
    fn is_of_text(&mut self) -> bool {
        self.is_text = self.is_text
            && match (self.now, self.key_at) {
                (Some(now), Some(key)) => now.0 - key.0 <= JUST_MS,
                _ => false,
            };
        self.is_text
    }

    /// Notes that a key came, after it was passed on.
    pub(super) fn on_key(&mut self) {
        self.key_at = self.now;
    }
}

/// When the usage limit ends that the user is asked about first; an agent's question comes before it.
fn end_of_limit(state: &RunState) -> Option<UnixMillis> {
    match &state.current_question()?.kind {
        QuestionKind::UsageLimit { until, .. } => Some(*until),
        _ => None,
    }
}

impl Screen {
    /// What stands for the dialog that is drawn now, where the user put it aside.
    pub(super) fn put_aside(&self, state: Option<&RunState>) -> Option<String> {
        let state = state.filter(|state| state.approvals.is_empty())?;
        let is_its = self.own.is_none() && self.unfinished.is_none() && !self.is_asked_to_leave();
        let end = end_of_limit(state).filter(|_| is_its)?;
        let QuestionKind::UsageLimit { adapter, .. } = &state.current_question()?.kind else {
            return None;
        };
        (self.reading.put_aside == Some(end)).then(|| {
            let until = self.clock_of_day().minute(end);
            format!(
                "{}'s usage limit: you wait until {until}",
                one_line(adapter)
            )
        })
    }

    /// Tells whether a key is swallowed: it was typed behind one that was to open the composer and did not.
    pub(super) fn is_swallowed(&mut self, key: KeyEvent) -> bool {
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        let types = matches!(
            key.code,
            KeyCode::Char(_) | KeyCode::Enter | KeyCode::Backspace
        );
        self.reading.is_of_text() && is_plain && types && self.writing == IsWriting::No
    }

    /// Notes what became of a key: where it was to open the composer and did not, a text comes behind it.
    pub(super) fn note_refused(&mut self, command: &Command, actions: &[Action]) {
        let writes = match command {
            Command::Note(text) => text.is_empty(),
            Command::Rewrite | Command::Discuss(Wish::Finding | Wish::Quote) => true,
            _ => false,
        };
        if writes && actions.is_empty() && self.writing == IsWriting::No {
            self.reading.on_text_refused();
        }
    }

    /// Tells whether the user can have read a dialog: it was drawn, and long enough ago that a key meant for what
    /// stood there before does not reach it. What the user opened themselves takes keys at once.
    pub(super) fn is_seen(&self, sheet: &Sheet) -> bool {
        self.seen.as_ref() == Some(&sheet.id) && !self.is_deaf(sheet)
    }

    /// Tells whether a dialog takes no keys yet.
    pub(super) fn is_deaf(&self, sheet: &Sheet) -> bool {
        let came = self.reading.dialog.as_ref();
        !self.is_own(sheet) && came.is_some_and(|came| came.id == sheet.id && !came.is_read)
    }

    /// Tells whether the user opened it themselves.
    fn is_own(&self, sheet: &Sheet) -> bool {
        let is_own = self.own.as_ref().is_some_and(|own| own.id == sheet.id);
        is_own && self.reading.brought.as_ref() != Some(&sheet.id)
    }

    /// Opens a dialog of the screen's own that comes by itself, or once something was looked up: it takes keys as one of
    /// the run's does, and whoever writes goes on writing.
    pub(super) fn bring_now(&mut self, sheet: Sheet) {
        self.dirty = true;
        self.reading.forget();
        self.reading.brought = Some(sheet.id.clone());
        self.own = Some(sheet);
        self.chosen = None;
        if self.composer.is_empty() {
            self.writing = IsWriting::No;
        }
    }

    /// The dialog that the user can have read, by its id: where it stands, or all of it in the long text.
    pub(super) fn shown(&self) -> Option<String> {
        let is_deaf = self.reading.awake_at().is_some();
        let dialog = self.pager.as_ref().and_then(Pager::dialog);
        let stands = self.seen.as_deref().filter(|_| !is_deaf);
        dialog.or(stands).map(str::to_owned)
    }

    /// Why a command that decides about what the run waits for is not carried out; `shown` is what its user had read.
    pub(super) fn unseen_word(
        &self,
        command: &Command,
        shown: Option<&str>,
        state: Option<&RunState>,
    ) -> Option<String> {
        let decides = matches!(
            command,
            Command::Go
                | Command::Approve
                | Command::Allow
                | Command::Reject(_)
                | Command::Answer(_)
                | Command::Changes(_)
        );
        let waits = dialogs::waiting(state.filter(|_| decides)?, &self.known())?;
        (shown != Some(waits.id.as_str()))
            .then(|| format!("look first, it was not on the screen: {}", waits.title))
    }

    /// Notes that a dialog is drawn.
    pub(super) fn note_seen(&mut self, sheet: &Sheet) {
        self.seen = Some(sheet.id.clone());
        if !self.is_own(sheet) {
            self.reading.note(&sheet.id);
        }
    }

    /// Says what time it is, before keys and clicks are passed on and before a frame.
    pub fn on_time(&mut self, now: UnixMillis) {
        self.reading.on_time(now);
    }

    /// The time, where it is told.
    pub(super) fn time(&self) -> Option<UnixMillis> {
        self.reading.now
    }

    /// After how long the dialog that is drawn takes keys, which a frame shows; nothing where it does already.
    pub fn deaf_for(&self) -> Option<Duration> {
        let at = self.seen.as_ref().and_then(|_| self.reading.awake_at())?;
        let left = at.0.saturating_sub(self.reading.now?.0);
        Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
    }
}
