//! The one causal stream of what was said and done, as blocks that know their author.
//!
//! Events make finished blocks; pieces of text make provisional ones, which the finished block replaces.
//! Refuses to know the run's state. Old blocks are forgotten: the sessions on disk hold everything.

mod block;
mod lines;
mod retell;
mod scroll;

use std::collections::{BTreeMap, VecDeque};

use block::{Block, Content, Folding, Who};
use scroll::Scroll;

use ratatui::text::Line;

use super::Delta;
use crate::domain::event::{Event, News};
use crate::domain::turn::Role;
use crate::text::Cleaner;

/// How many blocks are kept.
const MAX_BLOCKS: usize = 2_000;
/// How many bytes of text are kept, all blocks together.
const MAX_BYTES: usize = 8 << 20;

/// The blocks of a conversation and where the view stands in them.
#[derive(Debug)]
pub struct Transcript {
    blocks: VecDeque<Block>,
    /// The number of the first block that is kept; numbers never change.
    first: usize,
    /// Whether something came before it.
    has_forgotten: bool,
    n_bytes: usize,
    cleaners: BTreeMap<(Role, String), Cleaner>,
    /// The goal that was given last, until something else is said.
    given: Option<String>,
    thinking: Folding,
    scroll: Scroll,
}

/// The number of the first block: what came before it may be told later.
const FIRST: usize = usize::MAX / 2;

impl Default for Transcript {
    fn default() -> Self {
        Self {
            blocks: VecDeque::new(),
            first: FIRST,
            has_forgotten: false,
            n_bytes: 0,
            cleaners: BTreeMap::new(),
            given: None,
            thinking: Folding::default(),
            scroll: Scroll::default(),
        }
    }
}

/// What an event says beside texts and tools, for the log; drawable.
pub fn facts(event: &Event) -> Vec<String> {
    if let Event::Agent {
        news: News::Text { .. } | News::Thinking { .. } | News::ToolEnded { .. },
        ..
    } = event
    {
        return Vec::new();
    }
    retell::event(event)
        .into_iter()
        .filter_map(|block| match block.content {
            Content::Notice { text } | Content::Fact { text, .. } | Content::Divider { text } => {
                Some(text)
            }
            Content::Speech { .. }
            | Content::Provisional { .. }
            | Content::Thinking { .. }
            | Content::Tool { .. } => None,
        })
        .collect()
}

impl Transcript {
    /// Takes an event in.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            // A goal that is given is also the first thing that is said about it.
            Event::Said { text } if self.given.take_if(|given| given == text).is_some() => {}
            Event::GoalGiven { text } => {
                self.given = Some(text.clone());
                self.push_all(retell::event(event));
            }
            Event::Agent { role, news, .. } => self.on_news(*role, news),
            Event::TurnStarted { .. } | Event::TurnEnded { .. } => {
                self.drop_provisional();
                self.push_all(retell::event(event));
            }
            _ => self.push_all(retell::event(event)),
        }
    }

    fn on_news(&mut self, role: Role, news: &News) {
        match news {
            News::Text { text } => self.finish_text(role, text),
            News::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => self.end_tool(item, status, *exit_code, output),
            _ => self.push_all(retell::news(role, news)),
        }
    }

    /// Takes a piece of text in.
    pub fn on_delta(&mut self, delta: Delta) {
        match delta {
            Delta::Text { role, item, text } => {
                let cleaner = self.cleaners.entry((role, item.clone())).or_default();
                let text = cleaner.push(&text);
                self.grow(role, &item, text);
            }
            Delta::Withdrawn { role, item } => {
                self.cleaners.remove(&(role, item.clone()));
                self.remove(|block| block.is_provisional_of(role, Some(&item)));
            }
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
            self.cleaners.remove(&(role, item.clone()));
        }
        self.n_bytes = (self.n_bytes + finished.n_bytes()).saturating_sub(block.n_bytes());
        *block = finished;
    }

    fn end_tool(&mut self, wanted: &str, status: &str, exit_code: Option<i32>, output: &str) {
        let found = self.blocks.iter_mut().rev().find(
            |block| matches!(&block.content, Content::Tool { item, end: None, .. } if item == wanted),
        );
        if let Some(block) = found {
            self.n_bytes += block.end_tool(status, exit_code, output);
        }
    }

    fn drop_provisional(&mut self) {
        self.cleaners.clear();
        self.remove(Block::is_provisional);
    }

    fn remove(&mut self, is_void: impl Fn(&Block) -> bool) {
        let Some(at) = self.blocks.iter().rposition(&is_void) else {
            return;
        };
        // What is provisional stands near the end; numbers of blocks before it stay.
        self.blocks.retain(|block| !is_void(block));
        self.scroll.clamp(self.first + at, self.end());
        self.count();
    }

    fn push_all(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            self.n_bytes += block.n_bytes();
            self.blocks.push_back(block);
        }
        self.forget_old();
    }

    /// Puts what came earlier in front, as far as there is room; what is looked at stays where it is.
    pub fn put_before(&mut self, earlier: Self) {
        self.has_forgotten |= earlier.has_forgotten;
        for block in earlier.blocks.into_iter().rev() {
            let n_bytes = self.n_bytes + block.n_bytes();
            // A piece that is still being written in the past was never finished.
            if block.is_provisional() {
                continue;
            }
            if self.blocks.len() >= MAX_BLOCKS || n_bytes > MAX_BYTES {
                self.has_forgotten = true;
                break;
            }
            self.n_bytes = n_bytes;
            self.first -= 1;
            self.blocks.push_front(block);
        }
    }

    fn forget_old(&mut self) {
        while self.blocks.len() > MAX_BLOCKS || (self.n_bytes > MAX_BYTES && self.blocks.len() > 1)
        {
            if let Some(old) = self.blocks.pop_front() {
                self.n_bytes = self.n_bytes.saturating_sub(old.n_bytes());
                self.first += 1;
                self.has_forgotten = true;
            }
        }
    }

    fn count(&mut self) {
        self.n_bytes = self.blocks.iter().map(Block::n_bytes).sum();
    }

    /// The number after the last block's.
    fn end(&self) -> usize {
        self.first + self.blocks.len()
    }

    /// Tells whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Tells whether older blocks were forgotten.
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// The last finished text of an agent.
    pub fn last_said(&self) -> Option<&str> {
        self.blocks
            .iter()
            .rev()
            .find_map(|block| match (&block.who, &block.content) {
                (Who::Agent(_), Content::Speech { text }) => Some(text.as_str()),
                _ => None,
            })
    }

    /// Folds or unfolds what agents think.
    pub fn toggle_thinking(&mut self) {
        self.thinking = match self.thinking {
            Folding::Folded => Folding::Open,
            Folding::Open => Folding::Folded,
        };
    }

    #[cfg(test)]
    pub(super) fn n_laid_out(&self) -> usize {
        self.blocks.iter().filter(|b| b.is_laid_out()).count()
    }

    /// Tells whether the view follows the end.
    pub fn follows(&self) -> bool {
        self.scroll.follows()
    }

    /// Goes to the end and follows it.
    pub fn go_to_end(&mut self) {
        self.scroll = Scroll::default();
    }

    /// Goes to the first line that is kept.
    pub fn go_to_top(&mut self) {
        self.scroll = Scroll::at(self.first, 0);
    }

    /// Moves the view by lines; negative is up.
    pub fn scroll_by(&mut self, n_lines: isize) {
        self.scroll.wish(n_lines);
    }

    /// Gives the lines that are visible in a window, laying out nothing else.
    pub fn visible(&mut self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let (first, folding) = (self.first, self.thinking);
        let mut scroll = std::mem::take(&mut self.scroll);
        let mut window = scroll::Window {
            n_blocks: self.blocks.len(),
            first,
            rows,
            height: |at: usize| self.blocks[at].height(columns, folding),
        };
        let (from, skip) = scroll.settle(&mut window);
        self.scroll = scroll;
        let mut lines = Vec::with_capacity(rows);
        let mut skip = skip;
        for block in self.blocks.range_mut(from.min(self.blocks.len())..) {
            if lines.len() >= rows {
                break;
            }
            lines.extend(block.lines(columns, folding).skip(skip));
            skip = 0;
        }
        lines.truncate(rows);
        lines
    }
}
