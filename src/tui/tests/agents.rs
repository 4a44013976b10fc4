//! Tests of child agents on the screen: their names in the composer, their dialogs, and the keys there.

use super::pictures::{check, not_writing};
use super::world::{press, running, screen, state};
use crate::domain::event::Event;
use crate::domain::phase::Phase;
use crate::domain::run::RunState;
use crate::domain::turn::TurnPurpose;
use crate::permission::AgentMode;
use crate::tui::agent_dialogs::AgentMention;
use crate::tui::run_commands;
use crate::tui::{Action, AgentEntry, Screen};

pub(super) fn agents() -> Vec<AgentEntry> {
    let agent = |name: &str, mode: AgentMode, about: &str| AgentEntry {
        name: name.to_owned(),
        mode,
        description: super::nasty::said(about),
        adapter_and_model: (name == "explore").then(|| "claude, model m-1".to_owned()),
        allowed_tools: vec!["read".to_owned(), "grep".to_owned()],
        asked_tools: vec!["bash".to_owned()],
        missing_tools: vec!["edit".to_owned()],
        rules: "* \"*\" deny  (built in)\nread \"*\" allow  (built in)\n".to_owned(),
    };
    vec![
        agent("build", AgentMode::Primary, "Executes the plan"),
        agent(
            "explore",
            AgentMode::Subagent,
            "Looks for things in the repository",
        ),
        agent("general", AgentMode::Subagent, "Does a task on its own"),
        agent("plan", AgentMode::Primary, "Plans"),
    ]
}

fn task(agent: &str, prompt: &str) -> Vec<Action> {
    vec![Action::GiveTask {
        agent: agent.to_owned(),
        prompt: prompt.to_owned(),
    }]
}

fn show_agents(screen: &mut Screen, name: &str, state: Option<&RunState>) -> Vec<Action> {
    let outcome = run_commands::show_agents(name, &screen.composer.assist.agents, state);
    screen.apply(outcome)
}

#[test]
fn an_agent_is_completed_beside_files_and_its_name_in_front_gives_a_task() {
    let run = running(Phase::WritePlan, TurnPurpose::WritePlan);
    let mut screen = screen();
    screen.on_agents(agents());
    let asked = press(&mut screen, Some(&run), &["@", "e", "x"]);
    assert_eq!(asked, [Action::ListFiles]);
    screen.on_repository_files(vec!["docs/examples.md".to_owned(), "src/lib.rs".to_owned()]);
    check("offer_agents", &mut screen, Some(&run));
    press(&mut screen, Some(&run), &["<enter>"]);
    screen.on_paste("find the callers of X");
    assert_eq!(
        press(&mut screen, Some(&run), &["<enter>"]),
        task("explore", "find the callers of X")
    );
}

#[test]
fn only_an_agent_that_takes_tasks_is_meant_and_a_file_of_its_name_is_told_apart() {
    let mut screen = screen();
    screen.on_agents(agents());
    let wrong = |screen: &Screen, text: &str| match screen.composer.parse_mention(text) {
        Some(AgentMention::Wrong(why)) => why,
        other => format!("{other:?}"),
    };
    assert_eq!(screen.composer.parse_mention("look at @explore now"), None);
    assert_eq!(screen.composer.parse_mention("@src/lib.rs is wrong"), None);
    assert_eq!(screen.composer.parse_mention("@build it"), None);
    assert_eq!(screen.composer.parse_mention("@Override is missing"), None);
    let nobody = wrong(&screen, "@nobody hi");
    assert!(
        nobody.starts_with("No agent is called nobody. Agents for tasks: explore"),
        "{nobody}"
    );
    assert_eq!(
        wrong(&screen, "@explore "),
        "Write the task after @explore."
    );
    screen.on_repository_files(vec!["explore".to_owned()]);
    let both = wrong(&screen, "@explore the file");
    assert!(both.contains("@./explore for the file"), "{both}");
    assert_eq!(screen.composer.parse_mention("@./explore the file"), None);
}

#[test]
fn the_dialogs_tell_what_an_agent_may_do_and_put_it_on_where_that_is_possible() {
    let planning = state(Phase::Review);
    let mut screen = not_writing();
    assert_eq!(show_agents(&mut screen, "", Some(&planning)), []);
    screen.on_agents(agents());
    show_agents(&mut screen, "nobody", Some(&planning));
    show_agents(&mut screen, "", Some(&planning));
    check("dialog_agents", &mut screen, Some(&planning));
    press(&mut screen, Some(&planning), &["2"]);
    check("dialog_agent", &mut screen, Some(&planning));
    press(&mut screen, Some(&planning), &["t"]);
    assert_eq!(screen.composer.editor.text(), "@explore ");

    let executing = running(Phase::Execute, TurnPurpose::Step { n: 1 });
    let mut screen = not_writing();
    screen.on_agents(agents());
    show_agents(&mut screen, "plan", Some(&executing));
    check("dialog_agent_plan", &mut screen, Some(&executing));
    press(&mut screen, Some(&executing), &["p"]);
    check("dialog_plan_anew", &mut screen, Some(&executing));
    let actions = press(&mut screen, Some(&executing), &["y"]);
    assert!(matches!(
        actions.as_slice(),
        [
            Action::Event(Event::InterruptRequested),
            Action::Event(Event::PlanEntered { .. })
        ]
    ));
}
