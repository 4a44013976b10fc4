//! Suggests the nearest known key for an unknown one; nothing is corrected automatically.

use std::collections::BTreeSet;

use similar::get_close_matches;

use super::builtin_rule_overrides;
use super::schema::{KEYS, match_path_prefix};

/// How similar two words must be (0 to 1) before one is suggested for the other.
const MIN_SIMILARITY: f32 = 0.6;

/// Suggests what the user may have meant by a path that is not a key.
pub(super) fn hint_for_unknown_key(path: &[String]) -> String {
    if let Some(hint) = builtin_rule_overrides::hint_for_unknown_rule(path) {
        return hint;
    }
    let Some((last, parent)) = path.split_last() else {
        return String::new();
    };
    let siblings = known_siblings(parent);
    if let Some(name) = closest_match(last, &siblings) {
        return did_you_mean(parent, name);
    }
    let homonyms: Vec<&str> = KEYS
        .iter()
        .map(|key| key.path)
        .filter(|known| known.rsplit('.').next() == Some(last))
        .collect();
    if let Some(known) = homonyms.first() {
        return format!("did you mean `{known}`?");
    }
    if !siblings.is_empty() {
        // With the section's name in front, any of its keys would look similar.
        return format!("known keys: {}", siblings.join(", "));
    }
    let all: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
    if let Some(known) = closest_match(&path.join("."), &all) {
        return format!("did you mean `{known}`?");
    }
    "remove it; `agent-collab config show` prints every key".to_owned()
}

/// Returns the candidate that is most similar to a word, if any is similar enough.
pub(super) fn closest_match<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    get_close_matches(word, candidates, 1, MIN_SIMILARITY)
        .first()
        .copied()
}

/// Writes `did you mean "x"? ` with the most similar candidate; nothing if none is similar enough.
pub fn suggest_name(word: &str, candidates: &[&str]) -> String {
    closest_match(word, candidates)
        .map(|near| format!("did you mean \"{near}\"? "))
        .unwrap_or_default()
}

/// Returns what may follow a path: the next segments of all keys below it, without chosen names.
fn known_siblings(parent: &[String]) -> Vec<&'static str> {
    let rests = KEYS
        .iter()
        .filter_map(|key| match_path_prefix(key, parent).flatten());
    let names: BTreeSet<&str> = rests
        .filter_map(|rest| rest.split('.').next())
        .filter(|name| *name != "*")
        .collect();
    names.into_iter().collect()
}

fn did_you_mean(parent: &[String], name: &str) -> String {
    let mut path = parent.to_vec();
    path.push(name.to_owned());
    format!("did you mean `{}`?", path.join("."))
}
