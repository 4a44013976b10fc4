//! Stores the guard's own copy of one file: in memory while it is small, else in blocks of a shared nameless
//! file.
//!
//! No path leads to that file, so no other program can change it by one.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::store::{StoreError, atomic_file};

/// The maximum size of a copy in memory, in bytes; also the size of a block.
const BLOCK_BYTES: usize = 64 * 1024;
const CHUNK_BYTES: usize = 64 * 1024;

/// The nameless file with all copies that are not in memory: a single file, however many copies there are.
#[derive(Debug)]
pub(super) struct BlockPool {
    /// The folder in which it is created when it is first needed.
    folder: PathBuf,
    file: OnceLock<File>,
    free: Mutex<FreeBlocks>,
}

/// The blocks that are not in use.
#[derive(Debug, Default)]
struct FreeBlocks {
    /// The first block that was never used.
    next: u64,
    returned: Vec<u64>,
}

/// A block of the file; dropping the last reference frees it.
#[derive(Debug)]
struct PoolBlock {
    n: u64,
    pool: Arc<BlockPool>,
}

impl BlockPool {
    pub(super) fn in_folder(folder: &Path) -> Arc<Self> {
        Arc::new(Self {
            folder: folder.to_path_buf(),
            file: OnceLock::new(),
            free: Mutex::default(),
        })
    }

    fn open_file(&self) -> io::Result<&File> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let file = tempfile::tempfile_in(&self.folder)?;
        Ok(self.file.get_or_init(|| file))
    }

    fn lock_free_blocks(&self) -> std::sync::MutexGuard<'_, FreeBlocks> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allocate_block(self: &Arc<Self>) -> Arc<PoolBlock> {
        let mut free = self.lock_free_blocks();
        let n = free.returned.pop().unwrap_or_else(|| {
            free.next += 1;
            free.next - 1
        });
        Arc::new(PoolBlock {
            n,
            pool: Arc::clone(self),
        })
    }
}

impl Drop for PoolBlock {
    fn drop(&mut self) {
        self.pool.lock_free_blocks().returned.push(self.n);
    }
}

/// One copy, with the exact bytes that the program wrote.
#[derive(Debug)]
pub(super) enum GuardCopy {
    Memory(Vec<u8>),
    Blocks(BlockCopy),
}

/// A copy in blocks. A clone shares the blocks; what the original appends later is after the clone's own end.
#[derive(Debug, Clone)]
pub(super) struct BlockCopy {
    pool: Arc<BlockPool>,
    blocks: Vec<Arc<PoolBlock>>,
    len: u64,
    /// The number of truncations: the content before the end is unchanged only while this number is.
    n_truncations: u64,
}

impl GuardCopy {
    pub(super) fn from_bytes(
        bytes: &[u8],
        of: &Path,
        pool: &Arc<BlockPool>,
    ) -> Result<Self, StoreError> {
        let mut copy = Self::Memory(Vec::new());
        copy.append(bytes, of, pool)?;
        Ok(copy)
    }

    pub(super) fn from_reader(
        source: &mut dyn Read,
        of: &Path,
        pool: &Arc<BlockPool>,
    ) -> Result<Self, StoreError> {
        let mut copy = Self::Memory(Vec::new());
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let n = source
                .read(&mut chunk)
                .map_err(|e| StoreError::from_io("read", of, e))?;
            if n == 0 {
                return Ok(copy);
            }
            copy.append(&chunk[..n], of, pool)?;
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Blocks(side) => side.len,
        }
    }

    pub(super) fn append(
        &mut self,
        more: &[u8],
        of: &Path,
        pool: &Arc<BlockPool>,
    ) -> Result<(), StoreError> {
        let failed = |e| StoreError::from_io("keep a copy of", of, e);
        if let Self::Memory(bytes) = self {
            if bytes.len() + more.len() <= BLOCK_BYTES {
                bytes.extend_from_slice(more);
                return Ok(());
            }
            let mut side = BlockCopy {
                pool: Arc::clone(pool),
                blocks: Vec::new(),
                len: 0,
                n_truncations: 0,
            };
            side.append(bytes).map_err(failed)?;
            *self = Self::Blocks(side);
        }
        match self {
            Self::Blocks(side) => side.append(more).map_err(failed),
            Self::Memory(_) => Ok(()),
        }
    }

    /// Drops everything after the first `keep` bytes.
    pub(super) fn truncate(&mut self, keep: u64) {
        match self {
            Self::Memory(bytes) => bytes.truncate(usize::try_from(keep).unwrap_or(usize::MAX)),
            Self::Blocks(side) => side.truncate(keep),
        }
    }

    pub(super) fn last_byte(&self, of: &Path) -> Result<Option<u8>, StoreError> {
        let Some(at) = self.len().checked_sub(1) else {
            return Ok(None);
        };
        let mut byte = [0];
        self.read_at(&mut byte, at)
            .map_err(|e| StoreError::from_io("read the copy of", of, e))?;
        Ok(Some(byte[0]))
    }

    /// Reads from `at` on, at most to the end of a block; returns the number of bytes.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                let left = bytes.get(at..).unwrap_or_default();
                let n = into.len().min(left.len());
                into[..n].copy_from_slice(&left[..n]);
                Ok(n)
            }
            Self::Blocks(side) => side.read_at(into, at),
        }
    }

    /// Compares with a file, byte by byte, from `from` on; what comes before is known to be equal.
    pub(super) fn equals_file_from(&self, from: u64, file: &File) -> io::Result<bool> {
        if file.metadata()?.len() != self.len() {
            return Ok(false);
        }
        let read = |into: &mut [u8], at| self.read_at(into, at);
        range_equals_file(from, self.len(), read, file)
    }

    /// Compares with a file, byte by byte.
    pub(super) fn equals_file(&self, file: &File) -> io::Result<bool> {
        self.equals_file_from(0, file)
    }

    /// Returns the current copy, to be read without the lock; `None` if it is so small that reading takes no
    /// time.
    pub(super) fn block_snapshot(&self) -> Option<BlockCopy> {
        match self {
            Self::Memory(_) => None,
            Self::Blocks(side) => Some(side.clone()),
        }
    }

    /// Returns how much of this copy's beginning equals an earlier version of it.
    pub(super) fn unchanged_prefix_len(&self, earlier: &BlockCopy) -> Option<u64> {
        let Self::Blocks(side) = self else {
            return None;
        };
        let is_one = match (side.blocks.first(), earlier.blocks.first()) {
            (Some(now), Some(then)) => Arc::ptr_eq(now, then),
            _ => false,
        };
        (is_one && side.n_truncations == earlier.n_truncations).then_some(earlier.len)
    }

    /// Writes the copy to `path`, atomically.
    pub(super) fn write_to(&self, path: &Path) -> Result<(), StoreError> {
        atomic_file::replace_file_from(path, &mut GuardCopyReader { copy: self, at: 0 })
    }
}

impl BlockCopy {
    fn append(&mut self, mut more: &[u8]) -> io::Result<()> {
        let file = self.pool.open_file()?;
        while !more.is_empty() {
            let (n, within) = block_position(self.len);
            if n == self.blocks.len() {
                self.blocks.push(self.pool.allocate_block());
            }
            let Some(block) = self.blocks.get(n) else {
                return Err(io::Error::other("the copy has lost a block"));
            };
            let (now, later) = more.split_at(more.len().min(BLOCK_BYTES - within));
            file.write_all_at(now, block.n * BLOCK_BYTES as u64 + within as u64)?;
            self.len += now.len() as u64;
            more = later;
        }
        Ok(())
    }

    fn truncate(&mut self, keep: u64) {
        self.len = keep.min(self.len);
        self.n_truncations += 1;
        let (n, within) = block_position(self.len);
        self.blocks.truncate(n + usize::from(within > 0));
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let (n, within) = block_position(at);
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let n_bytes = into.len().min(left).min(BLOCK_BYTES - within);
        if let (Some(block), 1..) = (self.blocks.get(n), n_bytes) {
            let at = block.n * BLOCK_BYTES as u64 + within as u64;
            self.pool
                .open_file()?
                .read_exact_at(&mut into[..n_bytes], at)?;
        }
        Ok(n_bytes)
    }

    /// Returns true if a file starts with this copy; more may follow.
    pub(super) fn is_prefix_of_file(&self, file: &File) -> io::Result<bool> {
        range_equals_file(0, self.len, |into, at| self.read_at(into, at), file)
    }
}

/// Returns the block of a byte and the position in it.
fn block_position(at: u64) -> (usize, usize) {
    let size = BLOCK_BYTES as u64;
    let n = usize::try_from(at / size).unwrap_or(usize::MAX);
    (n, usize::try_from(at % size).unwrap_or_default())
}

fn range_equals_file(
    from: u64,
    to: u64,
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
    file: &File,
) -> io::Result<bool> {
    let (mut ours, mut theirs) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
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

struct GuardCopyReader<'a> {
    copy: &'a GuardCopy,
    at: u64,
}

impl Read for GuardCopyReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.copy.read_at(into, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}
