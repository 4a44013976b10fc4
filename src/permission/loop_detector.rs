//! Detects an agent that repeats itself: the same few calls, again and again, at the end of its turn so far.
//!
//! Two calls are the same when their fingerprints are: the tool with its whole input. Text that the agent writes
//! between calls does not count as a call, so it does not break a loop.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

use super::decision_context::LoopStatus;

/// The longest loop that is looked for, in calls.
const MAX_LOOP_CALLS: usize = 4;

/// How often the calls must repeat before they count as a loop.
const LOOP_REPEATS: usize = 3;

/// The last calls of a turn.
#[derive(Debug, Clone, Default)]
pub struct LoopDetector {
    recent: VecDeque<CallRecord>,
}

#[derive(Debug, Clone)]
struct CallRecord {
    item: Option<String>,
    /// `None` where the input is unknown; such a call equals no other call.
    fingerprint: Option<u64>,
}

impl LoopDetector {
    /// Records a call and returns whether a loop ends with it. A call that is asked about twice counts once.
    pub fn record_call(&mut self, item: Option<&str>, mark: Option<&str>) -> LoopStatus {
        let is_known = |made: &CallRecord| item.is_some() && made.item.as_deref() == item;
        let at = match self.recent.iter().position(is_known) {
            Some(at) => at,
            None => self.push_record(item, mark),
        };
        let marks: Vec<Option<u64>> = self
            .recent
            .iter()
            .take(at + 1)
            .map(|made| made.fingerprint)
            .collect();
        if (1..=MAX_LOOP_CALLS).any(|n| ends_with_loop(&marks, n)) {
            LoopStatus::Loop
        } else {
            LoopStatus::NoLoop
        }
    }

    /// Forgets all calls so far: the user has seen them and let the agent continue.
    pub fn reset(&mut self) {
        self.recent.clear();
    }

    fn push_record(&mut self, item: Option<&str>, mark: Option<&str>) -> usize {
        // Earlier calls cannot be part of a loop that ends here.
        if self.recent.len() == MAX_LOOP_CALLS * LOOP_REPEATS {
            self.recent.pop_front();
        }
        self.recent.push_back(CallRecord {
            item: item.map(str::to_owned),
            fingerprint: mark.map(hash_fingerprint),
        });
        self.recent.len() - 1
    }
}

fn hash_fingerprint(mark: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    mark.hash(&mut hasher);
    hasher.finish()
}

/// Returns whether the last calls are [`LOOP_REPEATS`] repeats of the same `n` calls.
fn ends_with_loop(marks: &[Option<u64>], n: usize) -> bool {
    let tail = marks.len().checked_sub(n * LOOP_REPEATS);
    let Some(tail) = tail.and_then(|from| marks.get(from..)) else {
        return false;
    };
    let repeats = tail.iter().zip(tail.iter().skip(n)).all(|(a, b)| a == b);
    // A call with unknown input equals no other call.
    repeats && tail.iter().all(Option::is_some)
}

/// Makes the fingerprint of a call from its tool and input; the order of the input's keys does not matter.
pub fn call_fingerprint(tool: &str, input: &Value) -> String {
    format!("{tool} {}", sort_keys(input))
}

fn sort_keys(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_unstable();
            let field = |key: &String| Some((key.clone(), sort_keys(fields.get(key)?)));
            Value::Object(keys.into_iter().filter_map(field).collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(sort_keys).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Records calls, one letter each, `?` for a call with unknown input; returns the positions
    /// where a loop was found, from 1.
    fn circles(calls: &str) -> Vec<usize> {
        let mut seen = LoopDetector::default();
        let take = |call: char| match call {
            '?' => seen.record_call(None, None),
            call => seen.record_call(None, Some(&call.to_string())),
        };
        let found: Vec<LoopStatus> = calls.chars().map(take).collect();
        let found = found.iter().zip(1..);
        found
            .filter(|(found, _)| **found == LoopStatus::Loop)
            .map(|(_, at)| at)
            .collect()
    }

    #[test]
    fn up_to_four_calls_three_times_over_are_a_circle() {
        let check =
            |calls: &str, expected: &[usize]| assert_eq!(circles(calls), expected, "{calls}");
        check("aa", &[]);
        check("aaa", &[3]);
        check("baaab", &[4]);
        check("ababab", &[6]);
        check("abababa", &[6, 7]);
        check("abcabcabc", &[9]);
        check("xabcdabcdabcd", &[13]);
        check("abcdeabcdeabcde", &[]);
        check("abacadae", &[]);
        check("aa?a", &[]);
        check("???", &[]);
        check("a?a?a?", &[]);
    }

    #[test]
    fn a_call_that_is_asked_about_twice_counts_once() {
        let mut seen = LoopDetector::default();
        for item in ["1", "1", "2"] {
            assert_eq!(seen.record_call(Some(item), Some("ls")), LoopStatus::NoLoop);
        }
        assert_eq!(seen.record_call(Some("3"), Some("ls")), LoopStatus::Loop);
        assert_eq!(seen.record_call(Some("3"), Some("ls")), LoopStatus::Loop);
        assert_eq!(seen.record_call(Some("2"), Some("ls")), LoopStatus::NoLoop);
    }

    #[test]
    fn what_was_let_pass_begins_no_circle_again() {
        let mut seen = LoopDetector::default();
        let take = |seen: &mut LoopDetector| seen.record_call(None, Some("ls"));
        let _begun = [take(&mut seen), take(&mut seen)];
        assert_eq!(take(&mut seen), LoopStatus::Loop);
        seen.reset();
        assert_eq!(take(&mut seen), LoopStatus::NoLoop);
    }

    #[test]
    fn the_order_of_keys_makes_no_other_call() {
        let one = json!({ "b": [{ "y": 1, "x": 2 }], "a": 1 });
        let other = json!({ "a": 1, "b": [{ "x": 2, "y": 1 }] });
        assert_eq!(
            call_fingerprint("Read", &one),
            call_fingerprint("Read", &other)
        );
        assert_ne!(
            call_fingerprint("Read", &one),
            call_fingerprint("Write", &one)
        );
        assert_ne!(
            call_fingerprint("Read", &json!([1, 2])),
            call_fingerprint("Read", &json!([2, 1]))
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn blocks_of_up_to_four_are_found_after_anything(before in "[a-z]{0,20}", block in "[a-z]{1,4}") {
            let calls = format!("{before}{block}{block}{block}");
            prop_assert!(circles(&calls).contains(&calls.len()));
        }

        #[test]
        fn calls_that_all_differ_are_no_circle(n in 0_u32..60) {
            let mut seen = LoopDetector::default();
            for call in 0..n {
                prop_assert_eq!(seen.record_call(None, Some(&call.to_string())), LoopStatus::NoLoop);
            }
        }
    }
}
