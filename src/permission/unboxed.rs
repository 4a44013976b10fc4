//! The floor under commands that run outside of a CLI's own sandbox: each is asked about, one at a time.
//!
//! It refuses to know how a command gets out; its reach says so.

use super::approved::Keeping;
use super::floors::{Held, Looked};
use super::rule::Action;
use super::{Call, Reach};

/// Asks about a command that nothing would hold, whatever mode, rules and approvals say: those were given for commands
/// that the sandbox holds.
pub fn outside_sandbox(looked: &Looked<'_>) -> Option<Held> {
    let Call::Command { reach, .. } = looked.call else {
        return None;
    };
    let how = match reach {
        Reach::LeavesSandbox => "it runs outside of codex's sandbox",
        // What is proven to read needs no sandbox.
        Reach::LetOut if looked.facts.only_reads => return None,
        Reach::LetOut => "a rule of codex's own lets it run outside of codex's sandbox",
        Reach::Unconfined | Reach::Contained => return None,
    };
    Some(Held {
        action: Action::Ask,
        keeping: Keeping::Never,
        reason: format!(
            "{how}, so it is asked about each time, whatever mode, rules and approvals say"
        ),
    })
}
