//! Chooses where the program's own log goes by `[log]`: a text file, a JSON file, standard error.
//!
//! The files are opened and written by `store::debug_log`.

use std::path::Path;

use crate::config::config_model::AppConfig;
use crate::store::debug_log::LogSink;

/// How the front end uses the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontEnd {
    /// The full-screen program uses it: nothing else may be written there.
    FullScreen,
    Lines,
}

/// Returns the sinks that are on.
pub fn log_sinks(config: &AppConfig, root: &Path, front_end: FrontEnd) -> Vec<LogSink> {
    let (log, paths) = (&config.log, &config.paths);
    let debug_log = root.join(&paths.workdir).join(&paths.debug_log);
    let file = log.file.then_some(LogSink::TextFile(debug_log));
    let json_file = log.json_file.clone().map(LogSink::JsonFile);
    let is_free = log.console && front_end == FrontEnd::Lines;
    let console = is_free.then_some(LogSink::Console);
    [file, json_file, console].into_iter().flatten().collect()
}

/// Lists the sinks for display.
pub fn describe_sinks(sinks: &[LogSink]) -> String {
    let words: Vec<String> = sinks.iter().map(LogSink::label).collect();
    words.join(", ")
}

/// Returns a notice that whole prompts are logged, since the log may end up in a bug report; `None` if they are
/// not.
pub fn prompt_logging_notice(config: &AppConfig, sinks: &[LogSink]) -> Option<String> {
    let is_so = config.log.log_prompts && !sinks.is_empty();
    is_so.then(|| {
        format!(
            "whole prompts are logged, without secrets, to {} (log.log_prompts)",
            describe_sinks(sinks)
        )
    })
}
