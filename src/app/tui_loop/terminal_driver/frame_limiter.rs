//! Decides when the next frame may be drawn.
//!
//! Pure: the caller passes the time. Frames that answer a key come at once, frames with agent output at a calmer pace,
//! and there are never more than sixty per second.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Maximum number of frames in any second.
const MAX_FRAMES_PER_SECOND: usize = 60;
/// Minimum time between two frames that answer the user.
const AFTER_KEY: Duration = Duration::from_millis(4);
/// Minimum time between two frames with agent output.
const AFTER_NEWS: Duration = Duration::from_millis(25);

/// Why a frame is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameReason {
    /// An agent or the engine changed something.
    ForNews,
    /// The user did something.
    ForUser,
}

/// The instants of the last frames.
#[derive(Debug, Default)]
pub struct FrameLimiter {
    drawn: VecDeque<Instant>,
    last_for_user: Option<Instant>,
    last_with_news: Option<Instant>,
}

impl FrameLimiter {
    /// Returns the earliest instant for the next frame.
    pub fn next_allowed_at(&self, wanted: FrameReason, now: Instant) -> Instant {
        let after_last = match wanted {
            FrameReason::ForNews => self.last_with_news.map(|last| last + AFTER_NEWS),
            FrameReason::ForUser => self.last_for_user.map(|last| last + AFTER_KEY),
        };
        let oldest = self
            .drawn
            .front()
            .filter(|_| self.drawn.len() >= MAX_FRAMES_PER_SECOND);
        let after_oldest = oldest.map(|oldest| *oldest + Duration::from_secs(1));
        [after_last, after_oldest]
            .into_iter()
            .flatten()
            .fold(now, Instant::max)
    }

    /// Notes that a frame was drawn, why, and whether it shows the latest agent output.
    pub fn on_drawn(&mut self, at: Instant, why: FrameReason, has_news: bool) {
        if why == FrameReason::ForUser {
            self.last_for_user = Some(at);
        }
        if has_news {
            self.last_with_news = Some(at);
        }
        if self.drawn.len() >= MAX_FRAMES_PER_SECOND {
            self.drawn.pop_front();
        }
        self.drawn.push_back(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Requests frames at these milliseconds and compares when they are drawn.
    fn check(wanted: &[(u64, FrameReason)], expected: &[u64]) {
        assert_eq!(drawn(wanted), expected);
    }

    fn drawn(wanted: &[(u64, FrameReason)]) -> Vec<u64> {
        let start = Instant::now();
        let mut frames = FrameLimiter::default();
        let mut now = start;
        let mut drawn = Vec::new();
        for (at, why) in wanted {
            now = now.max(start + Duration::from_millis(*at));
            now = frames.next_allowed_at(*why, now);
            frames.on_drawn(now, *why, *why == FrameReason::ForNews);
            drawn.push(u64::try_from((now - start).as_millis()).unwrap());
        }
        drawn
    }

    #[test]
    fn the_first_frame_comes_at_once_and_news_at_their_pace() {
        use FrameReason::ForNews;
        check(
            &[(5, ForNews), (6, ForNews), (7, ForNews), (500, ForNews)],
            &[5, 30, 55, 500],
        );
    }

    #[test]
    fn an_answer_to_a_key_does_not_wait_for_news_nor_news_for_keys() {
        use FrameReason::{ForNews, ForUser};
        check(
            &[(0, ForNews), (1, ForUser), (2, ForUser), (3, ForNews)],
            &[0, 1, 5, 25],
        );
    }

    #[test]
    fn the_sixty_first_frame_waits_until_the_second_is_over() {
        let wanted: Vec<(u64, FrameReason)> =
            (0..62).map(|n| (n * 4, FrameReason::ForUser)).collect();
        let drawn = drawn(&wanted);
        assert_eq!(&drawn[58..], &[232, 236, 1000, 1004]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_second_has_more_than_sixty_frames(gaps in proptest::collection::vec((0u64..40, any::<bool>()), 1..300)) {
            let mut at = 0;
            let wanted: Vec<(u64, FrameReason)> = gaps.iter().map(|(gap, key)| {
                at += gap;
                (at, if *key { FrameReason::ForUser } else { FrameReason::ForNews })
            }).collect();
            let drawn = drawn(&wanted);
            for (n, at) in drawn.iter().enumerate() {
                let within = drawn[n..].iter().take_while(|later| **later < at + 1000).count();
                prop_assert!(within <= MAX_FRAMES_PER_SECOND);
            }
        }
    }
}
