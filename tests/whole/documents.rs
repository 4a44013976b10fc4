//! The text that turns return becomes plan.md and comments.md; only the program writes those files.

use crate::script::{Agent, FIXED, edit, finding, objection, plan, say, shell, turn, write};
use crate::world::World;

const PLAN: &str = "# Task: A\n\n## Steps\n1. [ ] Write\n";

/// Evidence that is true of this plan.
const TRUE: &str = "Evidence: the plan says \"# Task: A ## Steps\"";

fn two_findings(first: &str, second: &str) -> String {
    format!(
        "[CHANGES_REQUIRED]\n{}{}",
        finding(1, first, "Wrong."),
        finding(2, second, "Slow.")
    )
}

fn finish(agent: Agent) -> Agent {
    agent.step(1, vec![write("new.txt", "new\n"), say("Wrote.")])
}

#[test]
fn a_plan_without_a_numbered_box_is_asked_for_once_more_and_then_a_question() {
    let world = World::new();
    let agent = Agent::new()
        .plan("# Task: A\n\n- do it\n")
        .plan("# Task: A\n\n* [ ] do it\n");
    world.cast(&agent, &Agent::approving());
    world
        .run(&[])
        .ends(3)
        .complains("no_document")
        .complains("--answer no_document=retry|stop");
    assert_eq!(world.events_of("document.missing").len(), 2);
    assert!(!world.root.join(".agent-collab/plan.md").exists());
}

#[test]
fn a_plan_of_megabytes_is_refused_at_its_submission_by_every_path() {
    let large = format!("{PLAN}{}\n", "words ".repeat(600 * 1024));
    for handed_in in [
        write("${plan_path}", &large),
        say(&format!("```markdown plan.md\n{large}```")),
        say(&large),
    ] {
        let world = World::new();
        let agent = finish(
            Agent::new()
                .on("[agent-collab WRITE_PLAN]", vec![handed_in])
                .plan(PLAN),
        );
        world.cast(&agent, &Agent::approving());
        world.run(&[]).ends(0);
        let refused = world.events_of("document.missing");
        assert_eq!(refused.len(), 1);
        let why = refused[0].to_string();
        assert!(why.contains("1 MiB"), "{why}");
    }
}

#[test]
fn the_second_try_counts() {
    let world = World::new();
    world.cast(
        &finish(Agent::new().plan("# Task: A\n\n- do it\n").plan(PLAN)),
        &Agent::approving(),
    );
    world.run(&[]).ends(0);
}

#[test]
fn boxes_that_the_agent_ticked_are_empty_until_the_program_ticks_them() {
    let world = World::new();
    world.cast(
        &finish(
            Agent::new()
                .plan("# Task: A\n\n1. [x] Write\n2. [X] Look\n")
                .step(2, vec![write("look.txt", "looked\n"), say("Looked.")]),
        ),
        &Agent::approving(),
    );
    let ran = world.program(&["run", "--goal", "A test", "--auto"]);
    ran.ends(3).complains("--yes-execute");
    let text = world.read(".agent-collab/plan.md");
    assert!(
        text.contains("1. [ ] Write") && text.contains("2. [ ] Look"),
        "{text}"
    );
    world.run(&["--new"]).ends(0);
    let text = world.read(".agent-collab/plan.md");
    assert!(text.contains("1. [x] Write"), "{text}");
}

fn check_said(message: &str) {
    let world = World::new();
    let agent = Agent::new().on("[agent-collab WRITE_PLAN]", vec![say(message)]);
    world.cast(
        &finish(agent),
        &Agent::new().on("[agent-collab REVIEW", vec![say("[APPROVED]\n\nFine.\n")]),
    );
    world.run(&[]).ends(0);
    let text = world.read(".agent-collab/plan.md");
    assert!(text.contains("1. [x] Write"), "{text}");
}

#[test]
fn a_fenced_block_of_any_length_may_hold_the_document() {
    check_said("Here is the plan.\n\n```plan.md\n# Task: A\n\n1. [ ] Write\n```\n");
    check_said(
        "Here it is:\n\n``````markdown plan.md\n# Task: A\n\n```sh\ntrue\n```\n\n1. [ ] Write\n``````\n\nThat is all.\n",
    );
}

#[test]
fn the_whole_message_may_be_the_document() {
    check_said(PLAN);
}

#[test]
fn answers_alone_are_a_document_and_the_plan_stays() {
    let world = World::new();
    let planner = finish(Agent::new().plan(PLAN)).respond(&format!(
        "Thoughts.\n\n1. rejected: it is right {TRUE}\n2. rejected: it is not {TRUE}\nno answer\n"
    ));
    let reviewer = Agent::new()
        .review(&two_findings("blocking", "major"))
        .review(
            "[APPROVED]\n\n1. withdrawn: it is so\n2. withdrawn: fast enough\n3. [minor] A word.\n",
        );
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0).says("plan unchanged");
    let comments = world.read(".agent-collab/comments.md");
    assert!(comments.contains("## Responses"), "{comments}");
    assert!(
        comments.contains("1. rejected: it is right")
            && comments.contains("2. rejected: it is not"),
        "{comments}"
    );
    assert!(
        !comments.contains("Thoughts") && comments.lines().all(|line| line != "no answer"),
        "{comments}"
    );
    for path in ["1/plan.md", "1/comments.md", "2/comments.md"] {
        assert!(
            world
                .root
                .join(".agent-collab/iterations")
                .join(path)
                .exists(),
            "{path}"
        );
    }
}

#[test]
fn a_finding_that_is_repeated_stays_open_and_one_named_as_settled_is_settled() {
    let world = World::new();
    let planner = finish(Agent::new().plan(PLAN))
        .revise(&format!("1. rejected: no {TRUE}\n2. accepted: yes\n"))
        .revise("1. accepted: well\n");
    let reviewer = Agent::new()
        .review(&two_findings("blocking", "major"))
        .review(
            "[CHANGES_REQUIRED]\n\n1. stands: still wrong\n2. fixed: \"Now\"\n3. [minor] New.\n",
        )
        .review("[APPROVED]\n\n1. fixed: \"Now Now\"\n");
    world.cast(&planner, &reviewer);
    world.run(&[]).ends(0);
    let all = world.state()["findings"]["all"].clone();
    assert_eq!(all.as_array().map(Vec::len), Some(3), "{all:#}");
}

#[test]
fn an_approval_beside_a_finding_that_weighs_is_put_to_the_user() {
    for weight in ["blocking", "major"] {
        let world = World::new();
        let planner = finish(Agent::new().plan(PLAN));
        let review = format!("[APPROVED]\n{}", finding(1, weight, "Wrong."));
        world.cast(&planner, &Agent::new().review(&review).review(&review));
        let ran = world.run(&[]);
        ran.ends(3)
            .complains("The reviewer approved the plan with 1 finding open");
        let text = world.read(".agent-collab/plan.md");
        assert!(text.contains("\nstatus: reviewing\n"), "{text}");
    }
}

#[test]
fn a_review_that_lacks_something_is_asked_back_with_the_reason() {
    let world = World::new();
    let planner = finish(Agent::new().plan(PLAN))
        .revise("1. accepted: yes\n")
        .respond("2. accepted: yes\n");
    let reviewer = Agent::new()
        .review("Not bad.\n")
        .review(&two_findings("blocking", "minor"))
        .review("[APPROVED]\n")
        .review(FIXED);
    world.cast(&planner, &reviewer);
    world
        .run(&[])
        .ends(0)
        .says("Asked back: The review names no finding")
        .says("unanswered: 2")
        .says("Asked back: The review says nothing of finding 1");
    let state = world.state();
    assert_eq!(
        (&state["iteration"], &state["findings"]["reviews"]),
        (&2.into(), &2.into())
    );
    let text = world.read(".agent-collab/plan.md");
    assert!(text.contains("\nstatus: approved\n"), "{text}");
    let id = state["planner"]["id"].as_str().unwrap();
    let session = world.read(&format!(".agent-collab/sessions/{id}/session.json"));
    let session: serde_json::Value = serde_json::from_str(&session).unwrap();
    assert_eq!(
        (&session["kind"], &session["role"]),
        (&"role".into(), &"planner".into())
    );
    for fact in ["n_messages", "usage", "external_id"] {
        assert_eq!(session[fact], state["planner"][fact], "{fact}");
    }
}

/// A planner that waits in its answer, so that the user can edit meanwhile.
fn edited_meanwhile(world: &World) -> (Agent, Agent) {
    let wait = world.fifo("wait");
    let changed = plan(&["Write by the agent"]);
    let planner = finish(Agent::new().plan(PLAN))
        .on(
            "[agent-collab RESPOND",
            vec![
                shell(&format!("cat {wait}")),
                write("${comments_path}", "1. accepted: yes\n"),
                write("${plan_path}", &changed),
            ],
        )
        .revise("1. accepted: yes\n");
    let reviewer = Agent::new()
        .review(&objection("blocking", "Wrong."))
        .review("[APPROVED]\n\n1. withdrawn: it is right\n");
    (planner, reviewer)
}

const MINE: &str = "# Task: Mine\n\n1. [ ] Write by me\n";

fn run_with_edit(world: &World, more: &[&str]) -> crate::world::Ran {
    let (planner, reviewer) = edited_meanwhile(world);
    world.cast(&planner, &reviewer);
    let mut running = world.start_run(more);
    running.until("$ cat");
    world.put(".agent-collab/plan.md", MINE);
    world.release("wait");
    running.wait()
}

fn conflicts(world: &World) -> Vec<String> {
    let files = world.files(".agent-collab/history/conflicts");
    files
        .into_iter()
        .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

#[test]
fn a_plan_that_the_user_edits_under_a_turn_is_a_conflict_and_nothing_is_lost() {
    let world = World::new();
    run_with_edit(&world, &[])
        .ends(3)
        .complains("plan.md")
        .complains("--answer conflict=overwrite|merge|discard");
    assert_eq!(world.read(".agent-collab/plan.md"), MINE);
    let everything: Vec<u8> = world
        .files(".agent-collab")
        .into_iter()
        .flat_map(|(_, bytes)| bytes)
        .collect();
    let everything = String::from_utf8_lossy(&everything).into_owned();
    assert!(
        everything.contains("Write by the agent"),
        "the agent's text is kept as well"
    );
}

#[test]
fn the_users_text_is_kept_aside_where_the_agents_counts() {
    let world = World::new();
    run_with_edit(&world, &["--answer", "conflict=overwrite"]).ends(0);
    assert!(
        world
            .read(".agent-collab/plan.md")
            .contains("Write by the agent")
    );
    assert!(
        conflicts(&world).iter().any(|text| text == MINE),
        "{:?}",
        conflicts(&world)
    );
}

#[test]
fn the_agents_text_is_kept_aside_where_the_users_counts() {
    let world = World::new();
    run_with_edit(&world, &["--answer", "conflict=discard"]).ends(0);
    assert!(world.read(".agent-collab/plan.md").contains("Write by me"));
    assert!(
        conflicts(&world)
            .iter()
            .any(|text| text.contains("Write by the agent")),
        "{:?}",
        conflicts(&world)
    );
}

#[test]
fn both_texts_are_merged_where_they_do_not_clash() {
    let world = World::new();
    let wait = world.fifo("wait");
    let planner = finish(Agent::new().plan(PLAN))
        .on(
            "[agent-collab RESPOND",
            vec![
                shell(&format!("cat {wait}")),
                write("${comments_path}", "1. accepted: yes\n"),
                edit("${plan_path}", "Write", "Write by the agent"),
            ],
        )
        .respond("1. accepted: yes\n");
    let reviewer = Agent::new()
        .review(&objection("blocking", "Wrong."))
        .review("[APPROVED]\n\n1. withdrawn: it is right\n");
    world.cast(&planner, &reviewer);
    let goal = ["run", "--goal", "A test", "--auto", "--yes-execute"];
    let mut running = world.start(&[&goal[..], &["--answer", "conflict=merge"]].concat());
    running.until("$ cat");
    let mine = world
        .read(".agent-collab/plan.md")
        .replace("# Task: A\n", "# Task: A\n\nMind the gap.\n");
    world.put(".agent-collab/plan.md", &mine);
    world.release("wait");
    running.wait().ends(0);
    let text = world.read(".agent-collab/plan.md");
    assert!(
        text.contains("1. [x] Write by the agent") && text.contains("Mind the gap."),
        "{text}"
    );
    let kept = conflicts(&world);
    assert!(kept.contains(&mine), "{kept:?}");
    assert!(
        kept.iter()
            .any(|text| text.contains("by the agent") && !text.contains("Mind the gap.")),
        "{kept:?}"
    );
}

#[test]
fn a_merge_that_clashes_names_the_file_in_which_it_is_put_right() {
    let world = World::new();
    run_with_edit(&world, &["--answer", "conflict=merge"])
        .ends(3)
        .complains("both changed the same lines")
        .complains("Fix it in .agent-collab/merges/");
    assert_eq!(world.read(".agent-collab/plan.md"), MINE);
    let merges = world.files(".agent-collab/merges");
    let [(_, merge)] = merges.as_slice() else {
        panic!("one merge: {merges:?}");
    };
    let merge = String::from_utf8_lossy(merge).into_owned();
    assert!(
        merge.contains("<<<<<<< your text") && merge.contains(">>>>>>> the agent's text"),
        "{merge}"
    );
}

fn run_with_edit_in_review(world: &World, more: &[&str]) -> crate::world::Ran {
    let wait = world.fifo("wait");
    let reviewer = Agent::new()
        .on(
            "[agent-collab REVIEW",
            vec![
                shell(&format!("cat {wait}")),
                write("${comments_path}", "[APPROVED]\n"),
            ],
        )
        .review("[APPROVED]\n");
    world.cast(&finish(Agent::new().plan(PLAN)), &reviewer);
    let mut arguments = vec!["run", "--goal", "A test", "--auto", "--yes-execute"];
    arguments.extend(more);
    let mut running = world.start(&arguments);
    running.until("$ cat");
    let text = world
        .read(".agent-collab/plan.md")
        .replace("Write", "Write by me");
    world.put(".agent-collab/plan.md", &text);
    world.release("wait");
    running.wait()
}

#[test]
fn an_approval_is_void_for_a_plan_that_was_edited_meanwhile() {
    let world = World::new();
    run_with_edit_in_review(&world, &[])
        .ends(3)
        .complains("stale_plan")
        .complains("--answer stale_plan=review|accept");
    assert!(world.events_of("execution.entered").is_empty());
}

#[test]
fn an_edited_plan_is_reviewed_again_where_the_user_says_so() {
    let world = World::new();
    run_with_edit_in_review(&world, &["--answer", "stale_plan=review"]).ends(0);
    assert_eq!(world.state()["iteration"], 2);
    let message = world.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("[Step 1] Wrote\n\nWrite by me\n\n"),
        "{message}"
    );
}

#[test]
fn an_edited_plan_is_taken_as_it_is_where_the_user_says_so() {
    let world = World::new();
    run_with_edit_in_review(&world, &["--answer", "stale_plan=accept"]).ends(0);
    assert_eq!(world.state()["iteration"], 1);
    let message = world.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("[Step 1] Wrote\n\nWrite by me\n\n"),
        "{message}"
    );
}

#[test]
fn a_plan_edited_while_a_step_runs_is_stale_before_the_next_step() {
    let world = World::new();
    let wait = world.fifo("wait");
    let planner = Agent::planning(&["Write", "Look"])
        .step(
            1,
            vec![
                shell(&format!("cat {wait}")),
                write("new.txt", "new\n"),
                say("Wrote."),
            ],
        )
        .step(2, vec![write("evil.txt", "new\n"), say("Wrote.")]);
    world.cast(&planner, &Agent::approving());
    let mut running = world.start_run(&[]);
    running.until("$ cat");
    let text = world
        .read(".agent-collab/plan.md")
        .replace("Look", "Look twice");
    world.put(".agent-collab/plan.md", &text);
    world.release("wait");
    running.wait().ends(3).complains("stale_plan");
    assert_eq!(world.subjects(), ["[Step 1] Wrote", "first"]);
    let text = world.read(".agent-collab/plan.md");
    assert!(
        text.contains("1. [x] Write") && text.contains("2. [ ] Look twice"),
        "{text}"
    );
}

#[test]
fn a_staging_file_that_is_a_link_is_not_followed() {
    let world = World::new();
    let _unused = turn("", Vec::new());
    std::fs::write(
        world.folder.join("secret.md"),
        "# Task: Secret\n\n1. [ ] Tell\n",
    )
    .expect("file");
    let link = format!("ln -s {}/secret.md ${{plan_path}}", world.folder.display());
    let agent = Agent::new()
        .on("[agent-collab WRITE_PLAN]", vec![shell(&link)])
        .on("[agent-collab WRITE_PLAN]", vec![shell(&link)]);
    world.cast(&agent, &Agent::approving());
    world.run(&[]).ends(3).complains("no_document");
}

#[test]
fn files_with_names_of_the_users_are_called_by_them() {
    let mut world = World::new();
    world.config =
        "[paths]\nworkdir = \".work\"\nplan = \"todo.md\"\ncomments = \"review.md\"\nlog = \"done.md\"\n"
            .to_owned();
    let check = |ran: &crate::world::Ran| {
        for name in ["plan.md", "comments.md", "log.md", ".agent-collab/"] {
            assert!(!ran.out.contains(name), "{}", ran.out);
            assert!(!ran.err.contains(name), "{}", ran.err);
        }
    };
    let silent = Agent::new().always("[agent-collab WRITE_PLAN]", vec![say("Here it is.")]);
    world.cast(&silent, &Agent::approving());
    let ran = world.run(&[]);
    ran.ends(3).complains("no todo.md was returned");
    check(&ran);
    let plan = "````todo.md\n# Task: A\n\n1. [ ] Write\n````";
    let planner = Agent::new()
        .on("[agent-collab WRITE_PLAN]", vec![say(plan)])
        .step(1, vec![write("a.txt", "a\n"), say("Wrote.")]);
    let reviewer = Agent::new().on(
        "[agent-collab REVIEW",
        vec![say("````review.md\n[APPROVED]\n````")],
    );
    world.cast(&planner, &reviewer);
    let ran = world.run(&["--new"]);
    ran.ends(0).says("details in .work/done.md");
    check(&ran);
}
