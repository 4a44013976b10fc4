//! The program is killed while tasks with hanging CLIs run: the next start stops them and reports them as cancelled,
//! and each can be resumed by its id.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent_collab::engine::runtime_dir;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::stopped::{ENDLESS, PIPE};
use crate::brain::{self, Purpose};
use crate::cut_off::RESUME;
use crate::leftovers::{assert_none_left, find_leftovers};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, World, of_kind};

/// The time limit of everything together.
const LIMIT: Duration = Duration::from_secs(180);
/// How many tasks run at a time.
const PLACES: usize = 2;
const GO_ON: &str = "go on with it";

/// codex gives the tasks and claude does them.
pub fn claude_does(notes: &mut Notes) {
    play(notes, Vendor::Openai, Vendor::Anthropic);
}

/// claude gives the tasks and codex does them.
pub fn codex_does(notes: &mut Notes) {
    play(notes, Vendor::Anthropic, Vendor::Openai);
}

fn task(input: Value) -> Tool {
    Tool::Own {
        tool: "task",
        input,
    }
}

fn scout(prompt: &str) -> Value {
    json!({ "agent": "scout", "prompt": prompt, "description": "looks around" })
}

/// Three tasks that never end by themselves; once there is an id, that task once more, which ends.
fn acts(again: &Mutex<Option<String>>, request: &Request) -> Reply {
    if request
        .body
        .to_string()
        .contains("[agent-collab task scout#")
    {
        return match (request.prompt.contains(GO_ON), request.n_outputs()) {
            (false, 0) => Reply::call(Tool::Shell(ENDLESS.to_owned())),
            _ => Reply::text("the scout went on"),
        };
    }
    let Purpose::WritePlan(_) = brain::purpose_of(&request.prompt) else {
        return brain::honest(request);
    };
    let call = match again.lock().expect("the id").as_ref() {
        Some(id) => {
            let mut more = scout(GO_ON);
            more["task_id"] = json!(id);
            more
        }
        None => {
            let three = ["look here", "look there", "look elsewhere"].map(scout);
            json!({ "tasks": three })
        }
    };
    brain::after(&[task(call)], request)
}

fn play(notes: &mut Notes, planner: Vendor, other: Vendor) {
    let cast = Cast {
        planner,
        reviewer: other,
    };
    let again = Arc::new(Mutex::new(None));
    let known = Arc::clone(&again);
    let name = format!("killed-tasks-{}", other.cli());
    let world = World::create(&name, cast, move |request| acts(&known, request));
    world.configure(&format!(
        "[agents.scout]\nmode = \"subagent\"\nadapter = \"{}\"\nrules = [[\"*\", \"*\", \"allow\"]]\n",
        other.cli()
    ));
    kill_in_the_middle(&world);
    let log = world.log();
    let given: Vec<&Value> = of_kind(&log, "task.started").collect();
    assert_eq!(given.len(), 3, "{given:#?}");
    let first = given[0]["data"]["session"].as_str().expect("an id");
    *again.lock().expect("the id") = Some(first.to_owned());

    let taken_up = world.start_program(&RESUME);
    let finished = taken_up.finish(world.home.root(), LIMIT);
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    assert_none_left(world.home.root());
    let log = world.log();
    let ended: Vec<(&Value, &Value)> = of_kind(&log, "task.ended")
        .map(|ended| (&ended["data"]["task_id"], &ended["data"]["status"]))
        .collect();
    let cancelled = ended.iter().filter(|(_, status)| *status == "cancelled");
    assert_eq!(cancelled.count(), 3, "{ended:?}");
    assert_eq!(ended.last(), Some(&(&json!(first), &json!("completed"))));
    assert_eq!(folders(&world), Vec::<PathBuf>::new());
    world.note_log(notes, &log);
}

/// Kills the program while as many tasks run as may, and everything of theirs hangs.
fn kill_in_the_middle(world: &World) {
    let pipe = world.repository.root().join(PIPE);
    nix::unistd::mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("a named pipe");
    let mut program = world.start(&["--yes-execute", "--on-ask", "allow-rules"]);
    let deadline = Instant::now() + LIMIT;
    let n_running = || {
        let processes = find_leftovers(world.home.root());
        let endless = |command: &str| command.trim() == ENDLESS;
        processes.iter().filter(|(_, line)| endless(line)).count()
    };
    while n_running() < PLACES {
        assert!(Instant::now() < deadline, "the tasks never ran");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!folders(world).is_empty(), "there are doors for the tools");
    for (pid, _) in find_leftovers(world.home.root()) {
        if pid != program.pid() {
            let _gone = kill(Pid::from_raw(pid), Signal::SIGSTOP);
        }
    }
    program.signal(Signal::SIGKILL);
    program.wait();
    assert!(!find_leftovers(world.home.root()).is_empty());
}

/// The folders of the run's sockets and tokens.
fn folders(world: &World) -> Vec<PathBuf> {
    let state = world.state();
    let run = state["run"].as_str().expect("a name");
    let places = [world.outside("tmp"), PathBuf::from("/tmp")];
    let found = places
        .iter()
        .flat_map(|place| runtime_dir::run_dirs_in(place, run));
    found.collect()
}
