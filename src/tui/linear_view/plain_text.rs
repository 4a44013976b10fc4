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
/// Marks of a finding's state: at a finding of the plan they stand alone, in the list of all the next line says it too.
const FINDING_WORDS: [(char, &str); 8] = [
    ('○', "open"),
    ('◐', "accepted"),
    ('⊘', "rejected"),
    ('✓', "fixed"),
    ('⊖', "withdrawn"),
    ('☑', "decided"),
    ('◇', "left open"),
    ('⇄', "disputed"),
];
/// What was found of a finding's evidence, which only the mark says.
const EVIDENCE_WORDS: [(&str, &str); 2] = [
    (" ✓ evidence", ", evidence checked"),
    (" ✗ evidence", ", evidence not found"),
];
/// What a mark and the word behind it say twice.
const SAID_TWICE: [(&str, &str); 4] = [
    ("failed failed", "failed"),
    ("ok passed", "passed"),
    ("ok approved", "approved"),
    ("ok checked", "checked"),
];
/// Marks that say nothing in text.
const ORNAMENTS: &str = "▸▾■●○◆◇▤│┌└├╭╮╰╯─━┊▎▌▏▍█▄▀░▒▓↺↻⋮✎↳⌕⇄⊖";

/// Returns a line without marks; its words already say what they mean.
pub fn without_signs(line: &str) -> String {
    let is_state = |c: char| STATE_WORDS.iter().any(|(sign, _)| *sign == c);
    clean_signs(line, |c| is_state(c).then_some(""))
}

/// Returns a line with words in place of marks.
pub fn signs_to_words(line: &str) -> String {
    let words = match MarkedRow::find(line) {
        MarkedRow::PlanFinding => &FINDING_WORDS[..],
        MarkedRow::ListedFinding => return without_signs(line),
        MarkedRow::Other => &STATE_WORDS[..],
    };
    let word = |c| words.iter().find(|(sign, _)| *sign == c);
    clean_signs(line, |c| word(c).map(|(_, word)| *word))
}

/// What a row describes that may begin with a mark.
enum MarkedRow {
    /// A finding at its place in the plan: `◐ 1 blocking`.
    PlanFinding,
    /// A finding in the list of all: `◐ BLOCKING 1`.
    ListedFinding,
    Other,
}

impl MarkedRow {
    fn find(line: &str) -> Self {
        let mut words = line
            .trim_start_matches(['▌', '▸', '▾', ' '])
            .split_whitespace();
        let mark = words.next().and_then(|word| word.parse::<char>().ok());
        let is_mark = |mark| FINDING_WORDS.iter().any(|(sign, _)| *sign == mark);
        let is_severity = |word: &str| {
            let known = ["blocking", "major", "minor"];
            known
                .iter()
                .any(|severity| word.eq_ignore_ascii_case(severity))
        };
        let is_number = |word: &str| word.parse::<u32>().is_ok();
        match (mark.is_some_and(is_mark), words.next(), words.next()) {
            (true, Some(first), _) if is_severity(first) => Self::ListedFinding,
            (true, Some(first), Some(second)) if is_number(first) && is_severity(second) => {
                Self::PlanFinding
            }
            _ => Self::Other,
        }
    }
}

fn clean_signs(line: &str, word: impl Fn(char) -> Option<&'static str>) -> String {
    // The bar of what is picked.
    let line = line.replace('▌', " ");
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
    let indent = line.len() - line.trim_start().len();
    let words: Vec<&str> = text.split_whitespace().collect();
    // The indentation tells a list from its heading.
    let lead = if line.starts_with("  ") {
        indent.min(4)
    } else {
        0
    };
    let mut words = words.join(" ");
    for (twice, once) in SAID_TWICE {
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
            ("▌ ◐ BLOCKING 1  x", "  BLOCKING 1 x", "  BLOCKING 1 x"),
            ("⊘ minor 3 x", "minor 3 x", "minor 3 x"),
            ("    ⊘ 3 minor x", "    3 minor x", "    rejected 3 minor x"),
            ("  ● 1 blocking x", "  1 blocking x", "  1 blocking x"),
            ("  ◐ 2 majors", "  2 majors", "  running 2 majors"),
            ("✓ approved", "approved", "approved"),
            (
                "  ↳ planner accepts",
                "  planner accepts",
                "  planner accepts",
            ),
            ("✎ Edit a.rs", "Edit a.rs", "Edit a.rs"),
            ("▌ ○ 2 Add it", "  2 Add it", "  2 Add it"),
            ("", "", ""),
        ] {
            assert_eq!(without_signs(line), without);
            assert_eq!(signs_to_words(line), words);
        }
    }
}
