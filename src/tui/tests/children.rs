//! Tests of child sessions on the screen: the tree on Status, and the dialog that opens and stops them.

use super::pictures::{check, not_writing};
use super::world::{approving, asking, drawn, order, press, running};
use crate::domain::child_activity::ChildActivity;
use crate::domain::event::{AgentActivity, Approval, ApprovalDecider, Event, ToolKind, ToolStatus};
use crate::domain::ids::{RequestId, SessionId, TurnId, UnixMillis};
use crate::domain::phase::Phase;
use crate::domain::question::{
    AgentQuestion, AnswerOption, AnswerSelectMode, Question, QuestionAnswer, QuestionAsker,
    QuestionKind,
};
use crate::domain::run::RunState;
use crate::domain::session::{ChildMessage, MessageRole};
use crate::domain::task::{
    ChildSession, TaskOrder, TaskOutcome, TaskReportStatus, TaskResult, TaskStatus, TaskWaitMode,
};
use crate::domain::text_delta::{DeltaChange, TextAuthor, TextDelta};
use crate::domain::todo_list::{TodoInput, TodoList};
use crate::domain::turn::TurnPurpose;
use crate::tui::{Action, ChildSessionView, QuitStep, Screen};

fn child(n: u32, parent: Option<&str>, status: TaskStatus) -> ChildSession {
    let order = TaskOrder {
        session: SessionId::new(format!("ses_child{n}")),
        parent: parent.map(SessionId::new),
        n,
        first_agent: None,
        agent: "explore".to_owned(),
        description: "list the public functions".to_owned(),
        adapter: "claude".to_owned(),
        model: None,
        waits: TaskWaitMode::Foreground,
        turn: TurnId::new(format!("ses_child{n}.1")),
        speaks: None,
        tree: None,
    };
    let is_over = status != TaskStatus::Running;
    ChildSession {
        order,
        external_id: None,
        status,
        given_at: UnixMillis(1_700_000_000_000),
        began_at: (n != 2).then_some(UnixMillis(1_700_000_012_000)),
        tool_calls: n - 1,
        n_tasks: 1,
        doing: (status == TaskStatus::Running).then(|| ChildActivity::Call {
            tool: ToolKind::Command,
            title: "rg 'pub fn' src".to_owned(),
            detail: None,
        }),
        took_ms: is_over.then_some(21_000),
        report: TaskReportStatus::Given,
        patch: None,
    }
}

pub(super) fn with_children() -> RunState {
    let mut state = running(Phase::WritePlan, TurnPurpose::WritePlan);
    state.children = vec![
        child(1, Some("ses_a"), TaskStatus::Running),
        child(2, Some("ses_a"), TaskStatus::Running),
        child(3, Some("ses_a"), TaskStatus::Completed),
        child(4, None, TaskStatus::Timeout),
    ];
    state
}

#[test]
fn status_shows_each_child_below_whom_it_works_for() {
    let state = with_children();
    let mut screen = not_writing();
    press(&mut screen, Some(&state), &["5", "<end>"]);
    check("status_children", &mut screen, Some(&state));
}

#[test]
fn a_child_is_opened_or_stopped_from_its_dialog() {
    let state = with_children();
    let mut screen = not_writing();
    let sent = screen.perform_command(
        crate::tui::command_table::parse_slash_command("/sessions").unwrap(),
        Some(&state),
    );
    assert_eq!(sent, []);
    check("dialog_sessions", &mut screen, Some(&state));
    let opened = press(&mut screen, Some(&state), &["4"]);
    assert_eq!(opened, [Action::ShowChild(SessionId::new("ses_child4"))]);
    let open = opened_child(&screen, &state.children[3]);
    screen.show_child_session(open);
    for event in ended_task(&state.children[3].order) {
        screen.on_event(UnixMillis(0), &event);
    }
    press(&mut screen, Some(&state), &["<home>"]);
    check("child_open", &mut screen, Some(&state));
    let task =
        crate::tui::command_table::parse_slash_command("/task explore  where is it?").unwrap();
    let given = screen.perform_command(task, Some(&state));
    assert_eq!(
        given,
        [Action::GiveTask {
            agent: "explore".to_owned(),
            prompt: "where is it?".to_owned(),
        }]
    );
    assert!(
        screen
            .perform_command(
                crate::tui::command_table::parse_slash_command("/sessions").unwrap(),
                None
            )
            .is_empty()
    );
}

#[test]
fn tasks_that_go_on_after_the_end_of_a_run_are_told() {
    let mut state = with_children();
    state.running = None;
    state.phase = Phase::Done;
    let seen = |state: &RunState| drawn(&mut not_writing(), (120, 40), Some(state));
    let all = seen(&state);
    assert!(all.contains("Run finished · 1 task runs, 1 waits"), "{all}");
    state.children.remove(1);
    let one = seen(&state);
    assert!(one.contains("Run finished · 1 task runs"), "{one}");
    assert!(!one.contains("1 task runs,"), "{one}");
    state.children.remove(0);
    assert!(!seen(&state).contains("Run finished ·"));
}

#[test]
fn leaving_says_which_tasks_would_end_and_a_second_key_means_it() {
    let state = with_children();
    let mut screen = not_writing();
    assert_eq!(press(&mut screen, Some(&state), &["<c-c>"]), []);
    check("dialog_quit", &mut screen, Some(&state));
    assert_eq!(press(&mut screen, Some(&state), &["<esc>"]), []);
    assert!(screen.dialogs.own.is_none());
    press(&mut screen, Some(&state), &["<c-c>"]);
    let left = press(&mut screen, Some(&state), &["y"]);
    assert_eq!(left, [Action::Quit(QuitStep::Ask)]);
    let killed = press(&mut screen, Some(&state), &["<c-c>"]);
    assert_eq!(killed, [Action::Quit(QuitStep::Now)]);
    let mut other = not_writing();
    let left = press(&mut other, Some(&state), &["<c-c>", "<c-c>"]);
    assert_eq!(left, [Action::Quit(QuitStep::Now)]);
    let sent = not_writing().perform_remote_command("quit", "", Some(&state));
    assert_eq!(sent, Ok(vec![Action::Quit(QuitStep::Ask)]));
}

#[test]
fn what_the_user_opened_stays_open_when_the_run_moves_on() {
    let state = with_children();
    let on = Event::PhaseChanged {
        from: Phase::Review,
        to: Phase::Respond,
        reason: None,
    };
    for command in ["/theme", "/sessions", "/mode yolo", "/cancel"] {
        let mut screen = not_writing();
        screen.perform_command(
            crate::tui::command_table::parse_slash_command(command).unwrap(),
            Some(&state),
        );
        assert!(screen.dialogs.own.is_some(), "{command}");
        screen.on_event(UnixMillis(0), &on);
        assert!(screen.dialogs.own.is_some(), "{command}");
    }
}

#[test]
fn one_of_several_running_tasks_is_stopped() {
    let state = with_children();
    let mut screen = not_writing();
    screen.perform_command(
        crate::tui::command_table::parse_slash_command("/sessions").unwrap(),
        Some(&state),
    );
    assert_eq!(press(&mut screen, Some(&state), &["s"]), []);
    check("dialog_sessions_stop", &mut screen, Some(&state));
    let stopped = press(&mut screen, Some(&state), &["2"]);
    assert_eq!(stopped, [Action::StopChild(SessionId::new("ses_child2"))]);
}

#[test]
fn the_open_session_of_a_child_that_runs_grows_with_what_it_says() {
    let state = with_children();
    let mut screen = not_writing();
    let session = SessionId::new("ses_child1");
    let writes = |screen: &mut Screen, session: &SessionId, change: DeltaChange| {
        screen.on_delta(TextDelta {
            author: TextAuthor::Child(session.clone()),
            item: "1".to_owned(),
            change,
        });
    };
    let says = |screen: &mut Screen, session: &SessionId, text: &str| {
        writes(screen, session, DeltaChange::Append(text.to_owned()));
    };
    let started = Event::TaskStarted(state.children[0].order.clone());
    let mut open = opened_child(&screen, &state.children[0]);
    open.on_event(UnixMillis(0), &started);
    screen.show_child_session(open);
    assert_eq!(screen.open_child_session(), Some(&session));
    says(&mut screen, &session, "I loo");
    writes(&mut screen, &session, DeltaChange::Withdraw);
    says(&mut screen, &session, "I look ar");
    says(&mut screen, &session, "ound.\n");
    says(&mut screen, &SessionId::new("ses_child2"), "not here");
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("I look around.") && !seen.contains("not here"));
    let news = AgentActivity::Text {
        text: "I look around.".to_owned(),
    };
    let does = |screen: &mut Screen, news: AgentActivity| {
        let session = session.clone();
        screen.on_event(UnixMillis(0), &Event::TaskActivity { session, news });
    };
    does(&mut screen, news);
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert_eq!(seen.matches("I look around.").count(), 1, "{seen}");
    let text = (1..60).map(|n| format!("line {n}\n\n")).collect();
    does(&mut screen, AgentActivity::Text { text });
    assert!(drawn(&mut screen, (80, 24), Some(&state)).contains("line 59"));
    // A user who reads earlier lines keeps the position.
    press(&mut screen, Some(&state), &["<home>"]);
    let text = "more".to_owned();
    does(&mut screen, AgentActivity::Text { text });
    let seen = drawn(&mut screen, (80, 24), Some(&state));
    assert!(seen.contains("line 1") && !seen.contains("more"), "{seen}");
    assert!(seen.contains("↓ 1 new"), "{seen}");
}

/// A task of a child in which its agent does everything that there is, until it times out.
fn ended_task(order: &TaskOrder) -> Vec<Event> {
    let session = &order.session;
    let call = |item: &str, tool: ToolKind, title: &str| AgentActivity::ToolStarted {
        item: item.to_owned(),
        tool,
        title: title.to_owned(),
        detail: None,
    };
    let ended = |item: &str, exit_code: i32, output: &str| AgentActivity::ToolEnded {
        item: item.to_owned(),
        status: ToolStatus::Completed,
        exit_code: Some(exit_code),
        output: output.to_owned(),
    };
    let said = |text: &str| AgentActivity::Text {
        text: text.to_owned(),
    };
    let does = |news: AgentActivity| Event::TaskActivity {
        session: session.clone(),
        news,
    };
    let todos = TodoList::parse(vec![TodoInput {
        id: None,
        content: "read the modules".to_owned(),
        status: "in_progress".to_owned(),
        priority: None,
    }]);
    let request = RequestId::from(format!("{session}/7"));
    let approval = Approval {
        request: request.clone(),
        turn: order.turn.clone(),
        child: Some("planner ▸ explore#4".to_owned().into()),
        ..approving(&["cargo doc"]).approvals[0].clone()
    };
    vec![
        Event::TaskStarted(order.clone()),
        does(said("I look for them with **one** call.")),
        does(call("1", ToolKind::Command, "rg 'pub fn' src")),
        does(ended(
            "1",
            0,
            "src/a.rs:1:pub fn a()\nsrc/b.rs:9:pub fn b()\n",
        )),
        Event::TodosWritten {
            session: session.clone(),
            todos: todos.unwrap(),
        },
        does(call("2", ToolKind::Command, "cargo doc")),
        Event::ApprovalRequested(approval),
        Event::ApprovalDecided {
            request,
            allowed: false,
            by: ApprovalDecider::User,
            reason: "takes too long".to_owned(),
            denial: None,
            kept: Vec::new(),
        },
        does(call("3", ToolKind::Command, "ls docs")),
        does(ended("3", 2, "ls: cannot access 'docs'\n")),
        does(said("Two: `a` and `b`.")),
        Event::TaskEnded(TaskResult {
            task_id: session.clone(),
            agent: order.agent.clone(),
            name: order.short_name(),
            end: TaskOutcome::Timeout {
                error: "took longer than 10 minutes".to_owned(),
            },
            tool_calls: 3,
            duration_ms: 1,
            patch: None,
        }),
    ]
}

/// The view of a child that has got its task and nothing else.
fn opened_child(screen: &Screen, child: &ChildSession) -> Box<ChildSessionView> {
    let prompt = |role: MessageRole, text: &str| ChildMessage {
        turn: child.order.turn.clone(),
        role,
        text: text.to_owned(),
    };
    let mut view = screen.new_child_view(child.session_id());
    view.set_prompts(vec![
        prompt(MessageRole::System, "You only read.\nYou answer briefly."),
        prompt(MessageRole::User, "list the public functions of `src`"),
    ]);
    view
}

#[test]
fn the_session_of_a_child_is_searched_and_its_calls_are_opened_and_copied() {
    let state = with_children();
    let mut screen = not_writing();
    let mut open = opened_child(&screen, &state.children[3]);
    for event in ended_task(&state.children[3].order) {
        open.on_event(UnixMillis(0), &event);
    }
    screen.show_child_session(open);
    let seen = |screen: &mut Screen| drawn(screen, (80, 40), Some(&state));
    assert!(!seen(&mut screen).contains("src/b.rs:9"));
    press(&mut screen, Some(&state), &["/", "b.rs:9"]);
    let found = seen(&mut screen);
    assert!(found.contains("1 of 1 in this session"), "{found}");
    assert!(found.contains("src/b.rs:9:pub fn b()"), "{found}");
    press(&mut screen, Some(&state), &["<esc>"]);
    assert!(!seen(&mut screen).contains("src/b.rs:9"));
    let copied = |screen: &mut Screen| match press(screen, Some(&state), &["<c-y>"]).as_slice() {
        [Action::Copy(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    let whole = copied(&mut screen);
    assert!(whole.contains("list the public functions of `src`\n\nI look for them"));
    assert!(whole.contains("took longer than 10 minutes"), "{whole}");
    press(
        &mut screen,
        Some(&state),
        &["<home>", ".", ".", ".", ".", "<enter>"],
    );
    assert!(seen(&mut screen).contains("src/b.rs:9"));
    assert!(copied(&mut screen).starts_with("$ rg 'pub fn' src"));
    for size in [(1, 4), (2, 6), (4, 9)] {
        drawn(&mut screen, size, Some(&state));
    }
    press(&mut screen, Some(&state), &["<esc>"]);
    assert_eq!(screen.open_child_session(), None);
}

#[test]
fn a_task_that_waited_for_a_place_is_told_to_begin() {
    let state = with_children();
    let mut screen = not_writing();
    let orders: Vec<TaskOrder> = (1..=2)
        .map(|n| child(n, None, TaskStatus::Running).order)
        .collect();
    let began = |n: usize| Event::TaskDispatched {
        session: orders[n].session.clone(),
    };
    let given = |n: usize| Event::TaskStarted(orders[n].clone());
    for event in [given(0), began(0), given(1)] {
        screen.on_event(UnixMillis(0), &event);
    }
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    let what = "gets a task that only reads: list the public functions";
    for name in ["explore#1", "explore#2"] {
        assert!(seen.contains(&format!("{name} {what}")), "{seen}");
        assert!(!seen.contains(&format!("{name} starts")), "{seen}");
    }
    let ended = Event::TaskEnded(TaskResult {
        task_id: orders[0].session.clone(),
        agent: "explore".to_owned(),
        name: "explore#1".to_owned(),
        end: TaskOutcome::from_last_message("Two."),
        tool_calls: 1,
        duration_ms: 1,
        patch: None,
    });
    for event in [ended, began(1), began(1)] {
        screen.on_event(UnixMillis(0), &event);
    }
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    assert_eq!(seen.matches("explore#2 starts").count(), 1, "{seen}");
}

#[test]
fn how_a_task_ended_is_told_by_its_name() {
    let state = with_children();
    let mut screen = not_writing();
    let order = child(2, None, TaskStatus::Running).order;
    let task_id = order.session.clone();
    screen.on_event(UnixMillis(0), &Event::TaskStarted(order));
    let ended = TaskResult {
        task_id,
        agent: "explore".to_owned(),
        name: "explore#2".to_owned(),
        end: TaskOutcome::from_last_message("Two."),
        tool_calls: 1,
        duration_ms: 1,
        patch: None,
    };
    screen.on_event(UnixMillis(0), &Event::TaskEnded(ended));
    let seen = drawn(&mut screen, (120, 40), Some(&state));
    let told = "Task of explore#2 completed: Two.";
    assert!(seen.contains(told), "{seen}");
}

/// A question of the planner's child.
pub(super) fn asks() -> Question {
    let offered = |label: &str, description: Option<&str>| AnswerOption {
        label: label.to_owned(),
        description: description.map(str::to_owned),
    };
    let question = AgentQuestion {
        text: "Which of the two parsers is meant?".to_owned(),
        header: Some("Parser".to_owned()),
        options: vec![
            offered("the old one", Some("it reads what version 1 wrote")),
            offered("the new one", None),
        ],
        picks: AnswerSelectMode::One,
    };
    Question {
        id: 8,
        kind: QuestionKind::Agent {
            request: Some(RequestId::from("ses_child1/q".to_owned())),
            questions: vec![question],
            asker: QuestionAsker::Child {
                turn: TurnId::new("ses_child1.1"),
                path: "planner ▸ explore#1".to_owned(),
            },
        },
    }
}

#[test]
fn what_a_child_asks_comes_with_its_path_before_the_gate_and_is_answered() {
    let mut state = asking(
        Phase::Review,
        QuestionKind::Gate {
            order: order(TurnPurpose::Review),
        },
    );
    state.children = with_children().children;
    state.asked = vec![asks()];
    let mut screen = not_writing();
    check("dialog_child_asks", &mut screen, Some(&state));
    let answered = press(&mut screen, Some(&state), &["2", "<enter>"]);
    let answers = [("Which of the two parsers is meant?", "the new one")];
    let answers = answers.map(|(asked, said)| (asked.to_owned(), said.to_owned()));
    assert_eq!(
        answered,
        [Action::Event(Event::QuestionAnswered {
            id: 8,
            answer: QuestionAnswer::Texts {
                answers: answers.into(),
            },
        })]
    );
}
