//! One block of the stream: who, what, and its lines at the width of the last frame.
//!
//! Refuses to know events. A block that grows lays out only what is new.

use ratatui::text::Line;

use super::block_layout::{self, BlockLayout, BlockLayoutOptions};
use super::discussion_card::DiscussionCard;
use super::run_summary_card::RunSummaryCard;
use super::todo_list_card::TodoListCard;
use super::tool_call_card::{ToolCallCard, ToolCallOutcome, ToolFileChange};
use crate::domain::discussion::DiscussionEvent;
use crate::domain::ids::RequestId;
use crate::domain::turn::Role;
use crate::text::truncate;
use crate::tui::labels::LocalClock;
use crate::tui::text_wrap::{clean_for_display, to_drawable};

/// How many bytes of one block are shown; the session's file holds the rest.
const MAX_BLOCK_BYTES: usize = 256 << 10;

/// Who speaks or acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockAuthor {
    /// One of the agents.
    Agent(Role),
    /// The user.
    User,
    /// This program.
    System,
}

/// Whether thinking is folded to one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FoldState {
    /// It is.
    #[default]
    Folded,
    /// It is shown whole.
    Open,
}

/// What a block holds; all texts are drawable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockContent {
    /// A finished text.
    Message {
        /// The text.
        text: String,
    },
    /// A text that is being written.
    Provisional {
        /// The CLI's name of it.
        item: String,
        /// What came so far.
        text: String,
    },
    /// Thinking.
    Thinking {
        /// The text.
        text: String,
    },
    /// A call of a tool.
    Tool(ToolCallCard),
    /// A discussion.
    Discussion(DiscussionCard),
    /// A list of todos.
    Todos(TodoListCard),
    /// How a run ended.
    RunSummary(RunSummaryCard),
    /// A quiet line of the program.
    Notice {
        /// The text.
        text: String,
    },
    /// Something that the program checked or that changed the run.
    Fact {
        /// The text.
        text: String,
        /// How it is to be taken.
        tone: FactTone,
        /// What it rests on, shown once it is opened; mostly nothing.
        more: String,
    },
    /// A new phase begins.
    Divider {
        /// Its name.
        text: String,
    },
}

/// How a fact is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactTone {
    /// As it is.
    Plain,
    /// Well.
    Good,
    /// Badly.
    Bad,
    /// Nothing came of it, and nothing went wrong.
    NoEffect,
    /// The user was asked; what waits now stands in its dialog.
    Question,
}

/// A block and its lines.
#[derive(Debug)]
pub struct TranscriptBlock {
    /// Its author.
    pub author: BlockAuthor,
    /// What it holds.
    pub content: BlockContent,
    /// About whose turn the program says it; where both agents stand beside each other, it stands in that one's column.
    pub about: Option<Role>,
    /// The number in the log of the event that it tells of, or of the last one before it; 0 where that
    /// log is gone.
    pub seq: u64,
    /// Whether its author's name stands above it.
    pub is_named: bool,
    /// What the user chose for it, where it can be folded.
    own_fold: Option<FoldState>,
    layout: BlockLayout,
}

impl BlockContent {
    /// A finished text.
    pub fn message(text: &str) -> Self {
        // What comes before the first line is no part of what is said.
        Self::Message {
            text: truncate_text(text.trim_start_matches(['\n', '\r'])),
        }
    }

    /// The beginning of a cleaned text.
    pub fn provisional(item: &str, text: String) -> Self {
        Self::Provisional {
            item: item.to_owned(),
            text: to_drawable(text),
        }
    }

    /// A quiet line.
    pub fn notice(text: &str) -> Self {
        Self::Notice {
            text: truncate_text(text),
        }
    }

    /// Something that the program knows.
    pub fn fact(tone: FactTone, text: &str) -> Self {
        Self::fact_with_detail(tone, text, "")
    }

    /// Something that the program knows, and what it rests on.
    pub fn fact_with_detail(tone: FactTone, text: &str, more: &str) -> Self {
        Self::Fact {
            text: truncate_text(text),
            tone,
            more: truncate_text(more),
        }
    }
}

impl BlockContent {
    /// All of its text, as one would copy it.
    pub fn to_text(&self) -> String {
        match self {
            Self::Message { text }
            | Self::Provisional { text, .. }
            | Self::Thinking { text }
            | Self::Notice { text }
            | Self::Divider { text } => text.clone(),
            Self::Fact { text, more, .. } => format!("{text}\n{more}").trim_end().to_owned(),
            Self::Tool(card) => card.to_text(),
            Self::Discussion(talk) => talk.to_text(),
            Self::Todos(told) => told.text.clone(),
            Self::RunSummary(ending) => ending.to_text(),
        }
    }
}

fn truncate_text(text: &str) -> String {
    let text = clean_for_display(text.trim_end());
    if text.len() <= MAX_BLOCK_BYTES {
        return text;
    }
    let kept = truncate::to_bytes(&text, MAX_BLOCK_BYTES);
    format!("{kept}\n[cut: the text has {} bytes]", text.len())
}

impl TranscriptBlock {
    /// Makes a block.
    pub fn new(who: BlockAuthor, content: BlockContent) -> Self {
        Self {
            author: who,
            content,
            about: None,
            seq: 0,
            is_named: false,
            own_fold: None,
            layout: BlockLayout::default(),
        }
    }

    /// The same, said about a turn of somebody.
    #[must_use]
    pub fn with_role(self, role: Option<Role>) -> Self {
        Self {
            about: role,
            ..self
        }
    }

    /// In whose column it stands.
    pub fn column_owner(&self) -> BlockAuthor {
        match (self.author, self.about) {
            (BlockAuthor::System, Some(role)) => BlockAuthor::Agent(role),
            (who, _) => who,
        }
    }

    /// What it says that went well, and what that rests on.
    pub fn success_fact(&self) -> Option<(&str, &str)> {
        match &self.content {
            BlockContent::Fact {
                text,
                tone: FactTone::Good,
                more,
            } => Some((text, more)),
            _ => None,
        }
    }

    /// Tells whether its text has these letters, which are given in lower case.
    pub fn contains_text(&self, letters: &str) -> bool {
        self.content.to_text().to_lowercase().contains(letters)
    }

    /// Tells whether it is being written.
    pub fn is_provisional(&self) -> bool {
        matches!(self.content, BlockContent::Provisional { .. })
    }

    /// Tells whether it is being written by `role`, as `wanted` where that is given.
    pub fn is_provisional_of(&self, role: Role, wanted: Option<&str>) -> bool {
        match &self.content {
            BlockContent::Provisional { item, .. } => {
                self.author == BlockAuthor::Agent(role)
                    && wanted.is_none_or(|wanted| wanted == item)
            }
            _ => false,
        }
    }

    /// Adds cleaned text to a provisional block; gives the bytes that came to it.
    pub fn append_text(&mut self, more: String) -> usize {
        match &mut self.content {
            BlockContent::Provisional { text, .. } if text.len() < MAX_BLOCK_BYTES => {
                let before = text.len();
                text.push_str(&to_drawable(more));
                text.len() - before
            }
            _ => 0,
        }
    }

    /// The tool's call that it shows, where it shows one.
    pub fn card(&self) -> Option<&ToolCallCard> {
        match &self.content {
            BlockContent::Tool(card) => Some(card),
            _ => None,
        }
    }

    /// The discussion that it shows, where it shows one.
    pub fn discussion(&self) -> Option<&DiscussionCard> {
        match &self.content {
            BlockContent::Discussion(talk) => Some(talk),
            _ => None,
        }
    }

    /// The list that it shows, where it shows one.
    pub fn todos(&self) -> Option<&TodoListCard> {
        match &self.content {
            BlockContent::Todos(told) => Some(told),
            _ => None,
        }
    }

    /// The list that it shows was written again.
    pub fn mark_todos_outdated(&mut self) {
        if let BlockContent::Todos(told) = &mut self.content {
            told.is_outdated = true;
            self.layout = BlockLayout::default();
        }
    }

    /// The end of a run that it shows, where it shows one.
    pub fn run_summary(&self) -> Option<&RunSummaryCard> {
        match &self.content {
            BlockContent::RunSummary(ending) => Some(ending),
            _ => None,
        }
    }

    /// Shows the end of a run as it is now.
    pub fn set_run_summary(&mut self, ending: RunSummaryCard) {
        self.content = BlockContent::RunSummary(ending);
        self.layout = BlockLayout::default();
    }

    /// Takes in what happens in the discussion that it shows.
    pub fn on_discussion(&mut self, news: &DiscussionEvent) {
        if let BlockContent::Discussion(talk) = &mut self.content {
            talk.apply(news);
            self.layout = BlockLayout::default();
        }
    }

    /// The discussion that it shows is over, and another block tells how.
    pub fn mark_ends_below(&mut self) {
        if let BlockContent::Discussion(talk) = &mut self.content {
            talk.mark_ends_below();
            self.layout = BlockLayout::default();
        }
    }

    /// The program ended; a discussion that ran then is cut off.
    pub fn mark_interrupted(&mut self) {
        if let BlockContent::Discussion(talk) = &mut self.content {
            talk.mark_interrupted();
            self.layout = BlockLayout::default();
        }
    }

    /// The tool's call that it shows and that has not ended.
    pub fn running_tool(&self) -> Option<&str> {
        let card = self.card().filter(|card| card.end.is_none())?;
        Some(&card.item)
    }

    /// Ends a tool's call; gives the bytes that came to it.
    pub fn end_tool(&mut self, ended: ToolCallOutcome) -> usize {
        let BlockContent::Tool(card) = &mut self.content else {
            return 0;
        };
        let n_bytes = ended.n_bytes();
        card.end = Some(ended);
        self.layout = BlockLayout::default();
        n_bytes
    }

    /// Tells something else in its place.
    pub fn replace_content(&mut self, content: BlockContent) {
        self.content = content;
        self.layout = BlockLayout::default();
    }

    /// Leaves its author's name out: they spoke right before.
    pub fn hide_name(&mut self) {
        self.is_named = false;
        self.layout = BlockLayout::default();
    }

    /// Says that a call waits for the answer to a request, or not any more.
    pub fn set_pending_request(&mut self, request: Option<RequestId>) {
        if let BlockContent::Tool(card) = &mut self.content {
            card.pending_request = request;
            self.layout = BlockLayout::default();
        }
    }

    /// Says on a call's card that it was refused, and why; gives the bytes that came to it.
    pub fn mark_denied(&mut self, why: &str) -> usize {
        let BlockContent::Tool(card) = &mut self.content else {
            return 0;
        };
        self.layout = BlockLayout::default();
        card.mark_denied(why)
    }

    /// Tells what a call changes.
    pub fn set_file_changes(&mut self, files: Vec<ToolFileChange>) {
        if let BlockContent::Tool(card) = &mut self.content {
            card.set_file_changes(files);
            self.layout = BlockLayout::default();
        }
    }

    /// Names the files that it lists or a call is about from a folder on.
    pub fn relativize_paths(&mut self, root: &str) {
        let differs = match &mut self.content {
            _ if root.is_empty() => false,
            BlockContent::Tool(card) => card.relativize_paths(root),
            BlockContent::Notice { text } if text.contains(root) => {
                *text = text.replace(root, "");
                true
            }
            _ => false,
        };
        if differs {
            self.layout = BlockLayout::default();
        }
    }

    /// Names the key that shows all of what is cut.
    pub fn set_expand_key(&mut self, key: &str) {
        if let BlockContent::Tool(card) = &mut self.content
            && card.set_expand_key(key)
        {
            self.layout = BlockLayout::default();
        }
    }

    /// Names times as the user's clock does, where it is known.
    pub fn localize_utc_times(&mut self, clock: Option<LocalClock>) {
        let (BlockContent::Fact { text, .. }, Some(clock)) = (&mut self.content, clock) else {
            return;
        };
        let local = clock.localize_utc_times(text);
        if local != *text {
            *text = local;
            self.layout = BlockLayout::default();
        }
    }

    /// How many bytes of text it holds.
    pub fn n_bytes(&self) -> usize {
        match &self.content {
            BlockContent::Message { text }
            | BlockContent::Provisional { text, .. }
            | BlockContent::Thinking { text }
            | BlockContent::Notice { text }
            | BlockContent::Divider { text } => text.len(),
            BlockContent::Fact { text, more, .. } => text.len() + more.len(),
            BlockContent::Tool(card) => card.n_bytes(),
            BlockContent::Discussion(talk) => talk.n_bytes(),
            BlockContent::Todos(told) => told.text.len(),
            BlockContent::RunSummary(ending) => ending.n_bytes(),
        }
    }

    #[cfg(test)]
    pub(super) fn is_laid_out(&self) -> bool {
        self.layout.n_lines() > 0
    }

    /// How many lines it takes.
    pub fn height(&mut self, columns: usize, folding: FoldState) -> usize {
        let look = self.layout_options(columns, folding);
        block_layout::update_layout(&mut self.layout, self.author, &self.content, look);
        self.layout.n_lines()
    }

    /// Its lines.
    pub fn lines(
        &mut self,
        columns: usize,
        folding: FoldState,
    ) -> impl Iterator<Item = Line<'static>> {
        let look = self.layout_options(columns, folding);
        block_layout::update_layout(&mut self.layout, self.author, &self.content, look);
        self.layout.lines()
    }

    fn layout_options(&self, columns: usize, thinking: FoldState) -> BlockLayoutOptions {
        let usual = match self.content {
            BlockContent::Thinking { .. } => thinking,
            BlockContent::Todos(TodoListCard {
                is_outdated: false, ..
            }) => FoldState::Open,
            _ => FoldState::Folded,
        };
        BlockLayoutOptions {
            columns,
            folding: self.own_fold.unwrap_or(usual),
            is_named: self.is_named,
        }
    }

    /// Opens it, or folds it; tells whether it can be.
    pub fn toggle_fold(&mut self, thinking: FoldState) -> bool {
        let can = match &self.content {
            BlockContent::Thinking { .. } | BlockContent::Todos(_) => true,
            BlockContent::Tool(card) => card.can_open(),
            BlockContent::Message { text } => block_layout::is_foldable(self.author, text),
            BlockContent::Fact { more, .. } => !more.is_empty(),
            _ => false,
        };
        if can {
            self.own_fold = Some(match self.layout_options(0, thinking).folding {
                FoldState::Folded => FoldState::Open,
                FoldState::Open => FoldState::Folded,
            });
        }
        can
    }
}
