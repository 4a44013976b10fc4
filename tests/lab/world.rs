//! A scenario's world: a model server, a home, a scratch repository, and this program run in it.
//!
//! The program is the built binary: a scenario sees only its flags, its JSON lines and the files that it leaves.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::bounded::{self, Finished, Started};
use crate::home::Home;
use crate::model_server::ModelServer;
use crate::model_server::script::{Reply, Request, Vendor};
use crate::report::{Notes, number_of};
use crate::repository::Repository;
use crate::seat::Seat;

/// The time limit of one run of the program.
const LIMIT: Duration = Duration::from_secs(240);

/// The command line of a run for the scratch project's goal, without the options for what happens without asking.
// Most scenarios are about the CLIs; their plans say nothing of a proof.
const RUN: [&str; 7] = [
    "run",
    "--goal",
    "Make the tests pass and describe the functions",
    "--auto",
    "--json",
    "-s",
    "test.proof=off",
];

/// Who plans and who reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cast {
    /// Plans, answers and executes.
    pub planner: Vendor,
    pub reviewer: Vendor,
}

/// codex plans, claude reviews: the program's default.
pub const USUAL: Cast = Cast {
    planner: Vendor::Openai,
    reviewer: Vendor::Anthropic,
};
/// claude plans, codex reviews.
pub const SWAPPED: Cast = Cast {
    planner: Vendor::Anthropic,
    reviewer: Vendor::Openai,
};

/// All a scenario needs.
pub struct World {
    /// The model behind both CLIs.
    pub server: ModelServer,
    pub home: Home,
    /// The repository in which the program runs.
    pub repository: Repository,
}

/// What one run of the program did.
pub struct Outcome {
    /// Exit code, output, time.
    pub finished: Finished,
    pub events: Vec<Value>,
}

impl World {
    /// Creates a world in which the models answer like `brain`.
    pub fn create(
        name: &str,
        cast: Cast,
        brain: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> World {
        let server = ModelServer::start(brain);
        let home = Home::create(name, &server);
        let repository = Repository::create(&home);
        let world = World {
            server,
            home,
            repository,
        };
        // The usual cast needs no configuration, so it has none: not even a file.
        if cast != USUAL {
            world.configure(&format!(
                "[roles]\nplanner = \"{}\"\nreviewer = \"{}\"\n",
                cast.planner.cli(),
                cast.reviewer.cli()
            ));
        }
        world
    }

    /// Appends to the user's own configuration of the program.
    pub fn configure(&self, toml: &str) {
        let path = self.home.global_config();
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, format!("{before}{toml}\n")).expect("the user's configuration");
    }

    /// Prepares the program in the repository with these arguments.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(env!("CARGO_BIN_EXE_agent-collab"));
        command.args(arguments).current_dir(self.repository.root());
        command
    }

    /// Runs the program in the repository with these arguments; it leaves no process.
    pub fn program(&self, arguments: &[&str]) -> Finished {
        self.program_in(self.repository.root(), arguments)
    }

    /// The same in another folder.
    pub fn program_in(&self, folder: &Path, arguments: &[&str]) -> Finished {
        let mut command = self.command(arguments);
        command.current_dir(folder);
        bounded::run(command, "", self.home.root(), LIMIT)
    }

    /// Starts a run for the scratch project's goal, headless, with these flags more.
    pub fn start(&self, more: &[&str]) -> Started {
        self.start_program(&[&RUN[..], more].concat())
    }

    /// Opens the program in the repository, on a terminal, with these arguments.
    pub fn open(&self, arguments: &[&str]) -> Seat {
        let program = Path::new(env!("CARGO_BIN_EXE_agent-collab"));
        let (environment, cwd) = (self.home.environment(), self.repository.root());
        Seat::take(program, arguments, environment, cwd)
    }

    /// Plays a run up to its approved plan, then opens the screen on it and has it executed with every turn released.
    /// The screens are noted under the scenario's name.
    pub fn execute_on_the_screen(&self, name: &str) -> Seat {
        self.run(&[]).assert_code(3);
        let mut seat = self.open(&["--resume"]);
        let shot = |what: &str| format!("{name}-{what}");
        seat.see(&shot("execute"), &["Run this plan (", "choose  "]);
        seat.type_keys("m");
        seat.see(&shot("release"), &["Start step 1?"]);
        seat.type_keys("a");
        seat
    }

    /// Starts the program in the repository with these arguments.
    pub fn start_program(&self, arguments: &[&str]) -> Started {
        Started::start(self.command(arguments), "")
    }

    /// Plays a run for the scratch project's goal, headless; it leaves no process.
    pub fn run(&self, more: &[&str]) -> Outcome {
        let finished = self.program(&[&RUN[..], more].concat());
        assert_eq!(
            self.server.strays(),
            Vec::<String>::new(),
            "the CLIs ask nothing but the model"
        );
        let events = finished.json_lines();
        Outcome { finished, events }
    }

    /// A file of the run's folder.
    pub fn run_file(&self, name: &str) -> String {
        self.repository.read(&format!(".agent-collab/{name}"))
    }

    /// The whole lines of the run's event log; none before there is one.
    pub fn log(&self) -> Vec<Value> {
        let text = self.run_file("events.jsonl");
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().map(serde_json::from_str);
        lines
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("events.jsonl: {error}\n{text}"))
    }

    /// The snapshot of the run.
    pub fn state(&self) -> Value {
        let text = self.run_file("state.json");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("state.json: {error}\n{text}"))
    }

    /// A path in the scenario's folder outside of the repository.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.home.root().join(name)
    }

    /// Returns every frame to and from the CLIs in the current run, as the program stored it.
    pub fn frames(&self, vendor: Vendor) -> Vec<Value> {
        let state = self.state();
        let sessions = ["planner", "reviewer"].map(|role| &state[role]);
        let own = sessions
            .into_iter()
            .filter(|session| session["adapter"] == vendor.cli());
        own.flat_map(|session| self.frames_of(text(&session["id"])))
            .collect()
    }

    /// Those of one session.
    fn frames_of(&self, session: &str) -> Vec<Value> {
        let text = self.run_file(&format!("sessions/{session}/raw.jsonl"));
        let lines = text.lines().map(serde_json::from_str::<Value>);
        lines.map_while(Result::ok).collect()
    }

    /// Records what the running CLIs reported about themselves in the current run, which must be the version that
    /// the program reports, and the requests that the server counted.
    pub fn note(&self, notes: &mut Notes, outcome: &Outcome) {
        self.note_log(notes, &outcome.events);
    }

    /// The same from these events of the run at hand.
    pub fn note_log(&self, notes: &mut Notes, events: &[Value]) {
        for event in of_kind(events, "session.version") {
            let role = text(&event["data"]["role"]);
            let vendor = self.vendor_of(role);
            let version = text(&event["data"]["version"]);
            let report = reported(vendor, &self.frames(vendor));
            assert_eq!(number_of(&report), version, "{report}");
            notes.versions.insert(vendor, report);
        }
        self.note_requests(notes);
    }

    /// The same from these child sessions, which have no role: adapter and session of each.
    pub fn note_children(&self, notes: &mut Notes, children: &[(&str, &str)]) {
        for (adapter, session) in children {
            let mut all = Vendor::ALL.into_iter();
            let vendor = all.find(|vendor| vendor.cli() == *adapter);
            let vendor = vendor.expect("a CLI of the lab");
            let report = reported(vendor, &self.frames_of(session));
            notes.versions.insert(vendor, report);
        }
        self.note_requests(notes);
    }

    fn note_requests(&self, notes: &mut Notes) {
        for vendor in Vendor::ALL {
            let n_requests = self.server.n_requests(vendor);
            *notes.n_requests.entry(vendor).or_default() += n_requests;
            let told = n_requests == 0 || notes.versions.contains_key(&vendor);
            assert!(
                told,
                "{} asked its model, but no running CLI told its version",
                vendor.cli()
            );
        }
    }
}

/// What a running CLI last reported of itself in these frames.
fn reported(vendor: Vendor, frames: &[Value]) -> String {
    let mut reports = frames.iter().filter_map(|frame| match vendor {
        Vendor::Openai => frame["frame"]["result"]["userAgent"].as_str(),
        Vendor::Anthropic => frame["frame"]["response"]["response"]["claude_code_version"].as_str(),
    });
    let report = reports.next_back();
    report
        .expect("the running CLI reports its version")
        .to_owned()
}

impl World {
    /// The CLI that has a role in the run at hand.
    fn vendor_of(&self, role: &str) -> Vendor {
        let state = self.state();
        let adapter = text(&state[role]["adapter"]);
        let mut vendors = Vendor::ALL.into_iter();
        vendors
            .find(|vendor| vendor.cli() == adapter)
            .unwrap_or_else(|| panic!("the {role} is played by {adapter}"))
    }
}

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

impl Outcome {
    /// The events of one kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        of_kind(&self.events, kind)
    }

    /// Fails unless the program exited with this code, and shows its last output.
    pub fn assert_code(&self, code: i32) {
        let finished = &self.finished;
        assert_eq!(
            finished.code(),
            code,
            "{}\n{}",
            bounded::tail(&finished.stdout),
            bounded::tail(&finished.stderr)
        );
    }

    /// Returns the answer to an event that asks. A restarted CLI counts its requests from the start again.
    pub fn answer_to(&self, ask: &Value) -> &Value {
        let after = |answer: &&Value| answer["seq"].as_u64() > ask["seq"].as_u64();
        self.of_kind("approval.answered")
            .filter(after)
            .find(|answer| answer["data"]["request"] == ask["data"]["request"])
            .unwrap_or_else(|| panic!("nobody answered {ask}"))
    }

    /// Everything that was decided about calls of agents: what was asked for and whether it was allowed.
    pub fn decisions(&self) -> Vec<(String, bool)> {
        self.of_kind("approval.asked")
            .map(|ask| {
                let answer = self.answer_to(ask);
                let targets: Vec<&str> = ask["data"]["targets"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                (targets.join(" "), answer["data"]["allowed"] == true)
            })
            .collect()
    }
}

/// The events of one kind.
pub fn of_kind<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["kind"] == kind)
}

/// Returns whether something exists at a path, including a broken link.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
