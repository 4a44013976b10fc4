//! Floors: denies and forced asks that no rule, approval or mode lifts.
//!
//! It refuses to know rules. Each floor is one function that says what it holds a call against, or nothing.

use std::path::{Path, PathBuf};

use super::approved::Keeping;
use super::check::Checks;
use super::context::{Context, Lineage, PhaseAccess, Repetition};
use super::judge::judge;
use super::mode::Mode;
use super::path::{absolute, is_inside, is_protected};
use super::profile::NOT_FOR_CHILDREN;
use super::rule::{Action, Facts};
use super::unboxed::outside_sandbox;
use super::{Call, Reach, guard, names, parts, reading, reads, uncontained, wildcard};

/// Which floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// The tool is not offered to the session.
    HiddenTool,
    /// `.git` and the program's own folders.
    Protected,
    /// Every phase but EXECUTE only reads.
    Phase,
    /// Mode plan only reads.
    Mode,
    /// What a parent session may not, its children may not.
    ParentSession,
    /// What read rules hold back and a search would meet.
    Search,
    /// What would run outside of a CLI's own sandbox.
    OutsideSandbox,
    /// The safety list.
    Safety,
    /// Nothing holds the command.
    Uncontained,
    /// The same call again and again.
    DoomLoop,
}

impl Floor {
    /// Names the floor in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::HiddenTool => "hidden tool",
            Self::Protected => "protected paths",
            Self::Phase => "phase",
            Self::Mode => "mode",
            Self::ParentSession => "parent session",
            Self::Search => "search",
            Self::OutsideSandbox => "sandbox",
            Self::Safety => "safety list",
            Self::Uncontained => "uncontained",
            Self::DoomLoop => "doom loop",
        }
    }
}

/// All floors in the order in which they are told.
pub const FLOORS: [Floor; 10] = [
    Floor::HiddenTool,
    Floor::Protected,
    Floor::Phase,
    Floor::Mode,
    Floor::ParentSession,
    Floor::Search,
    Floor::OutsideSandbox,
    Floor::Safety,
    Floor::Uncontained,
    Floor::DoomLoop,
];

/// What a floor says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Ask or deny.
    pub action: Action,
    /// How far an answer may be kept.
    pub keeping: Keeping,
    /// Why, and for a deny what to do instead.
    pub reason: String,
}

/// What a floor looks at.
pub struct Looked<'a> {
    /// The call.
    pub call: &'a Call,
    /// What it needs.
    pub checks: &'a Checks,
    /// What is known of it.
    pub facts: Facts,
    /// What the decision rests on.
    pub context: &'a Context,
}

impl Floor {
    /// Tells what the floor holds a call against; `None` when it stands clear of it.
    pub fn holds(self, looked: &Looked<'_>) -> Option<Held> {
        match self {
            Self::HiddenTool => hidden_tool(looked),
            Self::Protected => protected(looked).or_else(|| closed(looked)),
            Self::Phase => match looked.context.phase_access {
                PhaseAccess::BeforeExecute => match looked.context.lineage {
                    Lineage::Role => only_reading(looked, "in this turn"),
                    Lineage::Child { .. } => only_reading(looked, "in this task"),
                },
                PhaseAccess::Execute => None,
            },
            Self::Mode => match looked.context.mode {
                Mode::Plan => only_reading(looked, "in mode plan"),
                Mode::Default | Mode::AutoEdit | Mode::Yolo => None,
            },
            Self::ParentSession => parent_session(looked),
            Self::Search => reads::meets_held_back(looked),
            Self::OutsideSandbox => outside_sandbox(looked),
            Self::Safety => safety(looked),
            Self::Uncontained => uncontained::holds(looked),
            Self::DoomLoop => match looked.context.repetition {
                Repetition::None => None,
                Repetition::Loop => Some(Held {
                    action: Action::Ask,
                    keeping: Keeping::Never,
                    reason: "the same calls come again and again".to_owned(),
                }),
            },
        }
    }
}

fn deny(reason: impl Into<String>) -> Option<Held> {
    Some(Held {
        action: Action::Deny,
        keeping: Keeping::Never,
        reason: reason.into(),
    })
}

fn hidden_tool(looked: &Looked<'_>) -> Option<Held> {
    let Call::Tool { name, .. } = looked.call else {
        return None;
    };
    let permission = names::permission_of(name);
    let is_hidden = looked
        .context
        .hidden
        .iter()
        .any(|hidden| wildcard::matches(hidden, name) || wildcard::matches(hidden, permission));
    if !is_hidden {
        return None;
    }
    let by = match looked.context.rules.hides(permission) {
        Some(rule) => format!(": {rule} ({})", rule.origin),
        None => String::new(),
    };
    deny(format!("blocked: the tool {name} is not offered here{by}"))
}

/// The turn's own staging files are the one place in the program's folders that an agent writes.
fn protected(looked: &Looked<'_>) -> Option<Held> {
    let context = looked.context;
    let forbidden = |path: &Path| {
        is_protected(path, &context.root, &context.own)
            && !context.staging_files.iter().any(|file| file == path)
    };
    let written: Vec<PathBuf> = match looked.call {
        Call::Edit { .. } => context
            .paths
            .iter()
            .flat_map(|path| [path.lexical.clone(), path.real.clone()])
            .collect(),
        Call::Command { line, cwd, .. } => parts::split(line)
            .parts
            .iter()
            .flat_map(|part| &part.writes)
            .map(|named| absolute(cwd, Path::new(named)))
            .collect(),
        Call::Read { .. } | Call::Tool { .. } => return None,
    };
    let path = written.iter().find(|path| forbidden(path))?;
    deny(format!(
        "{} may not be written: .git and the folders of agent-collab are the program's",
        path.display()
    ))
}

/// A child with a tree of its own leaves the user's alone: what it changes is taken over when its task ends.
fn closed(looked: &Looked<'_>) -> Option<Held> {
    let context = looked.context;
    let is_closed = |path: &Path| {
        let mut closed = context.closed.iter();
        closed.any(|folder| is_inside(path, folder)) && !is_inside(path, &context.root)
    };
    let is_held = match looked.call {
        Call::Edit { .. } => {
            let mut paths = context.paths.iter();
            paths.any(|path| is_closed(&path.lexical) || is_closed(&path.real))
        }
        Call::Command { line, cwd, .. } => {
            let parts = parts::split(line).parts;
            is_closed(cwd)
                || parts
                    .iter()
                    .any(|part| part.names(cwd).any(|path| is_closed(&path)))
        }
        Call::Read { .. } | Call::Tool { .. } => return None,
    };
    is_held.then(|| Held {
        action: Action::Deny,
        keeping: Keeping::Never,
        reason: format!(
            "it works in a tree of its own, {}, and leaves the user's alone: name files relative to it; what changes \
             there is taken over when the task ends",
            context.root.display()
        ),
    })
}

/// Nothing is written but the turn's staging files, and what is not proven to read only is denied.
fn only_reading(looked: &Looked<'_>, when: &str) -> Option<Held> {
    let context = looked.context;
    match looked.call {
        Call::Command { line, cwd, reach } => match reading_refusal(line, cwd, *reach, context) {
            Some(reason) => deny(format!("{reason}; {when} commands only read")),
            None => None,
        },
        Call::Edit { .. } if is_staging(looked) => None,
        Call::Edit { .. } => {
            let files: Vec<String> = context
                .staging_files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            deny(format!(
                "{when} nothing may be written but {}",
                if files.is_empty() {
                    "what the program asks for".to_owned()
                } else {
                    files.join(", ")
                }
            ))
        }
        Call::Read { .. } => {
            let is_inside = |path: &super::ResolvedPath| is_inside(&path.real, &context.root);
            let is_known = looked.checks.doubt.is_none();
            if is_known && context.paths.iter().all(is_inside) {
                return None;
            }
            deny(format!("nothing may be read outside the repository {when}"))
        }
        Call::Tool { name, .. } if is_harmless(name) => None,
        Call::Tool { name, .. } => deny(format!("the tool {name} may not be used {when}")),
    }
}

/// Tells whether a call writes the turn's staging files and nothing else.
pub fn is_staging(looked: &Looked<'_>) -> bool {
    let is_staging = |path: &PathBuf| looked.context.staging_files.contains(path);
    let all = looked
        .context
        .paths
        .iter()
        .all(|path| is_staging(&path.lexical) && is_staging(&path.real));
    matches!(looked.call, Call::Edit { .. })
        && looked.checks.doubt.is_none()
        && !looked.checks.checks.is_empty()
        && all
}

/// Tools that change nothing but the program's own state.
fn is_harmless(tool: &str) -> bool {
    const HARMLESS: [&str; 9] = [
        "read",
        "glob",
        "grep",
        "list",
        "webfetch",
        "websearch",
        "question",
        "todoread",
        "todowrite",
    ];
    let permission = names::permission_of(tool);
    HARMLESS.contains(&permission) || NOT_FOR_CHILDREN.contains(&permission)
}

/// Tells why a command is not proven to read only inside the repository.
pub fn reading_refusal(line: &str, cwd: &Path, reach: Reach, context: &Context) -> Option<String> {
    if reach == Reach::LeavesSandbox {
        return Some("no command may leave the sandbox".to_owned());
    }
    if !is_inside(cwd, &context.root) {
        return Some(format!(
            "commands run inside the repository, not in {}",
            cwd.display()
        ));
    }
    let proof = reading::proven(line, cwd, &context.root);
    let refused = proof.err().map(|refused| refused.to_string());
    refused.or_else(|| reads::leads_out(context))
}

/// A child has no tools that start or talk to sessions, and nothing that its parent's session denies.
fn parent_session(looked: &Looked<'_>) -> Option<Held> {
    let Lineage::Child { session } = &looked.context.lineage else {
        return None;
    };
    if let Call::Tool { name, .. } = looked.call
        && NOT_FOR_CHILDREN.contains(&names::permission_of(name))
    {
        return deny(format!("blocked: a child session has no tool {name}"));
    }
    let judged = judge(session, looked.checks, looked.facts);
    let denied = judged.iter().find(|judged| judged.action == Action::Deny)?;
    let rule = denied.by?;
    deny(format!(
        "the session that started this one may not: {rule} ({})",
        rule.origin
    ))
}

fn safety(looked: &Looked<'_>) -> Option<Held> {
    let Call::Command { line, cwd, .. } = looked.call else {
        return None;
    };
    let settings = guard::Settings {
        root: Some(looked.context.root.clone()),
        cwd: Some(cwd.clone()),
        ..looked.context.safety.clone()
    };
    let verdict = guard::classify(line, &settings);
    let keeping = match verdict.class {
        guard::Class::Safe => return None,
        guard::Class::Confirm => Keeping::Run,
        guard::Class::Dangerous => Keeping::Never,
    };
    Some(Held {
        action: Action::Ask,
        keeping,
        reason: verdict.told(),
    })
}
