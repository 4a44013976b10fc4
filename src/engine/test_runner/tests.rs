//! Tests with real runs of shell scripts that simulate a test runner.

use super::*;

fn settings() -> TestSettings {
    let env = BTreeMap::new();
    TestSettings {
        timeout: Duration::from_secs(30),
        max_output_bytes: 1 << 20,
        env,
        sets_ci: true,
        run: "run_1".to_owned(),
        spawner: ChildSpawner::default(),
        sandbox: None,
    }
}

async fn receipt(line: &str, settings: &TestSettings) -> Receipt {
    let root = tempfile::tempdir().unwrap();
    let command = TestCommandLine::parse(line).unwrap();
    let clean = |text: &str| text.replace("secret", "******");
    let test = TestRun {
        command: &command,
        root: root.path(),
        repository: None,
        settings,
        clean: &clean,
    };
    run_tests(test, &CancellationToken::new()).await.unwrap()
}

async fn check(line: &str, expected: &str) {
    let receipt = receipt(line, &settings()).await;
    assert_eq!(
        format!(
            "{} | {}",
            receipt.describe(),
            receipt.output_tail.trim_end()
        ),
        expected
    );
}

#[tokio::test]
async fn outcome_counts_and_output_in_its_order_are_on_the_receipt() {
    check(
        "echo one; echo two >&2; echo '2 passed in 0.1s'",
        "tests passed: 2 passed, 0 failed, 0 skipped | one\ntwo\n2 passed in 0.1s",
    )
    .await;
    check("echo wrong; exit 3", "tests failed (exit 3) | wrong").await;
    check("kill -9 $$", "tests failed (ended by a signal) | ").await;
    check(
        "echo '==== no tests ran in 0.01s ===='; exit 5",
        "not tested: the command found no tests | ==== no tests ran in 0.01s ====",
    )
    .await;
}

#[tokio::test]
async fn plain_words_are_run_without_a_shell_reading_them() {
    check("printf %s.%s a b", "tests passed | a.b").await;
}

#[tokio::test]
async fn a_missing_program_was_not_started() {
    let outcome = receipt("no-such-runner --all", &settings()).await.outcome;
    assert!(
        matches!(&outcome, TestOutcome::NotStarted(why) if why.contains("no-such-runner: not found")),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn output_is_cleaned_and_cut_to_its_end() {
    check("echo my secret", "tests passed | my ******").await;
    let long = receipt(
        "head -c 100000 /dev/zero | tr '\\0' x; echo end",
        &settings(),
    )
    .await;
    assert_eq!(
        (long.output_tail.len(), long.output_tail.ends_with("xend\n")),
        (MAX_TAIL_BYTES, true)
    );
}

#[tokio::test]
async fn a_test_run_reads_nothing_and_sees_no_secret() {
    let seen = receipt("cat; env; exit 0", &settings()).await.output_tail;
    let names: Vec<&str> = seen
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    let allowed = |name: &&&str| {
        let set = [
            "CI",
            "TERM",
            "NO_COLOR",
            "GIT_TERMINAL_PROMPT",
            "AGENT_COLLAB_MARK",
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_",
        ];
        set.contains(*name) || KEPT_VARIABLES.contains(*name) || name.starts_with("LC_")
    };
    assert_eq!(
        names
            .iter()
            .filter(|name| !allowed(name))
            .collect::<Vec<_>>(),
        Vec::<&&str>::new()
    );
    assert!(names.contains(&"PATH") && names.contains(&"CI"));
    let suspicious = |name: &&str| {
        ["TOKEN", "KEY", "SECRET", "PASS", "AUTH", "CREDENTIAL"]
            .iter()
            .any(|word| name.contains(word))
    };
    assert_eq!(
        KEPT_VARIABLES
            .iter()
            .filter(|name| suspicious(name))
            .count(),
        0
    );
}

#[tokio::test]
async fn a_run_over_its_time_is_ended_and_one_no_longer_wanted_has_no_receipt() {
    let mut short = settings();
    // Long enough for the one word that is printed before, even on a busy machine.
    short.timeout = Duration::from_secs(5);
    let receipt = receipt("echo started; sleep 1000", &short).await;
    assert_eq!(
        (receipt.outcome, receipt.output_tail.as_str()),
        (TestOutcome::TimedOut, "started\n")
    );

    let cancel = CancellationToken::new();
    cancel.cancel();
    let (root, settings) = (tempfile::tempdir().unwrap(), settings());
    let command = TestCommandLine::parse("sleep 1000").unwrap();
    let test = TestRun {
        command: &command,
        root: root.path(),
        repository: None,
        settings: &settings,
        clean: &|text| text.to_owned(),
    };
    assert!(matches!(
        run_tests(test, &cancel).await,
        Err(TestRunError::Cancelled)
    ));
}

#[tokio::test]
async fn an_output_over_the_cap_is_not_counted() {
    let mut small = settings();
    small.max_output_bytes = 100;
    let receipt = receipt(
        "head -c 1000 /dev/zero | tr '\\0' x; echo; echo '2 passed in 0.1s'",
        &small,
    )
    .await;
    assert_eq!(
        (receipt.counts, receipt.outcome),
        (None, TestOutcome::Passed)
    );
}

#[tokio::test]
async fn the_trees_before_and_after_are_noted() {
    use crate::engine::git::{GitSettings, RepositoryDiscovery};
    let root = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("git")
        .current_dir(root.path())
        .args(["init", "-q"])
        .status()
        .unwrap();
    assert!(made.success());
    let git = GitSettings::new("run_1", CancellationToken::new());
    let RepositoryDiscovery::Found(repository) =
        GitRepository::discover(root.path(), git).await.unwrap()
    else {
        panic!()
    };
    let (command, settings) = (TestCommandLine::parse("touch made").unwrap(), settings());
    let test = TestRun {
        command: &command,
        root: root.path(),
        repository: Some(&repository),
        settings: &settings,
        clean: &|text| text.to_owned(),
    };
    let receipt = run_tests(test, &CancellationToken::new()).await.unwrap();
    assert_eq!(
        receipt.tree_before.as_deref(),
        Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
    );
    assert_ne!(receipt.tree_after, receipt.tree_before);
    assert_eq!(
        receipt.tree_after,
        Some(repository.work_tree().current_tree().await.unwrap().0)
    );

    // The sensitive changes of a test run are found between two trees, too.
    std::fs::write(root.path().join("pytest.ini"), "").unwrap();
    let after = repository.work_tree().current_tree().await.unwrap();
    let before = crate::engine::git::TreeId(receipt.tree_after.unwrap());
    let pytest = TestCommandLine::parse("pytest").unwrap();
    let configuration = &repository.config().read().await.unwrap();
    let found =
        sensitive_changes_between(&repository, configuration, Some(&pytest), &before, &after)
            .await
            .unwrap();
    assert_eq!(
        found
            .iter()
            .map(|change| format!("{} {:?}", change.path.display(), change.content))
            .collect::<Vec<_>>(),
        ["pytest.ini Some(\"100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\")"]
    );
    let found =
        sensitive_changes_between(&repository, configuration, Some(&pytest), &after, &before)
            .await
            .unwrap();
    assert_eq!(
        found
            .into_iter()
            .map(|change| change.content)
            .collect::<Vec<_>>(),
        [None]
    );
}
