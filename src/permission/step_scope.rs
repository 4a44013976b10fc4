//! The floors for edits of what the plan does not name for the step: an edit asks in mode default, a deletion in every
//! mode.
//!
//! The caller looks up which paths these are; nothing here knows the plan.

use super::floor_input::{FloorInput, FloorRestriction};
use super::permission_mode::Mode;
use super::rule::PermissionAction;
use super::stored_approval::MaxApprovalScope;

/// Asks about an edit in mode default. In the milder modes the user is asked after the turn.
pub(super) fn check_edit(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let outside = &looked.context.outside_paths;
    match looked.context.mode {
        Mode::Default => ask_about(outside.step, "not", &outside.edited),
        Mode::Plan | Mode::AutoEdit | Mode::Yolo => None,
    }
}

/// Asks about a deletion.
pub(super) fn check_deletion(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let outside = &looked.context.outside_paths;
    ask_about(outside.step, "and this deletes", &outside.deleted)
}

fn ask_about(step: u32, link: &str, paths: &[String]) -> Option<FloorRestriction> {
    let path = paths.first()?;
    let more = match paths.len() - 1 {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(FloorRestriction {
        action: PermissionAction::Ask,
        max_scope: MaxApprovalScope::Never,
        reason: format!("step {step} names other files, {link} {path}{more}"),
    })
}
