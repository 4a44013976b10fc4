//! Stores the receipts of a run under `receipts/<run>/`: `0001.json` and so on, and what checks printed in `outputs/`.
//!
//! [`ReceiptLog`] is the one writer and goes through the guard. Readers need no lock and check the chain themselves.

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::nofollow_fs::{self, PathKind};
use super::workdir_layout::id_to_file_name;
use super::{StoreError, TamperGuard, WorkdirLayout};
use crate::domain::ids::{RunId, Sha256, UnixMillis};
use crate::domain::plan::file_hash;
use crate::domain::receipt::TestOutcome;
use crate::domain::receipt_chain::{
    ChainBreak, ChainLink, CheckLink, LinkKind, check_chain, to_canonical_bytes,
};
use crate::text::pluralize;

/// The maximum size of a receipt, in bytes: one of a check names all its tests.
const MAX_RECEIPT_BYTES: u64 = 16 * 1024 * 1024;
/// The maximum size of a stored output, in bytes; a longer one is cut in its middle.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// How much of the beginning of a longer output is kept, in bytes.
const OUTPUT_START_BYTES: usize = 256 * 1024;
/// The maximum number of receipts of a run that are read.
const MAX_RECEIPTS: usize = 100_000;

/// Why a receipt was not written.
#[derive(Debug, Error)]
pub enum ReceiptError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is on disk is not a whole chain; the breaks say where.
    #[error("the receipts in {} are not a whole chain: {}", folder.display(), join_breaks(breaks))]
    Broken {
        folder: PathBuf,
        breaks: Vec<ChainBreak>,
    },
    /// The last receipt on disk is not the one that the next receipt belongs after.
    #[error("{} is not the last receipt of the run any more", path.display())]
    OtherPredecessor { path: PathBuf },
    /// Something else wrote the next receipt.
    #[error("{} exists already", path.display())]
    Occupied { path: PathBuf },
}

/// Names the first break and says how many there are.
fn join_breaks(breaks: &[ChainBreak]) -> String {
    let first = breaks.first().map(ToString::to_string).unwrap_or_default();
    match breaks.len() {
        0 | 1 => first,
        n => format!("{first}; and {} more", n - 1),
    }
}

impl ReceiptError {
    /// Suggests what the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Store(error) => error.hint(),
            Self::Broken { .. } | Self::OtherPredecessor { .. } | Self::Occupied { .. } => {
                "`agent-collab verify` names every break; restore the files, or start with --new"
                    .to_owned()
            }
        }
    }
}

/// The number and the hash of a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptReference {
    /// Its number in the chain, from 1.
    pub number: u32,
    pub sha256: Sha256,
}

/// The receipts of a run, to append to.
#[derive(Debug)]
pub struct ReceiptLog {
    guard: TamperGuard,
    run: RunId,
    links: Vec<ChainLink>,
    head: Option<Sha256>,
}

impl ReceiptLog {
    /// Opens the chain of a run, which may have no receipts yet. Receipts that a crash wrote and the event log does not
    /// name are part of it: the caller compares [`ReceiptLog::head`].
    ///
    /// # Errors
    /// The files cannot be read, or are not a whole chain of this run.
    pub fn open(guard: &TamperGuard, run: &RunId) -> Result<Self, ReceiptError> {
        let files = load_receipts(guard.layout(), run)?;
        let folder = guard.layout().receipts_folder(run);
        let links = check_chain(&files, None).map_err(|breaks| ReceiptError::Broken {
            folder: folder.clone(),
            breaks,
        })?;
        if let Some(first) = links.first()
            && first.run != *run
        {
            let path = folder.join(receipt_file_name(1));
            return Err(ReceiptError::OtherPredecessor { path });
        }
        Ok(Self {
            guard: guard.clone(),
            run: run.clone(),
            links,
            head: files.last().map(|bytes| file_hash(bytes)),
        })
    }

    /// Returns the hash of the last receipt; `None` before the first.
    pub fn head(&self) -> Option<&Sha256> {
        self.head.as_ref()
    }

    /// Returns all receipts, in order.
    pub fn links(&self) -> &[ChainLink] {
        &self.links
    }

    /// Appends a receipt, atomically and durably. After an error, open the log again.
    ///
    /// # Errors
    /// The disk fails, the receipt is too large, or the files on disk are not those that this log wrote and read.
    pub fn append(
        &mut self,
        at: UnixMillis,
        kind: LinkKind,
    ) -> Result<ReceiptReference, ReceiptError> {
        let n_before = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
        self.check_predecessor(n_before)?;
        let link = ChainLink {
            run: self.run.clone(),
            number: n_before.saturating_add(1),
            previous: self.head.clone(),
            at,
            kind,
        };
        let bytes = to_canonical_bytes(&link);
        let path = self.receipt_path(link.number);
        if bytes.len() as u64 > MAX_RECEIPT_BYTES {
            let limit = MAX_RECEIPT_BYTES;
            return Err(StoreError::TooLarge { path, limit }.into());
        }
        // A file that the guard does not know is moved to `history/` by the write.
        if self.guard.len(&path).is_some() {
            return Err(ReceiptError::Occupied { path });
        }
        self.guard.replace(&path, &bytes)?;
        let sha256 = file_hash(&bytes);
        let number = link.number;
        self.links.push(link);
        self.head = Some(sha256.clone());
        Ok(ReceiptReference { number, sha256 })
    }

    fn check_predecessor(&self, number: u32) -> Result<(), ReceiptError> {
        if self.head.is_none() {
            return Ok(());
        }
        let path = self.receipt_path(number);
        let found = nofollow_fs::read_limited(&path, MAX_RECEIPT_BYTES)?;
        if found.map(|bytes| file_hash(&bytes)) == self.head {
            Ok(())
        } else {
            Err(ReceiptError::OtherPredecessor { path })
        }
    }

    fn receipt_path(&self, number: u32) -> PathBuf {
        let folder = self.guard.layout().receipts_folder(&self.run);
        folder.join(receipt_file_name(number))
    }

    /// Stores what a check printed, and returns its hash for the receipt. `text` is already free of secrets. Of a long
    /// text the middle is left out. The same text is stored once.
    ///
    /// # Errors
    /// The disk fails.
    pub fn save_output(&self, text: &str) -> Result<Sha256, ReceiptError> {
        let text = shorten_output(text);
        let sha256 = file_hash(text.as_bytes());
        let path = output_path(self.guard.layout(), &self.run, &sha256);
        if self.guard.len(&path).is_none() {
            self.guard.replace(&path, text.as_bytes())?;
        }
        Ok(sha256)
    }

    /// Finds the last check of a command on a tree in an environment whose result can be used again: it ran to its end.
    /// Returns its number, too.
    pub fn find_check(
        &self,
        tree: &str,
        command: &str,
        environment_sha256: &Sha256,
    ) -> Option<(u32, &CheckLink)> {
        self.links.iter().rev().find_map(|link| match &link.kind {
            LinkKind::Check(check)
                if check.tree == tree
                    && check.command == command
                    && check.environment_sha256 == *environment_sha256
                    && is_reusable(&check.outcome) =>
            {
                Some((link.number, check))
            }
            _ => None,
        })
    }
}

fn is_reusable(outcome: &TestOutcome) -> bool {
    match outcome {
        TestOutcome::Passed
        | TestOutcome::Failed
        | TestOutcome::NoTests
        | TestOutcome::NoCommand => true,
        TestOutcome::TimedOut | TestOutcome::NotStarted(_) => false,
    }
}

/// Leaves out the middle of an output that is too long.
fn shorten_output(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= MAX_OUTPUT_BYTES {
        return text.into();
    }
    let start = text.floor_char_boundary(OUTPUT_START_BYTES);
    // The note between the two parts has room, too.
    let end = text.ceil_char_boundary(text.len() + OUTPUT_START_BYTES + 64 - MAX_OUTPUT_BYTES);
    let left_out = pluralize(end - start, "byte");
    format!(
        "{}\n… {left_out} left out …\n{}",
        &text[..start],
        &text[end..]
    )
    .into()
}

fn receipt_file_name(number: u32) -> String {
    format!("{number:04}.json")
}

fn output_path(layout: &WorkdirLayout, run: &RunId, sha256: &Sha256) -> PathBuf {
    // The hash may come from a file that somebody changed, so it is made a plain name.
    let name = format!("{}.txt", id_to_file_name(sha256.as_str()));
    layout.receipts_folder(run).join("outputs").join(name)
}

/// Lists the runs that have receipts in a work directory.
///
/// # Errors
/// The directory cannot be read, or is none.
pub fn list_runs(layout: &WorkdirLayout) -> Result<Vec<RunId>, StoreError> {
    let mut runs = Vec::new();
    let folder = layout.receipts();
    for name in list_names(&folder)? {
        if nofollow_fs::path_kind(&folder.join(&name))? == PathKind::Directory {
            runs.push(RunId::new(name));
        }
    }
    runs.sort();
    Ok(runs)
}

/// Loads the bytes of a run's receipts in the order of their numbers. Does not check them.
///
/// # Errors
/// A file cannot be read, is too large, or is no plain file.
pub fn load_receipts(layout: &WorkdirLayout, run: &RunId) -> Result<Vec<Vec<u8>>, StoreError> {
    check_is_folder(&layout.receipts())?;
    let folder = layout.receipts_folder(run);
    let mut numbers: Vec<u32> = list_names(&folder)?
        .iter()
        .filter_map(|name| parse_receipt_name(name))
        .collect();
    numbers.sort_unstable();
    numbers.truncate(MAX_RECEIPTS);
    let mut files = Vec::with_capacity(numbers.len());
    for number in numbers {
        let path = folder.join(receipt_file_name(number));
        // One that is gone by now is a gap, which the check of the chain finds.
        files.extend(nofollow_fs::read_limited(&path, MAX_RECEIPT_BYTES)?);
    }
    Ok(files)
}

/// Loads what a check printed; `None` if it is not there.
///
/// # Errors
/// The file cannot be read, is too large, or is no plain file.
pub fn load_output(
    layout: &WorkdirLayout,
    run: &RunId,
    sha256: &Sha256,
) -> Result<Option<Vec<u8>>, StoreError> {
    let path = output_path(layout, run, sha256);
    if let Some(folder) = path.parent() {
        check_is_folder(folder)?;
    }
    nofollow_fs::read_limited(&path, MAX_OUTPUT_BYTES as u64)
}

/// Parses the name of a receipt's file; a temporary file that a crash left has another name.
fn parse_receipt_name(name: &str) -> Option<u32> {
    let number = name.strip_suffix(".json")?.parse().ok()?;
    (receipt_file_name(number) == name).then_some(number)
}

/// Checks that a directory is missing or plain.
fn check_is_folder(path: &Path) -> Result<(), StoreError> {
    match nofollow_fs::path_kind(path)? {
        PathKind::Missing | PathKind::Directory => Ok(()),
        found @ (PathKind::File | PathKind::Symlink | PathKind::Other) => {
            Err(StoreError::UnexpectedFileType {
                path: path.to_path_buf(),
                found: found.label(),
                expected: "a directory",
            })
        }
    }
}

fn list_names(folder: &Path) -> Result<Vec<String>, StoreError> {
    check_is_folder(folder)?;
    if nofollow_fs::path_kind(folder)? == PathKind::Missing {
        return Ok(Vec::new());
    }
    let failed = |error| StoreError::from_io("list", folder, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.extend(entry.map_err(failed)?.file_name().into_string());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::super::test_repo::TestRepo;
    use super::*;
    use crate::domain::receipt_chain::read_chain;
    use crate::domain::receipt_chain::tests::{approval, check};
    use crate::domain::step_proof::ProofCell;

    fn run() -> RunId {
        RunId::new("run_1")
    }

    /// Creates a log with an approval and two checks.
    fn small_log(guard: &TamperGuard) -> ReceiptLog {
        let mut log = ReceiptLog::open(guard, &run()).unwrap();
        log.append(UnixMillis(1), approval("p", None)).unwrap();
        for tree in ["t0", "t1"] {
            log.save_output(tree).unwrap();
            let check = check(1, ProofCell::Green, tree, tree);
            log.append(UnixMillis(2), LinkKind::Check(check)).unwrap();
        }
        log
    }

    fn receipt(place: &TestRepo, number: u32) -> PathBuf {
        let folder = place.layout.receipts_folder(&run());
        folder.join(receipt_file_name(number))
    }

    #[test]
    fn receipts_are_files_that_the_guard_knows_and_that_open_again() {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let log = small_log(&guard);
        assert!(receipt(&place, 3).is_file());
        assert_eq!(guard.check_and_restore().unwrap(), []);
        let again = ReceiptLog::open(&place.open_guard(), &run()).unwrap();
        assert_eq!((again.links(), again.head()), (log.links(), log.head()));
        assert_eq!(list_runs(&place.layout).unwrap(), [run()]);
        let other = ReceiptLog::open(&guard, &RunId::new("run_2")).unwrap();
        assert_eq!((other.links(), other.head()), (&[][..], None));
    }

    #[test]
    fn a_receipt_that_another_process_changes_is_restored() {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let _log = small_log(&guard);
        let before = fs::read(receipt(&place, 2)).unwrap();
        fs::write(receipt(&place, 2), "{}").unwrap();
        fs::write(receipt(&place, 4), "{}").unwrap();
        assert_eq!(guard.check_and_restore().unwrap().len(), 2);
        assert_eq!(fs::read(receipt(&place, 2)).unwrap(), before);
        assert!(!receipt(&place, 4).exists());
    }

    #[test]
    fn an_append_needs_its_predecessor_as_it_was_written() {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let mut log = small_log(&guard);
        let before = fs::read(receipt(&place, 3)).unwrap();
        let refused = |log: &mut ReceiptLog| {
            let error = log.append(UnixMillis(9), approval("q", None)).unwrap_err();
            assert!(
                matches!(error, ReceiptError::OtherPredecessor { .. }),
                "{error}"
            );
            assert!(!receipt(&place, 4).exists());
        };
        fs::write(receipt(&place, 3), "{}").unwrap();
        refused(&mut log);
        fs::remove_file(receipt(&place, 3)).unwrap();
        refused(&mut log);
        fs::write(receipt(&place, 3), before).unwrap();
        let reference = log.append(UnixMillis(9), approval("q", None)).unwrap();
        assert_eq!((reference.number, Some(&reference.sha256)), (4, log.head()));
        // A second log of the same run is behind.
        let mut behind = ReceiptLog::open(&guard, &run()).unwrap();
        log.append(UnixMillis(10), approval("r", None)).unwrap();
        let error = behind.append(UnixMillis(10), approval("s", None));
        assert!(
            matches!(error, Err(ReceiptError::Occupied { .. })),
            "{error:?}"
        );
    }

    #[test]
    fn a_broken_chain_does_not_open_and_a_link_is_not_followed() {
        let place = TestRepo::new();
        let _log = small_log(&place.open_guard());
        let (second, aside) = (receipt(&place, 2), place.layout.workdir().join("aside"));
        fs::rename(&second, &aside).unwrap();
        let error = ReceiptLog::open(&place.open_guard(), &run()).unwrap_err();
        assert!(matches!(error, ReceiptError::Broken { .. }), "{error}");
        std::os::unix::fs::symlink(&aside, &second).unwrap();
        let error = load_receipts(&place.layout, &run()).unwrap_err();
        assert!(error.to_string().contains("is a symbolic link"), "{error}");
    }

    #[test]
    fn what_a_crash_left_unfinished_is_no_receipt() {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let log = small_log(&guard);
        let folder = place.layout.receipts_folder(&run());
        for name in [".agent-collab-x.tmp", "4.json", "0004.json.tmp", "0004"] {
            fs::write(folder.join(name), "{").unwrap();
        }
        let files = load_receipts(&place.layout, &run()).unwrap();
        assert_eq!(read_chain(&files, log.head()).breaks, []);
    }

    #[test]
    fn an_output_is_stored_once_and_a_long_one_without_its_middle() {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let log = small_log(&guard);
        let first = log.save_output("same").unwrap();
        assert_eq!(log.save_output("same").unwrap(), first);
        let load = |sha256: &Sha256| load_output(&place.layout, &run(), sha256).unwrap();
        assert_eq!(load(&first).as_deref(), Some(&b"same"[..]));
        assert_eq!(load(&Sha256::new("../0001")), None);
        let long = log
            .save_output(&format!("begin {} end", "ü".repeat(MAX_OUTPUT_BYTES)))
            .unwrap();
        let bytes = load(&long).unwrap();
        assert_eq!(file_hash(&bytes), long);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("begin ü") && text.ends_with("ü end"));
        assert!(text.contains(" bytes left out …"));
        assert_eq!(guard.check_and_restore().unwrap(), []);
    }

    #[test]
    fn a_check_is_found_again_by_its_tree_command_and_environment() {
        let place = TestRepo::new();
        let mut log = small_log(&place.open_guard());
        for outcome in [
            TestOutcome::TimedOut,
            TestOutcome::NotStarted("no".to_owned()),
        ] {
            let check = CheckLink {
                outcome,
                ..check(2, ProofCell::Baseline, "t1", "")
            };
            log.append(UnixMillis(5), LinkKind::Check(check)).unwrap();
        }
        let environment = file_hash(b"environment");
        let find = |tree: &str, command: &str, environment: &Sha256| {
            log.find_check(tree, command, environment)
                .map(|(number, _)| number)
        };
        assert_eq!(find("t1", "node --test", &environment), Some(3));
        assert_eq!(find("t0", "node --test", &environment), Some(2));
        assert_eq!(find("t2", "node --test", &environment), None);
        assert_eq!(find("t1", "npm test", &environment), None);
        assert_eq!(find("t1", "node --test", &file_hash(b"other")), None);
    }
}
