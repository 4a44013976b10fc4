//! Turns the program's own lines into words: no marks, frames or dots that a screen reader would spell out.

/// Marks and what is said in their place where they carry a state.
const STATE_WORDS: [(char, &str); 6] = [
    ('✓', "ok"),
    ('✗', "failed"),
    ('☑', "done"),
    ('☐', "open"),
    ('◐', "running"),
    ('⊘', "skipped"),
];
/// What was found of a finding's evidence, which only the mark says.
const EVIDENCE_WORDS: [(&str, &str); 2] = [
    (" ✓ evidence", ", evidence checked"),
    (" ✗ evidence", ", evidence not found"),
];
/// Marks that say nothing in text.
const ORNAMENTS: &str = "▸▾■●○◆▤│┌└├╭╮╰╯─━┊▎▌▏▍█▄▀░▒▓↺↻⋮";

/// Returns a line without marks; its words already say what they mean.
pub fn without_signs(line: &str) -> String {
    let is_state = |c: char| STATE_WORDS.iter().any(|(sign, _)| *sign == c);
    clean_signs(line, |c| is_state(c).then_some(""))
}

/// Returns a line with words in place of marks.
pub fn signs_to_words(line: &str) -> String {
    let word = |c| STATE_WORDS.iter().find(|(sign, _)| *sign == c);
    clean_signs(line, |c| word(c).map(|(_, word)| *word))
}

fn clean_signs(line: &str, word: impl Fn(char) -> Option<&'static str>) -> String {
    let mut line = line.replace("? · ", "? ").replace(" · ", ", ");
    for (mark, words) in EVIDENCE_WORDS {
        // The end of a sentence or a comma before the mark is not said twice.
        for end in [".", ","] {
            line = line.replace(&format!("{end}{mark}"), words);
        }
        line = line.replace(mark, words);
    }
    let mut text = String::with_capacity(line.len());
    for c in line.chars() {
        match word(c) {
            Some(word) => text.push_str(word),
            None if ORNAMENTS.contains(c) => {}
            None if c == '−' => text.push('-'),
            None if c == '→' => text.push_str("then"),
            None if c == '⋯' || c == '…' => text.push_str("..."),
            None => text.push(c),
        }
    }
    let indent = text.len() - text.trim_start().len();
    let words: Vec<&str> = text.split_whitespace().collect();
    // The indentation tells a list from its heading, unless a mark stood there.
    let lead = if line.starts_with("  ") {
        indent.min(4)
    } else {
        0
    };
    let mut words = words.join(" ");
    for (twice, once) in [("failed failed", "failed"), ("ok passed", "passed")] {
        words = words.replace(twice, once);
    }
    format!("{}{words}", " ".repeat(lead))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_words_or_nothing() {
        for (line, without, words) in [
            ("✓ 3 of 3 done", "3 of 3 done", "ok 3 of 3 done"),
            (
                "  step 1  red · green",
                "  step 1 red, green",
                "  step 1 red, green",
            ),
            ("▸ ✗ $ run  exit 1", "$ run exit 1", "failed $ run exit 1"),
            ("── Review ──────", "Review", "Review"),
            ("+3 −1 …", "+3 -1 ...", "+3 -1 ..."),
            ("fails → passes", "fails then passes", "fails then passes"),
            (
                "2. [major] x ✓ evidence",
                "2. [major] x, evidence checked",
                "2. [major] x, evidence checked",
            ),
            (
                "step 2 · ✓ evidence",
                "step 2, evidence checked",
                "step 2, evidence checked",
            ),
            (
                "Say more. ✗ evidence",
                "Say more, evidence not found",
                "Say more, evidence not found",
            ),
            ("run: ✗ failed 1 s", "run: failed 1 s", "run: failed 1 s"),
            (
                "Allow this? · planner",
                "Allow this? planner",
                "Allow this? planner",
            ),
            ("", "", ""),
        ] {
            assert_eq!(without_signs(line), without);
            assert_eq!(signs_to_words(line), words);
        }
    }
}
