//! Decides which of a repository's agent instructions count, and why.
//!
//! In a trusted repository they count. Otherwise the user decides, and the decision is valid only for the same texts.

use super::diagnostic::escape_control_chars;
use super::project_files::ProjectFiles;
use super::trust_state::TrustState;
use super::{ConfigSource, LoadedConfig};
use crate::domain::instructions_choice::InstructionsChoice;

/// The maximum number of files to name in a message.
const MAX_LISTED_FILES: usize = 5;

/// Whether a repository's instructions reach agents, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionsReach {
    /// The repository has no instructions.
    NoInstructions,
    /// They reach agents, because the repository is trusted.
    Trusted,
    /// They reach agents, because the user allowed it.
    Allowed,
    /// They do not reach agents, because the user refused it.
    Ignored,
    /// They do not reach agents, because the repository is not trusted and the user has not decided.
    Undecided,
}

impl LoadedConfig {
    /// Returns whether the repository's instructions reach agents, and why.
    pub fn instructions_reach(&self) -> InstructionsReach {
        match (self.instructions, self.trust) {
            _ if self.project.instructions.is_empty() => InstructionsReach::NoInstructions,
            (Some(InstructionsChoice::Use), _) => InstructionsReach::Allowed,
            (Some(InstructionsChoice::Ignore), _) => InstructionsReach::Ignored,
            (None, TrustState::Trusted) => InstructionsReach::Trusted,
            (None, TrustState::Untrusted | TrustState::Changed) => InstructionsReach::Undecided,
        }
    }

    /// Returns the instructions that reach agents.
    pub fn project_instructions(&self) -> &[ConfigSource] {
        match self.instructions_reach() {
            InstructionsReach::Trusted | InstructionsReach::Allowed => &self.project.instructions,
            InstructionsReach::NoInstructions
            | InstructionsReach::Ignored
            | InstructionsReach::Undecided => &[],
        }
    }

    /// Describes which instructions exist, whether they reach agents, and why; `None` if there are none.
    pub fn describe_instructions(&self) -> Option<String> {
        let why = match self.instructions_reach() {
            InstructionsReach::NoInstructions => return None,
            InstructionsReach::Trusted => "sent to the agents, because this repository is trusted",
            InstructionsReach::Allowed => "sent to the agents, as you chose",
            InstructionsReach::Ignored => "not sent to the agents, as you chose",
            InstructionsReach::Undecided => {
                "not sent to the agents, because this repository is not trusted"
            }
        };
        Some(format!("{}: {why}", list_file_names(&self.project)))
    }
}

/// Joins the names of the files, up to the maximum.
fn list_file_names(project: &ProjectFiles) -> String {
    let files = &project.instructions;
    let names = files.iter().take(MAX_LISTED_FILES).map(|source| {
        let name = source.file.to_string_lossy();
        escape_control_chars(&name)
    });
    let mut names: Vec<String> = names.collect();
    if files.len() > MAX_LISTED_FILES {
        names.push(format!("{} more", files.len() - MAX_LISTED_FILES));
    }
    names.join(", ")
}
