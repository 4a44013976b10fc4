//! Finds processes that outlived their run, by the mark in their environment.

/// Processes whose environment names this folder and bears the program's mark.
pub fn marked_with(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment);
        if environment.contains("AGENT_COLLAB_MARK=") && environment.contains(word) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!(
                "{name}: {}",
                String::from_utf8_lossy(&line).replace('\0', " ")
            ));
        }
    }
    found
}
