//! Classifies a path by its name alone: in the project, in a temporary folder, in the system, in a home folder.
//!
//! Nothing is read from the disk.

use std::path::Path;

use crate::permission::shell::UNKNOWN_PLACEHOLDER;
use crate::permission::word_list::is_in_word_list;

use super::CommandSafetySettings;

/// Where a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathClass {
    /// Below the working folder, or below the project's root.
    Project,
    /// The whole working folder, root, home or drive.
    WholeTree,
    /// Below `/tmp`, `/var/tmp` or another temporary folder.
    Temporary,
    /// Above the working folder, at an unknown height.
    AboveWorkingFolder,
    /// A system path, or a hidden path of a user.
    Protected,
    /// Absolute, and none of the others.
    Elsewhere,
    /// Begins with a part that is only known at run time.
    Unknown,
}

const SYSTEM_FOLDERS: &str = "bin boot dev efi etc lib lib32 lib64 libx32 opt proc root run sbin srv sys usr var system library applications \
    windows snap private volumes lost+found mnt media cores nix";

const TEMPORARY_FOLDERS: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/folders",
    "/var/folders",
    "/dev/shm",
    "$tmpdir",
    "~/.cache",
    "~/tmp",
];

/// Classifies a path relative to the folder that it is named from.
pub fn classify_path(text: &str, cwd: Option<&str>, settings: &CommandSafetySettings) -> PathClass {
    let named = normalize_path(text);
    let path = match cwd {
        Some(cwd) if !named.starts_with(['/', '~']) && !named.starts_with(UNKNOWN_PLACEHOLDER) => {
            normalize_path(&format!("{cwd}/{text}"))
        }
        _ => named,
    };
    let path = replace_home_with_tilde(&path, settings);
    if path.starts_with(UNKNOWN_PLACEHOLDER) {
        return PathClass::Unknown;
    }
    if let Some(place) = classify_by_root(&path, settings) {
        return place;
    }
    if TEMPORARY_FOLDERS.iter().any(|folder| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
    }) {
        return PathClass::Temporary;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if path.starts_with('/') {
        return classify_absolute_path(&parts);
    }
    if path.starts_with('~') {
        return match parts.get(1) {
            None => PathClass::WholeTree,
            Some(part) if matches_every_name(part) => PathClass::WholeTree,
            Some(_) if parts.len() == 2 || is_hidden_in_home(&parts) => PathClass::Protected,
            Some(_) => PathClass::Elsewhere,
        };
    }
    match parts.first() {
        None => PathClass::WholeTree,
        Some(&"..")
            if parts
                .iter()
                .all(|part| *part == ".." || matches_every_name(part)) =>
        {
            PathClass::WholeTree
        }
        Some(&"..") => PathClass::AboveWorkingFolder,
        Some(part)
            if parts.len() == 1
                && (matches_every_name(part) || *part == "." || *part == ".git") =>
        {
            PathClass::WholeTree
        }
        Some(part) if part.len() == 2 && part.ends_with(':') => PathClass::Protected,
        Some(_) => PathClass::Project,
    }
}

fn classify_absolute_path(parts: &[&str]) -> PathClass {
    let Some(first) = parts.first() else {
        return PathClass::WholeTree;
    };
    let folded = first.to_lowercase();
    if matches_every_name(first)
        || (parts.len() == 1 && folded != "tmp")
        || parts
            .iter()
            .skip(1)
            .take(1)
            .all(|part| matches_every_name(part))
    {
        return PathClass::WholeTree;
    }
    let of_user = matches!(folded.as_str(), "home" | "users");
    if of_user && (parts.len() <= 2 || parts.get(2).is_some_and(|part| matches_every_name(part))) {
        return PathClass::WholeTree;
    }
    if of_user {
        let below_home = parts.get(1..).unwrap_or_default();
        return if is_hidden_in_home(below_home) {
            PathClass::Protected
        } else {
            PathClass::Elsewhere
        };
    }
    if first.contains(['*', '?', '[']) || is_in_word_list(SYSTEM_FOLDERS, folded.as_str()) {
        return PathClass::Protected;
    }
    PathClass::Elsewhere
}

/// Returns whether the first part below a home is hidden, as keys and settings are.
fn is_hidden_in_home(parts: &[&str]) -> bool {
    parts.get(1).is_some_and(|part| part.starts_with('.'))
}

fn matches_every_name(part: &str) -> bool {
    !part.is_empty()
        && part
            .chars()
            .all(|c| matches!(c, '*' | '?' | '.' | '[' | ']' | '!'))
        && part.contains(['*', '?'])
}

fn classify_by_root(path: &str, settings: &CommandSafetySettings) -> Option<PathClass> {
    let root = settings.root.as_deref()?;
    if !path.starts_with('/') || root == Path::new("/") {
        return None;
    }
    let below = Path::new(path).strip_prefix(root).ok()?;
    let whole = below.as_os_str().is_empty()
        || below == Path::new(".git")
        || below.to_str().is_some_and(matches_every_name);
    Some(if whole {
        PathClass::WholeTree
    } else {
        PathClass::Project
    })
}

fn replace_home_with_tilde(path: &str, settings: &CommandSafetySettings) -> String {
    let Some(home) = settings.home.as_deref().and_then(Path::to_str) else {
        return path.to_owned();
    };
    match path.strip_prefix(home) {
        Some(rest) if home.len() > 1 && (rest.is_empty() || rest.starts_with('/')) => {
            match classify_by_root(path, settings) {
                Some(_) => path.to_owned(),
                None => format!("~{rest}"),
            }
        }
        _ => path.to_owned(),
    }
}

/// Removes `.`, `..`, double slashes and detours through `/proc` from a path by name.
pub fn normalize_path(text: &str) -> String {
    let is_absolute = text.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if parts
                .last()
                .is_some_and(|last| *last != ".." && !last.starts_with('~')) =>
            {
                parts.pop();
            }
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    if is_absolute
        && parts.len() > 3
        && parts.first() == Some(&"proc")
        && parts.get(2) == Some(&"root")
    {
        parts.drain(..3);
    }
    let joined = parts.join("/");
    if is_absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

/// Joins a folder and a path relative to it.
pub fn join_path(cwd: Option<&str>, text: &str) -> String {
    match cwd {
        Some(cwd) if !text.starts_with(['/', '~', UNKNOWN_PLACEHOLDER]) => {
            normalize_path(&format!("{cwd}/{text}"))
        }
        _ => normalize_path(text),
    }
}
