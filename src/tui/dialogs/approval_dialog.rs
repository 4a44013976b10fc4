//! Dialog: may an agent's call run once, for longer, or not at all?
//!
//! It gives the reason for asking, then shows the call as the agent made it. Enter denies until the
//! user chooses otherwise: a key that was meant for the previous dialog must not allow anything.

use ratatui::style::Style;

use super::edit_preview::EditPreview;
use crate::domain::child_path::ChildPath;
use crate::domain::event::{Approval, ApprovalDecision, CallPermission};
use crate::domain::run::RunState;
use crate::permission::{
    ApprovalMatcher, ApprovalScope, DecisionReason, DecisionSource, MaxApprovalScope,
};
use crate::tui::action::Action;
use crate::tui::approval_view::ExactCall;
use crate::tui::dialog::{ChoiceAction, ChoiceDialog, ComposerDraft, DialogWeight};
use crate::tui::labels::turn_title;
use crate::tui::text_wrap::to_one_line;
use crate::tui::theme;

/// Prefix of the ids of approval dialogs.
pub const DIALOG_ID_PREFIX: &str = "call";

pub(super) fn build_dialog(
    approval: &Approval,
    state: &RunState,
    exact: Option<&ExactCall>,
) -> ChoiceDialog {
    let asked = match &approval.permission {
        CallPermission::Bash => "Allow this command?".to_owned(),
        CallPermission::Edit => "Allow this edit?".to_owned(),
        other @ (CallPermission::Read | CallPermission::Other(_)) => {
            format!("Allow this call of {other}?")
        }
    };
    let exact = exact.filter(|exact| exact.call == approval.n);
    let mut sheet = ChoiceDialog::new(format!("{DIALOG_ID_PREFIX} {}", approval.n), &asked)
        .with_about(&describe_caller(approval, state))
        .with_weight(DialogWeight::Permission);
    let text = match exact {
        Some(exact) => exact.text.clone(),
        None => approval.targets.join("\n"),
    };
    let diff = exact.map_or("", |exact| exact.diff.as_str());
    let patch = (!diff.is_empty()).then(|| EditPreview::parse(&text, &approval.targets, diff));
    if let Some(path) = approval.child.as_ref().filter(|path| path.is_session()) {
        sheet = sheet.with_full_text_line(&format!("Asked by {path}"));
    }
    if let Some(why) = &approval.why
        && file_and_line(&why.origin) != why.origin
    {
        sheet = sheet.with_full_text_line(&format!("The rule is in {}", why.origin));
    }
    let reasons = reason_lines(approval).into_iter();
    sheet = reasons.fold(sheet, |sheet, (line, style)| {
        sheet.with_reason(&line, style)
    });
    sheet = match &patch {
        Some(patch) => sheet.with_subject(&patch.summary()),
        None => sheet.with_text(&text, theme::CODE),
    };
    // The edit may be longer than the window.
    sheet.edit = patch;
    let title = sheet.heading();
    add_decisions(sheet.with_body_as_full_text(&title), approval)
}

/// Describes who makes the call, in which step, and how many calls wait after it: `Planner · step 2 · 1 more after it`.
fn describe_caller(approval: &Approval, state: &RunState) -> String {
    let running = state.running.as_ref();
    let who = running.map_or("Agent", |running| turn_title(&running.order.purpose));
    let who = match &approval.child {
        Some(path) if path.is_session() => task_label(path),
        Some(child) => format!("{who} ▸ {child}"),
        None => who.to_owned(),
    };
    // A task of the user's belongs to no step.
    let is_users = approval.child.as_ref().is_some_and(ChildPath::is_users);
    let execution = state.execution.as_ref().filter(|_| !is_users);
    let step = execution.and_then(|execution| execution.current.as_ref());
    let step = step.map(|step| format!("step {}", step.n));
    let n_more = state.approvals.len().saturating_sub(1);
    let more = (n_more > 0).then(|| format!("{n_more} more after it"));
    let parts: Vec<String> = [Some(who), step, more].into_iter().flatten().collect();
    parts.join(" · ")
}

/// Shortens the path of a subagent of this program to its last part; a task of the user is named as one.
fn task_label(path: &ChildPath) -> String {
    let task = path.last();
    if path.is_users() && path.n_names() == 2 {
        format!("task {task}")
    } else {
        task.to_owned()
    }
}

/// Explains why the dialog asks: the matching rule, what it means for longer approvals, the agent's own
/// reason.
fn reason_lines(approval: &Approval) -> Vec<(String, Style)> {
    let mut lines = Vec::new();
    if let Some(why) = &approval.why {
        let DecisionReason {
            reason,
            rule,
            origin,
            ..
        } = why;
        let asked = match why.source() {
            DecisionSource::Floor(_) => format!("Asked because {reason}"),
            DecisionSource::NoRule => "No rule allows this".to_owned(),
            DecisionSource::WrittenAsk => {
                format!("A rule asks: {rule} ({})", file_and_line(origin))
            }
            // A rule that allows can ask too, if there is a doubt; then the reason says which.
            DecisionSource::Program
            | DecisionSource::Written
            | DecisionSource::Approval
            | DecisionSource::Mode => {
                format!("Asked because {reason}: {rule} ({})", file_and_line(origin))
            }
        };
        let once = match approval.keeping {
            MaxApprovalScope::Never => ". You can allow it only once.",
            MaxApprovalScope::Run | MaxApprovalScope::Project => "",
        };
        lines.push((format!("{asked}{once}"), theme::QUIET));
    }
    if let Some(reason) = &approval.reason {
        let said = format!("Reason given: {}", to_one_line(reason));
        lines.push((said, theme::ASIDE));
    }
    lines
}

/// Returns where a rule is written, without the folders above its own.
fn file_and_line(origin: &str) -> &str {
    let mut folders = origin.rmatch_indices('/').map(|(at, _)| at);
    match (folders.next(), folders.next()) {
        (Some(_), Some(at)) => origin.get(at + 1..).unwrap_or(origin),
        _ => origin,
    }
}

fn add_decisions(sheet: ChoiceDialog, approval: &Approval) -> ChoiceDialog {
    let mut sheet = sheet.with_choice(
        'y',
        "Allow once",
        decide_request(approval, ApprovalDecision::AllowOnce),
    );
    if !approval.offers.is_empty() {
        sheet = sheet.with_choice(
            'r',
            "Allow in this run…",
            ChoiceAction::Confirm(Box::new(build_remember_dialog(
                approval,
                ApprovalScope::Run,
            ))),
        );
        if approval.keeping == MaxApprovalScope::Project {
            sheet = sheet.with_choice(
                'l',
                "Always allow here…",
                ChoiceAction::Confirm(Box::new(build_remember_dialog(
                    approval,
                    ApprovalScope::Project,
                ))),
            );
        }
    }
    let n = sheet.choices.len();
    if n > 1 {
        sheet = sheet.with_note("“Allow …” asks next which calls it covers.");
    }
    sheet
        .with_choice(
            'n',
            "Deny and end the turn",
            decide_request(approval, ApprovalDecision::DenyAndStop),
        )
        .with_choice(
            'w',
            "Deny and say why…",
            ChoiceAction::WriteDraft(ComposerDraft::Refusal { call: approval.n }),
        )
        .with_first_choice(n)
}

fn decide_request(approval: &Approval, answer: ApprovalDecision) -> ChoiceAction {
    ChoiceAction::Act(vec![Action::AnswerApproval {
        call: approval.n,
        answer,
    }])
}

/// Asks what to remember: this exact call, calls like it, or a pattern of the user's own.
fn build_remember_dialog(approval: &Approval, scope: ApprovalScope) -> ChoiceDialog {
    let title = format!("What do you allow for {}?", scope.label());
    let serves = format!(
        "It applies only to the agent {} and never overrides a deny rule. See or remove it with /permissions.",
        approval.profile
    );
    let mut sheet = ChoiceDialog::new(format!("{DIALOG_ID_PREFIX} kept {}", approval.n), &title)
        .with_weight(DialogWeight::Permission)
        .with_text(&serves, theme::QUIET);
    let (patterns, exact): (Vec<ApprovalMatcher>, Vec<ApprovalMatcher>) = approval
        .offers
        .iter()
        .cloned()
        .partition(|offer| matches!(offer, ApprovalMatcher::Pattern(_)));
    let mut offer = |key, label: &str, what: Vec<ApprovalMatcher>| {
        let texts: Vec<&str> = what.iter().map(ApprovalMatcher::as_str).collect();
        let label = format!("{label}: {}", texts.join(", "));
        if !what.is_empty() {
            let act = Action::AnswerApproval {
                call: approval.n,
                answer: ApprovalDecision::AllowAndRemember { what, scope },
            };
            sheet.choices.push(crate::tui::dialog::DialogChoice::new(
                key,
                &to_one_line(&label),
                ChoiceAction::ActAndClose(vec![act]),
            ));
        }
    };
    let has_pattern = !patterns.is_empty();
    offer('e', "Exactly this", exact);
    offer('a', "All of this kind", patterns);
    if has_pattern {
        sheet = sheet.with_choice(
            'o',
            "Write a narrower pattern…",
            ChoiceAction::WriteDraft(ComposerDraft::Pattern {
                call: approval.n,
                scope,
            }),
        );
    }
    sheet.with_choice('b', "Back", ChoiceAction::Close)
}

/// Returns the pattern that the user starts editing from.
pub fn suggest_pattern(state: &RunState) -> String {
    let offers = state.approvals.first().map(|first| first.offers.iter());
    let last = offers.and_then(|mut offers| offers.next_back());
    last.map_or(String::new(), |offer| offer.as_str().to_owned())
}
