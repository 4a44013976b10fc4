//! Writes the program's own log to its sinks: redacted for every sink, by threads of its own.
//!
//! No line is written without redaction. Prompts and context are written only if the user asks for them,
//! whatever the level: they are logged under the target [`PROMPT_TARGET`], which is off by default.

mod entry_format;
mod rotating_file;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use super::{StoreError, nofollow_fs};
use crate::text::{clean_json_line, clean_text};
use entry_format::{JsonEntryFormat, TextEntryFormat};

pub use rotating_file::RotatingFile;

/// The target of events that contain prompts or context.
pub const PROMPT_TARGET: &str = "agent_collab::prompt";

/// Whether whole prompts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptLines {
    LeftOut,
    /// They are written, whatever the level of the rest.
    Kept,
}

/// Whether an entry contains more than its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogMetadata {
    /// Its fields and the module that wrote it are included.
    Kept,
    /// They are not; only what was requested under [`PROMPT_TARGET`] is.
    LeftOut,
}

/// How entries are formatted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One line of text per entry.
    Text,
    /// One JSON object per line.
    JsonLines,
}

/// One destination of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogSink {
    /// Lines of text in a file.
    TextFile(PathBuf),
    /// Lines of JSON in a file.
    JsonFile(PathBuf),
    /// Lines of text on standard error.
    Console,
}

impl LogSink {
    /// Returns the name of the sink for people.
    pub fn label(&self) -> String {
        match self {
            Self::TextFile(path) => path.display().to_string(),
            Self::JsonFile(path) => format!("{} (JSON)", path.display()),
            Self::Console => "standard error".to_owned(),
        }
    }

    fn format(&self) -> LogFormat {
        match self {
            Self::TextFile(_) | Self::Console => LogFormat::Text,
            Self::JsonFile(_) => LogFormat::JsonLines,
        }
    }

    fn open(&self, max_size: u64) -> Result<Box<dyn Write + Send>, StoreError> {
        Ok(match self {
            Self::TextFile(path) | Self::JsonFile(path) => {
                Box::new(RotatingFile::open(path, max_size)?)
            }
            Self::Console => Box::new(io::stderr()),
        })
    }
}

/// What the log contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogContent {
    /// The minimum level of this program's events; events of libraries are written from `warn` on.
    pub level: LevelFilter,
    pub prompts: PromptLines,
    /// Whether an entry contains more than its message.
    pub metadata: LogMetadata,
}

/// Passes each formatted event, redacted, to the writing thread.
#[derive(Clone)]
struct CleaningWriter {
    out: NonBlocking,
    format: LogFormat,
}

impl Write for CleaningWriter {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(entry);
        let text = text.trim_end_matches('\n');
        let mut line = match self.format {
            LogFormat::Text => clean_text(text).replace(['\n', '\r'], " "),
            LogFormat::JsonLines => clean_json_line(text),
        };
        line.push('\n');
        self.out.write_all(line.as_bytes())?;
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<'a> MakeWriter<'a> for CleaningWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Keeps the writing threads alive; dropping it writes the rest.
#[derive(Debug)]
#[must_use = "dropping it ends the log"]
pub struct DebugLog {
    _workers: Vec<WorkerGuard>,
}

type BoxedLayer<S> = Box<dyn Layer<S> + Send + Sync>;

/// Creates the layers that write the log, for the caller's own subscriber.
///
/// # Errors
/// A file cannot be opened; then nothing is written anywhere.
pub fn open_debug_log<S>(
    sinks: &[LogSink],
    max_size: u64,
    content: LogContent,
) -> Result<(Vec<BoxedLayer<S>>, DebugLog), StoreError>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let opened: Result<Vec<_>, StoreError> = sinks
        .iter()
        .map(|sink| Ok((sink.open(max_size)?, sink.format())))
        .collect();
    let made = opened?
        .into_iter()
        .map(|(out, form)| build_layer(out, form, content));
    let (layers, workers) = made.unzip();
    Ok((layers, DebugLog { _workers: workers }))
}

fn build_layer<S>(
    out: Box<dyn Write + Send>,
    form: LogFormat,
    content: LogContent,
) -> (BoxedLayer<S>, WorkerGuard)
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let (out, worker) = NonBlockingBuilder::default()
        .thread_name("debug-log")
        .finish(out);
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(CleaningWriter { out, format: form });
    let metadata = content.metadata;
    let layer: BoxedLayer<S> = match form {
        LogFormat::Text => layer.event_format(TextEntryFormat::new(metadata)).boxed(),
        LogFormat::JsonLines => layer.event_format(JsonEntryFormat { metadata }).boxed(),
    };
    (
        layer.with_filter(build_target_filter(content)).boxed(),
        worker,
    )
}

fn build_target_filter(content: LogContent) -> Targets {
    let prompts = match content.prompts {
        PromptLines::LeftOut => LevelFilter::OFF,
        PromptLines::Kept => LevelFilter::INFO,
    };
    Targets::new()
        .with_default(content.level.min(LevelFilter::WARN))
        .with_target("agent_collab", content.level)
        .with_target(PROMPT_TARGET, prompts)
}

/// Sends the diagnostics of the whole process to the log; call it once, at the start.
///
/// # Errors
/// A file cannot be opened; then nothing is written anywhere.
pub fn init_debug_log(
    sinks: &[LogSink],
    max_size: u64,
    content: LogContent,
) -> Result<DebugLog, StoreError> {
    let (layers, log) = open_debug_log(sinks, max_size, content)?;
    let names: Vec<String> = sinks.iter().map(LogSink::label).collect();
    let failed = |error| {
        StoreError::from_io(
            "log to",
            Path::new(&names.join(", ")),
            io::Error::other(error),
        )
    };
    let set = tracing_subscriber::registry().with(layers).try_init();
    set.map_err(failed)?;
    Ok(log)
}

/// Checks whether a file of the user's could be written as a log, without writing or creating it.
///
/// # Errors
/// It is in the repository, whose steps would commit it; or it could not be written, and why.
pub fn check_user_log_file(path: &Path, root: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let real = folder.canonicalize();
    let real = real.map_err(|error| StoreError::from_io("access", folder, error))?;
    // A repository that does not exist contains nothing.
    if root.canonicalize().is_ok_and(|root| real.starts_with(root)) {
        return Err(StoreError::InsideRepository {
            path: path.to_path_buf(),
            root: root.to_path_buf(),
        });
    }
    match fs::symlink_metadata(path) {
        Ok(_) => nofollow_fs::open_append(path).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_can_create_in(folder),
        Err(error) => Err(StoreError::from_io("access", path, error)),
    }
}

fn check_can_create_in(folder: &Path) -> Result<(), StoreError> {
    let refused = |error: nix::Error| StoreError::from_io("create a file in", folder, error.into());
    access(folder, AccessFlags::W_OK | AccessFlags::X_OK).map_err(refused)
}

#[cfg(test)]
mod tests;
