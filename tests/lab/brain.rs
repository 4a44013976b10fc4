//! A model that does what this program's prompts ask for: plans, reviews, answers, executes.
//!
//! It derives the purpose of a turn from the prompt alone, as a real model must, and does not know which CLI asks or
//! which role it has.

use std::sync::LazyLock;

use regex::Regex;

use crate::model_server::script::{Part, Reply, Request, Tool};

/// The text of the plan's first step.
pub const STEP_1: &str = "Make `double` double in code.js";
/// The text of the plan's second step.
pub const STEP_2: &str = "Describe both functions in README.md";
/// What the reviewer misses in the first plan.
pub const REMARK: &str = "the plan names no risk";

/// The purpose of a turn, according to the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Write `plan.md`, to be staged at this path.
    WritePlan(String),
    /// Write `comments.md`, to be staged at this path.
    Review(String),
    /// Answer the review; the answers go to this staging path.
    Respond(String),
    /// Work on step 1.
    FirstStep,
    /// Work on step 2.
    SecondStep,
    Summary,
    /// None of these: the program asked for something that this model does not understand.
    Unclear,
}

/// Reads the purpose out of a prompt.
pub fn purpose_of(prompt: &str) -> Purpose {
    static STAGED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[^\s`'\x22(]*/\.agent-collab/turns/[^\s`'\x22)]*/(plan|comments)\.md")
            .expect("a valid pattern")
    });
    let staged = |name: &str| {
        let found = STAGED.captures_iter(prompt).find(|found| &found[1] == name);
        found.map(|found| found[0].to_owned())
    };
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^\[agent-collab ([A-Z_]+)(?: ([^\]]+))?\]$").expect("a valid pattern")
    });
    let headers: Vec<(String, String)> = HEADER
        .captures_iter(prompt)
        .map(|found| {
            (
                found[1].to_owned(),
                found
                    .get(2)
                    .map_or_else(String::new, |detail| detail.as_str().to_owned()),
            )
        })
        .collect();
    // A recovery prompt precedes the prompt that says what to do now.
    let Some((phase, detail)) = headers.iter().rfind(|(phase, _)| phase != "RECOVER") else {
        return Purpose::Unclear;
    };
    match (phase.as_str(), staged("plan"), staged("comments")) {
        ("WRITE_PLAN", Some(plan), _) => Purpose::WritePlan(plan),
        ("REVIEW", _, Some(comments)) => Purpose::Review(comments),
        ("RESPOND", _, Some(comments)) => Purpose::Respond(comments),
        ("EXECUTE", _, _) => match detail.as_str() {
            "step 1" => Purpose::FirstStep,
            "step 2" => Purpose::SecondStep,
            "summary" => Purpose::Summary,
            _ => Purpose::Unclear,
        },
        _ => Purpose::Unclear,
    }
}

/// The plan, without or with the risks that the reviewer asks for.
pub fn plan(risks: &str) -> String {
    format!(
        "# Task: Mend the scratch project\n\n## Steps\n1. [ ] {STEP_1}\n2. [ ] {STEP_2}\n{risks}"
    )
}

/// What the plan has after the review.
const RISKS: &str = "\n## Risks\n- None but a wrong test.\n";

/// Does what is asked. Documents come back in every way there is: staged files, fenced blocks, the whole message.
pub fn honest(request: &Request) -> Reply {
    match purpose_of(&request.prompt) {
        Purpose::WritePlan(staged) => write_plan(request, staged),
        Purpose::Review(staged) => review(request, staged),
        Purpose::Respond(_) => respond(),
        Purpose::FirstStep => first_step(request),
        Purpose::SecondStep => second_step(request),
        Purpose::Summary => Reply::text("Both steps are done and the tests pass."),
        Purpose::Unclear => Reply::text("I do not understand what to do."),
    }
}

/// Makes these calls one after another, whatever comes of them, then does honestly what is asked.
pub fn after(calls: &[Tool], request: &Request) -> Reply {
    if let Some(call) = calls.get(request.n_outputs()) {
        return Reply::call(call.clone());
    }
    let mut request = request.clone();
    request.outputs.drain(..calls.len());
    honest(&request)
}

fn write_plan(request: &Request, staged: String) -> Reply {
    match request.n_outputs() {
        0 => Reply::Say(vec![
            Part::Text("I look at the project first.".to_owned()),
            Part::Call(Tool::Shell("cat code.js".to_owned())),
        ]),
        1 => Reply::call(Tool::Write {
            path: staged,
            content: plan(""),
        }),
        _ => Reply::text("The plan is written."),
    }
}

/// Approves a plan that names its risks; the first review is staged, the approval is the whole message.
fn review(request: &Request, staged: String) -> Reply {
    let plan = request
        .outputs
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    match request.n_outputs() {
        0 => Reply::call(Tool::Shell("cat .agent-collab/plan.md code.js".to_owned())),
        1 if plan.contains("## Risks") => {
            Reply::text("[APPROVED]\n\n1. fixed: the plan says \"None but a wrong test\"\n")
        }
        1 => Reply::call(Tool::Write {
            path: staged,
            content: format!(
                "[CHANGES_REQUIRED]\n\n1. [blocking] {REMARK}\n   Place: Steps\n   Scenario: a step goes wrong, and nobody knows what to look at\n"
            ),
        }),
        _ => Reply::text("The review is written."),
    }
}

fn respond() -> Reply {
    Reply::text(format!(
        "I follow the review.\n\n````markdown comments.md\n1. accepted: the risks are named now\n````\n\n````markdown plan.md\n{}````\n",
        plan(RISKS)
    ))
}

/// A last message that says that the step is done.
pub fn done(said: &str) -> String {
    format!("{said}\n\n```step-result\ndone\n```")
}

fn first_step(request: &Request) -> Reply {
    match request.n_outputs() {
        0 => Reply::call(Tool::Read("code.js".to_owned())),
        1 => Reply::call(Tool::Edit {
            path: "code.js".to_owned(),
            old: "exports.double = (a) => a;".to_owned(),
            new: "exports.double = (a) => 2 * a;".to_owned(),
        }),
        _ => Reply::text(done("`double` doubles now.")),
    }
}

fn second_step(request: &Request) -> Reply {
    match request.n_outputs() {
        0 => Reply::call(Tool::Write {
            path: "README.md".to_owned(),
            content: "# Scratch\n\n`sum` adds two numbers, `double` doubles one.\n".to_owned(),
        }),
        _ => Reply::text(done("README.md describes both functions.")),
    }
}
