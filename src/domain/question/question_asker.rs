//! Defines who asks a question of an agent, and the stored form of such a question: `agent` for a role, `child` for a
//! child session.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

use super::QuestionKind;
use crate::domain::ids::TurnId;
use crate::domain::turn::TurnPurpose;

/// Whose agent asks a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QuestionAsker {
    Role {
        /// What its turn is or was for.
        purpose: TurnPurpose,
    },
    /// A child session; only its agent waits for the answer.
    Child {
        /// The turn in which its task is done; when the turn ends, the question is dropped.
        turn: TurnId,
        /// The child and its parent: `planner ▸ explore#2`.
        path: String,
    },
}

impl Serialize for QuestionKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self::Agent {
            request,
            questions,
            asker: QuestionAsker::Child { turn, path },
        } = self
        else {
            return Self::serialize(self, serializer);
        };
        json!({ "about": "child", "request": request, "turn": turn, "path": path, "questions": questions })
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for QuestionKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_of_a_role_and_of_a_child_are_written_as_they_are_read() {
        for (written, is_from_child) in [
            (
                r#"{"about":"agent","request":null,"questions":[{"text":"Which?","options":[]}],"purpose":{"purpose":"write_plan"}}"#,
                false,
            ),
            (
                r#"{"about":"child","request":"ses_c/1","turn":"ses_c.1","path":"planner ▸ explore#1","questions":[]}"#,
                true,
            ),
        ] {
            let kind: QuestionKind = serde_json::from_str(written).unwrap();
            assert_eq!(kind.is_from_child(), is_from_child, "{written}");
            assert_eq!(serde_json::to_string(&kind).unwrap(), written);
        }
    }
}
