//! Tests the full-screen program as a user sees it: the built binary in a pseudo-terminal.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "all of this crate is a test, which clippy's own switches for tests do not see"
)]

mod beside;
mod calling;
mod demo;
mod dialog_clock;
mod discussing;
mod editing;
mod first_minute;
mod flows;
mod giving_back;
mod keys;
mod lent;
mod lifecycle;
mod linear;
#[path = "../../benches/measured/long_run.rs"]
mod long_run;
mod looking;
mod opening;
mod played;
#[path = "../whole/programs.rs"]
mod programs;
#[path = "../whole/script.rs"]
#[allow(
    dead_code,
    reason = "shared with another test crate, which uses more of it"
)]
mod script;
mod surroundings;
mod terminal;
mod tmux;

use std::path::{Path, PathBuf};
use std::process::Command;

use terminal::Terminal;

/// A home and a repository of their own.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(world.home()).unwrap();
        std::fs::create_dir(world.repository()).unwrap();
        world.git(&["init", "--quiet"]);
        world.git(&["config", "user.name", "test"]);
        world.git(&["config", "user.email", "test@example.invalid"]);
        world.git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
        world
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.repository()).args(arguments);
        assert!(git.env("HOME", self.home()).status().unwrap().success());
    }

    /// Starts the program in the repository and waits until it has the terminal.
    fn open(&self, arguments: &[&str]) -> Terminal {
        self.open_in("", arguments)
    }

    /// Starts the program in a folder of the repository and waits until it has the terminal.
    fn open_in(&self, folder: &str, arguments: &[&str]) -> Terminal {
        let mut terminal = self.open_plain(folder, arguments);
        terminal.wait("the terminal's modes", |terminal| terminal.is_taken());
        terminal
    }

    /// The user's own configuration.
    fn configure(&self, text: &str) {
        let folder = self.home().join(".config/agent-collab");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// Starts the program with some variables of the environment and waits until it has the terminal.
    fn open_with(&self, variables: &[(&str, &str)]) -> Terminal {
        self.open_so(&[], variables)
    }

    /// Opens the same with additional arguments.
    fn open_so(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Terminal {
        let program = Path::new(env!("CARGO_BIN_EXE_agent-collab"));
        let places = (self.home(), self.repository());
        let places = (&*places.0, &*places.1);
        let mut terminal = Terminal::start_with(program, arguments, places, variables);
        terminal.wait("the terminal's modes", |terminal| terminal.is_taken());
        terminal
    }

    /// Starts the program in a folder of the repository.
    fn open_plain(&self, folder: &str, arguments: &[&str]) -> Terminal {
        let program = Path::new(env!("CARGO_BIN_EXE_agent-collab"));
        let cwd = self.repository().join(folder);
        Terminal::start(program, arguments, &self.home(), &cwd)
    }
}
