//! Defines what a child session is doing now.

use serde::{Deserialize, Serialize};

use super::event::{ToolCallDetail, ToolKind};
use super::task_patch::PatchState;
use crate::permission::known_or_none;

/// What a child is doing now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredActivity", into = "StoredActivity")]
pub enum ChildActivity {
    /// Its agent calls a tool, under the CLI's title of the call.
    Call {
        tool: ToolKind,
        title: String,
        detail: Option<ToolCallDetail>,
    },
    /// Its changes are on their way into the user's tree.
    Patch(PatchState),
}

/// The stored form.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredActivity {
    Patch {
        patch: PatchState,
    },
    Call {
        tool: ToolKind,
        title: String,
        #[serde(
            default,
            deserialize_with = "known_or_none",
            skip_serializing_if = "Option::is_none"
        )]
        detail: Option<ToolCallDetail>,
    },
    /// What versions before this form wrote: the tool and the title, or these words for a patch.
    Text(String),
}

impl From<StoredActivity> for ChildActivity {
    fn from(stored: StoredActivity) -> Self {
        let text = match stored {
            StoredActivity::Patch { patch } => return Self::Patch(patch),
            StoredActivity::Call {
                tool,
                title,
                detail,
            } => {
                return Self::Call {
                    tool,
                    title,
                    detail,
                };
            }
            StoredActivity::Text(text) => text,
        };
        let patch = match text.as_str() {
            "changes wait to be applied" => Some(PatchState::Waiting),
            "applying changes" => Some(PatchState::Applying),
            "changes applied" => Some(PatchState::Applied),
            "changes kept as a patch" => Some(PatchState::Kept),
            _ => None,
        };
        let (tool, title) = text.split_once(' ').unwrap_or((&text, ""));
        patch.map_or_else(
            || Self::Call {
                tool: tool.to_owned().into(),
                title: title.to_owned(),
                detail: None,
            },
            Self::Patch,
        )
    }
}

impl From<ChildActivity> for StoredActivity {
    fn from(activity: ChildActivity) -> Self {
        match activity {
            ChildActivity::Call {
                tool,
                title,
                detail,
            } => Self::Call {
                tool,
                title,
                detail,
            },
            ChildActivity::Patch(patch) => Self::Patch { patch },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_gives_the_activity_back_and_older_texts_are_read() {
        let call = |tool, title: &str, detail| ChildActivity::Call {
            tool,
            title: title.to_owned(),
            detail,
        };
        let edited = ToolCallDetail::Edit(vec!["a, b".to_owned()]);
        let web = ToolKind::Other("Web".to_owned());
        for (activity, older) in [
            (
                call(ToolKind::Command, "rg 'a b'", None),
                Some(r#""command rg 'a b'""#),
            ),
            (call(web, "", None), Some(r#""Web ""#)),
            (call(ToolKind::Edit, "a, b", Some(edited)), None),
            (
                ChildActivity::Patch(PatchState::Waiting),
                Some(r#""changes wait to be applied""#),
            ),
            (
                ChildActivity::Patch(PatchState::Applying),
                Some(r#""applying changes""#),
            ),
            (
                ChildActivity::Patch(PatchState::Applied),
                Some(r#""changes applied""#),
            ),
            (
                ChildActivity::Patch(PatchState::Kept),
                Some(r#""changes kept as a patch""#),
            ),
        ] {
            let stored = serde_json::to_string(&activity).unwrap();
            for text in std::iter::once(stored.as_str()).chain(older) {
                let read: ChildActivity = serde_json::from_str(text).unwrap();
                assert_eq!(read, activity, "{text}");
            }
        }
    }
}
