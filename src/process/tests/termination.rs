//! Tests that children are ended with everything that they started.

use tokio_util::sync::CancellationToken;

use super::*;

/// Starts a child that runs `script` in its background, and returns it with the process whose pid `script`
/// wrote.
async fn with_descendant(script: &str) -> (tempfile::TempDir, RunningChild, ProcessIdentity) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let running = spawn(&sh(&script.replace("FILE", &quoted(&file))))
        .await
        .unwrap();
    let id = pid_in(&file).await;
    (folder, running, id)
}

#[tokio::test]
async fn interrupt_is_tried_before_term_and_term_before_kill() {
    // Waits without starting programs: a shell can lose a signal that comes while it starts one.
    let script = "trap 'echo int' INT; trap 'echo term' TERM; sleep 1000 & echo ready; \
        while :; do wait; sleep 1000 & done";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    std::fs::write(&file, script).unwrap();
    // A shell cannot trap what it was started without: tests that run in the background have no interrupt.
    let plain = if cfg!(target_os = "linux") {
        "env --default-signal=INT "
    } else {
        ""
    };
    let started = format!("exec {plain}sh {}", quoted(&file));
    let mut running = spawn(&sh(&started)).await.unwrap();
    assert_eq!(
        running.next_event().await,
        OutputEvent::Stdout("ready".to_owned())
    );
    // Long enough for a shell on a busy machine, which prints a word in each step.
    let step = Duration::from_secs(3);
    running.stop_handle().start_stopping(StopLadder(vec![
        (StopRung::Interrupt, step),
        (StopRung::Terminate, step),
    ]));
    let told = collect_output(&mut running).await;
    // The shell also reports children that a signal ended.
    let ours: Vec<&str> = told
        .lines()
        .filter(|line| !line.starts_with("err:"))
        .collect();
    assert_eq!(ours, ["out: int", "out: term", "signal 9"]);
}

#[tokio::test]
async fn a_child_that_ends_when_its_input_closes_is_not_signalled() {
    let mut running = spawn(&sh("cat; exit 7")).await.unwrap();
    assert_eq!(
        describe_exit(&running.stop(StopLadder::patient()).await),
        "exit 7"
    );
}

#[tokio::test]
async fn a_hurried_ladder_replaces_a_patient_one() {
    let mut running = spawn(&sh(
        "trap '' INT TERM; echo ready; while :; do sleep 1000; done",
    ))
    .await
    .unwrap();
    assert_eq!(
        running.next_event().await,
        OutputEvent::Stdout("ready".to_owned())
    );
    running.stop_handle().start_stopping(StopLadder(vec![(
        StopRung::Wait,
        Duration::from_secs(3600),
    )]));
    assert_eq!(
        describe_exit(&running.stop(StopLadder::immediate()).await),
        "signal 9"
    );
}

#[tokio::test]
async fn a_grandchild_in_a_session_of_its_own_goes_with_a_stopped_child() {
    let (_folder, mut running, grandchild) = with_descendant(
        "setsid sh -c 'trap \"\" TERM; echo $$ > FILE; while :; do sleep 1000; done' & wait",
    )
    .await;
    running.stop(StopLadder::immediate()).await;
    assert!(!is_alive(grandchild));
}

#[tokio::test]
async fn a_grandchild_goes_with_a_child_that_ends_by_itself() {
    // It starts no other program in its place: until that has its environment, nothing shows where it came from.
    let (_folder, mut running, grandchild) =
        with_descendant("setsid sh -c 'echo $$ > FILE; while :; do sleep 1000; done' & read go")
            .await;
    running.input().close();
    assert_eq!(collect_output(&mut running).await, "exit 1");
    assert!(!is_alive(grandchild));
}

#[tokio::test]
async fn an_orphan_goes_with_the_child_that_left_it_and_a_child_that_left_none_just_ends() {
    become_subreaper().unwrap();
    let (_folder, mut running, orphan) = with_descendant(
        "(setsid sh -c 'trap \"\" TERM; echo $$ > FILE; while :; do sleep 1000; done' &); read go",
    )
    .await;
    let mut lonely = spawn(&sh("exit 3")).await.unwrap();
    assert_eq!(collect_output(&mut lonely).await, "exit 3");
    assert!(is_alive(orphan));
    running.input().close();
    assert_eq!(collect_output(&mut running).await, "exit 1");
    assert!(!is_alive(orphan));
}

#[tokio::test]
async fn a_grandchild_goes_with_a_child_that_is_dropped() {
    let (_folder, running, grandchild) = with_descendant(
        "setsid sh -c 'trap \"\" TERM; echo $$ > FILE; while :; do sleep 1000; done' & wait",
    )
    .await;
    let child = running.identity();
    drop(running);
    until("both to be gone", || {
        !is_alive(child) && !is_alive(grandchild)
    })
    .await;
}

#[tokio::test]
async fn ended_orphans_are_buried() {
    become_subreaper().unwrap();
    let (_folder, mut running, orphan) =
        with_descendant("(setsid sh -c 'echo $$ > FILE; exec sleep 1000' &); read go").await;
    running.stop(StopLadder::immediate()).await;
    assert_eq!(
        read_process_entry(orphan.pid).filter(|entry| entry.id == orphan),
        None
    );
}

#[tokio::test]
async fn a_pipe_in_strange_hands_does_not_hold_the_end_up() {
    // Without mark and parent, in its own session: nothing shows where it came from while another child that
    // may have left it is still running.
    become_subreaper().unwrap();
    let mut elder = spawn(&sh("read go")).await.unwrap();
    let (_folder, mut running, stranger) = with_descendant(
        "(setsid env -i sh -c 'echo $$ > FILE; exec sleep 1000' &); echo said; read go",
    )
    .await;
    running.input().close();
    let mut lines = Vec::new();
    let exit = loop {
        match running.next_event().await {
            OutputEvent::Ended(exit) => break exit,
            line => lines.push(line),
        }
    };
    assert_eq!(
        (lines, exit.pipes),
        (
            vec![OutputEvent::Stdout("said".to_owned())],
            PipeState::LeftOpen
        )
    );
    assert!(is_alive(stranger));
    elder.stop(StopLadder::immediate()).await;
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(stranger.pid as i32),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
}

#[tokio::test]
async fn output_exit_code_and_duration_are_told() {
    let finished = run(&sh("echo out; echo err >&2; exit 4")).await;
    assert_eq!(
        (finished.stdout.to_text(), finished.stderr.to_text()),
        ("out\n".to_owned(), "err\n".to_owned())
    );
    assert_eq!(
        (
            finished.exit.code,
            finished.end_cause,
            finished.is_success()
        ),
        (Some(4), CommandEndCause::ByItself, false)
    );
    assert_eq!(finished.exit.stderr_tail, "err");
}

#[tokio::test]
async fn a_long_output_keeps_both_ends() {
    let mut spec = limits(30);
    spec.output_cap = 10;
    let script = sh("printf abcde; head -c 1000000 /dev/zero; printf vwxyz");
    let finished = run_to_end(&script, &spec, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(
        finished.stdout.to_text(),
        "abcde\n[… 1000000 bytes left out …]\nvwxyz"
    );
    assert_eq!(finished.stdout.complete_bytes(), None);
}

#[tokio::test]
async fn bytes_are_fed_and_a_child_that_does_not_read_them_is_no_trouble() {
    let feed = CommandLimits {
        stdin: StdinSource::Bytes(vec![b'x'; 1_000_000]),
        ..limits(30)
    };
    let count = run_to_end(&sh("wc -c"), &feed, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(count.stdout.to_text().trim(), "1000000");
    let deaf = run_to_end(&sh("exit 0"), &feed, &CancellationToken::new())
        .await
        .unwrap();
    assert!(deaf.is_success());
}

#[tokio::test]
async fn a_child_whose_time_is_up_goes_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!(
        "setsid sh -c 'echo $$ > {}; exec sleep 1000' & trap '' TERM; wait; sleep 1000",
        quoted(&file)
    );
    let (script, limits, never) = (sh(&script), limits(5), CancellationToken::new());
    let (finished, grandchild) = tokio::join!(run_to_end(&script, &limits, &never), pid_in(&file));
    assert_eq!(finished.unwrap().end_cause, CommandEndCause::TimedOut);
    assert!(!is_alive(grandchild));
}

#[tokio::test]
async fn a_child_that_is_no_longer_wanted_is_stopped() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let finished = run_to_end(&sh("sleep 1000"), &limits(3600), &cancel)
        .await
        .unwrap();
    assert_eq!(
        (finished.end_cause, finished.exit.signal),
        (CommandEndCause::Cancelled, Some(15))
    );
}

#[tokio::test]
async fn what_a_short_child_leaves_in_the_background_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let wait = format!(
        "while [ ! -s {0} ]; do sleep 0.01; done; cat {0}",
        quoted(&file)
    );
    let finished = run(&sh(&format!(
        "(setsid sh -c 'echo $$ > {}; while :; do sleep 1000; done' &); {wait}",
        quoted(&file)
    )))
    .await;
    let pid: u32 = finished.stdout.to_text().trim().parse().unwrap();
    assert!(
        read_process_entry(pid).is_none_or(
            |entry| entry.liveness == super::super::process_table::ProcessLiveness::Zombie
        )
    );
}

#[tokio::test]
async fn who_cannot_be_started_is_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    let orphan = folder.path().join("orphan");
    put_program(&orphan, "#!/no/such/interpreter\n");
    let spec =
        |program: &str, cwd: &Path| SpawnSpec::new(program, cwd, ProcessMark::new("run", "owner"));
    let cases = [
        (
            spec("no-such-program", folder.path()),
            "no-such-program not found | install no-such-program, or set its full path in the configuration",
        ),
        (
            spec("./absent", folder.path()),
            "no program at DIR/./absent | correct the path in the configuration, or install the program there",
        ),
        (
            spec("./plain", folder.path()),
            "DIR/./plain is not an executable file | run: chmod +x DIR/./plain",
        ),
        (
            spec("./orphan", folder.path()),
            "DIR/./orphan cannot be run: its interpreter or loader is missing | install the program that the file's first line names, or correct that line",
        ),
        (
            spec("sh", &folder.path().join("gone")),
            "cannot start sh in DIR/gone: no such directory | start in a directory that exists",
        ),
        (
            spec("sh", folder.path()).args(["a\0b"]),
            "cannot start sh in DIR: an argument or a variable contains a NUL byte | shorten or correct its arguments and environment",
        ),
        (
            spec("sh", folder.path()).args(["x".repeat(3_000_000)]),
            "cannot start sh in DIR: the arguments and the environment are too long | shorten or correct its arguments and environment",
        ),
    ];
    for (spec, expected) in cases {
        let error = spawn(&spec).await.unwrap_err();
        let told = format!("{error} | {}", error.hint())
            .replace(&folder.path().display().to_string(), "DIR");
        assert_eq!(told, expected);
    }
}

#[test]
fn an_environment_is_kept_removed_and_set_by_name() {
    let ours = || {
        ["PATH", "LC_ALL", "LC_TIME", "API_KEY", "HOME"]
            .map(|name| (name.into(), "ours".into()))
            .into_iter()
    };
    let mut spec = sh("").env("HOME", "theirs").env("CI", "1");
    spec.env_remove = vec!["LC_TIME".to_owned()];
    assert_eq!(
        names(&spec.child_environment(ours())),
        "API_KEY CI HOME LC_ALL PATH"
    );
    spec.env_base = EnvironmentBase::Only(vec!["PATH".to_owned(), "LC_*".to_owned()]);
    assert_eq!(
        names(&spec.child_environment(ours())),
        "CI HOME LC_ALL PATH"
    );
}
