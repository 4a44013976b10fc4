//! Appends to the run's log for people, `log.md`; existing entries are never changed or reordered.

use super::{StoreError, TamperGuard};

/// Appends entries to `log.md`.
#[derive(Debug, Clone)]
pub struct RunLog {
    guard: TamperGuard,
}

impl RunLog {
    /// Prepares the log; touches no file yet.
    pub fn new(guard: &TamperGuard) -> Self {
        Self {
            guard: guard.clone(),
        }
    }

    /// Appends one entry, durably; it starts on a line of its own and ends with a line end.
    pub fn append_entry(&self, text: &str) -> Result<(), StoreError> {
        let path = self.guard.layout().log();
        let mut entry = String::with_capacity(text.len() + 2);
        if self
            .guard
            .last_byte(&path)?
            .is_some_and(|byte| byte != b'\n')
        {
            entry.push('\n');
        }
        entry.push_str(text);
        if !text.ends_with('\n') {
            entry.push('\n');
        }
        self.guard.append(&path, entry.as_bytes())?;
        self.guard.sync(&path)
    }

    /// Appends what is missing of an entry that a crash may have cut off. `log` is the present content.
    pub fn complete_entry(&self, log: &[u8], entry: &str) -> Result<(), StoreError> {
        let entry_bytes = entry.as_bytes();
        if memchr::memmem::find(log, entry_bytes).is_some() {
            return Ok(());
        }
        // Line ends alone are no start of it: the entry before ends with one, too.
        let is_torn_start = |length: &usize| {
            let start = &entry_bytes[..*length];
            log.ends_with(start) && start.iter().any(|byte| *byte != b'\n')
        };
        let Some(length) = (1..entry_bytes.len()).rev().find(is_torn_start) else {
            return self.append_entry(entry);
        };
        let path = self.guard.layout().log();
        self.guard.append(&path, &entry_bytes[length..])?;
        self.guard.sync(&path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::super::test_repo::TestRepo;
    use super::*;

    #[test]
    fn an_entry_that_was_cut_off_anywhere_is_completed_and_stays_one() {
        let before = "\n# A goal\n\n- resumed\n";
        let entry = "\n## Schritt 1: größer 中\n\n- done\n";
        for length in 0..=entry.len() {
            let place = TestRepo::new();
            let torn = [before.as_bytes(), &entry.as_bytes()[..length]].concat();
            fs::write(place.layout.log(), &torn).unwrap();
            let log = RunLog::new(&place.open_guard());
            log.complete_entry(&torn, entry).unwrap();
            let found = fs::read_to_string(place.layout.log()).unwrap();
            // A line end alone is not taken for a start of the entry.
            let blank = if length == 1 { "\n" } else { "" };
            assert_eq!(found, format!("{before}{blank}{entry}"), "cut at {length}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_earlier_content_is_a_prefix_of_every_later_one(
            torn in ".{0,20}",
            entries in proptest::collection::vec(".{0,40}\n?", 1..6),
        ) {
            let place = TestRepo::new();
            fs::write(place.layout.log(), &torn).unwrap();
            let mut before = torn;
            let mut log = RunLog::new(&place.open_guard());
            for (index, entry) in entries.iter().enumerate() {
                log.append_entry(entry).unwrap();
                let now = fs::read_to_string(place.layout.log()).unwrap();
                prop_assert!(now.starts_with(&before) && now.ends_with('\n'));
                prop_assert!(now.len() >= before.len() + entry.len());
                before = now;
                if index == 2 {
                    log = RunLog::new(&place.open_guard());
                }
            }
        }
    }
}
