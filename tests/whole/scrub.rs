//! Tests `agent-collab scrub`: it makes a stream safe to show.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::world::World;

const KEY: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

fn begin(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program")
}

fn scrub(world: &World, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = begin(&mut world.command(&[&["scrub"], arguments].concat()));
    let mut stdin = child.stdin.take().expect("stdin");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("its end");
    writer.join().expect("writer").expect("all is read");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{output:?}");
    output.stdout
}

#[test]
fn secrets_and_sequences_are_taken_out_of_a_stream() {
    let mut world = World::without_git();
    world
        .env
        .push(("MY_API_KEY".to_owned(), "sesame opens".replace(' ', "-")));
    let input = format!("\x1b]0;owned\x07key {KEY}\n\x1b[31mred\x1b[0m sesame-opens\r\nlast");
    let clean = scrub(&world, &[], input.as_bytes());
    let expected = "key [redacted:github-token]\nred [redacted:known-value]\nlast";
    assert_eq!(String::from_utf8_lossy(&clean), expected);
    assert_eq!(scrub(&world, &[], &clean), clean);
    let only = scrub(&world, &["--only", "control"], input.as_bytes());
    assert_eq!(
        String::from_utf8_lossy(&only),
        format!("key {KEY}\nred sesame-opens\nlast")
    );
    let only = scrub(
        &world,
        &["--only", "redact"],
        b"\x1b[1mpassword=hunter2\x1b[0m\n",
    );
    assert!(!String::from_utf8_lossy(&only).contains("hunter2") && only.starts_with(b"\x1b[1m"));
}

#[test]
fn a_line_comes_out_before_the_next_comes_in() {
    let world = World::without_git();
    let mut child = begin(&mut world.command(&["scrub"]));
    let mut stdin = child.stdin.take().expect("stdin");
    let mut out = BufReader::new(child.stdout.take().expect("stdout"));
    for piece in ["see ghp_AbCdEfGhIjKlMn", "OpQrStUvWxYz0123456789\n"] {
        stdin.write_all(piece.as_bytes()).expect("it reads");
        stdin.flush().expect("it reads");
    }
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert_eq!(line, "see [redacted:github-token]\n");
    stdin.write_all(b"held until the end").expect("it reads");
    drop(stdin);
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("the rest");
    assert_eq!(rest, "held until the end");
    assert!(child.wait().expect("its end").success());
}

#[test]
fn a_reader_that_goes_ends_it_quietly() {
    let world = World::without_git();
    let mut child = begin(&mut world.command(&["scrub"]));
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("stdin");
    // The program stops reading at some point; how much it reads until then does not matter.
    while stdin.write_all(&b"line\n".repeat(10_000)).is_ok() {}
    drop(stdin);
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn its_help_teaches_it() {
    let world = World::without_git();
    world
        .program(&["scrub", "--help"])
        .ends(0)
        .says("bug report")
        .says("--only")
        .says("[redacted:github-token]");
    world.program(&["scrub", "--only", "colours"]).ends(2);
}
