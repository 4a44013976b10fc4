//! The call that waits for the user, told on its card.
//!
//! Refuses to know which call a request is about: it is the one that its agent began last.

use super::Transcript;
use super::block::Block;
use crate::domain::event::Event;

impl Transcript {
    /// Marks the card of a call that is asked about, and takes the mark away with the answer.
    pub(super) fn note_waiting(&mut self, event: &Event) {
        let (is_asked, request) = match event {
            // A child's calls stand on no card.
            Event::ApprovalAsked(approval) if approval.child.is_none() => (true, &approval.request),
            Event::ApprovalAnswered { request, .. } => (false, request),
            Event::ApprovalExpired { approval, .. } => (false, &approval.request),
            _ => return,
        };
        let mut blocks = self.blocks.iter_mut().rev();
        let block = match is_asked {
            true => blocks.find(|block| block.running().is_some()),
            false => blocks.find(|block| block.waits_for(request)),
        };
        if let Some(block) = block {
            block.wait(is_asked.then(|| request.clone()));
        }
    }
}

impl Block {
    fn waits_for(&self, request: &crate::domain::ids::RequestId) -> bool {
        let card = self.card();
        card.is_some_and(|card| card.waits.as_ref() == Some(request))
    }
}
