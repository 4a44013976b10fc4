//! Requests of agents: a question, and whether a call may run.

use serde_json::{Value, json};

use crate::World;
use crate::keys::ENTER;
use crate::played::{PLAN, begin, cast, events_of, leave, read, talking};
use crate::script::{Agent, say, write};
use crate::terminal::Terminal;

/// A question whose answer, or its lack, goes into a document.
fn question(path: &str, text: &str) -> Value {
    let written = |answer: &str| vec![write(path, &text.replace("ANSWER", answer))];
    json!({
        "do": "question", "question": "Which Python?", "options": ["3.12", "3.13"],
        "if_answered": written("${answer}"), "if_dismissed": written("whichever"),
    })
}

/// A run whose planner asks before it writes its plan.
fn asking(world: &World) -> Terminal {
    let plan = question("${plan_path}", &PLAN.replace("One word", "Python ANSWER"));
    let planner = talking().on("[agent-collab WRITE_PLAN]", vec![plan]);
    let config = cast(world, &planner, &Agent::approving(), "");
    let mut terminal = begin(world, &config);
    terminal.wait_for("Planner asks");
    terminal.wait_for("Which Python?");
    assert!(!world.repository().join(".agent-collab/plan.md").exists());
    terminal
}

#[test]
fn an_answer_that_is_picked_reaches_the_agent() {
    let world = World::new();
    let mut terminal = asking(&world);
    // A number selects an answer, Enter sends it.
    terminal.type_keys("2");
    terminal.wait_for("▸3.13  2");
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    assert!(read(&world, "plan.md").contains("Python 3.13."));
    leave(terminal);
}

#[test]
fn an_answer_in_own_words_reaches_the_agent() {
    let world = World::new();
    let review = question("${comments_path}", "[APPROVED]\n\nPython ANSWER.\n");
    let reviewer = Agent::new().on("[agent-collab REVIEW", vec![review]);
    let config = cast(&world, &talking().plan(PLAN), &reviewer, "");
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Reviewer asks");
    terminal.type_keys("w");
    terminal.wait_until_writing();
    terminal.type_keys("3.14, it is faster");
    terminal.wait_for("3.14, it is faster");
    terminal.type_keys(ENTER);
    terminal.wait_for("Run this plan (");
    let comments = read(&world, "comments.md");
    assert!(
        comments.contains("Python 3.14, it is faster."),
        "{comments}"
    );
    leave(terminal);
}

#[test]
fn an_agent_whose_question_is_not_answered_decides_itself() {
    let world = World::new();
    let mut terminal = asking(&world);
    terminal.type_keys("n");
    terminal.wait_for("Run this plan (");
    let plan = read(&world, "plan.md");
    assert!(plan.contains("Python whichever."), "{plan}");
    leave(terminal);
}

/// Builds a step that calls these commands, each of which asks.
fn calling(commands: &[&str]) -> Agent {
    let call = |run: &&str| {
        json!({ "do": "command", "run": run, "ask": "always", "reason": "it is needed",
                "if_denied": [say("So be it.")] })
    };
    let mut actions: Vec<Value> = commands.iter().map(call).collect();
    actions.push(say("Touched."));
    talking().plan(PLAN).step(1, actions)
}

fn refuse_with_words(terminal: &mut Terminal) {
    terminal.type_keys("w");
    terminal.wait_for("Why not?");
    terminal.type_keys("\x15two are enough");
    terminal.wait_for("two are enough");
    terminal.type_keys(ENTER);
    terminal.wait_for("Run finished");
}

#[test]
fn a_call_is_allowed_once_for_the_run_and_refused() {
    let world = World::new();
    let planner = calling(&["touch one", "touch two", "touch two", "touch three"]);
    let asks = "[roles]\nplanner = \"claude\"\nreviewer = \"codex\"\n\
                [[permission.rule]]\npermission = \"bash\"\npattern = \"touch *\"\naction = \"ask\"\n\
                [test]\ndefault_command = \"true\"";
    let config = cast(&world, &Agent::approving(), &planner, asks);
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Run this plan (");
    terminal.type_keys("y");
    // The tool and what it is about, exactly, and what is offered: once, for longer, no. The chat names the call before
    // the dialog is there.
    terminal.wait_for("Allow this command?");
    terminal.wait_for("▌   touch one");
    for choice in ["Allow once", "Allow in this run", "Deny"] {
        terminal.wait_for(choice);
    }
    let is_there = |name: &str| world.repository().join(name).exists();
    assert!(!is_there("one"));
    terminal.type_keys("y");
    terminal.wait_for("▌   touch two");
    assert!(is_there("one") && !is_there("two"));
    terminal.type_keys("r");
    terminal.wait_for("What do you allow for this run?");
    terminal.type_keys("e");
    // The same call again is not asked about; the next one is.
    terminal.wait_for("▌   touch three");
    assert!(is_there("two"));
    refuse_with_words(&mut terminal);
    assert!(!is_there("three"));
    let asked = events_of(&world, "approval.asked");
    let second = asked
        .iter()
        .rfind(|asked| asked["targets"][0] == "touch two");
    let second = second.expect("the same call again");
    assert_eq!(second["why"]["origin"], "approved for this run");
    leave(terminal);
}

#[test]
fn a_call_that_leaves_codexs_sandbox_is_allowed_once_at_most() {
    let world = World::new();
    let config = cast(
        &world,
        &calling(&["touch one", "touch one"]),
        &Agent::approving(),
        "[test]\ndefault_command = \"true\"",
    );
    let mut terminal = begin(&world, &config);
    terminal.wait_for("Run this plan (");
    terminal.type_keys("y");
    terminal.wait_for("Asked because it would run outside the sandbox");
    terminal.wait_for("Reason given: it is needed");
    terminal.wait_for("You can allow it only once.");
    assert!(!terminal.text().contains("Allow in this run"));
    terminal.type_keys("y");
    // Exactly the same call is asked about again.
    terminal.wait_for("allowed by you");
    terminal.wait_for("Asked because it would run outside the sandbox");
    refuse_with_words(&mut terminal);
    let asked = events_of(&world, "approval.asked").into_iter();
    assert_eq!(
        asked
            .filter(|asked| asked["targets"][0] == "touch one")
            .count(),
        2
    );
    leave(terminal);
}
