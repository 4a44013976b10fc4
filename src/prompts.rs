//! Renders the prompts: one or two templates per phase and one for discussions. The user's own templates replace shipped ones,
//! and all are checked before anything runs.
//!
//! The caller passes in the templates that count; files and trust are handled there. A template with an unknown
//! variable is an error, so that no prompt is ever sent with a gap in it.

use std::path::PathBuf;

use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use strum::VariantArray;

pub mod discussion_variables;
mod prompt_fence;
pub mod prompt_template;
mod template_validation;
pub mod template_variables;

use discussion_variables::DiscussVars;
pub use prompt_template::PromptTemplate;
pub use template_validation::TemplateProblem;
use template_variables::{
    ExecuteVars, JudgeVars, RecoverVars, RefineGoalVars, RespondVars, ReviewVars, WritePlanVars,
};

/// A template from the user or from a trusted repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSource {
    /// The file, whose name says which template it replaces.
    pub file: PathBuf,
    pub text: String,
}

/// Everything that is wrong with the templates; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct TemplateProblems(pub Vec<TemplateProblem>);

/// A template failed on values that the check did not try.
#[derive(Debug, thiserror::Error)]
#[error(
    "render the prompt {file} (line {line}): {reason}; fix the template, or remove it to use the default one"
)]
pub struct PromptRenderError {
    /// The file, as it is shown.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    pub reason: String,
}

/// The prompt templates of this start.
#[derive(Debug, Clone)]
pub struct PromptLibrary {
    environment: Environment<'static>,
    sources: Vec<(PromptTemplate, PromptSource)>,
}

impl PromptLibrary {
    /// Replaces shipped templates by the given ones and checks all of them. If two have the same name, the later one
    /// counts. A Markdown file with a template's number but an unknown name is an error too.
    pub fn load(overrides: &[PromptSource]) -> Result<Self, TemplateProblems> {
        let mut problems = template_validation::check_file_names(overrides);
        let mut environment = template_environment();
        let mut sources = Vec::new();
        for &template in PromptTemplate::VARIANTS {
            let own = overrides
                .iter()
                .rev()
                .find(|source| template.matches_file(&source.file));
            let source = own.cloned().unwrap_or_else(|| template.default_source());
            match environment.add_template_owned(template.file_name(), source.text.clone()) {
                Ok(()) => problems.extend(template_validation::check_template(
                    &environment,
                    template,
                    &source,
                )),
                Err(error) => problems.push(template_validation::syntax_problem(&source, &error)),
            }
            sources.push((template, source));
        }
        problems.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        if problems.is_empty() {
            Ok(Self {
                environment,
                sources,
            })
        } else {
            Err(TemplateProblems(problems))
        }
    }

    /// Returns the file of a template.
    pub fn source(&self, template: PromptTemplate) -> Option<&PromptSource> {
        self.sources
            .iter()
            .find(|(known, _)| *known == template)
            .map(|(_, source)| source)
    }

    /// Renders the prompt of REFINE_GOAL.
    pub fn render_refine_goal(&self, vars: &RefineGoalVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::RefineGoal, vars)
    }

    /// Renders the prompt of WRITE_PLAN.
    pub fn render_write_plan(&self, vars: &WritePlanVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::WritePlan, vars)
    }

    /// Renders the prompt of REVIEW: the first review of a goal has a template of its own.
    pub fn render_review(&self, vars: &ReviewVars) -> Result<String, PromptRenderError> {
        let template = if vars.iteration > 1 {
            PromptTemplate::ReviewAgain
        } else {
            PromptTemplate::Review
        };
        self.render(template, vars)
    }

    /// Renders the prompt of RESPOND.
    pub fn render_respond(&self, vars: &RespondVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Respond, vars)
    }

    /// Renders the prompt that asks for a judgement of disputes.
    pub fn render_judge(&self, vars: &JudgeVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Judge, vars)
    }

    /// Renders a prompt of EXECUTE.
    pub fn render_execute(&self, vars: &ExecuteVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Execute, vars)
    }

    /// Renders the prompt that gives a new session the context of a lost one.
    pub fn render_recover(&self, vars: &RecoverVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Recover, vars)
    }

    /// Renders the prompt of a speech in a discussion.
    pub fn render_discuss(&self, vars: &DiscussVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Discuss, vars)
    }

    fn render(
        &self,
        template: PromptTemplate,
        vars: &impl Serialize,
    ) -> Result<String, PromptRenderError> {
        let rendered = self
            .environment
            .get_template(template.file_name())
            .and_then(|found| found.render(vars));
        rendered
            .map(|text| collapse_blank_lines(&text))
            .map_err(|error| PromptRenderError {
                file: self
                    .source(template)
                    .map_or_else(String::new, |source| source.file.display().to_string()),
                line: error.line().unwrap_or(1),
                reason: template_validation::error_reason(&error),
            })
    }
}

fn template_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    // Prompts are Markdown, so nothing is escaped for HTML.
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_filter("fenced", prompt_fence::fence_filter);
    environment
}

/// Removes what omitted sections leave behind, outside of data blocks: blank lines at both ends, and all but one of
/// several in a row.
fn collapse_blank_lines(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.trim().lines() {
        let ticks = prompt_fence::opening_fence(line);
        match fence {
            Some(open) if line.trim_end() == open => fence = None,
            None if !ticks.is_empty() => fence = Some(ticks),
            Some(_) | None => {}
        }
        let repeats =
            line.trim().is_empty() && lines.last().is_some_and(|last| last.trim().is_empty());
        if fence.is_some() || !repeats {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests;
