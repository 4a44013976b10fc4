//! Compares paths by name, without reading the disk: makes them absolute and checks whether they are protected.
//!
//! Links are not resolved here; callers also check the resolved path.

use std::path::{Component, Path, PathBuf};

/// Makes a path absolute and removes `.` and `..` by name alone.
pub fn lexical_absolute(cwd: &Path, named: &Path) -> PathBuf {
    let mut path = PathBuf::new();
    for component in cwd.join(named).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                path.push(component)
            }
        }
    }
    path
}

/// Returns whether an absolute path is the root or below it.
pub fn is_inside(path: &Path, root: &Path) -> bool {
    is_lexically_resolved(path) && path.starts_with(root)
}

/// Returns whether an absolute path is below the root.
pub fn is_below(path: &Path, root: &Path) -> bool {
    is_inside(path, root) && path != root
}

/// Returns whether a path is in a `.git` (of this or any repository), in the root's `.agent-collab` or in one of the
/// program's own folders. Letter case is ignored, and so is what a file system may ignore in a name.
pub fn is_protected(path: &Path, root: &Path, own: &[PathBuf]) -> bool {
    let below = path.strip_prefix(root).ok();
    let first = below.and_then(|below| below.components().next());
    let is_own = first.is_some_and(|first| fold_component(first) == ".agent-collab")
        || own.iter().any(|folder| is_folded_inside(path, folder));
    let parts = below.unwrap_or(path);
    is_own
        || parts
            .components()
            .any(|part| matches!(fold_component(part).as_str(), ".git" | "git~1"))
}

/// Returns whether a path is a folder or below it, where names that a file system may treat as equal are equal.
fn is_folded_inside(path: &Path, folder: &Path) -> bool {
    let mut parts = path.components();
    folder.components().all(|name| {
        parts
            .next()
            .is_some_and(|part| fold_component(part) == fold_component(name))
    })
}

/// Returns a path below the root relative to it, any other path unchanged; for rules and for the user.
pub fn display_path(path: &Path, root: &Path) -> String {
    let path = if is_below(path, root) {
        path.strip_prefix(root).unwrap_or(path)
    } else {
        path
    };
    path.to_string_lossy().into_owned()
}

fn is_lexically_resolved(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|part| part == Component::ParentDir)
}

/// Some file systems ignore case, joiners, and dots, spaces and streams at the end of a name.
fn fold_component(component: Component<'_>) -> String {
    let name = component.as_os_str().to_string_lossy();
    let visible = name.chars().filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}'));
    let name: String = visible.collect::<String>().to_lowercase();
    let name = name.split(':').next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let path = lexical_absolute(Path::new("/repo/sub"), Path::new(path));
        let root = Path::new("/repo");
        let place = if is_below(&path, root) {
            "below"
        } else {
            "not below"
        };
        let own = [PathBuf::from("/repo/runs/Here")];
        let protection = if is_protected(&path, root, &own) {
            "protected"
        } else {
            "free"
        };
        assert_eq!(
            format!("{} {place} {protection}", display_path(&path, root)),
            expected
        );
    }

    #[test]
    fn paths_are_resolved_by_name() {
        check("a/./b/../c", "sub/a/c below free");
        check("/repo/x", "x below free");
        check("../../etc", "/etc not below free");
        check("../../../../..", "/ not below free");
        check("..", "/repo not below free");
        check("/repository/x", "/repository/x not below free");
    }

    #[test]
    fn the_program_s_and_git_s_own_files_are_protected() {
        check("../.git/config", ".git/config below protected");
        check("../.GIT", ".GIT below protected");
        check(
            "vendor/.git/hooks/x",
            "sub/vendor/.git/hooks/x below protected",
        );
        check(
            "../.Agent-Collab/state.json",
            ".Agent-Collab/state.json below protected",
        );
        check(".agent-collab/x", "sub/.agent-collab/x below free");
        check("../.git. /x", ".git. /x below protected");
        check("../.g\u{200c}it/x", ".g\u{200c}it/x below protected");
        check("/other/.git/x", "/other/.git/x not below protected");
        check("../.gitignore", ".gitignore below free");
    }

    #[test]
    fn a_configured_folder_of_the_program_is_protected() {
        check("../runs/Here", "runs/Here below protected");
        check(
            "../RUNS/here/state.json",
            "RUNS/here/state.json below protected",
        );
        check("../runs/heretic", "runs/heretic below free");
        check("../runs", "runs below free");
        check("../other/runs/Here/x", "other/runs/Here/x below free");
    }
}
