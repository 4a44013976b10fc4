//! Property tests of every commit, whatever was changed, staged, named and left out before it.

use proptest::prelude::*;

use super::*;

/// One thing that happens to a path before the commit of a step.
#[derive(Debug, Clone)]
enum PathAction {
    Write(usize, u8),
    Remove(usize),
    Stage(usize),
}

/// A step: what happens, which paths its commit names, which it leaves out, and the commit message.
#[derive(Debug, Clone)]
struct CommitScenario {
    acts: Vec<PathAction>,
    named: Vec<usize>,
    left_out: Vec<usize>,
    text: String,
}

const PATHS: [&str; 7] = [
    "a",
    "dir/b",
    "new",
    "[odd] *",
    ".agent-collab/plan.md",
    "runs/here/plan.md",
    "runs/other",
];

fn any_step() -> impl Strategy<Value = CommitScenario> {
    let path = || 0..PATHS.len();
    let act = prop_oneof![
        3 => (path(), any::<u8>()).prop_map(|(path, content)| PathAction::Write(path, content)),
        1 => path().prop_map(PathAction::Remove),
        1 => path().prop_map(PathAction::Stage),
    ];
    let paths = |most| proptest::collection::vec(path(), 0..most);
    (
        proptest::collection::vec(act, 0..5),
        paths(8),
        paths(3),
        "\\PC{0,80}[a-z#]\\PC{0,8}",
    )
        .prop_map(|(acts, named, left_out, text)| CommitScenario {
            acts,
            named,
            left_out,
            text,
        })
}

fn perform(fixture: &GitFixture, act: &PathAction) {
    match act {
        PathAction::Write(path, content) => fixture.write(PATHS[*path], &content.to_string()),
        PathAction::Remove(path) => drop(std::fs::remove_file(fixture.root().join(PATHS[*path]))),
        PathAction::Stage(path) => {
            // A path that does not exist cannot be staged; this test does not cover that.
            let mut git = Command::new("git");
            git.current_dir(fixture.root()).envs(ENVIRONMENT);
            git.args(["--literal-pathspecs", "add", "-f", "--", PATHS[*path]]);
            git.output().unwrap();
        }
    }
}

/// Makes the commits of the steps and returns what is wrong with any of them.
async fn wrongs(steps: &[CommitScenario]) -> Vec<String> {
    let fixture = GitFixture::new();
    let repository = fixture.repository().await;
    let repository = repository.with_excluded_folder(Path::new("runs/here"));
    let chosen = |numbers: &[usize]| -> Vec<PathBuf> {
        numbers.iter().map(|n| PathBuf::from(PATHS[*n])).collect()
    };
    let subject = regex::Regex::new(r"^\[Step \d+\] .+").unwrap();
    let mut wrongs = Vec::new();
    for (n, step) in (1..).zip(steps) {
        step.acts.iter().for_each(|act| perform(&fixture, act));
        let head = fixture.git("rev-parse HEAD");
        let message = format!("[Step {n}] {}", step.text);
        let left_out = chosen(&step.left_out);
        let made = commit_now(&repository, &chosen(&step.named), &left_out, &message).await;
        let now = fixture.git("rev-parse HEAD");
        match made {
            Ok(commit) if commit.0 == now && now != head => {}
            Ok(commit) => wrongs.push(format!("{} is not a new HEAD", commit.0)),
            Err(failure) if failure.kind == CommitFailureKind::NothingToCommit && now == head => {
                continue;
            }
            Err(failure) => {
                wrongs.push(format!("{:?}: {failure}", failure.kind));
                continue;
            }
        }
        let told = fixture.git("log -1 --format=%s");
        if !subject.is_match(&told) || told != message.trim_end() {
            wrongs.push(format!("subject {told:?} of {message:?}"));
        }
        let held = fixture.git("-c core.quotePath=false diff-tree -r --name-only HEAD~1 HEAD");
        if held.is_empty() {
            wrongs.push(format!("{told} holds nothing"));
        }
        for path in held.lines().map(Path::new) {
            let is_named = chosen(&step.named).iter().any(|named| named == path);
            if !is_named || repository.is_excluded(path) || left_out.iter().any(|out| out == path) {
                wrongs.push(format!("{told} holds {}", path.display()));
            }
        }
    }
    wrongs
}

proptest! {
    // One case makes dozens of git calls.
    #![proptest_config(ProptestConfig::with_cases(5))]

    #[test]
    fn every_commit_is_a_steps_and_holds_what_it_may(steps in proptest::collection::vec(any_step(), 1..4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        prop_assert_eq!(runtime.block_on(wrongs(&steps)), Vec::<String>::new());
    }
}
