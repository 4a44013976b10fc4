//! Stores what the user wrote in the composer, for recall in later sessions: one file per repository, outside
//! of it, redacted and limited in size.
//!
//! A damaged file counts as empty. Never changes a file that a newer version of this program wrote.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::approval_store::repository_file;
use super::{StoreError, atomic_file, nofollow_fs};
use crate::text::redactor::redact_text;

const SCHEMA: u64 = 1;
/// How many texts are kept.
const MAX_TEXTS: usize = 100;
/// The maximum length of a redacted text, in bytes: more than a user can write at once.
pub const MAX_TEXT_BYTES: usize = 512 << 10;
/// The maximum size of all texts, in bytes; the newest is kept however long it is.
const MAX_TOTAL_BYTES: usize = 256 << 10;
/// In JSON each byte may take six.
const MAX_FILE_BYTES: u64 = 6 * (MAX_TEXT_BYTES as u64) + 4096;

/// Whether texts were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputHistoryFit {
    Stored,
    /// One of them is too long to be stored.
    TooLong,
}

/// The texts of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputHistoryFile {
    file: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct InputHistoryContent {
    schema: u64,
    texts: Vec<String>,
}

/// The schema number in the file.
#[derive(Debug, Default, Deserialize)]
struct SchemaHeader {
    schema: u64,
}

impl InputHistoryFile {
    /// Opens the file of a repository, by its real root, in a folder of the user's; reads nothing yet.
    pub fn new(folder: &Path, root: &Path) -> Self {
        Self {
            file: repository_file(folder, root),
        }
    }

    /// Loads the texts, oldest first.
    ///
    /// # Errors
    /// The file exists and cannot be read, or a newer version wrote it.
    pub fn load(&self) -> Result<Vec<String>, StoreError> {
        let bytes = nofollow_fs::read_limited(&self.file, MAX_FILE_BYTES)?.unwrap_or_default();
        let version: SchemaHeader = serde_json::from_slice(&bytes).unwrap_or_default();
        if version.schema > SCHEMA {
            return Err(StoreError::NewerSchema {
                path: self.file.clone(),
                found: version.schema,
                known: SCHEMA,
            });
        }
        let kept: InputHistoryContent = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(kept.texts)
    }

    /// Adds texts, redacted; the oldest are dropped if there are too many.
    ///
    /// # Errors
    /// The file cannot be read or written, or a newer version wrote it; then it stays unchanged.
    pub fn add(&self, new: &[String]) -> Result<InputHistoryFit, StoreError> {
        let mut texts = self.load()?;
        let mut whole = InputHistoryFit::Stored;
        for text in new {
            let text = redact_text(text);
            if text.len() > MAX_TEXT_BYTES {
                whole = InputHistoryFit::TooLong;
            } else if texts.last() != Some(&text) {
                texts.push(text);
            }
        }
        let mut n_bytes = 0;
        let older = texts.iter().rev().take(MAX_TEXTS).enumerate();
        let fit = older.take_while(|(n, text)| {
            n_bytes += text.len();
            *n == 0 || n_bytes <= MAX_TOTAL_BYTES
        });
        let from = texts.len() - fit.count();
        let kept = InputHistoryContent {
            schema: SCHEMA,
            texts: texts.split_off(from),
        };
        if let Some(folder) = self.file.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|error| StoreError::from_io("create", folder, error))?;
        }
        let bytes = serde_json::to_vec(&kept)
            .map_err(|error| StoreError::from_io("write", &self.file, error.into()))?;
        atomic_file::replace_file(&self.file, &bytes)?;
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn scratch() -> (tempfile::TempDir, InputHistoryFile) {
        let folder = tempfile::tempdir().unwrap();
        let written =
            InputHistoryFile::new(&folder.path().join("written"), Path::new("/repository"));
        (folder, written)
    }

    #[test]
    fn what_was_written_comes_back_without_its_secrets_and_for_nobody_else() {
        let (_folder, written) = scratch();
        assert_eq!(written.load().unwrap(), [""; 0]);
        let secret = format!("use ghp_{}", "a1B2".repeat(9));
        written
            .add(&["one\ntwo".to_owned(), secret.clone()])
            .unwrap();
        written
            .add(&["three".to_owned(), "three".to_owned()])
            .unwrap();
        let texts = written.load().unwrap();
        assert_eq!(texts.len(), 3);
        assert_eq!(
            (texts[0].as_str(), texts[2].as_str()),
            ("one\ntwo", "three")
        );
        assert!(!texts[1].contains("a1B2a1B2"), "{}", texts[1]);
        let mode = std::fs::metadata(&written.file)
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn it_stays_small_and_the_newest_stay() {
        let (_folder, written) = scratch();
        let many: Vec<String> = (0..150)
            .map(|n| format!("{n} {}", "x".repeat(8_000)))
            .collect();
        assert_eq!(written.add(&many).unwrap(), InputHistoryFit::Stored);
        let too_long = written.add(&["y".repeat(MAX_TEXT_BYTES + 1)]).unwrap();
        assert_eq!(too_long, InputHistoryFit::TooLong);
        let texts = written.load().unwrap();
        assert!(texts.len() < 40, "{}", texts.len());
        assert!(texts.last().unwrap().starts_with("149 "));
        written
            .add(&(0..150).map(|n| n.to_string()).collect::<Vec<_>>())
            .unwrap();
        assert_eq!(written.load().unwrap().len(), MAX_TEXTS);
    }

    #[test]
    fn the_newest_is_kept_however_long_it_is() {
        let (_folder, written) = scratch();
        for text in [
            "one".to_owned(),
            "\u{1}".repeat(MAX_TEXT_BYTES),
            "\"\n".repeat(MAX_TEXT_BYTES / 2),
        ] {
            assert_eq!(
                written.add(std::slice::from_ref(&text)).unwrap(),
                InputHistoryFit::Stored
            );
            assert_eq!(written.load().unwrap().last(), Some(&text));
        }
        written.add(&["two".to_owned()]).unwrap();
        assert_eq!(written.load().unwrap(), ["two"]);
    }

    #[test]
    fn what_a_newer_version_wrote_stays_as_it_is() {
        let (_folder, written) = scratch();
        written.add(&["one".to_owned()]).unwrap();
        let newer = "{\"schema\":2,\"texts\":{\"by\":[\"me\"]}}";
        std::fs::write(&written.file, newer).unwrap();
        assert!(matches!(
            written.load(),
            Err(StoreError::NewerSchema { .. })
        ));
        assert!(written.add(&["two".to_owned()]).is_err());
        assert_eq!(std::fs::read_to_string(&written.file).unwrap(), newer);
    }

    #[test]
    fn a_file_that_is_damaged_is_an_empty_one() {
        let (_folder, written) = scratch();
        written.add(&["one".to_owned()]).unwrap();
        std::fs::write(&written.file, "{").unwrap();
        assert_eq!(written.load().unwrap(), [""; 0]);
        written.add(&["two".to_owned()]).unwrap();
        assert_eq!(written.load().unwrap(), ["two"]);
    }
}
