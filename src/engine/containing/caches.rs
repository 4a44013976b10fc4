//! The tool caches that tests and commits may write. What in them runs, or configures the user's own commands, is read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::real;
use super::temporary::Scratch;
use super::user_environment::UserEnvironment;
use crate::process::SandboxMount;

/// A folder of a tool's. What lies in it is read, but for what is listed; what is new in it goes with the child.
struct ToolFolder {
    /// The variable that names it, where there is one.
    variable: &'static str,
    /// Where it is below the home.
    at_home: &'static str,
    /// What in it only holds what was fetched or built, and the locks for that: it is written.
    written: &'static [&'static str],
    /// What in it is not seen: the child has its own, which goes with it.
    fresh: &'static [&'static str],
}

const fn tool(
    variable: &'static str,
    at_home: &'static str,
    written: &'static [&'static str],
) -> ToolFolder {
    ToolFolder {
        variable,
        at_home,
        written,
        fresh: &[],
    }
}

/// The whole folder is written.
const WHOLE: &[&str] = &[""];

const TOOL_FOLDERS: &[ToolFolder] = &[
    tool(
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
    tool(
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
    tool("GOPATH", "go", &["pkg"]),
    tool("GOCACHE", "", WHOLE),
    tool("GOMODCACHE", "", WHOLE),
    tool("npm_config_cache", ".npm", &["_cacache", "_logs"]),
    tool("PNPM_HOME", ".local/share/pnpm", &["store"]),
    tool(
        "",
        ".yarn",
        &["berry/cache", "berry/index", "berry/metadata"],
    ),
    tool("YARN_CACHE_FOLDER", "", WHOLE),
    tool("BUN_INSTALL", ".bun", &["install/cache"]),
    tool("DENO_DIR", "", WHOLE),
    tool("UV_CACHE_DIR", "", WHOLE),
    tool("PIP_CACHE_DIR", "", WHOLE),
    ToolFolder {
        variable: "GRADLE_USER_HOME",
        at_home: ".gradle",
        written: &["caches", "native", "notifications", "workers", ".tmp"],
        // A daemon of the user's runs what it is told.
        fresh: &["daemon"],
    },
    tool("", ".m2", &["repository"]),
    tool("", ".ivy2", &["cache"]),
    tool("", ".sbt", &["boot/sbt.boot.lock"]),
    tool("", ".nuget", &["packages"]),
    tool("NUGET_PACKAGES", "", WHOLE),
    tool("", ".dotnet", &[]),
    tool("COMPOSER_HOME", ".composer", &["cache"]),
    tool("", ".bundle", &["cache"]),
    tool("HEX_HOME", ".hex", &["packages", "cache.ets"]),
    tool(
        "STACK_ROOT",
        ".stack",
        &["pantry", "stack.sqlite3", "stack.sqlite3.pantry-write-lock"],
    ),
    tool("CABAL_DIR", ".cabal", &["packages", "logs"]),
    tool("CCACHE_DIR", ".ccache", WHOLE),
    tool("SCCACHE_DIR", "", WHOLE),
];

/// A folder with more in it than this is not rebuilt entry by entry: what is missing in it stays missing.
const N_ENTRIES: usize = 400;

/// What the caches of common tools are to a child. Those in the repository are part of it.
pub(super) fn caches(
    user: &UserEnvironment,
    root: &Path,
    scratch: &mut Scratch,
) -> Vec<(PathBuf, SandboxMount)> {
    let mut places = Vec::new();
    for tool in TOOL_FOLDERS {
        let Some(folder) = tool_folder(user, tool.variable, tool.at_home) else {
            continue;
        };
        if folder.starts_with(root) {
            continue;
        }
        let written = tool
            .written
            .iter()
            .filter_map(|below| real(&folder.join(below)));
        // A link in it leads where the user put it, not out of it.
        let written: Vec<_> = written.filter(|path| path.starts_with(&folder)).collect();
        if tool.written != WHOLE {
            let layer = layer(&folder, tool.fresh, scratch).into_iter();
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

/// Lays an empty folder over a tool's, with all that is there to be read in it, so that the tool can make what it misses.
fn layer(folder: &Path, fresh: &[&str], scratch: &mut Scratch) -> Vec<(PathBuf, SandboxMount)> {
    let read_only = vec![(folder.to_owned(), SandboxMount::ReadOnly)];
    let entries: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    if entries.len() > N_ENTRIES {
        return read_only;
    }
    let Some(empty) = scratch.empty_folder(0o700) else {
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

/// A folder of a tool, where it is there: named by a variable, else below the home.
pub(super) fn tool_folder(
    user: &UserEnvironment,
    variable: &str,
    at_home: &str,
) -> Option<PathBuf> {
    let named = user.value(variable).map(PathBuf::from);
    let usual = || (!at_home.is_empty()).then(|| Some(user.home()?.join(at_home)))?;
    real(&named.or_else(usual)?)
}
