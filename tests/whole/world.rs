//! The world of one test: a home, a repository, scripts, and the binary that runs in it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use agent_collab::engine::runtime_dir;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::script::Agent;
use crate::{leftovers, repository};

/// The time limit of everything. Generous, because the machine may be busy and only failures take that long.
pub const LIMIT: Duration = Duration::from_secs(240);

/// A run with the scripted agents, released and approved beforehand.
pub const RUN: [&str; 6] = [
    "run",
    "--goal",
    "A test",
    "--auto",
    "--yes-execute",
    "--allow-plan-test",
];

/// The binary under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-collab");

/// A scratch folder with `home`, `repository`, scripts and a configuration file.
pub struct World {
    _folder: tempfile::TempDir,
    /// The folder, real path.
    pub folder: PathBuf,
    pub root: PathBuf,
    /// Additions to the configuration file, TOML.
    pub config: String,
    /// Additions to the environment.
    pub env: Vec<(String, String)>,
    /// Whether steps are proven in clean copies. Most tests are about something else, and run their tests once.
    pub proves_steps: bool,
}

/// What a run of the program left.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The exit code; 1000 when a signal or the time limit ended it.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl World {
    /// A repository on `main` with one commit.
    pub fn new() -> Self {
        let world = Self::without_git();
        repository::init(&world.root);
        world.put("README.md", "# A project\n");
        repository::commit_all(&world.root, "first");
        world
    }

    /// A folder that is no repository.
    pub fn without_git() -> Self {
        let scratch = tempfile::tempdir().expect("scratch folder");
        let folder = scratch.path().canonicalize().expect("real path");
        let root = folder.join("repository");
        for path in [&root, &folder.join("home"), &folder.join("tmp")] {
            fs::create_dir_all(path).expect("folder");
        }
        Self {
            _folder: scratch,
            folder,
            root,
            config: String::new(),
            env: Vec::new(),
            proves_steps: false,
        }
    }

    /// Lets these two play.
    pub fn cast(&self, planner: &Agent, reviewer: &Agent) {
        fs::write(self.folder.join("codex.json"), planner.to_json()).expect("script");
        fs::write(self.folder.join("claude.json"), reviewer.to_json()).expect("script");
    }

    /// Lets claude plan and execute, in bubblewrap, and codex review.
    pub fn cast_claude_first(&mut self, planner: &Agent, reviewer: &Agent) {
        self.cast(reviewer, planner);
        self.config
            .push_str("[roles]\nplanner = \"claude\"\nreviewer = \"codex\"\n");
    }

    /// Writes a file of the repository.
    pub fn put(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("file");
    }

    /// Reads a file of the repository.
    pub fn read(&self, path: &str) -> String {
        let path = self.root.join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Runs git in the repository.
    pub fn git(&self, arguments: &[&str]) -> String {
        repository::git(&self.root, arguments)
    }

    /// The subjects of the commits on HEAD, newest first.
    pub fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// The files of the newest commit.
    pub fn committed(&self) -> Vec<String> {
        let list = self.git(&["show", "--format=", "--name-only", "HEAD"]);
        list.lines()
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// The run as `state.json` has it.
    pub fn state(&self) -> Value {
        let snapshot: Value =
            serde_json::from_str(&self.read(".agent-collab/state.json")).expect("state.json");
        snapshot
    }

    /// The folders of the run's sockets and tokens.
    pub fn doors(&self) -> Vec<PathBuf> {
        let run = self.events_of("run.created");
        let run = run[0]["run"].as_str().expect("a name");
        let places = [self.folder.join("tmp"), PathBuf::from("/tmp")];
        let found = places
            .iter()
            .flat_map(|place| runtime_dir::run_dirs_in(place, run));
        found.collect()
    }

    /// The events as `events.jsonl` has them.
    pub fn events(&self) -> Vec<Value> {
        events_in(&self.read(".agent-collab/events.jsonl"))
    }

    /// Returns whether a matching event exists; false before the log exists.
    pub fn has_event(&self, is_it: impl Fn(&Value) -> bool) -> bool {
        let log = fs::read_to_string(self.root.join(".agent-collab/events.jsonl"));
        events_in(&log.unwrap_or_default()).iter().any(is_it)
    }

    /// The data of the events of one kind.
    pub fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events()
            .into_iter()
            .filter(|event| event["kind"] == kind)
            .map(|event| event["data"].clone())
            .collect()
    }

    /// `run --goal "A test"` with the scripted agents, released and approved beforehand.
    pub fn run(&self, more: &[&str]) -> Ran {
        self.start_run(more).wait()
    }

    /// The same, left running.
    pub fn start_run(&self, more: &[&str]) -> Running {
        self.start(&[&RUN[..], more].concat())
    }

    /// Runs the program, with the scripted agents' configuration if the sub-command accepts one.
    pub fn program(&self, arguments: &[&str]) -> Ran {
        Running::start(self.command(arguments)).wait()
    }

    /// Starts the program and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments))
    }

    /// The command, ready to be started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let file = self.folder.join("config.toml");
        fs::write(&file, self.config_text()).expect("configuration");
        let mut command = Command::new(PROGRAM);
        command.current_dir(&self.root).args(arguments).env_clear();
        if matches!(
            arguments.first(),
            Some(&("run" | "resume" | "doctor" | "task" | "discuss"))
        ) && !arguments.contains(&"--config")
        {
            command.arg("--config").arg(&file);
        }
        self.surround(&mut command);
        command
    }

    /// Prepares a shell line of the user in the repository.
    pub fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(&self.root)
            .env_clear();
        self.surround(&mut command);
        command
    }

    /// Sets the user's environment.
    fn surround(&self, command: &mut Command) {
        for name in ["PATH", "USER", "LOGNAME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
            .env("HOME", self.folder.join("home"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(self.env.iter().cloned());
    }

    /// Returns whether configuration, repository or plan name a test command.
    fn has_tests(&self) -> bool {
        let manifests = [
            "pytest.ini",
            "pyproject.toml",
            "package.json",
            "Cargo.toml",
            "go.mod",
        ];
        let is_detected = manifests.iter().any(|name| self.root.join(name).exists());
        let mut scripts = ["codex.json", "claude.json"].iter().map(|name| {
            // Before they are cast there are none.
            fs::read_to_string(self.folder.join(name)).unwrap_or_default()
        });
        self.config.contains("[test]") || is_detected || scripts.any(|s| s.contains("Test: "))
    }

    fn config_text(&self) -> String {
        let adapter = |name: &str| {
            let script = self.folder.join(format!("{name}.json"));
            format!(
                "[adapters.{name}]\nprogram = {PROGRAM:?}\nargs = [\"scripted-agent\", \"--as\", \"{name}\", \"--fast\", \"--script\", {:?}]\nwritable = [{:?}]\n",
                script.display().to_string(),
                self.folder.display().to_string()
            )
        };
        // A run needs tests: here a command that always passes, unless the test has its own.
        let test = if self.has_tests() {
            ""
        } else {
            "[test]\ndefault_command = \"true\"\n"
        };
        let (codex, claude) = (adapter("codex"), adapter("claude"));
        let text = format!("{}\n{codex}{claude}{test}", self.config);
        let off = "[test]\nproof = \"off\"\n";
        if self.proves_steps {
            text
        } else if text.contains("[test]\n") {
            text.replacen("[test]\n", off, 1)
        } else {
            format!("{text}{off}")
        }
    }

    /// A file outside the repository that its tests may write: one in a cache of a tool's.
    pub fn written_by_tests(&self, name: &str) -> PathBuf {
        let folder = self.folder.join("home/.ccache");
        fs::create_dir_all(&folder).expect("a cache");
        folder.join(name)
    }

    /// Makes a pipe on disk; `cat` of it waits until [`World::release`].
    pub fn fifo(&self, name: &str) -> String {
        let path = self.folder.join(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        path.display().to_string()
    }

    /// Waits for what is written into the pipe.
    pub fn heard(&self, name: &str) -> String {
        let path = self.folder.join(name);
        let (tell, told) = channel();
        // If there is no writer, only this thread blocks.
        thread::spawn(move || tell.send(fs::read_to_string(path)));
        let text = told.recv_timeout(LIMIT);
        text.unwrap_or_else(|_| panic!("nobody wrote into `{name}`"))
            .expect("what was written")
    }

    /// Lets the process that waits at the pipe continue.
    pub fn release(&self, name: &str) {
        let path = self.folder.join(name);
        // A missing reader must not block the test, so only this thread waits; the run's own limit ends it.
        thread::spawn(move || fs::write(path, "go on\n"));
    }

    /// The files below a folder of the repository, with their bytes.
    pub fn files(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                match entry.file_type().expect("type") {
                    kind if kind.is_dir() => folders.push(path),
                    kind if kind.is_file() => {
                        found.push((path.clone(), fs::read(&path).expect("bytes")))
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Processes of runs in this world that still live.
    pub fn leftovers(&self) -> Vec<String> {
        leftovers::marked_with(&self.folder.display().to_string())
    }
}

/// The program while it runs; killed when it is dropped.
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    err: Receiver<String>,
    seen: String,
    since: Instant,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        let (to_lines, lines) = channel();
        let (to_err, err) = channel();
        let (out, errors) = (
            child.stdout.take().expect("stdout"),
            child.stderr.take().expect("stderr"),
        );
        thread::spawn(move || {
            let mut reader = BufReader::new(out);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
                let _nobody = to_lines.send(String::from_utf8_lossy(&line).into_owned());
                line.clear();
            }
        });
        thread::spawn(move || {
            let mut text = Vec::new();
            let _gone = BufReader::new(errors).read_to_end(&mut text);
            let _nobody = to_err.send(String::from_utf8_lossy(&text).into_owned());
        });
        Self {
            child,
            lines,
            err,
            seen: String::new(),
            since: Instant::now(),
        }
    }

    /// Waits for a line of output that contains this.
    pub fn until(&mut self, word: &str) {
        loop {
            let left = LIMIT.saturating_sub(self.since.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => {
                    let found = line.contains(word);
                    self.seen.push_str(&line);
                    if found {
                        return;
                    }
                }
                Err(_) => {
                    let _gone = self.child.kill();
                    let err = self.err.recv().unwrap_or_default();
                    panic!("no `{word}` came:\n{}\n{err}", self.seen);
                }
            }
        }
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, name: &str) {
        let signal: Signal = format!("SIG{name}").parse().expect("a signal");
        kill(Pid::from_raw(self.pid().cast_signed()), signal).expect("the program runs");
    }

    /// Waits for its end; past the limit it is killed and the test fails by its exit code.
    pub fn wait(mut self) -> Ran {
        loop {
            let left = LIMIT.saturating_sub(self.since.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.seen.push_str(&line),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    let _gone = self.child.kill();
                    self.seen
                        .push_str("\n*** killed at the time limit of the test ***\n");
                    break;
                }
            }
        }
        let status = self.child.wait().expect("status");
        Ran {
            code: status.code().unwrap_or(1000),
            out: std::mem::take(&mut self.seen),
            err: self.err.recv().unwrap_or_default(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Ran {
    /// Fails the test unless the program ended with this code.
    #[track_caller]
    pub fn ends(&self, code: i32) -> &Self {
        assert_eq!(
            self.code, code,
            "\n--- out\n{}\n--- err\n{}",
            self.out, self.err
        );
        self
    }

    /// Fails the test unless standard output contains this.
    #[track_caller]
    pub fn says(&self, word: &str) -> &Self {
        assert!(
            self.out.contains(word),
            "no `{word}` in\n{}\n--- err\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Fails the test unless standard error contains this.
    #[track_caller]
    pub fn complains(&self, word: &str) -> &Self {
        assert!(
            self.err.contains(word),
            "no `{word}` in\n{}\n--- out\n{}",
            self.err,
            self.out
        );
        self
    }
}

/// The events of a log. A line without its end is not whole: the program is writing it, or was killed while it did.
fn events_in(log: &str) -> Vec<Value> {
    log.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| serde_json::from_str(line).expect("event"))
        .collect()
}

/// Waits for a state that no output line reports.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let give_up_at = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < give_up_at, "waited in vain until {what}");
        // Checking without a pause would slow the program down.
        thread::sleep(Duration::from_millis(5));
    }
}
