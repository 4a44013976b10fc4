//! A request waits longer than a call may: the agent ends its turn, and the answer arrives with its next one.

use serde_json::{Value, json};

use crate::brain::{self, Purpose};
use crate::model_server::script::{Reply, Request, Tool, Vendor};
use crate::report::Notes;
use crate::seat::Seat;
use crate::world::{Cast, World, of_kind};
use std::time::Duration;

/// How long a call waits here.
const PATIENCE: Duration = Duration::from_secs(1);
/// What the agent asks in the first step.
const QUESTION: &str = "Which way shall it go?";
/// Why the second step asks for a new plan.
const REASON: &str = "a part is missing";
/// What a child answers after more time than a call may take.
const FOUND: &str = "The scout found nothing to mend.";

fn own(tool: &'static str, input: Value) -> Tool {
    Tool::Own { tool, input }
}

fn acts(request: &Request) -> Reply {
    // Only a child's prompt contains such a header.
    if request
        .body
        .to_string()
        .contains("[agent-collab task scout#")
    {
        return Reply::Pause(FOUND.to_owned(), PATIENCE * 3);
    }
    match brain::purpose_of(&request.prompt) {
        Purpose::FirstStep => {
            let scout = json!({ "agent": "scout", "prompt": "look around" });
            let question = json!({ "question": QUESTION, "options": ["left", "right"] });
            brain::after(&[own("task", scout), own("ask_user", question)], request)
        }
        Purpose::SecondStep if request.n_outputs() == 0 => {
            Reply::call(own("plan_enter", json!({ "reason": REASON })))
        }
        Purpose::SecondStep => Reply::text(brain::done("I wait for the user.")),
        _other => brain::honest(request),
    }
}

fn play(notes: &mut Notes, vendor: Vendor) {
    let cast = Cast {
        planner: vendor,
        reviewer: vendor,
    };
    let world = World::create(&format!("pending-{}", vendor.cli()), cast, acts);
    world.configure(&format!(
        "[limits]\ntool_patience = \"{}s\"\n[agents.scout]\nmode = \"subagent\"\n",
        PATIENCE.as_secs()
    ));
    let name = format!("pending-{}", vendor.cli());
    let mut seat = world.execute_on_the_screen(&name);
    let shot = |what: &str| format!("{name}-{what}");
    // The agent continued without an answer, and so did its child without a waiting caller; nothing else starts.
    seat.wait_until("the first step's turn ends", || {
        let log = world.log();
        n_ended(&log) == 1 && of_kind(&log, "task.ended").count() == 1
    });
    answer(&mut seat, &shot("which"), QUESTION, "1");
    seat.wait_until("the second step's turn ends", || n_ended(&world.log()) == 2);
    answer(&mut seat, &shot("again"), REASON, "1");
    seat.wait_until("there is a new plan", || {
        let state = world.state();
        state["cycle"] == 2 && state["phase"] == "APPROVED"
    });
    seat.end();
    let log = world.log();
    assert_eq!(of_kind(&log, "agent.asked.pending").count(), 2);
    assert_eq!(of_kind(&log, "task.sent_on").count(), 1);
    let entered: Vec<&Value> = of_kind(&log, "plan.entered").collect();
    assert_eq!(entered.len(), 1);
    assert_eq!(entered[0]["data"]["reason"], REASON);
    assert_told(&world.server.bodies(vendor));
    world.note_log(notes, &log);
    notes.prove(
        "is told with its next turn what came too late for a call",
        vendor,
        "yes",
    );
}

/// How many turns of EXECUTE are over.
fn n_ended(log: &[Value]) -> usize {
    let begun = log
        .iter()
        .position(|event| event["kind"] == "execution.entered");
    begun.map_or(0, |begun| of_kind(&log[begun..], "turn.ended").count())
}

/// Selects the answer at this position of the list.
fn answer(seat: &mut Seat, shot: &str, question: &str, key: &str) {
    seat.see(shot, &["Planner asks", question]);
    // The number points at the answer, Enter gives it.
    seat.type_keys(key);
    seat.press("\r", |text| !text.contains("Planner asks"));
}

fn assert_told(bodies: &[String]) {
    let first = |words: &str| {
        let found = bodies.iter().find(|body| body.contains(words));
        found.unwrap_or_else(|| panic!("{words} is told"))
    };
    let in_turn = first("pending: the user has not answered yet");
    assert!(in_turn.contains("pending: it is still running"));
    assert!(!in_turn.contains("[agent-collab EXECUTE step 2]"));
    let next = first("[agent-collab EXECUTE step 2]");
    let told = format!("The user's answer to \\\"{QUESTION}\\\": left");
    assert!(next.contains(&told), "{next}");
    assert!(next.contains("[agent-collab tasks ended]") && next.contains(FOUND));
}

/// codex waits.
pub fn codex(notes: &mut Notes) {
    play(notes, Vendor::Openai);
}

/// claude waits.
pub fn claude(notes: &mut Notes) {
    play(notes, Vendor::Anthropic);
}
