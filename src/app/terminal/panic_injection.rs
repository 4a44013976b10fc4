//! Panics on request of a test: inside a frame, or on another thread.
//!
//! Only in debug builds.

use std::path::Path;

/// The variable with the path of a file; once the file exists, the next frame panics as it says.
const BREAK_FILE_VARIABLE: &str = "AGENT_COLLAB_TEST_BREAK";

/// Panics once if the file exists.
#[expect(clippy::panic, reason = "that is what it is for")]
pub fn panic_if_requested() {
    let Some(file) = std::env::var_os(BREAK_FILE_VARIABLE) else {
        return;
    };
    let Ok(wish) = std::fs::read_to_string(Path::new(&file)) else {
        return;
    };
    let _gone = std::fs::remove_file(&file);
    match wish.as_str() {
        "beside" => drop(std::thread::spawn(|| panic!("broken on purpose, beside"))),
        _ => panic!("broken on purpose, in the middle of a frame"),
    }
}
