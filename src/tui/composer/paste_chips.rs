//! Large pastes in the composer: one mark each in the text, the text itself beside it.
//!
//! Refuses to know the text area: it is told lines and places. A mark is whole or gone.

/// From how many lines on a paste becomes a mark.
const MIN_CHIP_LINES: usize = 8;
/// From how many bytes on.
const MIN_CHIP_BYTES: usize = 1_000;

/// What was pasted and stands in the text as a mark.
#[derive(Debug, Default)]
pub struct PasteChips {
    all: Vec<PasteChip>,
    n_made: usize,
}

#[derive(Debug)]
struct PasteChip {
    mark: String,
    text: String,
}

impl PasteChips {
    /// Takes a pasted text where it is large; gives the mark that stands for it.
    pub fn add_paste(&mut self, text: &str) -> Option<String> {
        let n_lines = text.lines().count();
        if n_lines < MIN_CHIP_LINES && text.len() < MIN_CHIP_BYTES {
            return None;
        }
        self.n_made += 1;
        let size = match n_lines {
            0 | 1 => format!("{} characters", text.chars().count()),
            n => format!("{n} lines"),
        };
        let mark = format!("[paste {}: {size}]", self.n_made);
        self.all.push(PasteChip {
            mark: mark.clone(),
            text: text.to_owned(),
        });
        Some(mark)
    }

    /// How many bytes the pasted texts have whose marks stand in a line.
    pub fn n_bytes(&self, line: &str) -> usize {
        if !line.contains("[paste ") {
            return 0;
        }
        let stands = |chip: &&PasteChip| line.contains(&chip.mark);
        self.all
            .iter()
            .filter(stands)
            .map(|chip| chip.text.len())
            .sum()
    }

    /// Puts the pasted texts in the places of their marks.
    pub fn expand_marks(&self, text: String) -> String {
        if self.all.is_empty() {
            return text;
        }
        let mut out = String::with_capacity(text.len() + self.n_bytes(&text));
        let mut rest = text.as_str();
        while let Some((at, chip)) = self.find_first(rest) {
            out.push_str(&rest[..at]);
            out.push_str(&chip.text);
            rest = &rest[at + chip.mark.len()..];
        }
        out.push_str(rest);
        out
    }

    fn find_first(&self, text: &str) -> Option<(usize, &PasteChip)> {
        let found = |chip: &'_ PasteChip| text.find(&chip.mark);
        self.all
            .iter()
            .filter_map(|chip| found(chip).map(|at| (at, chip)))
            .min_by_key(|(at, _)| *at)
    }

    /// The mark of a line that a place lies in or at the edge of: where it begins and ends, in characters.
    pub fn chip_at(&self, line: &str, place: usize) -> Option<(usize, usize)> {
        self.all.iter().find_map(|chip| {
            line.match_indices(&chip.mark).find_map(|(at, mark)| {
                let from = line[..at].chars().count();
                let to = from + mark.chars().count();
                (from <= place && place <= to).then_some((from, to))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_paste_is_a_mark_and_a_small_one_is_not() {
        let mut chips = PasteChips::default();
        assert_eq!(chips.add_paste("two\nlines"), None);
        let long = "行\n".repeat(9);
        let mark = chips.add_paste(&long).unwrap();
        assert_eq!(mark, "[paste 1: 9 lines]");
        let again = chips.add_paste(&"x".repeat(1_000)).unwrap();
        assert_eq!(again, "[paste 2: 1000 characters]");
        let text = format!("a {mark} b {again}");
        assert_eq!(
            chips.expand_marks(text),
            format!("a {long} b {}", "x".repeat(1_000))
        );
        // A mark within a pasted text is text.
        let quoting = chips
            .add_paste(&format!("{mark}{}", "\n".repeat(9)))
            .unwrap();
        assert!(chips.expand_marks(quoting).starts_with(&mark));
        assert_eq!(chips.chip_at(&format!("é{mark}"), 1), Some((1, 19)));
        assert_eq!(chips.chip_at(&format!("é{mark}"), 0), None);
    }
}
