//! Judges commands that write devices and disks directly, or format, partition or wipe them.
//!
//! Regular files are in `file_operations`.

use crate::permission::shell::{RedirectKind, SimpleCommand};

use super::builtin_rules::RuleName;
use super::command_invocation::CommandInvocation;
use super::command_scene::CommandScene;
use super::file_operations::output_paths;

pub const WRITE: RuleName = RuleName::new("devices.write");
const FORMAT: RuleName = RuleName::new("devices.format");

/// File systems that `mkfs.` makes.
const FILE_SYSTEMS: &[&str] = &[
    "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "msdos", "exfat", "ntfs", "f2fs",
    "minix", "jfs", "reiserfs", "bfs", "cramfs", "udf", "nilfs2", "erofs", "hfsplus", "hfs",
    "bcachefs", "ocfs2", "gfs2",
];

/// Devices that store nothing.
const HARMLESS_DEVICES: &[&str] = &[
    "null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty", "fd",
];

/// Judges programs with a device among their arguments by what they write.
pub fn check_command(command: &CommandInvocation<'_>, scene: &CommandScene<'_>) {
    let span = &command.simple.span;
    let file_system = command.program.strip_prefix("mkfs.");
    if file_system.is_some_and(|name| FILE_SYSTEMS.contains(&name))
        || (command.program == "wipefs" && wipes_signatures(command))
    {
        scene.record_rule(FORMAT, span);
    }
    let written = output_paths(command);
    if written
        .iter()
        .any(|path| is_harmful_device(&scene.resolve_path(path)))
    {
        scene.record_rule(WRITE, span);
    }
}

/// Judges redirects to devices.
pub fn check_redirects(simple: &SimpleCommand, scene: &CommandScene<'_>) {
    let writes = |kind| {
        matches!(
            kind,
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite
        )
    };
    let devices = simple.redirects.iter().filter(|redirect| {
        writes(redirect.kind) && is_harmful_device(&scene.resolve_path(&redirect.target.text))
    });
    for _ in devices {
        scene.record_rule(WRITE, &simple.span);
    }
}

/// Returns whether a path, by name, is a device that can be harmed.
pub fn is_harmful_device(path: &str) -> bool {
    let path = climbing_path_to_root(path);
    path.strip_prefix("/dev/")
        .is_some_and(|name| !name.is_empty())
        && !is_harmless_device(path)
}

/// A path that climbs several folders up into `dev` is treated as one from the root, wherever it starts.
fn climbing_path_to_root(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("../../") else {
        return path;
    };
    let rest = rest.trim_start_matches("../");
    if rest.starts_with("dev/") {
        path.get(path.len() - rest.len() - 1..).unwrap_or(path)
    } else {
        path
    }
}

/// Returns whether a path, by name, is a device that stores nothing.
pub fn is_harmless_device(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    let number = name.strip_prefix("fd/").unwrap_or_default();
    HARMLESS_DEVICES.contains(&name)
        || (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// `wipefs` with only a device lists and does not wipe.
fn wipes_signatures(command: &CommandInvocation<'_>) -> bool {
    command.arguments.has_option(&["-a", "--all"])
        && !command.arguments.has_option(&["-n", "--no-act"])
}
