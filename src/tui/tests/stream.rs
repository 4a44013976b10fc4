//! Tests of blocks in the chat that depend on earlier events, and of what opens there.

use super::pictures::not_writing;
use super::world::{NOW, approving, asking, created, drawn, press, settings, state};
use crate::domain::event::{AgentActivity, CallPermission, Event, PathChange, StepAudit, ToolKind};
use crate::domain::findings::{DisputeJudgement, DisputeSide};
use crate::domain::ids::TurnId;
use crate::domain::phase::{Gate, Phase};
use crate::domain::question::{Question, QuestionAnswer, QuestionKind};
use crate::domain::receipt::{Receipt, TestOutcome};
use crate::domain::turn::{MissingDocumentReason, Role, TurnFailureKind, TurnOutcome, TurnPurpose};
use crate::tui::{Action, ExternalViewer, Screen};

fn told(screen: &mut Screen, events: &[Event]) -> String {
    for event in events {
        screen.on_event(NOW, event);
    }
    drawn(screen, (120, 40), Some(&state(Phase::Execute)))
}

fn tests_ran(outcome: TestOutcome, output: &str) -> Event {
    let receipt = Receipt {
        command: "sh tests/run.sh".to_owned(),
        exit_code: (outcome == TestOutcome::Failed).then_some(1),
        outcome,
        duration_ms: 1_250,
        output_tail: output.to_owned(),
        ..Receipt::without_command()
    };
    Event::TestsRan {
        step: 2,
        receipt,
        changed: Vec::new(),
        made_by_tests: Vec::new(),
        entry_points: Vec::new(),
        held: Vec::new(),
        rewritten: Vec::new(),
        tree: None,
    }
}

fn agent(news: AgentActivity) -> Event {
    Event::Agent {
        turn: TurnId::new("trn_1"),
        role: Role::Planner,
        news,
    }
}

fn ended(item: &str, status: &str, output: &str) -> Event {
    agent(AgentActivity::ToolEnded {
        item: item.to_owned(),
        status: status.parse().unwrap(),
        exit_code: None,
        output: output.to_owned(),
    })
}

fn started(item: &str, command: &str) -> Event {
    agent(AgentActivity::ToolStarted {
        item: item.to_owned(),
        tool: ToolKind::Command,
        title: command.to_owned(),
        detail: None,
    })
}

#[test]
fn tests_that_failed_open_to_what_they_said() {
    let mut screen = not_writing();
    let failed = tests_ran(TestOutcome::Failed, "ok 1\nnot ok 2 空\n");
    let seen = told(&mut screen, &[failed]);
    for line in ["✗ Step 2: tests failed (exit 1)", "   not ok 2 空"] {
        assert!(seen.contains(line), "{line}\n{seen}");
    }
    press(&mut screen, Some(&state(Phase::Execute)), &[",", " "]);
    let seen = told(&mut screen, &[]);
    for line in [
        "✗ Step 2: tests failed (exit 1)",
        "   $ sh tests/run.sh  1.2 s",
        "   ok 1",
        "   not ok 2 空",
    ] {
        assert!(seen.contains(line), "{line}\n{seen}");
    }
}

#[test]
fn a_step_that_is_done_opens_to_what_its_tests_said() {
    let mut screen = not_writing();
    let events = [
        tests_ran(TestOutcome::Passed, "ok 1\n"),
        Event::CommitMade {
            step: 2,
            commit: "0e78f21f00".to_owned(),
            message: "[Step 2] test sum".to_owned(),
            size: None,
        },
        Event::StepRecorded {
            step: 2,
            plan_file_sha256: None,
        },
    ];
    let seen = told(&mut screen, &events);
    let is_done = |line: &str| {
        line.contains("  ✓ Step 2 done  ") && line.contains("  tests passed · 0e78f21f ▸")
    };
    assert!(
        seen.lines().any(is_done) && !seen.contains("ok 1"),
        "{seen}"
    );
    press(&mut screen, Some(&state(Phase::Execute)), &[",", " "]);
    let seen = told(&mut screen, &[]);
    assert!(seen.contains("   ok 1"), "{seen}");
}

#[test]
fn the_line_of_a_step_that_is_done_has_its_title_in_one_row() {
    use crate::domain::plan;
    let text = "take the last line also when `read` meets the end of a file that has no newline at its end";
    let plan = plan::parse(&format!(
        "# Task: count\n\n## Steps\n1. [ ] begin\n2. [ ] {text}\n"
    ))
    .unwrap();
    let events = [
        Event::PlanEdited {
            plan: Some(plan),
            approval_sha256: plan::approval_hash(""),
            file_sha256: plan::file_hash(b""),
            source: None,
        },
        tests_ran(TestOutcome::Passed, ""),
        Event::CommitMade {
            step: 2,
            commit: "0e78f21f00".to_owned(),
            message: crate::domain::commit_subject::commit_subject("Step 2", text),
            size: None,
        },
        Event::StepRecorded {
            step: 2,
            plan_file_sha256: None,
        },
    ];
    let seen = told(&mut not_writing(), &events);
    let rows: Vec<&str> = seen.split_whitespace().collect();
    let done = rows.join(" ");
    assert!(
        done.contains("Step 2 done take the last line also when read meets"),
        "{seen}"
    );
    assert!(done.contains("… tests passed · 0e78f21f"), "{seen}");
    assert_eq!(done.matches("take the last line").count(), 1, "{seen}");
}

#[test]
fn what_failed_is_not_told_once_more_as_a_question() {
    let message = "a hook refused it";
    let failed = Event::CommitFailed {
        step: 2,
        message: message.to_owned(),
    };
    let kind = QuestionKind::CommitFailed {
        step: 2,
        message: message.to_owned(),
    };
    let asked = Event::QuestionAsked {
        question: Question { id: 1, kind },
    };
    let seen = told(&mut not_writing(), &[failed, asked]);
    assert_eq!(seen.matches(message).count(), 1, "{seen}");
    let question = |found: &str| QuestionKind::TestsFailed {
        step: 2,
        found: found.to_owned(),
    };
    let asked = |found| Event::QuestionAsked {
        question: Question {
            id: 1,
            kind: question(found),
        },
    };
    let failed = tests_ran(TestOutcome::Failed, "not ok");
    let seen = told(
        &mut not_writing(),
        &[failed.clone(), asked("tests failed (exit 1)")],
    );
    assert_eq!(seen.matches("Step 2: tests failed").count(), 1, "{seen}");
    // A different text is shown as well.
    let seen = told(&mut not_writing(), &[failed, asked("they hang")]);
    assert!(seen.contains("? Step 2: they hang"), "{seen}");
}

#[test]
fn what_failed_is_read_in_the_dialog_alone() {
    let output = "not ok 2\n  expected: 1\n  but got: 2";
    let failed = tests_ran(TestOutcome::Failed, output);
    let Event::TestsRan { receipt, .. } = &failed else {
        unreachable!();
    };
    for found in ["tests failed (exit 1)", "they still fail"] {
        let kind = QuestionKind::TestsFailed {
            step: 2,
            found: found.to_owned(),
        };
        let mut state = asking(Phase::Execute, kind);
        let execution = state.execution.as_mut().unwrap();
        execution.current.as_mut().unwrap().receipt = Some(receipt.clone());
        let question = state.awaiting.clone().unwrap();
        let mut screen = not_writing();
        for event in [&failed, &Event::QuestionAsked { question }] {
            screen.on_event(NOW, event);
        }
        let seen = drawn(&mut screen, (120, 40), Some(&state));
        assert_eq!(seen.matches("but got: 2").count(), 1, "{seen}");
        assert!(seen.contains("✗ Step 2: tests failed (exit 1)"), "{seen}");
    }
}

#[test]
fn what_the_user_interrupted_is_not_told_as_done_or_failed() {
    let mut screen = not_writing();
    let mut approval = approving(&["npm test"]).approvals.remove(0);
    approval.permission = CallPermission::Bash;
    let mut begun = created();
    begun.gate = Gate::Auto;
    let events = [
        Event::RunCreated(Box::new(begun)),
        started("t1", "npm test"),
        Event::ApprovalRequested(approval.clone()),
        started("t2", "ls"),
        Event::InterruptRequested,
        Event::ApprovalExpired {
            approval,
            reason: "its CLI no longer waits".to_owned(),
        },
        ended("t1", "abandoned", ""),
        ended("t2", "abandoned", ""),
        Event::TurnEnded {
            turn: TurnId::new("trn_1"),
            result: TurnOutcome::Interrupted,
        },
    ];
    let seen = told(&mut screen, &events);
    for line in [
        "■ $ npm test  Not run: you interrupted the turn",
        "■ $ ls  ended with its turn",
        "· Turn interrupted",
    ] {
        assert!(seen.contains(line), "{line}\n{seen}");
    }
    assert!(!seen.contains("expired"), "{seen}");
    // No notice yet: after the turn of the summary, the run ends.
    assert!(!seen.contains("manual now"), "{seen}");
}

#[test]
fn a_request_is_shown_at_the_call_that_its_cli_names() {
    for (item, line) in [
        (
            Some("t1"),
            "■ $ npm test …  Not run: you interrupted the turn",
        ),
        // Older logs do not say which call it is, and no title is the whole command.
        (None, "■ $ ls  Not run: you interrupted the turn"),
    ] {
        let mut screen = not_writing();
        let mut approval = approving(&["npm test \\\n --all"]).approvals.remove(0);
        approval.permission = CallPermission::Bash;
        approval.item = item.map(str::to_owned);
        let events = [
            started("t1", "npm test …"),
            started("t2", "ls"),
            Event::ApprovalRequested(approval.clone()),
            Event::InterruptRequested,
            Event::ApprovalExpired {
                approval,
                reason: "its CLI no longer waits".to_owned(),
            },
            ended("t1", "abandoned", ""),
            ended("t2", "abandoned", ""),
        ];
        let seen = told(&mut screen, &events);
        assert!(seen.contains(line), "{line}\n{seen}");
    }
}

#[test]
fn the_gate_is_called_manual_when_it_is_and_by_itself() {
    let auto = Event::GateChanged { gate: Gate::Auto };
    let asked = Event::QuestionAsked {
        question: Question {
            id: 9,
            kind: QuestionKind::Gate {
                order: super::world::order(TurnPurpose::Review),
            },
        },
    };
    let reason = "another plan".to_owned();
    let anew = [
        Event::InterruptRequested,
        Event::PlanEntered { reason, step: None },
    ];
    for (events, wanted) in [
        (vec![auto.clone(), Event::RunStopped], true),
        (
            vec![auto.clone(), Event::InterruptRequested, asked.clone()],
            true,
        ),
        ([vec![auto.clone()], anew.to_vec()].concat(), false),
        (vec![auto, Event::RunCancelled], false),
        (vec![Event::RunStopped], false),
        (vec![asked], false),
    ] {
        let mut screen = not_writing();
        let seen = told(&mut screen, &events);
        let is_told = seen.contains("Now in Manual");
        assert_eq!(is_told, wanted, "{events:?}\n{seen}");
    }
}

#[test]
fn what_is_told_again_with_nothing_between_is_told_once() {
    let mut screen = not_writing();
    let question = |id| Event::QuestionAsked {
        question: Question {
            id,
            kind: QuestionKind::Conflict {
                document: "plan.md".to_owned(),
                purpose: TurnPurpose::Respond,
                clash: None,
            },
        },
    };
    let resumed = Event::RunResumed { gate: Gate::Manual };
    let answer = Event::QuestionAnswered {
        id: 1,
        answer: QuestionAnswer::Merge,
    };
    let events = [
        resumed.clone(),
        resumed.clone(),
        resumed,
        question(1),
        answer,
        question(2),
    ];
    let seen = told(&mut screen, &events);
    assert_eq!(seen.matches("Run resumed").count(), 1, "{seen}");
    let asked = "? plan.md was edited while";
    assert_eq!(seen.matches(asked).count(), 1, "{seen}");
    let text = agent(AgentActivity::Text {
        text: "again".to_owned(),
    });
    let seen = told(&mut screen, &[text, question(3)]);
    assert_eq!(seen.matches(asked).count(), 2, "{seen}");
}

#[test]
fn that_the_user_kept_a_text_is_no_failure_of_the_turn() {
    let kept = Event::DocumentMissing {
        turn: TurnId::new("trn_1"),
        reason: MissingDocumentReason::UserKeptOwnText,
    };
    let seen = told(&mut not_writing(), &[kept]);
    assert!(
        seen.contains("· Your text stays. The turn is repeated"),
        "{seen}"
    );
    assert!(!seen.contains("no document"), "{seen}");
}

#[test]
fn what_opens_keeps_its_own_beginning_in_view() {
    let mut screen = not_writing();
    let output: String = (1..=100).map(|n| format!("line {n}\n")).collect();
    let events = [
        started("t1", "seq 100"),
        ended("t1", "completed", &output),
        started("t2", "ls"),
        ended("t2", "completed", "one\ntwo\n"),
    ];
    let run = state(Phase::Execute);
    let before = told(&mut screen, &events);
    let row = |seen: &str| seen.lines().position(|line| line.contains("$ seq 100"));
    let size = (120, 40);
    while !screen
        .tabs
        .chat
        .transcript
        .selected_text()
        .is_some_and(|text| text.starts_with("$ seq"))
    {
        press(&mut screen, Some(&run), &["."]);
    }
    drawn(&mut screen, size, Some(&run));
    press(&mut screen, Some(&run), &[" "]);
    let open = drawn(&mut screen, size, Some(&run));
    assert!(row(&before).is_some() && row(&open).is_some(), "{open}");
    assert!(
        open.contains("▾ $ seq 100") && open.contains("   line 1\n"),
        "{open}"
    );
}

#[test]
fn what_brought_no_document_is_answered_and_tried_again() {
    let kind = QuestionKind::NoDocument {
        purpose: TurnPurpose::WritePlan,
        reason: "no plan.md was returned".to_owned().into(),
    };
    let state = asking(Phase::WritePlan, kind);
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["w"]);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(
        seen.contains("Tell the planner what to do, then it tries again"),
        "{seen}"
    );
    let done = press(&mut screen, Some(&state), &["awk, please", "<enter>"]);
    let kept = Event::MessageQueued {
        to: None,
        text: "awk, please".to_owned(),
    };
    let answered = Event::QuestionAnswered {
        id: 7,
        answer: QuestionAnswer::Retry,
    };
    assert_eq!(done, [Action::Event(kept), Action::Event(answered)]);
}

#[test]
fn a_failed_login_names_a_way_out() {
    let kind = QuestionKind::AdapterFailed {
        purpose: TurnPurpose::WritePlan,
        kind: TurnFailureKind::Login,
        message: "unexpected status 401 Unauthorized".to_owned(),
        other: None,
    };
    let state = asking(Phase::WritePlan, kind);
    let seen = drawn(&mut not_writing(), (120, 40), Some(&state));
    assert!(
        seen.contains("Log in to codex in another terminal, then try again"),
        "{seen}"
    );
}

#[test]
fn what_enter_does_to_an_answer_is_said_in_the_smallest_window() {
    let state = approving(&["npm install"]);
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["w", "no net"]);
    let seen = drawn(&mut screen, (40, 12), Some(&state));
    for part in [
        "npm install",
        "▌ no net",
        "▌ Enter: deny it with this reason",
    ] {
        assert!(seen.contains(part), "{part}\n{seen}");
    }
    press(&mut screen, Some(&state), &["<esc>"]);
    let seen = drawn(&mut screen, (40, 12), Some(&state));
    assert!(seen.contains("Y  Allow once"), "{seen}");
}

#[test]
fn in_the_smallest_window_a_dialog_makes_place_for_a_chat_that_is_scrolled_back() {
    let refining = state(Phase::RefineGoal);
    let mut screen = not_writing();
    let text: String = (1..=30).map(|n| format!("- said {n}\n")).collect();
    told(&mut screen, &[agent(AgentActivity::Text { text })]);
    let seen = |screen: &mut Screen| drawn(screen, (40, 12), Some(&refining));
    let n_rows = |seen: &str| seen.matches("• said").count();
    assert_eq!(n_rows(&seen(&mut screen)), 0);
    press(&mut screen, Some(&refining), &["<pgup>"]);
    let scrolled = seen(&mut screen);
    assert!(n_rows(&scrolled) >= 3, "{scrolled}");
    assert!(scrolled.contains("Is this the goal?"), "{scrolled}");
    press(&mut screen, Some(&refining), &["<end>"]);
    let end = seen(&mut screen);
    assert!(n_rows(&end) == 0 && end.contains("Confirm"), "{end}");
}

#[test]
fn a_text_begins_with_its_first_line() {
    let text = agent(AgentActivity::Text {
        text: "\n\n\n  code 空\n".to_owned(),
    });
    let seen = told(&mut not_writing(), &[text]);
    assert!(seen.contains(" code 空"), "{seen}");
    assert!(!seen.contains("\n\n\n code"), "{seen}");
}

#[test]
fn what_is_half_written_is_kept_once() {
    let mut screen = Screen::new(settings());
    press(&mut screen, None, &["half"]);
    screen.composer.remember_draft();
    assert_eq!(screen.drain_new_inputs(), ["half"]);
}

#[test]
fn a_goal_in_the_users_own_words_is_in_the_chat() {
    let confirmed_as = |text: &str| {
        let mut screen = Screen::new(settings());
        screen.on_event(
            NOW,
            &agent(AgentActivity::Text {
                text: "```goal.md\n# Sums\n\nlists\n```".to_owned(),
            }),
        );
        let (title, text) = ("Sums".to_owned(), text.to_owned());
        screen.on_event(NOW, &Event::GoalConfirmed { title, text });
        drawn(&mut screen, (80, 24), Some(&state(Phase::WritePlan)))
    };
    let proposed = confirmed_as("# Sums\n\nlists");
    assert!(proposed.contains("✓ Goal confirmed\n"), "{proposed}");
    let own = confirmed_as("Only numbers");
    for line in ["▌ You", "▌ Only numbers", "✓ Goal confirmed in your words"] {
        assert!(own.contains(line), "{line}\n{own}");
    }
}

#[test]
fn what_changed_in_the_goal_since_it_was_put_before_is_marked() {
    let mut screen = Screen::new(settings());
    let says = |goal: &str| {
        agent(AgentActivity::Text {
            text: format!("So?\n\n```goal.md\n{goal}```\n"),
        })
    };
    let many: String = (1..=14).map(|n| format!("- case {n}\n")).collect();
    let refining = state(Phase::RefineGoal);
    screen.on_event(NOW, &says("# Sums\n\nlists\n"));
    let seen = drawn(&mut screen, (80, 24), Some(&refining));
    // The chat has it right above, until the user scrolls.
    let is_in_panel = |seen: &str| seen.contains("▌  Sums");
    assert!(seen.contains("▎ │ Sums") && !is_in_panel(&seen), "{seen}");
    screen.tabs.chat.transcript.scroll_by(-1);
    let seen = drawn(&mut screen, (80, 24), Some(&refining));
    assert!(is_in_panel(&seen), "{seen}");
    screen.tabs.chat.transcript.go_to_end();
    screen.on_event(NOW, &says("# Sums\n\nlists, 空 too\n"));
    let seen = drawn(&mut screen, (80, 24), Some(&refining));
    for line in ["▌    # Sums", "▌  − lists", "▌  + lists, 空 too"] {
        assert!(seen.contains(line), "{line}\n{seen}");
    }
    screen.on_event(NOW, &says(&format!("# Sums\n{many}")));
    screen.on_event(NOW, &says(&format!("# Sums\n{many}- the last\n")));
    let seen = drawn(&mut screen, (80, 30), Some(&refining));
    assert!(
        seen.contains("  - case 14") && seen.contains("+ - the last"),
        "{seen}"
    );
}

#[test]
fn of_several_attempts_for_one_reason_the_last_is_shown() {
    let retry = |reason: &str, attempt: u32| {
        agent(AgentActivity::Retrying {
            reason: reason.to_owned(),
            attempt: Some(attempt),
            max: Some(3),
        })
    };
    let mut screen = not_writing();
    let seen = told(
        &mut screen,
        &[
            retry("overloaded", 1),
            retry("overloaded", 2),
            retry("no network", 3),
        ],
    );
    let n_shown = |seen: &str, attempt: &str| seen.matches(attempt).count();
    assert_eq!(n_shown(&seen, "attempt 1"), 0, "{seen}");
    assert_eq!(
        n_shown(&seen, "tries again: overloaded (attempt 2"),
        1,
        "{seen}"
    );
    assert_eq!(
        n_shown(&seen, "tries again: no network (attempt 3"),
        1,
        "{seen}"
    );
    let said = agent(AgentActivity::Text {
        text: "I go on.".to_owned(),
    });
    let seen = told(&mut screen, &[said, retry("no network", 1)]);
    assert_eq!(n_shown(&seen, "no network"), 2, "{seen}");
}

#[test]
fn why_an_agent_tries_again_stands_above_what_it_says_then() {
    use crate::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
    let delta = |item: &str, change: DeltaChange| TextDelta {
        author: TextAuthor::Role(Role::Planner),
        item: item.to_owned(),
        change,
    };
    let retries = agent(AgentActivity::Retrying {
        reason: "stream disconnected".to_owned(),
        attempt: None,
        max: None,
    });
    let said = agent(AgentActivity::Text {
        text: "The retry is here.".to_owned(),
    });
    let places = |seen: &str| {
        let place = |word| seen.find(word).unwrap();
        (place("tries again"), place("The retry is here."))
    };
    let mut live = not_writing();
    live.on_delta(delta("1", DeltaChange::Append("half a sent".to_owned())));
    live.on_delta(delta("1", DeltaChange::Withdraw));
    // Its text may arrive before the notice.
    let text = "The retry is here.\n".to_owned();
    live.on_delta(delta("2", DeltaChange::Append(text)));
    let seen = told(&mut live, std::slice::from_ref(&retries));
    let (why, what) = places(&seen);
    assert!(why < what, "{seen}");
    let seen = told(&mut live, std::slice::from_ref(&said));
    let (why, what) = places(&seen);
    assert!(why < what && !seen.contains("half a sent"), "{seen}");
    let mut retold = not_writing();
    let seen = told(&mut retold, &[retries, said]);
    let (why, what) = places(&seen);
    assert!(why < what, "{seen}");
}

#[test]
fn of_a_document_s_edit_the_front_matter_is_no_part() {
    let mut screen = not_writing();
    let path = ".agent-collab/turns/ses_1/plan.md".to_owned();
    let diff = "@@ -1,6 +1,2 @@\n----\n-plan: 1\n-hash: 2\n----\n # Goal\n-old\n+new";
    let edit = [
        agent(AgentActivity::ToolStarted {
            item: "e".to_owned(),
            tool: ToolKind::Edit,
            title: path.clone(),
            detail: None,
        }),
        agent(AgentActivity::FilesChanged {
            item: "e".to_owned(),
            paths: [(path.clone(), PathChange::Update)].into(),
            diffs: [(path, diff.to_owned())].into(),
        }),
        ended("e", "completed", ""),
    ];
    let seen = told(&mut screen, &edit);
    assert!(seen.contains("Edit plan.md (draft)  +1 −1"), "{seen}");
    press(&mut screen, Some(&state(Phase::Execute)), &[",", " "]);
    let seen = told(&mut screen, &[]);
    assert!(
        seen.contains(" - old") && !seen.contains("plan: 1"),
        "{seen}"
    );
}

#[test]
fn a_step_that_changed_nothing_is_told_as_over_and_quietly() {
    let mut screen = not_writing();
    let audit = |changed: &[&str]| {
        Event::StepAudited(StepAudit {
            step: 2,
            changed: changed.iter().map(|path| (*path).to_owned()).collect(),
            dirty: Vec::new(),
            outside_of_calls: Vec::new(),
            entry_points: Vec::new(),
            held: Vec::new(),
            out_of_scope: Vec::new(),

            tree: None,
        })
    };
    let recorded = Event::StepRecorded {
        step: 2,
        plan_file_sha256: None,
    };
    press(&mut screen, Some(&state(Phase::Execute)), &["3"]);
    screen.on_time(NOW);
    let elsewhere = told(&mut screen, &[audit(&[]), recorded.clone()]);
    assert!(
        elsewhere.contains("– Step 2 finished: it changed nothing"),
        "{elsewhere}"
    );
    press(&mut screen, Some(&state(Phase::Execute)), &["1"]);
    let seen = told(&mut screen, &[]);
    assert!(
        seen.contains("– Step 2 finished: it changed nothing"),
        "{seen}"
    );
    assert!(!seen.contains("✓ step 2"), "{seen}");
    let mut screen = not_writing();
    let passed = tests_ran(TestOutcome::Passed, "");
    let seen = told(&mut screen, &[audit(&["a.py"]), passed, recorded]);
    assert!(seen.contains("✓ Step 2 done"), "{seen}");
}

#[test]
fn a_long_output_says_how_long_it_is_and_another_program_gets_all_of_it() {
    let mut screen = not_writing();
    let output = "first\n… 340 lines left out here; raw.jsonl of the session has them …\nlast";
    let events = [started("t1", "seq 1 342"), ended("t1", "completed", output)];
    let seen = told(&mut screen, &events);
    assert!(seen.contains("$ seq 1 342  342 lines"), "{seen}");
    let state = state(Phase::Execute);
    press(&mut screen, Some(&state), &[",", " "]);
    let seen = told(&mut screen, &[]);
    assert!(
        seen.contains("   ⋯ 342 lines in all; Alt+L shows them"),
        "{seen}"
    );
    for (key, with) in [
        ("<a-l>", ExternalViewer::Pager),
        ("<c-e>", ExternalViewer::Editor),
    ] {
        let acts = press(&mut screen, Some(&state), &[key]);
        let [Action::OpenCall { call, with: viewer }] = acts.as_slice() else {
            panic!("{acts:?}");
        };
        assert_eq!((call.item.as_str(), *viewer), ("t1", with));
        assert_eq!(
            (call.text.as_str(), call.output.as_str()),
            ("$ seq 1 342", output)
        );
    }
    // Complete output needs no file.
    let events = [started("t2", "seq 1 2"), ended("t2", "completed", "1\n2")];
    let seen = told(&mut screen, &events);
    assert!(!seen.contains("seq 1 2  2 lines"), "{seen}");
    press(&mut screen, Some(&state), &["<esc>", "<end>", ","]);
    let acts = press(&mut screen, Some(&state), &["<a-l>"]);
    assert!(
        matches!(acts.as_slice(), [Action::OpenText { text, .. }] if text.ends_with("1\n2")),
        "{acts:?}"
    );
}

fn failed(kind: TurnFailureKind, message: &str) -> Event {
    Event::TurnEnded {
        turn: TurnId::new("trn_1"),
        result: TurnOutcome::Failed {
            kind,
            message: message.to_owned(),
            transient: true,
            limit: None,
            other: None,
        },
    }
}

pub(super) fn says(text: &str) -> Event {
    let text = text.to_owned();
    agent(AgentActivity::Text { text })
}

#[test]
fn tries_that_end_alike_are_counted_in_one_row() {
    let message = "codex ended during the turn (exit status 101): out of bounds";
    let crashed = || failed(TurnFailureKind::Protocol, message);
    let row = "failed, tried 2 times: codex ended during the turn (exit status 101): out of bounds";
    // What was said twice is told once.
    let twice = [
        says("I will read."),
        crashed(),
        says("I will read."),
        crashed(),
    ];
    let seen = told(&mut not_writing(), &twice);
    for (text, n) in [(row, 1), ("I will read.", 1), ("tried again", 0)] {
        assert_eq!(seen.matches(text).count(), n, "{text}\n{seen}");
    }
    // What was said only then stays.
    let other = [
        says("I will read."),
        crashed(),
        says("I will look."),
        crashed(),
    ];
    let seen = told(&mut not_writing(), &other);
    for text in [row, "I will read.", "I will look.", "· Failed, tried again"] {
        assert_eq!(seen.matches(text).count(), 1, "{text}\n{seen}");
    }
    // A try that the user asked for is not one of them.
    let retry = Event::Steered {
        text: "once more".to_owned(),
    };
    let asked = [says("I will read."), crashed(), retry, crashed()];
    let seen = told(&mut not_writing(), &asked);
    assert_eq!(seen.matches("out of bounds").count(), 2, "{seen}");
}

#[test]
fn attempts_of_a_cli_are_counted_with_the_turn_that_failed() {
    let retry = |attempt| {
        agent(AgentActivity::Retrying {
            reason: "high demand".to_owned(),
            attempt: Some(attempt),
            max: Some(2),
        })
    };
    let end = || failed(TurnFailureKind::Service, "high demand");
    let events = [retry(1), retry(2), end(), retry(1), end()];
    let seen = told(&mut not_writing(), &events);
    assert_eq!(seen.matches("high demand").count(), 1, "{seen}");
    assert!(
        seen.contains("service unavailable, tried 5 times: high demand"),
        "{seen}"
    );
}

#[test]
fn a_judgement_is_told_in_one_place() {
    let judged = Event::DisputesJudged {
        turn: TurnId::new("trn_1"),
        judgements: vec![DisputeJudgement {
            n: 3,
            side: DisputeSide::Planner,
            reason: "the goal says so".to_owned(),
        }],
    };
    let said = says("Both cite it.\n\n```judgement\n3. planner: the goal says so\n```\n");
    let seen = told(&mut not_writing(), &[said.clone(), judged]);
    assert!(seen.contains("Both cite it."), "{seen}");
    assert_eq!(seen.matches("the goal says so").count(), 1, "{seen}");
    // What was not understood, or is about another finding, is in the agent's text alone.
    let unjudged = Event::DisputesJudged {
        turn: TurnId::new("trn_1"),
        judgements: Vec::new(),
    };
    let seen = told(&mut not_writing(), &[said, unjudged]);
    assert_eq!(seen.matches("the goal says so").count(), 1, "{seen}");
}

#[test]
fn a_failure_after_a_turn_that_completed_is_a_new_one() {
    let crashed = || failed(TurnFailureKind::Service, "high demand");
    let completed = Event::TurnEnded {
        turn: TurnId::new("trn_1"),
        result: TurnOutcome::completed("Wrote it."),
    };
    let events = [crashed(), says("Wrote it."), completed, crashed()];
    let seen = told(&mut not_writing(), &events);
    assert_eq!(seen.matches("high demand").count(), 2, "{seen}");
    assert!(!seen.contains("tried"), "{seen}");
}

#[test]
fn a_step_whose_plan_is_not_in_the_loaded_events_has_its_title() {
    let started = Event::SnapshotTaken {
        step: 2,
        tree: Some("t1".to_owned()),
        attempt: 0,
    };
    let seen = told(&mut not_writing(), &[started]);
    assert!(seen.contains("Step 2 of 3"), "{seen}");
}
