//! Creates the folder of a demo: the scratch repository, the scripts, the configuration.
//!
//! Writes only into a folder that is empty or has an earlier demo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::scenes::{DemoScene, in_table_order};
use super::{DemoError, DemoSpeed, DemoWorkspace};

/// The files of the project, as paths and contents.
pub(super) const PROJECT: [(&str, &str); 4] = [
    (
        "README.md",
        include_str!("../../../assets/demo/project/README.md"),
    ),
    (
        "wordstat.sh",
        include_str!("../../../assets/demo/project/wordstat.sh"),
    ),
    (
        "tests/run.sh",
        include_str!("../../../assets/demo/project/tests/run.sh"),
    ),
    (
        "tests/test_count.sh",
        include_str!("../../../assets/demo/project/tests/test_count.sh"),
    ),
];

/// The scripts, by adapter.
pub(super) const SCRIPTS: [(&str, &str); 2] = [
    ("codex", include_str!("../../../assets/demo/codex.toml")),
    ("claude", include_str!("../../../assets/demo/claude.toml")),
];

const GOAL: &str = include_str!("../../../assets/demo/goal.md");

/// The first line of a demo's configuration; identifies the folder as a demo.
const CONFIG_MARKER: &str = "# Written by `agent-collab demo`.\n";

/// Variables that would redirect git to another repository.
const GIT_VARIABLES: [&str; 5] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
];

/// A folder for a demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DemoFolder {
    Empty(PathBuf),
    /// A folder with an earlier demo.
    Existing(DemoWorkspace),
}

/// Returns the folder of the demo: `dir`, created if missing, else a new temporary folder.
///
/// # Errors
/// The folder has files but no demo, or cannot be created.
pub fn open_demo_folder(dir: Option<&Path>) -> Result<DemoFolder, DemoError> {
    let Some(dir) = dir else {
        let made = tempfile::Builder::new()
            .prefix("agent-collab-demo-")
            .tempdir();
        let made = made.map_err(|source| DemoError::Make {
            path: std::env::temp_dir(),
            source,
        })?;
        return canonicalize_path(&made.keep()).map(DemoFolder::Empty);
    };
    let failed = |source| DemoError::Make {
        path: dir.to_owned(),
        source,
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let folder = canonicalize_path(dir)?;
    if std::fs::read_dir(dir).map_err(failed)?.next().is_none() {
        return Ok(DemoFolder::Empty(folder));
    }
    let demo = DemoWorkspace::in_folder(&folder);
    let config = std::fs::read_to_string(&demo.config_file).unwrap_or_default();
    if config.starts_with(CONFIG_MARKER) && demo.root.is_dir() {
        Ok(DemoFolder::Existing(demo))
    } else {
        Err(DemoError::NotEmpty {
            path: dir.to_owned(),
        })
    }
}

fn canonicalize_path(path: &Path) -> Result<PathBuf, DemoError> {
    path.canonicalize().map_err(|source| DemoError::Make {
        path: path.to_owned(),
        source,
    })
}

impl DemoWorkspace {
    fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            root: folder.join("wordstat"),
            config_file: folder.join("config.toml"),
            goal: GOAL.trim().to_owned(),
        }
    }
}

/// Creates a demo in an empty `folder`: the repository in `wordstat/`, the scripts and the configuration beside it.
/// `program` plays the scripts: this program.
///
/// # Errors
/// See [`DemoError`].
pub fn create_demo(
    folder: &Path,
    program: &Path,
    speed: DemoSpeed,
    scenes: &[DemoScene],
) -> Result<DemoWorkspace, DemoError> {
    let demo = DemoWorkspace::in_folder(folder);
    let scenes = &in_table_order(scenes);
    for (name, content) in PROJECT {
        write_file(&demo.root.join(name), content)?;
    }
    let scripts = folder.join("scripts");
    for (name, content) in SCRIPTS {
        let script = scenes
            .iter()
            .try_fold(content.to_owned(), |script, scene| {
                scene.add_to_script(name, &script)
            })?;
        write_file(&scripts.join(format!("{name}.toml")), &script)?;
    }
    write_file(
        &demo.config_file,
        &config_text(&scripts, program, speed, scenes)?,
    )?;
    make_repository(&demo.root)?;
    for (name, content) in scenes.iter().flat_map(|scene| scene.added_files) {
        append_to_file(&demo.root.join(name), content)?;
    }
    Ok(demo)
}

fn write_file(path: &Path, content: &str) -> Result<(), DemoError> {
    write_with_parents(path, |path| std::fs::write(path, content))
}

/// Appends to a file; a new one is executable, which hooks must be.
fn append_to_file(path: &Path, content: &str) -> Result<(), DemoError> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    write_with_parents(path, |path| {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.create(true).append(true).mode(0o755).open(path)?;
        file.write_all(content.as_bytes())
    })
}

fn write_with_parents(
    path: &Path,
    how: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), DemoError> {
    let failed = |source| DemoError::Make {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    how(path).map_err(failed)
}

/// Returns the text of the configuration: everything that the demo depends on, whatever the user's own configuration
/// says.
fn config_text(
    scripts: &Path,
    program: &Path,
    speed: DemoSpeed,
    scenes: &[DemoScene],
) -> Result<String, DemoError> {
    let adapter = |name: &str| {
        let script = scripts
            .join(format!("{name}.toml"))
            .to_string_lossy()
            .into_owned();
        let mut args = ["scripted-agent", "--as", name, "--script"]
            .map(str::to_owned)
            .to_vec();
        args.push(script);
        if speed == DemoSpeed::Fast {
            args.push("--fast".to_owned());
        }
        let mut table = toml::Table::new();
        table.insert("kind".to_owned(), name.into());
        table.insert(
            "program".to_owned(),
            program.to_string_lossy().into_owned().into(),
        );
        table.insert("args".to_owned(), args.into());
        // The folder in which the scripts store their next turn.
        let memory = toml::Value::from(scripts.to_string_lossy().into_owned());
        table.insert("writable".to_owned(), vec![memory].into());
        toml::Value::Table(table)
    };
    let number = |name: &str, otherwise: i64| {
        let mut set = scenes.iter().filter_map(|scene| scene.config_setting(name));
        toml::Value::Integer(set.next().unwrap_or(otherwise))
    };
    let (max_iterations, max_fix_turns) = (number("max_iterations", 5), number("max_fix_turns", 2));
    let mut config: toml::Table = toml::toml! {
        [roles]
        planner = "codex"
        reviewer = "claude"

        [test]
        default_command = "auto"
        proof = "full"
        fallback_to_agent = true
    };
    let workflow = toml::Table::from_iter([("max_iterations".to_owned(), max_iterations)]);
    config.insert("workflow".to_owned(), workflow.into());
    if let Some(test) = config.get_mut("test").and_then(toml::Value::as_table_mut) {
        test.insert("max_fix_turns".to_owned(), max_fix_turns);
    }
    let adapters = ["codex", "claude"].map(|name| (name.to_owned(), adapter(name)));
    config.insert(
        "adapters".to_owned(),
        toml::Table::from_iter(adapters).into(),
    );
    Ok(format!("{CONFIG_MARKER}\n{}", toml::to_string(&config)?))
}

/// Creates a repository with one commit and its own git identity.
fn make_repository(root: &Path) -> Result<(), DemoError> {
    run_git(root, &["init", "--quiet"])?;
    run_git(root, &["symbolic-ref", "HEAD", "refs/heads/main"])?;
    for (key, value) in [
        ("user.name", "agent-collab demo"),
        ("user.email", "demo@agent-collab.invalid"),
        ("commit.gpgsign", "false"),
        ("core.hooksPath", ".git/hooks"),
        ("core.autocrlf", "false"),
    ] {
        run_git(root, &["config", "--local", key, value])?;
    }
    run_git(root, &["add", "--all"])?;
    run_git(
        root,
        &[
            "commit",
            "--quiet",
            "--no-verify",
            "--message",
            "wordstat, with a failing test",
        ],
    )
}

fn run_git(root: &Path, arguments: &[&str]) -> Result<(), DemoError> {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(root)
        .args(arguments)
        .stdin(Stdio::null())
        .env("GIT_TERMINAL_PROMPT", "0");
    for variable in GIT_VARIABLES {
        command.env_remove(variable);
    }
    let output = command
        .output()
        .map_err(|source| DemoError::NoGit { source })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(DemoError::Git {
        command: arguments.join(" "),
        said,
    })
}
