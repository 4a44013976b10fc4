//! Decides many cases from JSON lines: each line gets its answer, even one that cannot be parsed.
//!
//! Does not read the repository: rules come with the case, and the safety lists classify commands.

use std::io::{self, BufRead, BufWriter, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::permission::command_safety::{
    CommandClassification, CommandSafetySettings, classify_argv, classify_script,
};
use crate::permission::standalone_evaluation::{self, StandaloneTarget};
use crate::permission::{
    ApprovalMatcher, PermissionAction, Rule, RuleLayer, RuleOrigin, RuleSet, StoredApproval,
};

#[derive(Debug, Deserialize)]
struct BatchCase {
    #[serde(default)]
    cmd: Option<String>,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    rules: Option<Vec<BatchRule>>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default, alias = "targets")]
    target: Option<OneOrMany>,
    #[serde(default)]
    real: Option<OneOrMany>,
    #[serde(default)]
    approvals: Vec<BatchApproval>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a rule is `[permission, pattern, action]` or an object with these three keys"
)]
enum BatchRule {
    Short(String, String, PermissionAction),
    Long {
        permission: String,
        pattern: String,
        action: PermissionAction,
    },
}

#[derive(Debug, Deserialize)]
struct BatchApproval {
    tool: String,
    target: String,
    #[serde(default)]
    scope: BatchApprovalScope,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BatchApprovalScope {
    #[default]
    Exact,
    Pattern,
}

/// Answers all cases; returns 1 if one could not be parsed, else 0.
///
/// # Errors
/// Reading or writing fails.
pub fn answer_cases(
    mut input: impl BufRead,
    out: impl Write,
    safety: &CommandSafetySettings,
) -> io::Result<u8> {
    let mut out = BufWriter::new(out);
    let mut line = Vec::new();
    let (mut number, mut code) = (0_usize, 0);
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            out.flush()?;
            return Ok(code);
        }
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (id, answer) = answer_line(&line, safety);
        let mut told = json!({ "id": id });
        match answer {
            Ok(fields) => merge_fields(&mut told, fields),
            Err(problem) => {
                code = 1;
                merge_fields(
                    &mut told,
                    json!({ "error": format!("line {number}: {problem}") }),
                );
            }
        }
        writeln!(out, "{told}")?;
        // A caller that sends one case at a time waits for its answer.
        out.flush()?;
    }
}

fn merge_fields(told: &mut Value, fields: Value) {
    if let (Value::Object(told), Value::Object(fields)) = (told, fields) {
        told.extend(fields);
    }
}

fn answer_line(line: &[u8], safety: &CommandSafetySettings) -> (Value, Result<Value, String>) {
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return (Value::Null, Err(format!("not JSON: {error}"))),
    };
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    if !value.is_object() {
        return (id, Err("not a JSON object".to_owned()));
    }
    let answer = serde_json::from_value::<BatchCase>(value)
        .map_err(|error| error.to_string())
        .and_then(|case| answer_case(&case, safety));
    (id, answer)
}

fn answer_case(case: &BatchCase, safety: &CommandSafetySettings) -> Result<Value, String> {
    match (&case.cmd, &case.argv, &case.tool) {
        (Some(cmd), None, None) => Ok(classification_to_json(&classify_script(cmd, safety))),
        (None, Some(argv), None) => Ok(classification_to_json(&classify_argv(argv, safety))),
        (None, None, Some(tool)) => decide_case(case, tool),
        (None, None, None) if case.rules.is_some() => Err("`rules` without `tool`".to_owned()),
        (None, None, None) => Err("neither `cmd` nor `argv` nor `rules` with `tool`".to_owned()),
        _ => Err("more than one of `cmd`, `argv` and `tool`".to_owned()),
    }
}

fn classification_to_json(verdict: &CommandClassification) -> Value {
    json!({ "class": verdict.class, "rule": verdict.rule, "reason": verdict.reason })
}

fn decide_case(case: &BatchCase, tool: &str) -> Result<Value, String> {
    let Some(rules) = &case.rules else {
        return Err("`tool` without `rules`".to_owned());
    };
    let rules = rules.iter().enumerate();
    let rules = RuleSet::from_list(rules.map(|(at, rule)| to_rule(at, rule)).collect());
    let approvals: Vec<StoredApproval> = case.approvals.iter().map(to_approval).collect();
    let targets = case.target.as_ref().map_or(&[][..], OneOrMany::as_slice);
    let real = case.real.as_ref().map_or(&[][..], OneOrMany::as_slice);
    if !real.is_empty() && real.len() != targets.len() {
        return Err("`real` must name one path for each `target`".to_owned());
    }
    let named: Vec<StandaloneTarget<'_>> = targets
        .iter()
        .enumerate()
        .map(|(at, target)| (target.as_str(), real.get(at).map(String::as_str)))
        .collect();
    let answer = standalone_evaluation::decide_standalone(&rules, &approvals, tool, &named);
    Ok(json!({
        "decision": answer.action,
        "rule": answer.rule,
        "reason": answer.reason,
    }))
}

fn to_rule(at: usize, rule: &BatchRule) -> Rule {
    let (permission, pattern, action) = match rule {
        BatchRule::Short(permission, pattern, action)
        | BatchRule::Long {
            permission,
            pattern,
            action,
        } => (permission, pattern, *action),
    };
    let origin = RuleOrigin {
        layer: RuleLayer::Own,
        place: format!("rule {}", at + 1),
    };
    Rule::new(permission, pattern, action, origin)
}

fn to_approval(approval: &BatchApproval) -> StoredApproval {
    let target = approval.target.clone();
    let what = match approval.scope {
        BatchApprovalScope::Exact => ApprovalMatcher::Exact(target),
        BatchApprovalScope::Pattern => ApprovalMatcher::Pattern(target),
    };
    standalone_evaluation::standalone_approval(&approval.tool, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input lines, the exit code and output lines.
    fn check(lines: &[&str], expected: &[&str]) {
        let mut out = Vec::new();
        let code = answer_cases(
            lines.join("\n").as_bytes(),
            &mut out,
            &CommandSafetySettings::default(),
        )
        .unwrap();
        let mut found = vec![code.to_string()];
        found.extend(String::from_utf8(out).unwrap().lines().map(str::to_owned));
        assert_eq!(found, expected);
    }

    #[test]
    fn commands_are_classed() {
        let mut out = Vec::new();
        let lines = r#"{"id":"1","cmd":"ls; sudo make"}
{"id":2,"argv":["git","push"]}

{"cmd":"ls"}"#;
        let code = answer_cases(
            lines.as_bytes(),
            &mut out,
            &CommandSafetySettings::default(),
        )
        .unwrap();
        let told = String::from_utf8(out).unwrap();
        let classes: Vec<(Value, Value)> = told
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|told| (told["id"].clone(), told["class"].clone()))
            .collect();
        assert_eq!(code, 0);
        assert_eq!(
            classes,
            [
                (json!("1"), json!("dangerous")),
                (json!(2), json!("confirm")),
                (Value::Null, json!("safe"))
            ]
        );
    }

    #[test]
    fn rules_and_approvals_decide_alone() {
        check(
            &[
                r#"{"id":1,"rules":[["edit","*","deny"],["edit","*.md","allow"]],"tool":"edit","target":"main.py"}"#,
                r#"{"id":2,"rules":[{"permission":"edit","pattern":"*.md","action":"allow"}],"tool":"edit","target":["a.md","b.md"]}"#,
                r#"{"id":3,"rules":[],"tool":"bash","target":"rm build/*","approvals":[{"tool":"bash","target":"rm build/*","scope":"exact"}]}"#,
                r#"{"id":4,"rules":[],"tool":"bash","target":"rm build/x","approvals":[{"tool":"bash","target":"rm build/*","scope":"exact"}]}"#,
                r#"{"id":5,"rules":[["edit","src/*","allow"]],"tool":"edit","target":"src/a","real":"/etc/a"}"#,
            ],
            &[
                "0",
                r#"{"id":1,"decision":"deny","rule":"edit \"*\" deny","reason":"rule 1 is the last that matches edit \"main.py\""}"#,
                r#"{"id":2,"decision":"allow","rule":"edit \"*.md\" allow","reason":"rule 1 is the last that matches edit \"a.md\""}"#,
                r#"{"id":3,"decision":"allow","rule":"approval \"rm build/*\"","reason":"bash \"rm build/*\" was approved"}"#,
                r#"{"id":4,"decision":"ask","rule":null,"reason":"no rule matches bash \"rm build/x\""}"#,
                r#"{"id":5,"decision":"ask","rule":null,"reason":"no rule matches edit \"src/a\""}"#,
            ],
        );
    }

    #[test]
    fn a_line_that_cannot_be_read_is_answered_in_its_place() {
        check(
            &[
                r#"{"id":1,"cmd":"#,
                r#"[1]"#,
                r#"{"id":3}"#,
                r#"{"id":4,"rules":[["edit","*","perhaps"]],"tool":"edit"}"#,
                r#"{"id":5,"cmd":"ls","argv":["ls"]}"#,
                r#"{"id":6,"rules":[["*","*","allow"]],"tool":"x"}"#,
            ],
            &[
                "1",
                r#"{"id":null,"error":"line 1: not JSON: EOF while parsing a value at line 2 column 0"}"#,
                r#"{"id":null,"error":"line 2: not a JSON object"}"#,
                r#"{"id":3,"error":"line 3: neither `cmd` nor `argv` nor `rules` with `tool`"}"#,
                r#"{"id":4,"error":"line 4: a rule is `[permission, pattern, action]` or an object with these three keys"}"#,
                r#"{"id":5,"error":"line 5: more than one of `cmd`, `argv` and `tool`"}"#,
                r#"{"id":6,"decision":"allow","rule":"* \"*\" allow","reason":"rule 1 is the last that matches x \"*\""}"#,
            ],
        );
    }
}
