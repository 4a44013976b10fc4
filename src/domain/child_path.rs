//! Names the child that makes a call by its path, from the parent down: `planner ▸ explore#2`.

use std::fmt;

use serde::{Deserialize, Serialize};

const SEPARATOR: &str = " ▸ ";

/// The first name in the path of a task that the user started.
const USER: &str = "you";

/// The names from a parent down to its child. A sub-agent inside a CLI has no parent in its path. Stored as one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ChildPath {
    /// Never empty.
    names: Vec<String>,
}

impl ChildPath {
    /// Returns the path of a child session below a session of this name.
    pub fn below(parent: &str, names: impl IntoIterator<Item = String>) -> Self {
        let parent = std::iter::once(parent.to_owned());
        Self {
            names: parent.chain(names).collect(),
        }
    }

    /// Returns the path of a child session that the user started, or of one below it.
    pub fn below_user(names: impl IntoIterator<Item = String>) -> Self {
        Self::below(USER, names)
    }

    /// Returns the path of a sub-agent inside a CLI, whose name must not look like the path of a session.
    pub fn inside_cli(name: &str) -> Self {
        Self {
            names: vec![name.replace('▸', ">")],
        }
    }

    /// Returns whether it is a session of this program, not a sub-agent inside a CLI.
    pub fn is_session(&self) -> bool {
        self.names.len() > 1
    }

    /// Returns whether the user started the task, or the task above it.
    pub fn is_users(&self) -> bool {
        self.is_session() && self.names.first().is_some_and(|name| name == USER)
    }

    /// Returns the number of names.
    pub fn n_names(&self) -> usize {
        self.names.len()
    }

    /// Returns the child's own name.
    pub fn last(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }
}

impl From<String> for ChildPath {
    fn from(text: String) -> Self {
        Self {
            names: text.split(SEPARATOR).map(str::to_owned).collect(),
        }
    }
}

impl From<ChildPath> for String {
    fn from(path: ChildPath) -> Self {
        path.names.join(SEPARATOR)
    }
}

impl fmt::Display for ChildPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(SEPARATOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_from_its_text_and_written_back_the_same() {
        let check = |text: &str, is_session: bool, is_users: bool, last: &str| {
            let path: ChildPath = serde_json::from_value(text.into()).unwrap();
            assert_eq!(serde_json::to_value(&path).unwrap(), text);
            let found = (path.is_session(), path.is_users(), path.last());
            assert_eq!(found, (is_session, is_users, last), "{text}");
        };
        check("planner ▸ explore#2", true, false, "explore#2");
        check("you ▸ general#1", true, true, "general#1");
        check("you ▸ general#1 ▸ explore#1", true, true, "explore#1");
        check("reviewer", false, false, "reviewer");
        check("you", false, false, "you");
        check("", false, false, "");
        assert!(!ChildPath::inside_cli("you ▸ x").is_session());
    }
}
