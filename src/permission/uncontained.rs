//! Commands that nothing holds once they run: each is asked about, unless the user lifts that.
//!
//! Who holds a command is told by its reach; nothing here looks for it.

use super::approved::Keeping;
use super::floors::{Held, Looked};
use super::rule::Action;
use super::{Call, Reach};

/// What happens to a command that nothing holds and that is not proven to read only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UncontainedCommands {
    /// The user is asked about each one, whatever rules, approvals and the mode say.
    AskEach,
    /// Rules, approvals and the mode decide as about any other.
    #[default]
    FollowRules,
}

/// Tells whether a command is asked about because nothing would hold it.
pub(super) fn holds(looked: &Looked<'_>) -> Option<Held> {
    let asks_each = looked.context.uncontained == UncontainedCommands::AskEach;
    let Call::Command { reach, .. } = looked.call else {
        return None;
    };
    let is_free = *reach == Reach::Unconfined && !looked.facts.only_reads;
    (asks_each && is_free).then(|| Held {
        action: Action::Ask,
        keeping: Keeping::Never,
        reason: "nothing holds what this command does, so that each is asked about (--uncontained lifts that)"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{Approvable, Approved, Context, Mode, PhaseAccess, Scope, decide};

    fn check(line: &str, reach: Reach, uncontained: UncontainedCommands) -> Action {
        let approved = Approved {
            profile: "build".to_owned(),
            permission: "bash".to_owned(),
            what: Approvable::Exact(line.to_owned()),
            scope: Scope::Run,
        };
        let context = Context {
            mode: Mode::Yolo,
            approvals: vec![approved],
            uncontained,
            ..Context::new(PhaseAccess::Execute, "/repo".into())
        };
        let call = Call::Command {
            line: line.to_owned(),
            cwd: "/repo".into(),
            reach,
        };
        decide(&call, &context).action
    }

    #[test]
    fn in_yolo_and_with_an_approval_a_command_that_nothing_holds_is_asked_about() {
        use UncontainedCommands::{AskEach, FollowRules};
        assert_eq!(check("touch a", Reach::Unconfined, AskEach), Action::Ask);
        assert_eq!(check("ls", Reach::Unconfined, AskEach), Action::Allow);
        assert_eq!(check("touch a", Reach::Contained, AskEach), Action::Allow);
        assert_eq!(
            check("touch a", Reach::Unconfined, FollowRules),
            Action::Allow
        );
    }
}
