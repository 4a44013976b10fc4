//! Shows a pending approval request, and later its decision, on the card of the tool call.
//!
//! CLIs do not say which card a request belongs to: it is the card with the same target, else the card of
//! the call that the agent started last.

use std::collections::BTreeMap;

use super::block_layout::BlockVisibility;
use super::tool_call_card::{CardDecision, ToolCallCard};
use super::transcript_block::TranscriptBlock;
use super::{ChatTranscript, event_blocks};
use crate::domain::event::{Approval, ApprovalDecider, DENIED_BY_USER, Event};
use crate::domain::event_wording::{EventSpeaker, word_decision};
use crate::domain::ids::RequestId;
use crate::tui::text_wrap::{clean_for_display, to_one_line};

/// Approval requests that have no decision yet.
#[derive(Debug, Default)]
pub(super) struct PendingApprovals(BTreeMap<RequestId, Approval>);

/// The decision about a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct DecisionSummary<'a> {
    pub(super) is_allowed: bool,
    pub(super) by: &'a ApprovalDecider,
    pub(super) reason: &'a str,
}

impl ChatTranscript {
    /// Marks the card of a call that waits for approval, and removes the mark with the decision.
    pub(super) fn update_pending_approvals(&mut self, event: &Event) {
        match event {
            Event::ApprovalRequested(approval) => {
                self.pending_approvals
                    .0
                    .insert(approval.request.clone(), approval.clone());
                // A subagent's calls have no card.
                if approval.child.is_none() {
                    self.mark_pending_card(approval);
                }
            }
            Event::ApprovalDecided { request, .. } => self.unmark_pending_card(request),
            Event::ApprovalExpired { approval, .. } => {
                self.pending_approvals.0.remove(&approval.request);
                self.unmark_pending_card(&approval.request);
            }
            _ => {}
        }
    }

    fn mark_pending_card(&mut self, approval: &Approval) {
        let target = to_one_line(&approval.targets.join(", ")).replace(&self.root, "");
        let runs = |block: &TranscriptBlock| block.running_tool().is_some();
        let says_so = |block: &TranscriptBlock| {
            let card = block.card().filter(|card| card.end.is_none());
            card.is_some_and(|card| card.matches_target(&target))
        };
        let by_text = self.blocks.iter().rposition(says_so);
        let at = by_text.or_else(|| self.blocks.iter().rposition(runs));
        if let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) {
            let request = Some(approval.request.clone());
            block.update_card(|card| card.pending_request = request);
        }
    }

    fn unmark_pending_card(&mut self, request: &RequestId) {
        if let Some(block) = self.card_of_request(request) {
            block.update_card(|card| card.pending_request = None);
        }
    }

    pub(super) fn card_of_request(&mut self, request: &RequestId) -> Option<&mut TranscriptBlock> {
        let mut blocks = self.blocks.iter_mut().rev();
        blocks.find(|block| block.awaits_decision(request))
    }

    /// Adds the decision about a call: who decided, whose call, what, and why it was denied. It is shown
    /// on the call's card where the card can show it.
    pub(super) fn add_decision(&mut self, request: &RequestId, answer: DecisionSummary<'_>) {
        let asked = self.pending_approvals.0.remove(request);
        let what = asked
            .as_ref()
            .map_or("the call".to_owned(), Approval::describe_call);
        let has_reason = !answer.is_allowed && answer.reason != DENIED_BY_USER;
        let reason = if has_reason { answer.reason } else { "" };
        let is_users = *answer.by == ApprovalDecider::User;
        let decision = CardDecision {
            is_allowed: answer.is_allowed,
            is_users,
            reason: clean_for_display(reason),
        };
        let is_on_card = (is_users || !answer.is_allowed) && self.show_on_card(request, decision);
        let wording = word_decision(&what, answer.is_allowed, answer.by, answer.reason);
        // Only the user's own decisions are shown besides those that no card shows.
        let wording = wording.filter(|wording| {
            wording.speaker == EventSpeaker::User || !answer.is_allowed && !is_on_card
        });
        let mut blocks: Vec<TranscriptBlock> = wording
            .iter()
            .flat_map(event_blocks::from_wording)
            .collect();
        if is_on_card {
            for block in &mut blocks {
                block.visibility = BlockVisibility::ShownElsewhere;
            }
        }
        self.push_blocks(blocks);
    }

    /// Shows on a call's card what was decided about it; returns whether the call has a card.
    fn show_on_card(&mut self, request: &RequestId, decision: CardDecision) -> bool {
        let Some(block) = self.card_of_request(request) else {
            return false;
        };
        let n_more = decision.reason.len();
        block.update_card(|card| card.set_decision(decision));
        self.n_bytes += n_more;
        true
    }
}

impl TranscriptBlock {
    fn awaits_decision(&self, request: &RequestId) -> bool {
        let card = self.card();
        card.is_some_and(|card| card.pending_request.as_ref() == Some(request))
    }
}

impl ToolCallCard {
    /// Returns whether this call acts on `target`.
    fn matches_target(&self, target: &str) -> bool {
        !target.is_empty() && self.subject() == target
    }
}
