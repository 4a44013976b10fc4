//! Whether an agent turns in a circle: the same few calls, again and again, at the end of what it did in a turn.
//!
//! It refuses to know what calls do, and who asks. Calls are the same when their marks are: the tool with its
//! whole input. What the agent says between them is no call and hides no circle.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

use super::decision_context::LoopStatus;

/// The longest circle that is looked for, in calls.
const MAX_LOOP_CALLS: usize = 4;

/// How often its calls come before it counts as one.
const LOOP_REPEATS: usize = 3;

/// The last calls of a turn.
#[derive(Debug, Clone, Default)]
pub struct LoopDetector {
    recent: VecDeque<CallRecord>,
}

/// One call.
#[derive(Debug, Clone)]
struct CallRecord {
    item: Option<String>,
    /// `NoLoop` where its input is not known: it is then like no other.
    fingerprint: Option<u64>,
}

impl LoopDetector {
    /// Takes a call in and tells whether a circle ends with it. A call that is asked about twice counts once.
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

    /// Begins anew: what came so far was looked at and let pass.
    pub fn reset(&mut self) {
        self.recent.clear();
    }

    fn push_record(&mut self, item: Option<&str>, mark: Option<&str>) -> usize {
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

/// Tells whether the last calls are the same `n`, so many times.
fn ends_with_loop(marks: &[Option<u64>], n: usize) -> bool {
    let tail = marks.len().checked_sub(n * LOOP_REPEATS);
    let Some(tail) = tail.and_then(|from| marks.get(from..)) else {
        return false;
    };
    let repeats = tail.iter().zip(tail.iter().skip(n)).all(|(a, b)| a == b);
    repeats && tail.iter().all(Option::is_some)
}

/// Writes the mark of a call: its tool and its input, whatever the order in which the input's keys came.
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

    /// Takes calls in, one letter each, `?` for one whose input nobody tells; gives where a circle was found, from 1.
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
