//! Opens the program's own log as `[log]` says; checks the user's log file before anything else starts.
//!
//! The targets of the log are chosen in `engine::log_sinks`.

use std::path::Path;

use tracing_subscriber::filter::LevelFilter;

use super::startup::StartError;
use super::ui_config;
use crate::config::config_model::AppConfig;
use crate::config::diagnostic::{ConfigLocation, ConfigProblem};
use crate::config::{ConfigProblems, LoadedConfig};
use crate::engine::doctor_report::OTHER_FILE_HINT;
use crate::store::debug_log::{
    self, DebugLog, LogContent, LogMetadata, LogSink, PromptLines, check_user_log_file,
};

/// The configuration key for the user's log file.
const JSON_FILE_KEY: &str = "log.json_file";

/// Checks that the user's log file can be written, without creating it.
///
/// # Errors
/// The file cannot be written; the text names file and line of the configuration.
pub fn check_json_log_file(loaded: &LoadedConfig, root: &Path) -> Result<(), ConfigProblems> {
    let Some(path) = &loaded.config.log.json_file else {
        return Ok(());
    };
    check_user_log_file(path, root).map_err(|error| {
        let held = loaded.settings.values.get(JSON_FILE_KEY);
        let place = held.map_or_else(
            || ConfigLocation::File("config.toml".into()),
            |held| held.place.clone(),
        );
        let what = format!("cannot write `{JSON_FILE_KEY}`: {error}");
        ConfigProblems(vec![ConfigProblem::new(place, what, OTHER_FILE_HINT)])
    })
}

/// Like [`check_json_log_file`], as an error of the start.
///
/// # Errors
/// As [`check_json_log_file`].
pub(super) fn check_json_log_file_before_start(
    loaded: &LoadedConfig,
    root: &Path,
) -> Result<(), StartError> {
    check_json_log_file(loaded, root).map_err(ui_config::to_start_error)
}

/// Opens the log; a failure becomes a notice. `None` if nothing is logged.
pub(super) fn open_debug_log(
    sinks: &[LogSink],
    config: &AppConfig,
    notices: &mut Vec<String>,
) -> Option<DebugLog> {
    if sinks.is_empty() {
        return None;
    }
    let content = LogContent {
        level: config.log.level.parse().unwrap_or(LevelFilter::INFO),
        prompts: if config.log.log_prompts {
            PromptLines::Kept
        } else {
            PromptLines::LeftOut
        },
        metadata: if config.log.metadata {
            LogMetadata::Kept
        } else {
            LogMetadata::LeftOut
        },
    };
    let opened = debug_log::init_debug_log(sinks, config.paths.debug_log_max_bytes, content);
    match opened {
        Ok(log) => Some(log),
        Err(error) => {
            notices.push(format!("no debug log: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, ConfigFlags, UserDirs};
    use crate::engine::log_sinks::{FrontEnd, describe_sinks, log_sinks};

    /// The result for a configuration file: its problems, else the sinks without a screen and with one.
    fn checked(lines: &str) -> String {
        let folder = tempfile::tempdir().expect("scratch folder");
        let path = folder.path().canonicalize().expect("real path");
        let root = path.join("repository");
        std::fs::create_dir_all(&root).expect("repository");
        let places = UserDirs::under(&path);
        std::fs::create_dir_all(&places.home).expect("home");
        let file = path.join("c.toml");
        std::fs::write(&file, format!("[log]\n{lines}")).expect("configuration");
        let choices = ConfigFlags {
            file: Some(file),
            ..ConfigFlags::default()
        };
        let told = config::load(&places, &root, &choices).and_then(|loaded| {
            check_json_log_file(&loaded, &root)?;
            let [lines, screen] = [FrontEnd::Lines, FrontEnd::FullScreen]
                .map(|front_end| describe_sinks(&log_sinks(&loaded.config, &root, front_end)));
            Ok(format!("lines: {lines}\nscreen: {screen}"))
        });
        let told = told.unwrap_or_else(|problems| problems.to_string());
        told.replace(&path.display().to_string(), "…")
    }

    #[test]
    fn the_log_goes_where_the_keys_say_and_never_onto_the_screen() {
        assert_eq!(
            checked(""),
            "lines: …/repository/.agent-collab/debug.log\nscreen: …/repository/.agent-collab/debug.log"
        );
        assert_eq!(
            checked("file = false\nconsole = true\njson_file = \"~/a.jsonl\"\n"),
            "lines: …/home/a.jsonl (JSON), standard error\nscreen: …/home/a.jsonl (JSON)"
        );
        assert_eq!(checked("file = false\n"), "lines: \nscreen: ");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_with_line_and_remedy() {
        insta::assert_snapshot!(checked("level = \"info\"\njson_file = \"~/none/a.jsonl\"\n"), @"
        …/c.toml:3:13: cannot write `log.json_file`: cannot access …/home/none: No such file or directory (os error 2)
          hint: name a file outside the repository, in an existing folder that you can write to
        ");
        insta::assert_snapshot!(checked("json_file = \"a.jsonl\"\n"), @r#"
        …/c.toml:2:13: `log.json_file` must be a file with an absolute path, or a path that starts with "~/", but is "a.jsonl"
          | json_file = "a.jsonl"
          hint: for example `json_file = "~/agent-collab.jsonl"`
        "#);
    }
}
