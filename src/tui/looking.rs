//! What only moves or opens the view: tabs, scrolling, the block that is pointed at, the second pane.
//!
//! Refuses to make events: nothing here changes the run.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Screen;
use super::action::{Action, Viewer};
use super::anchors;
use super::command::Move;
use super::diff::Does;
use super::documents;
use super::keymap::IsWriting;
use super::page::Mark;
use super::sheet::Draft;
use super::tabs::{self, Tab};
use super::transcript::Along;
use super::wrap::one_line;
use crate::domain::event::Event;
use crate::domain::findings::Finding;
use crate::domain::plan_note::PlanNote;
use crate::domain::run::{RunState, notes_blocker};
use crate::text::{fenced_block, pluralize};

/// How many lines a page of the chat is where its height is not known.
const PAGE: isize = 10;
impl Screen {
    /// Copies what is in front.
    pub(super) fn copy(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.is_board() {
            return self.copy_of_board(state);
        }
        if let (Some(view), None) = (&self.diff, &self.pager) {
            let Some(text) = view.text() else {
                return self.refuse("there is no diff here to be copied");
            };
            let lines = pluralize(text.lines().count(), "line");
            self.toast = Some(format!("sent the diff to the clipboard, {lines}"));
            return vec![Action::Copy(text)];
        }
        let in_chat = self.tab_at_hand() == Tab::Chat && self.pager.is_none();
        let discussion = self.transcript.picked_discussion().filter(|_| in_chat);
        if let Some(id) = discussion.cloned() {
            return self.copy_result(&id, state);
        }
        match self.text_in_front(state) {
            Ok(text) => {
                self.toast = Some(format!("sent to the clipboard: {}", one_line(&text)));
                vec![Action::Copy(text)]
            }
            Err(why) => self.refuse_naming_keys(&why),
        }
    }

    /// The text of what is in front: a long text that is open, what is pointed at, else what the tab shows.
    fn text_in_front(&mut self, state: Option<&RunState>) -> Result<String, String> {
        if let Some(pager) = &self.pager {
            return Ok(pager.all());
        }
        let document = |text: &documents::Text| text.text.clone();
        let of = (self.clock_of_day(), self.settings.repository.as_str());
        let picked = match self.tab_at_hand() {
            Tab::Plan => self.pointed_line().map(|(_, text)| text),
            Tab::Comments => self.pointed_finding(state),
            Tab::Log => self.record.picked_whole(state, of).map(|(_, text)| text),
            Tab::Chat => self.transcript.picked_text(),
            Tab::Status => None,
        };
        let picked = picked.or_else(|| self.merge_at_hand(state));
        let key = |action| self.keymap().named(action, IsWriting::No);
        let (text, why) = match self.tab_at_hand() {
            Tab::Plan => (
                document(&self.documents.plan),
                "there is no plan yet".to_owned(),
            ),
            Tab::Comments => (
                document(&self.documents.comments),
                "there are no comments yet".to_owned(),
            ),
            Tab::Log => {
                let (before, next) = (key("previous-block"), key("next-block"));
                let why = format!("point at an event first ({before} {next} go to another)");
                (None, why)
            }
            Tab::Status => (Some(self.pages.of(Tab::Status).text()), String::new()),
            Tab::Chat => {
                let said = self.transcript.last_said().map(str::to_owned);
                (said, "no agent has said anything yet".to_owned())
            }
        };
        picked.or(text).ok_or(why)
    }

    /// The text of the finding that is pointed at, with what the review says below it.
    fn pointed_finding(&self, state: Option<&RunState>) -> Option<String> {
        let n = self.findings.picked()?;
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

    /// Copies a block of code of what is in front: the last one, and with each further time the one above it.
    pub(super) fn copy_code(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let code = self.code_in_front(state);
        let n = code.len();
        let mut hasher = DefaultHasher::new();
        code.hash(&mut hasher);
        let all = hasher.finish();
        let at = match self.copied_code {
            Some((of, at)) if of == all && at + 1 < n => at + 1,
            _ => 0,
        };
        let Some(text) = code.into_iter().rev().nth(at) else {
            return self.refuse("there is no code in it: point at a block that has some");
        };
        self.copied_code = Some((all, at));
        let lines = pluralize(text.lines().count(), "line");
        self.toast = Some(match n {
            1 => format!("sent to the clipboard: {lines} of code"),
            _ => format!(
                "sent to the clipboard: code block {} of {n}, counted from the last, {lines}",
                at + 1
            ),
        });
        vec![Action::Copy(text)]
    }

    /// The code of what is in front; of a chat in which nothing is pointed at, that of all its agents said.
    fn code_in_front(&mut self, state: Option<&RunState>) -> Vec<String> {
        let is_chat = self.tab_at_hand() == Tab::Chat && self.pager.is_none();
        let texts = match is_chat && self.transcript.picked_text().is_none() {
            true => self.transcript.said().map(str::to_owned).collect(),
            false => self.text_in_front(state).into_iter().collect::<Vec<_>>(),
        };
        let blocks = texts
            .iter()
            .flat_map(|text| fenced_block::find_blocks(text));
        blocks.map(|block| block.content).collect()
    }

    /// Opens what is in front in another program.
    pub(super) fn open_outside(&mut self, with: Viewer, state: Option<&RunState>) -> Vec<Action> {
        let is_chat = self.tab_at_hand() == Tab::Chat && self.pager.is_none();
        if let Some(call) = self.transcript.picked_long().filter(|_| is_chat) {
            return vec![Action::OpenCall { call, with }];
        }
        match self.text_in_front(state) {
            Ok(text) => vec![Action::OpenText { text, with }],
            Err(why) => self.refuse(&why),
        }
    }

    /// Goes to what needs the user: the dialog that waits gets the keys, and nothing lies over it.
    pub(super) fn go_to_need(&mut self, state: Option<&RunState>) -> Vec<Action> {
        if self.waiting(state).is_none() {
            if self.is_needed_behind {
                return vec![Action::CloseView];
            }
            return self.refuse("nothing needs you now");
        }
        self.reading.take_up();
        self.show_chat();
        self.transcript.go_to_end();
        self.writing = IsWriting::No;
        Vec::new()
    }

    /// Points at another block of the chat, or another finding.
    pub(super) fn go_along(&mut self, along: Along, state: Option<&RunState>) {
        let is_next = matches!(along, Along::Next | Along::NextTurn);
        if let (Tab::Comments, None) = (self.tab_at_hand(), &self.pager) {
            let Some(state) = state.filter(|state| !state.findings.all().is_empty()) else {
                self.refuse("there is no finding yet: nothing can be pointed at");
                return;
            };
            let above = self.pages.of(Tab::Comments).has(Mark::Reviews);
            let above = above.then_some(Mark::Reviews);
            if let Some(mark) = self.findings.go(is_next, state, above) {
                self.pages.of(Tab::Comments).bring(mark);
                // The line that it speaks of comes into view beside it.
                if self.places.side.is_some_and(|(_, tab)| tab == Tab::Plan) {
                    self.pages.of(Tab::Plan).bring(mark);
                }
            }
            return;
        }
        if let (Tab::Plan, None, Some(text)) =
            (self.tab_at_hand(), &self.pager, &self.documents.plan.text)
        {
            match (self.plan.against(), along) {
                (Some(_), Along::NextTurn) => self.plan.choose(true, &self.documents),
                (Some(_), Along::PreviousTurn) => self.plan.choose(false, &self.documents),
                // Not every line of the plan stands in it.
                (Some(_), _) => {
                    let lines = self.pages.of(Tab::Plan).document_lines();
                    if let Some(line) = self.plan.go_among(is_next, &lines) {
                        self.pages.of(Tab::Plan).bring(Mark::Line(line));
                    }
                }
                (None, _) => {
                    let page = self.pages.of(Tab::Plan);
                    let hidden = |line| page.is_hidden(line);
                    if let Some(line) = self.plan.go(is_next, text, hidden) {
                        self.pages.of(Tab::Plan).bring(Mark::Line(line));
                    }
                }
            }
            return;
        }
        if self.tab_at_hand() == Tab::Plan && self.pager.is_none() {
            self.refuse("there is no plan yet: nothing can be pointed at");
            return;
        }
        if self.tab_at_hand() == Tab::Log && self.pager.is_none() {
            let find = self.looked_for(Tab::Log);
            if let Some(mark) = self.record.go(is_next, (&find, state)) {
                self.pages.of(Tab::Log).bring(mark);
            }
            return;
        }
        self.show_chat();
        self.transcript.pick(along);
    }

    /// Lists other findings; in the plan, compares it with an earlier version or ends that.
    pub(super) fn filter(&mut self) -> Vec<Action> {
        if self.pager.is_some() {
            return self.refuse("a text is open: close it to list other things");
        }
        if self.tab_at_hand() == Tab::Plan {
            if !self.plan.turn(&self.documents) {
                return self.refuse("the plan has no earlier version to compare with");
            }
            return Vec::new();
        }
        if self.tab_at_hand() == Tab::Log {
            self.record.turn();
            return Vec::new();
        }
        self.show_comments();
        self.findings.turn();
        Vec::new()
    }

    /// The line of the plan that is pointed at, from 1, with what stands there.
    pub(super) fn pointed_line(&self) -> Option<(u32, String)> {
        let at = self
            .plan
            .picked()
            .filter(|_| self.tab_at_hand() == Tab::Plan)?;
        let text = self.documents.plan.text.as_ref()?.lines().nth(at)?;
        Some((u32::try_from(at).ok()?.checked_add(1)?, text.to_owned()))
    }

    /// The line of the plan that the finding speaks of that is pointed at, from 1, with what stands there.
    fn line_of_finding(&self, state: &RunState) -> Option<(u32, String)> {
        let n = self
            .findings
            .picked()
            .filter(|_| self.tab_at_hand() == Tab::Comments)?;
        let text = self.documents.plan.text.as_deref()?;
        let mut open = anchors::of_open(state, text).into_iter();
        let (_, line) = open.find(|(finding, _)| finding.remark.n == n)?;
        let quote = text.lines().nth(line?)?.to_owned();
        Some((u32::try_from(line?).ok()?.checked_add(1)?, quote))
    }

    /// Points at the first line of the plan that is seen, where nothing is pointed at: the keys that follow mean it.
    pub(super) fn point_at_first(&mut self) -> Option<(u32, String)> {
        if self.tab_at_hand() != Tab::Plan {
            self.show(Tab::Plan);
            return None;
        }
        let line = self.pages.of(Tab::Plan).first_line_in_view()?;
        self.plan.point_at(line);
        self.pointed_line()
    }

    /// Says that something has to be pointed at, and which keys do that.
    pub(super) fn point_first(&mut self, at: &str) -> Vec<Action> {
        let key = |action| self.keymap().named(action, IsWriting::No);
        let (before, next) = (key("previous-block"), key("next-block"));
        self.refuse(&format!(
            "point at {at} first: {before} and {next} go from one to the next"
        ))
    }

    /// Makes a note on the line that is pointed at; without a text, the composer takes it.
    pub(super) fn note(&mut self, text: String, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.refuse("there is no run yet: write the goal first");
        };
        if let Some(why) = notes_blocker(state) {
            return self.refuse(why);
        }
        let pointed = self.pointed_line();
        let pointed = pointed.or_else(|| self.line_of_finding(state));
        let Some((line, quote)) = pointed.or_else(|| self.point_at_first()) else {
            return self.point_first("a line of the plan");
        };
        if !text.is_empty() {
            return vec![Action::Event(Event::NoteMade { line, quote, text })];
        }
        self.noting = Some((line, quote));
        self.draft = Some(Draft::Note);
        self.begin_writing();
        Vec::new()
    }

    /// Takes a note back.
    pub(super) fn unnote(&mut self, n: Option<u32>, state: Option<&RunState>) -> Vec<Action> {
        let Some(state) = state else {
            return self.refuse("there is no run yet");
        };
        let plan = self.documents.plan.text.as_deref().unwrap_or_default();
        let lines: Vec<&str> = plan.lines().collect();
        let here = self.plan.picked();
        let is_meant = |note: &&PlanNote| match n {
            Some(n) => note.n == n,
            None => here.is_some() && note.find_line(&lines) == here,
        };
        match state.notes.all().iter().rfind(is_meant) {
            Some(note) => vec![Action::Event(Event::NoteRemoved { n: note.n })],
            None => {
                self.refuse("no note is there: point at its line, or name its number (/unnote 1)")
            }
        }
    }

    /// From a finding to its line of the plan, and from a line to the finding that speaks of it.
    pub(super) fn jump(&mut self, state: Option<&RunState>) -> Vec<Action> {
        match (
            self.tab_at_hand(),
            self.findings.picked(),
            self.plan.picked(),
        ) {
            (Tab::Comments, Some(n), _) => {
                let text = self.documents.plan.text.as_deref().unwrap_or_default();
                let open = state.map(|state| anchors::of_open(state, text));
                let of_finding = |(finding, _): &(&Finding, _)| finding.remark.n == n;
                let found = open.into_iter().flatten().find(of_finding);
                let Some((_, Some(line))) = found else {
                    return self.refuse(&format!("of finding {n} no line of the plan is known"));
                };
                self.plan = tabs::plan::reading::Reading::default();
                self.plan.point_at(line);
                self.show(Tab::Plan);
                self.pages.of(Tab::Plan).bring(Mark::Finding(n));
                Vec::new()
            }
            (Tab::Comments, None, _) => self.point_first("a finding"),
            (Tab::Plan, _, Some(line)) => {
                let text = self.documents.plan.text.as_deref().unwrap_or_default();
                let open = state.map(|state| anchors::of_open(state, text));
                let of_line = open.into_iter().flatten().find(|(_, at)| *at == Some(line));
                let Some(n) = of_line.map(|(finding, _)| finding.remark.n) else {
                    return self.refuse("no open finding speaks of this line");
                };
                self.findings.point_at(n);
                self.show(Tab::Comments);
                self.pages.of(Tab::Comments).bring(Mark::Finding(n));
                Vec::new()
            }
            _ => self.point_first("a finding, or at a line of the plan,"),
        }
    }

    /// Points at nothing any more in the tab that is shown; tells whether something was pointed at.
    pub(super) fn pick_nothing(&mut self) -> bool {
        match self.tab_at_hand() {
            Tab::Chat => self.transcript.pick_nothing(),
            Tab::Plan => self.plan.pick_nothing() || self.plan.end_comparing() || self.plan.fold(),
            Tab::Comments => self.findings.pick_nothing(),
            Tab::Log => self.record.pick_nothing(),
            Tab::Status => false,
        }
    }

    /// Shows the findings, whatever lies over them.
    pub(super) fn show_comments(&mut self) {
        self.uncover();
        self.tab = Tab::Comments;
    }

    /// Shows the chat, whatever lies over it.
    pub(super) fn show_chat(&mut self) {
        self.uncover();
        self.tab = Tab::Chat;
    }

    pub(super) fn show(&mut self, tab: Tab) {
        let is_covered = self.pager.is_some() || self.diff.is_some() || self.board.is_some();
        self.uncover();
        if tab.folds() && self.tab == tab && !is_covered {
            self.unfolded.remove(&tab);
            self.tab = Tab::Chat;
            return;
        }
        if tab.folds() {
            self.unfolded.insert(tab);
        }
        self.tab = tab;
    }

    pub(super) fn step_tab(&mut self, by: isize) {
        self.uncover();
        let shown: Vec<Tab> = Tab::ALL
            .into_iter()
            .filter(|tab| !tab.folds() || self.unfolded.contains(tab))
            .collect();
        let at = shown.iter().position(|tab| *tab == self.tab).unwrap_or(0);
        let next = at
            .checked_add_signed(by)
            .unwrap_or(shown.len().saturating_sub(1));
        self.tab = shown.get(next).copied().unwrap_or(Tab::Chat);
    }

    pub(super) fn scroll(&mut self, to: Move) {
        if let Some(pager) = &mut self.pager {
            pager.scroll(to);
            return;
        }
        if let Some(view) = &mut self.diff {
            view.scroll(match to {
                Move::Up => Does::Up,
                Move::Down => Does::Down,
                Move::PageUp => Does::PageUp,
                Move::PageDown => Does::PageDown,
                Move::Top => Does::Top,
                Move::End => Does::End,
            });
            return;
        }
        self.scroll_tab(self.tab_at_hand(), to);
    }

    /// Moves what a tab shows.
    pub(super) fn scroll_tab(&mut self, tab: Tab, to: Move) {
        if tab != Tab::Chat {
            if (tab, to) == (Tab::Plan, Move::End) {
                let _was_open = self.plan.fold();
            }
            if (tab, to) == (Tab::Log, Move::PageUp)
                && self.pages.of(Tab::Log).sees_first_mark()
                && self.record.read_more()
            {
                return;
            }
            self.pages.of(tab).scroll(to);
            return;
        }
        let page = self.places.body.height.saturating_sub(2);
        let page = isize::try_from(page).unwrap_or(PAGE).max(1);
        match to {
            Move::Up => self.transcript.scroll_by(-1),
            Move::Down => self.transcript.scroll_by(1),
            Move::PageUp => self.transcript.scroll_by(-page),
            Move::PageDown => self.transcript.scroll_by(page),
            Move::Top => self.transcript.go_to_top(),
            Move::End => self.transcript.go_to_end(),
        }
    }
}
