//! Defines what a child session is doing now.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::event::ToolKind;
use super::task_patch::PatchState;

/// What a child is doing now; stored as one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ChildActivity {
    /// Its agent calls a tool, under the CLI's title of the call.
    Call { tool: ToolKind, title: String },
    /// Its changes are on their way into the user's tree.
    Patch(PatchState),
}

impl From<String> for ChildActivity {
    fn from(text: String) -> Self {
        let (tool, title) = text.split_once(' ').unwrap_or((&text, ""));
        match PatchState::from_label(&text) {
            Some(state) => Self::Patch(state),
            None => Self::Call {
                tool: tool.to_owned().into(),
                title: title.to_owned(),
            },
        }
    }
}

impl From<ChildActivity> for String {
    fn from(activity: ChildActivity) -> Self {
        activity.to_string()
    }
}

impl fmt::Display for ChildActivity {
    /// Writes the stored text, which is also how the child's history names a call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { tool, title } => write!(f, "{tool} {title}"),
            Self::Patch(state) => f.write_str(state.label()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_text_gives_the_activity_back() {
        let call = |tool, title: &str| ChildActivity::Call {
            tool,
            title: title.to_owned(),
        };
        for (activity, stored) in [
            (call(ToolKind::Command, "rg 'a b'"), r#""command rg 'a b'""#),
            (call(ToolKind::Other("Web".to_owned()), ""), r#""Web ""#),
            (
                ChildActivity::Patch(PatchState::Applying),
                r#""applying changes""#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&activity).unwrap(), stored);
            let read: ChildActivity = serde_json::from_str(stored).unwrap();
            assert_eq!(read, activity);
        }
    }
}
