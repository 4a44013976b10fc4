//! Describes answers in the user's voice.

use super::QuestionAnswer;

impl QuestionAnswer {
    /// Describes the answer as the user would say it.
    pub fn describe(&self) -> String {
        match self {
            Self::ForcePass => "let the plan pass".to_owned(),
            Self::MoreIterations { n: 1 } => "1 more iteration".to_owned(),
            Self::MoreIterations { n } => format!("{n} more iterations"),
            Self::EditByHand => "I edit by hand".to_owned(),
            Self::CancelRun => "cancel the run".to_owned(),
            Self::Edited { .. } => "I am done editing".to_owned(),
            Self::ReviewAgain => "review it again".to_owned(),
            Self::AcceptAsIs => "accept it as it is".to_owned(),
            Self::Execute => "execute the plan".to_owned(),
            Self::SwitchTest => "test with the other command".to_owned(),
            Self::RequestChanges { text } => format!("change the plan: {text}"),
            Self::Retry => "try again".to_owned(),
            Self::NewSession => "try again in a new session".to_owned(),
            Self::Wait => "wait, and go on by itself then".to_owned(),
            Self::SwitchAdapter => "go on at the other CLI".to_owned(),
            Self::Stop => "stop, back to the goal".to_owned(),
            Self::Texts { answers } => {
                let list: Vec<&str> = answers.values().map(String::as_str).collect();
                list.join("\n")
            }
            Self::Dismiss => "decide yourself".to_owned(),
            Self::Overwrite => "take the agent's text".to_owned(),
            Self::Merge => "merge both texts".to_owned(),
            Self::Discard => "put the agent's text aside".to_owned(),
            Self::UseDraft => "use the draft".to_owned(),
            Self::Include => "commit my changes with the step".to_owned(),
            Self::LeaveOut => "leave these files uncommitted".to_owned(),
            Self::Allow => "allow the changes".to_owned(),
            Self::Keep => "keep the changes".to_owned(),
            Self::PutBack => "put the files back".to_owned(),
            Self::AlreadyTrue => "it was true already".to_owned(),
            Self::SkipStep => "skip the step".to_owned(),
            Self::SkipTests => "go on without tests".to_owned(),
            Self::HostNetwork => "give the tests the machine's network".to_owned(),
            Self::LoopbackNetwork => "keep the tests off the network".to_owned(),
            Self::ReachSocket => "let the tests reach the socket".to_owned(),
            Self::HideSocket => "keep the socket hidden from the tests".to_owned(),
            Self::WithoutCommit => "go on without this commit".to_owned(),
            Self::ContinueStep => "continue the step".to_owned(),
            Self::TreatAsDone => "treat the step as done".to_owned(),
            Self::RedoStep => "redo the step".to_owned(),
        }
    }
}
