//! The guard's own copy of one file: in memory while it is small, else in blocks of a nameless file that all share.
//!
//! Refuses to be reachable by a path, so that no other program can change it by one.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::store::{StoreError, atomic};

/// The largest copy that is held in memory, in bytes; also the size of a block.
const SMALL: usize = 64 * 1024;
const CHUNK: usize = 64 * 1024;

/// The nameless file of all copies that are not held in memory: one, however many there are.
#[derive(Debug)]
pub(super) struct Pool {
    /// The folder that it is made in when it is first needed.
    folder: PathBuf,
    file: OnceLock<File>,
    free: Mutex<Free>,
}

/// Which blocks nobody has.
#[derive(Debug, Default)]
struct Free {
    /// The first that nobody ever had.
    next: u64,
    given_back: Vec<u64>,
}

/// A block of the file; whoever drops it last gives it back.
#[derive(Debug)]
struct Block {
    n: u64,
    pool: Arc<Pool>,
}

impl Pool {
    pub(super) fn in_folder(folder: &Path) -> Arc<Self> {
        Arc::new(Self {
            folder: folder.to_path_buf(),
            file: OnceLock::new(),
            free: Mutex::default(),
        })
    }

    fn file(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = tempfile::tempfile_in(&self.folder)?;
        Ok(self.file.get_or_init(|| file))
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn block(self: &Arc<Self>) -> Arc<Block> {
        let mut free = self.free();
        let n = free.given_back.pop().unwrap_or_else(|| {
            free.next += 1;
            free.next - 1
        });
        Arc::new(Block {
            n,
            pool: Arc::clone(self),
        })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.pool.free().given_back.push(self.n);
    }
}

/// One copy, with the exact bytes that the program wrote.
#[derive(Debug)]
pub(super) enum Copy {
    Memory(Vec<u8>),
    Side(Side),
}

/// A copy in blocks. A clone has the same blocks, and what the other appends later behind its own end.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pool: Arc<Pool>,
    blocks: Vec<Arc<Block>>,
    len: u64,
    /// How often it was cut: what lies before its end is what it was only while this is the same.
    n_cuts: u64,
}

impl Copy {
    pub(super) fn of_bytes(bytes: &[u8], of: &Path, pool: &Arc<Pool>) -> Result<Self, StoreError> {
        let mut copy = Self::Memory(Vec::new());
        copy.push(bytes, of, pool)?;
        Ok(copy)
    }

    pub(super) fn of_reader(
        source: &mut dyn Read,
        of: &Path,
        pool: &Arc<Pool>,
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
            copy.push(&chunk[..n], of, pool)?;
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Side(side) => side.len,
        }
    }

    pub(super) fn push(
        &mut self,
        more: &[u8],
        of: &Path,
        pool: &Arc<Pool>,
    ) -> Result<(), StoreError> {
        let failed = |e| StoreError::io("keep a copy of", of, e);
        if let Self::Memory(bytes) = self {
            if bytes.len() + more.len() <= SMALL {
                bytes.extend_from_slice(more);
                return Ok(());
            }
            let mut side = Side {
                pool: Arc::clone(pool),
                blocks: Vec::new(),
                len: 0,
                n_cuts: 0,
            };
            side.push(bytes).map_err(failed)?;
            *self = Self::Side(side);
        }
        match self {
            Self::Side(side) => side.push(more).map_err(failed),
            Self::Memory(_) => Ok(()),
        }
    }

    /// Forgets everything after the first `keep` bytes.
    pub(super) fn cut(&mut self, keep: u64) {
        match self {
            Self::Memory(bytes) => bytes.truncate(usize::try_from(keep).unwrap_or(usize::MAX)),
            Self::Side(side) => side.cut(keep),
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

    /// Reads from `at` on, at most to the end of a block; tells how much.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                let left = bytes.get(at..).unwrap_or_default();
                let n = into.len().min(left.len());
                into[..n].copy_from_slice(&left[..n]);
                Ok(n)
            }
            Self::Side(side) => side.read_at(into, at),
        }
    }

    /// Compares with a file, byte by byte, from `from` on; what lies before that is known to be the same.
    pub(super) fn is_same_from(&self, from: u64, file: &File) -> io::Result<bool> {
        if file.metadata()?.len() != self.len() {
            return Ok(false);
        }
        let read = |into: &mut [u8], at| self.read_at(into, at);
        are_same((from, self.len()), read, file)
    }

    /// Compares with a file, byte by byte.
    pub(super) fn is_same(&self, file: &File) -> io::Result<bool> {
        self.is_same_from(0, file)
    }

    /// The copy as it is now, to be read beside whoever writes; `None` of one that is read in no time.
    pub(super) fn as_now(&self) -> Option<Side> {
        match self {
            Self::Memory(_) => None,
            Self::Side(side) => Some(side.clone()),
        }
    }

    /// How far this copy begins with what an earlier look at it held.
    pub(super) fn begins_with(&self, earlier: &Side) -> Option<u64> {
        let Self::Side(side) = self else {
            return None;
        };
        let is_one = match (side.blocks.first(), earlier.blocks.first()) {
            (Some(now), Some(then)) => Arc::ptr_eq(now, then),
            _ => false,
        };
        (is_one && side.n_cuts == earlier.n_cuts).then_some(earlier.len)
    }

    /// Writes the copy to `path`, atomically.
    pub(super) fn restore(&self, path: &Path) -> Result<(), StoreError> {
        atomic::replace_from(path, &mut Reading { copy: self, at: 0 })
    }
}

impl Side {
    fn push(&mut self, mut more: &[u8]) -> io::Result<()> {
        let file = self.pool.file()?;
        while !more.is_empty() {
            let (n, within) = place(self.len);
            if n == self.blocks.len() {
                self.blocks.push(self.pool.block());
            }
            let Some(block) = self.blocks.get(n) else {
                return Err(io::Error::other("the copy has lost a block"));
            };
            let (now, later) = more.split_at(more.len().min(SMALL - within));
            file.write_all_at(now, block.n * SMALL as u64 + within as u64)?;
            self.len += now.len() as u64;
            more = later;
        }
        Ok(())
    }

    fn cut(&mut self, keep: u64) {
        self.len = keep.min(self.len);
        self.n_cuts += 1;
        let (n, within) = place(self.len);
        self.blocks.truncate(n + usize::from(within > 0));
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let (n, within) = place(at);
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let n_bytes = into.len().min(left).min(SMALL - within);
        if let (Some(block), 1..) = (self.blocks.get(n), n_bytes) {
            let at = block.n * SMALL as u64 + within as u64;
            self.pool.file()?.read_exact_at(&mut into[..n_bytes], at)?;
        }
        Ok(n_bytes)
    }

    /// Tells whether a file begins with it; more may follow.
    pub(super) fn begins(&self, file: &File) -> io::Result<bool> {
        are_same((0, self.len), |into, at| self.read_at(into, at), file)
    }
}

/// The block of a byte and where it is in that.
fn place(at: u64) -> (usize, usize) {
    let size = SMALL as u64;
    let n = usize::try_from(at / size).unwrap_or(usize::MAX);
    (n, usize::try_from(at % size).unwrap_or_default())
}

fn are_same(
    (from, to): (u64, u64),
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
    file: &File,
) -> io::Result<bool> {
    let (mut ours, mut theirs) = (vec![0; CHUNK], vec![0; CHUNK]);
    let mut at = from;
    while at < to {
        let n = match read(&mut ours, at)? {
            0 => return Ok(false),
            n => n.min(usize::try_from(to - at).unwrap_or(usize::MAX)),
        };
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
