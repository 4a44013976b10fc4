//! Tests that what a child writes arrives as lines, and that what it is sent arrives whole.

use super::*;

async fn check(script: &str, input: &[&str], expected: &str) {
    let mut running = spawn(&sh(script)).await.unwrap();
    for text in input {
        running.input().send((*text).to_owned()).await.unwrap();
    }
    running.input().close();
    assert_eq!(collect_output(&mut running).await, expected);
}

#[tokio::test]
async fn both_pipes_are_read_and_the_end_comes_last() {
    check(
        "echo one; exec 1>&-; echo two >&2; exit 3",
        &[],
        "out: one\nerr: two\nexit 3",
    )
    .await;
}

#[tokio::test]
async fn a_line_may_come_in_pieces_and_the_last_without_its_end() {
    check("printf 'a'; printf 'b\\nc'", &[], "out: ab\nout: c\nexit 0").await;
}

#[tokio::test]
async fn invalid_utf8_is_replaced() {
    check("printf 'a\\377b\\n'", &[], "out: a\u{fffd}b\nexit 0").await;
}

#[tokio::test]
async fn what_is_sent_arrives_in_order_and_closing_comes_after_it() {
    check(
        "cat; echo closed",
        &["one\n", "two\n"],
        "out: one\nout: two\nout: closed\nexit 0",
    )
    .await;
}

#[tokio::test]
async fn a_line_of_twenty_mebibytes_is_whole_and_one_of_forty_is_told() {
    let script = "head -c 20971520 /dev/zero | tr '\\0' x; echo; head -c 41943040 /dev/zero | tr '\\0' y; echo; echo last";
    let mut running = spawn(&sh(script)).await.unwrap();
    assert!(
        matches!(running.next_event().await, OutputEvent::Stdout(line) if line.len() == 20_971_520)
    );
    assert_eq!(
        collect_output(&mut running).await,
        "Out: 41943040 bytes, 1024 told\nout: last\nexit 0"
    );
}

#[tokio::test]
async fn sending_to_a_child_that_closed_its_input_is_an_error() {
    let mut running = spawn(&sh("exec 0<&-; echo closed; sleep 1000"))
        .await
        .unwrap();
    assert_eq!(
        running.next_event().await,
        OutputEvent::Stdout("closed".to_owned())
    );
    let input = running.input();
    let mut refused = false;
    for _ in 0..1000 {
        refused = refused || input.send("more\n".to_owned()).await.is_err();
    }
    assert!(refused);
    assert_eq!(
        describe_exit(&running.stop(StopLadder::immediate()).await),
        "signal 9"
    );
}

#[tokio::test]
async fn a_slow_reader_slows_a_flooding_child() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!(
        "i=0; while :; do i=$((i+1)); echo \"$i {:0>4000}\"; echo $i > {}; done",
        0,
        quoted(&count)
    );
    let mut running = spawn(&sh(&script)).await.unwrap();
    let written = || {
        std::fs::read_to_string(&count)
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
            .unwrap_or(0)
    };
    assert!(matches!(running.next_event().await, OutputEvent::Stdout(_)));
    // The child makes no progress once pipe and channel are full: its state is "sleeping" and its count does
    // not change.
    let (mut last, mut unmoved) = (0, 0);
    until("the child to stand still", || {
        unmoved = if written() == last { unmoved + 1 } else { 0 };
        last = written();
        last > 10 && unmoved > 40
    })
    .await;
    assert!(
        last < 1000,
        "{last} lines of 4 kB were taken from the child though nobody reads"
    );
    for n in 2..1000u64 {
        let OutputEvent::Stdout(line) = running.next_event().await else {
            panic!("the flood ended")
        };
        assert!(
            line.starts_with(&format!("{n} ")),
            "{line:.20} is not line {n}"
        );
    }
    running.stop(StopLadder::immediate()).await;
}

#[tokio::test]
async fn waiting_for_a_line_may_be_given_up_without_loss() {
    let mut running = spawn(&sh("read go; echo one; echo two")).await.unwrap();
    for _ in 0..50 {
        tokio::select! {
            biased;
            line = running.next_event() => panic!("{line:?} came too early"),
            () = tokio::task::yield_now() => {}
        }
    }
    running.input().send("go\n".to_owned()).await.unwrap();
    assert_eq!(
        collect_output(&mut running).await,
        "out: one\nout: two\nexit 0"
    );
    assert!(matches!(running.next_event().await, OutputEvent::Ended(_)));
}

#[tokio::test]
async fn the_end_carries_the_last_forty_lines_of_standard_error() {
    let mut running = spawn(&sh(
        "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i >&2; done; exit 1",
    ))
    .await
    .unwrap();
    let exit = running
        .stop(StopLadder(vec![(StopRung::Wait, Duration::from_secs(20))]))
        .await;
    let lines: Vec<&str> = exit.stderr_tail.lines().collect();
    assert_eq!(
        (lines.len(), lines[0], lines[39], exit.code),
        (40, "line 61", "line 100", Some(1))
    );
}
