//! Large pastes in the composer: the text shows one mark for each, and the pasted text is stored beside it.
//!
//! A mark is either complete or removed.

/// The number of lines from which a paste becomes a mark.
const MIN_CHIP_LINES: usize = 8;
/// The number of bytes from which a paste becomes a mark.
const MIN_CHIP_BYTES: usize = 1_000;

/// The pasted texts that are shown as marks.
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
    /// Stores a pasted text if it is large; returns the mark that represents it.
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

    /// Returns the total size of the pasted texts whose marks are in a line.
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

    /// Replaces the marks with their pasted texts.
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

    /// Returns the mark that contains or touches a position: its start and end, in characters.
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
        // A mark inside a pasted text is ordinary text.
        let quoting = chips
            .add_paste(&format!("{mark}{}", "\n".repeat(9)))
            .unwrap();
        assert!(chips.expand_marks(quoting).starts_with(&mark));
        assert_eq!(chips.chip_at(&format!("é{mark}"), 1), Some((1, 19)));
        assert_eq!(chips.chip_at(&format!("é{mark}"), 0), None);
    }
}
