//! Kills a run and resumes it: when to kill the program, how to resume, and what must be true in the end, however
//! often it was killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::bounded::{self, Started};
use crate::leftovers::{assert_none_left, find_leftovers};
use crate::model_server::script::{PROMPT, Vendor};
use crate::world::{Cast, World, of_kind};

/// The run's event log in its repository.
const LOG: &str = ".agent-collab/events.jsonl";
const ROLES: [&str; 2] = ["planner", "reviewer"];
/// The option for a run, both at its start and when it is resumed.
const CONDUCT: &str = "--yes-execute";
/// The command line that resumes a run.
pub const RESUME: [&str; 6] = [
    "resume",
    "--auto",
    CONDUCT,
    "--on-step",
    "continue",
    "--json",
];
/// The time limit of one life of the program.
const LIMIT: Duration = Duration::from_secs(240);
/// How often to check whether the moment has come: less time than the program needs for a synced line.
const GLANCE: Duration = Duration::from_micros(300);

/// When the program is killed.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// As soon as the log satisfies this.
    Logged(fn(&[Value]) -> bool),
    /// As soon as the log has so many lines, and so much later.
    Lines(usize, Duration),
    /// As soon as a process of the scenario has this text in its command line.
    Runs(&'static str),
}

/// How one life of the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By the signal.
    Killed,
    /// By itself, before the moment came.
    Done,
}

/// A run with one or more lives.
pub struct Lives<'a> {
    world: &'a World,
    program: Started,
    /// The size of the log when this life started.
    size_before: u64,
    /// Roles whose first turn was cut off: their conversations may be missing.
    begun_anew: BTreeSet<&'static str>,
}

impl<'a> Lives<'a> {
    /// Starts the run.
    pub fn begin(world: &'a World) -> Lives<'a> {
        Lives {
            world,
            program: world.start(&[CONDUCT]),
            size_before: 0,
            begun_anew: BTreeSet::new(),
        }
    }

    /// Kills the program at a moment and resumes the run; a run that has already ended stays unchanged.
    pub fn cut_at(&mut self, moment: Moment) -> End {
        let end = self.kill_at(moment);
        if end == End::Killed {
            self.take_up();
        }
        end
    }

    fn path(&self) -> PathBuf {
        self.world.repository.root().join(LOG)
    }

    /// Resumes the run; a goal that was never stored is given again.
    pub fn take_up(&mut self) {
        let has_goal = of_kind(&self.world.log(), "goal.given").next().is_some();
        self.size_before = size_of(&self.path());
        self.program = if has_goal {
            self.world.start_program(&RESUME)
        } else {
            self.world.start(&[CONDUCT])
        };
    }

    /// Kills the program at a moment, unless it ends before.
    pub fn kill_at(&mut self, moment: Moment) -> End {
        let path = self.path();
        let deadline = Instant::now() + LIMIT;
        // A life that has written nothing yet is not killed by what an earlier one wrote.
        let mut size = self.size_before;
        loop {
            let grown = size_of(&path);
            let has_come = match moment {
                Moment::Logged(holds) => grown != size && holds(&self.world.log()),
                Moment::Lines(n, _) => grown != size && n_lines(&path) >= n,
                Moment::Runs(words) => runs(self.world, words),
            };
            size = grown;
            if has_come {
                break;
            }
            if self.program.is_over() || Instant::now() > deadline {
                return End::Done;
            }
            thread::sleep(GLANCE);
        }
        if let Moment::Lines(_, later) = moment {
            thread::sleep(later);
        }
        if self.program.is_over() {
            End::Done
        } else {
            self.program.signal(Signal::SIGKILL);
            self.program.wait();
            self.note_cut();
            End::Killed
        }
    }

    /// Records a cut; a conversation is resumable once its first turn has ended.
    fn note_cut(&mut self) {
        let log = self.world.log();
        for role in ROLES {
            let session = session_of(&log, role);
            if n_of(&log, session, "turn.started") > 0 && n_of(&log, session, "turn.ended") == 0 {
                self.begun_anew.insert(role);
            }
        }
    }

    /// Waits for the end, which must be successful or already reached, and checks that no process is left.
    /// Returns the roles whose first turn was cut off, because their conversations were not resumable yet.
    ///
    /// # Panics
    /// Otherwise.
    pub fn finish(self) -> BTreeSet<&'static str> {
        let root = self.world.home.root();
        let finished = self.program.finish(root, LIMIT);
        let code = finished.code();
        // What a finished run looks like is asserted anyway.
        let ended = code == 0 || finished.stderr.contains("no unfinished run");
        assert!(
            ended,
            "{code}\n{}\n{}",
            bounded::tail(&finished.stdout),
            bounded::tail(&finished.stderr)
        );
        assert_none_left(root);
        self.begun_anew
    }
}

/// The id of a role's session.
fn session_of<'a>(log: &'a [Value], role: &str) -> &'a Value {
    match of_kind(log, "run.created").next() {
        Some(created) => &created["data"][role][0],
        None => &Value::Null,
    }
}

/// Counts a session's events of a kind.
fn n_of(log: &[Value], session: &Value, kind: &str) -> usize {
    of_kind(log, kind)
        .filter(|event| event["session"] == *session)
        .count()
}

/// In the end each role's model saw the whole conversation, as if nothing had happened. Only a role whose first
/// turn was cut off may have had two.
///
/// # Panics
/// When something is missing.
pub fn assert_conversations_kept(world: &World, cast: Cast, begun_anew: &BTreeSet<&str>) {
    let (state, log) = (world.state(), world.log());
    for role in ROLES {
        let n_opened = n_of(&log, session_of(&log, role), "session.opened");
        let is_kept = n_opened == 1 && state[role]["degraded"] == false;
        assert!(
            is_kept || begun_anew.contains(role),
            "the {role}'s conversation was lost, {n_opened} were opened"
        );
    }
    assert_eq!(
        prompts_before(world, cast.planner, "EXECUTE summary"),
        [
            "WRITE_PLAN",
            "RESPOND 1",
            "EXECUTE step 1",
            "EXECUTE step 2",
            "EXECUTE summary",
        ]
    );
    let bodies = world.server.bodies(cast.planner);
    let told = bodies
        .last()
        .is_some_and(|body| body.contains("you are the executor, agent `build`"));
    assert!(told, "the planner was not told that it executes now");
    assert_eq!(
        prompts_before(world, cast.reviewer, "REVIEW 2"),
        ["REVIEW 1", "REVIEW 2"]
    );
}

fn size_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

fn n_lines(path: &Path) -> usize {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn runs(world: &World, words: &str) -> bool {
    let processes = find_leftovers(world.home.root());
    processes.iter().any(|(_, command)| command.contains(words))
}

/// Returns the program's prompts in the conversation as the model last saw it in a phase, including that phase's own,
/// each by its first line; a repeated prompt counts once.
pub fn prompts_before(world: &World, vendor: Vendor, phase: &str) -> Vec<String> {
    let bodies = world.server.bodies(vendor);
    let asked = format!("{PROMPT}{phase}]");
    let Some(body) = bodies.iter().rfind(|body| body.contains(&asked)) else {
        return Vec::new();
    };
    let mut prompts: Vec<String> = body
        .split(PROMPT)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(']')?.0.to_owned()))
        .filter(|prompt| prompt != "RECOVER")
        .collect();
    prompts.dedup();
    prompts
}
