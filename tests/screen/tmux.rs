//! The program inside tmux: start, work, resize, end.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::World;

/// A separate tmux server, which is stopped when this is dropped.
struct Tmux<'a> {
    world: &'a World,
    name: String,
}

impl Tmux<'_> {
    fn run(&self, arguments: &[&str]) -> std::io::Result<Output> {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.name, "-f", "/dev/null"])
            .args(arguments);
        tmux.env("HOME", self.world.home()).env_remove("TMUX");
        for name in [
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
            "NO_COLOR",
            "COLORTERM",
            "COLORFGBG",
        ] {
            tmux.env_remove(name);
        }
        tmux.current_dir(self.world.repository()).output()
    }

    fn screen(&self) -> String {
        let output = self.run(&["capture-pane", "-p"]).unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn wait(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(
                Instant::now() < deadline,
                "waited in vain for {what}:\n{screen}"
            );
            // Nothing announces what tmux shows.
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _gone = self.run(&["kill-server"]);
    }
}

#[test]
fn it_works_inside_tmux() {
    let world = World::new();
    let tmux = Tmux {
        name: format!("agent-collab-{}", std::process::id()),
        world: &world,
    };
    let is_there = tmux.run(&["-V"]).is_ok_and(|said| said.status.success());
    assert!(is_there, "tmux is missing; tests/run installs it");
    let program = env!("CARGO_BIN_EXE_agent-collab");
    let line = format!("'{program}'; echo LEFT; exec sh");
    let started = tmux
        .run(&["new-session", "-d", "-x", "100", "-y", "30", &line])
        .unwrap();
    assert!(started.status.success(), "{started:?}");
    tmux.wait("the screen", |screen| {
        screen.contains("What should we build?")
    });
    tmux.run(&["send-keys", "-l", "hello 中"]).unwrap();
    let screen = tmux.wait("what is typed", |screen| screen.contains("hello 中"));
    assert!(
        !screen.contains("rgb:") && !screen.contains("11;"),
        "{screen}"
    );
    tmux.run(&["resize-window", "-x", "60", "-y", "20"])
        .unwrap();
    let is_narrow = |screen: &str| {
        let widest = screen.lines().map(|line| line.chars().count()).max();
        screen.contains("What should we build?") && widest.is_some_and(|widest| widest <= 60)
    };
    tmux.wait("the narrow screen", is_narrow);
    tmux.run(&["send-keys", "C-c"]).unwrap();
    let after = tmux.wait("the shell", |screen| screen.contains("LEFT"));
    assert!(
        !after.contains("What should we build?"),
        "the screen from before is back:\n{after}"
    );
}
