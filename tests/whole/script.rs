//! Builds scripts of scripted agents as values.

use serde_json::{Value, json};

/// The turns of one scripted agent.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    turns: Vec<Value>,
    version: Option<String>,
    tool_client: Vec<String>,
}

/// A turn that is played once, for a prompt that contains `when`. A step's turn ends with its result.
pub fn turn(when: &str, actions: Vec<Value>) -> Value {
    json!({ "when": when, "action": with_result(when, actions) })
}

/// Has a step's turn state that it is done, where it says nothing else.
fn with_result(when: &str, mut actions: Vec<Value>) -> Vec<Value> {
    let is_step = ["EXECUTE step", "EXECUTE fix"]
        .iter()
        .any(|of| when.contains(of));
    let states = |action: &Value| {
        let text = action.to_string();
        text.contains("step-result") || text.contains("step_result") || text.contains("BLOCKED:")
    };
    if !is_step || actions.iter().any(states) {
        return actions;
    }
    let last = actions.iter_mut().rfind(|action| action["do"] == "text");
    match last {
        Some(last) => {
            let said = last["text"].as_str().unwrap_or_default();
            last["text"] = json!(format!("{said}\n\n{DONE}"));
        }
        None => actions.push(say(DONE)),
    }
    actions
}

/// The result of a step that is done, as a message says it.
pub const DONE: &str = "```step-result\ndone\n```";

/// Sends a text at once.
pub fn say(text: &str) -> Value {
    json!({ "do": "text", "text": text, "delta": "whole" })
}

pub fn shell(run: &str) -> Value {
    json!({ "do": "command", "run": run })
}

/// Writes a whole file.
pub fn write(path: &str, content: &str) -> Value {
    json!({ "do": "write", "path": path, "content": content })
}

/// Replaces a passage of a file.
pub fn edit(path: &str, find: &str, replace: &str) -> Value {
    json!({ "do": "edit", "path": path, "find": find, "replace": replace })
}

/// A finding that counts with its severity: it names a step and a scenario.
pub fn finding(n: u32, severity: &str, text: &str) -> String {
    format!(
        "\n{n}. [{severity}] {text}\n   Place: step 1\n   Scenario: the step is done as written, and the result is wrong\n"
    )
}

/// A review that requires changes for one finding.
pub fn objection(severity: &str, text: &str) -> String {
    format!("[CHANGES_REQUIRED]\n{}", finding(1, severity, text))
}

/// A review that approves a plan after [`revision`], which settled finding 1.
pub const FIXED: &str = "[APPROVED]\n\n1. fixed: step 1 says \"Now\"\n";

/// Answers findings, and changes the first step of the plan.
pub fn revision(answers: &str) -> Vec<Value> {
    vec![
        edit("${plan_path}", "1. [ ] ", "1. [ ] Now "),
        write("${comments_path}", answers),
    ]
}

/// The same for a turn that may be repeated: the whole plan is written.
pub fn whole_revision(plan: &str, answers: &str) -> Vec<Value> {
    vec![
        write("${plan_path}", &plan.replace("1. [ ] ", "1. [ ] Now ")),
        write("${comments_path}", answers),
    ]
}

impl Agent {
    /// An agent that plays nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A planner whose plan has these steps.
    pub fn planning(steps: &[&str]) -> Self {
        Self::new().plan(&plan(steps))
    }

    /// A reviewer that approves at once.
    pub fn approving() -> Self {
        Self::new().review("[APPROVED]\n")
    }

    /// Writes this plan when asked for one.
    pub fn plan(self, plan: &str) -> Self {
        self.on(
            "[agent-collab WRITE_PLAN]",
            vec![write("${plan_path}", plan)],
        )
    }

    /// Writes this review when asked for one.
    pub fn review(self, comments: &str) -> Self {
        self.on(
            "[agent-collab REVIEW",
            vec![write("${comments_path}", comments)],
        )
    }

    /// Answers findings so when asked.
    pub fn respond(self, answers: &str) -> Self {
        self.on(
            "[agent-collab RESPOND",
            vec![write("${comments_path}", answers)],
        )
    }

    /// Answers findings so when asked, and changes the first step of the plan.
    pub fn revise(self, answers: &str) -> Self {
        self.on("[agent-collab RESPOND", revision(answers))
    }

    /// Does this in a step.
    pub fn step(self, n: u32, actions: Vec<Value>) -> Self {
        self.on(&format!("[agent-collab EXECUTE step {n}]"), actions)
    }

    /// Adds the actions of a turn that fixes a step.
    pub fn fix(self, n: u32, attempt: u32, actions: Vec<Value>) -> Self {
        self.on(
            &format!("[agent-collab EXECUTE fix {n}.{attempt}]"),
            actions,
        )
    }

    /// Does this for a prompt that contains `when`.
    pub fn on(mut self, when: &str, actions: Vec<Value>) -> Self {
        self.turns.push(turn(when, actions));
        self
    }

    /// Does this for every prompt that contains `when`.
    pub fn always(mut self, when: &str, actions: Vec<Value>) -> Self {
        let mut turn = turn(when, actions);
        turn["uses"] = json!("always");
        self.turns.push(turn);
        self
    }

    /// Reports this version.
    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    /// Makes this program call the host's tools instead of the agent's own client.
    pub fn tool_client(mut self, words: &[&str]) -> Self {
        self.tool_client = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// The script; a summary and a recovery are always played.
    pub fn to_json(&self) -> String {
        let mut turns = self.turns.clone();
        for when in ["[agent-collab EXECUTE summary]", "[agent-collab RECOVER]"] {
            turns.push(json!({ "when": when, "uses": "always", "action": [say("All is said.")] }));
        }
        let mut script = json!({ "turn": turns });
        if let Some(version) = &self.version {
            script["version"] = json!(version);
        }
        if !self.tool_client.is_empty() {
            script["tool_client"] = json!(self.tool_client);
        }
        script.to_string()
    }
}

/// A plan with these steps and no line for tests.
pub fn plan(steps: &[&str]) -> String {
    let boxes: String = (1..)
        .zip(steps)
        .map(|(n, step)| format!("{n}. [ ] {step}\n"))
        .collect();
    format!("# Task: A test\n\n## Goal\nA test.\n\n## Steps\n{boxes}")
}
