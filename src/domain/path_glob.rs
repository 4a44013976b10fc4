//! Matches paths of a repository against globs such as `src/**/*.{ts,tsx}`.
//!
//! Unlike in the patterns of permission rules, `*` does not match a slash.

use crate::permission::wildcard;

/// How many alternatives in braces a glob may have; the braces beyond are taken as they are.
const MAX_ALTERNATIVES: usize = 64;

/// A parsed glob. `*`, `?` and `[seq]` stay within one name, `**` takes any number of folders, `{a,b}` is either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathGlob {
    /// The names between the slashes, for each alternative.
    alternatives: Vec<Vec<String>>,
}

impl PathGlob {
    /// Parses a glob that matches whole paths from the repository's root.
    pub fn new(glob: &str) -> Self {
        let alternatives = expand_braces(glob);
        Self {
            alternatives: alternatives.iter().map(|one| split_path(one)).collect(),
        }
    }

    /// Parses a glob that also matches everything below a folder that it names: `src` and `src/` are `src/**`, too. A
    /// glob whose last name has a `*` or `?` names no folder unless a slash ends it.
    pub fn with_contents(glob: &str) -> Self {
        let mut parsed = Self::new(glob);
        let is_folder = |names: &Vec<String>| {
            let has_wildcard = names.last().is_some_and(|name| name.contains(['*', '?']));
            glob.trim_end().ends_with('/') || !has_wildcard
        };
        let folders: Vec<Vec<String>> = parsed
            .alternatives
            .iter()
            .filter(|names| is_folder(names))
            .cloned()
            .collect();
        for mut names in folders {
            names.push("**".to_owned());
            parsed.alternatives.push(names);
        }
        parsed
    }

    /// Makes the glob match below any folder, too.
    pub fn at_any_depth(mut self) -> Self {
        for names in &mut self.alternatives {
            names.insert(0, "**".to_owned());
        }
        self
    }

    /// Returns whether the glob matches a path, relative to the repository's root and with `/`.
    pub fn matches(&self, path: &str) -> bool {
        let path = split_path(path);
        // A name may be written as it is, such as `[id].tsx`, though its brackets look like a class.
        let takes = |part: &String, name: &String| part == name || wildcard::matches(part, name);
        self.alternatives
            .iter()
            .any(|names| wildcard::match_sequence(names, &path, |part| part == "**", takes))
    }
}

fn split_path(path: &str) -> Vec<String> {
    let names = path.trim().split('/');
    names
        .filter(|name| !name.is_empty() && *name != ".")
        .map(str::to_owned)
        .collect()
}

/// Returns one glob for each alternative in braces.
fn expand_braces(glob: &str) -> Vec<String> {
    let mut pending = vec![glob.to_owned()];
    let mut expanded = Vec::new();
    while let Some(glob) = pending.pop() {
        match find_braces(&glob) {
            Some((open, close)) if pending.len() + expanded.len() < MAX_ALTERNATIVES => {
                let (before, after) = (&glob[..open], &glob[close + 1..]);
                let inside = glob[open + 1..close].split(',');
                pending.extend(inside.map(|one| format!("{before}{one}{after}")));
            }
            Some(_) | None => expanded.push(glob),
        }
    }
    expanded
}

/// Finds the first braces with a comma and no other braces between them.
fn find_braces(glob: &str) -> Option<(usize, usize)> {
    glob.match_indices('}').find_map(|(close, _)| {
        let open = glob[..close].rfind('{')?;
        let inside = &glob[open..close];
        (inside.contains(',') && !inside.contains('}')).then_some((open, close))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(glob: &PathGlob, yes: &[&str], no: &[&str]) {
        for path in yes {
            assert!(glob.matches(path), "{glob:?} should match {path}");
        }
        for path in no {
            assert!(!glob.matches(path), "{glob:?} should not match {path}");
        }
    }

    #[test]
    fn a_star_stays_in_a_folder_and_two_stars_do_not() {
        check(
            &PathGlob::new("src/*.rs"),
            &["src/a.rs", "./src/a.rs"],
            &["src/a/b.rs", "a.rs", "x/src/a.rs"],
        );
        check(
            &PathGlob::new("src/**/*.rs"),
            &["src/a.rs", "src/a/b.rs", "src/a/b/c.rs"],
            &["src/a.py", "b/src/a.rs"],
        );
        check(
            &PathGlob::new("**/a/**/b"),
            &["a/b", "x/a/y/z/b", "a/a/b"],
            &["a", "a/b/c", "b"],
        );
        check(
            &PathGlob::new("src/**"),
            &["src/a", "src/a/b"],
            &["srca", "a/src"],
        );
        check(
            &PathGlob::new("app/[id]/*.tsx"),
            &["app/[id]/page.tsx"],
            &["app/x/page.tsx"],
        );
    }

    #[test]
    fn braces_are_alternatives() {
        check(
            &PathGlob::new("a.{ts,t{s,}x}"),
            &["a.ts", "a.tsx", "a.tx"],
            &["a.{ts", "a.t"],
        );
        check(
            &PathGlob::new("{id}/x.{a,b}"),
            &["{id}/x.a", "{id}/x.b"],
            &["id/x.a"],
        );
        let many = format!("{}x", "{a,b}".repeat(40));
        assert!(!PathGlob::new(&many).matches("x"));
        assert!(PathGlob::new(&many).alternatives.len() <= MAX_ALTERNATIVES + 2);
    }

    #[test]
    fn a_folder_has_its_contents_where_that_is_asked_for() {
        check(
            &PathGlob::with_contents("src"),
            &["src", "src/a/b.rs"],
            &["src.rs", "a/src/b"],
        );
        check(
            &PathGlob::with_contents("crates/*/src/"),
            &["crates/a/src/b/c.rs"],
            &["crates/a/b.rs"],
        );
        check(
            &PathGlob::with_contents("src/*"),
            &["src/a.rs"],
            &["src/a/b.rs"],
        );
        check(
            &PathGlob::new("test/**").at_any_depth(),
            &["test/a", "x/y/test/a"],
            &["tests/a"],
        );
    }

    proptest::proptest! {
        #[test]
        fn every_glob_and_path_can_be_matched(glob in "[ab*?/\\[\\]{},]{0,16}", path in "[ab/{}\\[\\]]{0,12}") {
            let _ = PathGlob::with_contents(&glob).matches(&path);
            if !path.is_empty() && !path.contains(['{', '}']) {
                proptest::prop_assert!(PathGlob::new(&path).matches(&path));
            }
        }
    }
}
