//! Launches a child with its own session, mark and pipes; the child dies with this program.
//!
//! Does not read or write the child's pipes. Two threads that live as long as the program start all children,
//! because Linux ties a child's death signal to the thread that started it. One of the threads has no access
//! to the abstract sockets of other programs, and neither has anything that it starts.

use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;

use nix::unistd::{AccessFlags, access};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::abstract_sockets::close_abstract_sockets;
use super::child_registry::ChildRegistration;
use super::process_mark::MARK_VARIABLE;
use super::process_table::read_own_identity;
use super::process_tree::ProcessTree;
use super::spawn_error::SpawnError;
use super::spawn_spec::SpawnSpec;

/// A running child with its pipes untouched.
pub(super) struct LaunchedChild {
    pub child: Child,
    pub family: ProcessTree,
}

/// Whether the child gets a pipe as its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StdinMode {
    Piped,
    Null,
}

pub(super) async fn launch_child(
    spec: &SpawnSpec,
    input: StdinMode,
) -> Result<LaunchedChild, SpawnError> {
    if !spec.cwd.is_dir() {
        return Err(SpawnError::NoSuchDirectory {
            program: spec.program.clone(),
            cwd: spec.cwd.clone(),
        });
    }
    let environment = spec.child_environment(std::env::vars_os());
    let program = resolve_program(spec, environment.get(&OsString::from("PATH")))?;
    let mark = spec.mark.to_env_value(&unique_mark_suffix());
    let mut command = match &spec.sandbox {
        None => Command::new(&program),
        Some(containment) => {
            let mut command = Command::new(containment.program());
            let arguments = containment.to_arguments(&spec.cwd, &mark);
            command.args(arguments).arg(&program);
            command
        }
    };
    command
        .args(&spec.args)
        .env_clear()
        .envs(environment)
        .env(MARK_VARIABLE, &mark)
        .current_dir(&spec.cwd)
        .stdin(if input == StdinMode::Piped {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    start_own_session(&mut command);
    let reach = match &spec.sandbox {
        Some(containment) if containment.closes_abstract_sockets() => SocketReach::OwnSockets,
        Some(_) | None => SocketReach::AllSockets,
    };
    match spawn_on_launcher_thread(command, reach).await {
        Ok((child, registered)) => Ok(LaunchedChild {
            child,
            family: ProcessTree::new(registered, mark),
        }),
        Err(source) => Err(to_spawn_error(spec, program, source)),
    }
}

/// Makes the child lead its own session and process group and die with this program.
fn start_own_session(command: &mut Command) {
    let parent = std::process::id();
    let before_exec = move || {
        nix::unistd::setsid()?;
        #[cfg(target_os = "linux")]
        {
            // TERM, not KILL: the agents' CLIs use it to end commands in sessions of their own.
            nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGTERM)?;
            // The program may have died before the line above.
            if u32::try_from(nix::unistd::getppid().as_raw()) != Ok(parent) {
                return Err(io::Error::from_raw_os_error(nix::libc::ESRCH));
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _only_linux_has_a_parent_death_signal = parent;
        Ok(())
    };
    #[expect(
        unsafe_code,
        reason = "between fork and exec; the closure makes system calls only and allocates nothing"
    )]
    unsafe {
        command.pre_exec(before_exec);
    }
}

struct LaunchRequest {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<(Child, ChildRegistration)>>,
}

/// Which abstract sockets a child can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SocketReach {
    /// All sockets of its network.
    AllSockets,
    /// Only those of sandboxed children, where the kernel supports that.
    OwnSockets,
}

/// Makes a launcher thread start a child.
async fn spawn_on_launcher_thread(
    command: Command,
    reach: SocketReach,
) -> io::Result<(Child, ChildRegistration)> {
    let (reply, answer) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts children is gone");
    launcher_thread(reach)
        .ok_or_else(gone)?
        .send(LaunchRequest {
            command,
            runtime: Handle::current(),
            reply,
        })
        .map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?
}

fn launcher_thread(reach: SocketReach) -> Option<&'static mpsc::Sender<LaunchRequest>> {
    // A thread cannot get the abstract sockets back, so children without them need a thread of their own.
    static OPEN: OnceLock<Option<mpsc::Sender<LaunchRequest>>> = OnceLock::new();
    static CLOSED: OnceLock<Option<mpsc::Sender<LaunchRequest>>> = OnceLock::new();
    let (starter, name) = match reach {
        SocketReach::AllSockets => (&OPEN, "start-children"),
        SocketReach::OwnSockets => (&CLOSED, "start-held"),
    };
    let begin = || {
        let (requests, inbox) = mpsc::channel();
        let thread = thread::Builder::new().name(name.to_owned());
        let work = move || {
            if reach == SocketReach::OwnSockets {
                close_abstract_sockets();
            }
            serve_launch_requests(&inbox);
        };
        thread.spawn(work).is_ok().then_some(requests)
    };
    starter.get_or_init(begin).as_ref()
}

fn serve_launch_requests(inbox: &mpsc::Receiver<LaunchRequest>) {
    for LaunchRequest {
        mut command,
        runtime,
        reply,
    } in inbox
    {
        let _guard = runtime.enter();
        // A runtime that is shutting down panics; this thread must survive that.
        let started = catch_unwind(AssertUnwindSafe(|| {
            ChildRegistration::spawn_registered(|| command.spawn(), Child::id)
        }));
        let started =
            started.unwrap_or_else(|_| Err(io::Error::other("the program is shutting down")));
        if let Err(Ok((child, registered))) = reply.send(started) {
            // The caller is gone: the whole process tree ends.
            drop(ProcessTree::new(registered, String::from("nobody")));
            drop(child);
        }
    }
}

/// Returns the part of a mark that identifies this program's process and the child.
fn unique_mark_suffix() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let own = read_own_identity();
    format!(
        "{}.{}.{}",
        own.pid,
        own.start_time,
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

/// Finds the file that the program's name refers to for the child.
fn resolve_program(spec: &SpawnSpec, path: Option<&OsString>) -> Result<PathBuf, SpawnError> {
    if spec.program.contains('/') {
        let path = spec.cwd.join(&spec.program);
        return match path.metadata() {
            Err(_) => Err(SpawnError::NoSuchFile { path }),
            Ok(_) if !is_executable(&path) => Err(SpawnError::NotExecutable { path }),
            Ok(_) => Ok(path),
        };
    }
    let folders = path
        .map(|path| std::env::split_paths(path).collect::<Vec<_>>())
        .unwrap_or_default();
    let candidates: Vec<PathBuf> = folders
        .iter()
        .map(|folder| spec.cwd.join(folder).join(&spec.program))
        .collect();
    if let Some(found) = candidates.iter().find(|candidate| is_executable(candidate)) {
        return Ok(found.clone());
    }
    match candidates.into_iter().find(|candidate| candidate.is_file()) {
        Some(path) => Err(SpawnError::NotExecutable { path }),
        None => Err(SpawnError::NotOnPath {
            program: spec.program.clone(),
        }),
    }
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && access(path, AccessFlags::X_OK).is_ok()
}

fn to_spawn_error(spec: &SpawnSpec, path: PathBuf, source: io::Error) -> SpawnError {
    let bad = |what| SpawnError::BadArguments {
        program: spec.program.clone(),
        cwd: spec.cwd.clone(),
        what,
    };
    match source.kind() {
        io::ErrorKind::NotFound => SpawnError::InterpreterMissing { path },
        io::ErrorKind::PermissionDenied => SpawnError::NotExecutable { path },
        io::ErrorKind::InvalidInput => bad("an argument or a variable contains a NUL byte"),
        io::ErrorKind::ArgumentListTooLong => bad("the arguments and the environment are too long"),
        _ => SpawnError::Refused {
            program: spec.program.clone(),
            cwd: spec.cwd.clone(),
            source,
        },
    }
}
