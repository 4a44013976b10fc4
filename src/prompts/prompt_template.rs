//! Lists the templates: their file names and shipped texts.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use strum::VariantArray;

use super::PromptSource;

/// The templates in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum PromptTemplate {
    RefineGoal,
    /// Asks for the plan.
    WritePlan,
    /// Asks for the first review of a goal.
    Review,
    /// Asks for answers to the review.
    Respond,
    /// Asks for the change of a step, for the fix of its tests, or for the summary.
    Execute,
    /// Gives a new session the context of a lost one.
    Recover,
    /// Asks for a speech in a discussion.
    Discuss,
    /// Asks for the judgement of disputes between reviewer and planner.
    Judge,
    /// Asks for a later review.
    ReviewAgain,
}

impl PromptTemplate {
    /// Returns the template's file name.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::RefineGoal => "01_refine_goal.md",
            Self::WritePlan => "02_write_plan.md",
            Self::Review => "03_review.md",
            Self::Respond => "04_respond.md",
            Self::Execute => "05_execute.md",
            Self::Recover => "06_recover_context.md",
            Self::Discuss => "07_discuss.md",
            Self::Judge => "08_judge.md",
            Self::ReviewAgain => "09_review_again.md",
        }
    }

    /// Returns whether a file replaces this template.
    pub fn matches_file(self, file: &Path) -> bool {
        file.file_name() == Some(OsStr::new(self.file_name()))
    }

    /// Returns the shipped template.
    pub(super) fn default_source(self) -> PromptSource {
        let text = match self {
            Self::RefineGoal => include_str!("../../prompts/01_refine_goal.md"),
            Self::WritePlan => include_str!("../../prompts/02_write_plan.md"),
            Self::Review => include_str!("../../prompts/03_review.md"),
            Self::Respond => include_str!("../../prompts/04_respond.md"),
            Self::Execute => include_str!("../../prompts/05_execute.md"),
            Self::Recover => include_str!("../../prompts/06_recover_context.md"),
            Self::Discuss => include_str!("../../prompts/07_discuss.md"),
            Self::Judge => include_str!("../../prompts/08_judge.md"),
            Self::ReviewAgain => include_str!("../../prompts/09_review_again.md"),
        };
        PromptSource {
            file: PathBuf::from(format!("prompts/{}", self.file_name())),
            text: text.to_owned(),
        }
    }
}
