//! Makes jest, vitest and mocha write a report file wherever the test command starts them, also in scripts.
//!
//! They take no options from the environment, so node loads a script first (`NODE_OPTIONS`), which adds the options in the
//! runner's own process. Before the first test it removes itself from the environment. It lies in the folder of the
//! reports: what could change it could write a report as well.

use std::fs;
use std::io;
use std::path::Path;

const PRELOAD: &str = include_str!("runner_preload.cjs");
const PRELOAD_NAME: &str = "runner_preload.cjs";
const MOCHA_REPORTER: &str = include_str!("mocha_reporter.cjs");
const MOCHA_REPORTER_NAME: &str = "mocha_reporter.cjs";

/// Returns the option for node that loads the script.
pub(super) fn node_option(folder: &Path) -> String {
    let path = folder.join(PRELOAD_NAME);
    format!("--require={}", to_script(&path.to_string_lossy()))
}

/// Writes the script and what it needs into the folder of the reports.
///
/// # Errors
/// The disk fails.
pub(super) fn write_scripts(folder: &Path) -> io::Result<()> {
    let preload = format!(
        "const FOLDER = {};\nconst OPTION = {};\n{PRELOAD}",
        to_script(&folder.to_string_lossy()),
        to_script(&node_option(folder))
    );
    fs::write(folder.join(PRELOAD_NAME), preload)?;
    fs::write(folder.join(MOCHA_REPORTER_NAME), MOCHA_REPORTER)
}

/// Quotes a text as both JavaScript and `NODE_OPTIONS` read it.
fn to_script(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
