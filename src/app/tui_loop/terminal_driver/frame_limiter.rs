//! Decides when the next frame may be drawn.
//!
//! Pure: the caller passes the time. Frames that answer a key come at once, frames with agent output at a calmer pace,
//! and there are never more than sixty per second: a few at once, then at an even pace (the generic cell rate
//! algorithm, ITU-T I.371). With a mere count per second, the last of a hundred resizes would wait for half a second.
//! A few of the sixty are kept for the moment when the user's inputs end, so that the last one is seen soon.

use std::time::Duration;

use tokio::time::Instant;

/// How many frames may follow each other as fast as [`AFTER_KEY`] allows.
const FRAMES_AT_ONCE: u32 = 6;
/// The same, where the user's inputs have ended.
const FRAMES_AT_END: u32 = 12;
/// Time between frames that go on for long. Together with the frames at the end it makes sixty per second.
const EVEN_PACE: Duration = Duration::from_nanos(20_833_334);
/// How long no input came when the user's inputs have ended: a storm of resizes comes faster.
const INPUT_PAUSE: Duration = Duration::from_millis(5);
/// Minimum time between two frames that answer the user.
const AFTER_KEY: Duration = Duration::from_millis(4);
/// Minimum time between two frames with agent output: thirty a second are enough to read along.
const AFTER_NEWS: Duration = Duration::from_millis(33);

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
    last_input_at: Option<Instant>,
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
        let at_pace = match self.last_input_at {
            Some(input_at) if wanted == FrameReason::ForUser => self.paid_for(FRAMES_AT_ONCE).min(
                self.paid_for(FRAMES_AT_END)
                    .max(Some(input_at + INPUT_PAUSE)),
            ),
            _ => self.paid_for(FRAMES_AT_ONCE),
        };
        [after_last, at_pace]
            .into_iter()
            .flatten()
            .fold(now, Instant::max)
    }

    /// Returns the instant from which on a frame may come that is one of so many at once; `None` before the first.
    fn paid_for(&self, frames_at_once: u32) -> Option<Instant> {
        let ahead = EVEN_PACE * (frames_at_once - 1);
        self.paid_until.and_then(|paid| paid.checked_sub(ahead))
    }

    /// Returns whether a frame that is drawn anyway may show new agent output.
    pub fn may_carry_news(&self, now: Instant) -> bool {
        self.last_with_news
            .is_none_or(|last| last + AFTER_NEWS <= now)
    }

    /// Notes that the user did something.
    pub fn on_user_input(&mut self, at: Instant) {
        self.last_input_at = Some(at);
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

    /// Plays the requests in steps of a millisecond, until nothing waits for a frame.
    fn drawn(wanted: &[(u64, FrameReason)]) -> Vec<u64> {
        let start = Instant::now();
        let mut frames = FrameLimiter::default();
        let mut requests = wanted.iter().peekable();
        let mut pending = None;
        let mut drawn = Vec::new();
        for at in 0.. {
            let now = start + Duration::from_millis(at);
            while let Some((_, why)) = requests.next_if(|(wanted_at, _)| *wanted_at <= at) {
                if *why == FrameReason::ForUser {
                    frames.on_user_input(now);
                }
                pending = pending.max(Some(*why));
            }
            let due = pending.filter(|why| frames.next_allowed_at(*why, now) <= now);
            if let Some(why) = due {
                frames.on_drawn(now, why, why == FrameReason::ForNews);
                drawn.push(at);
                pending = None;
            }
            if pending.is_none() && requests.peek().is_none() {
                break;
            }
        }
        drawn
    }

    #[test]
    fn the_first_frame_comes_at_once_and_news_at_their_pace() {
        use FrameReason::ForNews;
        check(
            &[(5, ForNews), (6, ForNews), (39, ForNews), (500, ForNews)],
            &[5, 38, 71, 500],
        );
    }

    #[test]
    fn an_answer_to_a_key_does_not_wait_for_news_nor_news_for_keys() {
        use FrameReason::{ForNews, ForUser};
        check(
            &[(0, ForNews), (1, ForUser), (2, ForUser), (6, ForNews)],
            &[0, 1, 5, 33],
        );
    }

    #[test]
    fn after_a_few_at_once_frames_come_at_an_even_pace() {
        let wanted: Vec<(u64, FrameReason)> = (0..400).map(|n| (n, FrameReason::ForUser)).collect();
        let drawn = drawn(&wanted);
        assert_eq!(drawn.get(..7), Some(&[0, 4, 8, 12, 16, 20, 24][..]));
        let gaps = drawn.windows(2).map(|pair| pair[1] - pair[0]);
        assert_eq!(gaps.max(), Some(21));
    }

    #[test]
    fn the_last_of_many_resizes_is_seen_soon() {
        for count in 20..140 {
            let wanted: Vec<(u64, FrameReason)> =
                (0..count).map(|n| (n * 4, FrameReason::ForUser)).collect();
            let last_input = (count - 1) * 4;
            let last_frame = drawn(&wanted).last().copied().unwrap();
            assert!(last_frame >= last_input, "{count}: {last_frame}");
            assert!(last_frame <= last_input + 5, "{count}: {last_frame}");
        }
    }

    #[test]
    fn frames_for_the_user_carry_news_however_fast_they_come() {
        let start = Instant::now();
        let mut frames = FrameLimiter::default();
        let mut with_news = Vec::new();
        for at in 0..1_000 {
            let now = start + Duration::from_millis(at);
            if at % 16 == 0 {
                frames.on_user_input(now);
            }
            let is_due = frames.next_allowed_at(FrameReason::ForUser, now) <= now;
            if at % 16 == 6 && is_due {
                let has_news = frames.may_carry_news(now);
                frames.on_drawn(now, FrameReason::ForUser, has_news);
                with_news.extend(has_news.then_some(at));
            }
        }
        let gaps = with_news.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max().is_some_and(|gap| gap < 100), "{with_news:?}");
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
