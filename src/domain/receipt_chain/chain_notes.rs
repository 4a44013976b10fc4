//! Divides a chain into notes of commits, and puts it together again from notes (TRUTH.md T30).
//!
//! A line of a note is a receipt, as its file has it. The commit that a note belongs to and the order of its lines mean
//! nothing, so notes that git copied to other commits or merged by sorting their lines are still a whole chain.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{BreakCause, ChainBreak, ChainLink, LinkKind, to_canonical_bytes};
use crate::domain::ids::{RunId, Sha256};
use crate::domain::plan::file_hash;

/// The note of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitNote {
    /// The full id of the commit.
    pub commit: String,
    pub text: Vec<u8>,
}

/// The lines for notes, by the full ids of their commits.
pub type NoteLines = BTreeMap<String, Vec<Vec<u8>>>;

/// What the notes have of a run's chain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NotedChain {
    /// The bytes of the receipts, by their numbers.
    pub receipts: BTreeMap<u32, Vec<u8>>,
    /// What is wrong with the notes themselves.
    pub breaks: Vec<ChainBreak>,
}

/// Returns the lines for the receipts after the first `n_noted`: each belongs to the next commit of the run, and what
/// comes after the last commit to that one. Nothing before the first commit. The commit before them is there, too, even
/// without lines: an attempt that was cut off may have written some to its note.
pub fn note_lines(links: &[ChainLink], n_noted: usize) -> NoteLines {
    let mut lines = NoteLines::new();
    let mut open = Vec::new();
    let mut newest: Option<&str> = None;
    for (at, link) in links.iter().enumerate() {
        if at < n_noted {
            newest = own_commit(&link.kind).or(newest);
            continue;
        }
        if let Some(before) = newest {
            lines.entry(before.to_owned()).or_default();
        }
        open.push(to_canonical_bytes(link));
        if let Some(commit) = own_commit(&link.kind) {
            newest = Some(commit);
            let of_commit = lines.entry(commit.to_owned()).or_default();
            of_commit.append(&mut open);
        }
    }
    if let Some(newest) = newest {
        lines
            .entry(newest.to_owned())
            .or_default()
            .append(&mut open);
    }
    lines
}

/// Returns the commit of the run that a receipt stands for; the user's own commits get no note.
fn own_commit(kind: &LinkKind) -> Option<&str> {
    match kind {
        LinkKind::UsersCommits(_) => None,
        kind => kind.commits().first().map(String::as_str),
    }
}

/// The place of a receipt, whatever else is in its line.
#[derive(Deserialize)]
struct ReceiptPlace {
    run: RunId,
    number: u32,
}

/// Puts the chains of all runs together from notes.
pub fn read_notes(notes: &[CommitNote]) -> BTreeMap<RunId, NotedChain> {
    let mut chains: BTreeMap<RunId, NotedChain> = BTreeMap::new();
    for note in notes {
        let mut runs = BTreeSet::new();
        let mut unreadable = Vec::new();
        let lines = note.text.split(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<ReceiptPlace>(line) {
                Ok(ReceiptPlace { run, number }) => {
                    runs.insert(run.clone());
                    chains.entry(run).or_default().add(number, line);
                }
                Err(error) => unreadable.push(BreakCause::NoteLine {
                    commit: note.commit.clone(),
                    why: error.to_string(),
                }),
            }
        }
        for chain in chains
            .iter_mut()
            .filter_map(|(run, chain)| runs.contains(run).then_some(chain))
        {
            let breaks = unreadable.iter().cloned().map(ChainBreak::of_chain);
            chain.breaks.extend(breaks);
        }
    }
    chains
}

impl NotedChain {
    fn add(&mut self, number: u32, line: &[u8]) {
        match self.receipts.entry(number) {
            Entry::Vacant(place) => {
                place.insert(line.to_vec());
            }
            // A note that was copied says the same twice.
            Entry::Occupied(place) if place.get() == line => {}
            Entry::Occupied(_) => {
                let cause = BreakCause::TwoNotedReceipts;
                self.breaks.push(ChainBreak::of_receipt(number, cause));
            }
        }
    }

    /// Compares with the hashes of the receipts on disk, in their order. The notes may lack receipts.
    pub fn differences(&self, hashes: &[Sha256]) -> Vec<ChainBreak> {
        let here = |number: u32| hashes.get(usize::try_from(number).ok()?.checked_sub(1)?);
        let different = self.receipts.iter().filter_map(|(number, bytes)| {
            let cause = match here(*number) {
                Some(hash) if *hash == file_hash(bytes) => return None,
                Some(_) => BreakCause::OtherNotedReceipt,
                None => BreakCause::OnlyNotedReceipt,
            };
            Some(ChainBreak::of_receipt(*number, cause))
        });
        self.breaks.iter().cloned().chain(different).collect()
    }
}
