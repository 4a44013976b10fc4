//! Reports where the program's own log would go, whether that works, and whether it contains prompts.

use serde_json::{Value, json};

use super::DoctorInput;
use crate::engine::log_sinks::{FrontEnd, describe_sinks, log_sinks, prompt_logging_notice};
use crate::store::debug_log::check_user_log_file;

/// Checks the log's sinks without writing anything.
pub(super) fn log_report(input: &DoctorInput) -> Value {
    let (config, root) = (&input.config, &input.root);
    let sinks = log_sinks(config, root, FrontEnd::Lines);
    let prompts = prompt_logging_notice(config, &sinks);
    let own = config.log.json_file.as_ref();
    match own.map(|path| check_user_log_file(path, root)) {
        Some(Err(error)) => json!({
            "ok": false, "prompts": prompts,
            "problem": format!("cannot write `log.json_file`: {error}"),
            "hint": OTHER_FILE_HINT,
        }),
        Some(Ok(())) | None => {
            let note = if sinks.is_empty() {
                "off".to_owned()
            } else {
                describe_sinks(&sinks)
            };
            json!({ "ok": true, "prompts": prompts, "note": note })
        }
    }
}

/// The hint for a log file that the user named and that cannot be written.
pub const OTHER_FILE_HINT: &str =
    "name a file outside the repository, in an existing folder that you can write to";
