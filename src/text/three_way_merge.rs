//! Merges three versions of a document by lines; where both sides changed the same lines, it adds markers.
//!
//! Front matter is not merged by lines, because the program writes it.

use diffy::{ConflictStyle, MergeOptions};

use super::front_matter;

/// The minimum length of a marker, as in git.
const MIN_MARKER_LEN: usize = 7;
/// The text after the marker that opens a conflict.
const YOURS_LABEL: &str = " your text";
/// The text after the marker that closes it.
const AGENTS_LABEL: &str = " the agent's text";

/// One document in three versions.
#[derive(Debug, Clone, Copy)]
pub struct ThreeWayTexts<'a> {
    /// The version that both started with.
    pub base: &'a str,
    pub yours: &'a str,
    pub agents: &'a str,
}

/// The two conflicting versions of a document, and the version before both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictVersions {
    pub name: String,
    /// The version that the agent read.
    pub before: String,
    /// The version on disk.
    pub yours: String,
    /// The version that the agent wrote.
    pub agents: String,
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The merged text with the changes of both sides.
    Clean(String),
    /// Both sides changed the same lines; both versions are in the text, one after the other, between markers.
    WithConflicts(String),
}

impl ThreeWayTexts<'_> {
    /// Merges the bodies. The front matter has the agent's fields, and those that only the user has.
    pub fn merge(&self) -> MergeOutcome {
        let [base, yours, agents] =
            [self.base, self.yours, self.agents].map(front_matter::parse_document);
        let bodies = [&base, &yours, &agents].map(|document| with_final_newline(document.body));
        let mut fields = agents.fields;
        for (key, value) in yours.fields {
            if !fields.iter().any(|(known, _)| *known == key) {
                fields.push((key, value));
            }
        }
        let [base, yours, agents] = bodies;
        let mut options = MergeOptions::new();
        options.set_conflict_style(ConflictStyle::Merge);
        options.set_conflict_marker_length(self.marker_len());
        match options.merge(&base, &yours, &agents) {
            Ok(body) => MergeOutcome::Clean(front_matter::write_document(&fields, &body)),
            Err(body) => MergeOutcome::WithConflicts(front_matter::write_document(
                &fields,
                &self.label_markers(&body),
            )),
        }
    }

    /// Returns the length of a marker: longer than anything in the documents that looks like one.
    fn marker_len(&self) -> usize {
        let longest = [self.base, self.yours, self.agents]
            .iter()
            .flat_map(|text| text.lines())
            .map(marker_run_len)
            .max();
        longest.map_or(MIN_MARKER_LEN, |longest| MIN_MARKER_LEN.max(longest + 1))
    }

    fn label_markers(&self, body: &str) -> String {
        let (open, close) = (
            "<".repeat(self.marker_len()) + " ours",
            ">".repeat(self.marker_len()) + " theirs",
        );
        let label = |line: &str| match line {
            line if line == open => "<".repeat(self.marker_len()) + YOURS_LABEL,
            line if line == close => ">".repeat(self.marker_len()) + AGENTS_LABEL,
            line => line.to_owned(),
        };
        let lines: Vec<String> = body.lines().map(label).collect();
        lines.join("\n") + "\n"
    }

    /// Returns the numbers, from 1, of the marker lines in a text that these versions were merged into.
    pub fn marker_lines(&self, text: &str) -> Vec<usize> {
        let n = self.marker_len();
        let marks = [
            "<".repeat(n) + YOURS_LABEL,
            "=".repeat(n),
            ">".repeat(n) + AGENTS_LABEL,
        ];
        let lines = (1..).zip(text.lines());
        lines
            .filter(|(_, line)| marks.iter().any(|mark| line.trim_end() == mark))
            .map(|(n, _)| n)
            .collect()
    }
}

/// Returns how often a marker character repeats at the start of a line.
fn marker_run_len(line: &str) -> usize {
    let first = line.chars().next().unwrap_or(' ');
    match first {
        '<' | '=' | '>' | '|' => line.chars().take_while(|c| *c == first).count(),
        _ => 0,
    }
}

/// Adds a newline at the end if it is missing, so that no marker follows on the same line.
fn with_final_newline(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BASE: &str = "# Task\n\n1. [ ] one\n2. [ ] two\n3. [ ] three\n";

    fn check(yours: &str, agents: &str, wanted: &MergeOutcome) {
        let (base, yours, agents) = (BASE, yours, agents);
        let three = ThreeWayTexts {
            base,
            yours,
            agents,
        };
        assert_eq!(three.merge(), *wanted);
    }

    #[test]
    fn changes_in_different_places_both_stand() {
        check(
            &BASE.replace("one", "ONE"),
            &BASE.replace("three", "THREE"),
            &MergeOutcome::Clean("# Task\n\n1. [ ] ONE\n2. [ ] two\n3. [ ] THREE\n".to_owned()),
        );
    }

    #[test]
    fn changes_in_one_place_stand_between_markers() {
        let marked = "# Task\n\n1. [ ] one\n<<<<<<< your text\n2. [ ] mine\n=======\n2. [ ] its\n\
                      >>>>>>> the agent's text\n3. [ ] three\n";
        check(
            &BASE.replace("two", "mine"),
            &BASE.replace("two", "its"),
            &MergeOutcome::WithConflicts(marked.to_owned()),
        );
        let three = ThreeWayTexts {
            base: BASE,
            yours: "",
            agents: "",
        };
        assert_eq!(three.marker_lines(marked), [4, 6, 8]);
        assert_eq!(three.marker_lines(BASE), [0; 0]);
    }

    #[test]
    fn front_matter_is_the_agents_with_what_only_the_user_has() {
        let yours = format!("---\nversion: 1\nmood: fine\n---\n{BASE}");
        let agents = format!("---\nversion: 2\n---\n{BASE}");
        let wanted = format!("---\nversion: 2\nmood: fine\n---\n{BASE}");
        check(&yours, &agents, &MergeOutcome::Clean(wanted));
    }

    #[test]
    fn markers_are_longer_than_what_looks_like_one() {
        let three = ThreeWayTexts {
            base: "",
            yours: "Title\n=========\nmine",
            agents: "<<<<<<< ours\nits\n",
        };
        let MergeOutcome::WithConflicts(text) = three.merge() else {
            panic!("both are whole texts");
        };
        assert_eq!(
            text,
            "<<<<<<<<<< your text\nTitle\n=========\nmine\n==========\n<<<<<<< ours\nits\n>>>>>>>>>> the agent's text\n"
        );
        assert_eq!(three.marker_lines(&text), [1, 5, 8]);
    }

    proptest! {
        #[test]
        fn no_new_line_of_either_side_is_lost_and_markers_are_found(
            lines in proptest::collection::vec("[a-c=<>]{0,9}", 0..8),
            yours in proptest::collection::vec("[a-c=<>]{0,9}", 0..8),
            agents in proptest::collection::vec("[a-c=<>]{0,9}", 0..8),
        ) {
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let (base, yours, agents) = (text(&lines), text(&yours), text(&agents));
            let three = ThreeWayTexts { base: &base, yours: &yours, agents: &agents };
            let (merged, is_clean) = match three.merge() {
                MergeOutcome::Clean(text) => (text, true),
                MergeOutcome::WithConflicts(text) => (text, false),
            };
            prop_assert_eq!(three.marker_lines(&merged).is_empty(), is_clean);
            for line in yours.lines().chain(agents.lines()) {
                if base.lines().all(|known| known != line) {
                    prop_assert!(merged.lines().any(|l| l == line), "{line:?} is not in {merged:?}");
                }
            }
        }
    }
}
