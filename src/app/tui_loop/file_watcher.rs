//! Watches the work directory for changes of the documents, or of all files of a run.
//!
//! The system reports changes; nothing polls, so an idle program stays idle. (The library's debouncer wakes on a tick
//! even without changes; waiting for the second half of an editor's write is a timer of the loop, set only after a
//! change.) Reads no file.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use crate::store::WorkdirLayout;

/// Time between a change and reading the files: long enough for an editor's rename.
pub const SETTLE_DELAY: Duration = Duration::from_millis(20);

/// A watched directory; dropping it stops the watch.
pub struct FileWatcher {
    _watcher: RecommendedWatcher,
    changed: Arc<Notify>,
}

impl FileWatcher {
    /// Starts to watch the documents of a work directory.
    ///
    /// # Errors
    /// The system reports an error, for example because too many files are watched.
    pub fn watch_documents(layout: &WorkdirLayout) -> notify::Result<Self> {
        Self::watch_files(layout, document_names(layout))
    }

    /// Starts to watch all files of a run that another instance works on.
    ///
    /// # Errors
    /// As [`FileWatcher::watch_documents`].
    pub fn watch_run(layout: &WorkdirLayout) -> notify::Result<Self> {
        let record = [layout.events(), layout.state()];
        let record = record.iter().filter_map(|path| path.file_name());
        let mut names = document_names(layout);
        names.extend(record.map(OsString::from));
        Self::watch_files(layout, names)
    }

    fn watch_files(layout: &WorkdirLayout, files: Vec<OsString>) -> notify::Result<Self> {
        let changed = Arc::new(Notify::new());
        let tell = Arc::clone(&changed);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // On an error, such as lost events, read the files as well.
            if event.is_err() || event.is_ok_and(|event| is_relevant(&event, &files)) {
                tell.notify_one();
            }
        })?;
        watcher.watch(layout.workdir(), RecursiveMode::NonRecursive)?;
        Ok(Self {
            _watcher: watcher,
            changed,
        })
    }

    /// Waits until a watched file has changed since the last call. Cancel safe.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }
}

fn document_names(layout: &WorkdirLayout) -> Vec<OsString> {
    let names = layout.names();
    [&names.plan, &names.comments, &names.log]
        .map(OsString::from)
        .into()
}

fn is_relevant(event: &Event, files: &[OsString]) -> bool {
    let is_change = match event.kind {
        // This program's own reading opens the files.
        EventKind::Access(_) => false,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    };
    let is_meant = |path: &Path| {
        path.file_name()
            .is_some_and(|name| files.iter().any(|file| file == name))
    };
    is_change && (event.need_rescan() || event.paths.iter().any(|path| is_meant(path)))
}
