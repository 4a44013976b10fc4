//! Describes answers in the user's voice.

use super::QuestionAnswer;
use crate::domain::findings::DisputeSide;

impl QuestionAnswer {
    /// Describes the answer as the user would say it.
    pub fn describe(&self) -> String {
        match self {
            Self::ForcePass => "Approve anyway".to_owned(),
            Self::MoreIterations { n: 1 } => "Allow 1 more review".to_owned(),
            Self::MoreIterations { n } => format!("Allow {n} more reviews"),
            Self::DecideDispute {
                side: DisputeSide::Reviewer,
            } => "The reviewer is right".to_owned(),
            Self::DecideDispute {
                side: DisputeSide::Planner,
            } => "The planner is right".to_owned(),
            Self::EditByHand => "Edit plan.md".to_owned(),
            Self::CancelRun => "Cancel the run".to_owned(),
            Self::Edited { .. } => "Done editing".to_owned(),
            Self::ReviewAgain => "Review it again".to_owned(),
            Self::AcceptAsIs => "Accept it as it is".to_owned(),
            Self::Execute => "Run the plan".to_owned(),
            Self::ExecuteByFlag => "Run the plan (approved by a flag)".to_owned(),
            Self::WaiveProof { reason } => with_words("Waive the proof", reason),
            Self::SwitchTest => "Test with the other command".to_owned(),
            Self::SendNotes => "Send the notes to the planner".to_owned(),
            Self::RequestChanges { text } => format!("Change the plan: {text}"),
            Self::Retry => "Try again".to_owned(),
            Self::NewSession => "Try again in a new session".to_owned(),
            Self::Wait => "Wait, then continue".to_owned(),
            Self::SwitchAdapter => "Continue with the other CLI".to_owned(),
            Self::Stop => "Stop and return to the goal".to_owned(),
            Self::Texts { answers } => {
                let list: Vec<&str> = answers.values().map(String::as_str).collect();
                list.join("\n")
            }
            Self::Dismiss => "Decide yourself".to_owned(),
            Self::Overwrite => "Use the agent's text".to_owned(),
            Self::Merge => "Merge both texts".to_owned(),
            Self::Discard => "Discard the agent's text".to_owned(),
            Self::UseDraft => "Use the draft".to_owned(),
            Self::Include => "Commit my changes with the step".to_owned(),
            Self::LeaveOut => "Leave them uncommitted".to_owned(),
            Self::Allow => "Allow the changes".to_owned(),
            Self::Keep => "Keep the changes".to_owned(),
            Self::PutBack => "Restore the files".to_owned(),
            Self::AlreadyTrue => "It was already done".to_owned(),
            Self::SkipStep { reason } => with_words("Skip the step", reason),
            Self::AmendStep { text } => with_words("Amend the step", text),
            Self::ReplanStep { text } => with_words("Plan the step again", text),
            Self::SkipTests => "Continue without tests".to_owned(),
            Self::FixFirst => "Have the tests fixed first".to_owned(),
            Self::HostNetwork => "Give the tests the machine's network".to_owned(),
            Self::LoopbackNetwork => "Keep the tests off the network".to_owned(),
            Self::ReachSocket => "Let the tests reach the socket".to_owned(),
            Self::HideSocket => "Keep the socket hidden from the tests".to_owned(),
            Self::WithoutCommit => "Continue without this commit".to_owned(),
            Self::ContinueStep => "Continue the step".to_owned(),
            Self::TreatAsDone => "Treat the step as done".to_owned(),
            Self::RedoStep => "Redo the step".to_owned(),
        }
    }
}

fn with_words(what: &str, words: &str) -> String {
    if words.is_empty() {
        what.to_owned()
    } else {
        format!("{what}: {words}")
    }
}
