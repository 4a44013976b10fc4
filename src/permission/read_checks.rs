//! The floors and rules for what a call reads.

use std::path::PathBuf;

use super::AgentToolCall;
use super::call_reads::{OpenedPath, ReadDepth};
use super::decision_context::{DecisionContext, ResolvedPath};
use super::floor_input::{FloorInput, FloorRestriction};
use super::lexical_path::{display_path, is_inside};
use super::permission_mode::Mode;
use super::rule::{CallFacts, PermissionAction, TargetForm};
use super::stored_approval::MaxApprovalScope;

/// Returns why a command whose names are proven to stay in the repository still reads outside of it.
pub fn outside_read_reason(context: &DecisionContext) -> Option<String> {
    if let Some(trouble) = &context.reads.unknown_reason {
        return Some(trouble.clone());
    }
    let out = |opened: &&OpenedPath| !is_inside(&opened.path.real, &context.root);
    let opened = context.reads.opened_paths.iter().find(out)?;
    Some(format!(
        "`{}` leads out of the repository, to {}",
        display_path(&opened.path.lexical, &context.root),
        opened.path.real.display()
    ))
}

/// Returns what the rules say about reading a path, by its name and by its resolved path: the stricter one.
pub fn evaluate_read_rules(context: &DecisionContext, path: &ResolvedPath) -> PermissionAction {
    let about = |path: &PathBuf| {
        let form = TargetForm {
            texts: vec![display_path(path, &context.root)],
            absolute_path: Some(path.to_string_lossy().into_owned()),
        };
        let said = context.rules.evaluate("read", &form, CallFacts::default());
        said.rule.map_or(PermissionAction::Allow, |_| said.action)
    };
    about(&path.lexical).max(about(&path.real))
}

/// Denies a search that would read a file that the read rules protect, and suggests words that skip it. It denies and
/// does not ask, because the call does not name the file.
pub fn check_search(looked: &FloorInput<'_>) -> Option<FloorRestriction> {
    let context = looked.context;
    if !matches!(
        looked.call,
        AgentToolCall::Command { .. } | AgentToolCall::Read { .. }
    ) {
        return None;
    }
    let met = context.reads.opened_paths.iter().find_map(|opened| {
        let search = opened.search.as_ref()?;
        let is_held = opened.depth == ReadDepth::Contents
            && match evaluate_read_rules(context, &opened.path) {
                PermissionAction::Allow => false,
                PermissionAction::Ask => context.mode != Mode::Yolo,
                PermissionAction::Deny => true,
            };
        is_held.then_some((search, &opened.path))
    });
    let (search, path) = met?;
    let file = display_path(&path.lexical, &context.root);
    Some(FloorRestriction {
        action: PermissionAction::Deny,
        max_scope: MaxApprovalScope::Never,
        reason: format!(
            "it would read `{file}`, which rules on `read` hold back; {}",
            search.exclusion_hint(&file)
        ),
    })
}
