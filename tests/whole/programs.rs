//! Writes the programs that tests invent.

#![allow(
    clippy::expect_used,
    reason = "all of this is for tests, which clippy's own switches for tests do not see"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program. Another process does it: if the file were open for writing here, every child that another test
/// starts at that moment would inherit it, and until their exec the program could not run ("text file busy").
pub fn put_program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh");
    let mut stdin = writer.stdin.take().expect("stdin");
    stdin.write_all(text.as_bytes()).expect("text");
    drop(stdin);
    assert!(writer.wait().expect("its end").success());
}
