//! Finds the known word that a misspelled one may stand for.

use similar::get_close_matches;

/// How similar two words must be (0 to 1) before one is suggested for the other.
const MIN_SIMILARITY: f32 = 0.6;

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
