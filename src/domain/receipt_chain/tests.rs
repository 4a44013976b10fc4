//! Tests of receipts: their bytes, the chain, and what it says about steps.

use super::*;
use crate::domain::plan::file_hash;
use crate::domain::test_report::{TestIdentity, TestStatus};

/// Builds a chain link by link, as a run does.
#[derive(Default)]
pub(crate) struct ChainFixture {
    pub(crate) files: Vec<Vec<u8>>,
}

impl ChainFixture {
    /// Appends a receipt and returns its number.
    pub(crate) fn add(&mut self, kind: LinkKind) -> u32 {
        let number = u32::try_from(self.files.len()).unwrap() + 1;
        let link = ChainLink {
            run: RunId::new("run_1"),
            number,
            previous: self.head(),
            at: UnixMillis(1_000 + i64::from(number)),
            kind,
        };
        self.files.push(to_canonical_bytes(&link));
        number
    }

    pub(crate) fn head(&self) -> Option<Sha256> {
        self.files.last().map(|bytes| file_hash(bytes))
    }

    fn links(&self) -> Vec<ChainLink> {
        check_chain(&self.files, None).unwrap()
    }
}

pub(crate) fn approval(plan: &str, base: Option<&str>) -> LinkKind {
    LinkKind::Approval(ApprovalLink {
        plan_sha256: file_hash(plan.as_bytes()),
        base: base.map(str::to_owned),
        test_command: Some("node --test".to_owned()),
        environment: vec!["PATH".to_owned()],
        versions: BTreeMap::from([("agent-collab".to_owned(), "0.1.0".to_owned())]),
        bound: Vec::new(),
    })
}

pub(crate) fn check(step: u32, cell: ProofCell, tree: &str, output: &str) -> CheckLink {
    let test = |name: &str| TestIdentity {
        file: "a.test.js".to_owned(),
        name: name.to_owned(),
    };
    CheckLink {
        step,
        cell,
        command: "node --test".to_owned(),
        tree: tree.to_owned(),
        outcome: TestOutcome::Passed,
        exit_code: Some(0),
        duration_ms: 40,
        sandboxed: true,
        network: "loopback".to_owned(),
        without_ci: false,
        report: Some(TestReport {
            tests: BTreeMap::from([
                (test("adds"), TestStatus::Passed),
                (test("\"ü\"\n"), TestStatus::Skipped),
            ]),
            ..TestReport::default()
        }),
        output_sha256: file_hash(output.as_bytes()),
        environment_sha256: file_hash(b"environment"),
    }
}

pub(crate) fn step(number: u32, plan: &str, green: u32) -> StepLink {
    StepLink {
        step: number,
        text: "Add `sum`".to_owned(),
        plan_sha256: file_hash(plan.as_bytes()),
        tree_before: "t0".to_owned(),
        tree_after: "t1".to_owned(),
        commit: Some("c1".to_owned()),
        status: ProofStatus::Proven,
        waived_by: None,
        checks: vec![green],
        flaky: Vec::new(),
        summary: "red → green · kept 13 · 4 s".to_owned(),
    }
}

fn small_chain() -> ChainFixture {
    let mut chain = ChainFixture::default();
    chain.add(approval("p", Some("c0")));
    let green = chain.add(LinkKind::Check(check(1, ProofCell::Green, "t1", "out")));
    chain.add(LinkKind::Step(step(1, "p", green)));
    chain.add(LinkKind::UsersCommits(UserCommitsLink {
        commits: vec!["c2".to_owned()],
    }));
    chain.add(LinkKind::Undo(ReversalLink {
        steps: vec![1],
        commit: Some("c3".to_owned()),
    }));
    chain
}

fn breaks(files: &[Vec<u8>], head: Option<&Sha256>) -> String {
    let found = check_chain(files, head).err().unwrap_or_default();
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_receipt_has_sorted_keys_and_no_white_space() {
    let chain = small_chain();
    let text = String::from_utf8(chain.files[1].clone()).unwrap();
    let expected = format!(
        r#"{{"at":1002,"data":{{"cell":"green","command":"node --test","duration_ms":40,"environment_sha256":"{}","exit_code":0,"network":"loopback","outcome":"passed","output_sha256":"{}","report":{{"doubts":[],"failed_to_load":false,"tests":[["a.test.js","\"ü\"\n","skipped"],["a.test.js","adds","passed"]]}},"sandboxed":true,"step":1,"tree":"t1"}},"kind":"check","number":2,"previous":"{}","run":"run_1","version":1}}"#,
        file_hash(b"environment"),
        file_hash(b"out"),
        file_hash(&chain.files[0]),
    );
    assert_eq!(text, expected);
}

#[test]
fn every_kind_is_read_as_it_was_written() {
    for bytes in small_chain().files {
        let link = parse_link(&bytes).unwrap();
        assert_eq!(to_canonical_bytes(&link), bytes);
    }
    for (waived_by, expected) in [
        (None, "null"),
        (Some(WaiverSource::Plan), "\"plan\""),
        (
            Some(WaiverSource::User("so be it".to_owned())),
            "{\"user\":\"so be it\"}",
        ),
    ] {
        assert_eq!(serde_json::to_string(&waived_by).unwrap(), expected);
    }
}

#[test]
fn other_bytes_for_the_same_receipt_are_refused() {
    let bytes = small_chain().files.remove(0);
    let text = String::from_utf8(bytes).unwrap();
    for (from, to) in [
        ("{\"at\":1001,", "{\"at\": 1001,"),
        ("{\"at\":1001,", "{\"at\":1001,\"at\":1001,"),
        (
            "\"run\":\"run_1\",\"version\":1",
            "\"version\":1,\"run\":\"run_1\"",
        ),
        ("\"previous\":null,", ""),
        ("run_1", "run\\u005f1"),
    ] {
        let other = text.replacen(from, to, 1);
        assert_ne!(other, text);
        let found = parse_link(other.as_bytes());
        assert!(found.is_err(), "{other}");
    }
    let extra = text.replacen("\"base\":", "\"aside\":1,\"base\":", 1);
    let found = parse_link(extra.as_bytes()).unwrap_err().to_string();
    assert!(found.contains("unknown field `aside`"), "{found}");
}

#[test]
fn a_receipt_of_a_newer_version_is_kept_and_the_chain_goes_on_through_it() {
    let newer = r#"{"at":1,"data":{"a":[1,"x"]},"kind":"step","number":1,"previous":null,"run":"run_1","version":2}"#;
    let other = r#"{"at":1,"data":{},"kind":"weather","number":1,"previous":null,"run":"run_1","version":1}"#;
    for text in [newer, other] {
        let link = parse_link(text.as_bytes()).unwrap();
        assert!(matches!(link.kind, LinkKind::Unknown(_)), "{link:?}");
        let mut chain = ChainFixture {
            files: vec![text.as_bytes().to_vec()],
        };
        chain.add(approval("p", None));
        assert_eq!(breaks(&chain.files, chain.head().as_ref()), "");
    }
    let fraction = newer.replace("[1,", "[1.5,");
    assert_eq!(
        parse_link(fraction.as_bytes()),
        Err(LinkParseError::NotCanonical)
    );
}

#[test]
fn a_flipped_byte_of_any_receipt_is_a_break_that_names_it() {
    let chain = small_chain();
    let head = chain.head();
    assert_eq!(breaks(&chain.files, head.as_ref()), "");
    for at in 0..chain.files.len() {
        for byte in 0..chain.files[at].len() {
            for mask in [0x01, 0x20, 0x80] {
                let mut files = chain.files.clone();
                files[at][byte] ^= mask;
                let found = breaks(&files, head.as_ref());
                let name = format!("receipt {}", at + 1);
                assert!(found.contains(&name), "{name}, byte {byte}: {found:?}");
            }
        }
    }
}

#[test]
fn a_receipt_that_is_missing_doubled_or_in_another_place_is_a_break() {
    let whole = small_chain();
    let head = whole.head();
    for at in 0..whole.files.len() {
        let mut files = whole.files.clone();
        files.remove(at);
        assert_ne!(breaks(&files, head.as_ref()), "", "without {at}");
        let mut files = whole.files.clone();
        files.insert(at, files[at].clone());
        assert_ne!(breaks(&files, head.as_ref()), "", "twice {at}");
        if at > 0 {
            let mut files = whole.files.clone();
            files.swap(at - 1, at);
            assert_ne!(breaks(&files, None), "", "swapped {at}");
        }
    }
    let mut files = whole.files.clone();
    files.swap(1, 2);
    let expected = "receipt 2: it has the number 3\n\
                    receipt 2: the hash that it names is not that of receipt 1, so one of the two was changed\n\
                    receipt 3: it has the number 2\n\
                    receipt 3: the hash that it names is not that of receipt 2, so one of the two was changed\n\
                    receipt 4: the hash that it names is not that of receipt 3, so one of the two was changed";
    assert_eq!(breaks(&files, None), expected);
}

#[test]
fn the_head_is_the_one_that_the_log_names() {
    let mut chain = small_chain();
    let logged = chain.head().unwrap();
    chain.add(approval("q", None));
    assert_eq!(
        breaks(&chain.files, Some(&logged)),
        "receipt 6: it comes after receipt 5, which is the head of the chain by the log"
    );
    chain.files.truncate(4);
    assert_eq!(
        breaks(&chain.files, Some(&logged)),
        format!("receipt 4: the log names another head of the chain: {logged}")
    );
    assert_eq!(
        breaks(&[], Some(&logged)),
        format!("the log names the head {logged} of a chain, and there are no receipts")
    );
    assert_eq!(check_chain(&[], None), Ok(Vec::new()));
}

#[test]
fn a_receipt_of_another_run_is_a_break() {
    let mut chain = small_chain();
    let mut link = parse_link(&chain.files[4]).unwrap();
    link.run = RunId::new("run_2");
    chain.files[4] = to_canonical_bytes(&link);
    assert_eq!(
        breaks(&chain.files, None),
        "receipt 5: it belongs to the run run_2"
    );
}

#[test]
fn a_step_belongs_to_the_last_approval_and_names_its_checks() {
    let mut chain = ChainFixture::default();
    chain.add(LinkKind::Step(step(1, "p", 1)));
    chain.add(approval("p", None));
    let green = chain.add(LinkKind::Check(check(2, ProofCell::Green, "t1", "")));
    chain.add(LinkKind::Step(step(2, "p", green)));
    chain.add(approval("q", None));
    chain.add(LinkKind::Step(step(3, "p", green)));
    let found: Vec<String> = check_contents(&chain.links())
        .iter()
        .map(ToString::to_string)
        .collect();
    let (p, q) = (file_hash(b"p"), file_hash(b"q"));
    let expected = [
        "receipt 1: no approval comes before this step".to_owned(),
        "receipt 1: it names receipt 1 as a check, and that is none".to_owned(),
        format!("receipt 6: the step belongs to the plan {p}, and the plan {q} is approved"),
    ];
    assert_eq!(found, expected);
}

fn told(chain: &ChainFixture) -> Vec<String> {
    let line = |step: &ChainStep| {
        let sure = [WaiverPolicy::InPlan, WaiverPolicy::Never]
            .map(|policy| step.status.is_verified(policy));
        let [in_plan, strict] = sure.map(|sure| if sure { "0" } else { "6" });
        format!(
            "{} {} {in_plan}{strict} {}",
            step.step,
            step.status.label(),
            step.summary
        )
    };
    list_steps(&chain.links()).iter().map(line).collect()
}

#[test]
fn a_step_counts_by_its_status_its_green_check_and_its_waiver() {
    let later = || Some(WaiverSource::User("works here".to_owned()));
    let reason = || "no test can".to_owned();
    let mut chain = small_chain();
    chain.files.truncate(2);
    for (number, status, waived_by) in [
        (1, ProofStatus::Proven, None),
        (2, ProofStatus::Kept, None),
        (3, ProofStatus::Waived(reason()), Some(WaiverSource::Plan)),
        (4, ProofStatus::Waived(reason()), later()),
        (5, ProofStatus::Unproven(reason()), later()),
        (6, ProofStatus::Checked(reason()), None),
    ] {
        chain.add(LinkKind::Step(StepLink {
            status,
            waived_by,
            summary: String::new(),
            ..step(number, "p", 2)
        }));
    }
    // Its green check ran on another tree.
    chain.add(LinkKind::Step(StepLink {
        tree_after: "t2".to_owned(),
        ..step(7, "p", 2)
    }));
    let expected = [
        "1 proven 00 ",
        "2 kept 00 ",
        "3 waived 06 no test can · in the plan",
        "4 waived 66 no test can · waived later (you): works here",
        "5 unproven 66 no test can · waived later (you): works here",
        "6 checked 66 no test can",
        "7 unproven 66 red → green · kept 13 · 4 s · no green check on its tree",
    ];
    assert_eq!(told(&chain), expected);
}

#[test]
fn a_step_that_is_undone_counts_again_when_it_is_redone_or_done_again() {
    let summary = "red → green · kept 13 · 4 s";
    let mut chain = small_chain();
    assert_eq!(told(&chain), [format!("1 undone 66 {summary}")]);
    let reversal = |commit: &str| ReversalLink {
        steps: vec![1],
        commit: Some(commit.to_owned()),
    };
    chain.add(LinkKind::Redo(reversal("c4")));
    assert_eq!(told(&chain), [format!("1 proven 00 {summary}")]);
    chain.add(LinkKind::Undo(reversal("c5")));
    chain.add(LinkKind::Step(step(1, "p", 2)));
    assert_eq!(told(&chain), [format!("1 proven 00 {summary}")]);
}

/// Creates notes with these lines.
fn to_notes(lines: &NoteLines) -> Vec<CommitNote> {
    let note = |(commit, lines): (&String, &Vec<Vec<u8>>)| CommitNote {
        commit: commit.clone(),
        text: lines.join(&b'\n'),
    };
    lines.iter().map(note).collect()
}

#[test]
fn each_receipt_is_in_the_note_of_the_next_commit_of_the_run() {
    let mut chain = small_chain();
    chain.add(approval("q", None));
    let links = chain.links();
    let told = |n_noted| {
        let lines = note_lines(&links, n_noted);
        let numbers = |(commit, lines): (&String, &Vec<Vec<u8>>)| {
            let numbers = lines.iter().map(|line| parse_link(line).unwrap().number);
            format!("{commit} {:?}", numbers.collect::<Vec<u32>>())
        };
        lines.iter().map(numbers).collect::<Vec<String>>().join(" ")
    };
    for (n_noted, expected) in [
        (0, "c1 [1, 2, 3] c3 [4, 5, 6]"),
        (2, "c1 [3] c3 [4, 5, 6]"),
        (3, "c1 [] c3 [4, 5, 6]"),
        (5, "c3 [6]"),
        (6, "c3 []"),
    ] {
        assert_eq!(told(n_noted), expected, "{n_noted}");
    }
    // Nothing belongs to a note before the first commit.
    assert_eq!(note_lines(&links[..2], 0), NoteLines::new());
}

#[test]
fn a_chain_is_read_from_notes_in_any_order_and_a_flipped_byte_of_one_is_a_break() {
    let mut chain = small_chain();
    chain.add(approval("q", None));
    let mut notes = to_notes(&note_lines(&chain.links(), 0));
    notes.reverse();
    // Git copied a note to a commit that was rewritten, and somebody merged notes by sorting their lines.
    let mut copied = notes[0].clone();
    copied.commit = "c9".to_owned();
    let mut lines: Vec<&[u8]> = copied.text.split(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    copied.text = lines.join(&b'\n');
    notes.push(copied);
    let run = RunId::new("run_1");
    let noted = |notes: &[CommitNote]| read_notes(notes).remove(&run).unwrap_or_default();
    let files = |noted: &NotedChain| -> Vec<Vec<u8>> { noted.receipts.values().cloned().collect() };
    let whole = noted(&notes);
    assert_eq!(
        (files(&whole), &whole.breaks),
        (chain.files.clone(), &vec![])
    );
    let hashes: Vec<Sha256> = chain.files.iter().map(|bytes| file_hash(bytes)).collect();
    assert_eq!(whole.differences(&hashes), []);
    let only = whole.differences(&hashes[..5]);
    assert_eq!(
        only,
        [ChainBreak::of_receipt(6, BreakCause::OnlyNotedReceipt)]
    );
    notes.truncate(2);
    let last_starts = chain.files[3].len() + chain.files[4].len() + 2;
    for at in 0..notes.len() {
        for byte in 0..notes[at].text.len() {
            let mut notes = notes.clone();
            notes[at].text[byte] ^= 1;
            let found = noted(&notes);
            let is_broken = !breaks(&files(&found), None).is_empty() || !found.breaks.is_empty();
            // Nothing protects the last receipt but the receipts on disk.
            assert!(is_broken || (at == 0 && byte >= last_starts), "{at} {byte}");
            let is_other_run = files(&found).len() < 6;
            let differs = !found.differences(&hashes).is_empty();
            assert!(differs || is_other_run, "{at} {byte}");
        }
    }
}
