//! Plays the program's children in its own process: agents as scripts in step with the virtual
//! clock, git and tests as real commands while nothing else runs.
//!
//! An agent's thread and the program take turns: while one computes, the other waits. So the order of
//! everything depends on the scripts alone.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};
use tokio::sync::{mpsc, oneshot};

use agent_collab::process::{
    CapturedOutput, ChildExit, CommandEndCause, CommandLimits, CommandOutput, PipeState,
    ProcessIdentity, ProcessSimulator, SimulatedChild, SpawnError, SpawnSpec, StdinSource,
};
use agent_collab::scripted::conversation_store::ScriptConversationStore;
use agent_collab::scripted::runtime::{EventInbox, InboxEvent, PlaybackSpeed, ScriptRuntime};
use agent_collab::scripted::script::AgentScript;
use agent_collab::scripted::{ScriptedAgentOptions, ScriptedProgram, play_script};

use crate::fault::{self, Fate};

/// How much virtual time passes after a frame: the program does all it can with it.
const A_MOMENT: Duration = Duration::from_millis(1);
const PIPE: usize = 64 * 1024;

/// Plays the children of a world.
pub struct Cast {
    /// The folder of the scripts and of their stored state.
    pub folder: PathBuf,
}

impl ProcessSimulator for Cast {
    fn spawn_child(&self, spec: &SpawnSpec) -> Result<SimulatedChild, SpawnError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let guise = guise(&spec.program).expect("only agents live long");
        let (stdin, hears) = duplex(PIPE);
        let (says, stdout) = duplex(PIPE);
        let (complains, stderr) = duplex(PIPE);
        let (signals, signalled) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel();
        let agent = Agent {
            hears: Some(BufReader::new(hears).lines()),
            says: Some(says),
            signalled,
            turns: self.set_on_stage(guise, spec),
        };
        fault::pass("start", guise.name());
        tokio::spawn(async move {
            let status = agent.live().await;
            drop(complains);
            // The program may no longer wait for it.
            let _nobody = end.send(status);
        });
        Ok(SimulatedChild {
            id: ProcessIdentity {
                pid: 4_000_000 + COUNT.fetch_add(1, Ordering::Relaxed),
                start_time: 1,
            },
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            signals,
            ended,
        })
    }

    fn run_child_to_end(
        &self,
        spec: &SpawnSpec,
        limits: &CommandLimits,
    ) -> Result<CommandOutput, SpawnError> {
        if let Some(guise) = guise(&spec.program) {
            let line = guise.version_line(guise.recorded_version());
            return Ok(finished(0, line.into_bytes(), Vec::new()));
        }
        let what = match spec.program.as_str() {
            "git" => spec.args.iter().find(|arg| is_git_verb(arg)).cloned(),
            other => Some(other.to_owned()),
        };
        let what = what.unwrap_or_default();
        fault::pass("before command", &what);
        let ran = run(spec, limits).map_err(|source| SpawnError::Refused {
            program: spec.program.clone(),
            cwd: spec.cwd.clone(),
            source,
        })?;
        fault::pass("after command", &what);
        Ok(ran)
    }
}

fn guise(program: &str) -> Option<ScriptedProgram> {
    [ScriptedProgram::Codex, ScriptedProgram::Claude]
        .into_iter()
        .find(|guise| program == guise.name())
}

fn is_git_verb(word: &str) -> bool {
    !word.starts_with('-') && !word.contains('=')
}

fn run(spec: &SpawnSpec, limits: &CommandLimits) -> std::io::Result<CommandOutput> {
    let mut child = Command::new(&spec.program)
        .args(&spec.args)
        .env_clear()
        .envs(spec.child_environment(std::env::vars_os()))
        .current_dir(&spec.cwd)
        .stdin(match &limits.stdin {
            StdinSource::Null => Stdio::null(),
            StdinSource::Bytes(_) => Stdio::piped(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let (Some(mut pipe), StdinSource::Bytes(bytes)) = (child.stdin.take(), &limits.stdin) {
        let bytes = bytes.clone();
        std::thread::spawn(move || {
            // A child may well end without reading everything.
            let _not_wanted = pipe.write_all(&bytes);
        });
    }
    let output = child.wait_with_output()?;
    let code = output.status.code().unwrap_or(-1);
    Ok(finished(code, output.stdout, output.stderr))
}

fn finished(code: i32, stdout: Vec<u8>, stderr: Vec<u8>) -> CommandOutput {
    let captured = |head| CapturedOutput {
        head,
        n_dropped: 0,
        tail: Vec::new(),
    };
    CommandOutput {
        exit: ChildExit {
            code: Some(code),
            signal: None,
            stderr_tail: String::from_utf8_lossy(&stderr).into_owned(),
            pipes: PipeState::Closed,
            survivors: Vec::new(),
        },
        end_cause: CommandEndCause::ByItself,
        stdout: captured(stdout),
        stderr: captured(stderr),
        duration: Duration::ZERO,
    }
}

/// What the agent's thread reports when it is the program's turn.
enum Turn {
    /// It wants to read input; with `Soon` it continues by itself after a pause.
    Listens(Patience, Vec<String>),
    Over(i32, Vec<String>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    Soon,
    Endless,
}

/// Both ways between the program and an agent's thread.
struct Turns {
    from: Receiver<Turn>,
    to: Sender<Option<InboxEvent>>,
}

/// An agent as the program meets it.
struct Agent {
    hears: Option<Lines<BufReader<DuplexStream>>>,
    says: Option<DuplexStream>,
    signalled: mpsc::UnboundedReceiver<Signal>,
    turns: Turns,
}

impl Agent {
    async fn live(mut self) -> ExitStatus {
        loop {
            // The thread computes and this one waits: nothing else happens meanwhile.
            let (turn, frames) = match self.turns.from.recv() {
                Ok(Turn::Listens(patience, frames)) => (Ok(patience), frames),
                Ok(Turn::Over(code, frames)) => (Err(code), frames),
                Err(_) => return killed(),
            };
            for frame in frames {
                if !self.say(&frame).await {
                    return killed();
                }
            }
            let patience = match turn {
                Ok(patience) => patience,
                Err(code) => return ExitStatus::from_raw(code << 8),
            };
            match self.next(patience).await {
                Next::Heard(heard) => {
                    // A thread that is gone is noticed above.
                    let _gone = self.turns.to.send(heard);
                }
                Next::Killed => return killed(),
            }
        }
    }

    async fn next(&mut self, patience: Patience) -> Next {
        let line = async {
            match &mut self.hears {
                Some(lines) => lines.next_line().await.ok().flatten(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(signal) = self.signalled.recv() => match signal {
                Signal::SIGTERM => Next::Heard(Some(InboxEvent::Terminate)),
                _ => Next::Killed,
            },
            line = line => {
                if line.is_none() {
                    self.hears = None;
                }
                Next::Heard(Some(line.map_or(InboxEvent::InputClosed, InboxEvent::Line)))
            }
            () = tokio::time::sleep(A_MOMENT), if patience == Patience::Soon => Next::Heard(None),
        }
    }

    /// Sends a frame; `false` if the agent dies instead.
    async fn say(&mut self, frame: &str) -> bool {
        let Some(pipe) = &mut self.says else {
            return true;
        };
        let line = format!("{frame}\n");
        let sent = match fault::pass_frame(frame) {
            Fate::Whole => pipe.write_all(line.as_bytes()).await,
            Fate::Twice => pipe.write_all(line.repeat(2).as_bytes()).await,
            Fate::Never => return false,
            Fate::Cut => {
                let half = line.len() / 2;
                let sent = pipe.write_all(&line.as_bytes()[..half]).await;
                self.says = None;
                sent
            }
        };
        if sent.is_err() {
            self.says = None;
        }
        tokio::time::sleep(A_MOMENT).await;
        true
    }
}

enum Next {
    Heard(Option<InboxEvent>),
    Killed,
}

fn killed() -> ExitStatus {
    ExitStatus::from_raw(Signal::SIGKILL as i32)
}

impl Cast {
    /// Starts the thread that plays a script in turns with the program.
    fn set_on_stage(&self, guise: ScriptedProgram, spec: &SpawnSpec) -> Turns {
        let (tell, from) = channel();
        let (to, hear) = channel();
        let said = Said::default();
        let prompter = Prompter {
            tell: tell.clone(),
            hear,
            said: said.clone(),
        };
        let (post, _commands_say_nothing) = sync_channel(1);
        let stage = ScriptRuntime::with_inbox(
            PlaybackSpeed::Fast,
            Box::new(said.clone()),
            Box::new(std::io::sink()),
            Box::new(prompter),
            post,
        );
        let file = script_file(&self.folder, guise);
        let casting = ScriptedAgentOptions {
            program: guise,
            script: AgentScript::load(&file, guise).expect("a script"),
            conversations: ScriptConversationStore::new(self.folder.join("memory"), guise.name()),
            cwd: spec.cwd.clone(),
            arguments: spec.args.clone(),
        };
        std::thread::spawn(move || {
            let code = play_script(casting, stage);
            // The program may no longer wait for it.
            let _nobody = tell.send(Turn::Over(code, said.take()));
        });
        Turns { from, to }
    }
}

/// The output of an agent since its last turn.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().expect("no panic while it is held"));
        let text = String::from_utf8_lossy(&bytes);
        text.lines().map(str::to_owned).collect()
    }
}

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut said = self.0.lock().expect("no panic while it is held");
        said.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Prompter {
    tell: Sender<Turn>,
    hear: Receiver<Option<InboxEvent>>,
    said: Said,
}

impl EventInbox for Prompter {
    fn wait_for_event(&mut self, deadline: Option<Instant>) -> Option<InboxEvent> {
        let patience = match deadline {
            Some(_) => Patience::Soon,
            None => Patience::Endless,
        };
        let turn = Turn::Listens(patience, self.said.take());
        if self.tell.send(turn).is_err() {
            return Some(InboxEvent::InputClosed);
        }
        self.hear.recv().unwrap_or(Some(InboxEvent::InputClosed))
    }
}

/// The script of an agent of a world.
pub fn script_file(folder: &Path, guise: ScriptedProgram) -> PathBuf {
    folder.join(format!("{}.json", guise.name()))
}
