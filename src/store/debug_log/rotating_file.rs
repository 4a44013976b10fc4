//! Writes a log file of limited size: a full file is renamed, and the oldest renamed one is deleted.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::{StoreError, nofollow_fs};

/// How many old files are kept beside the current one.
const MAX_OLD_FILES: u32 = 2;

/// A file that is rotated before an entry would exceed its limit.
///
/// One write is one entry. No file exceeds the limit, except for a single entry larger than it.
#[derive(Debug)]
pub struct RotatingFile {
    path: PathBuf,
    max_size: u64,
    file: File,
    size: u64,
    n_lost: u64,
}

impl RotatingFile {
    /// Opens the file (mode 0600) for appending.
    pub fn open(path: &Path, max_size: u64) -> Result<Self, StoreError> {
        let file = nofollow_fs::open_append(path)?;
        let meta = file.metadata();
        let size = meta
            .map_err(|e| StoreError::from_io("access", path, e))?
            .len();
        Ok(Self {
            path: path.to_path_buf(),
            max_size,
            file,
            size,
            n_lost: 0,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for n in (1..MAX_OLD_FILES).rev() {
            match fs::rename(self.old_path(n), self.old_path(n + 1)) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        match fs::rename(&self.path, self.old_path(1)) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        self.file = nofollow_fs::open_append(&self.path).map_err(io::Error::other)?;
        self.size = self.file.metadata()?.len();
        Ok(())
    }

    fn old_path(&self, n: u32) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{n}"));
        self.path.with_file_name(name)
    }

    /// Reopens the file if it is another one now: another instance may have rotated a shared file, or it was
    /// moved away.
    fn reopen_if_replaced(&mut self) -> io::Result<()> {
        let own = self.file.metadata()?;
        match fs::symlink_metadata(&self.path) {
            Ok(there) if (there.dev(), there.ino()) == (own.dev(), own.ino()) => {}
            _ => self.file = nofollow_fs::open_append(&self.path).map_err(io::Error::other)?,
        }
        self.size = self.file.metadata()?.len();
        Ok(())
    }

    fn write_entry(&mut self, entry: &[u8]) -> io::Result<()> {
        self.reopen_if_replaced()?;
        if self.size > 0 && self.size + entry.len() as u64 > self.max_size {
            self.rotate()?;
        }
        let done = self.file.write_all(entry);
        self.size = match &done {
            Ok(()) => self.size + entry.len() as u64,
            // A part of it may have been written.
            Err(_) => self.file.metadata().map_or(self.size, |meta| meta.len()),
        };
        done
    }
}

impl Write for RotatingFile {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        if self.n_lost > 0 {
            let note = format!(
                "{} entries before this one could not be written\n",
                self.n_lost
            );
            if self.write_entry(note.as_bytes()).is_ok() {
                self.n_lost = 0;
            }
        }
        // A log that cannot be written must not stop the run; the note above reports the gap.
        if self.write_entry(entry).is_err() {
            self.n_lost += 1;
        }
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_file_exceeds_the_limit_by_more_than_one_entry(
            max_size in 1_u64..300,
            sizes in proptest::collection::vec(1_usize..120, 1..40),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("debug.log");
            let mut log = RotatingFile::open(&path, max_size).unwrap();
            for (index, size) in sizes.iter().enumerate() {
                if index == 20 {
                    log = RotatingFile::open(&path, max_size).unwrap();
                }
                log.write_all(&vec![b'x'; *size]).unwrap();
                let mut n_files = 0;
                for entry in fs::read_dir(dir.path()).unwrap() {
                    let len = entry.unwrap().metadata().unwrap().len();
                    prop_assert!(len <= max_size.max(120), "{} over {}", len, max_size);
                    n_files += 1;
                }
                prop_assert!(n_files <= 3);
            }
        }
    }

    #[test]
    fn two_who_write_one_file_lose_nothing_when_one_of_them_rotates_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("both.jsonl");
        let mut logs = [(); 2].map(|()| RotatingFile::open(&path, 25).unwrap());
        for n in 0..6 {
            logs[n % 2]
                .write_all(format!("entry {n}\n").as_bytes())
                .unwrap();
        }
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            (read("both.jsonl.1"), read("both.jsonl")),
            (
                "entry 0\nentry 1\nentry 2\n".to_owned(),
                "entry 3\nentry 4\nentry 5\n".to_owned()
            )
        );
    }
}
