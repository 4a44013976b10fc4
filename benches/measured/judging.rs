//! Measures `agent-collab permissions check --batch` with 2,000 commands in one process, compared with `cat` over the
//! same lines; and the guard alone on 64 KiB texts that are slow to parse, compared with reading their words.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use agent_collab::permission::command_safety::{CommandSafetySettings, classify_script};
use agent_collab::permission::shell;

use crate::limit::Limit;
use crate::{say, side_by_side, timed};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-collab");
const N_COMMANDS: usize = 2_000;
const N_BYTES: usize = 64 * 1024;
const ROUNDS: usize = 9;
/// The time limit of the guard for the longest text.
const SLOWEST: Duration = Duration::from_millis(50);
/// How often each hostile text is judged for the slowest of a hundred.
const N_JUDGED: usize = 200;

/// Lines as agents write them, long and short, the number in each.
const COMMANDS: &[&str] = &[
    "cargo test --lib permission:: -- --nocapture {n} 2>&1 | tail -40",
    "git -C repo log --oneline -n {n} -- src/main.rs && git status --short",
    "rg -n 'fn judge_{n}' src --glob '!target' | head -20",
    "cd /srv/app{n} && npm ci && npm run build -- --mode production",
    "for f in src/*{n}*.rs; do wc -l \"$f\"; done | sort -n | tail -5",
    "bash -lc \"rm -rf build{n}\"",
    "python3 - <<'EOF'\nimport json\nprint(json.load(open('a{n}.json'))['x'])\nEOF",
    "git commit -am \"mend {n}: rm -rf is asked about\" && git push origin main",
    "find . -name '*.pyc' -newer a{n} -print0 | xargs -0 rm -f",
    "docker compose -f dev{n}.yml up -d db && sleep 5 && psql -c 'select {n}'",
];

/// What is repeated up to [`N_BYTES`]; `{n}` is a number.
const HOSTILE: &[(&str, &str)] = &[
    ("branches", "if a; then v{n}=1; else v{n}=2; fi; "),
    ("arrays", "x+=(a{n}); "),
    ("here-documents", "cat <<E{n} | sh\nls $x\nE{n}\n"),
    ("substitutions", "x=\"$x $(cmd{n})\"; "),
    ("functions", "f{n}() { ls; }; f{n}; "),
    ("one pipeline", "cat a{n} | "),
];

pub fn run() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("cases");
    let line = |n: usize| {
        let command = COMMANDS[n % COMMANDS.len()].replace("{n}", &n.to_string());
        serde_json::json!({ "id": n, "cmd": command }).to_string()
    };
    let lines: Vec<String> = (0..N_COMMANDS).map(line).collect();
    fs::write(&file, lines.join("\n") + "\n")?;
    let pipe = |program: &str, arguments: &[&str]| {
        let input = fs::File::open(&file)?;
        let (took, status) = timed(|| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(folder.path());
            command.stdin(input).stdout(Stdio::null()).status()
        });
        anyhow::ensure!(status?.success(), "{program} failed");
        anyhow::Ok(took)
    };
    let mut ours = || pipe(PROGRAM, &["permissions", "check", "--batch"]);
    let mut beside = || pipe("cat", &[]);
    side_by_side(
        "check --batch, 2,000 commands",
        Limit::Within(Duration::from_secs(1)),
        ROUNDS,
        &mut ours,
        &mut beside,
    )?;
    ordinary()?;
    hostile()
}

fn hostile() -> anyhow::Result<()> {
    let settings = CommandSafetySettings::default();
    let mut all = Vec::new();
    for (name, unit) in HOSTILE {
        let mut text = String::with_capacity(N_BYTES + 100);
        for n in 0.. {
            if text.len() >= N_BYTES {
                break;
            }
            text.push_str(&unit.replace("{n}", &n.to_string()));
        }
        let mut ours = || anyhow::Ok::<Duration>(timed(|| classify_script(&text, &settings)).0);
        let mut beside = || anyhow::Ok::<Duration>(timed(|| shell::split_rough_lines(&text)).0);
        let title = format!("guard, 64 KiB of {name}");
        side_by_side(
            &title,
            Limit::Within(SLOWEST),
            ROUNDS,
            &mut ours,
            &mut beside,
        )?;
        for _ in 0..N_JUDGED {
            all.push(ours()?);
        }
    }
    say_tail("guard, all of these texts", SLOWEST, all)
}

/// The guard on commands as agents write them.
fn ordinary() -> anyhow::Result<()> {
    let settings = CommandSafetySettings::default();
    let command = |n: usize| COMMANDS[n % COMMANDS.len()].replace("{n}", &n.to_string());
    let judge = |n: usize| {
        let command = command(n);
        timed(|| classify_script(&command, &settings)).0
    };
    let all = (0..N_COMMANDS).map(judge).collect();
    say_tail("guard, 2,000 commands", Duration::from_millis(1), all)
}

/// Prints the slowest time; ninety-nine of a hundred must keep to the limit.
fn say_tail(name: &str, most: Duration, mut all: Vec<Duration>) -> anyhow::Result<()> {
    all.sort();
    let of = |per_cent: usize| {
        let at = (all.len() * per_cent / 100).min(all.len() - 1);
        all.get(at).copied().unwrap_or_default()
    };
    let named = [("p50", 50), ("p95", 95), ("p99", 99), ("longest", 100)];
    let told = named.map(|(name, per_cent)| format!("{name} {:.1?}", of(per_cent)));
    let word = Limit::Within(most).verdict(name, of(99), Duration::ZERO);
    let told = told.join(", ");
    say(format_args!("{name:<46} {told}  p99 <= {most:?}{word}"))
}
