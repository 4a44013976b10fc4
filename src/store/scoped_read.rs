//! Reads files that an agent, a repository or a prompt names: only below the real project root.
//!
//! The file that was checked is the file that was opened: no name is looked up twice, so nothing can be
//! swapped in between. Links may lead anywhere inside the root. Only regular files with one name are read: a
//! pipe would block, and a second name (hard link) may belong to a file elsewhere.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::Mode;
use thiserror::Error;

/// How much may be read; a file or a sum exactly at the limit is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// The maximum number of files at once.
    pub max_files: usize,
    /// The maximum size of one file, in bytes.
    pub max_file_bytes: u64,
    /// The maximum size of all files, in bytes.
    pub max_total_bytes: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            max_files: 10,
            max_file_bytes: 256 * 1024,
            max_total_bytes: 1024 * 1024,
        }
    }
}

/// Explains why a named file was not read; [`ScopedReadError::hint`] says what to do.
#[derive(Debug, Error)]
pub enum ScopedReadError {
    /// Too many files are named.
    #[error("{n} files were named, but at most {limit} can be read at once")]
    TooMany {
        /// How many files were named.
        n: usize,
        limit: usize,
    },
    #[error("{name:?} has {size} bytes, but a file can have at most {limit}")]
    TooLarge {
        /// The file name as it was given.
        name: String,
        /// Its size in bytes, or what was read of it if it grew.
        size: u64,
        limit: u64,
    },
    /// All files together are too large.
    #[error(
        "with {name:?} the named files have {size} bytes, but at most {limit} can be read at once"
    )]
    TotalTooLarge {
        /// The file that exceeded the limit.
        name: String,
        /// The sum including it, in bytes.
        size: u64,
        limit: u64,
    },
    #[error("{name:?} does not exist")]
    NotFound {
        /// The file name as it was given.
        name: String,
    },
    /// The name, or a link in its path, leads out of the project.
    #[error("{name:?} leads out of {}", root.display())]
    Outside {
        /// The file name as it was given.
        name: String,
        root: PathBuf,
    },
    /// It is not a regular file.
    #[error("{name:?} is {found}; only regular files can be read")]
    NotRegular {
        /// The file name as it was given.
        name: String,
        found: &'static str,
    },
    #[error("{name:?} is not a text file: {why}")]
    NotText {
        /// The file name as it was given.
        name: String,
        /// Why it is not text.
        why: &'static str,
    },
    #[error("cannot read {name:?}")]
    Io {
        /// The file name as it was given.
        name: String,
        source: io::Error,
    },
}

impl ScopedReadError {
    /// Returns a stable error code for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooMany { .. } => "E_FILE_TOO_MANY",
            Self::TooLarge { .. } => "E_FILE_TOO_LARGE",
            Self::TotalTooLarge { .. } => "E_FILE_TOTAL_TOO_LARGE",
            Self::NotFound { .. } => "E_FILE_NOT_FOUND",
            Self::Outside { .. } | Self::NotRegular { .. } => "E_FILE_SANDBOX",
            Self::NotText { .. } => "E_FILE_NOT_TEXT",
            Self::Io { .. } => "E_FILE_UNREADABLE",
        }
    }

    /// Suggests what the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooMany { .. } | Self::TotalTooLarge { .. } => "name fewer files",
            Self::TooLarge { .. } => "name a smaller file",
            Self::NotFound { .. } => "names are relative to the root of the repository",
            Self::Outside { .. } => "copy the file into the repository if agents should read it",
            Self::NotRegular { .. } => "name a file; of one with several hard links, a copy",
            Self::NotText { .. } => "only UTF-8 text can be read",
            Self::Io { .. } => "check its permissions",
        }
    }
}

/// The bytes of one file, with the name under which it was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContents {
    /// The file name as it was given.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The text of one file, with the name under which it was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// The file name as it was given.
    pub name: String,
    pub text: String,
}

impl FileContents {
    fn into_text(self) -> Result<FileText, ScopedReadError> {
        let Self { name, bytes } = self;
        let why = match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => return Ok(FileText { name, text }),
            Ok(_) => "it has a zero byte",
            Err(_) => "it is not UTF-8",
        };
        Err(ScopedReadError::NotText { name, why })
    }
}

/// A project whose files may be read.
#[derive(Debug)]
pub struct ScopedReader {
    root: OwnedFd,
    path: PathBuf,
}

/// How many links are followed on the way to one file.
const MAX_LINKS: usize = 40;

/// How often the kernel is asked again if something was renamed during the lookup.
#[cfg(target_os = "linux")]
const MAX_OPEN_TRIES: usize = 8;

impl ScopedReader {
    /// Opens the project; its root may be a link.
    ///
    /// # Errors
    /// It is not a directory, or cannot be opened.
    pub fn open(root: &Path) -> io::Result<Self> {
        let path = root.canonicalize()?;
        let root = nix::fcntl::open(&path, folder_open_flags(), Mode::empty())?;
        Ok(Self { root, path })
    }

    /// Reads all the named files, or none.
    ///
    /// # Errors
    /// The first file that may not or cannot be read, or the limit that they exceed.
    pub fn read_all(
        &self,
        names: &[String],
        limits: ReadLimits,
    ) -> Result<Vec<FileContents>, ScopedReadError> {
        if names.len() > limits.max_files {
            let n = names.len();
            return Err(ScopedReadError::TooMany {
                n,
                limit: limits.max_files,
            });
        }
        let mut total = 0;
        let mut all = Vec::new();
        for name in names {
            let left = limits.max_total_bytes - total;
            let bytes = match self.read_file(name, limits.max_file_bytes.min(left)) {
                Err(ScopedReadError::TooLarge { name, size, .. })
                    if size <= limits.max_file_bytes =>
                {
                    return Err(ScopedReadError::TotalTooLarge {
                        name,
                        size: total + size,
                        limit: limits.max_total_bytes,
                    });
                }
                Err(ScopedReadError::TooLarge { name, size, .. }) => {
                    return Err(ScopedReadError::TooLarge {
                        name,
                        size,
                        limit: limits.max_file_bytes,
                    });
                }
                read => read?,
            };
            total += bytes.len() as u64;
            all.push(FileContents {
                name: name.clone(),
                bytes,
            });
        }
        Ok(all)
    }

    /// Reads all the named texts, or none.
    ///
    /// # Errors
    /// As [`ScopedReader::read_all`]; or the first file that is not text.
    pub fn read_texts(
        &self,
        names: &[String],
        limits: ReadLimits,
    ) -> Result<Vec<FileText>, ScopedReadError> {
        let read = self.read_all(names, limits)?;
        read.into_iter().map(FileContents::into_text).collect()
    }

    /// Reads one file of at most `limit` bytes.
    ///
    /// # Errors
    /// It may not or cannot be read, or is larger.
    pub fn read_file(&self, name: &str, limit: u64) -> Result<Vec<u8>, ScopedReadError> {
        let file = self.open_regular_file(name)?;
        let failed = |source| ScopedReadError::Io {
            name: name.to_owned(),
            source,
        };
        let too_large = |size| ScopedReadError::TooLarge {
            name: name.to_owned(),
            size,
            limit,
        };
        let size = file.metadata().map_err(failed)?.len();
        if size > limit {
            return Err(too_large(size));
        }
        let mut bytes = Vec::new();
        let reading = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        reading.map_err(failed)?;
        // It may have grown since, or report no size.
        match bytes.len() as u64 {
            size if size > limit => Err(too_large(size)),
            _ => Ok(bytes),
        }
    }

    /// Opens a regular file, without blocking if something else is there.
    fn open_regular_file(&self, name: &str) -> Result<File, ScopedReadError> {
        let relative = self.relative_path(name);
        let opened = relative.and_then(|relative| self.open_beneath(&relative));
        let file = File::from(opened.map_err(|errno| self.to_read_error(name, errno))?);
        let metadata = file.metadata().map_err(|source| ScopedReadError::Io {
            name: name.to_owned(),
            source,
        })?;
        let found = match metadata.file_type() {
            kind if kind.is_dir() => "a directory",
            kind if !kind.is_file() => "a pipe, socket or device",
            _ if metadata.nlink() > 1 => "a file with several hard links",
            _ => return Ok(file),
        };
        Err(ScopedReadError::NotRegular {
            name: name.to_owned(),
            found,
        })
    }

    /// Converts an absolute name inside the project into a relative one; only the path inside the project
    /// counts.
    fn relative_path(&self, name: &str) -> Result<PathBuf, Errno> {
        let path = Path::new(name);
        if name.is_empty() || name.contains('\0') {
            return Err(Errno::ENOENT);
        }
        if !path.is_absolute() {
            return Ok(path.to_owned());
        }
        let inside = path.strip_prefix(&self.path).map_err(|_| Errno::EXDEV)?;
        Ok(Path::new(".").join(inside))
    }

    /// Asks the kernel to stay below the root (`openat2`). The kernel refuses absolute links, which may lead
    /// inside all the same, and older kernels do not have the call: then the path is walked by hand.
    fn open_beneath(&self, name: &Path) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        {
            use nix::fcntl::{OpenHow, ResolveFlag, openat2};
            let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS;
            let how = OpenHow::new().flags(file_open_flags()).resolve(resolve);
            for _ in 0..MAX_OPEN_TRIES {
                match openat2(&self.root, name, how) {
                    Err(Errno::EAGAIN | Errno::EINTR) => {}
                    Err(
                        Errno::EXDEV | Errno::ENOSYS | Errno::EPERM | Errno::E2BIG | Errno::EINVAL,
                    ) => break,
                    opened => return opened,
                }
            }
        }
        self.open_by_walking(name)
    }

    /// Opens a file component by component: each from the directory before it, and no link is followed
    /// unchecked. `..` goes back the way it came, so that a directory that is moved in the meantime leads
    /// nowhere else.
    fn open_by_walking(&self, name: &Path) -> Result<OwnedFd, Errno> {
        let mut way: Vec<OwnedFd> = Vec::new();
        let mut steps: VecDeque<OsString> = path_steps(name);
        let mut n_links = 0;
        while let Some(step) = steps.pop_front() {
            if step == ".." {
                way.pop().ok_or(Errno::EXDEV)?;
                continue;
            }
            let here = way.last().unwrap_or(&self.root).as_fd();
            let is_last = steps.is_empty();
            let flags = if is_last {
                file_open_flags()
            } else {
                folder_open_flags()
            } | OFlag::O_NOFOLLOW;
            let error = match openat(here, step.as_os_str(), flags, Mode::empty()) {
                Ok(opened) if is_last => return Ok(opened),
                Ok(opened) => {
                    way.push(opened);
                    continue;
                }
                Err(error) => error,
            };
            // Systems report a refused link with different errors, so ask whether it is a link.
            let target = readlinkat(here, step.as_os_str()).map_err(|_| error)?;
            n_links += 1;
            if n_links > MAX_LINKS {
                return Err(Errno::ELOOP);
            }
            let target = Path::new(&target);
            let mut further = match target.strip_prefix("/") {
                Ok(_) => {
                    way.clear();
                    path_steps(target.strip_prefix(&self.path).map_err(|_| Errno::EXDEV)?)
                }
                Err(_) => path_steps(target),
            };
            further.append(&mut steps);
            steps = further;
        }
        // The name ended at a directory, or at the root itself.
        Err(Errno::EISDIR)
    }

    fn to_read_error(&self, name: &str, errno: Errno) -> ScopedReadError {
        let name = name.to_owned();
        match errno {
            Errno::ENOENT | Errno::ENOTDIR | Errno::ENAMETOOLONG => {
                ScopedReadError::NotFound { name }
            }
            Errno::EXDEV => ScopedReadError::Outside {
                name,
                root: self.path.clone(),
            },
            Errno::EISDIR => ScopedReadError::NotRegular {
                name,
                found: "a directory",
            },
            Errno::ENXIO => ScopedReadError::NotRegular {
                name,
                found: "a pipe, socket or device",
            },
            Errno::ELOOP => ScopedReadError::NotRegular {
                name,
                found: "a symbolic link loop",
            },
            errno => ScopedReadError::Io {
                name,
                source: errno.into(),
            },
        }
    }
}

/// Returns flags that neither wait for the other end of a pipe nor make a terminal the controlling one.
fn file_open_flags() -> OFlag {
    OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC
}

fn folder_open_flags() -> OFlag {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    #[cfg(target_os = "linux")]
    let flags = flags | OFlag::O_PATH;
    flags
}

/// Returns the components of a path; a path that ends in a slash or a dot must end at a directory.
fn path_steps(path: &Path) -> VecDeque<OsString> {
    let mut steps: VecDeque<OsString> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect();
    let bytes = path.as_os_str().as_bytes();
    if (bytes.ends_with(b"/") || bytes.ends_with(b"/.")) && !steps.is_empty() {
        steps.push_back(OsStr::new(".").to_owned());
    }
    steps
}

#[cfg(test)]
mod tests;
