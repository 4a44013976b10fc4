//! Checks sed scripts for what they run and which files they write.

use super::super::command_invocation::CommandInvocation;
use super::super::command_scene::CommandScene;
use super::check_file_write;

/// `sed '1e rm -rf x'`, `s/x/y/e`: the `e` command and the `e` flag run a command.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let mut scripts =
        super::super::file_operations::raw_option_values(command, &["-e", "--expression", "-ne"]);
    if scripts.is_empty() {
        scripts.extend(command.arguments.operand_text(0));
    }
    for script in scripts {
        for part in script.split([';', '\n']) {
            let bare = part.trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!' | '{')
            });
            if let Some(text) = bare.strip_prefix("e ") {
                scene.classify_nested_script(text, &command.simple.span);
            }
            // `w file`, `s/a/b/w file`.
            let written = bare.strip_prefix("w ").or_else(|| {
                let (front, path) = bare.rsplit_once("w /")?;
                let at = bare.len() - path.len() - 1;
                front
                    .starts_with(['s', '/'])
                    .then(|| bare.get(at..))
                    .flatten()
            });
            if let Some(path) = written {
                check_file_write(path.trim(), command.simple, scene);
            }
        }
        if let Some(text) = executed_replacement(script) {
            scene.classify_nested_script(&text, &command.simple.span);
        }
    }
}

/// Returns the replacement in `s/…/…/e`.
fn executed_replacement(script: &str) -> Option<String> {
    let rest = script.trim_start().strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| c.is_ascii_punctuation())?;
    let mut parts = rest.split(mark).skip(2);
    let replacement = parts.next()?;
    let flags = parts.next()?;
    let flags: String = flags
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    flags.contains('e').then(|| replacement.to_owned())
}
