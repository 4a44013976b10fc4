//! Where a path lies, by its name alone: in the project, in a temporary folder, in the system, at home.
//!
//! It refuses to look at the disk; what it is not told it does not assume.

use std::path::Path;

use crate::permission::shell::UNKNOWN;
use crate::permission::word_list::is_in_word_list;

use super::Settings;

/// Where a path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Below the working folder, or below the project's root.
    Project,
    /// Everything that the working folder, the root, a home or a drive holds.
    Whole,
    /// Below `/tmp`, `/var/tmp` or another folder for what may go.
    Temporary,
    /// Above the working folder, by how much is not known.
    Above,
    /// The system's, or a user's own and hidden.
    Guarded,
    /// Absolute, and none of the others.
    Elsewhere,
    /// Begins with what only a run would show.
    Unknown,
}

/// Folders of the system.
const SYSTEM: &str = "bin boot dev efi etc lib lib32 lib64 libx32 opt proc root run sbin srv sys usr var system library applications \
    windows snap private volumes lost+found mnt media cores nix";

/// Folders for what may go.
const TEMPORARY: &[&str] = &[
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

/// A path and the folder that it is named from.
pub fn place_of(text: &str, cwd: Option<&str>, settings: &Settings) -> Place {
    let named = normal(text);
    let path = match cwd {
        Some(cwd) if !named.starts_with(['/', '~']) && !named.starts_with(UNKNOWN) => {
            normal(&format!("{cwd}/{text}"))
        }
        _ => named,
    };
    let path = with_home(&path, settings);
    if path.starts_with(UNKNOWN) {
        return Place::Unknown;
    }
    if let Some(place) = by_root(&path, settings) {
        return place;
    }
    if TEMPORARY.iter().any(|folder| {
        path.strip_prefix(folder)
            .is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
    }) {
        return Place::Temporary;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if path.starts_with('/') {
        return absolute(&parts);
    }
    if path.starts_with('~') {
        return match parts.get(1) {
            None => Place::Whole,
            Some(part) if is_all(part) => Place::Whole,
            Some(_) if parts.len() == 2 || is_hidden(&parts) => Place::Guarded,
            Some(_) => Place::Elsewhere,
        };
    }
    match parts.first() {
        None => Place::Whole,
        Some(&"..") if parts.iter().all(|part| *part == ".." || is_all(part)) => Place::Whole,
        Some(&"..") => Place::Above,
        Some(part) if parts.len() == 1 && (is_all(part) || *part == "." || *part == ".git") => {
            Place::Whole
        }
        Some(part) if part.len() == 2 && part.ends_with(':') => Place::Guarded,
        Some(_) => Place::Project,
    }
}

fn absolute(parts: &[&str]) -> Place {
    let Some(first) = parts.first() else {
        return Place::Whole;
    };
    let folded = first.to_lowercase();
    if is_all(first)
        || (parts.len() == 1 && folded != "tmp")
        || parts.iter().skip(1).take(1).all(|part| is_all(part))
    {
        return Place::Whole;
    }
    let of_user = matches!(folded.as_str(), "home" | "users");
    if of_user && (parts.len() <= 2 || parts.get(2).is_some_and(|part| is_all(part))) {
        return Place::Whole;
    }
    if of_user {
        let below_home = parts.get(1..).unwrap_or_default();
        return if is_hidden(below_home) {
            Place::Guarded
        } else {
            Place::Elsewhere
        };
    }
    if first.contains(['*', '?', '[']) || is_in_word_list(SYSTEM, folded.as_str()) {
        return Place::Guarded;
    }
    Place::Elsewhere
}

/// Tells whether the first part below a home is hidden, as keys and settings are.
fn is_hidden(parts: &[&str]) -> bool {
    parts.get(1).is_some_and(|part| part.starts_with('.'))
}

fn is_all(part: &str) -> bool {
    !part.is_empty()
        && part
            .chars()
            .all(|c| matches!(c, '*' | '?' | '.' | '[' | ']' | '!'))
        && part.contains(['*', '?'])
}

fn by_root(path: &str, settings: &Settings) -> Option<Place> {
    let root = settings.root.as_deref()?;
    if !path.starts_with('/') || root == Path::new("/") {
        return None;
    }
    let below = Path::new(path).strip_prefix(root).ok()?;
    let whole = below.as_os_str().is_empty()
        || below == Path::new(".git")
        || below.to_str().is_some_and(is_all);
    Some(if whole { Place::Whole } else { Place::Project })
}

fn with_home(path: &str, settings: &Settings) -> String {
    let Some(home) = settings.home.as_deref().and_then(Path::to_str) else {
        return path.to_owned();
    };
    match path.strip_prefix(home) {
        Some(rest) if home.len() > 1 && (rest.is_empty() || rest.starts_with('/')) => {
            match by_root(path, settings) {
                Some(_) => path.to_owned(),
                None => format!("~{rest}"),
            }
        }
        _ => path.to_owned(),
    }
}

/// Takes `.`, `..`, doubled slashes and the ways around through `/proc` out of a path by name.
pub fn normal(text: &str) -> String {
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

/// Joins a folder and what is named from it.
pub fn joined(cwd: Option<&str>, text: &str) -> String {
    match cwd {
        Some(cwd) if !text.starts_with(['/', '~', UNKNOWN]) => normal(&format!("{cwd}/{text}")),
        _ => normal(text),
    }
}
