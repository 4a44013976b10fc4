//! Reads the files that the processes of a runner wrote into a folder, and places their source files in the repository.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::MAX_REPORT_BYTES;
use super::report_builder::ReportBuilder;
use crate::store::scoped_read::ScopedReader;

/// The maximum number of processes that report.
const MAX_REPORTS: usize = 200;
/// The maximum number of files in the folder that are looked at.
const MAX_FOLDER_ENTRIES: usize = 10_000;

/// Returns the names of a runner's files in a folder: `RUNNER-…ENDING`.
pub(super) fn list_reports(folder: &Path, runner: &str, ending: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let beginning = format!("{runner}-");
    entries
        .take(MAX_FOLDER_ENTRIES)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(&beginning) && name.ends_with(ending))
        .collect()
}

/// Reads these files, within the limits of a report. What cannot be read is a doubt.
pub(super) fn read_files(
    folder: &Path,
    runner: &str,
    names: &BTreeSet<String>,
    report: &mut ReportBuilder,
) -> Vec<String> {
    if names.len() > MAX_REPORTS {
        report.doubt(format!(
            "more than {MAX_REPORTS} {runner} processes report tests"
        ));
    }
    let Ok(reader) = ScopedReader::open(folder) else {
        report.doubt(format!("the folder of {runner}'s reports cannot be read"));
        return Vec::new();
    };
    let mut left = MAX_REPORT_BYTES;
    let mut texts = Vec::new();
    for name in names.iter().take(MAX_REPORTS) {
        match reader.read_file(name, left) {
            Ok(bytes) => {
                left -= bytes.len() as u64;
                texts.push(String::from_utf8_lossy(&bytes).into_owned());
            }
            Err(error) => report.doubt(format!("a report of {runner} cannot be read: {error}")),
        }
    }
    texts
}

/// The reports of a runner that the preload made write them.
#[derive(Debug, Default)]
pub(super) struct PreloadedReports {
    pub(super) texts: Vec<String>,
    /// How many processes of the runner began and wrote no report.
    pub(super) n_missing: usize,
}

/// Reads the reports of a runner with the preload, which also leaves a file for each process that began.
pub(super) fn read_preloaded_reports(
    folder: &Path,
    runner: &str,
    report: &mut ReportBuilder,
) -> PreloadedReports {
    const REPORT: &str = ".json";
    const BEGIN: &str = ".begin";
    let written = list_reports(folder, runner, REPORT);
    let started = list_reports(folder, runner, BEGIN);
    if started.is_empty() {
        report.doubt(format!(
            "{runner} wrote no report: it did not start, or the command sets NODE_OPTIONS"
        ));
    }
    let is_missing = |name: &&String| {
        let report = name
            .strip_suffix(BEGIN)
            .map(|name| format!("{name}{REPORT}"));
        report.is_none_or(|report| !written.contains(&report))
    };
    PreloadedReports {
        n_missing: started.iter().filter(is_missing).count(),
        texts: read_files(folder, runner, &written, report),
    }
}

/// The repository's root, for the names of source files.
#[derive(Debug)]
pub(super) struct SourceRoot<'a> {
    pub(super) root: &'a Path,
    /// The root without links, which node resolves.
    real_root: PathBuf,
}

impl<'a> SourceRoot<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Self { root, real_root }
    }

    /// Returns the path from the root of a file that a runner names by its whole path or as a `file:` address.
    pub(super) fn relative_file(&self, file: &str) -> String {
        let path = Path::new(file.strip_prefix("file://").unwrap_or(file));
        let inside = path
            .strip_prefix(self.root)
            .or_else(|_| path.strip_prefix(&self.real_root));
        inside.unwrap_or(path).to_string_lossy().into_owned()
    }
}
