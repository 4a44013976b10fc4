//! Decides which tool caches tests and commits may write. Parts that contain programs, or settings for the
//! user's own commands, are read-only.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::canonical_path;
use super::temp_folders::SandboxScratch;
use super::user_environment::UserEnvironment;
use crate::process::SandboxMount;

/// A folder of a tool. It is read-only except for the listed paths; new files in it are discarded with the
/// child.
struct ToolFolder {
    /// The variable that names the folder, if there is one.
    variable: &'static str,
    /// The path below the home directory.
    home_path: &'static str,
    /// The paths that only contain downloaded or built files and their locks: these are writable.
    writable_paths: &'static [&'static str],
    /// The hidden paths: the child gets its own, which is discarded with it.
    fresh_paths: &'static [&'static str],
}

const fn new_tool_folder(
    variable: &'static str,
    at_home: &'static str,
    written: &'static [&'static str],
) -> ToolFolder {
    ToolFolder {
        variable,
        home_path: at_home,
        writable_paths: written,
        fresh_paths: &[],
    }
}

/// The whole folder is writable.
const WHOLE_FOLDER: &[&str] = &[""];

const TOOL_FOLDERS: &[ToolFolder] = &[
    new_tool_folder(
        "XDG_CACHE_HOME",
        ".cache",
        &[
            "bazel",
            "ccache",
            "composer",
            "coursier",
            "deno",
            "fontconfig",
            "go-build",
            "golangci-lint",
            "hex",
            "matplotlib",
            "mesa_shader_cache",
            "mypy",
            "node-gyp",
            "pip",
            "pnpm",
            "pypoetry/artifacts",
            "pypoetry/cache",
            "ruff",
            "sccache",
            "turbo",
            "uv",
            "yarn",
            "zig",
        ],
    ),
    new_tool_folder(
        "CARGO_HOME",
        ".cargo",
        &[
            "registry",
            "git",
            ".package-cache",
            ".package-cache-mutate",
            ".global-cache",
        ],
    ),
    new_tool_folder("GOPATH", "go", &["pkg"]),
    new_tool_folder("GOCACHE", "", WHOLE_FOLDER),
    new_tool_folder("GOMODCACHE", "", WHOLE_FOLDER),
    new_tool_folder("npm_config_cache", ".npm", &["_cacache", "_logs"]),
    new_tool_folder("PNPM_HOME", ".local/share/pnpm", &["store"]),
    new_tool_folder(
        "",
        ".yarn",
        &["berry/cache", "berry/index", "berry/metadata"],
    ),
    new_tool_folder("YARN_CACHE_FOLDER", "", WHOLE_FOLDER),
    new_tool_folder("BUN_INSTALL", ".bun", &["install/cache"]),
    new_tool_folder("DENO_DIR", "", WHOLE_FOLDER),
    new_tool_folder("UV_CACHE_DIR", "", WHOLE_FOLDER),
    new_tool_folder("PIP_CACHE_DIR", "", WHOLE_FOLDER),
    ToolFolder {
        variable: "GRADLE_USER_HOME",
        home_path: ".gradle",
        writable_paths: &["caches", "native", "notifications", "workers", ".tmp"],
        // A daemon of the user's would run what it is told to.
        fresh_paths: &["daemon"],
    },
    new_tool_folder("", ".m2", &["repository"]),
    new_tool_folder("", ".ivy2", &["cache"]),
    new_tool_folder("", ".sbt", &["boot/sbt.boot.lock"]),
    new_tool_folder("", ".nuget", &["packages"]),
    new_tool_folder("NUGET_PACKAGES", "", WHOLE_FOLDER),
    new_tool_folder("", ".dotnet", &[]),
    new_tool_folder("COMPOSER_HOME", ".composer", &["cache"]),
    new_tool_folder("", ".bundle", &["cache"]),
    new_tool_folder("HEX_HOME", ".hex", &["packages", "cache.ets"]),
    new_tool_folder(
        "STACK_ROOT",
        ".stack",
        &["pantry", "stack.sqlite3", "stack.sqlite3.pantry-write-lock"],
    ),
    new_tool_folder("CABAL_DIR", ".cabal", &["packages", "logs"]),
    new_tool_folder("CCACHE_DIR", ".ccache", WHOLE_FOLDER),
    new_tool_folder("SCCACHE_DIR", "", WHOLE_FOLDER),
];

/// A folder with more entries is not rebuilt entry by entry: what is missing in it stays missing.
const MAX_REBUILT_ENTRIES: usize = 400;

/// Returns the mounts of common tool caches. Caches inside the repository are part of it.
pub(super) fn cache_mounts(
    user: &UserEnvironment,
    root: &Path,
    scratch: &mut SandboxScratch,
) -> Vec<(PathBuf, SandboxMount)> {
    let mut places = Vec::new();
    for tool in TOOL_FOLDERS {
        let Some(folder) = find_tool_folder(user, tool.variable, tool.home_path) else {
            continue;
        };
        if folder.starts_with(root) {
            continue;
        }
        let written = tool
            .writable_paths
            .iter()
            .filter_map(|below| canonical_path(&folder.join(below)));
        // A link may lead out of the folder; only targets inside of it become writable.
        let written: Vec<_> = written.filter(|path| path.starts_with(&folder)).collect();
        if tool.writable_paths != WHOLE_FOLDER {
            let layer = overlay_mounts(&folder, tool.fresh_paths, scratch).into_iter();
            places.extend(layer.filter(|(path, _)| !written.contains(path)));
        }
        places.extend(
            written
                .into_iter()
                .map(|path| (path, SandboxMount::Writable)),
        );
    }
    places
}

/// Mounts an empty folder over the tool's, with all readable entries in it, so that the tool can create what
/// is missing.
fn overlay_mounts(
    folder: &Path,
    fresh: &[&str],
    scratch: &mut SandboxScratch,
) -> Vec<(PathBuf, SandboxMount)> {
    let read_only = vec![(folder.to_owned(), SandboxMount::ReadOnly)];
    let entries: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    if entries.len() > MAX_REBUILT_ENTRIES {
        return read_only;
    }
    let Some(empty) = scratch.create_empty_folder(0o700) else {
        return read_only;
    };
    let mut places = vec![(folder.to_owned(), SandboxMount::BindFrom(empty.clone()))];
    for entry in entries {
        let name = entry.file_name();
        if fresh.iter().any(|fresh| name == *fresh) {
            continue;
        }
        match fs::read_link(entry.path()) {
            Ok(target) => {
                if let Err(error) = symlink(target, empty.join(name)) {
                    tracing::warn!(%error, "a link is missing in a contained command's tool folder");
                }
            }
            Err(_) => places.push((folder.join(name), SandboxMount::ReadOnly)),
        }
    }
    places
}

/// Returns an existing tool folder: from its variable, else below the home directory.
pub(super) fn find_tool_folder(
    user: &UserEnvironment,
    variable: &str,
    at_home: &str,
) -> Option<PathBuf> {
    let named = user.value(variable).map(PathBuf::from);
    let usual = || (!at_home.is_empty()).then(|| Some(user.home()?.join(at_home)))?;
    canonical_path(&named.or_else(usual)?)
}
