//! The guard's own copy of one file: in memory while it is small, else in a nameless file.
//!
//! Refuses to be reachable by a path, so that no other program can change it by one.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::store::{StoreError, atomic};

/// The largest copy that is held in memory, in bytes.
const SMALL: usize = 64 * 1024;
const CHUNK: usize = 64 * 1024;

/// One copy, with the exact bytes that the program wrote.
#[derive(Debug)]
pub(super) enum Copy {
    Memory(Vec<u8>),
    Side { file: File, len: u64 },
}

impl Copy {
    pub(super) fn of_bytes(bytes: &[u8], of: &Path, side: &Path) -> Result<Self, StoreError> {
        let mut copy = Self::Memory(Vec::new());
        copy.push(bytes, of, side)?;
        Ok(copy)
    }

    pub(super) fn of_reader(
        source: &mut dyn Read,
        of: &Path,
        side: &Path,
    ) -> Result<Self, StoreError> {
        let mut copy = Self::Memory(Vec::new());
        let mut chunk = vec![0; CHUNK];
        loop {
            let n = source
                .read(&mut chunk)
                .map_err(|e| StoreError::io("read", of, e))?;
            if n == 0 {
                return Ok(copy);
            }
            copy.push(&chunk[..n], of, side)?;
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Side { len, .. } => *len,
        }
    }

    pub(super) fn push(&mut self, more: &[u8], of: &Path, side: &Path) -> Result<(), StoreError> {
        let failed = |e| StoreError::io("keep a copy of", of, e);
        if let Self::Memory(bytes) = self {
            if bytes.len() + more.len() <= SMALL {
                bytes.extend_from_slice(more);
                return Ok(());
            }
            let file = tempfile::tempfile_in(side).map_err(failed)?;
            file.write_all_at(bytes, 0).map_err(failed)?;
            let len = bytes.len() as u64;
            *self = Self::Side { file, len };
        }
        if let Self::Side { file, len } = self {
            file.write_all_at(more, *len).map_err(failed)?;
            *len += more.len() as u64;
        }
        Ok(())
    }

    /// Forgets everything after the first `keep` bytes.
    pub(super) fn cut(&mut self, keep: u64) {
        match self {
            Self::Memory(bytes) => bytes.truncate(usize::try_from(keep).unwrap_or(usize::MAX)),
            Self::Side { len, .. } => *len = keep.min(*len),
        }
    }

    pub(super) fn last_byte(&self, of: &Path) -> Result<Option<u8>, StoreError> {
        let Some(at) = self.len().checked_sub(1) else {
            return Ok(None);
        };
        let mut byte = [0];
        self.read_at(&mut byte, at)
            .map_err(|e| StoreError::io("read the copy of", of, e))?;
        Ok(Some(byte[0]))
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let left = self.len().saturating_sub(at);
        let n = into.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                into[..n].copy_from_slice(bytes.get(at..at + n).unwrap_or_default());
            }
            Self::Side { file, .. } => file.read_exact_at(&mut into[..n], at)?,
        }
        Ok(n)
    }

    /// Compares with a file, byte by byte.
    pub(super) fn is_same(&self, file: &File) -> io::Result<bool> {
        if file.metadata()?.len() != self.len() {
            return Ok(false);
        }
        let (mut ours, mut theirs) = (vec![0; CHUNK], vec![0; CHUNK]);
        let mut at = 0;
        while at < self.len() {
            let n = self.read_at(&mut ours, at)?;
            match file.read_exact_at(&mut theirs[..n], at) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                Err(e) => return Err(e),
            }
            if ours[..n] != theirs[..n] {
                return Ok(false);
            }
            at += n as u64;
        }
        Ok(true)
    }

    /// Writes the copy to `path`, atomically.
    pub(super) fn restore(&self, path: &Path) -> Result<(), StoreError> {
        atomic::replace_from(path, &mut Reading { copy: self, at: 0 })
    }
}

struct Reading<'a> {
    copy: &'a Copy,
    at: u64,
}

impl Read for Reading<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.copy.read_at(into, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
