//! Tests who can connect to a tool socket, and what it answers.

use std::os::unix::fs::MetadataExt;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;

use super::tool_connection::ToolSocketLines;
use super::*;
use crate::engine::runtime_dir::MAX_SOCKET_PATH_BYTES;
use crate::mcp::socket_protocol::{
    self, MAX_LINE_BYTES, PROTOCOL_VERSION, ToolSocketMessage, ToolSocketRequest,
};

fn session(name: &str) -> SessionId {
    SessionId::new(format!("ses_{name}"))
}

/// Returns the path after a flag with which a socket's server is started.
fn given(server: &ToolServerSpec, flag: &str) -> PathBuf {
    let at = server.args.iter().position(|arg| arg == flag).unwrap();
    PathBuf::from(&server.args[at + 1])
}

fn token(server: &ToolServerSpec) -> String {
    fs::read_to_string(given(server, "--token")).unwrap()
}

/// Creates a run's tool sockets with one open, and the spec of the server that connects to it.
fn one_door() -> (ToolSockets, ToolServerSpec) {
    let mut doors = ToolSockets::default();
    let server = doors.open_socket(&session("one"), Duration::from_secs(60));
    (doors, server.unwrap())
}

struct ToolSocketTestClient {
    lines: ToolSocketLines,
    to: OwnedWriteHalf,
}

impl ToolSocketTestClient {
    async fn knock(server: &ToolServerSpec, token: &str) -> (Self, ToolSocketMessage) {
        let stream = UnixStream::connect(given(server, "--socket"))
            .await
            .unwrap();
        let (from, to) = stream.into_split();
        let mut client = Self {
            lines: BufReader::new(from),
            to,
        };
        let hello = ToolSocketRequest::Hello {
            version: PROTOCOL_VERSION,
            token: token.to_owned(),
        };
        client.say(&hello).await;
        let told = client.hear().await;
        (client, told)
    }

    async fn say(&mut self, ask: &ToolSocketRequest) {
        self.to
            .write_all(&socket_protocol::encode_line(ask).unwrap())
            .await
            .unwrap();
    }

    async fn hear(&mut self) -> ToolSocketMessage {
        let mut line = String::new();
        self.lines.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

/// The number of the call that wants to receive progress.
const WANTS_PROGRESS: u64 = 9;

fn call(id: u64, tool: &str) -> ToolSocketRequest {
    ToolSocketRequest::Call {
        id,
        tool: tool.to_owned(),
        arguments: serde_json::json!({}),
        thread: None,
        wants_progress: id == WANTS_PROGRESS,
    }
}

async fn next_call(doors: &mut ToolSockets) -> IncomingToolCall {
    match doors.next_request().await {
        ToolRequest::CallTool(calling) => calling,
        other => panic!("{other:?} is no call"),
    }
}

#[tokio::test]
async fn a_door_is_private_and_no_argument_holds_its_token() {
    let (mut doors, server) = one_door();
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert!(given(&server, "--socket").as_os_str().len() <= MAX_SOCKET_PATH_BYTES);
    assert_eq!(mode(&given(&server, "--token")), 0o600);
    assert_eq!(mode(&given(&server, "--socket")), 0o600);
    assert_eq!(mode(&server.folder), 0o700);
    assert_eq!(mode(server.folder.parent().unwrap()), 0o700);
    let token = token(&server);
    assert!(token.len() >= 32 && !server.args.iter().any(|arg| arg.contains(&token)));
    assert_eq!(
        doors
            .open_socket(&session("one"), Duration::from_secs(60))
            .unwrap(),
        server
    );
}

#[tokio::test]
async fn calls_of_two_sessions_come_under_their_own_names() {
    let mut doors = ToolSockets::default();
    for name in ["one", "two"] {
        let server = doors
            .open_socket(&session(name), Duration::from_secs(60))
            .unwrap();
        doors.expect_process(&session(name), std::process::id());
        let (mut client, told) = ToolSocketTestClient::knock(&server, &token(&server)).await;
        assert_eq!(told, ToolSocketMessage::Welcome);
        client.say(&call(7, "todoread")).await;
        let calling = next_call(&mut doors).await;
        assert_eq!(
            (calling.session, calling.tool.as_str()),
            (session(name), "todoread")
        );
        calling.reply_sender.send(ToolAnswer::done(name)).unwrap();
        let answer = ToolAnswer::done(name);
        assert_eq!(
            client.hear().await,
            ToolSocketMessage::Answer { id: 7, answer }
        );
        doors.notify_tools_changed(&session(name));
        assert_eq!(client.hear().await, ToolSocketMessage::Changed);
    }
}

#[tokio::test]
async fn the_token_of_another_session_opens_nothing() {
    let mut doors = ToolSockets::default();
    let [one, two] = ["one", "two"].map(|name| {
        let server = doors
            .open_socket(&session(name), Duration::from_secs(60))
            .unwrap();
        doors.expect_process(&session(name), std::process::id());
        server
    });
    for wrong in [token(&two), String::new(), format!("{}x", token(&one))] {
        let (_, told) = ToolSocketTestClient::knock(&one, &wrong).await;
        let why = "it does not have the session's token".to_owned();
        assert_eq!(told, ToolSocketMessage::Refused { why });
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn who_was_not_started_by_the_sessions_cli_is_refused() {
    let (doors, server) = one_door();
    // This test process is not a descendant of its own child.
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    doors.expect_process(&session("one"), child.id());
    let (_, told) = ToolSocketTestClient::knock(&server, &token(&server)).await;
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        matches!(told, ToolSocketMessage::Refused { why } if why.contains("not started by the CLI"))
    );
}

#[tokio::test]
async fn a_connection_that_goes_takes_its_calls_back() {
    let (mut doors, server) = one_door();
    doors.expect_process(&session("one"), std::process::id());
    let (mut client, _) = ToolSocketTestClient::knock(&server, &token(&server)).await;
    client.say(&call(1, "ask_user")).await;
    client.say(&call(2, "ask_user")).await;
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let calling = next_call(&mut doors).await;
        waiting.push(calling);
    }
    client.say(&ToolSocketRequest::Forget { id: 1 }).await;
    assert!(
        matches!(doors.next_request().await, ToolRequest::CallCancelled(request) if request == waiting[0].request)
    );
    drop(client);
    assert!(
        matches!(doors.next_request().await, ToolRequest::CallCancelled(request) if request == waiting[1].request)
    );
}

#[tokio::test]
async fn a_call_that_wants_progress_is_told_it_before_its_answer_and_another_is_not() {
    let (mut doors, server) = one_door();
    doors.expect_process(&session("one"), std::process::id());
    let (mut client, _) = ToolSocketTestClient::knock(&server, &token(&server)).await;
    client.say(&call(1, "task")).await;
    let other = next_call(&mut doors).await;
    assert!(other.progress.is_none());
    client.say(&call(WANTS_PROGRESS, "task")).await;
    let calling = next_call(&mut doors).await;
    let progress = calling.progress.expect("it wants to know");
    let (id, text) = (WANTS_PROGRESS, "explore#1: begins".to_owned());
    progress.send_replace(text.clone());
    assert_eq!(
        client.hear().await,
        ToolSocketMessage::Progress { id, text }
    );
    let answer = ToolAnswer::done("done");
    calling.reply_sender.send(answer.clone()).unwrap();
    assert_eq!(
        client.hear().await,
        ToolSocketMessage::Answer { id, answer }
    );
}

#[tokio::test]
async fn a_closed_door_is_gone() {
    let (mut doors, server) = one_door();
    doors.close_socket(&session("one"));
    assert!(!server.folder.exists());
    assert!(
        UnixStream::connect(given(&server, "--socket"))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_said_to_be_and_the_next_one_comes() {
    let (mut doors, server) = one_door();
    doors.expect_process(&session("one"), std::process::id());
    let (mut client, _) = ToolSocketTestClient::knock(&server, &token(&server)).await;
    for (id, answer, expected) in [
        (1, "x".repeat(MAX_LINE_BYTES), "at most 4194304 can be told"),
        (2, "short".to_owned(), "short"),
    ] {
        client.say(&call(id, "todoread")).await;
        let calling = next_call(&mut doors).await;
        calling.reply_sender.send(ToolAnswer::done(answer)).unwrap();
        let ToolSocketMessage::Answer { id: told, answer } = client.hear().await else {
            panic!("an answer comes");
        };
        assert_eq!(told, id);
        assert!(answer.text.contains(expected), "{}", answer.text);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn only_the_process_that_started_the_first_server_starts_others_while_it_lives() {
    let sleeper = || {
        std::process::Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let below = |shell: &mut std::process::Child| {
        let mut line = String::new();
        let out = shell.stdout.as_mut().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
        line.trim().parse::<u32>().unwrap()
    };
    let cli = SessionCliProcess::new(std::process::id());
    let (mut first, mut other) = (sleeper(), sleeper());
    let (of_first, of_other) = (below(&mut first), below(&mut other));
    assert!(cli.has_started_server(of_first));
    assert!(!cli.has_started_server(of_other));
    assert!(!cli.has_started_server(std::process::id()));
    assert!(cli.has_started_server(of_first));
    let gone = |shell: &mut std::process::Child, pid: u32| {
        shell.kill().unwrap();
        shell.wait().unwrap();
        let pid = nix::unistd::Pid::from_raw(pid.cast_signed());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    };
    gone(&mut first, of_first);
    assert!(cli.has_started_server(of_other));
    gone(&mut other, of_other);
}
