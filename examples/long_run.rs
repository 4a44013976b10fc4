//! Creates a long run in a directory, to try how the program performs with it.
//!
//! `cargo run --release --example long_run -- DIR [EVENTS] [BYTES]`: by default 100,000 events of about 1,000 bytes
//! each. Then run `agent-collab --resume` in that directory.

#[path = "../benches/measured/long_run.rs"]
mod long_run;

use std::io::Write;
use std::path::PathBuf;

fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let Some(root) = words.next().map(PathBuf::from) else {
        anyhow::bail!("usage: long_run DIR [EVENTS] [BYTES]");
    };
    let n_events = words.next().map_or(Ok(100_000), |word| word.parse())?;
    let mean = words.next().map_or(Ok(1_000), |word| word.parse())?;
    let side = tempfile::tempdir()?;
    let journal = long_run::make(&root.canonicalize()?, side.path(), n_events, mean)?;
    let size = |path: PathBuf| std::fs::metadata(path).map(|meta| meta.len());
    let layout = journal.layout();
    let (events, state) = (size(layout.events())?, size(layout.state())?);
    writeln!(
        std::io::stdout(),
        "events.jsonl {events} bytes, state.json {state} bytes"
    )?;
    Ok(())
}
