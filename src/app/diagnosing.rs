//! What a run would stand on, looked at from outside of any: for `agent-collab doctor` and for the screen.
//!
//! Refuses to start anything but the CLIs' own `--version`.

use super::start::{self, Found, Refusal, Wishes};
use crate::config::show;
use crate::engine::containing;
use crate::engine::diagnosis::{Diagnosis, Grounds, look};

/// Looks at all that a run would stand on where the program was started.
///
/// # Errors
/// The configuration has problems, or git refuses.
pub async fn diagnosis(wishes: &Wishes) -> Result<Diagnosis, Refusal> {
    let Found {
        root,
        repository,
        loaded,
        children,
        ..
    } = start::find(wishes).await?;
    let grounds = Grounds {
        kernel: containing::kernel(&children, &loaded.config, &root).await,
        origins: show::to_json(&loaded),
        config: loaded.config,
        root,
        repository,
        children,
    };
    Ok(look(&grounds).await)
}
