//! Which instructions for agents of a repository count, and why.
//!
//! Trust lets them count; of a repository that is not trusted the user says so, of these very texts.

use super::diagnostic::escape_control_chars;
use super::project_files::ProjectFiles;
use super::trust_store::TrustState;
use super::{ConfigSource, LoadedConfig};
use crate::domain::instructions_choice::InstructionsChoice;

/// How many files are named at most.
const MAX_LISTED_FILES: usize = 5;

/// Whether a repository's instructions reach agents, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionsReach {
    /// It has none.
    NoInstructions,
    /// They do: the repository is trusted.
    Trusted,
    /// They do: the user said so.
    Allowed,
    /// They do not: the user said so.
    Ignored,
    /// They do not: the repository is not trusted, and the user said nothing of them.
    Undecided,
}

impl LoadedConfig {
    /// Whether the repository's instructions reach agents, and why.
    pub fn instructions_reach(&self) -> InstructionsReach {
        match (self.instructions, self.trust) {
            _ if self.project.instructions.is_empty() => InstructionsReach::NoInstructions,
            (Some(InstructionsChoice::Use), _) => InstructionsReach::Allowed,
            (Some(InstructionsChoice::Ignore), _) => InstructionsReach::Ignored,
            (None, TrustState::Trusted) => InstructionsReach::Trusted,
            (None, TrustState::Untrusted | TrustState::Changed) => InstructionsReach::Undecided,
        }
    }

    /// The instructions that reach agents.
    pub fn project_instructions(&self) -> &[ConfigSource] {
        match self.instructions_reach() {
            InstructionsReach::Trusted | InstructionsReach::Allowed => &self.project.instructions,
            InstructionsReach::NoInstructions
            | InstructionsReach::Ignored
            | InstructionsReach::Undecided => &[],
        }
    }

    /// Which there are, whether they reach agents, and why; `None` where there are none.
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

/// The names of the files, those of a few.
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
