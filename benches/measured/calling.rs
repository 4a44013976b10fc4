//! Measures calls of the program's tools, compared with those of a bare echo server of the same library, both over
//! standard streams.
//!
//! The program accepts only clients that a session's CLI started, so this benchmark starts three times: by cargo; by
//! the scripted agent, as the client of its tools; and by that client, as the echo server.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::{Value, json};

use crate::limit::Limit;
use crate::{side_by_side, timed};

/// How this benchmark is started as a scripted agent's client, and as the echo server.
pub const CLIENT: &str = "--as-tool-client";
/// See [`CLIENT`].
pub const ECHO: &str = "--as-echo-server";
/// Calls of each kind on each side; no two are the same, because the program would report equal calls as a loop.
const CALLS: usize = 200;

/// Measures a list, a call that changes nothing, and one that is stored.
pub fn run() -> anyhow::Result<()> {
    let place = tempfile::tempdir()?;
    let root = place.path().canonicalize()?;
    let made = Command::new("git")
        .args(["init", "-q"])
        .current_dir(&root)
        .status()?;
    anyhow::ensure!(made.success(), "git init");
    let told = root.join("told.json");
    let planned = Command::new(env!("CARGO_BIN_EXE_agent-collab"))
        .args(["run", "--goal", "A test", "--auto", "--config"])
        .arg(configure(&root, &told)?)
        .current_dir(&root)
        .output()?;
    let text = fs::read_to_string(&told).map_err(|error| {
        let said = String::from_utf8_lossy(&planned.stderr).into_owned();
        anyhow::anyhow!("nothing was measured ({error}): {said}")
    })?;
    let told: Value = serde_json::from_str(&text)?;
    for (name, key) in [
        ("one list of tools / echo server", "list"),
        ("one call, decided and recorded / echo server", "show"),
        ("one call that is kept as well / echo server", "todowrite"),
    ] {
        let [mut ours, mut beside] = ["ours", "beside"].map(|side| {
            let all = told[key][side].as_array().cloned().unwrap_or_default();
            all.into_iter()
                .filter_map(|nanos| nanos.as_u64())
                .map(Duration::from_nanos)
        });
        let next = |side: &mut dyn Iterator<Item = Duration>| {
            side.next()
                .ok_or_else(|| anyhow::anyhow!("fewer calls than asked for"))
        };
        side_by_side(
            name,
            Limit::None,
            CALLS,
            &mut || next(&mut ours),
            &mut || next(&mut beside),
        )?;
    }
    Ok(())
}

/// A planner without a reviewer, whose client this benchmark is.
fn configure(root: &Path, told: &Path) -> anyhow::Result<std::path::PathBuf> {
    let plan = "# Task: A test\n\n## Steps\n1. [ ] Nothing\n";
    let script = json!({
        "tool_client": [std::env::current_exe()?, CLIENT],
        "turn": [{ "uses": "always", "action": [
            { "do": "tool", "tool": "measure", "input": { "into": told } },
            { "do": "write", "path": "${plan_path}", "content": plan },
        ] }],
    });
    let path = root.join("script.json");
    fs::write(&path, script.to_string())?;
    let config = root.join("config.toml");
    let program = env!("CARGO_BIN_EXE_agent-collab");
    let text = format!(
        "[roles]\nreviewer = \"none\"\n[adapters.codex]\nprogram = {program:?}\n\
         args = [\"scripted-agent\", \"--as\", \"codex\", \"--fast\", \"--script\", {path:?}]\n"
    );
    fs::write(&config, text)?;
    Ok(config)
}

/// Runs between the scripted agent and its tool server, whose command line this is: measures both servers in turns.
pub fn client(server: &[String]) -> anyhow::Result<()> {
    let (program, args) = server
        .split_first()
        .ok_or_else(|| anyhow::anyhow!("no server"))?;
    for line in std::io::stdin().lock().lines() {
        let call: Value = serde_json::from_str(&line?)?;
        if call["method"] != "tools/call" {
            continue;
        }
        let mut ours = Server::start(Command::new(program).args(args))?;
        let mut echo = Server::start(Command::new(std::env::current_exe()?).arg(ECHO))?;
        let meta = &call["params"]["_meta"];
        let mut told = json!({});
        for key in ["list", "show", "todowrite"] {
            let (mut mine, mut theirs) = (Vec::new(), Vec::new());
            for n in 0..CALLS {
                mine.push(ours.ask(key, n, meta)?);
                theirs.push(echo.ask(key, n, meta)?);
            }
            told[key] = json!({ "ours": mine, "beside": theirs });
        }
        let into = call["params"]["arguments"]["into"]
            .as_str()
            .unwrap_or_default();
        fs::write(into, told.to_string())?;
        let done = json!({ "content": [{ "type": "text", "text": "measured" }] });
        let answer = json!({ "jsonrpc": "2.0", "id": call["id"], "result": done });
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(())
}

/// A started server that has finished its handshake.
struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    n_asked: usize,
}

impl Server {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let gone = || anyhow::anyhow!("no streams");
        let (to, from) = (
            child.stdin.take().ok_or_else(gone)?,
            child.stdout.take().ok_or_else(gone)?,
        );
        let mut server = Self {
            child,
            to,
            from: BufReader::new(from),
            n_asked: 0,
        };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "measured", "version": "0" } });
        server.exchange("initialize", &hello)?;
        writeln!(
            server.to,
            "{}",
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
        )?;
        Ok(server)
    }

    /// Sends a request and returns how many nanoseconds it took.
    fn ask(&mut self, key: &str, n: usize, meta: &Value) -> anyhow::Result<u64> {
        let (method, params) = match key {
            "list" => ("tools/list", json!({})),
            "show" => (
                "tools/call",
                json!({ "name": "session_manage", "_meta": meta,
                "arguments": { "action": "show", "task_id": format!("ses_{n}") } }),
            ),
            _ => (
                "tools/call",
                json!({ "name": "todowrite", "_meta": meta,
                "arguments": { "todos": [{ "content": format!("part {n}"), "status": "pending" }] } }),
            ),
        };
        let (took, answered) = timed(|| self.exchange(method, &params));
        let answer = answered?;
        anyhow::ensure!(answer["error"].is_null(), "{answer}");
        let blocked = answer.pointer("/result/structuredContent/blocked");
        anyhow::ensure!(blocked.is_none(), "{answer}");
        Ok(u64::try_from(took.as_nanos())?)
    }

    fn exchange(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.n_asked += 1;
        let ask =
            json!({ "jsonrpc": "2.0", "id": self.n_asked, "method": method, "params": params });
        writeln!(self.to, "{ask}")?;
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.from.read_line(&mut line)? > 0, "the server is gone");
            let frame: Value = serde_json::from_str(&line)?;
            if frame["id"] == json!(self.n_asked) {
                return Ok(frame);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Echoes each call on the standard streams.
pub fn echo() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let served = Echo.serve(rmcp::transport::stdio()).await?;
        served.waiting().await?;
        Ok(())
    })
}

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = Tool::new("echo", "Says it back.", serde_json::Map::new());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = Value::Object(request.arguments.unwrap_or_default()).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into())
    }
}
