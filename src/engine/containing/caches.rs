//! The tool caches that tests and commits may write, and what in them would run or configure the user's own commands.

use std::path::{Path, PathBuf};

use super::real;
use crate::process::Hold;

/// Where the tools of many languages keep what they fetched and built: the variable that names the folder, where
/// there is one, and the folder below the user's home.
const CACHES: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", ".cache"),
    ("CARGO_HOME", ".cargo"),
    ("RUSTUP_HOME", ".rustup"),
    ("GOPATH", "go"),
    ("GOCACHE", ".cache/go-build"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("npm_config_cache", ".npm"),
    ("PNPM_HOME", ".local/share/pnpm"),
    ("YARN_CACHE_FOLDER", ".yarn"),
    ("BUN_INSTALL", ".bun"),
    ("DENO_DIR", ".deno"),
    ("UV_CACHE_DIR", ".local/share/uv"),
    ("WORKON_HOME", ".local/share/virtualenvs"),
    ("GRADLE_USER_HOME", ".gradle"),
    ("", ".m2"),
    ("", ".ivy2"),
    ("", ".sbt"),
    ("NUGET_PACKAGES", ".nuget"),
    ("", ".dotnet"),
    ("COMPOSER_HOME", ".composer"),
    ("GEM_HOME", ".gem"),
    ("", ".bundle"),
    ("MIX_HOME", ".mix"),
    ("HEX_HOME", ".hex"),
    ("STACK_ROOT", ".stack"),
    ("CABAL_DIR", ".cabal"),
    ("CCACHE_DIR", ".ccache"),
];

/// What lies in such a folder, but configures or starts the user's own commands.
const NO_CACHES: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo/bin"),
    ("CARGO_HOME", ".cargo/config"),
    ("CARGO_HOME", ".cargo/config.toml"),
    ("CARGO_HOME", ".cargo/credentials.toml"),
    ("CARGO_HOME", ".cargo/env"),
    ("GOPATH", "go/bin"),
    ("BUN_INSTALL", ".bun/bin"),
    ("DENO_DIR", ".deno/bin"),
    ("", ".m2/settings.xml"),
    ("GRADLE_USER_HOME", ".gradle/gradle.properties"),
    ("GRADLE_USER_HOME", ".gradle/init.d"),
];

/// What the program's own children work in: the repository, temporary files, and the caches of common tools.
pub(super) fn work(root: &Path) -> Vec<(PathBuf, Hold)> {
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    let writable = temporary.iter().filter_map(|path| real(path));
    let mut places: Vec<_> = writable.map(|path| (path, Hold::Writable)).collect();
    let there = |list: &[(&str, &str)], hold: Hold| -> Vec<(PathBuf, Hold)> {
        let named = list.iter().filter_map(|(name, below)| cache(name, below));
        named.map(|path| (path, hold.clone())).collect()
    };
    places.extend(there(CACHES, Hold::Writable));
    places.extend(there(NO_CACHES, Hold::ReadOnly));
    places.push((root.to_owned(), Hold::Writable));
    places
}

/// A folder of a tool, where it is there; `below` begins with the folder that the variable names.
pub(super) fn cache(variable: &str, below: &str) -> Option<PathBuf> {
    let named =
        std::env::var_os(variable).filter(|value| !variable.is_empty() && !value.is_empty());
    let (_, rest) = below.split_once('/').unwrap_or((below, ""));
    let path = match named {
        Some(folder) if NO_CACHES.contains(&(variable, below)) => PathBuf::from(folder).join(rest),
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME")?).join(below),
    };
    real(&path)
}
