//! The folder of one seed: a home, a repository, scripts; the program is launched in it repeatedly.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use agent_collab::scripted::ScriptedProgram;

use crate::player::{Launch, OVER};
use crate::programs::put_program;
use crate::repository;
use crate::scenarios::Scenario;
use crate::stand_ins::script_file;

/// The real-time limit of a launch, on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

pub struct World {
    _folder: tempfile::TempDir,
    pub folder: PathBuf,
    pub root: PathBuf,
}

/// How a launch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The run is over.
    Over,
    /// The program exited by itself, but the run is not over.
    NotOver,
    /// A signal ended it.
    Signalled(i32),
    /// It did not end in time.
    Hung,
}

/// The output of a launch.
#[derive(Debug, Clone)]
pub struct Told {
    pub ended: Ended,
    /// Each line as a word and its text.
    pub lines: Vec<(String, String)>,
}

impl Told {
    /// Returns the texts after a word.
    pub fn all<'t>(&'t self, word: &'t str) -> impl Iterator<Item = &'t str> {
        let is_it = move |line: &&'t (String, String)| line.0 == word;
        self.lines.iter().filter(is_it).map(|line| line.1.as_str())
    }
}

impl World {
    pub fn new(scenario: &Scenario) -> Self {
        let scratch = if Path::new("/dev/shm").is_dir() {
            tempfile::tempdir_in("/dev/shm")
        } else {
            tempfile::tempdir()
        };
        let scratch = scratch.expect("scratch folder");
        let folder = scratch.path().canonicalize().expect("real path");
        let world = Self {
            root: folder.join("repository"),
            _folder: scratch,
            folder,
        };
        world.fill(scenario);
        world
    }

    fn fill(&self, scenario: &Scenario) {
        for name in ["home", "tmp"] {
            fs::create_dir_all(self.folder.join(name)).expect("folder");
        }
        copy_tree(repository::template(), &self.root);
        if !scenario.hook.is_empty() {
            let hook = self.root.join(".git/hooks/pre-commit");
            put_program(&hook, scenario.hook);
        }
        for (guise, agent) in [ScriptedProgram::Codex, ScriptedProgram::Claude]
            .into_iter()
            .zip((scenario.agents)())
        {
            fs::write(script_file(&self.folder, guise), agent.to_json()).expect("script");
        }
        fs::write(self.folder.join("config.toml"), scenario.config).expect("configuration");
    }

    /// Starts the program once and waits for its end.
    pub fn launch(&self, launch: &Launch) -> Told {
        let plan = serde_json::to_string(launch).expect("a launch");
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command
            .args(["--play", &plan])
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", self.folder.join("home"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("this program");
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            let lines = read(out.expect("stdout"));
            let mut said = String::new();
            // A panic message is not UTF-8 only if the machine is broken.
            let _broken = err.expect("stderr").read_to_string(&mut said);
            let _nobody = send.send((lines, said));
        });
        let (mut lines, said, hung) = match lines.recv_timeout(LIMIT) {
            Ok((lines, said)) => (lines, said, false),
            Err(_) => {
                child.kill().expect("it can be killed");
                let (lines, said) = lines.recv().unwrap_or_default();
                (lines, said, true)
            }
        };
        let status = child.wait().expect("a status");
        if !said.is_empty() {
            lines.push(("stderr".to_owned(), said));
        }
        let ended = match (hung, status.signal(), status.code()) {
            (true, ..) => Ended::Hung,
            (_, Some(signal), _) => Ended::Signalled(signal),
            (_, _, Some(OVER)) => Ended::Over,
            _ => Ended::NotOver,
        };
        Told { ended, lines }
    }

    /// The run: in the history, where a start found it over, and else the work directory.
    pub fn run(&self) -> PathBuf {
        kept(&self.root).unwrap_or_else(|| self.root.join(".agent-collab"))
    }

    /// A file of the run; empty where there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.run().join(name)).unwrap_or_default()
    }

    /// All texts in the work directory.
    pub fn texts(&self) -> BTreeMap<PathBuf, String> {
        let mut texts = BTreeMap::new();
        let mut folders = vec![self.root.join(".agent-collab")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = fs::read_to_string(&path) {
                    texts.insert(path, text);
                }
            }
        }
        texts
    }
}

/// The run in the history of a repository; what was cut off before it had a plan is none.
pub fn kept(root: &Path) -> Option<PathBuf> {
    let history = fs::read_dir(root.join(".agent-collab/history")).ok()?;
    let mut runs = history.flatten().map(|entry| entry.path());
    runs.find(|run| run.join("plan.md").exists())
}

fn read(out: impl Read) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for line in BufReader::new(out).lines().map_while(Result::ok) {
        let (word, text) = line.split_once(' ').unwrap_or((line.as_str(), ""));
        lines.push((word.to_owned(), text.to_owned()));
    }
    lines
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("folder");
    for entry in fs::read_dir(from).expect("template").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("copy");
        }
    }
}
