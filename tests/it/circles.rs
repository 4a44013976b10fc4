//! Finds files that import each other in a circle, directly or through other files, and fails where a circle is large.
//!
//! Reads `use`, and paths from `crate`, `self` and `super`, as text; what a module only hands on belongs to the file that
//! defines it. What a file calls by the name of a child or of an imported module, and methods of a type that lies in other
//! files, are not followed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::none;
use crate::sources::{self, Source, line_of};

/// How many files a circle may have.
const MOST_FILES: usize = 6;

static USE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);").unwrap());
static INLINE_PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").unwrap());
static VISIBILITY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"pub\(in [^)]*\)").unwrap());

/// A module by its names from the crate's root: `["tui", "tabs"]`.
type ModulePath = Vec<String>;

/// What a file says of other modules.
#[derive(Default)]
struct UsedPaths {
    /// Each path, without the item at its end where that is known; and whether the module only hands it on.
    paths: Vec<(ModulePath, bool)>,
    /// What it hands on: the name, and where that comes from.
    handed_on: BTreeMap<String, ModulePath>,
}

fn module_path(source: &Source) -> ModulePath {
    let below = source.path.trim_start_matches("src/");
    let below = below.trim_end_matches(".rs");
    let names = below.split('/').filter(|name| *name != "lib");
    names.map(str::to_owned).collect()
}

/// Returns the paths of a `use` tree, each in full.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree);
        return vec![path.split_whitespace().collect()];
    };
    let (head, body) = tree.split_at(open);
    let body = body[1..].trim_end().trim_end_matches('}');
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    // The last brace is cut off, so the depth of what is left never falls below zero.
    for c in body.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    // Braces of inner groups at the very end were cut off, too.
    let parts = parts.map(|part| {
        let n_open = part.matches('{').count() - part.matches('}').count();
        format!("{head}{}{}", part.trim(), "}".repeat(n_open))
    });
    parts.flat_map(|part| expand(&part)).collect()
}

/// Returns a path from the crate's root; `None` for one of another crate.
fn absolute(module: &ModulePath, path: &str, modules: &BTreeSet<ModulePath>) -> Option<ModulePath> {
    let mut names = path.split("::").map(str::to_owned).peekable();
    let mut base = module.clone();
    match names.peek()?.as_str() {
        "crate" => {
            base.clear();
            names.next();
        }
        "self" => {
            names.next();
        }
        "super" => {
            while names.next_if(|name| name == "super").is_some() {
                base.pop();
            }
        }
        first => {
            let child: ModulePath = [module.as_slice(), &[first.to_owned()]].concat();
            if !modules.contains(&child) {
                return None;
            }
        }
    }
    base.extend(names);
    Some(base)
}

fn used_paths(source: &Source, modules: &BTreeSet<ModulePath>) -> UsedPaths {
    let module = module_path(source);
    let is_product = |at: usize| !source.is_test(line_of(&source.code, at));
    let mut used = UsedPaths::default();
    for found in USE.captures_iter(&source.code) {
        if !is_product(found.get(0).unwrap().start()) {
            continue;
        }
        let hands_on = found.get(1).is_some();
        for path in expand(&found[2]) {
            let Some(path) = absolute(&module, &path, modules) else {
                continue;
            };
            if let Some(name) = path.last().filter(|_| hands_on) {
                used.handed_on.insert(name.clone(), path.clone());
            }
            used.paths.push((path, hands_on));
        }
    }
    // Blanks of the same length keep the lines.
    let blank = |found: &regex::Captures<'_>| found[0].replace(|c: char| c != '\n', " ");
    let code = USE.replace_all(&source.code, blank);
    let code = VISIBILITY.replace_all(&code, blank);
    for found in INLINE_PATH
        .find_iter(&code)
        .filter(|found| is_product(found.start()))
    {
        let path = absolute(&module, found.as_str(), modules);
        used.paths.extend(path.map(|path| (path, false)));
    }
    used
}

/// Returns the module that defines what a path names.
fn definer(path: &ModulePath, all: &BTreeMap<ModulePath, UsedPaths>) -> Option<ModulePath> {
    let mut path = path.clone();
    // A name may be handed on by several modules.
    for _ in 0..8 {
        let n_names = (0..=path.len())
            .rev()
            .find(|n| all.contains_key(&path[..*n]))?;
        let (module, rest) = path.split_at(n_names);
        let next = rest
            .first()
            .and_then(|name| all[module].handed_on.get(name));
        match next.filter(|next| **next != path) {
            Some(next) => path = [next.as_slice(), &rest[1..]].concat(),
            None => return Some(module.to_vec()),
        }
    }
    None
}

/// Returns the modules that each module uses.
fn arrows(sources: &[Source]) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let product: Vec<&Source> = sources
        .iter()
        .filter(|source| source.n_lines() > 0)
        .collect();
    let modules: BTreeSet<ModulePath> = product.iter().map(|source| module_path(source)).collect();
    let used = product
        .iter()
        .map(|source| (module_path(source), used_paths(source, &modules)));
    let used: BTreeMap<ModulePath, UsedPaths> = used.collect();
    let targets = |module: &ModulePath, said: &UsedPaths| -> BTreeSet<ModulePath> {
        let found = said.paths.iter().filter_map(|(path, hands_on)| {
            let target = definer(path, &used)?;
            let is_own = *hands_on && target.starts_with(module);
            (!is_own && target != *module && !target.is_empty()).then_some(target)
        });
        found.collect()
    };
    used.iter()
        .map(|(module, said)| (module.clone(), targets(module, said)))
        .collect()
}

/// Returns all that can be reached from a module.
fn reached<'a>(
    from: &'a ModulePath,
    arrows: &'a BTreeMap<ModulePath, BTreeSet<ModulePath>>,
) -> BTreeSet<&'a ModulePath> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        let next = arrows.get(module).into_iter().flatten();
        open.extend(next.filter(|next| seen.insert(*next)));
    }
    seen
}

/// Returns the circles, each as its modules.
fn circles(arrows: &BTreeMap<ModulePath, BTreeSet<ModulePath>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> = arrows
        .keys()
        .map(|module| (module, self::reached(module, arrows)))
        .collect();
    let mut done = BTreeSet::new();
    let mut circles = Vec::new();
    for (module, others) in &reached {
        let comes_back = |other: &&&ModulePath| reached[**other].contains(module);
        let circle: Vec<&ModulePath> = others.iter().filter(comes_back).copied().collect();
        if circle.len() > 1 && !done.contains(*module) {
            done.extend(circle.iter().copied());
            circles.push(circle.iter().map(|module| module.join("/")).collect());
        }
    }
    circles
}

#[test]
fn no_circle_of_files_is_large() {
    let circles = circles(&arrows(sources::all()));
    let large = circles.iter().filter(|circle| circle.len() > MOST_FILES);
    let complaints: Vec<String> = large
        .map(|circle| format!("{} files: {}", circle.len(), circle.join(" ")))
        .collect();
    none(
        &complaints,
        "at most six files may import each other in a circle: move what both need into a file below both",
    );
}

fn parsed(files: &[(&str, &str)]) -> Vec<Source> {
    let files = files.iter();
    files.map(|file| sources::parse(file.0, file.1).0).collect()
}

#[test]
fn a_circle_is_found_through_groups_parents_and_what_is_handed_on() {
    let files = parsed(&[
        ("src/lib.rs", "//! x\nmod a;"),
        (
            "src/a.rs",
            "//! x\npub use c::Third;\nuse b::{self, Second};\n",
        ),
        ("src/a/b.rs", "//! x\nuse crate::{a::Third, text};\n"),
        (
            "src/a/c.rs",
            "//! x\nfn f(_: super::b::Second) {}\npub(in crate::a) fn g() {}\n",
        ),
        (
            "src/text.rs",
            "//! x\n#[cfg(test)]\nmod tests {\n    use crate::a::Third;\n}\n",
        ),
    ]);
    assert_eq!(circles(&arrows(&files)), [["a/b", "a/c"]]);
}
