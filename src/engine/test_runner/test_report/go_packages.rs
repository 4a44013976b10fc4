//! Finds the files of go's tests in a repository: go names the package of a test, not its file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::store::scoped_read::ScopedReader;

/// The maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// The maximum depth of folders in which modules are searched.
const MAX_DEPTH: usize = 6;
/// The maximum number of folders in which modules are searched.
const MAX_FOLDERS: usize = 5_000;
/// The maximum number of files that are read for test functions.
const MAX_TEST_FILES: usize = 5_000;

/// The modules of a repository, and the test functions of the packages that were looked up.
pub(super) struct GoPackages<'a> {
    root: &'a Path,
    reader: Option<ScopedReader>,
    /// Each module's name and its folder, relative to the root.
    modules: Vec<(String, String)>,
    /// The file of each test function, by package.
    packages: BTreeMap<String, BTreeMap<String, String>>,
    n_files_left: usize,
}

impl<'a> GoPackages<'a> {
    /// Finds the modules below the root.
    pub(super) fn find(root: &'a Path) -> Self {
        let mut packages = Self {
            root,
            reader: ScopedReader::open(root).ok(),
            modules: Vec::new(),
            packages: BTreeMap::new(),
            n_files_left: MAX_TEST_FILES,
        };
        let mut n_left = MAX_FOLDERS;
        packages.add_modules("", &mut n_left);
        // The innermost module that fits comes first.
        packages
            .modules
            .sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        packages
    }

    fn add_modules(&mut self, folder: &str, n_left: &mut usize) {
        if *n_left == 0 || folder.split('/').count() > MAX_DEPTH {
            return;
        }
        *n_left -= 1;
        if let Some(manifest) = self.read(&join(folder, "go.mod")) {
            let mut lines = manifest.lines().map(str::trim);
            let name =
                lines.find_map(|line| line.strip_prefix("module ")?.split_whitespace().next());
            if let Some(name) = name {
                let name = name.trim_matches('"').to_owned();
                self.modules.push((name, folder.to_owned()));
            }
        }
        for (name, is_folder) in self.entries(folder) {
            let is_source = !name.starts_with(['.', '_']) && name != "node_modules";
            if is_folder && is_source && name != "vendor" {
                self.add_modules(&join(folder, &name), n_left);
            }
        }
    }

    /// Returns the file of a test, relative to the root; the folder of its package where no file is known to have it.
    pub(super) fn find_file(&mut self, package: &str, test: &str) -> String {
        let Some(folder) = self.folder_of(package) else {
            return package.to_owned();
        };
        if !self.packages.contains_key(package) {
            let tests = self.find_tests(&folder);
            self.packages.insert(package.to_owned(), tests);
        }
        let function = test.split('/').next().unwrap_or(test);
        let tests = self.packages.get(package);
        let file = tests.and_then(|tests| tests.get(function)).cloned();
        file.unwrap_or(folder)
    }

    /// Returns the folder of a package, relative to the root.
    pub(super) fn folder_of(&self, package: &str) -> Option<String> {
        self.modules.iter().find_map(|(module, folder)| {
            let rest = package.strip_prefix(module.as_str())?;
            let inner = rest.strip_prefix('/');
            (rest.is_empty() || inner.is_some()).then(|| join(folder, inner.unwrap_or_default()))
        })
    }

    fn find_tests(&mut self, folder: &str) -> BTreeMap<String, String> {
        static FUNCTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r"(?m)^func ((?:Test|Example|Fuzz|Benchmark)\w*)\s*\(").ok()
        });
        let mut tests = BTreeMap::new();
        for (name, is_folder) in self.entries(folder) {
            if is_folder || !name.ends_with("_test.go") || self.n_files_left == 0 {
                continue;
            }
            self.n_files_left -= 1;
            let path = join(folder, &name);
            let text = self.read(&path).unwrap_or_default();
            let found = FUNCTION
                .iter()
                .flat_map(|function| function.captures_iter(&text));
            tests.extend(found.map(|function| (function[1].to_owned(), path.clone())));
        }
        tests
    }

    fn read(&self, path: &str) -> Option<String> {
        let bytes = self.reader.as_ref()?.read_file(path, MAX_FILE_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the names in a folder, and whether each is a folder.
    fn entries(&self, folder: &str) -> Vec<(String, bool)> {
        let entries = std::fs::read_dir(self.root.join(folder));
        let mut found: Vec<(String, bool)> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let is_folder = entry.file_type().ok()?.is_dir();
                Some((entry.file_name().into_string().ok()?, is_folder))
            })
            .collect();
        found.sort();
        found
    }
}

fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}
