//! The one causal stream of what was said and done, as blocks that know their author.
//!
//! Events make finished blocks; pieces of text make provisional ones, which the finished block replaces.
//! Refuses to know the run's state. Old blocks are forgotten and told again from the log when somebody
//! scrolls up to them.

mod block;
mod card;
mod earlier;
mod ending;
mod facts;
mod finding;
mod front;
mod keeping;
mod lines;
mod order;
mod patches;
mod picking;
mod retell;
mod saying;
mod scroll;
mod step;
mod talk;
mod time;
mod todos;
mod turns;
mod waiting;
mod whose;
mod wide;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use block::{Block, Content, Folding, Who};
use card::{Changed, ToolEnd};
pub use card::{LongCall, short_path};
use earlier::Earlier;
pub use earlier::WantsEarlier;
pub use ending::{Ending, Key};
pub use facts::facts;
pub use finding::{Find, Looked, Stand, Standing};
pub use picking::Along;
use saying::Saying;
use scroll::Scroll;
use step::Steps;
pub use talk::besides;
use turns::Turns;
pub use wide::Wide;

use ratatui::text::Line;

use super::words::Clock;
use crate::domain::event::{AgentActivity, Event};
use crate::domain::ids::{SessionId, UnixMillis};
use crate::domain::text_delta::TextDelta;
use crate::domain::turn::Role;

/// How many ends are kept of tools whose beginning is not.
const MAX_ENDS: usize = 10_000;

/// The blocks of a conversation and where the view stands in them.
#[derive(Debug)]
pub struct Transcript {
    blocks: VecDeque<Block>,
    /// The number of the first block that is kept; numbers never change.
    first: usize,
    /// Which part of the log the blocks tell.
    earlier: Earlier,
    /// Whether it is a piece of the past, made to be put in front of another.
    is_piece: bool,
    n_bytes: usize,
    /// How tools ended that began before the first block.
    ends: BTreeMap<String, ToolEnd>,
    /// The texts that are being said.
    sayings: BTreeMap<(Role, String), Saying>,
    /// The goal that was given last, until something else is said.
    given: Option<String>,
    /// The calls that wait for an answer.
    asked: waiting::Asked,
    /// How tasks are called, by their sessions.
    tasks: BTreeMap<SessionId, String>,
    thinking: Folding,
    scroll: Scroll,
    /// The number of the first block that came since the end is not followed any more.
    left_at: Option<usize>,
    turns: Turns,
    steps: Steps,
    /// The folder that files are named from, with a slash at its end; empty where it is not known.
    root: String,
    /// The key that shows all of what is cut.
    key: String,
    /// The user's time of day, once it is known.
    clock: Option<Clock>,
    /// The sessions in which participants of discussions speak.
    speakers: BTreeSet<SessionId>,
    /// How the run stands.
    stand: whose::Stand,
    /// The block that the user points at.
    picked: Option<usize>,
    /// The block of each row of the last frame.
    shown: Vec<usize>,
    /// Where the view stood in it, and how wide it was.
    shown_at: Scroll,
    wide: Option<Wide>,
}

/// A line of the window.
#[derive(Debug)]
pub struct Row {
    /// What stands there.
    pub line: Line<'static>,
    /// Whether it belongs to the block that the user points at.
    pub is_picked: bool,
    /// How far to the right it begins.
    pub indent: usize,
}

/// The number of the first block: what came before it may be told later.
const FIRST: usize = usize::MAX / 2;

impl Default for Transcript {
    fn default() -> Self {
        Self {
            blocks: VecDeque::new(),
            first: FIRST,
            earlier: Earlier::default(),
            is_piece: false,
            n_bytes: 0,
            ends: BTreeMap::new(),
            sayings: BTreeMap::new(),
            given: None,
            asked: waiting::Asked::default(),
            tasks: BTreeMap::new(),
            thinking: Folding::default(),
            scroll: Scroll::default(),
            left_at: None,
            turns: Turns::default(),
            steps: Steps::default(),
            root: String::new(),
            key: String::new(),
            clock: None,
            speakers: BTreeSet::new(),
            stand: whose::Stand::default(),
            picked: None,
            shown: Vec::new(),
            shown_at: Scroll::default(),
            wide: None,
        }
    }
}

impl Transcript {
    /// Takes an event in.
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        if let Event::RunCreated(_) = event {
            // Another log begins; nothing of the one before it can be told again.
            self.leave_run();
            self.blocks.iter_mut().for_each(|block| block.seq = 0);
            self.earlier = Earlier::from_the_first();
        }
        self.earlier.on_event();
        match event {
            // A goal that is given is also the first thing that is said about it.
            Event::GoalMessageAdded { text }
                if self.given.take_if(|given| given == text).is_some() => {}
            Event::GoalGiven { text } => {
                self.given = Some(text.clone());
                self.push_all(retell::event(event));
            }
            Event::Agent { role, news, .. } => self.on_news(*role, news),
            Event::TurnStarted { .. } | Event::TurnEnded { .. } => {
                self.drop_provisional();
                self.tell(event);
            }
            _ if self.is_of_speaker(event) => {}
            Event::Discussion { id, news } => self.on_discussion(id, news),
            Event::RunResumed { .. } => {
                self.blocks.iter_mut().for_each(Block::cut_off);
                self.tell(event);
            }
            Event::StepRecorded { step, .. } => self.end_step(*step, event),
            Event::ApprovalDecided {
                request,
                allowed,
                by,
                reason,
                ..
            } => {
                let answer = waiting::Answer {
                    is_allowed: *allowed,
                    by,
                    reason,
                };
                self.tell_answer(request, answer);
            }
            Event::TaskPatched { session, patch } => self.tell_patch(session, patch),
            Event::TodosWritten { session, todos } => self.tell_todos(session, todos),
            Event::TestsRan { .. } | Event::CommitMade { .. } => {
                let told = retell::event(event);
                for (text, _) in told.iter().filter_map(Block::good) {
                    self.steps.note(text);
                }
                self.push_all(told);
            }
            _ => self.tell(event),
        }
        if let Event::QuestionAsked { .. } = event {
            // Whoever is asked sees what it is about.
            self.go_to_end();
        }
        self.note_waiting(event);
        self.note_task(event);
        let told = self.turns.on_event((at, self.earlier.last()), event);
        let begins = self.steps.on_event(event);
        self.push_all(told.into_iter().chain(begins).collect());
    }

    fn on_news(&mut self, role: Role, news: &AgentActivity) {
        match news {
            AgentActivity::Text { text } => self.finish_text(role, text),
            AgentActivity::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => self.end_tool(item, status, *exit_code, output),
            AgentActivity::FilesChanged { item, paths, diffs } => {
                let changed = |(path, change): (&String, &String)| {
                    let diff = diffs.get(path).map_or("", String::as_str);
                    Changed::new(path, change, diff)
                };
                self.change_files(item, paths.iter().map(changed).collect());
            }
            // What is said already is what was tried again.
            AgentActivity::Retrying { .. } => {
                self.push_before(
                    Some(role),
                    wide::about(Some(role), retell::news(role, news)),
                );
            }
            _ => self.push_all(wide::about(Some(role), retell::news(role, news))),
        }
    }

    /// Takes a piece of text in.
    pub fn on_delta(&mut self, delta: TextDelta) {
        match delta {
            TextDelta::Text { role, item, text } => {
                let saying = self.sayings.entry((role, item.clone())).or_default();
                let text = saying.push(&text);
                self.grow(role, &item, text);
            }
            // The board shows what a participant says.
            TextDelta::Child { .. } => {}
            TextDelta::Withdrawn { role, item } => {
                self.sayings.remove(&(role, item.clone()));
                self.remove(|block| block.is_provisional_of(role, Some(&item)));
            }
        }
    }

    /// Names files from this folder on, also in what is told already.
    pub fn name_from(&mut self, root: &str) {
        let root = match root.trim_end_matches('/') {
            "" => String::new(),
            root => format!("{root}/"),
        };
        if root != self.root {
            self.blocks
                .iter_mut()
                .for_each(|block| block.name_from(&root));
            self.root = root;
            self.count();
        }
    }

    /// Names the key that shows all of what is cut, also in what is told already.
    pub fn name_key(&mut self, key: &str) {
        if self.key != key {
            key.clone_into(&mut self.key);
            self.blocks.iter_mut().for_each(|block| block.name_key(key));
        }
    }

    /// Adds a quiet line of the program.
    pub fn notice(&mut self, text: &str) {
        self.push_all(vec![Block::new(Who::System, Content::notice(text))]);
    }

    fn grow(&mut self, role: Role, item: &str, text: String) {
        if text.is_empty() {
            return;
        }
        let found = self
            .blocks
            .iter_mut()
            .rev()
            .find(|block| block.is_provisional_of(role, Some(item)));
        match found {
            Some(block) => self.n_bytes += block.grow(text),
            None => self.push_all(vec![Block::new(
                Who::Agent(role),
                Content::provisional(item, text),
            )]),
        }
        self.forget_old();
    }

    /// The finished block takes the place of the oldest provisional one of its author.
    fn finish_text(&mut self, role: Role, text: &str) {
        let finished = Block::new(Who::Agent(role), Content::speech(text));
        let found = self
            .blocks
            .iter_mut()
            .find(|block| block.is_provisional_of(role, None));
        let Some(block) = found else {
            self.push_all(vec![finished]);
            return;
        };
        if let Content::Provisional { item, .. } = &block.content {
            self.sayings.remove(&(role, item.clone()));
        }
        self.n_bytes = (self.n_bytes + finished.n_bytes()).saturating_sub(block.n_bytes());
        let is_named = block.is_named;
        *block = finished;
        block.is_named = is_named;
        block.seq = self.earlier.last();
    }

    fn end_tool(&mut self, wanted: &str, status: &str, exit_code: Option<i32>, output: &str) {
        let ended = ToolEnd::new(status, exit_code, output);
        let mut blocks = self.blocks.iter_mut().rev();
        match blocks.find(|block| block.running() == Some(wanted)) {
            Some(block) => self.n_bytes += block.end_tool(ended),
            None if self.ends.len() < MAX_ENDS => {
                self.ends.insert(wanted.to_owned(), ended);
            }
            None => {}
        }
    }

    /// Tells on its card what a call changes; a call of which nothing is kept has said it before.
    fn change_files(&mut self, wanted: &str, files: Vec<Changed>) {
        let root = self.root.clone();
        let is_wanted = |block: &&mut Block| block.card().is_some_and(|card| card.item == wanted);
        if let Some(block) = self.blocks.iter_mut().rev().find(is_wanted) {
            let before = block.n_bytes();
            block.change(files);
            block.name_from(&root);
            let now = block.n_bytes();
            self.n_bytes = (self.n_bytes + now).saturating_sub(before);
        }
    }

    fn drop_provisional(&mut self) {
        self.sayings.clear();
        self.remove(Block::is_provisional);
    }

    fn remove(&mut self, is_void: impl Fn(&Block) -> bool) {
        let Some(at) = self.blocks.iter().rposition(&is_void) else {
            return;
        };
        self.turns.forget_name();
        // What is provisional stands near the end; numbers of blocks before it stay.
        self.blocks.retain(|block| !is_void(block));
        self.scroll.clamp(self.first + at, self.end());
        self.count();
    }

    fn push_all(&mut self, blocks: Vec<Block>) {
        self.push_before(None, blocks);
    }

    /// Adds blocks, before what a role is still saying where one is given.
    fn push_before(&mut self, said_by: Option<Role>, blocks: Vec<Block>) {
        for mut block in blocks {
            block.seq = self.earlier.last();
            block.name_from(&self.root);
            block.name_key(&self.key);
            block.tell_time(self.clock);
            block.is_named = self.turns.names(&block);
            self.n_bytes += block.n_bytes();
            self.put(block, said_by);
        }
        self.forget_old();
    }

    /// How many blocks there were in all.
    pub fn n_told(&self) -> u64 {
        u64::try_from(self.end().saturating_sub(FIRST)).unwrap_or(u64::MAX)
    }

    /// The number after the last block's.
    fn end(&self) -> usize {
        self.first + self.blocks.len()
    }

    /// Tells whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Folds or unfolds what agents think.
    pub fn toggle_thinking(&mut self) {
        self.thinking = match self.thinking {
            Folding::Folded => Folding::Open,
            Folding::Open => Folding::Folded,
        };
    }

    #[cfg(test)]
    pub(super) fn n_blocks(&self) -> usize {
        self.blocks.len()
    }

    #[cfg(test)]
    pub(super) fn n_laid_out(&self) -> usize {
        self.blocks.iter().filter(|b| b.is_laid_out()).count()
    }

    /// Tells whether the view follows the end.
    pub fn follows(&self) -> bool {
        self.scroll.follows()
    }

    /// How many blocks came below the window since the end is not followed.
    pub fn n_new(&self) -> usize {
        let below = self.shown.last().map_or(self.first, |last| last + 1);
        let first = self.left_at.unwrap_or(self.end()).max(below);
        self.end().saturating_sub(first)
    }

    /// Goes to the end and follows it.
    pub fn go_to_end(&mut self) {
        self.scroll = Scroll::default();
        self.earlier.stay();
        self.forget_old();
    }

    /// Goes to the first line of all, however much has to be read for it.
    pub fn go_to_top(&mut self) {
        self.scroll = Scroll::at(self.first, 0);
        self.earlier.go_to_the_beginning();
    }

    /// Moves the view by lines; negative is up.
    pub fn scroll_by(&mut self, n_lines: isize) {
        self.scroll.wish(n_lines);
        self.earlier.stay();
    }

    /// Gives the lines that are visible in a window, laying out nothing else.
    pub fn visible(&mut self, wide: Wide, rows: usize) -> Vec<Row> {
        self.fit_ending(rows);
        let (first, folding) = (self.first, self.thinking);
        let mut scroll = std::mem::take(&mut self.scroll);
        let mut window = scroll::Window {
            n_blocks: self.blocks.len(),
            first,
            rows,
            height: |at: usize| {
                let (columns, _) = wide.of(self.blocks[at].column());
                self.blocks[at].height(columns, folding)
            },
        };
        let (from, skip) = scroll.settle(&mut window);
        self.earlier.on_shown(from, !scroll.follows());
        self.left_at = match scroll.follows() {
            true => None,
            false => self.left_at.or(Some(self.end())),
        };
        (self.scroll, self.shown_at, self.wide) = (scroll, scroll, Some(wide));
        let picked = self.picked_now();
        let mut shown = Vec::with_capacity(rows);
        self.shown.clear();
        let mut skip = skip;
        let from = from.min(self.blocks.len());
        for (number, block) in (first + from..).zip(self.blocks.range_mut(from..)) {
            let left = rows - shown.len();
            if left == 0 {
                break;
            }
            let is_picked = picked == Some(number);
            let (columns, indent) = wide.of(block.column());
            let lines = block.lines(columns, folding).enumerate();
            shown.extend(lines.skip(skip).take(left).map(|(n, line)| Row {
                // The blank above a name is between two blocks.
                is_picked: is_picked && (n > 0 || line.width() > 0),
                line,
                indent,
            }));
            self.shown.resize(shown.len(), number);
            skip = 0;
        }
        shown
    }
}
