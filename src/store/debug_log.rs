//! The diagnostic log `debug.log`: bounded in size, redacted, written by a thread of its own.
//!
//! Refuses to hold a line that was not cleaned, and prompts or context at any level unless the user wants
//! them: those are logged under the target [`PROMPT_TARGET`], which is off otherwise.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use super::{Clean, StoreError, plain};

/// The default size limit of one file, in bytes.
pub const DEFAULT_MAX_SIZE: u64 = 10_000_000;
/// The target of events that hold prompts or context.
pub const PROMPT_TARGET: &str = "agent_collab::prompt";

/// Whether whole prompts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptLines {
    /// They are left out.
    LeftOut,
    /// They are written, whatever the level of the rest.
    Kept,
}

/// How many old files are kept beside the current one.
const N_OLD: u32 = 2;

/// A file that starts anew before an entry would take it past its limit.
///
/// One write is one entry. No file exceeds the limit, but for a single entry larger than it.
#[derive(Debug)]
pub struct SizeLimited {
    path: PathBuf,
    max_size: u64,
    file: File,
    size: u64,
    n_lost: u64,
}

impl SizeLimited {
    /// Opens the file (0600) and goes on at its end.
    pub fn open(path: &Path, max_size: u64) -> Result<Self, StoreError> {
        let file = plain::open_append(path)?;
        let meta = file.metadata();
        let size = meta.map_err(|e| StoreError::io("look at", path, e))?.len();
        Ok(Self {
            path: path.to_path_buf(),
            max_size,
            file,
            size,
            n_lost: 0,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for n in (1..N_OLD).rev() {
            match fs::rename(self.old(n), self.old(n + 1)) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        match fs::rename(&self.path, self.old(1)) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        self.file = plain::open_append(&self.path).map_err(io::Error::other)?;
        self.size = self.file.metadata()?.len();
        Ok(())
    }

    fn old(&self, n: u32) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{n}"));
        self.path.with_file_name(name)
    }

    fn write_entry(&mut self, entry: &[u8]) -> io::Result<()> {
        if self.size > 0 && self.size + entry.len() as u64 > self.max_size {
            self.rotate()?;
        }
        let done = self.file.write_all(entry);
        self.size = match &done {
            Ok(()) => self.size + entry.len() as u64,
            // Some of it may be there.
            Err(_) => self.file.metadata().map_or(self.size, |meta| meta.len()),
        };
        done
    }
}

impl Write for SizeLimited {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        if self.n_lost > 0 {
            let note = format!(
                "{} entries could not be written before this one\n",
                self.n_lost
            );
            if self.write_entry(note.as_bytes()).is_ok() {
                self.n_lost = 0;
            }
        }
        // A log that cannot be written must not stop the run; the note above tells of the gap.
        if self.write_entry(entry).is_err() {
            self.n_lost += 1;
        }
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Hands each formatted event, cleaned, to the writing thread.
#[derive(Clone)]
struct Cleaning {
    out: NonBlocking,
    clean: Arc<Clean>,
}

impl Write for Cleaning {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(entry);
        let mut line = (self.clean)(text.trim_end_matches('\n')).replace(['\n', '\r'], " ");
        line.push('\n');
        self.out.write_all(line.as_bytes())?;
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<'a> MakeWriter<'a> for Cleaning {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Keeps the writing thread alive; dropping it writes what is left.
#[derive(Debug)]
#[must_use = "dropping it ends the log"]
pub struct DebugLog {
    _worker: WorkerGuard,
}

/// Makes the layer that writes `debug.log`, for a subscriber of the caller's own.
///
/// Events of this program are written from `level` on, those of libraries from warnings on.
pub fn open_debug_log<S>(
    path: &Path,
    max_size: u64,
    (level, prompts): (LevelFilter, PromptLines),
    clean: Clean,
) -> Result<(impl Layer<S> + Send + Sync + use<S>, DebugLog), StoreError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    let file = SizeLimited::open(path, max_size)?;
    let (out, worker) = NonBlockingBuilder::default()
        .thread_name("debug-log")
        .finish(file);
    let clean = Arc::new(clean);
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_target("agent_collab", level)
        .with_target(
            PROMPT_TARGET,
            match prompts {
                PromptLines::LeftOut => LevelFilter::OFF,
                PromptLines::Kept => LevelFilter::INFO,
            },
        );
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Cleaning { out, clean })
        .with_filter(targets);
    Ok((layer, DebugLog { _worker: worker }))
}

/// Sends the whole process's diagnostics to `debug.log`; for one call, at the start.
pub fn init_debug_log(
    path: &Path,
    max_size: u64,
    (level, prompts): (LevelFilter, PromptLines),
    clean: Clean,
) -> Result<DebugLog, StoreError> {
    let (layer, log) = open_debug_log(path, max_size, (level, prompts), clean)?;
    tracing_subscriber::registry()
        .with(layer)
        .try_init()
        .map_err(|e| StoreError::io("log to", path, io::Error::other(e)))?;
    Ok(log)
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
            let mut log = SizeLimited::open(&path, max_size).unwrap();
            for (index, size) in sizes.iter().enumerate() {
                if index == 20 {
                    log = SizeLimited::open(&path, max_size).unwrap();
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

    /// What the log holds after a few events, `prompts` as given.
    fn written(prompts: PromptLines) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("debug.log");
        let clean: Clean = Box::new(|line| line.replace("hunter2", "[redacted]"));
        let level = LevelFilter::DEBUG;
        let (layer, log) =
            open_debug_log(&path, DEFAULT_MAX_SIZE, (level, prompts), clean).unwrap();
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!(target: "agent_collab::engine", "login hunter2\nnext");
            tracing::trace!(target: "agent_collab::engine", "too fine");
            tracing::info!(target: PROMPT_TARGET, "a prompt with hunter2");
            tracing::info!(target: "hyper", "a library");
        });
        drop(log);
        fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn the_log_is_redacted_and_holds_no_prompts_unless_they_are_wanted() {
        let text = written(PromptLines::LeftOut);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.contains("login [redacted]") && text.contains("next"),
            "{text}"
        );
        let text = written(PromptLines::Kept);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("a prompt with [redacted]"), "{text}");
    }
}
