//! Where everything stands, for any size; and the order in which it is drawn.
//!
//! With too little room the header goes first, then the composer's border, then the tab: what waits for
//! the user stays.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::hints::{self, Hints};
use super::keymap::IsWriting;
use super::pager::Pager;
use super::sheet::{FromComposer, Keys, Sheet};
use super::tabs::{self, Tab};
use super::theme;
use super::wrap::{cut, width};
use super::{Screen, footer, header, useful};
use crate::domain::diff_scope::DiffScope;
use crate::domain::ids::UnixMillis;
use crate::domain::question::QuestionKind;
use crate::domain::run::RunState;

/// How many columns a page takes at most.
const WIDEST: u16 = 112;
/// How many rows of what is read stay beside a dialog.
const LEAST_READ: usize = 5;
/// Below how many rows a dialog leaves its choices out while what it asked for is written, and makes place for a chat
/// that is scrolled back.
const LOW: u16 = 16;

/// Where things stand in the last frame, for the mouse.
#[derive(Debug, Default)]
pub struct Places {
    /// The tab, or the long text in its place.
    pub body: Rect,
    /// The second pane, with what it shows.
    pub side: Option<(Rect, Tab)>,
    /// The composer.
    pub composer: Rect,
    /// Each tab's title.
    pub tabs: Vec<(Rect, Tab)>,
    /// The dialog.
    pub sheet: Rect,
    /// Whether only a line of it is shown, which names no choice and answers nothing.
    pub is_sheet_folded: bool,
    /// Each choice of the dialog.
    pub choices: Vec<(Rect, usize)>,
    /// The palette and its rows, where it is open.
    pub palette: Option<(Rect, Vec<(Rect, usize)>)>,
    /// What is offered while the user writes.
    pub offer: Vec<(Rect, usize)>,
    /// Each diff of the strip.
    pub strip: Vec<(Rect, DiffScope)>,
    /// The runs of before on the first page, by their places among them.
    pub runs: Vec<(Rect, usize)>,
    /// The keys of the footer.
    pub buttons: footer::Buttons,
    /// What names a key anywhere else.
    pub hints: Hints,
    /// That the user is waited for, in the header.
    pub need: Rect,
}

/// Takes rows from the bottom of an area, as many as there are.
pub(super) fn take_below(area: &mut Rect, rows: usize) -> Rect {
    let rows = u16::try_from(rows).unwrap_or(u16::MAX).min(area.height);
    area.height -= rows;
    Rect {
        y: area.y + area.height,
        height: rows,
        ..*area
    }
}

/// Takes rows from the top of an area, as many as there are.
pub(super) fn take_above(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    let taken = Rect {
        height: rows,
        ..*area
    };
    area.y += rows;
    area.height -= rows;
    taken
}

impl Screen {
    pub(super) fn draw_all(
        &mut self,
        frame: &mut Frame,
        state: Option<&RunState>,
        now: UnixMillis,
    ) {
        let mut rest = frame.area();
        let waiting = self.waiting(state);
        self.tell_end(state);
        self.note_outside(waiting.as_ref(), state);
        self.close_stale(waiting.as_ref());
        // A diff, a board and a long text have the whole height but for what waits, which is named there.
        let is_diff = self.diff.is_some() && self.pager.is_none();
        let is_whole = is_diff || self.is_board();
        let is_beside = !is_whole && self.pager.is_none();
        let sheet = waiting.clone().filter(|_| is_beside);
        let reads_on = self.reads_on(frame.area().height, state);
        let sheet = sheet.map(|sheet| self.fitted(sheet, (reads_on, frame.area()), state));
        let put_aside = self.put_aside(state).filter(|_| sheet.is_some());
        let head = take_above(&mut rest, head_rows(frame.area().height));
        let foot = take_below(&mut rest, footer::n_rows(self, frame.area()));
        let n_rows = match self.find {
            Some(_) => 1,
            None if is_whole => 0,
            None => self.composer_rows(rest, sheet.as_ref()),
        };
        let composer = take_below(&mut rest, n_rows);
        let sheet_area = match &sheet {
            Some(_) if put_aside.is_some() => take_below(&mut rest, 2),
            Some(sheet) => {
                let n_rows = sheet_rows(sheet, rest, reads_on);
                take_below(&mut rest, n_rows)
            }
            None => Rect::default(),
        };
        self.places = Places {
            body: rest,
            composer,
            sheet: sheet_area,
            ..Places::default()
        };
        let head = header::draw(self, frame, head, state, now);
        (self.places.tabs, self.places.need) = (head.tabs, head.need);
        match is_whole {
            true if is_diff => self.draw_diff(frame, rest, state, waiting.as_ref()),
            true => self.draw_board(frame, inset(rest), (state, waiting.as_ref()), now),
            false => {
                let body = self.draw_side(frame, rest, state, now);
                self.places.body = body;
                self.draw_body(frame, body, (state, waiting.as_ref()), now);
                self.read.note(self.tab, self.changes(self.tab));
            }
        }
        self.seen = None;
        if let Some(sheet) = &sheet {
            let is_folded = put_aside.is_some()
                || reads_on == ReadsOn::Yes && !is_told(state) && sheet_area.height <= 2;
            self.places.is_sheet_folded = is_folded && !sheet_area.is_empty();
            self.draw_seen(frame, sheet_area, (sheet, put_aside.as_deref()));
        }
        let sheet = sheet.filter(|_| put_aside.is_none());
        self.draw_foot(frame, (composer, foot), (state, sheet.as_ref()));
        self.draw_palette(frame, state, waiting.as_ref());
    }

    /// Draws a dialog, or a line that it waits; only the dialog can have been read.
    fn draw_seen(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        (sheet, put_aside): (&Sheet, Option<&str>),
    ) {
        if self.places.is_sheet_folded {
            let (title, style) = match put_aside {
                Some(line) => (format!("· {line}"), theme::PLAIN),
                None => (format!("? {}", sheet.title), theme::NEEDS_YOU),
            };
            let lines = vec![
                Line::styled(cut(&title, usize::from(area.width)), style),
                Line::styled("  Enter shows it", theme::QUIET),
            ];
            frame.render_widget(Paragraph::new(lines), area);
            return;
        }
        if !area.is_empty() {
            self.note_seen(sheet);
        }
        self.draw_sheet(frame, area, sheet);
    }

    /// A dialog without what the window has no place for now.
    fn fitted(
        &self,
        mut sheet: Sheet,
        (reads_on, window): (ReadsOn, Rect),
        state: Option<&RunState>,
    ) -> Sheet {
        if self.tab == Tab::Plan || self.beside(window.width, state) == Some(Tab::Plan) {
            sheet = sheet.beside_the_plan();
        }
        let is_gate = useful::asked(state).is_some_and(is_gate);
        // A prompt is read where it is asked about first.
        if reads_on == ReadsOn::Yes && is_gate {
            sheet = sheet.brief();
        }
        match self.writes_for_it() && window.height < LOW {
            true => sheet.without_choices(),
            false => sheet,
        }
    }

    /// Tells whether the user reads a tab beside the dialog; a call is read before anything else, but in a low window,
    /// where nothing else could be. There whoever scrolls the chat up reads it.
    fn reads_on(&self, height: u16, state: Option<&RunState>) -> ReadsOn {
        let is_first = is_call(state) && height >= LOW;
        let reads = match self.tab {
            Tab::Chat => height < LOW && !self.transcript.follows(),
            _ => true,
        };
        match reads && self.own.is_none() && !is_first {
            true => ReadsOn::Yes,
            false => ReadsOn::No,
        }
    }

    /// Tells whether a text is written that a dialog asked for: its choices take no keys meanwhile.
    fn writes_for_it(&self) -> bool {
        self.writing == IsWriting::Yes && self.draft.is_some()
    }

    fn draw_sheet(&mut self, frame: &mut Frame, area: Rect, sheet: &Sheet) {
        let mut view = self.keymap().named("view", IsWriting::No);
        if self.writing == IsWriting::Yes {
            // The composer has the keys: it would take this one as a letter.
            view = format!("{} {view}", self.keymap().named("close", IsWriting::No));
        }
        if self.is_deaf(sheet) {
            return sheet.draw_deaf(frame, area, &view);
        }
        let chosen = self.chosen_of(sheet);
        let keys = self.keys_of(sheet, chosen);
        let enter = self.enter_in_words(sheet, keys, usize::from(area.width));
        self.places.choices = sheet.draw(frame, area, keys, (&enter, &view));
    }

    /// Who has the keys while a dialog stands of which this choice is pointed at.
    pub(super) fn keys_of(&self, sheet: &Sheet, chosen: usize) -> Keys {
        let is_empty = self.draft.is_none() && self.composer.is_empty();
        match (self.writing, sheet.from_composer) {
            (IsWriting::No, _) => Keys::Here(chosen),
            (IsWriting::Yes, FromComposer::Yes) if is_empty => Keys::EnterOnly(chosen),
            (IsWriting::Yes, _) => Keys::Below(chosen),
        }
    }

    /// What Enter does now, seen from the dialog; in short where it is narrow.
    fn enter_in_words(&self, sheet: &Sheet, keys: Keys, columns: usize) -> String {
        let leave = self.keymap().named("leave", IsWriting::Yes);
        let (long, short) = match keys {
            Keys::Here(at) | Keys::EnterOnly(at) => {
                let label = sheet.choices.get(at).map_or("", |c| c.label.as_str());
                let left = columns.saturating_sub(6 + width("Enter: "));
                let short = format!("Enter: {}", in_short(label, left));
                (format!("Enter: {label}"), short)
            }
            Keys::Below(_) | Keys::Nobody if self.draft.is_some() => {
                let back = format!("you write below · {leave} comes back here");
                (back.clone(), back)
            }
            Keys::Below(_) | Keys::Nobody if self.composer.is_empty() => (
                "you write below · Enter alone comes here to choose".to_owned(),
                "Enter alone: choose here".to_owned(),
            ),
            Keys::Below(_) | Keys::Nobody => (
                format!("you write below · {leave} comes here to choose"),
                format!("{leave}: choose here"),
            ),
        };
        match width(&long) <= columns.saturating_sub(6) {
            true => long,
            false => short,
        }
    }

    /// Closes a long text whose dialog is answered.
    fn close_stale(&mut self, waiting: Option<&Sheet>) {
        let of = self.pager.as_ref().and_then(Pager::dialog);
        if of.is_some_and(|of| waiting.is_none_or(|sheet| sheet.id != of)) {
            self.pager = None;
        }
        self.close_stale_find();
    }

    fn draw_body(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        (state, waiting): (Option<&RunState>, Option<&Sheet>),
        now: UnixMillis,
    ) {
        if area.is_empty() {
            return;
        }
        if let Some(pager) = &mut self.pager {
            let mut area = inset(area);
            let keymap = &self.settings.look.keymap;
            // What the text is of has its title already.
            let other = waiting.filter(|sheet| pager.dialog() != Some(sheet.id.as_str()));
            if let Some(sheet) = other.filter(|_| area.height > 2) {
                let line = take_above(&mut area, 1);
                let back = keymap.named("close", IsWriting::No);
                let waits = waits_behind(&sheet.title, &back, usize::from(line.width));
                frame.render_widget(waits, line);
            }
            pager.draw(frame, area, keymap);
            return;
        }
        self.draw_tab(self.tab, frame, area, (state, now));
    }

    /// What of an area the page of a tab takes.
    fn of_page(&self, tab: Tab, area: Rect) -> Rect {
        match tab {
            Tab::Chat => area,
            Tab::Plan if self.plan.is_beside() => area,
            // It keeps its rows short itself.
            Tab::Log => Rect {
                width: area.width.saturating_sub(1),
                ..area
            },
            Tab::Plan | Tab::Comments | Tab::Status => readable(area),
        }
    }

    /// Draws a tab; of two panes only the one that has the keys names any.
    pub(super) fn draw_tab(
        &mut self,
        tab: Tab,
        frame: &mut Frame,
        area: Rect,
        (state, now): (Option<&RunState>, UnixMillis),
    ) {
        let find = self.looked_for(tab);
        let clock = self.clock_of_day();
        let area = self.of_page(tab, area);
        let has_keys = self.tab_at_hand() == tab;
        let keymap = &self.settings.look.keymap;
        let interrupt = keymap.named("interrupt", IsWriting::Yes);
        let page = self.pages.of(tab);
        page.name_keys(Some(keymap).filter(|_| has_keys));
        match tab {
            Tab::Chat => {
                let (area, empty) = match (self.is_read_only(), state) {
                    (false, None) if self.goes_on_from_a_run() => (area, ""),
                    (false, None) => (self.draw_welcome(frame, area), ""),
                    (true, None) => (area, "Nothing was recorded here yet."),
                    (_, Some(_)) => (area, "Nothing was said yet."),
                };
                let keymap = &self.settings.look.keymap;
                let keys = has_keys
                    .then(|| ["top", "end"].map(|action| keymap.named(action, IsWriting::No)));
                let texts = (empty, find.as_str(), keys);
                tabs::chat::draw(&mut self.transcript, frame, area, texts, self.voices);
            }
            Tab::Plan => {
                let read = (&self.documents, &self.plan, keymap);
                tabs::plan::draw(page, read, frame, area, (state, now));
            }
            Tab::Comments => {
                let about = (state, &self.findings, clock);
                tabs::comments::draw(page, &self.documents, frame, area, about);
            }
            Tab::Log => {
                let about = tabs::log::About {
                    log: &self.documents.log,
                    find: &find,
                    state,
                    clock,
                    keymap,
                    repository: &self.settings.repository,
                };
                tabs::log::draw(page, &mut self.record, frame, area, about);
            }
            Tab::Status => {
                let about = tabs::status::About {
                    state,
                    silent: self.silent.as_ref(),
                    held: &self.held,
                    project_asks: &self.project_asks,
                    clock,
                    interrupt: &interrupt,
                };
                tabs::status::draw(page, frame, area, about, now);
            }
        }
    }
}

/// What needs the user behind what lies over it, with the key that goes there.
pub(super) fn waits_behind(what: &str, back: &str, columns: usize) -> Line<'static> {
    let hint = format!(" ({back} goes there)");
    let what = cut(&format!("? {what}"), columns.saturating_sub(width(&hint)));
    let mut spans = vec![Span::styled(what, theme::NEEDS_YOU)];
    spans.extend(hints::spans(&hint, theme::NEEDS_YOU));
    Line::from(spans)
}

/// Tells whether an agent's call waits.
fn is_call(state: Option<&RunState>) -> bool {
    state.is_some_and(|state| !state.approvals.is_empty())
}

/// Tells whether the title of a dialog says what is asked, as it does of a turn that waits: of two rows nothing else would.
fn is_told(state: Option<&RunState>) -> bool {
    useful::asked(state).is_some_and(is_gate) && !is_call(state)
}

/// Tells whether a turn that waits is asked about.
fn is_gate(kind: &QuestionKind) -> bool {
    matches!(kind, QuestionKind::Gate { .. })
}

/// An area with a column free at either side.
pub(super) fn inset(area: Rect) -> Rect {
    let free = u16::from(area.width > 2);
    Rect {
        x: area.x + free,
        width: area.width - 2 * free,
        ..area
    }
}

/// What of an area a page takes: a column stays free at the right, and longer lines are hard to read.
fn readable(area: Rect) -> Rect {
    Rect {
        width: area.width.saturating_sub(1).min(WIDEST),
        ..area
    }
}

/// What a choice does, without how; what stands behind a comma is part of it where there is room.
fn in_short(label: &str, columns: usize) -> &str {
    let first = |signs: &[char]| label.split(signs).next().unwrap_or(label).trim_end();
    let whole = first(&[':', ';', '(', '…']);
    match width(whole) <= columns {
        true => whole,
        false => first(&[':', ';', '(', '…', ',']),
    }
}

/// How many rows the header has in a window of this height.
fn head_rows(height: u16) -> u16 {
    match height {
        0..6 => 0,
        6..9 => 1,
        9..14 => 2,
        14.. => 3,
    }
}

/// Whether the user reads a tab beside the dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadsOn {
    Yes,
    No,
}

/// A dialog gets what it wants but for a few rows of the tab, for two of five where that is read, and at least
/// its choices, but where that would hide what is read.
fn sheet_rows(sheet: &Sheet, rest: Rect, reads_on: ReadsOn) -> usize {
    let height = usize::from(rest.height);
    let wanted = sheet.n_rows(usize::from(rest.width));
    let for_body = match (height, reads_on) {
        (0..12, _) => 0,
        (_, ReadsOn::Yes) => height * 2 / 5,
        (12..20, ReadsOn::No) => 2,
        (20.., ReadsOn::No) => height / 4,
    };
    let frame_and_line = 2 + usize::from(!sheet.body.is_empty());
    let least = (sheet.choices.len() + frame_and_line).min(height);
    let rows = wanted.min(height.saturating_sub(for_body)).max(least);
    // Where next to nothing would be left of what is read, the title and what Enter does are enough.
    match reads_on == ReadsOn::Yes && height < rows + LEAST_READ {
        true => 2.min(height),
        false => rows,
    }
}
