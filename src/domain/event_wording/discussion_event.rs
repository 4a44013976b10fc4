//! Words the events of a discussion.

use crate::domain::discussion::{DiscussionEvent, SpeechPart};
use crate::text::clean_to_one_line;

/// Describes an event of a discussion on one line; `None` where there is nothing to say.
pub fn describe_discussion_event(news: &DiscussionEvent) -> Option<String> {
    Some(match news {
        DiscussionEvent::Started { order } => format!(
            "Discussion started ({}): {}",
            order.terms.mode.as_str(),
            clean_to_one_line(&order.topic)
        ),
        DiscussionEvent::Spoke { speech } => {
            let name = clean_to_one_line(&speech.participant);
            let what = match (&speech.error, &speech.stance) {
                (Some(error), _) => error.describe(),
                (None, Some(stance)) => stance.stance.label().to_owned(),
                (None, None) => "no stance, no vote".to_owned(),
            };
            match speech.part {
                SpeechPart::Round => format!("{name} in round {}: {what}", speech.round),
                SpeechPart::Closing => format!("{name}, final words: {what}"),
            }
        }
        DiscussionEvent::Checked { run } => {
            format!("Check {}: {}", run.n, clean_to_one_line(&run.order.command))
        }
        DiscussionEvent::StopAsked { reason } => {
            format!("Stopping the discussion: {}", reason.describe())
        }
        DiscussionEvent::Ended { outcome } => format!(
            "Discussion finished: {} · {}",
            outcome.describe_decision(),
            outcome.stop.describe()
        ),
        DiscussionEvent::Continued => "The discussion continues".to_owned(),
        DiscussionEvent::CutOff => "The program exited during the discussion".to_owned(),
        DiscussionEvent::SpeechBegan { .. } | DiscussionEvent::CheckBegan { .. } => return None,
    })
}
