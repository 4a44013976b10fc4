//! The chat transcript: everything said and done, in causal order, as blocks with an author.
//!
//! Events create finished blocks; streamed text creates provisional ones, which the finished block replaces.
//! Old blocks are evicted, and loaded again from the log when the user scrolls up to them.

mod approval_cards;
mod block_content;
mod block_layout;
mod block_list;
mod block_selection;
mod card_rows;
mod child_session_view;
mod commit_row;
mod discussion_card;
mod earlier_blocks;
mod event_blocks;
mod finished_step_row;
mod front_matter_diff;
mod open_question;
mod read_fold;
mod run_context;
mod run_summary_card;
mod stage_divider;
mod step_tracker;
mod streaming_text;
mod task_patch_card;
mod todo_list_card;
mod tool_call_card;
mod transcript_block;
mod transcript_columns;
mod transcript_finder;
mod transcript_news;
mod transcript_rows;
mod transcript_scroll;
mod transcript_scrollback;
mod transcript_search;
mod transcript_updates;
mod turn_failure_note;
mod turn_results;
mod turn_tracker;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use block_content::BlockContent;
pub use child_session_view::ChildSessionView;
pub use commit_row::CommitRow;
pub use discussion_card::describe_outcome_details;
pub use open_question::DialogWording;
use read_fold::FoldState;
pub use run_summary_card::{KeyWeight, RunDetail, RunFact, RunSummaryCard, RunSummaryKey};
use step_tracker::StepTracker;
use streaming_text::StreamingText;
use tool_call_card::{ToolCallOutcome, ToolFileChange};
pub use transcript_block::BlockAuthor;
use transcript_block::TranscriptBlock;
pub use transcript_columns::{LEAD_COLUMNS, TranscriptColumns};
pub use transcript_finder::TranscriptFinder;
pub use transcript_news::TranscriptNews;
pub use transcript_rows::{TranscriptRow, TranscriptWindow};
use transcript_scroll::TranscriptScrollPosition;
pub use transcript_scrollback::ScrollbackDemand;
use transcript_scrollback::TranscriptScrollback;
pub use transcript_search::{LogSearchProgress, LogSearchResult};
use turn_failure_note::TurnFailureNote;
use turn_tracker::TurnTracker;

use super::labels::LocalClock;
use crate::domain::event::{AgentActivity, Event, PathChange};
use crate::domain::event_wording::short_commit;
use crate::domain::ids::{RequestId, SessionId, UnixMillis};
use crate::domain::question::QuestionAnswer;
use crate::domain::step_result::with_result_line;
use crate::domain::text_delta::DeltaChange;

/// The blocks of the conversation and the scroll position.
#[derive(Debug)]
pub struct ChatTranscript {
    blocks: VecDeque<TranscriptBlock>,
    /// The number of the first stored block; the number of a block never changes.
    first: usize,
    /// The part of the log that the blocks cover.
    earlier: TranscriptScrollback,
    /// Whether this is a piece of older history, to be put before another transcript.
    is_piece: bool,
    n_bytes: usize,
    /// Results of tool calls that started before the first block.
    orphan_tool_ends: BTreeMap<String, ToolCallOutcome>,
    streaming_texts: BTreeMap<(BlockAuthor, String), StreamingText>,
    /// The last goal that was given, until something else is said.
    last_goal: Option<String>,
    /// Whether the user leaves, which the chat has said.
    pub is_leaving: bool,
    /// The request that a dialog below is about.
    call_below: Option<RequestId>,
    /// The calls that wait for an answer.
    pending_approvals: approval_cards::PendingApprovals,
    /// The names of tasks, by session.
    tasks: BTreeMap<SessionId, String>,
    thinking: FoldState,
    scroll: TranscriptScrollPosition,
    /// The first block that arrived since the view stopped following the end.
    first_unseen_block: Option<usize>,
    turns: TurnTracker,
    steps: StepTracker,
    /// The root folder of displayed paths, with a trailing slash; empty if unknown.
    root: String,
    /// The key that shows truncated content in full.
    expand_key: String,
    /// The user's time zone, once known.
    clock: Option<LocalClock>,
    /// The sessions of discussion participants.
    speakers: BTreeSet<SessionId>,
    run_context: run_context::TranscriptRunContext,
    selected_block: Option<usize>,
    /// The block of each row in the last frame.
    visible_blocks: Vec<usize>,
    /// How many of these rows are the heading of the current step, whose place is above the window.
    n_pinned_rows: usize,
    /// The scroll position of the last frame; `wide` is its width.
    visible_scroll: TranscriptScrollPosition,
    wide: Option<TranscriptColumns>,
    /// The number of the block of the last review, if it came since the program started.
    last_review: Option<usize>,
    /// Whether the steps are listed beside the stream.
    are_steps_beside: bool,
    /// The open question, if it has a block.
    open_question: Option<open_question::OpenQuestion>,
}

/// The number of the first block; lower numbers stay free for older history that is loaded later.
const FIRST_BLOCK: usize = usize::MAX / 2;

impl Default for ChatTranscript {
    fn default() -> Self {
        Self {
            blocks: VecDeque::new(),
            first: FIRST_BLOCK,
            earlier: TranscriptScrollback::default(),
            is_piece: false,
            n_bytes: 0,
            orphan_tool_ends: BTreeMap::new(),
            streaming_texts: BTreeMap::new(),
            last_goal: None,
            is_leaving: false,
            call_below: None,
            pending_approvals: approval_cards::PendingApprovals::default(),
            tasks: BTreeMap::new(),
            thinking: FoldState::default(),
            scroll: TranscriptScrollPosition::default(),
            first_unseen_block: None,
            turns: TurnTracker::default(),
            steps: StepTracker::default(),
            root: String::new(),
            expand_key: String::new(),
            clock: None,
            speakers: BTreeSet::new(),
            run_context: run_context::TranscriptRunContext::default(),
            selected_block: None,
            visible_blocks: Vec::new(),
            n_pinned_rows: 0,
            visible_scroll: TranscriptScrollPosition::default(),
            wide: None,
            last_review: None,
            are_steps_beside: false,
            open_question: None,
        }
    }
}

impl ChatTranscript {
    pub fn on_event(&mut self, at: UnixMillis, event: &Event) {
        if let Event::RunCreated(_) = event {
            // A new log starts: blocks of the previous one cannot be loaded again.
            self.detach_run_summary();
            self.last_review = None;
            self.blocks.iter_mut().for_each(|block| block.seq = 0);
            self.earlier = TranscriptScrollback::from_start();
        }
        self.earlier.on_event(at);
        self.run_context.note_goal(event);
        match event {
            // A new goal is also the first message about it; show it once.
            Event::GoalMessageAdded { text }
                if self.last_goal.take_if(|given| given == text).is_some() => {}
            Event::GoalGiven { text } => {
                self.last_goal = Some(text.clone());
                self.push_blocks(event_blocks::from_event(event));
            }
            Event::Agent { role, news, .. } => {
                self.on_agent_activity(BlockAuthor::Agent(*role), news)
            }
            Event::ProgramExited { .. } if self.is_leaving => {}
            Event::TurnStarted { .. } | Event::TurnEnded { .. } => {
                self.drop_provisional();
                self.append_event(event);
            }
            _ if self.is_from_participant(event) => {}
            Event::Discussion { id, news } => self.on_discussion(id, news),
            Event::RunResumed { .. } => {
                self.blocks
                    .iter_mut()
                    .for_each(TranscriptBlock::mark_interrupted);
                self.append_event(event);
            }
            Event::QuestionAnswered {
                answer: QuestionAnswer::Execute,
                ..
            } => {
                self.append_event(event);
                self.hide_last_question();
            }
            Event::StepRecorded { step, .. } => self.end_step(*step, event),
            Event::ApprovalDecided { .. } => self.add_decision(event),
            Event::TaskPatched { session, patch } => self.add_task_patch(session, patch),
            Event::TodosWritten { session, todos } => self.add_todo_list(session, todos),
            Event::TestsRan { receipt, .. } => {
                self.append_step_check(event, receipt.describe());
            }
            Event::StepProved { step, proof, .. } => {
                let short = self.steps.short_proof(*step, proof);
                self.append_step_check(event, short);
            }
            // The subject of the commit repeats the step's heading.
            Event::CommitMade { commit, size, .. } => {
                let size = size.map_or(String::new(), |size| format!(" · {}", size.describe()));
                self.append_step_check(event, format!("{}{size}", short_commit(commit)));
            }
            _ => self.append_event(event),
        }
        if let Event::QuestionAsked { .. } = event {
            // Show the user what the question is about.
            self.go_to_end();
        }
        self.update_pending_approvals(event);
        self.record_task_name(event);
        let told = self.turns.on_event(at, self.earlier.last_event(), event);
        let begins = self.steps.on_event(event);
        self.push_blocks(told.into_iter().chain(begins).collect());
        if matches!(event, Event::TurnEnded { .. }) {
            let end = self.blocks.len();
            self.place_turn_ends(self.name_line_before(end)..end);
        }
    }

    fn on_agent_activity(&mut self, who: BlockAuthor, news: &AgentActivity) {
        match news {
            AgentActivity::Text { text } => self.finish_text(who, text),
            AgentActivity::ToolEnded {
                item,
                status,
                exit_code,
                output,
            } => self.finish_tool(item, status, *exit_code, output),
            AgentActivity::FilesChanged { item, paths, diffs } => {
                let changed = |(path, change): (&String, &PathChange)| {
                    let diff = diffs.get(path).map_or("", String::as_str);
                    ToolFileChange::new(path, change.clone(), diff)
                };
                self.set_changed_files(item, paths.iter().map(changed).collect());
            }
            // Above a text that is still streaming: that is the new attempt's, or is withdrawn.
            AgentActivity::Retrying {
                reason, attempt, ..
            } => {
                let mut told = event_blocks::from_activity(who, news);
                if attempt.is_some() {
                    self.remove_earlier_retry(who, reason);
                    for block in &mut told {
                        block.reason = Some(reason.clone());
                        block.failure = attempt.map(|n| TurnFailureNote::new(reason, n));
                    }
                }
                self.push_blocks_before(Some(who), transcript_columns::with_role(who.role(), told));
            }
            _ => self.push_blocks(transcript_columns::with_role(
                who.role(),
                event_blocks::from_activity(who, news),
            )),
        }
    }

    /// Applies a change of a text that an agent is writing.
    pub fn change_streaming_text(&mut self, who: BlockAuthor, item: &str, change: &DeltaChange) {
        match change {
            DeltaChange::Append(text) => self.append_streaming_text(who, item, text),
            DeltaChange::Withdraw => self.withdraw_streaming_text(who, item),
        }
    }

    fn append_streaming_text(&mut self, who: BlockAuthor, item: &str, piece: &str) {
        let saying = self.streaming_texts.entry((who, item.to_owned()));
        let text = saying.or_default().push(piece);
        if text.is_empty() {
            return;
        }
        let found = self
            .blocks
            .iter_mut()
            .rev()
            .find(|block| block.is_provisional_of(who, Some(item)));
        match found {
            Some(block) => self.n_bytes += block.append_text(text),
            None => self.push_blocks(vec![TranscriptBlock::new(
                who,
                BlockContent::provisional(item, text),
            )]),
        }
        self.evict_old_blocks();
    }

    fn withdraw_streaming_text(&mut self, who: BlockAuthor, item: &str) {
        self.note_withdrawn_text(who, item);
        self.streaming_texts.remove(&(who, item.to_owned()));
        self.remove_blocks(|block| block.is_provisional_of(who, Some(item)));
    }

    /// Sets the folder that paths are shown relative to, also in existing blocks.
    pub fn set_root_folder(&mut self, root: &str) {
        let root = match root.trim_end_matches('/') {
            "" => String::new(),
            root => format!("{root}/"),
        };
        if root != self.root {
            self.blocks
                .iter_mut()
                .for_each(|block| block.relativize_paths(&root));
            self.root = root;
            self.recount_bytes();
        }
    }

    /// Sets the key that shows truncated content in full, also in existing blocks.
    pub fn set_expand_key(&mut self, key: &str) {
        if self.expand_key != key {
            key.clone_into(&mut self.expand_key);
            self.blocks
                .iter_mut()
                .for_each(|block| block.set_expand_key(key));
        }
    }

    /// Creates an empty transcript that shows paths, keys and times as this one, and is kept whole.
    fn empty_copy(&self) -> Self {
        let mut copy = Self {
            root: self.root.clone(),
            expand_key: self.expand_key.clone(),
            clock: self.clock,
            ..Self::default()
        };
        copy.start_after(0);
        copy
    }

    /// Adds a notice from the program.
    pub fn push_notice(&mut self, text: &str) {
        self.push_blocks(vec![TranscriptBlock::new(
            BlockAuthor::System,
            BlockContent::notice(text),
        )]);
    }

    /// Replaces the author's oldest provisional block with the finished one.
    fn finish_text(&mut self, who: BlockAuthor, text: &str) {
        let mut finished =
            TranscriptBlock::new(who, BlockContent::message(&with_result_line(text)));
        let found = self
            .blocks
            .iter_mut()
            .find(|block| block.is_provisional_of(who, None));
        let Some(block) = found else {
            self.push_blocks(vec![finished]);
            return;
        };
        if let BlockContent::Provisional { item, .. } = &block.content {
            self.streaming_texts.remove(&(who, item.clone()));
        }
        self.n_bytes = (self.n_bytes + finished.n_bytes()).saturating_sub(block.n_bytes());
        finished.is_named = block.is_named;
        finished.cli = block.cli.take();
        finished.printed = transcript_news::printed_of_finished(block, &finished.content.to_text());
        *block = finished;
        block.seq = self.earlier.last_event();
    }

    fn drop_provisional(&mut self) {
        self.streaming_texts.clear();
        self.remove_blocks(TranscriptBlock::is_provisional);
    }

    fn remove_blocks(&mut self, is_void: impl Fn(&TranscriptBlock) -> bool) {
        let Some(at) = self.blocks.iter().rposition(&is_void) else {
            return;
        };
        self.turns.reset_name();
        // Provisional blocks are near the end, so the numbers of earlier blocks stay valid.
        self.blocks.retain(|block| !is_void(block));
        self.scroll
            .follow_end_if_gone(self.first + at, self.end_number());
        self.recount_bytes();
    }

    fn push_blocks(&mut self, blocks: Vec<TranscriptBlock>) {
        self.push_blocks_before(None, blocks);
    }

    /// Adds blocks; if an agent is given, before the text that it is still streaming.
    fn push_blocks_before(&mut self, said_by: Option<BlockAuthor>, blocks: Vec<TranscriptBlock>) {
        for mut block in blocks {
            block.seq = self.earlier.last_event();
            block.relativize_paths(&self.root);
            block.set_expand_key(&self.expand_key);
            block.set_time_of_day(self.earlier.last_event_at());
            block.localize_utc_times(self.clock);
            block.is_judge = self.turns.is_judge(block.author);
            block.is_named = block.visibility.has_rows() && self.turns.claim_name_line(&block);
            if block.is_named {
                let cli = self.take_cli_notice(block.author);
                block.cli = cli.or_else(|| self.steps.fix_note(block.author));
                if block.is_judge {
                    block.cli = Some(match self.turns.adapter(block.author.role()) {
                        "" => "fresh session".to_owned(),
                        adapter => format!("{adapter} · fresh session"),
                    });
                }
            }
            self.n_bytes += block.n_bytes();
            self.insert_block(block, said_by);
        }
        self.evict_old_blocks();
    }

    /// Appends a block, or inserts it before the text that its author (or the role it is about) is still
    /// sending, or before the card of a finished run. Pieces of a text can arrive before the event of an earlier
    /// thought.
    fn insert_block(&mut self, mut block: TranscriptBlock, about: Option<BlockAuthor>) {
        let is_own = block.author.is_agent() && !block.is_provisional();
        let said_by = is_own.then_some(block.author).or(about);
        let said = said_by.and_then(|who| self.first_streaming_block(who));
        let Some(at) = said.or_else(|| self.run_summary_index()) else {
            self.blocks.push_back(block);
            return;
        };
        if let (true, Some(after)) = (block.author.is_agent(), self.blocks.get_mut(at)) {
            // The name line moves to the block that is now the first one.
            if std::mem::take(&mut after.is_named) {
                block.is_named = true;
                block.cli = after.cli.take();
            }
        }
        self.blocks.insert(at, block);
    }

    /// Returns the first of the texts at the end that an agent is still sending.
    fn first_streaming_block(&self, who: BlockAuthor) -> Option<usize> {
        let mut blocks = self.blocks.iter().enumerate().rev();
        let is_said = |block: &TranscriptBlock| block.is_provisional_of(who, None);
        let mut first = None;
        while let Some((at, _)) = blocks.next().filter(|(_, block)| is_said(block)) {
            first = Some(at);
        }
        first
    }

    /// Returns how many blocks there have been in total.
    pub fn total_blocks(&self) -> u64 {
        u64::try_from(self.end_number().saturating_sub(FIRST_BLOCK)).unwrap_or(u64::MAX)
    }

    /// Returns the number after the last block's.
    fn end_number(&self) -> usize {
        self.first + self.blocks.len()
    }

    /// Returns whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Folds or unfolds the agents' thinking.
    pub fn toggle_thinking(&mut self) {
        self.thinking = match self.thinking {
            FoldState::Folded => FoldState::Open,
            FoldState::Open => FoldState::Folded,
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

    /// Returns whether the view follows the end.
    pub fn follows_end(&self) -> bool {
        self.scroll.follows_end()
    }

    /// Returns how many blocks arrived below the window since the view stopped following the end.
    pub fn new_block_count(&self) -> usize {
        let below = self
            .visible_blocks
            .last()
            .map_or(self.first, |last| last + 1);
        let first = self
            .first_unseen_block
            .unwrap_or(self.end_number())
            .max(below);
        self.end_number().saturating_sub(first)
    }

    /// Goes to the end and follows it.
    pub fn go_to_end(&mut self) {
        self.scroll = TranscriptScrollPosition::default();
        self.earlier.clear_request();
        self.evict_old_blocks();
    }

    /// Goes to the first line of the whole log, however much has to be loaded.
    pub fn go_to_top(&mut self) {
        self.scroll = TranscriptScrollPosition::at_line(self.first, 0);
        self.earlier.request_log_start();
    }

    /// Scrolls by lines; negative is up.
    pub fn scroll_by(&mut self, n_lines: isize) {
        self.scroll.scroll_by(n_lines);
        self.earlier.clear_request();
    }
}
