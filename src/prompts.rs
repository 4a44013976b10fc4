//! The prompts, one template for each phase and one for discussions: shipped ones and the user's own in their place, checked
//! as a whole before anything runs.
//!
//! Refuses to read files and to know trust: it is handed the templates that count. A template that
//! names an unknown variable is refused, so that no prompt is ever sent with a hole in it.

use std::path::PathBuf;

use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

pub mod discussion_variables;
mod prompt_fence;
pub mod prompt_template;
mod template_validation;
pub mod template_variables;

use discussion_variables::DiscussVars;
pub use prompt_template::PromptTemplate;
pub use template_validation::TemplateProblem;
use template_variables::{
    ExecuteVars, RecoverVars, RefineGoalVars, RespondVars, ReviewVars, WritePlanVars,
};

/// A template of the user's or of a trusted repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSource {
    /// The file, whose name says which template it replaces.
    pub file: PathBuf,
    /// Its whole text.
    pub text: String,
}

/// All templates that are wrong, with everything that is wrong; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct TemplateProblems(pub Vec<TemplateProblem>);

/// A template failed on values that it was not tried with.
#[derive(Debug, thiserror::Error)]
#[error(
    "render the prompt {file} (line {line}): {reason}; fix the template, or remove it to use the default one"
)]
pub struct PromptRenderError {
    /// The file as it is shown.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What went wrong.
    pub reason: String,
}

/// The prompts of this start.
#[derive(Debug, Clone)]
pub struct PromptLibrary {
    environment: Environment<'static>,
    sources: Vec<(PromptTemplate, PromptSource)>,
}

impl PromptLibrary {
    /// Puts the given templates in the place of shipped ones, a later one before an earlier one of the
    /// same name, and checks all of them. A Markdown file that is numbered like a template but is none is refused too.
    pub fn load(overrides: &[PromptSource]) -> Result<Self, TemplateProblems> {
        let mut problems = template_validation::check_file_names(overrides);
        let mut environment = template_environment();
        let mut sources = Vec::new();
        for template in PromptTemplate::ALL {
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

    /// Tells which file a template comes from.
    pub fn source(&self, template: PromptTemplate) -> Option<&PromptSource> {
        self.sources
            .iter()
            .find(|(known, _)| *known == template)
            .map(|(_, source)| source)
    }

    /// Writes the prompt of REFINE_GOAL.
    pub fn render_refine_goal(&self, vars: &RefineGoalVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::RefineGoal, vars)
    }

    /// Writes the prompt of WRITE_PLAN.
    pub fn render_write_plan(&self, vars: &WritePlanVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::WritePlan, vars)
    }

    /// Writes the prompt of REVIEW.
    pub fn render_review(&self, vars: &ReviewVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Review, vars)
    }

    /// Writes the prompt of RESPOND.
    pub fn render_respond(&self, vars: &RespondVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Respond, vars)
    }

    /// Writes a prompt of EXECUTE.
    pub fn render_execute(&self, vars: &ExecuteVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Execute, vars)
    }

    /// Writes the prompt that gives a new session the context of one that was lost.
    pub fn render_recover(&self, vars: &RecoverVars) -> Result<String, PromptRenderError> {
        self.render(PromptTemplate::Recover, vars)
    }

    /// Writes the prompt of a speech in a discussion.
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
    // Prompts are Markdown: nothing is escaped for HTML.
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_filter("fenced", prompt_fence::fence_text);
    environment
}

/// Takes away what left-out sections leave behind, outside of data blocks: blank lines at both ends
/// and all but one of several.
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
