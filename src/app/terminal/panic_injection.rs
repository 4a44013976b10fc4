//! Breaks the program where a test wants it: in the middle of a frame, or on a thread beside it.
//!
//! Only in builds for development. Refuses to know what comes of it.

use std::path::Path;

/// The variable that names a file; as soon as that is there, the next frame breaks as it says.
const BREAK_FILE_VARIABLE: &str = "AGENT_COLLAB_TEST_BREAK";

/// Breaks, where that is wanted and only once.
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
