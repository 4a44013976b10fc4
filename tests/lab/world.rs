//! A scenario's world: a model server, a home, a scratch repository, and this program run in it.
//!
//! The program is the built binary and nothing else: a scenario knows only its flags, its JSON lines
//! and the files it leaves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::bounded::{self, Finished};
use crate::home::Home;
use crate::leftovers::assert_none_left;
use crate::model_server::ModelServer;
use crate::model_server::script::{Reply, Request, Vendor};
use crate::report::Notes;
use crate::repository::Repository;

/// How long one run of the program may take.
const LIMIT: Duration = Duration::from_secs(150);

/// Who plans and who reviews.
#[derive(Debug, Clone, Copy)]
pub struct Cast {
    /// Plans, answers and executes.
    pub planner: Vendor,
    /// Reviews.
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
    /// The user's home.
    pub home: Home,
    /// The repository in which the program runs.
    pub repository: Repository,
}

/// What one run of the program did.
pub struct Outcome {
    /// Exit code, output, time.
    pub finished: Finished,
    /// The JSON lines.
    pub events: Vec<Value>,
}

impl World {
    /// Makes a world in which the models answer as `brain` says.
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
        world.configure(&format!(
            "[roles]\nplanner = \"{}\"\nreviewer = \"{}\"\n",
            cast.planner.cli(),
            cast.reviewer.cli()
        ));
        world
    }

    /// Appends to the user's own configuration of the program.
    pub fn configure(&self, toml: &str) {
        let path = self.home.global_config();
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, format!("{before}{toml}\n")).expect("the user's configuration");
    }

    /// Runs the program in the repository with these arguments.
    pub fn program(&self, arguments: &[&str]) -> Finished {
        let mut command = self.home.command(env!("CARGO_BIN_EXE_agent-collab"));
        command.args(arguments).current_dir(self.repository.root());
        bounded::run(command, "", self.home.root(), LIMIT)
    }

    /// Plays a run for the scratch project's goal, headless, and checks that no process is left.
    pub fn run(&self, more: &[&str]) -> Outcome {
        let goal = [
            "run",
            "--goal",
            "Make the tests pass and describe the functions",
            "--auto",
            "--json",
        ];
        let finished = self.program(&[&goal[..], more].concat());
        assert_none_left(self.home.root());
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

    /// The snapshot of the run.
    pub fn state(&self) -> Value {
        let text = self.run_file("state.json");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("state.json: {error}\n{text}"))
    }

    /// A path in the scenario's folder outside of the repository.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.home.root().join(name)
    }

    /// Notes the versions that the CLIs reported and the requests that the server counted.
    pub fn note(&self, notes: &mut Notes, outcome: &Outcome) {
        for event in outcome.of_kind("session.version") {
            let version = event["data"]["version"]
                .as_str()
                .expect("a version is text");
            let vendor = if version.contains("0.169") {
                Vendor::Openai
            } else {
                Vendor::Anthropic
            };
            notes.versions.insert(vendor, version.to_owned());
        }
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

impl Outcome {
    /// The events of one kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events
            .iter()
            .filter(move |event| event["kind"] == kind)
    }

    /// Fails unless the program ended so, and shows what it said last.
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

    /// Everything that was decided about calls of agents: what was asked for and whether it was allowed.
    pub fn decisions(&self) -> Vec<(String, bool)> {
        let asked = self.of_kind("approval.asked").map(|event| &event["data"]);
        asked
            .map(|ask| {
                let answer = self
                    .of_kind("approval.answered")
                    .find(|answer| answer["data"]["request"] == ask["request"])
                    .unwrap_or_else(|| panic!("nobody answered {ask}"));
                let targets: Vec<&str> = ask["targets"]
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

/// Tells whether something lies at a path, a broken link included.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
