//! Suggests what the user can approve for more than one call: the exact call, and patterns for similar calls.
//!
//! A pattern is not suggested where it would allow more than it seems to: for programs that run other commands, for
//! programs where few words do much harm, and for commands that the safety list blocks. Does not store anything.

use super::command_segments::{self, CommandSegment};
use super::decision::Decision;
use super::program_table::{ProgramTrait, has_trait, program_facts};
use super::stored_approval::{ApprovalMatcher, MaxApprovalScope};
use super::tool_names::{TargetKind, target_kind_for_tool};
use super::{AgentToolCall, PermissionAction, wildcard};

/// Words after which a program runs the rest of the line as a command.
const RUNNER_WORDS: [&str; 4] = ["exec", "x", "dlx", "eval"];

/// Suggests approvals for a decision, the narrowest first; none for a decision that cannot be stored.
pub fn suggest_approvals(call: &AgentToolCall, decision: &Decision) -> Vec<ApprovalMatcher> {
    if decision.action != PermissionAction::Ask {
        return Vec::new();
    }
    let patterns = match decision.max_scope {
        MaxApprovalScope::Never => return Vec::new(),
        MaxApprovalScope::Run => false,
        MaxApprovalScope::Project => true,
    };
    let mut proposals = suggest_exact(call, decision);
    if patterns {
        proposals.extend(suggest_patterns(call, decision));
    }
    proposals.dedup();
    proposals
}

fn suggest_exact(call: &AgentToolCall, decision: &Decision) -> Vec<ApprovalMatcher> {
    let of = |text: &str| ApprovalMatcher::Exact(text.to_owned());
    match call {
        AgentToolCall::Command { line, .. } => vec![of(line.trim())],
        AgentToolCall::Edit { .. } | AgentToolCall::Read { .. } => decision
            .request
            .targets
            .iter()
            .flat_map(|target| target.forms())
            .map(of)
            .collect(),
        AgentToolCall::Tool { input, .. } => {
            vec![of(&super::required_permissions::main_input_text(input))]
        }
    }
}

fn suggest_patterns(call: &AgentToolCall, decision: &Decision) -> Vec<ApprovalMatcher> {
    match call {
        AgentToolCall::Command { line, .. } => suggest_line_patterns(line),
        AgentToolCall::Edit { .. } | AgentToolCall::Read { .. } => decision
            .request
            .targets
            .iter()
            .flat_map(|target| target.forms())
            .filter_map(folder_pattern)
            .collect(),
        AgentToolCall::Tool { name, input } => host_pattern(name, input).into_iter().collect(),
    }
}

/// Suggests a pattern for each command of a line that would still ask. If one command has none,
/// only the exact line is suggested.
fn suggest_line_patterns(line: &str) -> Vec<ApprovalMatcher> {
    let split = command_segments::split_command_line(line);
    if split.doubt.is_some() {
        return Vec::new();
    }
    let patterns: Option<Vec<ApprovalMatcher>> =
        split.segments.iter().map(segment_pattern).collect();
    patterns.unwrap_or_default()
}

fn segment_pattern(part: &CommandSegment) -> Option<ApprovalMatcher> {
    let words = part.literal_words()?;
    let program = words.first()?;
    let is_plain = |word: &&String| {
        !word.starts_with('-') && !word.contains(['/', '=', '~', ' ']) && !word.is_empty()
    };
    let first: Vec<&str> = words
        .iter()
        .take(3)
        .take_while(|word| is_plain(word))
        .map(String::as_str)
        .collect();
    let facts = program_facts(program);
    let has_subcommand = first
        .get(1)
        .is_some_and(|word| facts.approval_subcommands.iter().any(|sub| sub == word));
    let n_words = facts.approval_words.unwrap_or(1) + usize::from(has_subcommand);
    let prefix = first.get(..n_words)?;
    let runs = prefix
        .iter()
        .skip(1)
        .any(|word| RUNNER_WORDS.contains(word));
    if runs || (is_exact_only_program(program) && n_words == 1) {
        return None;
    }
    Some(ApprovalMatcher::Pattern(format!(
        "{} *",
        wildcard::escape(&prefix.join(" "))
    )))
}

/// Returns whether only the exact command is suggested for a program. The version in an interpreter's
/// name (`python3.12`) is ignored.
fn is_exact_only_program(program: &str) -> bool {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    has_trait(program, ProgramTrait::ExactApproval)
        || has_trait(bare, ProgramTrait::ExactApproval)
        // A path may lead to any program, whatever its name says.
        || program.contains('/')
}

/// Suggests the folder of a path, but never the whole repository or the whole disk.
fn folder_pattern(path: &str) -> Option<ApprovalMatcher> {
    let (folder, _) = path.trim_end_matches('/').rsplit_once('/')?;
    let is_some_folder = !folder.trim_matches(['/', '.']).is_empty();
    is_some_folder.then(|| ApprovalMatcher::Pattern(format!("{}/*", wildcard::escape(folder))))
}

/// Suggests the host of a web address.
fn host_pattern(name: &str, input: &str) -> Option<ApprovalMatcher> {
    if target_kind_for_tool(name) != TargetKind::Text {
        return None;
    }
    let text = super::required_permissions::main_input_text(input);
    let (scheme, rest) = text.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_plain = !host.is_empty() && !host.contains(['@', '*', '\\']);
    is_plain.then(|| {
        ApprovalMatcher::Pattern(format!(
            "{}://{}/*",
            wildcard::escape(scheme),
            wildcard::escape(host)
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{DecisionContext, PhaseAccess, SandboxReach, decide_call};
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let call = AgentToolCall::Command {
            line: line.to_owned(),
            cwd: PathBuf::from("/repo"),
            reach: SandboxReach::Unconfined,
        };
        let context = DecisionContext::new(PhaseAccess::Execute, PathBuf::from("/repo"));
        let proposals = suggest_approvals(&call, &decide_call(&call, &context));
        let told: Vec<String> = proposals
            .iter()
            .map(|proposal| match proposal {
                ApprovalMatcher::Exact(text) => format!("= {text}"),
                ApprovalMatcher::Pattern(text) => text.clone(),
            })
            .collect();
        assert_eq!(told, expected, "{line}");
    }

    #[test]
    fn a_pattern_keeps_the_words_that_say_what_is_done() {
        check("ls -la", &["= ls -la", "ls *"]);
        check("cargo test --all", &["= cargo test --all", "cargo test *"]);
        check(
            "npm run build -- x",
            &["= npm run build -- x", "npm run build *"],
        );
        check(
            "git checkout main",
            &["= git checkout main", "git checkout *"],
        );
        check(
            "docker compose up",
            &["= docker compose up", "docker compose up *"],
        );
        check(
            "make test && ls",
            &["= make test && ls", "make test *", "ls *"],
        );
    }

    #[test]
    fn no_pattern_is_proposed_where_it_would_cover_more_than_it_shows() {
        for line in [
            "python3 x.py",
            "python3.12 x.py",
            "sh x",
            "node x.js",
            "env ls",
            "xargs ls",
            "rm x",
            "git -C x status",
            "git",
            "npm",
            "cargo --version",
            "curl x",
            "./run",
            "/bin/ls",
            "npm exec x",
            "pnpm dlx x",
            "ls && rm x",
            "make 'a",
        ] {
            check(line, &[format!("= {line}").as_str()]);
        }
    }

    #[test]
    fn what_is_held_back_is_kept_for_the_run_exactly_or_not_at_all() {
        check("git push", &["= git push"]);
        check("sudo ls", &[]);
    }

    #[test]
    fn a_folder_and_a_host_are_patterns_with_their_own_characters() {
        let pattern = |text: &str| Some(ApprovalMatcher::Pattern(text.to_owned()));
        assert_eq!(folder_pattern("app/[id]/page.tsx"), pattern("app/[[]id]/*"));
        assert_eq!(folder_pattern("README.md"), None);
        assert_eq!(folder_pattern("/x"), None);
        let fetch = |url: &str| host_pattern("webfetch", &format!("{{\"url\":\"{url}\"}}"));
        assert_eq!(
            fetch("https://example.org/a?b"),
            pattern("https://example.org/*")
        );
        assert_eq!(fetch("https://u@example.org/"), None);
    }
}
