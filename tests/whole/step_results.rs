//! Results that executors state of their steps, and what becomes of a blocked one.

use serde_json::Value;

use crate::repository::commit_all;
use crate::script::{Agent, plan, say, write};
use crate::world::World;

/// A message whose result is that the step is blocked.
fn blocked() -> Vec<Value> {
    vec![say(
        "I looked.\n\n```step-result\nblocked: check.sh:1 says \"no\"\n```",
    )]
}

/// The prompts of these turns, in order.
fn prompts(world: &World, turn: &str) -> Vec<String> {
    let role = if turn == "REVIEW" {
        "reviewer"
    } else {
        "planner"
    };
    let id = world.state()[role]["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let messages = world.read(&format!(".agent-collab/sessions/{id}/messages.jsonl"));
    let messages = messages
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("message"));
    let texts = messages.map(|message| message["text"].as_str().unwrap_or_default().to_owned());
    let of_turn = format!("[agent-collab {turn}");
    texts.filter(|text| text.contains(&of_turn)).collect()
}

/// Two steps, the second of which is blocked at first.
fn second_is_blocked() -> Agent {
    Agent::planning(&["Write", "Look"])
        .step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
        .step(2, blocked())
}

#[test]
fn an_agent_that_states_no_result_is_asked_for_it_once() {
    let world = World::new();
    let agent = Agent::planning(&["Write"])
        .step(
            1,
            vec![
                write("new.txt", "new\n"),
                say("Wrote. A step-result is left out."),
            ],
        )
        .step(1, vec![say("It is complete.")]);
    world.cast(&agent, &Agent::approving());
    world.run(&[]).ends(0);
    assert_eq!(
        world.subjects()[0],
        "[Step 1] Wrote. A step-result is left out"
    );
    let prompt = prompts(&world, "EXECUTE step 1").pop().unwrap();
    assert!(
        prompt.contains("ended without the result of the step"),
        "{prompt}"
    );
    assert_eq!(prompts(&world, "EXECUTE step 1").len(), 2);
}

#[test]
fn what_is_already_true_is_a_question_and_so_is_a_blocked_step() {
    let world = World::new();
    let agent = Agent::planning(&["Look", "Look again"])
        .step(
            1,
            vec![say("```step-result\nalready true: a.txt has it\n```")],
        )
        .step(2, blocked());
    world.cast(&agent, &Agent::approving());
    world
        .run(&["--answer", "nothing_changed=already-true"])
        .ends(3)
        .complains(
            "needs you (blocked): Step 2 is blocked, its agent says: check.sh:1 says \"no\"",
        );
    let asked = world.events_of("question.asked");
    assert!(
        asked
            .iter()
            .any(|asked| asked.to_string().contains("a.txt has it")),
        "{asked:?}"
    );
}

#[test]
fn what_was_already_true_is_seen_by_the_baseline_and_what_blocks_is_looked_for() {
    let mut world = World::new();
    world.proves_steps = true;
    world.config = "[test]\ndefault_command = \"npm test\"\n".to_owned();
    let package =
        "{\"name\":\"sums\",\"type\":\"module\",\"scripts\":{\"test\":\"node --test\"}}\n";
    let test = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { sum } from '../src/sum.js';\n\ntest('adds up', () => {\n  assert.equal(sum(1, 2), 3);\n});\n";
    world.put("package.json", package);
    world.put(
        "src/sum.js",
        "export function sum(a, b) {\n  return a + b;\n}\n",
    );
    world.put("test/sum.test.js", test);
    commit_all(&world.root, "project");
    let steps = [
        "1. [ ] Add\n   Test first: `adds up` in test/sum.test.js\n",
        "2. [ ] Export\n   Proof: grep -q export src/sum.js\n",
        "3. [ ] Subtract\n   Test first: `takes away` in test/sum.test.js\n",
        "4. [ ] Multiply\n   Proof: grep -q product src/sum.js\n",
        "5. [ ] Divide\n   Test first: test/sum.test.js\n",
    ];
    let plan = format!(
        "# Task: Sums\n\n## Goal\nSums.\n\n## Steps\n{}",
        steps.concat()
    );
    let mut agent = Agent::new().plan(&plan);
    for step in 1..=4 {
        let already = "```step-result\nalready true: src/sum.js has it\n```";
        agent = agent.step(step, vec![say(already)]);
    }
    let blocked = "```step-result\nblocked: src/sum.js:2 says \"return a + b\"\n```";
    world.cast(&agent.step(5, vec![say(blocked)]), &Agent::approving());
    world
        .run(&["--answer", "nothing_changed=already-true"])
        .ends(3)
        .complains("says \"return a + b\" (✓ checked: src/sum.js:2)");
    let done = &world.state()["execution"]["done"];
    for (at, seen) in [
        (0, "test/sum.test.js: adds up passes"),
        (1, "`grep -q export src/sum.js` passes"),
    ] {
        let status = &done[at]["proof"]["status"];
        let reason = format!("already true, seen by the baseline: {seen}");
        assert_eq!(status["status"], "checked");
        assert_eq!(status["reason"], reason);
        assert!(world.read(".agent-collab/log.md").contains(&reason));
    }
    // What the old code does not show is a question.
    let asked = world.events_of("question.asked");
    let asked = asked.iter().filter_map(|asked| {
        let kind = &asked["question"]["kind"];
        (kind["about"] == "nothing_changed").then(|| kind["found"].to_string())
    });
    let asked: Vec<String> = asked.collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].contains("takes away"), "{asked:?}");
    assert!(asked[1].contains("grep -q product src/sum.js"), "{asked:?}");
}

#[test]
fn a_step_that_is_skipped_keeps_its_reason() {
    let world = World::new();
    world.cast(&second_is_blocked(), &Agent::approving());
    let ran = world.run(&["--answer", "blocked=skip:nobody needs it"]);
    ran.ends(6)
        .complains("step 2 was skipped (nobody needs it)");
    assert!(
        world
            .read(".agent-collab/log.md")
            .contains("nobody needs it")
    );
    assert_eq!(world.subjects(), ["[Step 1] Wrote", "first"]);
}

#[test]
fn a_blocked_step_is_planned_again_and_only_its_change_is_reviewed() {
    let world = World::new();
    let again = |steps: &[&str]| vec![write("${plan_path}", &plan(steps))];
    let agent = second_is_blocked()
        // The first one changes a step that has ended.
        .on(
            "[agent-collab WRITE_PLAN]",
            again(&["Write it", "Document"]),
        )
        .on("[agent-collab WRITE_PLAN]", again(&["Write", "Document"]))
        .step(2, vec![write("doc.md", "doc\n"), say("Document it")]);
    let reviewer = Agent::approving().review("[APPROVED]\n");
    world.cast(&agent, &reviewer);
    let ran = world.run(&["--answer", "blocked=replan:describe it instead"]);
    ran.ends(0);
    assert_eq!(
        world.subjects(),
        ["[Step 2] Document it", "[Step 1] Wrote", "first"]
    );
    let plans = prompts(&world, "WRITE_PLAN");
    assert_eq!(plans.len(), 3);
    assert!(
        plans[1].contains("check.sh:1 says \"no\"\ndescribe it instead"),
        "{}",
        plans[1]
    );
    assert!(
        plans[2].contains("step 1 has ended and must stay as it is"),
        "{}",
        plans[2]
    );
    let reviews = prompts(&world, "REVIEW");
    assert!(
        reviews[1].contains("Judge the change alone"),
        "{}",
        reviews[1]
    );
    assert!(reviews[1].contains("+2. [ ] Document"), "{}", reviews[1]);
    let plan = world.read(".agent-collab/plan.md");
    assert!(plan.contains("1. [x] Write\n2. [x] Document"), "{plan}");
}

#[test]
fn a_run_that_ends_while_a_step_is_planned_again_goes_on_with_its_ended_steps() {
    let world = World::new();
    let agent = second_is_blocked()
        .on(
            "[agent-collab WRITE_PLAN]",
            vec![write("${plan_path}", &plan(&["Write", "Document"]))],
        )
        .step(2, vec![write("doc.md", "doc\n"), say("Document it")]);
    let objects = crate::script::objection("blocking", "It is no change.");
    let objects = objects.replace("Place: step 1", "Place: step 2");
    let reviewer = Agent::approving().review(&objects);
    world.cast(&agent, &reviewer);
    let ran = world.run(&[
        "--answer",
        "blocked=replan",
        "-s",
        "workflow.max_iterations=1",
    ]);
    ran.ends(3).complains("needs you (arbitration)");
    let ran = world.program(&[
        "resume",
        "--auto",
        "--answer",
        "arbitration=pass",
        "--answer",
        "execute=yes",
    ]);
    ran.ends(0);
    assert_eq!(
        world.subjects(),
        ["[Step 2] Document it", "[Step 1] Wrote", "first"]
    );
}

#[test]
fn an_amended_step_has_the_users_words_in_the_plan() {
    let world = World::new();
    let agent = second_is_blocked().step(2, vec![write("doc.md", "doc\n"), say("Document it")]);
    world.cast(&agent, &Agent::approving());
    world
        .run(&["--answer", "blocked=amend:write doc.md"])
        .ends(3)
        .complains("Your approval no longer covers step 2 (changed or new)");
    world
        .program(&["resume", "--auto", "--answer", "stale_plan=accept"])
        .ends(0);
    let plan = world.read(".agent-collab/plan.md");
    assert!(
        plan.contains("2. [x] Look\n   Amended: write doc.md\n"),
        "{plan}"
    );
    let prompt = prompts(&world, "EXECUTE step 2").pop().unwrap();
    assert!(
        prompt.contains("Look\n   Amended: write doc.md"),
        "{prompt}"
    );
}
