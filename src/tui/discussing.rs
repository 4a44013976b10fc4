//! The discussions of a run, as the user reaches them: the board, the result put into the composer or copied, the
//! finding that was discussed.
//!
//! Refuses to know how a discussion goes: it shows what the run's state holds.

mod talks;
mod wish;

use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::action::{Action, Topic};
use super::board::{self, Board, Does, Minutes};
use super::command::{Command, Move};
use super::keymap::{Context, Hint, IsWriting};
use super::panes::Focus;
use super::sheet::{Sheet, Then};
use super::transcript::besides;
use super::wrap::{cut, one_line, width};
use super::{Screen, dialogs, theme};
use crate::domain::discussion::{DiscussionEvent, FINDING_HOLDS, GroupDiscussion};
use crate::domain::event::Event;
use crate::domain::findings::FindingStatus;
use crate::domain::ids::{DiscussionId, SessionId, UnixMillis};
use crate::domain::run::RunState;
pub use talks::Talks;
use wish::all;
pub use wish::{Planned, Wish, at_work};

impl Screen {
    /// Takes a piece of what a participant says.
    pub(super) fn on_live(&mut self, session: &SessionId, piece: &str) {
        self.talks.live.push(session, piece);
        self.hear_child(session, piece);
    }

    /// Takes an event in: who speaks now, and what the user has begun.
    pub(super) fn on_discussion(&mut self, event: &Event) {
        self.talks.live.on_event(event);
        self.note_child(event);
        if let Event::Discussion {
            id,
            news: DiscussionEvent::Begun { order },
        } = event
        {
            let is_mine = order.parent.is_none() && std::mem::take(&mut self.talks.awaits);
            // Whoever writes meanwhile goes on writing.
            if is_mine && self.composer.is_empty() && self.own.is_none() {
                let _nothing_to_do = self.open_board(Board::new(id.clone()));
                self.reading.note_view();
            }
        }
    }

    /// Takes the presets of discussions, each with what it is about.
    pub fn on_presets(&mut self, presets: Vec<(String, String)>) {
        self.talks.presets = presets;
    }

    /// Shows what a discussion would be begun with; the answer is [`Action::Discuss`].
    pub fn on_planned(&mut self, planned: &Planned) {
        self.dirty = true;
        self.uncover();
        self.toast = None;
        self.bring(dialogs::discussion::sheet(planned));
        self.talks.planned.clone_from(&planned.topic.text);
    }

    /// Notes that the user has something discussed: its board opens once it begins.
    pub(super) fn note_begun(&mut self, actions: &[Action]) {
        let begins = |action: &Action| matches!(action, Action::Discuss(_));
        self.talks.awaits |= actions.iter().any(begins);
    }

    /// Nothing was begun of what the user asked for: no board waits for it.
    pub fn on_not_begun(&mut self) {
        self.talks.awaits = false;
    }

    fn begin(&mut self, text: &str, state: Option<&RunState>) -> Vec<Action> {
        match (text, state) {
            ("", _) if !all(state).is_empty() => self.show_board(state),
            ("", _) => self.refuse("write what is to be decided after /discuss, and between what"),
            (text, _) => vec![Action::Discuss(self.talks.read(text))],
        }
    }

    /// Asks for what a discussion of the finding that is pointed at would be begun with.
    fn plan_for_finding(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let Some((n, state)) = self.findings.picked().zip(state) else {
            self.show_comments();
            return self.point_first("a finding");
        };
        if state.phase.is_final() {
            return self.refuse("the run is over, and no reviewer hears of it any more; /discuss asks anything else");
        }
        self.refuse("looking who would discuss it …");
        vec![Action::PlanDiscussion(Topic {
            finding: Some(n),
            ..Topic::default()
        })]
    }

    fn stop_discussion(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        match discussion.filter(|each| each.is_running()) {
            Some(discussion) => vec![Action::StopDiscussion(discussion.id().clone())],
            None => self.refuse("no discussion is under way"),
        }
    }

    fn go_on_discussing(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        match discussion.filter(|each| each.can_resume()) {
            Some(discussion) => vec![Action::GoOnDiscussing(discussion.id().clone())],
            None => {
                self.refuse("only a discussion goes on that was stopped, was cut off or failed")
            }
        }
    }

    fn export(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        match discussion {
            Some(discussion) => vec![Action::ExportDiscussion(discussion.id().clone())],
            None => self.refuse("nothing was discussed in this run"),
        }
    }

    /// Does what was asked about discussions.
    pub(super) fn discuss(&mut self, wish: &Wish, state: Option<&RunState>) -> Vec<Action> {
        let all = all(state);
        match wish {
            Wish::Begin(text) => self.begin(text, state),
            Wish::Budget(preset) => vec![Action::ShowBudget(preset.clone())],
            Wish::Finding => self.plan_for_finding(state),
            Wish::Stop => self.stop_discussion(all.iter().rfind(|each| each.is_running())),
            Wish::GoOn => self.go_on_discussing(all.iter().rfind(|each| each.can_resume())),
            Wish::Export => self.export(all.last()),
            Wish::Board => self.show_board(state),
            Wish::Quote => self.quote(all.iter().rfind(|each| each.outcome.is_some())),
            Wish::Settle => self.settle_finding(self.findings.picked(), state),
        }
    }

    /// Shows the board of what runs, else of the last discussion.
    fn show_board(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let running = all(state).iter().rfind(|each| each.is_running());
        match running.or(all(state).last()) {
            Some(discussion) => self.open_board(Board::new(discussion.id().clone())),
            None => self.refuse("nothing was discussed in this run"),
        }
    }

    /// Opens a board in the place of whatever lies over the tab.
    pub(super) fn open_board(&mut self, board: Board) -> Vec<Action> {
        (self.pager, self.diff) = (None, None);
        self.board = Some(board);
        self.writing = IsWriting::No;
        Vec::new()
    }

    /// Tells whether the board has the keys and the whole height.
    pub(super) fn is_board(&self) -> bool {
        self.board.is_some() && self.pager.is_none()
    }

    /// The discussion of the open board, with all that is shown of it.
    fn minutes<'a>(&'a self, state: Option<&'a RunState>) -> Option<Minutes<'a>> {
        let id = &self.board.as_ref()?.id;
        minutes(id, &self.talks, state)
    }

    pub(super) fn draw_board(
        &mut self,
        frame: &mut Frame,
        area: Rect,
        (state, waits): (Option<&RunState>, Option<&Sheet>),
        now: UnixMillis,
    ) {
        let Some(board) = &mut self.board else {
            return;
        };
        let shown = all(state).iter().find(|each| *each.id() == board.id);
        shown.into_iter().for_each(|shown| self.talks.count(shown));
        let minutes = minutes(&board.id, &self.talks, state);
        let waits = waits.map(|sheet| sheet.title.as_str());
        board.draw(frame, area, (minutes.as_ref(), waits), now);
    }

    /// The board hides the dialog and the composer, so no key of theirs means anything here; what helps or
    /// stops works everywhere.
    pub(super) fn key_of_board(&mut self, key: KeyEvent, state: Option<&RunState>) -> Vec<Action> {
        if self.reading.is_view_deaf() {
            return Vec::new();
        }
        if let Some(command) = self.keymap().find_in(&key, Context::Board) {
            return self.perform(command, state);
        }
        match self.keymap().find(&key, IsWriting::No) {
            Some(Command::Scroll(to)) => self.quietly(|screen| screen.wheel_on_board(to, state)),
            Some(
                command @ (Command::Help
                | Command::Interrupt
                | Command::Pause
                | Command::Palette
                | Command::Show(_)
                | Command::Copy),
            ) => self.perform(command, state),
            Some(_) | None => Vec::new(),
        }
    }

    /// Does what a key of the board does.
    pub(super) fn on_board(&mut self, does: Does, state: Option<&RunState>) -> Vec<Action> {
        let Some(board) = &mut self.board else {
            return Vec::new();
        };
        if does == Does::Close {
            if !board.close_speech() {
                self.board = None;
            }
            return Vec::new();
        }
        let Some(minutes) = minutes(&board.id, &self.talks, state) else {
            return Vec::new();
        };
        if board.step(does, &minutes) {
            return Vec::new();
        }
        let id = &board.id;
        let Some(discussion) = all(state).iter().find(|each| each.id() == id) else {
            return Vec::new();
        };
        match does {
            Does::Copy => self.copy_of_board(state),
            Does::Quote => self.quote(Some(discussion)),
            Does::Settle => self.settle_finding(discussion.order.finding, state),
            Does::Export => self.export(Some(discussion)),
            Does::Stop => self.stop_discussion(Some(discussion)),
            Does::GoOn => self.go_on_discussing(Some(discussion)),
            Does::Other => self.other_board(state),
            Does::Left | Does::Right | Does::Before | Does::After | Does::Open | Does::Close => {
                Vec::new()
            }
        }
    }

    /// Copies what is read on the board, else its result.
    pub(super) fn copy_of_board(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let read = self.minutes(state).and_then(|minutes| {
            let read = self.board.as_ref()?.read_text(&minutes);
            Some(read.unwrap_or_else(|| minutes.discussion.result_to_markdown()))
        });
        let Some(text) = read else {
            return Vec::new();
        };
        self.toast = Some(format!("sent to the clipboard: {}", one_line(&text)));
        vec![Action::Copy(text)]
    }

    /// Copies what a discussion came to, or how far it is.
    pub(super) fn copy_result(
        &mut self,
        id: &DiscussionId,
        state: Option<&RunState>,
    ) -> Vec<Action> {
        let Some(discussion) = all(state).iter().find(|each| each.id() == id) else {
            return self.refuse("that discussion is not of this run");
        };
        let text = discussion.result_to_markdown();
        self.toast = Some(format!("sent to the clipboard: {}", one_line(&text)));
        vec![Action::Copy(text)]
    }

    /// The board of the next discussion; after the last one comes the first.
    fn other_board(&mut self, state: Option<&RunState>) -> Vec<Action> {
        let all = all(state);
        let at = self
            .board
            .as_ref()
            .and_then(|board| all.iter().position(|each| *each.id() == board.id));
        let next = at.map_or(0, |at| at + 1);
        match all.get(next).or(all.first()) {
            Some(next) if all.len() > 1 => self.open_board(Board::new(next.id().clone())),
            Some(_) | None => self.refuse("it is the only discussion of this run"),
        }
    }

    /// Puts a result into the composer, as a quotation before what is written there.
    fn quote(&mut self, discussion: Option<&GroupDiscussion>) -> Vec<Action> {
        let Some(discussion) = discussion else {
            return self.refuse("no discussion of this run is over yet");
        };
        if discussion.outcome.is_none() {
            return self.refuse("it is not over: there is no result to quote yet");
        }
        self.uncover();
        self.begin_writing();
        self.end_offer();
        let text = quoted(discussion);
        self.on_paste(&text);
        Vec::new()
    }

    /// Asks whether a finding is settled by what was said of it.
    fn settle_finding(&mut self, n: Option<u32>, state: Option<&RunState>) -> Vec<Action> {
        let Some((n, state)) = n.zip(state) else {
            return self.point_first("a finding");
        };
        let finding = state.findings.all().iter().find(|each| each.remark.n == n);
        let Some(finding) = finding.filter(|each| each.status == FindingStatus::Open) else {
            return self.refuse("that finding is settled already");
        };
        if state.phase.is_final() {
            return self.refuse("the run is over; `agent-collab discuss` asks it outside of one");
        }
        let mut about = all(Some(state)).iter().rev();
        let Some(result) = about.find_map(|each| {
            let of_it = each.order.finding == Some(n);
            each.outcome.as_ref().filter(|_| of_it)
        }) else {
            return self.refuse("that finding was not discussed to an end");
        };
        self.board = None;
        let holds = result
            .decision
            .as_ref()
            .is_some_and(|of| of.as_str() == FINDING_HOLDS);
        let found = match holds {
            true => "it came to that the finding holds: settled, it is dropped all the same",
            false => "settled, it is dropped: nobody has to answer it any more",
        };
        let style = if holds { theme::BAD } else { theme::QUIET };
        let text = one_line(&finding.remark.text);
        let title = format!("settle finding {n} by its discussion?");
        let mut sheet = Sheet::new(format!("settle {n}"), &title)
            .says(&cut(&text, dialogs::MOST_OF_FINDING), theme::PLAIN)
            .says(&board::decided(result).0, theme::STRONG)
            .says(&besides(result), theme::QUIET)
            .says(found, style)
            .offers(
                'y',
                "settle it: the review counts it as settled by you",
                Then::ActAndBack(vec![Action::Event(Event::FindingSettled { n })]),
            )
            .offers('n', "leave it open", Then::Back)
            .first(1);
        if width(&text) > dialogs::MOST_OF_FINDING {
            sheet.whole = Some((title, format!("{text}\n\n{}", sheet.in_words())));
        }
        self.ask(sheet)
    }

    /// Points at what was clicked on the board.
    pub(super) fn click_board(&mut self, at: Position, state: Option<&RunState>) {
        if let Some(board) = &mut self.board
            && let Some(minutes) = minutes(&board.id, &self.talks, state)
        {
            board.click(at, &minutes);
        }
    }

    /// Moves what is pointed at on the board, or the speech that is read.
    pub(super) fn wheel_on_board(&mut self, to: Move, state: Option<&RunState>) {
        if let Some(board) = &mut self.board
            && let Some(minutes) = minutes(&board.id, &self.talks, state)
        {
            board.scroll(to, &minutes);
        }
    }

    /// Nothing lies over the tab any more.
    pub(super) fn uncover(&mut self) {
        (self.pager, self.diff, self.board) = (None, None, None);
        self.focus = Focus::default();
    }

    /// The keys of the board that have something to do now.
    pub(super) fn hints_of_board(&self, state: Option<&RunState>) -> Vec<Hint> {
        let minutes = self.minutes(state);
        let discussion = minutes.map(|minutes| minutes.discussion);
        let is_over = discussion.is_some_and(|each| each.outcome.is_some());
        let is_reading = self.board.as_ref().is_some_and(Board::is_reading);
        let has = |does: Does| match does {
            Does::Open | Does::Other if is_reading => false,
            Does::Before | Does::After => is_reading,
            Does::Quote => is_over,
            Does::Settle => is_over && discussion.is_some_and(|each| each.order.finding.is_some()),
            Does::Stop => discussion.is_some_and(GroupDiscussion::is_running),
            Does::GoOn => discussion.is_some_and(GroupDiscussion::can_resume),
            Does::Other => all(state).len() > 1,
            _ => true,
        };
        let is_useful = |hint: &Hint| {
            hint.keys.iter().all(|(_, command)| match command {
                Command::OnBoard(does) => has(*does) && !(does.acts() && self.is_read_only()),
                Command::Scroll(Move::Up | Move::Down) => true,
                Command::Scroll(Move::PageUp | Move::PageDown) => is_reading,
                _ => !is_reading,
            })
        };
        let mut hints = self.keymap().hints_of(Context::Board);
        hints.retain(is_useful);
        for hint in &mut hints {
            if hint.what == "line" && !is_reading {
                hint.what = "round";
            }
        }
        hints
    }
}

fn minutes<'a>(
    id: &DiscussionId,
    talks: &'a Talks,
    state: Option<&'a RunState>,
) -> Option<Minutes<'a>> {
    let state = state?;
    let at = state.discussions.iter().position(|each| each.id() == id)?;
    Some(Minutes {
        discussion: state.discussions.get(at)?,
        live: &talks.live.texts,
        children: &state.children,
        of_several: (at + 1, state.discussions.len()),
        counted: talks.counted(id),
    })
}

/// A result as it is quoted: what was decided and on what grounds, the minority, what stays open.
fn quoted(discussion: &GroupDiscussion) -> String {
    let result = discussion.result_to_markdown();
    let lines = result.trim_end().lines();
    let lines: Vec<String> = lines
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    format!("{}\n\n", lines.join("\n"))
}
