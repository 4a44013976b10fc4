//! Draws a run and turns keys into actions.
//!
//! Pure: it holds the state of the view and nothing else. It knows no terminal, file, clock or engine;
//! the instant comes with each frame, events and texts are handed in.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod action;
mod agents;
mod anchors;
mod anew;
mod board;
mod calls;
mod children;
mod command;
mod compare;
mod completion;
mod composer;
mod composing;
mod dialogs;
mod diff;
mod discussing;
mod documents;
mod elsewhere;
mod find;
mod footer;
mod found;
mod fuzzy;
mod header;
mod help;
mod hints;
mod keymap;
mod keys;
mod layout;
mod leaving;
mod list;
mod look;
mod looking;
mod markdown;
mod mouse;
mod opening;
mod outcome;
mod outside;
mod own_tools;
mod page;
mod pager;
mod palette;
mod panes;
mod part;
mod past;
mod perform;
mod pointing;
mod popup;
mod preview;
mod queue;
mod read_only;
mod rewrite;
mod seen;
mod sent;
mod sheet;
mod stopping;
mod submitting;
mod tabs;
mod theme;
mod todos;
mod transcript;
mod useful;
mod versions;
mod welcome;
mod words;
mod wrap;
mod writing;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ratatui::Frame;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};

pub use action::{Action, DocumentKind, QuitStep, Topic, Viewer};
pub use agents::Agent;
use board::Board;
pub use calls::{Exact, Kept};
pub use children::Stands;
use completion::Helped;
use composer::{Composer, Fitted};
use dialogs::Known;
pub use diff::Diff;
use diff::DiffView;
pub use discussing::Planned;
use documents::Texts;
pub use documents::{Documents, KeptText};
use keymap::IsWriting;
pub use keymap::{Flaw as KeyFlaw, Keymap, Wished as WishedKeys};
use layout::Places;
pub use look::{Clicks, Look};
pub use outside::Outside;
use page::Pages;
use pager::{Form, Pager};
use palette::Palette;
pub use past::Past;
pub use read_only::{Elsewhere, PastRun, ReadOnly, Rest};
pub use sent::{SENDABLE, check_sent};
use sheet::{Draft, Sheet};
use tabs::Tab;
use tabs::log::Record;
pub use tabs::status::Held;
pub use theme::{Depth, FIELDS as THEME_FIELDS, Surroundings, Theme, ThemeFlaw};
use transcript::Transcript;
pub use transcript::{LongCall, WantsEarlier};
pub use versions::ConflictVersions;
pub use welcome::{Missing, Weight, Welcome};

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
    pub branch_before: Option<String>,
    /// Set where the screen only looks.
    pub read_only: Option<ReadOnly>,
    /// What colours are shown as.
    pub theme: Theme,
    /// By how many seconds the user's time of day is ahead of UTC.
    pub utc_offset: i32,
    /// How the screen looks and listens besides.
    pub look: Look,
}

/// The view of a run.
#[derive(Debug)]
pub struct Screen {
    settings: ScreenSettings,
    transcript: Transcript,
    documents: Texts,
    record: Record,
    pages: Pages,
    tab: Tab,
    unfolded: BTreeSet<Tab>,
    composer: Composer,
    helped: Helped,
    palette: Option<Palette>,
    find: Option<find::FindLine>,
    side: panes::Side,
    focus: panes::Focus,
    voices: panes::Voices,
    findings: tabs::comments::Chosen,
    plan: tabs::plan::reading::Reading,
    /// The line of the plan that a note is being written on, from 1, and what stands there.
    noting: Option<(u32, String)>,
    writing: IsWriting,
    draft: Option<Draft>,
    refiner: Role,
    /// The chosen choice and the dialog it belongs to.
    chosen: Option<(String, usize)>,
    /// What of the tabs was on the screen.
    read: header::Read,
    /// The dialog that the last frame showed.
    seen: Option<String>,
    /// A dialog of the screen's own, which asks once more.
    own: Option<Sheet>,
    /// Dialogs that came by themselves while the user was being asked whether to stop.
    behind: Vec<Sheet>,
    /// The unfinished run that lay here at the start, in words.
    unfinished: Option<String>,
    /// The repository's instructions for agents that are asked about, each with its text.
    instructions: Option<Vec<(String, String)>>,
    /// Which instructions for agents there are, and whether they reach them.
    project_asks: String,
    pager: Option<Pager>,
    diff: Option<DiffView>,
    /// The board of a discussion; never together with a diff.
    board: Option<Board>,
    /// What is known of discussions beside the run's state.
    talks: discussing::Talks,
    preview: Option<preview::Preview>,
    sent_before: preview::Sent,
    /// The call that waits first, exactly.
    exact: Option<calls::Exact>,
    /// Since when the dialog stands there that the last frame showed.
    reading: seen::Reading,
    versions: Vec<ConflictVersions>,
    proposed_goal: Option<String>,
    /// The goal as the agent put it before that.
    goal_before: Option<String>,
    /// Whether it was told which goal is proposed, if any: what came before says no more of it.
    is_goal_known: bool,
    picked: BTreeMap<String, String>,
    /// Of its questions with several answers: those chosen so far.
    ticked: BTreeMap<String, BTreeSet<String>>,
    /// A word to the user that goes away with the next key.
    toast: Option<String>,
    /// The last word in which keys are named that can be clicked.
    naming_keys: Option<String>,
    /// Which blocks of code were copied last, and which of them, from the last one.
    copied_code: Option<(u64, usize)>,
    elsewhere: Option<elsewhere::Elsewhere>,
    /// That the running turn gives no sign of life.
    silent: Option<Silent>,
    held: Vec<Held>,
    is_uncontained: bool,
    quitting: bool,
    /// Whether the user was told how text is selected.
    drag_is_told: bool,
    /// When the run ended, once it did.
    ended_at: Option<UnixMillis>,
    /// The theme that was shown before the list of them was opened.
    theme_before: Option<Theme>,
    /// What was found before there is a run.
    welcome: Welcome,
    outside: Outside,
    /// Whether the run behind this screen waits for the user.
    is_needed_behind: bool,
    places: Places,
    dirty: bool,
}

/// A running turn that gives no sign of life.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Silent {
    since: UnixMillis,
    /// Why, as far as it is known.
    verdict: Option<String>,
}

/// What became of a text that was sent.
#[derive(Debug)]
enum Submitted {
    /// It was taken.
    Done(Vec<Action>),
    /// It stays in the composer, for this reason.
    Kept(String),
}

impl Screen {
    /// Makes the view of no run yet.
    pub fn new(settings: ScreenSettings) -> Self {
        let mut screen = Self::blank(settings);
        screen.settle();
        screen
    }

    #[expect(
        clippy::too_many_lines,
        reason = "a table: each field as it is at the start"
    )]
    fn blank(settings: ScreenSettings) -> Self {
        let writing = match settings.read_only {
            Some(_) => IsWriting::No,
            None => IsWriting::Yes,
        };
        Self {
            settings,
            transcript: Transcript::default(),
            documents: Texts::default(),
            record: Record::default(),
            pages: Pages::default(),
            tab: Tab::Chat,
            unfolded: BTreeSet::new(),
            composer: Composer::default(),
            helped: Helped::default(),
            palette: None,
            find: None,
            side: panes::Side::default(),
            focus: panes::Focus::default(),
            voices: panes::Voices::default(),
            findings: tabs::comments::Chosen::default(),
            plan: tabs::plan::reading::Reading::default(),
            noting: None,
            writing,
            draft: None,
            refiner: Role::Planner,
            chosen: None,
            read: header::Read::default(),
            seen: None,
            own: None,
            behind: Vec::new(),
            unfinished: None,
            instructions: None,
            project_asks: String::new(),
            pager: None,
            diff: None,
            board: None,
            talks: discussing::Talks::default(),
            preview: None,
            sent_before: preview::Sent::default(),
            exact: None,
            reading: seen::Reading::default(),
            versions: Vec::new(),
            proposed_goal: None,
            goal_before: None,
            is_goal_known: false,
            picked: BTreeMap::new(),
            ticked: BTreeMap::new(),
            toast: None,
            naming_keys: None,
            copied_code: None,
            elsewhere: None,
            silent: None,
            held: Vec::new(),
            is_uncontained: false,
            quitting: false,
            drag_is_told: false,
            ended_at: None,
            theme_before: None,
            welcome: Welcome::default(),
            outside: Outside::default(),
            is_needed_behind: false,
            places: Places::default(),
            dirty: true,
        }
    }

    /// Takes in what is known of the repository once it was looked at; the first frame does not wait for it.
    pub fn on_settings(&mut self, settings: ScreenSettings) {
        self.settings = ScreenSettings {
            theme: self.settings.theme.clone(),
            look: self.settings.look.clone(),
            ..settings
        };
        self.settle();
        self.dirty = true;
    }

    /// Names files and times as they are called here.
    fn settle(&mut self) {
        let repository = &self.settings.repository;
        self.transcript.name_from(repository);
        let pager = self.keymap().named("pager", IsWriting::No);
        self.transcript.name_key(&pager);
        if !repository.is_empty() {
            self.transcript.tell_time(self.clock_of_day());
        }
    }

    /// Takes a recorded event in; also those that are replayed.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        self.dirty = true;
        self.transcript.on_event(at, event);
        self.record.on_event(at, event);
        self.on_discussion(event);
        self.note_elsewhere(at, event);
        match event {
            Event::Agent { news, .. } => self.on_news(at, news),
            Event::RunCreated(_) => self.begin_anew(),
            Event::SessionLost { .. } | Event::SessionMoved { .. } => self.forget_sent(),
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
                if let Some(preview) = self.preview.take() {
                    self.sent_before.note(&preview);
                }
                self.silent = None;
                self.drop_own();
            }
            Event::TurnEnded { .. } => self.silent = None,
            Event::PhaseChanged { to, .. } => {
                // What the steps do is wanted now.
                if *to == Phase::Execute {
                    self.plan.end_comparing();
                }
                self.drop_own();
                self.ended_at = to.is_final().then_some(at);
            }
            Event::UndoAsked { .. } => self.drop_own(),
            Event::QuestionAsked { .. } => {
                self.preview = None;
                self.versions.clear();
                self.forget_picked();
            }
            Event::QuestionAnswered { .. } | Event::AgentQuestionWithdrawn { .. } => {
                self.forget_picked()
            }
            _ => {}
        }
    }

    fn on_news(&mut self, at: UnixMillis, news: &AgentActivity) {
        self.silent = match news {
            AgentActivity::Silent { seconds, verdict } => {
                let millis = i64::try_from(*seconds).unwrap_or(0).saturating_mul(1_000);
                Some(Silent {
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
        self.dirty = true;
        if let TextDelta::Child { session, text } = &delta {
            return self.on_live(session, text);
        }
        self.silent = None;
        self.transcript.on_delta(delta);
    }

    /// Takes the documents as they lie on disk now.
    pub fn on_documents(&mut self, documents: Documents) {
        self.dirty |= self.documents.take(&documents);
        let documents = [
            (Tab::Plan, &self.documents.plan),
            (Tab::Comments, &self.documents.comments),
        ];
        for (tab, document) in documents {
            // One that is gone is nothing new.
            if document.text.is_none() {
                self.read.note(tab, document.revision);
            }
        }
    }

    /// Shows something worth knowing, quietly.
    pub fn on_notice(&mut self, text: &str) {
        self.dirty = true;
        self.transcript.notice(text);
        self.toast = Some(wrap::one_line(text));
    }

    /// Takes what the turn at the gate will send; comes after the event that asks for its release.
    pub fn on_preview(&mut self, prompt: &str) {
        self.dirty = true;
        self.preview = Some(self.sent_before.preview(prompt));
    }

    /// Takes the texts that the open question is about; comes after the event that asks it.
    pub fn on_versions(&mut self, versions: Vec<ConflictVersions>) {
        self.dirty = true;
        self.versions = versions;
    }

    /// Takes what came of a look at changes, and what else can be looked at. Whoever closed the view
    /// in the meantime is not bothered with it.
    pub fn on_diff(&mut self, scope: DiffScope, scopes: Vec<DiffScope>, diff: Diff) {
        if let Some(view) = &mut self.diff {
            self.dirty = true;
            view.take(scope, scopes, diff);
        }
    }

    /// Asks whether steps shall be undone or redone; the answer is [`Event::UndoAsked`].
    pub fn on_undo(&mut self, offers: &[ReversalPreview], phase: Phase) {
        self.dirty = true;
        self.toast = None;
        match dialogs::undo::sheet(offers, phase) {
            Some(sheet) => self.bring(sheet),
            None => self.drop_own(),
        }
    }

    /// Shows a long text of the program, such as the list of finished runs.
    pub fn on_text(&mut self, title: &str, text: &str) {
        self.dirty = true;
        self.open(Pager::new(title, text, Form::Plain));
    }

    /// Takes what holds the CLIs.
    pub fn on_held(&mut self, held: Vec<Held>) {
        self.dirty = true;
        self.held = held;
    }

    /// Takes whether an agent runs with nothing to hold it; the header says so.
    pub fn on_uncontained(&mut self, is_uncontained: bool) {
        self.dirty = true;
        self.is_uncontained = is_uncontained;
    }

    /// Asks whether the unfinished run that `summary` describes goes on; the answer is
    /// [`Action::Resume`] or [`Action::Archive`].
    pub fn on_unfinished(&mut self, summary: &str) {
        self.dirty = true;
        self.unfinished = Some(summary.to_owned());
        self.writing = IsWriting::No;
    }

    /// Asks whether instructions of the repository, each with its text, reach agents; the answer is
    /// [`Action::Instructions`].
    pub fn on_instructions(&mut self, files: Vec<(String, String)>) {
        self.dirty = true;
        self.toast = None;
        self.uncover();
        self.instructions = Some(files);
        self.writing = IsWriting::No;
    }

    /// Takes which instructions for agents there are, and whether they reach them.
    pub fn on_project_asks(&mut self, words: String) {
        self.dirty = true;
        self.project_asks = words;
    }

    /// Lets whoever takes a run up answer what it asks: the dialog has the keys, unless something is being written.
    pub fn go_to_question(&mut self, state: Option<&RunState>) {
        if self.composer.is_empty() && self.draft.is_none() && self.waiting(state).is_some() {
            self.writing = IsWriting::No;
        }
    }

    /// Turns a key into what the user asks for; keys of the view itself give nothing.
    pub fn on_key(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        self.dirty = true;
        let actions = self.key(key, state);
        self.reading.on_key();
        self.note_begun(&actions);
        actions
    }

    /// Takes pasted text into the composer, which it focuses; a paste never triggers anything.
    pub fn on_paste(&mut self, text: &str) {
        self.dirty = true;
        self.toast = None;
        if self.pasted_into_palette(text) || self.pasted_into_find(text) {
            return;
        }
        if let Some(why) = self.read_only_word() {
            self.refuse(&why);
            return;
        }
        self.begin_writing();
        self.end_offer();
        if let Fitted::Not { n_bytes } = self.composer.on_paste(text) {
            self.refuse(&submitting::too_much(Some(n_bytes)));
        }
    }

    /// Takes what the user sent before this program began, the oldest first; `↑` calls it back.
    pub fn on_written(&mut self, texts: Vec<String>) {
        self.composer.remember(texts);
    }

    /// What the user sent since this was asked last, to be kept for the next time.
    pub fn written(&mut self) -> Vec<String> {
        self.composer.tell()
    }

    /// Turns a click or the wheel into what the user asks for.
    pub fn on_mouse(&mut self, event: MouseEvent, state: Option<&RunState>) -> Vec<Action> {
        self.dirty = true;
        let actions = self.mouse(event, state);
        self.note_begun(&actions);
        actions
    }

    /// Draws one frame; the screen is clean after it.
    pub fn draw(&mut self, frame: &mut Frame, state: Option<&RunState>, now: UnixMillis) {
        self.leave_themes();
        self.bring_what_waited();
        self.draw_all(frame, state, now);
        self.take_hints(frame.buffer_mut());
        self.settings.theme.paint(frame.buffer_mut());
        self.dirty = false;
    }

    /// How many times what a tab shows has changed; always 0 for tabs that change with every event.
    fn changes(&self, tab: Tab) -> u64 {
        match tab {
            Tab::Chat => self.transcript.n_told(),
            Tab::Plan => self.documents.plan.revision,
            Tab::Comments => self.documents.comments.revision,
            Tab::Log | Tab::Status => 0,
        }
    }

    /// Shows a theme.
    pub fn on_theme(&mut self, theme: Theme) {
        self.settings.theme = theme;
        self.dirty = true;
    }

    /// The theme that is shown, which the user may have chosen.
    pub fn theme(&self) -> Theme {
        self.settings.theme.clone()
    }

    /// Tells whether a frame is needed.
    pub fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Makes the next frame needed, after a resize or a return to the terminal.
    pub fn touch(&mut self) {
        self.dirty = true;
    }

    /// The dialog that waits: the screen's own before the run's.
    fn waiting(&self, state: Option<&RunState>) -> Option<Sheet> {
        if let Some(own) = self.own_now(state) {
            return Some(own);
        }
        // What the run waits for is for whoever works on it.
        if self.is_read_only() {
            return None;
        }
        if let Some(files) = &self.instructions {
            return Some(dialogs::instructions::sheet(files));
        }
        if let Some(summary) = &self.unfinished {
            return Some(dialogs::unfinished::sheet(summary));
        }
        dialogs::waiting(state?, &self.known())
    }

    fn known(&self) -> Known<'_> {
        Known {
            preview: self.preview.as_ref(),
            exact: self.exact.as_ref(),
            versions: &self.versions,
            proposed_goal: self.proposed_goal.as_deref(),
            goal_before: self.goal_before.as_deref(),
            picked: &self.picked,
            ticked: &self.ticked,
            noting: self.noting.as_ref(),
            texts: &self.documents,
            clock: self.clock_of_day(),
            confirm_enter: self.settings.confirm_enter,
            keymap: self.keymap(),
        }
    }

    /// The user's time of day.
    fn clock_of_day(&self) -> words::Clock {
        words::Clock(self.settings.utc_offset)
    }

    fn chosen_of(&self, sheet: &Sheet) -> usize {
        match &self.chosen {
            Some((id, chosen)) if *id == sheet.id => {
                (*chosen).min(sheet.choices.len().saturating_sub(1))
            }
            Some(_) | None => sheet.first,
        }
    }
}
