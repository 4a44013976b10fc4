//! Earlier blocks: which part of the log the view needs, its blocks before the others, and the titles and proofs of steps
//! whose plan is in a part that is not loaded.

use super::ChatTranscript;
use super::block_content::BlockContent;
use super::stage_divider::StageDivider;
use super::transcript_block::{PrintedPart, TranscriptBlock};
use super::transcript_scroll::TranscriptScrollPosition;
use super::transcript_scrollback::{ScrollbackDemand, ScrollbackTarget};
use super::turn_tracker::TurnCorrections;
use crate::domain::plan::Plan;

impl ChatTranscript {
    /// Returns whether the log has more than is kept here.
    pub fn has_scrollback(&self) -> bool {
        self.earlier.range.last_incomplete_event() > 0
    }

    /// Returns the part of the log that the view needs, by the number of its last event.
    pub fn wanted_scrollback(&self) -> Option<ScrollbackDemand> {
        let last = Some(self.earlier.range.last_incomplete_event()).filter(|last| *last > 0)?;
        match self.earlier.target {
            ScrollbackTarget::Nothing => None,
            ScrollbackTarget::PreviousChunk => Some(ScrollbackDemand::Chunk { last }),
            ScrollbackTarget::LogStart => Some(ScrollbackDemand::All { last }),
            ScrollbackTarget::DownToEvent(seq) => {
                (last >= seq).then_some(ScrollbackDemand::All { last })
            }
        }
    }

    /// Starts a chunk of earlier events, which is kept whole; `before` events of the log precede it.
    pub fn start_after(&mut self, before: u64) {
        self.earlier.range.start_after(before);
        self.is_piece = true;
        if before > 0 {
            self.turns.mark_unseen_turns();
        }
    }

    /// Corrects blocks that were incomplete while earlier events were missing.
    fn apply_corrections(&mut self, corrections: TurnCorrections) {
        for (seq, role, line) in corrections.turn_end_blocks {
            let is_it = |block: &TranscriptBlock| {
                let is_line = matches!(block.content, BlockContent::Notice { .. });
                is_line && block.seq == seq && block.about == Some(role)
            };
            if let Some(at) = self.blocks.iter().position(is_it)
                && let Some(block) = self.blocks.get_mut(at)
            {
                block.replace_content(line.content);
                block.turn_usage = line.turn_usage;
                self.place_turn_ends(self.name_line_before(at)..at + 1);
            }
        }
        if let Some((seq, mut block)) = corrections.bare_end_block {
            block.seq = seq;
            block.printed = PrintedPart::Whole;
            block.relativize_paths(&self.root);
            self.first -= 1;
            self.blocks.push_front(block);
        }
        if let Some(seq) = corrections.block_without_name {
            let is_it = |block: &&mut TranscriptBlock| block.seq == seq && block.is_named;
            if let Some(block) = self.blocks.iter_mut().find(is_it) {
                block.hide_name();
            }
        }
        self.recount_bytes();
    }

    /// Prepends the chunk that directly precedes the first block; the visible part stays in place, unless
    /// the start of the log was requested. A chunk from elsewhere is ignored.
    pub fn prepend_chunk(&mut self, mut earlier: Self) {
        if !self
            .earlier
            .range
            .is_preceded_by(earlier.earlier.range.last_event())
        {
            return;
        }
        earlier.mark_printed();
        earlier.mark_todos_outdated(&self.sessions_with_todos());
        let piece = earlier.earlier.range;
        let n_before = self.earlier.range.set_events_before(piece.last_event());
        self.blocks
            .iter_mut()
            .for_each(|block| block.seq += n_before);
        self.turns.shift_sequence(n_before);
        self.steps.merge_earlier(earlier.steps);
        let corrections = self.turns.merge_earlier(earlier.turns);
        self.apply_corrections(corrections);
        let (first, mut finished) = (self.first, Vec::new());
        for mut block in earlier.blocks.into_iter().rev() {
            // A text of an earlier chunk that is still provisional was never finished.
            if block.is_provisional() {
                continue;
            }
            if let Some(end) = block
                .running_tool()
                .and_then(|item| self.orphan_tool_ends.remove(item))
            {
                block.end_tool(end);
                finished.push(self.first - 1);
            }
            block.relativize_paths(&self.root);
            block.set_expand_key(&self.expand_key);
            block.localize_utc_times(self.clock);
            self.n_bytes += block.n_bytes();
            self.first -= 1;
            self.blocks.push_front(block);
        }
        for number in finished.into_iter().chain([first]) {
            self.refold_reads(number - self.first);
        }
        self.place_first_turn_ends(first - self.first);
        self.orphan_tool_ends.extend(earlier.orphan_tool_ends);
        self.earlier.range.extend_back(&piece);
        if self.earlier.target == ScrollbackTarget::LogStart {
            self.scroll = TranscriptScrollPosition::at_line(self.first, 0);
        }
        self.evict_old_blocks();
        if self.earlier.range.last_incomplete_event() >= piece.last_event() {
            // There is no room for more.
            self.earlier.clear_request();
        }
    }

    /// Takes the steps from a plan where no event has told them: of a resumed run only the last events are here.
    pub fn set_missing_steps(&mut self, plan: &Plan) {
        let is_missing = self.steps.step_texts.is_empty();
        if is_missing {
            self.steps.set_plan(plan);
        }
        if is_missing || self.steps.has_new_headings {
            self.complete_steps();
        }
    }

    fn complete_steps(&mut self) {
        let unassessed = std::mem::take(&mut self.steps.unassessed);
        for block in &mut self.blocks {
            if let Some((step, divider)) = block.step_divider()
                && divider.title.is_empty()
            {
                let known = self.steps.step_heading(step);
                let divider = StageDivider {
                    name: known.name,
                    title: known.title,
                    ..divider.clone()
                };
                block.replace_content(BlockContent::Divider(divider));
            }
            for proof in &unassessed {
                let word = self
                    .steps
                    .assess_proof(proof.step, &proof.proof, &proof.changed);
                if let Some(word) = word {
                    block.rename_step_check(proof.step, &proof.shown, &word);
                }
            }
        }
        self.recount_bytes();
    }
}
