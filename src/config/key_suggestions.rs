//! Suggests the nearest known key for an unknown one; nothing is corrected automatically.

use std::collections::BTreeSet;

use super::builtin_rule_overrides;
use super::schema::{KEYS, match_path_prefix};
use super::word_similarity::closest_match;

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
