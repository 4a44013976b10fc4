//! Conversations with the CLIs: kept, swapped, lost and recovered.

use crate::script::{Agent, say, shell, write};
use crate::world::World;

#[test]
fn roles_can_be_swapped() {
    let mut world = World::new();
    world.config = "[roles]\nplanner = \"claude\"\nreviewer = \"codex\"\n".to_owned();
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&Agent::approving(), &planner);
    world.run(&[]).ends(0);
    assert_eq!(world.state()["planner"]["adapter"], "claude");
    assert_eq!(world.committed(), ["new.txt"]);
}

#[test]
fn one_cli_can_play_both_roles() {
    let mut world = World::new();
    world.config = "[roles]\nreviewer = \"codex\"\n".to_owned();
    let both = Agent::planning(&["Write"])
        .review("[APPROVED]\n")
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(&both, &Agent::new());
    world.run(&[]).ends(0);
}

#[test]
fn a_lost_conversation_goes_on_from_plan_and_comments() {
    let mut world = World::new();
    world.config = "[roles]\nplanner = \"claude\"\nreviewer = \"codex\"\n".to_owned();
    let wait = world.fifo("wait");
    let planner = Agent::planning(&["Write it down"])
        .step(1, vec![write("prompt.txt", "${prompt}"), say("Wrote.")]);
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![
            shell(&format!("cat {wait}")),
            write(
                "${comments_path}",
                "[APPROVED]\n\n1. [minor] A remark to keep.\n",
            ),
        ],
    );
    world.cast(&reviewer, &planner);
    let mut running = world.start_run(&[]);
    running.until("command: cat");
    let mut forgotten = 0;
    for entry in std::fs::read_dir(&world.folder).expect("folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("claude.json.") {
            std::fs::remove_file(entry.path()).expect("remove");
            forgotten += 1;
        }
    }
    assert_eq!(forgotten, 1);
    world.release("wait");
    running.wait().ends(0).says("the conversation is lost");
    let prompt = world.read("prompt.txt");
    for word in [
        "[agent-collab RECOVER]",
        "Write it down",
        "A remark to keep",
        "[agent-collab EXECUTE step 1]",
    ] {
        assert!(prompt.contains(word), "{word} in\n{prompt}");
    }
    assert_eq!(world.state()["planner"]["degraded"], true);
}

#[test]
fn a_question_by_the_clis_own_means_is_shown_and_answered() {
    let world = World::new();
    let ask = || {
        serde_json::json!({
            "do": "question", "question": "Which colour?", "options": ["red", "blue"],
            "if_answered": [write("${comments_path}", "[APPROVED]\n\n1. [minor] It is ${answer}.\n")],
        })
    };
    let planner =
        Agent::planning(&["Write"]).step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    world.cast(
        &planner,
        &Agent::new().on("[agent-collab REVIEW", vec![ask()]),
    );
    world
        .run(&[])
        .ends(3)
        .complains("Which colour?")
        .complains("--answer question=");
    world
        .run(&["--new", "--answer", "question=blue"])
        .ends(0)
        .says("It is blue.");
}

#[test]
fn calls_before_execute_are_declined_and_change_nothing() {
    let world = World::new();
    let planner = Agent::new()
        .on(
            "[agent-collab WRITE_PLAN]",
            vec![
                shell("touch sneaky.txt"),
                write("sneaky2.txt", "x\n"),
                write("${plan_path}", "# Task: A\n\n1. [ ] Write\n"),
            ],
        )
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")]);
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![
            shell("touch sneaky3.txt"),
            shell("ls; touch sneaky4.txt"),
            write("sneaky5.txt", "x\n"),
            write("${comments_path}", "[APPROVED]\n"),
        ],
    );
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0).says("declined");
    assert_eq!(world.committed(), ["new.txt"]);
    for n in ["", "2", "3", "4", "5"] {
        assert!(!world.root.join(format!("sneaky{n}.txt")).exists(), "{n}");
    }
}

/// Allows one command by a rule of the user's.
const TOUCH_ONE: &str = "[[permission.rule]]\npermission = \"bash\"\npattern = \"touch by-rule.txt\"\naction = \"allow\"\n";

#[test]
fn rules_of_the_user_allow_what_they_name_and_nothing_else() {
    let mut world = World::new();
    let asked = |run: &str| serde_json::json!({ "do": "command", "run": run, "ask": "always" });
    let planner = Agent::planning(&["Write"]).step(
        1,
        vec![
            asked("touch by-rule.txt"),
            asked("touch by-nobody.txt"),
            asked("touch by-rule.txt && touch more.txt"),
            say("Done."),
        ],
    );
    world.config = TOUCH_ONE.to_owned();
    world.cast_claude_first(&planner, &Agent::approving());
    let unheld = [
        "-s",
        "safety.contain_agents=false",
        "--on-ask",
        "allow-rules",
    ];
    world
        .run(&[&unheld[..], &["--uncontained"]].concat())
        .ends(0);
    assert_eq!(world.committed(), ["by-rule.txt"]);
    // Without that flag nothing runs unasked that no sandbox holds.
    let mut world4 = World::new();
    world4.config = TOUCH_ONE.to_owned();
    world4.cast_claude_first(&planner, &Agent::approving());
    world4
        .run(&unheld)
        .ends(3)
        .says("declined: bash touch by-rule.txt");
    // What leaves codex's own sandbox is nobody's but the user's to allow, each time.
    let mut world3 = World::new();
    world3.config = TOUCH_ONE.to_owned();
    world3.cast(&planner, &Agent::approving());
    world3
        .run(&["--on-ask", "allow-rules"])
        .ends(3)
        .says("runs outside of codex's sandbox");
    let mut world2 = World::new();
    world2.cast_claude_first(&planner, &Agent::approving());
    world2
        .run(&["-s", "safety.contain_agents=false", "--uncontained"])
        .ends(3)
        .says("(nobody is there to ask (--on-ask deny))");
}
