//! Injects faults: the process counts the boundaries that it passes and harms itself at one of them.
//!
//! The program under test does not know about it. A boundary of the disk or an effect is observed as a trace
//! event; the stand-ins report what children do. The harm is what the system does: a signal, a limit.

use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use agent_collab::store::failpoints;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::{Event, Metadata, Subscriber};

/// The kinds of harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// The program gets SIGKILL.
    Kill,
    /// A write reaches the disk in part, and the program dies in it.
    TornWrite,
    /// No file can grow for a while.
    FullDisk,
    /// An agent's CLI dies of a signal between two frames.
    KilledCli,
    /// An agent's output is cut in the middle of a frame.
    CutPipe,
    /// An agent sends a frame twice.
    DuplicateFrame,
}

pub const KINDS: [Kind; 6] = [
    Kind::Kill,
    Kind::TornWrite,
    Kind::FullDisk,
    Kind::KilledCli,
    Kind::CutPipe,
    Kind::DuplicateFrame,
];

/// One kind of harm that the process does to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub kind: Kind,
    /// It happens at the first boundary of this number or above that is of its kind.
    pub at: u64,
    /// Decides the rest: how much of a write arrives, how long the disk is full.
    pub salt: u64,
}

/// What an agent's frame meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Whole,
    Twice,
    Cut,
    Never,
}

#[derive(Default)]
struct Passed {
    n: u64,
    fault: Option<Fault>,
    /// At how many more boundaries the disk is full.
    full_for: u64,
}

static PASSED: Mutex<Passed> = Mutex::new(Passed {
    n: 0,
    fault: None,
    full_for: 0,
});

/// Listens to the program's boundaries from here on, and plans a harm.
pub fn listen(fault: Option<Fault>) {
    with(|passed| passed.fault = fault);
    tracing::subscriber::set_global_default(Listener).expect("nobody else listens");
}

/// Reports to the process that started this one.
pub fn tell(word: &str, text: &str) {
    // The parent may be gone; then the report is not needed.
    let _nobody = writeln!(std::io::stdout(), "{word} {}", text.replace('\n', "\\n"));
}

/// Passes a boundary that no fault of the disk belongs to.
pub fn pass(place: &str, what: &str) {
    at(place, what, None);
}

/// Passes the place before an agent's frame.
pub fn pass_frame(frame: &str) -> Fate {
    let due = at("frame", &frame.chars().take(60).collect::<String>(), None);
    let fate = match due {
        Some(Kind::KilledCli) => Fate::Never,
        Some(Kind::CutPipe) => Fate::Cut,
        Some(Kind::DuplicateFrame) => Fate::Twice,
        _ => return Fate::Whole,
    };
    done("frame", frame);
    fate
}

fn with<T>(act: impl FnOnce(&mut Passed) -> T) -> T {
    act(&mut PASSED.lock().expect("no panic while it is held"))
}

fn done(place: &str, what: &str) {
    if let Some(fault) = with(|passed| passed.fault.take()) {
        let what = what.chars().take(60).collect::<String>();
        tell("harm", &format!("{:?}|{place}|{what}", fault.kind));
    }
}

/// Passes a boundary; returns the kind of harm that is due, where it is not done here.
fn at(place: &str, what: &str, file: Option<&Path>) -> Option<Kind> {
    let (n, fault) = with(|passed| {
        passed.n += 1;
        if passed.full_for > 0 {
            passed.full_for -= 1;
            if passed.full_for == 0 {
                limit(None);
            }
        }
        (passed.n, passed.fault)
    });
    tell("at", &format!("{n}|{place}|{what}"));
    let fault = fault.filter(|fault| fault.at <= n)?;
    match (fault.kind, file) {
        (Kind::Kill, _) => {
            done(place, what);
            die();
        }
        (Kind::TornWrite, Some(file)) if place == "append" => {
            done(place, what);
            let len = std::fs::metadata(file).map_or(0, |found| found.len());
            limit(Some(len + fault.salt % 40));
        }
        (Kind::TornWrite, Some(_)) if place == "replace: created" => {
            done(place, what);
            limit(Some(fault.salt % 100));
        }
        (Kind::FullDisk, _) => {
            done(place, what);
            ignore_the_signal();
            with(|passed| passed.full_for = 1 + fault.salt % 12);
            limit(Some(0));
        }
        _ => {}
    }
    Some(fault.kind)
}

fn die() -> ! {
    let _dead = kill(Pid::this(), Signal::SIGKILL);
    loop {
        std::thread::park();
    }
}

/// Sets how long a file may become; a write beyond it gets what fits, the next one SIGXFSZ.
fn limit(bytes: Option<u64>) {
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).expect("a limit");
    setrlimit(Resource::RLIMIT_FSIZE, bytes.unwrap_or(most), most).expect("a lower limit");
    setrlimit(Resource::RLIMIT_CORE, 0, 0).expect("no core");
}

/// From now on a write beyond the limit is an error, as on a full disk; children inherit that.
fn ignore_the_signal() {
    #[expect(
        unsafe_code,
        reason = "no handler of ours is run: the signal is ignored"
    )]
    let ignored = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    ignored.expect("SIGXFSZ can be ignored");
}

struct Listener;

#[derive(Default)]
struct Fields {
    place: String,
    path: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "place" => self.place = text.trim_matches('"').to_owned(),
            "path" => self.path = text.trim_matches('"').to_owned(),
            _ => {}
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target() == failpoints::FAILPOINT_TARGET
    }

    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(tracing::level_filters::LevelFilter::TRACE)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let path = Path::new(&fields.path);
        let name = match path.file_name() {
            Some(name) if path.is_absolute() => name.to_string_lossy().into_owned(),
            _ => fields.path.clone(),
        };
        at(&fields.place, &name, Some(path));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}
