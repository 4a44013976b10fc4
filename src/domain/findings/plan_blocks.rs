//! Splits a plan into blocks, which are its steps and its sections, and finds the block of one version in another.
//!
//! A finding lies in a block. Whether a review may still raise something depends on whether the block changed, so a
//! block is compared by its text, without the number and the box of its step and with white space collapsed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::plan::{self, CodeFenceTracker};
use crate::text::front_matter;
use crate::text::word_similarity::{collapse_white_space, split_words, word_similarity};

/// The least similarity of a block with the one that has its label in another version to be taken for it.
const SAME_LABEL_SIMILARITY: f64 = 0.3;
/// The least similarity with a block of another label.
const OTHER_LABEL_SIMILARITY: f64 = 0.5;

/// What a block is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockLabel {
    /// The text before the first heading and step.
    Introduction,
    /// The text under this heading, apart from its steps.
    Heading(String),
    Step(u32),
}

impl fmt::Display for BlockLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Introduction => f.write_str("introduction"),
            Self::Heading(heading) => write!(f, "\u{201c}{heading}\u{201d}"),
            Self::Step(n) => write!(f, "step {n}"),
        }
    }
}

/// One block of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanBlock {
    pub label: BlockLabel,
    /// Its text with white space collapsed; of a step, without number and box.
    pub text: String,
}

/// The blocks of one version of a plan, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanBlocks(Vec<PlanBlock>);

impl PlanBlocks {
    /// Splits a plan. Works on any text; sections with the same heading are one block.
    pub fn parse(text: &str) -> Self {
        let mut blocks = Self::default();
        let (mut section, mut block) = (BlockLabel::Introduction, BlockLabel::Introduction);
        let mut fence = CodeFenceTracker::default();
        let mut after_blank = false;
        for line in front_matter::parse_document(text).body.lines() {
            let is_fenced = fence.consume_line(line);
            let step = plan::parse_step(line).filter(|_| !is_fenced);
            let heading = line.trim_start_matches('#');
            if let Some(step) = step {
                block = BlockLabel::Step(step.n);
                blocks.append(&block, &step.text);
            } else if !is_fenced && heading.len() < line.len() {
                section = BlockLabel::Heading(collapse_white_space(heading));
                block = section.clone();
                blocks.append(&block, "");
            } else {
                if !is_fenced && plan::ends_block(line, after_blank) {
                    block = section.clone();
                }
                blocks.append(&block, line);
            }
            after_blank = line.trim().is_empty();
        }
        blocks.0.retain(|block| match block.label {
            BlockLabel::Introduction => !block.text.is_empty(),
            BlockLabel::Heading(_) | BlockLabel::Step(_) => true,
        });
        blocks
    }

    fn append(&mut self, label: &BlockLabel, line: &str) {
        let line = collapse_white_space(line);
        match self.0.iter_mut().find(|block| block.label == *label) {
            Some(block) if line.is_empty() || block.text.is_empty() => block.text.push_str(&line),
            Some(block) => {
                block.text.push(' ');
                block.text.push_str(&line);
            }
            None => self.0.push(PlanBlock {
                label: label.clone(),
                text: line,
            }),
        }
    }

    /// Returns the blocks in the order of the text.
    pub fn all(&self) -> &[PlanBlock] {
        &self.0
    }

    /// Returns the block with this label.
    pub fn get(&self, label: &BlockLabel) -> Option<&PlanBlock> {
        self.0.iter().find(|block| block.label == *label)
    }

    /// Returns whether a block has exactly this text.
    pub fn has_text(&self, text: &str) -> bool {
        self.0.iter().any(|block| block.text == text)
    }

    /// Returns the blocks whose text is not in an earlier version.
    pub fn changed_since<'a>(&'a self, earlier: &'a Self) -> impl Iterator<Item = &'a PlanBlock> {
        self.0.iter().filter(|block| !earlier.has_text(&block.text))
    }

    /// Returns the block of a later version that continues this block: one with the same text, one with the same label
    /// and a similar text, or the most similar one. `None` when it was removed.
    pub fn find_successor<'a>(&self, label: &BlockLabel, later: &'a Self) -> Option<&'a PlanBlock> {
        let block = self.get(label)?;
        let same_text = later.0.iter().filter(|later| later.text == block.text);
        if let Some(same) = same_text.min_by_key(|later| later.label != *label) {
            return Some(same);
        }
        // A block whose text is unchanged continues itself, not another one.
        let is_taken = |later: &PlanBlock| self.has_text(&later.text);
        let similarity = |later: &PlanBlock| word_similarity(&later.text, &block.text);
        let same_label = later.get(label).filter(|later| !is_taken(later));
        if let Some(same) = same_label.filter(|later| similarity(later) >= SAME_LABEL_SIMILARITY) {
            return Some(same);
        }
        let others = later.0.iter().filter(|later| !is_taken(later));
        let best = others.max_by(|one, other| similarity(one).total_cmp(&similarity(other)));
        best.filter(|best| similarity(best) >= OTHER_LABEL_SIMILARITY)
            .or(same_label)
    }

    /// Finds the block that a place names: `step 2`, the words of a heading, a file that a block mentions, or words of
    /// the plan.
    pub fn find_place(&self, place: &str) -> Option<&PlanBlock> {
        let place = collapse_white_space(place);
        if let Some(n) = parse_step_number(&place) {
            return self.get(&BlockLabel::Step(n));
        }
        let bare = place
            .trim_matches(|c: char| c.is_ascii_punctuation() || c.is_whitespace())
            .to_lowercase();
        if bare.is_empty() {
            return None;
        }
        let is_heading = |block: &&PlanBlock| match &block.label {
            BlockLabel::Heading(heading) => {
                let heading = heading.to_lowercase();
                heading == bare || (!heading.is_empty() && bare.contains(&heading))
            }
            BlockLabel::Introduction | BlockLabel::Step(_) => false,
        };
        let mut headings: Vec<&PlanBlock> = self.0.iter().filter(is_heading).collect();
        headings.sort_by_key(|block| block.text.len());
        let path = place.split([' ', ':']).find(|word| looks_like_path(word));
        let mentions = |block: &&PlanBlock| path.is_some_and(|path| block.text.contains(path));
        let quotes = |block: &&PlanBlock| {
            split_words(&bare).len() >= 2 && block.text.to_lowercase().contains(&bare)
        };
        let by_heading = headings.into_iter().next();
        by_heading
            .or_else(|| self.steps_first().find(mentions))
            .or_else(|| self.steps_first().find(quotes))
    }

    fn steps_first(&self) -> impl Iterator<Item = &PlanBlock> {
        let is_step = |block: &&PlanBlock| matches!(block.label, BlockLabel::Step(_));
        let steps = self.0.iter().filter(is_step);
        steps.chain(self.0.iter().filter(move |block| !is_step(block)))
    }
}

/// Returns the number in `step 3`, `Steps 3 and 4` or `步骤3`, wherever it stands in a place.
pub fn parse_step_number(place: &str) -> Option<u32> {
    let lower = place.to_lowercase();
    ["step", "步骤", "第"].iter().find_map(|word| {
        lower.match_indices(word).find_map(|(at, _)| {
            let before = lower[..at].chars().next_back();
            if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
                return None;
            }
            let rest = lower[at + word.len()..].trim_start_matches('s');
            let rest = rest.trim_start_matches([' ', '#', ':', '\u{a0}']);
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            rest[..end].parse().ok()
        })
    })
}

/// Returns whether a word can be a path of a file: it has a separator or an ending.
pub fn looks_like_path(word: &str) -> bool {
    let word = word.trim_matches(|c: char| matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';'));
    let has_ending = word
        .rsplit_once('.')
        .is_some_and(|(stem, ending)| !stem.is_empty() && is_file_ending(ending));
    let has_folder = word.contains('/') && !word.contains("://") && !word.starts_with('/');
    let is_abbreviation = matches!(
        word.to_ascii_lowercase().as_str(),
        "e.g" | "i.e" | "e.g." | "i.e."
    );
    (has_ending || has_folder) && word.len() >= 3 && !is_abbreviation
}

fn is_file_ending(ending: &str) -> bool {
    (1..=8).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.chars().any(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "---\nversion: 1\n---\nWhy we do it.\n\n# Task: Add sums\n\n## Steps\n1. [ ] Write `add` in src/sum.rs\n   with an example\n2. [x] Test add\n\nNotes on both.\n\n## Risks\nOverflow of i32.\n\nTest: `sh t.sh`\n";

    fn labels(text: &str) -> Vec<(String, String)> {
        let blocks = PlanBlocks::parse(text);
        let all = blocks.all().iter();
        all.map(|block| (block.label.to_string(), block.text.clone()))
            .collect()
    }

    #[test]
    fn a_plan_is_split_into_steps_and_sections() {
        let expected = [
            ("introduction", "Why we do it."),
            ("\u{201c}Task: Add sums\u{201d}", ""),
            ("\u{201c}Steps\u{201d}", "Notes on both."),
            ("step 1", "Write `add` in src/sum.rs with an example"),
            ("step 2", "Test add"),
            ("\u{201c}Risks\u{201d}", "Overflow of i32. Test: `sh t.sh`"),
        ];
        let expected = expected.map(|(label, text)| (label.to_owned(), text.to_owned()));
        assert_eq!(labels(PLAN), expected);
        let fenced = "1. [ ] a\n```\n2. [ ] b\n# c\n```\n";
        assert_eq!(
            labels(fenced),
            [("step 1".to_owned(), "a ``` 2. [ ] b # c ```".to_owned())]
        );
    }

    #[test]
    fn ticks_numbers_and_white_space_are_no_change() {
        let earlier = PlanBlocks::parse(PLAN);
        let moved = PLAN
            .replace("2. [x] Test add", "3. [ ]   Test   add")
            .replace("1. [ ]", "2. [x]");
        let later = PlanBlocks::parse(&moved);
        assert_eq!(later.changed_since(&earlier).count(), 0);
        let successor = earlier.find_successor(&BlockLabel::Step(2), &later);
        assert_eq!(successor.unwrap().label, BlockLabel::Step(3));
        let reworded = PlanBlocks::parse(&PLAN.replace("Test add", "Test add with a negative"));
        let changed: Vec<_> = reworded.changed_since(&earlier).collect();
        assert_eq!(changed.len(), 1);
        assert_eq!(
            earlier.find_successor(&BlockLabel::Step(2), &reworded),
            Some(changed[0])
        );
        let removed = PlanBlocks::parse("1. [ ] Something else entirely\n");
        assert_eq!(
            earlier.find_successor(&BlockLabel::Heading("Risks".into()), &removed),
            None
        );
    }

    #[test]
    fn a_place_is_found_by_step_heading_file_or_words() {
        let blocks = PlanBlocks::parse(PLAN);
        let find = |place: &str| {
            blocks
                .find_place(place)
                .map(|block| block.label.to_string())
        };
        for (place, expected) in [
            ("step 2", Some("step 2")),
            ("Step 1, second line", Some("step 1")),
            ("步骤2", Some("step 2")),
            ("step 9", None),
            ("## Risks", Some("\u{201c}Risks\u{201d}")),
            ("the risks section", Some("\u{201c}Risks\u{201d}")),
            ("src/sum.rs:12", Some("step 1")),
            ("overflow of i32", Some("\u{201c}Risks\u{201d}")),
            ("src/other.rs:1", None),
            ("", None),
            ("`", None),
        ] {
            assert_eq!(find(place).as_deref(), expected, "{place}");
        }
    }

    proptest::proptest! {
        #[test]
        fn splitting_is_total(text in "[0-9\\. \\[\\]xX#\n`~a界-]{0,120}") {
            let blocks = PlanBlocks::parse(&text);
            proptest::prop_assert_eq!(blocks.changed_since(&blocks).count(), 0);
            for block in blocks.all() {
                proptest::prop_assert_eq!(blocks.find_successor(&block.label, &blocks).map(|b| &b.text), Some(&block.text));
            }
        }
    }
}
