//! Decides when the next frame may be drawn.
//!
//! Pure: the caller passes the time. Frames that answer a key come at once, frames with agent output at a calmer pace,
//! and there are never more than sixty per second: a few at once, then at an even pace (the generic cell rate
//! algorithm, ITU-T I.371). With a mere count per second, the last of a hundred resizes would wait for half a second.

use std::time::Duration;

use tokio::time::Instant;

/// How many frames may follow each other as fast as [`AFTER_KEY`] allows.
const FRAMES_AT_ONCE: u32 = 6;
/// Time between frames that go on for long. Together with the frames at once it makes sixty per second.
const EVEN_PACE: Duration = Duration::from_nanos(18_518_519);
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
    /// When the frames would be over that were drawn, had they come at an even pace.
    paid_until: Option<Instant>,
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
        let ahead = EVEN_PACE * (FRAMES_AT_ONCE - 1);
        let at_pace = self.paid_until.and_then(|paid| paid.checked_sub(ahead));
        [after_last, at_pace]
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
        self.paid_until = Some(self.paid_until.map_or(at, |paid| paid.max(at)) + EVEN_PACE);
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
    fn after_a_few_at_once_frames_come_at_an_even_pace() {
        let wanted: Vec<(u64, FrameReason)> = (0..100).map(|n| (n, FrameReason::ForUser)).collect();
        let drawn = drawn(&wanted);
        assert_eq!(drawn.get(..7), Some(&[0, 4, 8, 12, 16, 20, 24][..]));
        let gaps = drawn.windows(2).map(|pair| pair[1] - pair[0]);
        assert_eq!(gaps.max(), Some(19));
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
                prop_assert!(within <= 60);
            }
        }
    }
}
