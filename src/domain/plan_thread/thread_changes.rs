//! What is said in threads, and what changes them: the data of events.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::domain::turn::Role;

/// Who says something in a thread.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    Serialize,
    Deserialize,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum ThreadAuthor {
    #[default]
    User,
    Planner,
    Reviewer,
}

impl From<Role> for ThreadAuthor {
    fn from(role: Role) -> Self {
        match role {
            Role::Planner => Self::Planner,
            Role::Reviewer => Self::Reviewer,
        }
    }
}

/// What somebody says in a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ThreadMessage {
    pub author: ThreadAuthor,
    pub text: String,
}

/// Something new that somebody says, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ThreadEntry {
    /// The thread that it continues; `None` opens one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    pub author: ThreadAuthor,
    pub text: String,
    /// The line of `plan.md`, from 1; 0 for the whole plan.
    #[serde(default)]
    pub line: u32,
    /// The text of that line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// The finding that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<u32>,
    /// The version of the plan that it is said of, counted like reviews; 0 where that is not known.
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub version: u32,
}

/// What the user says in the program, about a line of the plan or about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UserNote {
    /// The line of `plan.md`, from 1; 0 for none.
    pub line: u32,
    /// The text of that line.
    pub quote: String,
    /// What is said.
    pub text: String,
    /// The thread that it continues; `None` opens one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
    /// The finding that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<u32>,
    /// The version of the plan that it is said of, counted like reviews; 0 in logs of version 0.1.
    #[serde(default, skip_serializing_if = "crate::domain::is_default")]
    pub version: u32,
}

impl UserNote {
    /// Creates one about a line, from 1, without a text.
    pub fn at_line(line: u32, quote: String) -> Self {
        Self {
            line,
            quote,
            ..Self::default()
        }
    }
}

impl From<&UserNote> for ThreadEntry {
    fn from(note: &UserNote) -> Self {
        Self {
            thread: note.thread,
            author: ThreadAuthor::User,
            text: note.text.clone(),
            line: note.line,
            quote: note.quote.clone(),
            finding: note.finding,
            version: note.version,
        }
    }
}

/// Where the line of a thread is in a new version of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadMove {
    pub n: u32,
    /// The line, from 1; `None` where no line is like the old one.
    pub line: Option<u32>,
    /// The text of that line; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
}

/// What a document or a prompt changes in the threads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ThreadChanges {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<ThreadEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<ThreadMove>,
    /// The threads that the prompt of a step contained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_with_step: Vec<u32>,
}

impl ThreadChanges {
    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
