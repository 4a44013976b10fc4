//! Finds errors in templates before anything runs: in their syntax, in their variables, and when rendered with sample
//! values.
//!
//! The wording is not checked.

use std::collections::BTreeSet;
use std::fmt;

use minijinja::{Environment, Error};
use regex::Regex;
use serde::Serialize;
use strum::VariantArray;

use super::PromptSource;
use super::discussion_variables::DiscussVars;
use super::prompt_template::PromptTemplate;
use super::template_variables::{
    CommitLine, CommonVars, DisputedFinding, DoneStep, ExecuteTask, ExecuteVars, InstructionFile,
    JudgeVars, OpenFinding, RecoverVars, RefineGoalVars, ReplanVars, RespondVars, ReviewVars,
    SettledFinding, WritePlanVars,
};

/// One error in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateProblem {
    /// The file, as it is shown.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    pub what: String,
    /// The line with the error.
    pub text: String,
    /// How to fix it.
    pub hint: String,
}

impl fmt::Display for TemplateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)?;
        let text: String = self.text.chars().filter(|c| !c.is_control()).collect();
        if !text.is_empty() {
            write!(f, "\n  | {text}")?;
        }
        write!(f, "\n  hint: {}", self.hint)
    }
}

/// Finds files with a template's number but an unknown name: with such a typo an override would never count.
pub fn check_file_names(sources: &[PromptSource]) -> Vec<TemplateProblem> {
    let all = PromptTemplate::VARIANTS.iter();
    let known: Vec<&str> = all.map(|template| template.file_name()).collect();
    let is_numbered = |name: &str| name.starts_with(|c: char| c.is_ascii_digit());
    let mut problems = Vec::new();
    for source in sources {
        let name = source
            .file
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if is_numbered(name) && !known.contains(&name) {
            let near = similar::get_close_matches(name, &known, 1, 0.5);
            let hint = near.first().map_or_else(
                || format!("the templates are {}", known.join(", ")),
                |near| format!("rename it to {near}"),
            );
            problems.push(template_problem(
                source,
                1,
                "unknown template name".to_owned(),
                hint,
            ));
        }
    }
    problems
}

/// Describes a template with a syntax error.
pub fn syntax_problem(source: &PromptSource, error: &Error) -> TemplateProblem {
    let hint = "to write `{{`, `{%` or `{#` as text, use `{{ '{{' }}`".to_owned();
    template_problem(
        source,
        error.line().unwrap_or(1),
        format!("not a valid template: {}", error_reason(error)),
        hint,
    )
}

/// Returns the error without its location, which is shown separately.
pub fn error_reason(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{} ({detail})", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Finds all errors in a template whose syntax is correct.
pub fn check_template(
    environment: &Environment<'_>,
    template: PromptTemplate,
    source: &PromptSource,
) -> Vec<TemplateProblem> {
    let Ok(found) = environment.get_template(template.file_name()) else {
        return Vec::new();
    };
    let samples = sample_values(template);
    let known: BTreeSet<&str> = samples
        .iter()
        .flat_map(|sample| sample.as_object())
        .flat_map(|sample| sample.keys())
        .map(String::as_str)
        .collect();
    let globals: Vec<&str> = environment.globals().map(|(name, _)| name).collect();
    let mut unknown: Vec<String> = found.undeclared_variables(false).into_iter().collect();
    unknown.retain(|name| !known.contains(name.as_str()) && !globals.contains(&name.as_str()));
    unknown.sort();
    if !unknown.is_empty() {
        return unknown
            .iter()
            .map(|name| unknown_variable_problem(source, name, &known))
            .collect();
    }
    let mut problems = Vec::new();
    for sample in &samples {
        let Err(error) = found.render(sample) else {
            continue;
        };
        let hint = "fix the template, or remove it to use the default one".to_owned();
        let failed = template_problem(
            source,
            error.line().unwrap_or(1),
            format!("fails to render: {}", error_reason(&error)),
            hint,
        );
        if !problems.contains(&failed) {
            problems.push(failed);
        }
    }
    problems
}

fn unknown_variable_problem(
    source: &PromptSource,
    name: &str,
    known: &BTreeSet<&str>,
) -> TemplateProblem {
    let names: Vec<&str> = known.iter().copied().collect();
    let near = similar::get_close_matches(name, &names, 1, 0.6);
    let known = format!("known variables: {}", names.join(", "));
    let hint = near.first().map_or(known.clone(), |near| {
        format!("did you mean `{near}`? {known}")
    });
    template_problem(
        source,
        line_of_variable(&source.text, name),
        format!("unknown variable `{name}`"),
        hint,
    )
}

/// Returns the line of the first tag that uses a variable; the first line if there is none.
fn line_of_variable(text: &str, name: &str) -> usize {
    let pattern = format!(r"(?s)\{{[{{%][^}}]*?\b{}\b", regex::escape(name));
    let found = Regex::new(&pattern)
        .ok()
        .and_then(|pattern| pattern.find(text).map(|found| found.end()));
    found.map_or(1, |end| text[..end].matches('\n').count() + 1)
}

fn template_problem(
    source: &PromptSource,
    line: usize,
    what: String,
    hint: String,
) -> TemplateProblem {
    let text = source
        .text
        .lines()
        .nth(line.saturating_sub(1))
        .unwrap_or_default();
    TemplateProblem {
        file: source.file.display().to_string(),
        line,
        what,
        text: text.trim().chars().take(200).collect(),
        hint,
    }
}

/// Returns sets of sample values for a template: one with all optional values, and others without some or all of them.
fn sample_values(template: PromptTemplate) -> Vec<serde_json::Value> {
    match template {
        PromptTemplate::RefineGoal => vec![
            to_json(&RefineGoalVars {
                common: sample_common(),
                role: "planner".to_owned(),
                message: sample_text(),
            }),
            to_json(&RefineGoalVars::default()),
        ],
        PromptTemplate::WritePlan => vec![
            to_json(&WritePlanVars {
                common: sample_common(),
                prior_plan: sample_text(),
                test_command: sample_text(),
                retry_reason: sample_text(),
                replanning: Some(ReplanVars {
                    step: Some(1),
                    done: vec![DoneStep::default()],
                    ..Default::default()
                }),
                ..Default::default()
            }),
            to_json(&WritePlanVars {
                reviewer: "other_vendor".to_owned(),
                replanning: Some(ReplanVars::default()),
                ..Default::default()
            }),
            to_json(&WritePlanVars::default()),
        ],
        PromptTemplate::Review | PromptTemplate::ReviewAgain => vec![
            to_json(&ReviewVars {
                common: sample_common(),
                replanned: sample_text(),
                open_findings: sample_findings(),
                settled_findings: vec![SettledFinding::default()],
                plan_diff: sample_text(),
                retry_reason: sample_text(),
                ..Default::default()
            }),
            to_json(&ReviewVars::default()),
        ],
        PromptTemplate::Respond => vec![
            to_json(&RespondVars {
                common: sample_common(),
                open_findings: sample_findings(),
                unanswered: vec![1, 2],
                retry_reason: sample_text(),
                ..Default::default()
            }),
            to_json(&RespondVars::default()),
        ],
        PromptTemplate::Judge => vec![
            to_json(&JudgeVars {
                common: sample_common(),
                disputes: vec![DisputedFinding::default()],
                ..Default::default()
            }),
            to_json(&JudgeVars::default()),
        ],
        PromptTemplate::Execute => execute_samples(),
        PromptTemplate::Recover => vec![
            to_json(&RecoverVars {
                common: sample_common(),
                plan: sample_text(),
                comments: sample_text(),
                last_step: sample_text(),
                open_findings: sample_findings(),
                prompt: sample_text(),
                ..Default::default()
            }),
            to_json(&RecoverVars::default()),
        ],
        PromptTemplate::Discuss => discuss_samples(),
    }
}

fn discuss_samples() -> Vec<serde_json::Value> {
    let seats = [
        ("debate", "advocate", "round", 1),
        ("debate", "critic", "round", 2),
        ("debate", "moderator", "closing", 2),
        ("collaborative", "moderator", "round", 1),
        ("jury", "open", "round", 2),
    ];
    let full = seats.map(|(mode, side, part, round)| {
        to_json(&DiscussVars {
            mode: mode.to_owned(),
            side: side.to_owned(),
            part: part.to_owned(),
            round,
            role_text: sample_text(),
            leading: sample_text(),
            attacks: true,
            concludes: true,
            names: vec!["x".to_owned()],
            participants: vec!["x".to_owned()],
            ..Default::default()
        })
    });
    let bare = [to_json(&DiscussVars::default())];
    full.into_iter().chain(bare).collect()
}

fn execute_samples() -> Vec<serde_json::Value> {
    let step = || ExecuteTask::Step {
        number: 1,
        total: 2,
        text: "x".to_owned(),
    };
    let fix = || ExecuteTask::Fix {
        number: 1,
        total: 2,
        text: "x".to_owned(),
        command: "x".to_owned(),
        outcome: "x".to_owned(),
        output: "x".to_owned(),
        attempt: 1,
        attempts: 2,
    };
    let summary = |commits: Vec<CommitLine>| ExecuteTask::Summary { commits };
    let tasks = [
        step(),
        fix(),
        summary(vec![CommitLine::default()]),
        summary(Vec::new()),
    ];
    let full = tasks.iter().map(|task| ExecuteVars {
        common: sample_common(),
        plan: "x".to_owned(),
        test_command: sample_text(),
        done: vec![DoneStep::default()],
        residual_findings: sample_findings(),
        known_failures: sample_text(),
        task: task.clone(),
    });
    let bare = tasks.iter().map(|task| ExecuteVars {
        common: CommonVars::default(),
        plan: String::new(),
        test_command: None,
        done: Vec::new(),
        residual_findings: Vec::new(),
        known_failures: None,
        task: task.clone(),
    });
    full.chain(bare).map(|vars| to_json(&vars)).collect()
}

fn sample_common() -> CommonVars {
    CommonVars {
        project_instructions: vec![InstructionFile::default()],
        delegating: sample_text(),
        ..CommonVars::default()
    }
}

fn sample_findings() -> Vec<OpenFinding> {
    let answered = OpenFinding {
        details: "x".to_owned(),
        answer: sample_text(),
        upheld: true,
        ..OpenFinding::default()
    };
    vec![OpenFinding::default(), answered]
}

fn sample_text() -> Option<String> {
    Some("x".to_owned())
}

fn to_json(vars: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(vars).unwrap_or_default()
}
