//! The line in which the user looks for something in what is open: a tab, a long text, a diff.
//!
//! Refuses to search: whatever shows something looks in it itself.

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui_textarea::TextArea;

use super::command::Command;
use super::keymap::{Context, IsWriting};
use super::page::{self, Mark};
use super::tabs::Tab;
use super::transcript::{self, Find, Looked, Standing, WantsEarlier};
use super::wrap::{cut, one_line, put, width};
use super::{Screen, diff, theme};
use crate::domain::run::RunState;

/// How many characters of a text that is pasted are looked for.
const LONGEST_PASTE: usize = 100;

/// What is looked for, as it is typed.
#[derive(Debug)]
pub struct FindLine {
    typed: String,
    /// Where they are typed.
    area: TextArea<'static>,
    /// What of the chat has it.
    find: Find,
    began: Stand,
}

/// What is looked in, and where it stood before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    Text(page::Stand),
    Diff(Option<diff::Spot>),
    Chat(transcript::Stand),
    /// The page of a tab; of Log, the event that was pointed at too.
    Page(Tab, page::Stand, Option<i64>),
}

impl Stand {
    /// Tells whether both are of one thing.
    fn is_there(self, other: Self) -> bool {
        match (self, other) {
            (Self::Text(_), Self::Text(_))
            | (Self::Diff(_), Self::Diff(_))
            | (Self::Chat(_), Self::Chat(_)) => true,
            (Self::Page(one, ..), Self::Page(other, ..)) => one == other,
            _ => false,
        }
    }

    /// What follows its end is looked through from there.
    fn is_from_end(self) -> bool {
        matches!(self, Self::Chat(_) | Self::Page(Tab::Log, ..))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text(_) => "this text",
            Self::Diff(_) => "this diff",
            Self::Chat(_) => Tab::Chat.title(),
            Self::Page(tab, ..) => tab.title(),
        }
    }
}

/// What can be done in the line beside typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the next one; from the end on, where that is followed.
    Next,
    /// To what stands above.
    Back,
    /// To what stands below.
    On,
    /// Closes the line; what was found stays in view and is pointed at.
    Stay,
    /// Closes the line, and goes back to where it was opened.
    Close,
}

impl Screen {
    /// Opens the line.
    pub(super) fn open_find(&mut self) {
        self.leave_find();
        if self.is_board() {
            // What lies below it is not what is looked at.
            let close = self.keymap().named("close-board", IsWriting::No);
            self.refuse(&format!(
                "find does not look through a board; {close} closes it first"
            ));
            return;
        }
        self.find = Some(FindLine {
            typed: String::new(),
            area: TextArea::default(),
            find: Find::default(),
            began: self.stand_of_open(),
        });
    }

    /// What is open, and where it stands.
    fn stand_of_open(&mut self) -> Stand {
        match (&self.pager, &self.diff, self.tab_at_hand()) {
            (Some(pager), ..) => Stand::Text(pager.stand()),
            (None, Some(view), _) => Stand::Diff(view.stand()),
            (None, None, Tab::Chat) => Stand::Chat(self.transcript.stand()),
            (None, None, tab) => {
                let stand = self.pages.of(tab).stand();
                Stand::Page(tab, stand, self.record.picked())
            }
        }
    }

    /// Closes the line where something else is open by now, or was put over it.
    pub(super) fn close_stale_find(&mut self) {
        let open = self.stand_of_open();
        let began = self.find.as_ref().map(|line| line.began);
        if began.is_some_and(|began| !began.is_there(open)) {
            self.leave_find();
        }
    }

    /// The letters that are looked for in a tab, in lower case; empty where none are.
    pub(super) fn looked_for(&self, tab: Tab) -> String {
        let of_tab = |line: &&FindLine| match line.began {
            Stand::Chat(_) => tab == Tab::Chat,
            Stand::Page(of, ..) => tab == of,
            Stand::Text(_) | Stand::Diff(_) => false,
        };
        let find = self.find.as_ref().filter(of_tab);
        find.map_or_else(String::new, |line| line.typed.to_lowercase())
    }

    /// Gives a key to the line; tells whether it is open and the key was for it.
    pub(super) fn key_of_find(&mut self, key: KeyEvent, state: Option<&RunState>) -> bool {
        self.close_stale_find();
        if self.find.is_none() {
            return false;
        }
        if let Some(Command::InFind(step)) = self.keymap().find_in(&key, Context::Find) {
            self.find_step(step, state);
            return true;
        }
        let moves = self.keymap().find(&key, IsWriting::Yes);
        let Some(line) = &mut self.find else {
            return false;
        };
        let is_plain = key.modifiers - KeyModifiers::SHIFT == KeyModifiers::NONE;
        let is_ctrl = key.modifiers == KeyModifiers::CONTROL;
        let _changed = match key.code {
            KeyCode::Char('u') if is_ctrl => line.area.delete_line_by_head(),
            KeyCode::Char('w') if is_ctrl => line.area.delete_word(),
            KeyCode::Char(c) if is_plain && !c.is_control() => line.area.input(key),
            KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End => line.area.input(key),
            _ if matches!(moves, Some(Command::Scroll(_))) => return false,
            // Whatever else it is, the line is left by it.
            _ => {
                self.leave_find();
                return false;
            }
        };
        self.take_typed();
        true
    }

    /// Puts a text into the line; tells whether it is open.
    pub(super) fn pasted_into_find(&mut self, text: &str) -> bool {
        let Some(line) = &mut self.find else {
            return false;
        };
        let text: String = one_line(text).chars().take(LONGEST_PASTE).collect();
        line.area.insert_str(text);
        self.take_typed();
        true
    }

    /// Looks for what is typed, where that is other letters than before.
    fn take_typed(&mut self) {
        let Some(line) = &mut self.find else {
            return;
        };
        let typed = line.area.lines().join(" ");
        if typed != line.typed {
            line.typed = typed;
            self.look_for_typed();
        }
    }

    fn look_for_typed(&mut self) {
        let Some(line) = &mut self.find else {
            return;
        };
        let typed = line.typed.as_str();
        match line.began {
            Stand::Chat(stand) => {
                if typed.is_empty() {
                    self.transcript.go_back(stand);
                }
                self.transcript.look_for(&mut line.find, typed);
            }
            Stand::Text(stand) => {
                if let Some(pager) = &mut self.pager {
                    pager.page().look_for(typed, stand);
                }
            }
            Stand::Diff(stand) => {
                if let Some(view) = &mut self.diff {
                    view.look_for(typed, stand);
                }
            }
            // It lists what has the letters.
            Stand::Page(Tab::Log, ..) => {}
            Stand::Page(tab, stand, _) => {
                self.findings.look_for(typed);
                self.pages.of(tab).look_for(typed, stand);
            }
        }
    }

    /// Goes along what was found, or closes the line.
    pub(super) fn find_step(&mut self, step: Step, state: Option<&RunState>) {
        let Some(line) = &self.find else {
            return;
        };
        let is_next = match step {
            Step::Next => !line.began.is_from_end(),
            Step::Back => false,
            Step::On => true,
            Step::Stay => return self.stay_at_found(),
            Step::Close => return self.go_back_from_find(),
        };
        let Some(line) = &mut self.find else {
            return;
        };
        match line.began {
            Stand::Chat(_) => self.transcript.go_along(&mut line.find, is_next),
            Stand::Text(_) => {
                if let Some(pager) = &mut self.pager {
                    pager.page().look_along(is_next);
                }
            }
            Stand::Diff(_) => {
                if let Some(view) = &mut self.diff {
                    view.look_along(is_next);
                }
            }
            Stand::Page(Tab::Log, ..) => {
                let letters = line.typed.to_lowercase();
                if let Some(mark) = self.record.go(is_next, (&letters, state)) {
                    self.pages.of(Tab::Log).bring(mark);
                }
            }
            Stand::Page(tab, ..) => self.pages.of(tab).look_along(is_next),
        }
    }

    /// What of the log is to be looked through for what is typed.
    pub(super) fn looks_further_back(&self) -> Option<WantsEarlier> {
        let line = self.find.as_ref()?;
        self.transcript.looks_further_back(&line.find)
    }

    /// Takes in what came of a look at a piece of the log.
    pub(super) fn on_looked(&mut self, looked: &Looked) {
        if let Some(line) = &mut self.find {
            self.transcript.on_looked(&mut line.find, looked);
        }
    }

    /// Goes to what was found further back, once that is told.
    pub(super) fn go_to_what_was_told(&mut self) {
        if let Some(line) = &mut self.find {
            self.transcript.go_to_what_was_told(&mut line.find);
        }
    }

    /// Looks no further back: the log cannot be read.
    pub(super) fn end_looking_back(&mut self) {
        if let Some(line) = &mut self.find {
            self.transcript.end_looking_back(&mut line.find);
        }
    }

    /// Closes the line; what was found is pointed at, so that the keys that follow mean it.
    fn stay_at_found(&mut self) {
        let tab = self.find.as_ref().map(|line| line.began);
        let mark = match tab {
            Some(Stand::Page(tab, ..)) => self.pages.of(tab).mark_of_found(),
            _ => None,
        };
        match mark {
            Some(Mark::Line(line)) => self.plan.point_at(line),
            Some(Mark::Finding(n)) if self.tab_at_hand() == Tab::Comments => {
                self.findings.pick(Mark::Finding(n));
                self.findings.keep_open(n);
            }
            _ => {}
        }
        self.leave_find();
    }

    /// Closes the line; everything stands where it stood.
    fn go_back_from_find(&mut self) {
        let Some(line) = &mut self.find else {
            return;
        };
        match line.began {
            Stand::Chat(stand) => {
                self.transcript.fold_again(&mut line.find);
                self.transcript.go_back(stand);
            }
            Stand::Text(stand) => {
                if let Some(pager) = &mut self.pager {
                    pager.page().go_back(stand);
                }
            }
            Stand::Diff(stand) => {
                if let Some(view) = &mut self.diff {
                    view.look_for("", stand);
                }
            }
            Stand::Page(tab, stand, picked) => {
                self.pages.of(tab).go_back(stand);
                if tab == Tab::Log {
                    self.record.put_back(picked);
                }
            }
        }
        self.leave_find();
    }

    /// Closes the line and looks for nothing any more; what is shown stays.
    pub(super) fn leave_find(&mut self) {
        if self.find.take().is_none() {
            return;
        }
        self.transcript.stop_going_down();
        for tab in Tab::ALL {
            self.pages.of(tab).end_looking();
        }
        if let Some(pager) = &mut self.pager {
            pager.page().end_looking();
        }
        if let Some(view) = &mut self.diff {
            view.end_looking();
        }
        self.findings.look_for("");
    }

    /// Which of what was found is at hand, from 1, and how much was found.
    fn place_of_found(&mut self, state: Option<&RunState>) -> (usize, usize) {
        let Some(line) = &self.find else {
            return (0, 0);
        };
        match line.began {
            Stand::Chat(_) => self.transcript.place_of(&line.find),
            Stand::Text(_) => match &mut self.pager {
                Some(pager) => pager.page().place_of_found(),
                None => (0, 0),
            },
            Stand::Diff(_) => match &self.diff {
                Some(view) => view.place_of_found(),
                None => (0, 0),
            },
            Stand::Page(Tab::Log, ..) => self.record.place_of(&line.typed.to_lowercase(), state),
            Stand::Page(tab, ..) => self.pages.of(tab).place_of_found(),
        }
    }

    /// Draws the line.
    pub(super) fn draw_find(&mut self, frame: &mut Frame, area: Rect, state: Option<&RunState>) {
        let (at, n) = self.place_of_found(state);
        let Some(line) = &self.find else {
            return;
        };
        let standing = match line.began {
            Stand::Chat(_) => self.transcript.standing_of(&line.find),
            Stand::Page(Tab::Log, ..) => self.record.standing(),
            Stand::Text(_) | Stand::Diff(_) | Stand::Page(..) => Standing::Whole,
        };
        let name = match line.began {
            // log.md, which stands above them, is not looked through.
            Stand::Page(Tab::Log, ..) if self.record.is_filtered() => "the listed events",
            Stand::Page(Tab::Log, ..) => "the events",
            _ => line.began.name(),
        };
        let place = match line.typed.is_empty() {
            true => format!(" in {name}"),
            false => place_in_words((at, n), name, standing),
        };
        let columns = usize::from(area.width);
        let head = cut(&format!("find: {}", line.typed), columns.saturating_sub(1));
        let before: String = line.typed.chars().take(line.area.cursor().1).collect();
        let before = width(&before) + width("find: ");
        let cursor = u16::try_from(before.min(width(&head))).unwrap_or(0);
        let rest = cut(&place, columns.saturating_sub(width(&head) + 1));
        let spans = vec![
            Span::styled(head, theme::KEY),
            Span::raw(" "),
            Span::styled(rest, theme::QUIET),
        ];
        put(frame, &Line::from(spans), area);
        if !area.is_empty() {
            frame
                .set_cursor_position((area.x.saturating_add(cursor).min(area.right() - 1), area.y));
        }
    }
}

/// Which of what was found is at hand, and how far it was looked for: never that there is nothing in what
/// was not looked through.
fn place_in_words((at, n): (usize, usize), name: &str, standing: Standing) -> String {
    let n_found = match (at, n) {
        (_, 0) => String::new(),
        (0, n) => n.to_string(),
        (at, n) => format!("{at} of {n}"),
    };
    match (standing, n) {
        (Standing::Whole, 0) => format!(" nothing like it in {name}"),
        (Standing::Whole, _) => format!(" {n_found} in {name}"),
        (Standing::Kept, 0) => format!(" nothing like it in the end of {name}"),
        (Standing::Kept, _) => format!(" {n_found} so far in {name}"),
        (Standing::Looking(percent), 0) => format!(" looking further back … {percent} %"),
        (Standing::Looking(percent), _) => {
            format!(" {n_found} · looking further back … {percent} %")
        }
        (Standing::Telling, _) => " found further back; reading down to it …".to_owned(),
        (Standing::Unread, 0) => format!(" nothing like it in what can be read of {name}"),
        (Standing::Unread, _) => format!(" {n_found} in what can be read of {name}"),
    }
}
