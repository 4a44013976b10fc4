//! Stores the raw stream of one session: the output lines of its CLI, redacted and limited in size.
//!
//! No line is stored without redaction. It keeps one older file, and notes in the new one what is gone.

use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{StoreError, TamperGuard, WorkdirLayout, nofollow_fs};

/// The file of the stream; the previous one has `.1` appended.
pub(super) const RAW_FILE_NAME: &str = "raw.jsonl";
const OLD_RAW_FILE_NAME: &str = "raw.jsonl.1";

/// Makes a line fit for storage: removes secrets and control sequences.
pub type LineCleaner = Box<dyn Fn(&str) -> String + Send + Sync>;

/// Writes `raw.jsonl` and, when that is full, moves it to `raw.jsonl.1`.
pub struct RawStream {
    guard: TamperGuard,
    path: PathBuf,
    limit: u64,
    clean: LineCleaner,
    n_lost_bytes: u64,
    /// The length of the file, once it was read.
    file_len: Option<u64>,
    /// Lines that are not written yet.
    buffer: String,
}

/// How much is buffered before it is written, in bytes.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

impl fmt::Debug for RawStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawStream")
            .field("path", &self.path)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl RawStream {
    pub(super) fn new(guard: &TamperGuard, path: PathBuf, limit: u64, clean: LineCleaner) -> Self {
        Self {
            guard: guard.clone(),
            path,
            limit,
            clean,
            n_lost_bytes: 0,
            file_len: None,
            buffer: String::new(),
        }
    }

    /// Adds one line (without its end), redacted; it is written with the next [`RawStream::flush`], or before
    /// it if many lines are buffered.
    ///
    /// A line that is longer than a whole file may be is cut and followed by a line
    /// `{"agent_collab":"cut","bytes":…}` with the number of bytes left out.
    pub fn push(&mut self, line: &str) -> Result<(), StoreError> {
        let mut text = (self.clean)(line);
        if text.contains('\n') || text.contains('\r') {
            text = text.replace(['\n', '\r'], " ");
        }
        let most = usize::try_from(self.limit / 2).unwrap_or(usize::MAX);
        let kept = text.floor_char_boundary(most);
        let n_cut = text.len() - kept;
        text.truncate(kept);
        text.push('\n');
        if n_cut > 0 {
            text.push_str(&format!("{{\"agent_collab\":\"cut\",\"bytes\":{n_cut}}}\n"));
        }
        let written = match self.file_len {
            Some(written) => written,
            None => self.guard.len(&self.path).unwrap_or(0),
        };
        self.file_len = Some(written);
        let len = written + self.buffer.len() as u64;
        if len > 0 && len + text.len() as u64 > self.limit {
            self.flush()?;
            self.rotate()?;
        }
        self.buffer.push_str(&text);
        match self.buffer.len() {
            0..MAX_BUFFER_BYTES => Ok(()),
            MAX_BUFFER_BYTES.. => self.flush(),
        }
    }

    /// Writes the buffered lines; what cannot be written is dropped with the error.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        // An incomplete line from a crash must not swallow the line that follows it.
        let torn = self
            .guard
            .last_byte(&self.path)?
            .is_some_and(|byte| byte != b'\n');
        if torn {
            self.buffer.insert(0, '\n');
        }
        let done = self.guard.append(&self.path, self.buffer.as_bytes());
        self.buffer.clear();
        self.file_len = None;
        done
    }

    fn rotate(&mut self) -> Result<(), StoreError> {
        let old = self.path.with_file_name(OLD_RAW_FILE_NAME);
        self.n_lost_bytes += self.guard.len(&old).unwrap_or(0);
        self.guard.rotate(&self.path, &old)?;
        let note = format!(
            "{{\"agent_collab\":\"rotated\",\"before\":\"{OLD_RAW_FILE_NAME}\",\"lost_bytes\":{}}}\n",
            self.n_lost_bytes
        );
        self.file_len = None;
        self.guard.append(&self.path, note.as_bytes())
    }
}

/// Applies a function to the lines in all raw streams of a run that contain a text, in order within each
/// stream, and returns its last result; returns nothing if it is cancelled. Keeps one line in memory at a
/// time.
///
/// # Errors
/// A stream exists and cannot be read.
pub fn find_last_match<T>(
    layout: &WorkdirLayout,
    text: &str,
    is_wanted: impl Fn() -> bool,
    mut make: impl FnMut(&str) -> Option<T>,
) -> Result<Option<T>, StoreError> {
    let mut last = None;
    let finder = memchr::memmem::Finder::new(text.as_bytes());
    for folder in list_session_folders(&layout.sessions())? {
        for name in [OLD_RAW_FILE_NAME, RAW_FILE_NAME] {
            let path = folder.join(name);
            let Some(file) = nofollow_fs::open_read(&path)? else {
                continue;
            };
            let mut lines = BufReader::new(file);
            let mut line = Vec::new();
            loop {
                if !is_wanted() {
                    return Ok(None);
                }
                line.clear();
                let n_read = lines.read_until(b'\n', &mut line);
                if n_read.map_err(|error| StoreError::from_io("read", &path, error))? == 0 {
                    break;
                }
                if finder.find(&line).is_some() {
                    let line = String::from_utf8_lossy(&line);
                    last = make(line.trim_end()).or(last);
                }
            }
        }
    }
    Ok(last)
}

fn list_session_folders(sessions: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let failed = |error| StoreError::from_io("list", sessions, error);
    let entries = match fs::read_dir(sessions) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::SessionFiles;
    use super::super::test_repo::TestRepo;
    use super::*;
    use crate::domain::ids::SessionId;

    fn check(limit: u64, lines: &[&str], expected: &[&str]) {
        let place = TestRepo::new();
        let guard = place.open_guard();
        let id = SessionId::new("ses_a");
        let clean: LineCleaner = Box::new(|line| line.replace("secret", "[redacted]"));
        let mut raw = SessionFiles::new(&guard, &id).open_raw_stream(limit, clean);
        for line in lines {
            raw.push(line).unwrap();
        }
        raw.flush().unwrap();
        let dir = place.layout.session_folder(&id);
        let text = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
        assert_eq!([text("raw.jsonl.1"), text("raw.jsonl")], expected);
        let mode = fs::metadata(dir.join("raw.jsonl"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(guard.check_and_restore().unwrap(), []);
    }

    #[test]
    fn lines_are_cleaned_and_private() {
        check(
            1000,
            &["a secret b", "c\nd"],
            &["", "a [redacted] b\nc d\n"],
        );
    }

    #[test]
    fn a_full_stream_keeps_one_older_file_and_says_what_is_gone() {
        let line = "x".repeat(60);
        let whole = format!("{line}\n");
        let note = |n: u64| {
            format!(
                "{{\"agent_collab\":\"rotated\",\"before\":\"raw.jsonl.1\",\"lost_bytes\":{n}}}\n"
            )
        };
        let before = format!("{}{line}\n", note(0));
        check(
            130,
            &[line.as_str(); 4],
            &[&before, &format!("{}{line}\n", note(122))],
        );
        check(130, &[line.as_str(); 2], &["", &format!("{whole}{whole}")]);
    }

    #[test]
    fn an_endless_line_is_cut_and_the_cut_is_marked() {
        check(
            100,
            &[&"é".repeat(100)],
            &[
                "",
                &format!(
                    "{}\n{{\"agent_collab\":\"cut\",\"bytes\":150}}\n",
                    "é".repeat(25)
                ),
            ],
        );
    }
}
