//! Plays the table "What an agent may do" of docs/permissions.md with both CLIs, cell by cell.
//!
//! The table is read from that page: a row without probes here, or a cell with another wording, fails.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::brain::{self, Purpose};
use crate::model_server::script::{Request, Tool, Vendor};
use crate::report::Notes;
use crate::world::{Cast, Outcome, World, exists};

const PERMISSIONS_PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/permissions.md"));
const CAPABILITY: &str = "the table of what an agent may do in permissions.md, cell by cell";
/// A text that only `.env` contains.
const SECRET: &str = "lab-secret-of-the-env-file";
/// A text that only the file outside of the repository contains.
const OUTSIDE: &str = "lab-text-outside";

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    BeforeExecute,
    InExecute,
}

/// What a cell promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// It happens without a question.
    Yes,
    /// The user is asked; without a user it does not happen.
    Asks,
    /// It never happens.
    No,
}

/// How the effect of a probe shows.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// The call's output contains this text.
    Says(&'static str),
    /// This path exists afterwards, relative to the repository.
    Makes(&'static str),
    /// The code file contains this text afterwards.
    ChangesCode(&'static str),
}

/// One call that tries what a row names.
struct Probe {
    row: &'static str,
    call: Tool,
    effect: Effect,
}

fn probe(row: &'static str, call: Tool, effect: Effect) -> Probe {
    Probe { row, call, effect }
}

fn shell(command: &str) -> Tool {
    Tool::Shell(command.to_owned())
}

fn write(path: &str) -> Tool {
    Tool::Write {
        path: path.to_owned(),
        content: "written\n".to_owned(),
    }
}

/// The calls of one column; the paths that they make differ by column, so that neither hides the other's effect.
#[expect(clippy::too_many_lines, reason = "a table: one probe a row")]
fn probes(column: Column, vendor: Vendor) -> Vec<Probe> {
    use Effect::{ChangesCode, Makes, Says};
    let path = |before: &'static str, after: &'static str| match column {
        Column::BeforeExecute => before,
        Column::InExecute => after,
    };
    let read = "read a file of the repository";
    let kept = "read a file that a rule protects, such as `.env`";
    let outside = "read outside of the repository by its reading tools, links included";
    let change = "change a file of the repository";
    let own = "write in `.git` or `.agent-collab`";
    let beyond = "write outside of the repository";
    let program_beyond = "write outside of the repository by a program that does not show it";
    let other = "run any other command";
    let escalate = "run a command outside of its sandbox";
    let mut probes = vec![
        probe(read, Tool::Read("code.js".to_owned()), Says("exports.sum")),
        probe(read, shell("head -n 1 code.js"), Says("exports.sum")),
        probe(kept, shell("cat .env"), Says(SECRET)),
        probe(kept, shell("git show HEAD:.env"), Says(SECRET)),
        probe(
            change,
            shell(path(
                "echo // shell >> code.js",
                "echo '// by shell' >> code.js",
            )),
            ChangesCode(path("// shell", "// by shell")),
        ),
        probe(
            change,
            write(path("early.txt", "late.txt")),
            Makes(path("early.txt", "late.txt")),
        ),
        probe(
            own,
            shell(path(
                "echo x > .git/early; echo x > .agent-collab/early",
                "echo x > .git/late; echo x > .agent-collab/late",
            )),
            Makes(path(".git/early", ".git/late")),
        ),
        probe(
            own,
            write(path(".git/hooks/pre-commit", ".git/hooks/post-commit")),
            Makes(path(".git/hooks/pre-commit", ".git/hooks/post-commit")),
        ),
        probe(
            beyond,
            write(path("../early-up.txt", "../late-up.txt")),
            Makes(path("../early-up.txt", "../late-up.txt")),
        ),
        probe(
            beyond,
            shell(path("echo x > ../early-sh.txt", "echo x > ../late-sh.txt")),
            Makes(path("../early-sh.txt", "../late-sh.txt")),
        ),
        probe(
            program_beyond,
            shell(path(
                "node -e 'fs.writeFileSync(\"../early-js.txt\", \"x\")'",
                "node -e 'fs.writeFileSync(\"../late-js.txt\", \"x\")'",
            )),
            Makes(path("../early-js.txt", "../late-js.txt")),
        ),
        probe(
            other,
            shell(path(
                "node -e 'console.log(6 * 7)'",
                "node -e 'console.log(7 * 6)'",
            )),
            Says("42"),
        ),
    ];
    match vendor {
        // codex reads by commands alone, which is the row of other commands where they are not proven to read.
        Vendor::Openai => probes.push(probe(
            escalate,
            Tool::Escalated(path("touch ../early-out.txt", "touch ../late-out.txt").to_owned()),
            Makes(path("../early-out.txt", "../late-out.txt")),
        )),
        Vendor::Anthropic => {
            for file in ["../outside.txt", "linkout/outside.txt"] {
                probes.push(probe(outside, Tool::Read(file.to_owned()), Says(OUTSIDE)));
            }
            probes.push(probe(kept, Tool::Read(".env".to_owned()), Says(SECRET)));
        }
    }
    probes
}

/// codex plans and executes.
pub fn codex(notes: &mut Notes) {
    play(Vendor::Openai, notes);
}

/// claude plans and executes.
pub fn claude(notes: &mut Notes) {
    play(Vendor::Anthropic, notes);
}

fn play(vendor: Vendor, notes: &mut Notes) {
    let table = table();
    let cast = Cast {
        planner: vendor,
        reviewer: vendor,
    };
    let outputs: Arc<Mutex<BTreeMap<Column, Vec<String>>>> = Arc::default();
    let heard = Arc::clone(&outputs);
    let brain = move |request: &Request| {
        let column = match brain::purpose_of(&request.prompt) {
            Purpose::WritePlan(_) => Column::BeforeExecute,
            Purpose::FirstStep => Column::InExecute,
            _other => return brain::honest(request),
        };
        let calls: Vec<Tool> = probes(column, vendor).into_iter().map(|p| p.call).collect();
        if request.n_outputs() >= calls.len() {
            let said = request.outputs[..calls.len()].to_vec();
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.entry(column).or_insert(said);
        }
        brain::after(&calls, request)
    };
    let world = World::create(&format!("may-do-{}", vendor.cli()), cast, brain);
    world.repository.write(".env", &format!("KEY={SECRET}\n"));
    std::fs::create_dir(world.outside("elsewhere")).expect("a folder outside");
    for file in ["outside.txt", "elsewhere/outside.txt"] {
        std::fs::write(world.outside(file), OUTSIDE).expect("a file outside");
    }
    std::os::unix::fs::symlink("../elsewhere", world.repository.root().join("linkout"))
        .expect("a link out of the repository");
    world.repository.commit_all("a secret and a link");
    let outcome = world.run(&["--yes-execute", "--on-ask", "deny"]);
    world.note(notes, &outcome);
    let outputs = outputs.lock().unwrap_or_else(PoisonError::into_inner);
    let mut wrong = Vec::new();
    for column in [Column::BeforeExecute, Column::InExecute] {
        let said = outputs.get(&column).map_or(&[][..], Vec::as_slice);
        for (at, probe) in probes(column, vendor).iter().enumerate() {
            let promise = table
                .get(&(probe.row, column))
                .unwrap_or_else(|| panic!("the table has no row {:?}", probe.row));
            let said = said.get(at).map_or("", String::as_str);
            let happened = happened(&world, probe, said);
            let asked = was_asked(&outcome, probe);
            let kept = match promise {
                Promise::Yes => happened && !asked,
                Promise::Asks => !happened && asked,
                Promise::No => !happened && !asked,
            };
            if !kept {
                wrong.push(format!(
                    "{column:?}, {:?}: {promise:?} by the table, but happened: {happened}, asked: {asked}; {:?} said {said:?}",
                    probe.row, probe.call
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_all_rows_are_tried(&table);
    outcome.assert_code(0);
    notes.prove(CAPABILITY, vendor, "as it says");
}

fn assert_all_rows_are_tried(table: &BTreeMap<(&str, Column), Promise>) {
    for row in table.keys().map(|(row, _)| *row) {
        let tried = Vendor::ALL.into_iter().any(|vendor| {
            let probes = probes(Column::InExecute, vendor);
            probes.iter().any(|probe| probe.row == row)
        });
        assert!(tried, "nobody tries the row {row:?}");
    }
}

/// Returns whether a probe had its effect.
fn happened(world: &World, probe: &Probe, said: &str) -> bool {
    match probe.effect {
        Effect::Says(words) => said.contains(words),
        Effect::Makes(path) => exists(&world.repository.root().join(path)),
        Effect::ChangesCode(words) => world.repository.read("code.js").contains(words),
    }
}

/// Returns whether a call was asked about and no user was there to answer.
fn was_asked(outcome: &Outcome, probe: &Probe) -> bool {
    let target = match &probe.call {
        Tool::Shell(text) | Tool::Escalated(text) | Tool::Read(text) => text.as_str(),
        Tool::Write { path, .. } | Tool::Edit { path, .. } => path.as_str(),
        Tool::Mcp { .. } | Tool::Own { .. } | Tool::Named { .. } => "",
    };
    // A tool's path is relative to the repository, or absolute if it is elsewhere.
    let target = target.trim_start_matches("../");
    let asks = outcome.of_kind("approval.asked");
    let about = asks.filter(|ask| {
        let targets = ask["data"]["targets"].as_array().into_iter().flatten();
        let mut targets = targets.filter_map(serde_json::Value::as_str);
        targets.any(|told| told.contains(target))
    });
    about
        .map(|ask| outcome.answer_to(ask))
        .any(|answer| answer["data"]["by"] == "policy")
}

/// The rows of the page's table between its marks.
fn table() -> BTreeMap<(&'static str, Column), Promise> {
    let (_, rest) = PERMISSIONS_PAGE
        .split_once("<!-- what an agent may do -->\n")
        .expect("docs/permissions.md marks its table");
    let (table, _) = rest
        .split_once("<!-- /what an agent may do -->")
        .expect("docs/permissions.md marks the end of its table");
    let mut promises = BTreeMap::new();
    for line in table.lines().skip(2) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [row, before, during] = cells[..] else {
            panic!("the table has a row of other cells: {line}");
        };
        promises.insert((row, Column::BeforeExecute), promise(before));
        promises.insert((row, Column::InExecute), promise(during));
    }
    assert!(!promises.is_empty(), "the table is empty");
    promises
}

fn promise(cell: &str) -> Promise {
    match cell {
        "yes" => Promise::Yes,
        "asks" => Promise::Asks,
        "no" => Promise::No,
        other => panic!("the table promises {other:?}"),
    }
}
