//! Every mode in every phase for every profile, call by call: none of the three stands in for another.

use super::super::super::mode::MODES;
use super::super::super::{Profile, Profiles, Repetition, Rules};
use super::*;
use Reach::Contained;

/// What is called, and what it is in words.
fn calls() -> Vec<(&'static str, Call, Vec<&'static str>, Repetition)> {
    let command = |line: &str, reach| Call::Command {
        line: line.to_owned(),
        cwd: PathBuf::from(ROOT),
        reach,
    };
    let edit = |path: &str| Call::Edit {
        paths: vec![PathBuf::from(path)],
        reach: Contained,
    };
    let read = |path: &str| Call::Read {
        paths: vec![PathBuf::from(path)],
        search: None,
    };
    let tool = |name: &str| Call::Tool {
        name: name.to_owned(),
        input: "{}".to_owned(),
    };
    let once = Repetition::None;
    vec![
        ("read inside", read("src/a"), vec!["src/a"], once),
        ("read .env", read(".env"), vec![".env"], once),
        ("read outside", read("/etc/hosts"), vec!["/etc/hosts"], once),
        ("edit staging", edit(STAGING[0]), vec![STAGING[0]], once),
        ("edit inside", edit("src/a"), vec!["src/a"], once),
        ("edit outside", edit("/etc/hosts"), vec!["/etc/hosts"], once),
        ("edit .git", edit(".git/config"), vec![".git/config"], once),
        ("ls, held", command("ls -la", Contained), vec![], once),
        ("ls, free", command("ls -la", Unconfined), vec![], once),
        ("make, held", command("make", Contained), vec![], once),
        ("make, free", command("make", Unconfined), vec![], once),
        ("git push", command("git push", Contained), vec![], once),
        ("rm -rf", command("rm -rf build", Contained), vec![], once),
        (
            "ls in a circle",
            command("ls -la", Contained),
            vec![],
            Repetition::Loop,
        ),
        ("webfetch", tool("webfetch"), vec![], once),
        ("task", tool("task"), vec![], once),
        ("plan_exit", tool("plan_exit"), vec![], once),
        ("an MCP tool", tool("mcp__a__b"), vec![], once),
    ]
}

/// One row for a call and a profile: before EXECUTE in each mode, then in EXECUTE in each mode, in the order of [`MODES`].
fn row(profile: &Profile, call: &(&str, Call, Vec<&str>, Repetition)) -> String {
    let (name, call, paths, repetition) = call;
    let mut row = format!("{name:<15} {:<8}", profile.name);
    for phase_access in [BeforeExecute, Execute] {
        row.push_str(" |");
        for mode in MODES {
            let context = Context {
                mode,
                profile: profile.name.clone(),
                rules: std::sync::Arc::new(Rules::layered(profile, &[], &[])),
                repetition: *repetition,
                ..context(phase_access, paths)
            };
            row.push_str(&format!(" {:<5}", decide(call, &context).action.name()));
        }
    }
    row.trim_end().to_owned()
}

#[test]
fn modes_phases_and_profiles_each_take_their_own() {
    let profiles = Profiles::default();
    let mut table = Vec::new();
    for call in calls() {
        for name in ["build", "plan", "review", "explore", "general"] {
            table.push(row(profiles.find(name).unwrap(), &call));
        }
    }
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn what_may_be_done_follows_from_mode_phase_and_rules_and_not_from_the_agents_name() {
    let profiles = Profiles::default();
    for call in calls() {
        for name in ["build", "plan", "review", "explore", "general"] {
            let known = profiles.find(name).unwrap();
            let renamed = Profile {
                name: "renamed".to_owned(),
                ..known.clone()
            };
            let [decided, usual] = [&renamed, known].map(|profile| {
                let row = row(profile, &call);
                row.split_once('|').unwrap().1.to_owned()
            });
            assert_eq!(decided, usual, "{name}: {}", call.0);
        }
    }
}
