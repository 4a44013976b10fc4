//! One block of the stream: its author, its content, and its cached layout.

use ratatui::text::Line;

use super::block_content::{BlockContent, FactTone, MAX_BLOCK_BYTES};
use super::block_layout::{
    self, BlockHeading, BlockLayout, BlockLayoutOptions, BlockVisibility, DialogOverlap,
};
use super::discussion_card::DiscussionCard;
use super::read_fold::{FoldState, ReadFold};
use super::run_summary_card::RunSummaryCard;
use super::stage_divider::StageDivider;
use super::todo_list_card::TodoListCard;
use super::tool_call_card::{ToolCallCard, ToolCallOutcome};
use super::turn_failure_note::TurnFailureNote;
use crate::domain::discussion::DiscussionEvent;
use crate::domain::event::ToolKind;
use crate::domain::ids::RequestId;
use crate::domain::ids::UnixMillis;
use crate::domain::turn::Role;
use crate::tui::labels::LocalClock;
use crate::tui::text_wrap::to_drawable;

/// The author of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockAuthor {
    Agent(Role),
    /// The agent of the child session that the transcript is about.
    Subagent,
    User,
    /// The user or the agent that gave a child session its task.
    TaskGiver,
    System,
}

impl BlockAuthor {
    /// Returns the role, unless it is nobody's or a child's.
    pub fn role(self) -> Option<Role> {
        match self {
            Self::Agent(role) => Some(role),
            Self::Subagent | Self::User | Self::TaskGiver | Self::System => None,
        }
    }

    pub fn is_agent(self) -> bool {
        matches!(self, Self::Agent(_) | Self::Subagent)
    }
}

/// How much of a block is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrintedPart {
    #[default]
    Nothing,
    /// That many bytes of its text, which are whole lines; of a discussion, that it started.
    Beginning(usize),
    Whole,
}

impl PrintedPart {
    /// Returns how many bytes are printed.
    pub(super) fn n_bytes(self) -> usize {
        match self {
            Self::Beginning(n_bytes) => n_bytes,
            Self::Nothing | Self::Whole => 0,
        }
    }
}

/// A block of the stream, with its layout cache.
#[derive(Debug)]
pub struct TranscriptBlock {
    pub author: BlockAuthor,
    pub content: BlockContent,
    /// The role whose turn the program's text is about; with two columns, the block is in that role's
    /// column.
    pub about: Option<Role>,
    /// The log number of the event that created it, or of the last event before it; 0 if the block belongs
    /// to a previous log.
    pub seq: u64,
    /// Why an agent tries again in a counted attempt, or why a call was denied: the text contains it.
    pub reason: Option<String>,
    /// Whether its author's name is above it.
    pub is_named: bool,
    /// Whether it is of a fresh session that judges a dispute in the reviewer's place.
    pub is_judge: bool,
    pub visibility: BlockVisibility,
    /// Of a failed turn, or of an attempt of one, what the CLI said.
    pub(super) failure: Option<TurnFailureNote>,
    /// What of it a dialog below says, so that the block does not.
    pub dialog_overlap: DialogOverlap,
    /// Whether the findings that it lists are visible beside the chat.
    pub is_list_beside: bool,
    /// Whether a blank row divides it from what an agent says or does, or from the heading of a stage.
    pub is_set_apart: bool,
    /// The row of the fold of reads that it is the first of.
    pub reads: Option<ReadFold>,
    /// The CLI with its version: of a notice what it says, of a named block what is shown behind the name. There it may
    /// also be what the turn is for.
    pub cli: Option<String>,
    /// What a turn used and how long it took, if this is the line that ends it.
    pub turn_usage: Vec<String>,
    /// The same, at the right of its author's name.
    name_meta: Vec<String>,
    /// How much of it linear mode has printed.
    pub printed: PrintedPart,
    /// The user's choice, if the block can be folded.
    own_fold: Option<FoldState>,
    layout: BlockLayout,
}

impl TranscriptBlock {
    pub fn new(who: BlockAuthor, content: BlockContent) -> Self {
        Self {
            author: who,
            content,
            about: None,
            seq: 0,
            reason: None,
            is_named: false,
            is_judge: false,
            visibility: BlockVisibility::default(),
            failure: None,
            dialog_overlap: DialogOverlap::default(),
            is_list_beside: false,
            is_set_apart: false,
            reads: None,
            cli: None,
            turn_usage: Vec::new(),
            name_meta: Vec::new(),
            printed: PrintedPart::default(),
            own_fold: None,
            layout: BlockLayout::default(),
        }
    }

    /// Returns the block, marked as being about a role's turn.
    #[must_use]
    pub fn with_role(self, role: Option<Role>) -> Self {
        Self {
            about: role,
            ..self
        }
    }

    /// Returns the author whose column it is in.
    pub fn column_owner(&self) -> BlockAuthor {
        match (self.author, self.about) {
            (BlockAuthor::System, Some(role)) => BlockAuthor::Agent(role),
            (who, _) => who,
        }
    }

    /// Returns the text, the tone and the details, if it is a fact.
    pub fn fact(&self) -> Option<(&str, FactTone, &str)> {
        match &self.content {
            BlockContent::Fact {
                text, tone, more, ..
            } => Some((text, *tone, more)),
            _ => None,
        }
    }

    /// Returns whether its text contains the search text, which is given in lower case.
    pub fn contains_text(&self, letters: &str) -> bool {
        self.content.to_text().to_lowercase().contains(letters)
    }

    /// Returns whether it is still being received.
    pub fn is_provisional(&self) -> bool {
        matches!(self.content, BlockContent::Provisional { .. })
    }

    /// Returns whether `who` is still sending it; with `wanted`, only for that item.
    pub fn is_provisional_of(&self, who: BlockAuthor, wanted: Option<&str>) -> bool {
        match &self.content {
            BlockContent::Provisional { item, .. } => {
                self.author == who && wanted.is_none_or(|wanted| wanted == item)
            }
            _ => false,
        }
    }

    /// Appends cleaned text to a provisional block; returns the added bytes.
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

    /// Returns its tool call card, if it has one.
    pub fn card(&self) -> Option<&ToolCallCard> {
        match &self.content {
            BlockContent::Tool(card) => Some(card),
            _ => None,
        }
    }

    /// Returns its discussion card, if it has one.
    pub fn discussion(&self) -> Option<&DiscussionCard> {
        match &self.content {
            BlockContent::Discussion(talk) => Some(talk),
            _ => None,
        }
    }

    /// Returns its todo list, if it has one.
    pub fn todos(&self) -> Option<&TodoListCard> {
        match &self.content {
            BlockContent::Todos(told) => Some(told),
            _ => None,
        }
    }

    /// Marks its todo list as outdated.
    pub fn mark_todos_outdated(&mut self) {
        if let BlockContent::Todos(told) = &mut self.content {
            told.is_outdated = true;
            self.layout = BlockLayout::default();
        }
    }

    /// Returns its run summary, if it has one.
    pub fn run_summary(&self) -> Option<&RunSummaryCard> {
        match &self.content {
            BlockContent::RunSummary(ending) => Some(ending),
            _ => None,
        }
    }

    /// Replaces its run summary.
    pub fn set_run_summary(&mut self, ending: RunSummaryCard) {
        self.content = BlockContent::RunSummary(ending);
        self.layout = BlockLayout::default();
    }

    /// Applies an event to its discussion.
    pub fn on_discussion(&mut self, news: &DiscussionEvent) {
        if let BlockContent::Discussion(talk) = &mut self.content {
            talk.apply(news);
            self.layout = BlockLayout::default();
        }
    }

    /// Marks that a later block shows the result of its discussion.
    pub fn mark_ends_below(&mut self) {
        if let BlockContent::Discussion(talk) = &mut self.content {
            talk.mark_ends_below();
            self.layout = BlockLayout::default();
        }
    }

    /// Marks its discussion as interrupted if it was running, because the program ended.
    pub fn mark_interrupted(&mut self) {
        if let BlockContent::Discussion(talk) = &mut self.content {
            talk.mark_interrupted();
            self.layout = BlockLayout::default();
        }
    }

    /// Returns the id of its tool call if the call is running.
    pub fn running_tool(&self) -> Option<&str> {
        let card = self.card().filter(|card| card.end.is_none())?;
        Some(&card.item)
    }

    /// Ends its tool call; returns the added bytes.
    pub fn end_tool(&mut self, ended: ToolCallOutcome) -> usize {
        let BlockContent::Tool(card) = &mut self.content else {
            return 0;
        };
        let n_bytes = ended.n_bytes();
        card.end = Some(ended);
        // The name of its agent stays where it is.
        if card.has_handed_in() && !self.is_named {
            self.visibility = BlockVisibility::ShownElsewhere;
        }
        self.layout = BlockLayout::default();
        n_bytes
    }

    /// Replaces its content and discards the cached layout.
    pub fn replace_content(&mut self, content: BlockContent) {
        self.content = content;
        self.layout = BlockLayout::default();
    }

    /// Hides the author's name, because the block before has the same author.
    pub fn hide_name(&mut self) {
        self.is_named = false;
        self.cli = None;
        self.name_meta.clear();
        self.layout = BlockLayout::default();
    }

    /// Changes the card of its tool call, if it has one.
    pub fn update_card(&mut self, change: impl FnOnce(&mut ToolCallCard)) {
        if let BlockContent::Tool(card) = &mut self.content {
            change(card);
            self.layout = BlockLayout::default();
        }
    }

    /// Makes the paths of its file list or its tool call relative to a folder.
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
        let is_in_fold = match &mut self.reads {
            Some(fold) if !root.is_empty() => fold.relativize_paths(root),
            _ => false,
        };
        if differs || is_in_fold {
            self.layout = BlockLayout::default();
        }
    }

    /// Sets the key that shows the full output of its tool call.
    pub fn set_expand_key(&mut self, key: &str) {
        if let BlockContent::Tool(card) = &mut self.content
            && card.set_expand_key(key)
        {
            self.layout = BlockLayout::default();
        }
    }

    /// Shows times in the user's time zone, if that is known.
    pub fn localize_utc_times(&mut self, clock: Option<LocalClock>) {
        let (
            BlockContent::Fact { text, .. }
            | BlockContent::Divider(StageDivider { time: text, .. }),
            Some(clock),
        ) = (&mut self.content, clock)
        else {
            return;
        };
        let local = clock.localize_utc_times(text);
        if local != *text {
            *text = local;
            self.layout = BlockLayout::default();
        }
    }

    /// Returns the size of its text in bytes.
    pub fn n_bytes(&self) -> usize {
        match &self.content {
            BlockContent::Message { text }
            | BlockContent::Provisional { text, .. }
            | BlockContent::Thinking { text }
            | BlockContent::Notice { text } => text.len(),
            BlockContent::Divider(divider) => divider.text().len(),
            BlockContent::Fact {
                text, list, more, ..
            } => text.len() + list.iter().map(|line| line.text.len()).sum::<usize>() + more.len(),
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

    /// Sets or removes the row of the fold that it is the first of.
    pub fn set_reads(&mut self, reads: Option<ReadFold>) {
        if self.reads != reads {
            self.reads = reads;
            self.layout = BlockLayout::default();
        }
    }

    /// Sets what is shown at the right of its author's name.
    pub fn set_name_meta(&mut self, meta: Vec<String>) {
        self.name_meta = meta;
        self.layout = BlockLayout::default();
    }

    /// Returns whether the user has opened it.
    pub fn is_opened(&self) -> bool {
        self.own_fold == Some(FoldState::Open)
    }

    /// Folds it as it is by default.
    pub fn close(&mut self) {
        self.own_fold = None;
    }

    /// Returns whether it has rows of its own.
    pub fn has_rows(&self) -> bool {
        self.visibility.has_rows() && self.dialog_overlap != DialogOverlap::Whole
    }

    /// Returns how many lines it takes.
    pub fn height(&mut self, columns: usize, folding: FoldState) -> usize {
        if !self.has_rows() {
            return 0;
        }
        self.update_layout(columns, folding);
        self.layout.n_lines()
    }

    /// Renders its lines, at most `columns` wide.
    pub fn lines(
        &mut self,
        columns: usize,
        folding: FoldState,
    ) -> impl Iterator<Item = &Line<'static>> {
        let n_shown = self.height(columns, folding);
        self.layout.lines().take(n_shown)
    }

    fn update_layout(&mut self, columns: usize, folding: FoldState) {
        let look = self.layout_options(columns, folding);
        let head = BlockHeading {
            author: self.author,
            is_judge: self.is_judge,
            cli: self.cli.as_deref().unwrap_or_default(),
            meta: &self.name_meta,
            reads: self.reads.as_ref(),
        };
        block_layout::update_layout(&mut self.layout, head, &self.content, look);
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
            is_in_fold: self.reads.is_some() || self.visibility == BlockVisibility::Unfolded,
            dialog_overlap: self.dialog_overlap,
            is_list_beside: self.is_list_beside,
            is_set_apart: self.is_set_apart,
        }
    }

    /// Opens or folds it; returns whether it can be folded.
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

    pub(super) fn awaits_decision(&self, request: &RequestId) -> bool {
        let card = self.card();
        card.is_some_and(|card| card.pending_request.as_ref() == Some(request))
    }

    /// Returns the kind and the subject of its call if that is a read or a search that succeeded.
    pub(super) fn finished_read(&self) -> Option<(&ToolKind, &str)> {
        self.card().and_then(ToolCallCard::finished_read)
    }

    /// Returns the step of a heading, if it is of one.
    pub(super) fn step_divider(&self) -> Option<(u32, &StageDivider)> {
        match &self.content {
            BlockContent::Divider(divider) => Some((divider.step?, divider)),
            _ => None,
        }
    }

    /// Changes a check in the row of a step that is done, if it is that.
    pub(super) fn rename_step_check(&mut self, of: u32, old: &str, new: &str) {
        let BlockContent::Fact {
            text,
            step: Some(row),
            ..
        } = &mut self.content
        else {
            return;
        };
        if row.step == of
            && let Some(check) = row.checks.iter_mut().find(|check| *check == old)
        {
            new.clone_into(check);
            *text = row.describe();
            self.layout = BlockLayout::default();
        }
    }

    /// Returns whether it is the heading of a stage.
    pub fn is_stage_heading(&self) -> bool {
        matches!(self.content, BlockContent::Divider(_)) && self.step_divider().is_none()
    }

    /// Returns whether it is the heading of the current step.
    pub(super) fn is_step_card(&self) -> bool {
        self.step_divider()
            .is_some_and(|(_, divider)| divider.trail.is_some())
    }

    /// Sets when a heading was reached, if it is not set yet.
    pub(super) fn set_time_of_day(&mut self, at: Option<UnixMillis>) {
        if let (BlockContent::Divider(divider), Some(at)) = (&mut self.content, at)
            && divider.time.is_empty()
        {
            divider.time = format!("{}Z", LocalClock(0).time_with_minutes(at));
        }
    }
}
