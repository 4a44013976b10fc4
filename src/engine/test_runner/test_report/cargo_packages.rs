//! Finds the source files of cargo's test programs in a repository.
//!
//! cargo names a program's source file relative to its package, and does not name the package. The name of the program
//! tells it for libraries and binaries; the tests of a package follow these.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Value;

use crate::store::scoped_read::ScopedReader;

/// The maximum size of a manifest that is read, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1024 * 1024;
/// The maximum depth of folders in which packages are searched.
const MAX_DEPTH: usize = 6;
/// The maximum number of folders in which packages are searched.
const MAX_FOLDERS: usize = 5_000;

/// A package of the repository.
#[derive(Debug)]
struct CargoPackage {
    /// Its folder, relative to the root, with a slash at its end unless it is empty.
    folder: String,
    name: String,
    /// The names of its library and binaries, as programs have them.
    crates: Vec<String>,
}

/// The packages of a repository, and where the programs so far were found.
#[derive(Debug)]
pub(super) struct CargoPackages<'a> {
    root: &'a Path,
    packages: Vec<CargoPackage>,
    /// The package of each program, by its path in the package and its id.
    placed: BTreeMap<(String, String), usize>,
    /// The package of the last program.
    current: Option<usize>,
}

impl<'a> CargoPackages<'a> {
    /// Finds the packages below the root.
    pub(super) fn find(root: &'a Path) -> Self {
        let mut found = Vec::new();
        if let Ok(reader) = ScopedReader::open(root) {
            let mut n_left = MAX_FOLDERS;
            add_packages(root, "", &mut n_left, &mut |folder| {
                let manifest = reader.read_file(&format!("{folder}Cargo.toml"), MAX_MANIFEST_BYTES);
                let text = manifest
                    .ok()
                    .and_then(|bytes| String::from_utf8(bytes).ok());
                let manifest = text.and_then(|text| toml::from_str::<Value>(&text).ok());
                if let Some((name, crates)) = manifest.as_ref().and_then(package_names) {
                    let folder = folder.to_owned();
                    found.push(CargoPackage {
                        folder,
                        name,
                        crates,
                    });
                }
            });
        }
        Self {
            root,
            packages: found,
            placed: BTreeMap::new(),
            current: None,
        }
    }

    /// Returns the source file of a program, relative to the root; `None` if several packages may have it.
    pub(super) fn find_program_file(&mut self, path: &str, name: &str, id: &str) -> Option<String> {
        let key = (path.to_owned(), id.to_owned());
        let package = match self.placed.get(&key) {
            Some(package) => *package,
            None => self.choose_package(path, name)?,
        };
        self.current = Some(package);
        self.placed.insert(key, package);
        let folder = &self.packages.get(package)?.folder;
        Some(format!("{folder}{path}"))
    }

    fn choose_package(&self, path: &str, name: &str) -> Option<usize> {
        let is_placed = |n: &usize| {
            self.placed
                .iter()
                .any(|((placed_path, _), placed)| placed_path == path && placed == n)
        };
        let having: Vec<usize> = (0..self.packages.len())
            .filter(|n| self.has_file(*n, path))
            .collect();
        if let [only] = having[..] {
            return Some(only);
        }
        let mut named = having
            .iter()
            .filter(|n| self.packages[**n].crates.iter().any(|each| each == name));
        if let (Some(only), None) = (named.next(), named.next()) {
            return Some(*only);
        }
        // The programs of a package come one after another.
        let left: Vec<usize> = having.into_iter().filter(|n| !is_placed(n)).collect();
        self.current
            .filter(|current| left.contains(current))
            .or(match left[..] {
                [only] => Some(only),
                _ => None,
            })
    }

    /// Returns the source file of a program by the name that nextest gives it, such as `calc`, `calc::it` or
    /// `calc::bin/tool`, relative to the root; `None` where it is not in its usual place.
    pub(super) fn find_named_program_file(&self, id: &str) -> Option<String> {
        let (package, program) = id.split_once("::").unwrap_or((id, "lib"));
        let (kind, name) = program.split_once('/').unwrap_or(match program {
            "lib" => ("lib", "lib"),
            test => ("test", test),
        });
        let places = match kind {
            "lib" | "proc-macro" => vec!["src/lib.rs".to_owned()],
            "bin" => vec![
                format!("src/bin/{name}.rs"),
                format!("src/bin/{name}/main.rs"),
                "src/main.rs".to_owned(),
            ],
            "test" => vec![format!("tests/{name}.rs"), format!("tests/{name}/main.rs")],
            "example" => vec![format!("examples/{name}.rs")],
            "bench" => vec![format!("benches/{name}.rs")],
            _ => Vec::new(),
        };
        let n = self
            .packages
            .iter()
            .position(|known| known.name == package)?;
        let place = places.iter().find(|place| self.has_file(n, place))?;
        Some(format!("{}{place}", self.packages[n].folder))
    }

    /// Returns the file of a documentation test, relative to the root. cargo names it relative to its workspace.
    pub(super) fn find_doctest_file(&self, path: &str, name: &str) -> String {
        if self.root.join(path).is_file() {
            return path.to_owned();
        }
        let mut having = (0..self.packages.len()).filter(|n| self.has_file(*n, path));
        let named = having
            .clone()
            .find(|n| self.packages[*n].crates.iter().any(|each| each == name));
        match named.or(having.next()) {
            Some(n) => format!("{}{path}", self.packages[n].folder),
            None => path.to_owned(),
        }
    }

    fn has_file(&self, package: usize, path: &str) -> bool {
        let folder = self
            .packages
            .get(package)
            .map(|package| package.folder.as_str());
        folder.is_some_and(|folder| self.root.join(folder).join(path).is_file())
    }
}

/// Calls `add` with each folder that has a manifest.
fn add_packages(root: &Path, folder: &str, n_left: &mut usize, add: &mut dyn FnMut(&str)) {
    if *n_left == 0 || folder.matches('/').count() > MAX_DEPTH {
        return;
    }
    *n_left -= 1;
    let entries = std::fs::read_dir(root.join(folder))
        .into_iter()
        .flatten()
        .flatten();
    let mut folders = Vec::new();
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name == "Cargo.toml" {
            add(folder);
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder
            && !name.starts_with('.')
            && !["target", "node_modules"].contains(&name.as_str())
        {
            folders.push(format!("{folder}{name}/"));
        }
    }
    folders.sort();
    for folder in folders {
        add_packages(root, &folder, n_left, add);
    }
}

/// Returns the name of the package of a manifest, and those of its library and binaries; `None` if it describes none.
fn package_names(manifest: &Value) -> Option<(String, Vec<String>)> {
    let package = manifest.get("package")?.get("name")?.as_str()?;
    let library = manifest.get("lib").and_then(|library| library.get("name"));
    let binaries = manifest
        .get("bin")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let binaries = binaries.filter_map(|binary| binary.get("name"));
    let names = library
        .into_iter()
        .chain(binaries)
        .filter_map(Value::as_str);
    let names = names
        .chain([package])
        .map(|name| name.replace('-', "_"))
        .collect();
    Some((package.to_owned(), names))
}
