//! The call that waits for an answer, told on its card; and what became of it, by its name.
//!
//! Refuses to ask a CLI which card a request is about: it is the one that says the same, else the one that its
//! agent began last.

use std::collections::BTreeMap;

use super::Transcript;
use super::block::{Block, Content, Tone, Who};
use super::card::Card;
use crate::domain::event::{Approval, DENIED_BY_USER, Event};
use crate::domain::ids::RequestId;
use crate::tui::wrap::one_line;

/// The calls that were asked about and have no answer yet.
#[derive(Debug, Default)]
pub(super) struct Asked(BTreeMap<RequestId, Approval>);

/// What was said about a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) is_allowed: bool,
    /// Who decided.
    pub(super) by: &'a str,
    pub(super) reason: &'a str,
}

impl Transcript {
    /// Marks the card of a call that is asked about, and takes the mark away with the answer.
    pub(super) fn note_waiting(&mut self, event: &Event) {
        match event {
            Event::ApprovalRequested(approval) => {
                self.asked
                    .0
                    .insert(approval.request.clone(), approval.clone());
                // A child's calls stand on no card.
                if approval.child.is_none() {
                    self.mark_card(approval);
                }
            }
            Event::ApprovalDecided { request, .. } => self.unmark_card(request),
            Event::ApprovalExpired { approval, .. } => {
                self.asked.0.remove(&approval.request);
                self.unmark_card(&approval.request);
            }
            _ => {}
        }
    }

    fn mark_card(&mut self, approval: &Approval) {
        let target = one_line(&approval.targets.join(", ")).replace(&self.root, "");
        let runs = |block: &Block| block.running().is_some();
        let says_so = |block: &Block| {
            let card = block.card().filter(|card| card.end.is_none());
            card.is_some_and(|card| card.is_about(&target))
        };
        let by_text = self.blocks.iter().rposition(says_so);
        let at = by_text.or_else(|| self.blocks.iter().rposition(runs));
        if let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) {
            block.wait(Some(approval.request.clone()));
        }
    }

    fn unmark_card(&mut self, request: &RequestId) {
        if let Some(block) = self.card_of(request) {
            block.wait(None);
        }
    }

    pub(super) fn card_of(&mut self, request: &RequestId) -> Option<&mut Block> {
        let mut blocks = self.blocks.iter_mut().rev();
        blocks.find(|block| block.waits_for(request))
    }

    /// Tells what was said about a call: by whom, whose it is, what, and why not; where its card can say it, there.
    pub(super) fn tell_answer(&mut self, request: &RequestId, answer: Answer<'_>) {
        let asked = self.asked.0.remove(request);
        let what = asked.as_ref().map_or("the call".to_owned(), in_words);
        let reason = Some(answer.reason).filter(|reason| *reason != DENIED_BY_USER);
        let reason = reason.unwrap_or_default();
        let is_on_card = !answer.is_allowed && self.refuse_on_card(request, reason);
        let why = match reason {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        let block = match (answer.is_allowed, answer.by) {
            (true, "user") => by_you(&format!("allowed {what}")),
            (true, _) => return,
            (false, "user") => by_you(&format!("refused {what}{why}")),
            (false, _) if is_on_card => return,
            (false, _) => {
                let text = format!("refused: {what}{why}");
                Block::new(Who::System, Content::fact(Tone::Bad, &text))
            }
        };
        self.push_all(vec![block]);
    }

    /// Says on the card of a call that it was refused; tells whether it has one.
    fn refuse_on_card(&mut self, request: &RequestId, why: &str) -> bool {
        let Some(block) = self.card_of(request) else {
            return false;
        };
        let n_more = block.refuse(why);
        self.n_bytes += n_more;
        true
    }
}

/// Whose call it is, where it is not that of the agent that speaks, and what it would do.
pub(super) fn in_words(approval: &Approval) -> String {
    let what = one_line(&approval.targets.join(", "));
    let call = match approval.permission.as_str() {
        "bash" => what,
        permission => format!("{permission} {what}"),
    };
    match approval
        .child
        .as_deref()
        .map(|path| path.rsplit('▸').next().unwrap_or(path))
    {
        Some(child) => format!("{}: {call}", child.trim()),
        None => call,
    }
}

fn by_you(text: &str) -> Block {
    Block::new(Who::You, Content::speech(text))
}

impl Block {
    fn waits_for(&self, request: &RequestId) -> bool {
        let card = self.card();
        card.is_some_and(|card| card.waits.as_ref() == Some(request))
    }
}

impl Card {
    /// Tells whether it is the call that acts on this.
    fn is_about(&self, target: &str) -> bool {
        !target.is_empty() && self.about() == target
    }
}
