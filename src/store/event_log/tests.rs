//! Tests of the event log: appending, incomplete last lines, reading again.

use std::fs;

use proptest::prelude::*;

use super::super::test_repo::TestRepo;
use super::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
enum LogTestEvent {
    Paused,
    Said {
        text: String,
        by_step: std::collections::BTreeMap<u32, u8>,
    },
}

fn said(text: &str) -> LogTestEvent {
    LogTestEvent::Said {
        text: text.into(),
        by_step: [(7, 1)].into(),
    }
}

fn create(guard: &TamperGuard) -> EventLog<LogTestEvent> {
    EventLog::create(guard, &RunId::new("run_1"), UnixMillis(0)).unwrap()
}

fn read_all(path: &Path) -> Result<Vec<EventLogRecord<LogTestEvent>>, StoreError> {
    let mut records = Vec::new();
    EventLogReader::from_start(path)
        .read_all(|record| records.push(record))
        .map(|()| records)
}

/// Opens a log with this text and describes the result.
fn check(text: &str, expected: &str) {
    let place = TestRepo::new();
    fs::write(place.layout.events(), text).unwrap();
    let told = match EventLog::<LogTestEvent>::open(&place.open_guard()) {
        Ok(None) => "none".to_owned(),
        Ok(Some(opened)) => {
            let events: Result<Vec<_>, _> = read_all(&place.layout.events());
            let torn = opened.torn.map_or(0, |torn| torn.bytes);
            let last = opened.log.last_seq();
            match events {
                Ok(events) => format!("last {last}, {} read, {torn} torn", events.len()),
                Err(e) => format!("last {last}, {torn} torn, {e}"),
            }
        }
        Err(e) => e.to_string(),
    };
    let dir = format!("{}/", place.layout.workdir().display());
    assert_eq!(told.replace(&dir, ""), expected, "{text}");
}

const FIRST: &str = r#"{"seq":0,"ts":"2026-01-01T00:00:00Z","run":"r","session":null,"turn":null,"kind":"log.opened","data":{"schema":1}}"#;

fn line(seq: u64) -> String {
    format!(
        r#"{{"seq":{seq},"ts":"2026-01-01T00:00:00Z","run":"r","session":"s","turn":"t","kind":"paused"}}"#
    )
}

#[test]
fn the_envelope_is_as_documented() {
    let place = TestRepo::new();
    let mut log = create(&place.open_guard());
    let origin = EventOrigin {
        session: Some(SessionId::new("ses_b")),
        turn: None,
    };
    assert_eq!(
        log.append(UnixMillis(1500), &origin, &said("hi")).unwrap(),
        1
    );
    assert_eq!(
        log.append(
            UnixMillis(2000),
            &EventOrigin::default(),
            &LogTestEvent::Paused
        )
        .unwrap(),
        2
    );
    let text = fs::read_to_string(place.layout.events()).unwrap();
    insta::assert_snapshot!(text, @r#"
    {"seq":0,"ts":"1970-01-01T00:00:00.000Z","run":"run_1","session":null,"turn":null,"kind":"log.opened","data":{"schema":1}}
    {"seq":1,"ts":"1970-01-01T00:00:01.500Z","run":"run_1","session":"ses_b","turn":null,"kind":"said","data":{"text":"hi","by_step":{"7":1}}}
    {"seq":2,"ts":"1970-01-01T00:00:02.000Z","run":"run_1","session":null,"turn":null,"kind":"paused","data":null}
    "#);
    let read = read_all(&place.layout.events()).unwrap();
    assert_eq!(read.len(), 2);
    assert_eq!((read[1].seq, &read[1].event), (2, &LogTestEvent::Paused));
    let lines: Vec<String> = read
        .iter()
        .map(|record| record.to_line().unwrap())
        .collect();
    assert_eq!(lines, text.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn a_log_opens_with_what_is_whole() {
    check("", "none");
    check(&FIRST[..20], "none");
    check(&format!("{FIRST}\n"), "last 0, 0 read, 0 torn");
    check(
        &format!("{FIRST}\n{}\n{}\n", line(1), line(4)),
        "last 4, 2 read, 0 torn",
    );
    check(
        &format!("{FIRST}\n{}\n{{\"seq\":2", line(1)),
        "last 1, 1 read, 8 torn",
    );
    check(&format!("{FIRST}\n\0\0\0"), "last 0, 0 read, 3 torn");
}

#[test]
fn damage_is_named_with_its_line() {
    check(
        &format!("{FIRST}\nnonsense\n{}\n", line(1)),
        "events.jsonl:2: expected ident at line 1 column 2",
    );
    check(
        &format!("{FIRST}\n{}\n{}\n", line(2), line(2)),
        "events.jsonl:3: seq 2 follows seq 2",
    );
    check(
        &format!("{}\n", line(1)),
        "events.jsonl:1: the first line is not log.opened with a schema number",
    );
    check(
        &format!("{}\n", FIRST.replace(":1}", ":2}")),
        "events.jsonl has schema 2, but this version knows 1",
    );
    check(
        &format!("{FIRST}\n{}\n", line(1).replace("paused", "sung")),
        "last 1, 0 torn, events.jsonl:2: unknown variant `sung`, expected `paused` or `said`",
    );
}

#[test]
fn a_log_is_not_begun_over_another() {
    let place = TestRepo::new();
    let guard = place.open_guard();
    create(&guard);
    let again =
        EventLog::<LogTestEvent>::create(&guard, &RunId::new("run_2"), UnixMillis(0)).unwrap_err();
    assert!(matches!(again, StoreError::RunExists { .. }));
}

#[test]
fn a_full_device_is_a_clear_error() {
    let mut full = fs::OpenOptions::new()
        .append(true)
        .open("/dev/full")
        .unwrap();
    let source = std::io::Write::write_all(&mut full, b"x").unwrap_err();
    let error = StoreError::from_io("append to", Path::new("events.jsonl"), source);
    assert_eq!(error.to_string(), "no space left to append to events.jsonl");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_cut_anywhere_loses_only_the_half_line_and_keeps_its_bytes(
        texts in proptest::collection::vec(".{0,30}", 1..8),
        cut in 0.0_f64..1.0,
    ) {
        let place = TestRepo::new();
        let mut log = create(&place.open_guard());
        for text in &texts {
            log.append(UnixMillis(5), &EventOrigin::default(), &said(text)).unwrap();
        }
        let whole = fs::read(place.layout.events()).unwrap();
        let cut = (whole.len() as f64 * cut) as usize;
        fs::write(place.layout.events(), &whole[..cut]).unwrap();

        let guard = place.open_guard();
        let n_lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count() as u64;
        let opened = EventLog::<LogTestEvent>::open(&guard).unwrap();
        let mut log = match opened {
            None => {
                prop_assert_eq!(n_lines, 0);
                create(&guard)
            }
            Some(opened) => {
                prop_assert_eq!(opened.log.last_seq(), n_lines - 1);
                let kept = opened.torn.map(|torn| fs::read(torn.kept_copy).unwrap()).unwrap_or_default();
                let mut all = fs::read(place.layout.events()).unwrap();
                all.extend(kept);
                prop_assert_eq!(&all[..], &whole[..cut]);
                opened.log
            }
        };
        let seq = log.append(UnixMillis(6), &EventOrigin::default(), &LogTestEvent::Paused).unwrap();
        let seqs: Vec<u64> = read_all(&place.layout.events()).unwrap().iter().map(|record| record.seq).collect();
        prop_assert_eq!(seqs, (1..=seq).collect::<Vec<_>>());
        prop_assert_eq!(guard.check_and_restore().unwrap(), []);
    }
}

/// Reads from a followed log and describes the result.
fn look(tail: &mut EventLogReader<LogTestEvent>) -> String {
    match tail.read_new(10) {
        Ok(LogUpdate::More(records)) => format!(
            "{:?}",
            records.iter().map(|record| record.seq).collect::<Vec<_>>()
        ),
        Ok(LogUpdate::Restarted) => "anew".to_owned(),
        Err(e) => e.to_string().rsplit('/').next().unwrap().to_owned(),
    }
}

#[test]
fn a_followed_log_gives_each_whole_line_once() {
    let place = TestRepo::new();
    let path = place.layout.events();
    let mut tail = EventLogReader::<LogTestEvent>::from_start(&path);
    assert_eq!(look(&mut tail), "[]");
    let mut text = format!("{FIRST}\n{}\n", line(1));
    fs::write(&path, &text).unwrap();
    assert_eq!(look(&mut tail), "[1]");
    let (second, third) = (line(2), line(4));
    let (half, rest) = second.split_at(20);
    text.push_str(half);
    fs::write(&path, &text).unwrap();
    assert_eq!(look(&mut tail), "[]");
    text.push_str(&format!("{rest}\n{third}\n"));
    fs::write(&path, &text).unwrap();
    assert_eq!(look(&mut tail), "[2, 4]");
    assert_eq!(tail.last_seq(), 4);
    fs::write(&path, format!("{text}{}\nnonsense\n", line(5))).unwrap();
    assert_eq!(look(&mut tail), "[5]");
    assert_eq!(
        look(&mut tail),
        "events.jsonl:6: expected ident at line 1 column 2"
    );
}

#[test]
fn another_log_at_the_same_place_is_read_from_its_beginning() {
    let place = TestRepo::new();
    let path = place.layout.events();
    let mut tail = EventLogReader::<LogTestEvent>::from_start(&path);
    fs::write(&path, format!("{FIRST}\n{}\n{}\n", line(1), line(2))).unwrap();
    assert_eq!(look(&mut tail), "[1, 2]");
    let other = place.layout.workdir().join("other");
    fs::write(&other, format!("{FIRST}\n{}\n{}\n", line(7), line(8))).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(look(&mut tail), "anew");
    assert_eq!(look(&mut tail), "[7, 8]");
    fs::remove_file(&path).unwrap();
    assert_eq!(look(&mut tail), "anew");
    assert_eq!(look(&mut tail), "[]");
}

#[test]
fn a_log_that_was_read_from_its_end_is_followed_from_there() {
    let place = TestRepo::new();
    let path = place.layout.events();
    let (second, third) = (line(2), line(3));
    let (half, rest) = third.split_at(20);
    let text = format!("{FIRST}\n{}\n{second}\n{half}", line(1));
    fs::write(&path, &text).unwrap();
    let mut tail = EventLogReader::<LogTestEvent>::from_end(&path);
    assert_eq!(tail.read_before(1).unwrap().len(), 1);
    tail.read_before(1 << 20).unwrap();
    assert!(tail.is_at_start());
    assert_eq!(tail.last_seq(), 2, "the end is where it was read first");
    tail.check_first_line().unwrap();
    assert_eq!(look(&mut tail), "[]");
    fs::write(&path, format!("{text}{rest}\nnonsense\n")).unwrap();
    assert_eq!(look(&mut tail), "[3]");
    assert_eq!(
        look(&mut tail),
        "events.jsonl:5: expected ident at line 1 column 2"
    );
    fs::write(&path, format!("{FIRST}\n")).unwrap();
    assert_eq!(look(&mut tail), "anew");
    let newer = FIRST.replace("\"schema\":1", "\"schema\":99");
    fs::write(&path, format!("{newer}\n{}\n{second}\n", line(1))).unwrap();
    assert!(tail.check_first_line().is_err());
}

fn write_log(place: &TestRepo, lengths: &[usize]) {
    let mut log = create(&place.open_guard());
    for length in lengths {
        log.append(
            UnixMillis(1),
            &EventOrigin::default(),
            &said(&"x".repeat(*length)),
        )
        .unwrap();
    }
}

/// Returns the numbers of the events, piece by piece.
fn pieces(place: &TestRepo, n_bytes: u64) -> Vec<Vec<u64>> {
    let mut log = EventLogReader::<LogTestEvent>::from_end(&place.layout.events());
    let mut pieces = Vec::new();
    while !log.is_at_start() {
        let records = log.read_before(n_bytes).unwrap();
        pieces.push(records.iter().map(|record| record.seq).collect());
    }
    pieces
}

#[test]
fn the_last_events_come_first_and_each_piece_in_order() {
    let place = TestRepo::new();
    write_log(&place, &[10; 4]);
    assert_eq!(pieces(&place, 350), [vec![3, 4], vec![1, 2], vec![]]);
    assert_eq!(pieces(&place, 1 << 20), [[1, 2, 3, 4]]);
}

#[test]
fn half_a_last_line_is_left_out_and_a_log_that_is_not_there_is_empty() {
    let place = TestRepo::new();
    assert_eq!(pieces(&place, 10), [[0; 0]]);
    write_log(&place, &[10; 2]);
    let path = place.layout.events();
    let mut text = fs::read(&path).unwrap();
    text.extend(b"{\"seq\":3,\"ts");
    fs::write(&path, text).unwrap();
    assert_eq!(pieces(&place, 1 << 20), [[1, 2]]);
}

#[test]
fn a_damaged_line_is_said() {
    let place = TestRepo::new();
    fs::write(place.layout.events(), "{}\n").unwrap();
    let mut log = EventLogReader::<LogTestEvent>::from_end(&place.layout.events());
    assert!(matches!(
        log.read_before(10),
        Err(StoreError::Damaged { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn all_pieces_together_are_the_log(lengths in proptest::collection::vec(0usize..400, 0..20), n_bytes in 1u64..2000) {
        let place = TestRepo::new();
        write_log(&place, &lengths);
        let mut seqs: Vec<u64> = Vec::new();
        for piece in pieces(&place, n_bytes) {
            seqs.splice(0..0, piece);
        }
        let all: Vec<u64> = (1..=lengths.len() as u64).collect();
        prop_assert_eq!(seqs, all);
    }
}
