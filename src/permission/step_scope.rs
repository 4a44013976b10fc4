//! The floors for edits of what the plan does not name for the step: an edit asks in mode default, a deletion in every
//! mode.
//!
//! The caller looks up which paths these are; nothing here knows the plan.

use super::floor_input::{FloorInput, FloorRestriction};
use super::permission_mode::Mode;
use super::rule::PermissionAction;
use super::stored_approval::MaxApprovalScope;

/// What happens to what a step changes outside of what its plan names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopePolicy {
    #[default]
    Ask,
    /// It stays; a deletion asks.
    Allow,
    /// It is restored.
    Deny,
}

/// The paths of an edit that the plan does not name for the step, relative to the root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutsidePaths {
    /// The number of the step; 0 where it is not known.
    pub step: u32,
    pub edited: Vec<String>,
    pub deleted: Vec<String>,
}

impl OutsidePaths {
    /// Adds a path that is not there yet.
    pub fn add(&mut self, path: String, is_deleted: bool) {
        let paths = if is_deleted {
            &mut self.deleted
        } else {
            &mut self.edited
        };
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
}

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
