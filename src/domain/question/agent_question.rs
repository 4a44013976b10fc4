//! Defines a question that an agent asks through its CLI, with the answers that it offers.

use serde::{Deserialize, Serialize};

/// One question of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredQuestion")]
pub struct AgentQuestion {
    /// The question; also the key of its answer.
    pub text: String,
    /// A word or two on what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    pub options: Vec<AnswerOption>,
    /// How many of them may be chosen.
    #[serde(default, skip_serializing_if = "AnswerSelectMode::is_one")]
    pub picks: AnswerSelectMode,
}

/// An answer that an agent offers with its question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredOption")]
pub struct AnswerOption {
    /// Its text, which is the answer.
    pub label: String,
    /// What choosing it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How many of the offered answers may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSelectMode {
    #[default]
    One,
    /// Any number; together they are one answer, separated by commas.
    Several,
}

impl AnswerSelectMode {
    fn is_one(&self) -> bool {
        *self == Self::One
    }
}

impl AgentQuestion {
    /// Builds a question whose answers have no descriptions.
    pub fn from_labels(text: impl Into<String>, options: impl IntoIterator<Item = String>) -> Self {
        let options = options.into_iter().map(|label| AnswerOption {
            label,
            description: None,
        });
        Self {
            text: text.into(),
            header: None,
            options: options.collect(),
            picks: AnswerSelectMode::One,
        }
    }
}

impl AnswerOption {
    /// Describes the answer, with its meaning where that is known.
    pub fn describe(&self) -> String {
        match &self.description {
            Some(description) => format!("{}: {description}", self.label),
            None => self.label.clone(),
        }
    }
}

/// The stored form of a question: version 0.1 wrote only its text and the texts of its answers.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredQuestion {
    Pair(String, Vec<AnswerOption>),
    Whole {
        text: String,
        #[serde(default)]
        header: Option<String>,
        options: Vec<AnswerOption>,
        #[serde(default)]
        picks: AnswerSelectMode,
    },
}

impl From<StoredQuestion> for AgentQuestion {
    fn from(written: StoredQuestion) -> Self {
        let (text, header, options, picks) = match written {
            StoredQuestion::Pair(text, options) => (text, None, options, AnswerSelectMode::One),
            StoredQuestion::Whole {
                text,
                header,
                options,
                picks,
            } => (text, header, options, picks),
        };
        Self {
            text,
            header,
            options,
            picks,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StoredOption {
    Label(String),
    Whole {
        label: String,
        #[serde(default)]
        description: Option<String>,
    },
}

impl From<StoredOption> for AnswerOption {
    fn from(written: StoredOption) -> Self {
        let (label, description) = match written {
            StoredOption::Label(label) => (label, None),
            StoredOption::Whole { label, description } => (label, description),
        };
        Self { label, description }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, header: Option<&str>, option: &str, picks: AnswerSelectMode) {
        let asked: AgentQuestion = serde_json::from_str(written).unwrap();
        let options: Vec<String> = asked.options.iter().map(AnswerOption::describe).collect();
        let found = (asked.text.as_str(), asked.header.as_deref(), asked.picks);
        assert_eq!(found, ("Which?", header, picks), "{written}");
        assert_eq!(options, [option], "{written}");
        let kept = serde_json::to_string(&asked).unwrap();
        let again: AgentQuestion = serde_json::from_str(&kept).unwrap();
        assert_eq!(again, asked, "{kept}");
    }

    #[test]
    fn a_question_is_read_as_it_was_written_by_any_version() {
        check(r#"["Which?", ["a"]]"#, None, "a", AnswerSelectMode::One);
        check(
            r#"{"text":"Which?","header":"Colour","options":[{"label":"a","description":"the first"}],"picks":"several"}"#,
            Some("Colour"),
            "a: the first",
            AnswerSelectMode::Several,
        );
    }
}
