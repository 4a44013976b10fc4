//! The configuration in force: shipped defaults, the user's own file, the repository's, `--config`
//! and flags, merged key by key and checked as a whole before anything runs.
//!
//! Refuses to be read twice (a changed file counts at the next start), to guess (anything wrong is
//! an error, never an empty configuration) and to let a repository loosen anything before the user
//! trusts it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::domain::instructions_choice::InstructionsChoice;

mod adapters;
mod agents;
pub mod builtin;
mod discuss;
mod instructions;
pub mod key;
pub mod keys;
pub mod layers;
pub mod parse;
pub mod permissions;
pub mod places;
pub mod problem;
pub mod project;
mod resolve;
mod rule_text;
pub mod shipped;
pub mod show;
mod suggest;
pub mod trust;
pub mod types;
pub mod units;
pub mod value;

pub use instructions::InstructionsReach;
pub use layers::{Layer, Settings};
pub use parse::{Override, SourceText};
pub use places::Places;
pub use problem::{Notice, Place, Problem, Problems};
pub use project::ProjectFiles;
pub use suggest::nearest;
pub use trust::{TrustState, TrustStore};
pub use types::Config;

/// What the user chose for this start.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// `--config FILE`.
    pub file: Option<PathBuf>,
    /// Flags that set keys, in their order.
    pub overrides: Vec<Override>,
    /// `--instructions`.
    pub instructions: Option<InstructionsChoice>,
}

/// The configuration as it was at the start.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What is in force, as plain fields.
    pub config: Config,
    /// What is in force, key by key with its origin.
    pub settings: Settings,
    /// What was read and left out.
    pub notices: Vec<Notice>,
    /// Whether the user trusts this repository.
    pub trust: TrustState,
    /// What the user said of the repository's instructions for agents, where they said something.
    pub instructions: Option<InstructionsChoice>,
    /// The repository's own files, as trust was decided over.
    pub project: ProjectFiles,
    /// The user's own prompts.
    pub global_prompts: Vec<SourceText>,
}

impl Loaded {
    /// Returns the prompts that count: the user's own, then the repository's as far as trust lets
    /// them; of two with one name the later one counts.
    pub fn prompts(&self) -> Vec<&SourceText> {
        let project: &[SourceText] = if self.trust == TrustState::Trusted {
            &self.project.prompts
        } else {
            &[]
        };
        self.global_prompts.iter().chain(project).collect()
    }

    /// Returns what the agents are told besides, by their names: the texts that `agents.*.prompt` names, of those
    /// that count.
    ///
    /// # Errors
    /// There is no such file.
    pub fn agent_prompts(&self) -> Result<BTreeMap<String, SourceText>, Problems> {
        agents::prompts(&self.settings, &self.prompts())
    }
}

/// Reads, merges and checks the whole configuration for a repository; tells all problems of all files at once.
pub fn load(places: &Places, root: &Path, choices: &Choices) -> Result<Loaded, Problems> {
    load_and(places, root, choices, |_| Vec::new())
}

/// Does what [`load`] does; where anything is wrong, tells with it what else somebody finds wrong with the settings
/// that could be read.
pub fn load_and(
    places: &Places,
    root: &Path,
    choices: &Choices,
    also: impl Fn(&Settings) -> Vec<Problem>,
) -> Result<Loaded, Problems> {
    let project = ProjectFiles::load(root)?;
    let mut notices = Vec::new();
    let trust_store = TrustStore::new(places);
    let trust = trust_store.status(&project).unwrap_or_else(|error| {
        let what = format!("this repository counts as untrusted: failed to {error}");
        notices.push(Notice {
            place: Place::File(places.trust_file()),
            what,
            hint: layers::hint(TrustState::Untrusted),
        });
        TrustState::Untrusted
    });
    // A file that cannot be read was told of above, and says nothing.
    let remembered = trust_store.instructions(&project).unwrap_or_default();
    lay(places, project, trust, choices, also).map(|mut loaded| {
        notices.append(&mut loaded.notices);
        Loaded {
            notices,
            instructions: choices.instructions.or(remembered),
            ..loaded
        }
    })
}

/// Does what [`load`] does, as if trust were as given; shows what trust would change.
pub fn load_as(
    places: &Places,
    project: ProjectFiles,
    trust: TrustState,
    choices: &Choices,
) -> Result<Loaded, Problems> {
    lay(places, project, trust, choices, |_| Vec::new())
}

fn lay(
    places: &Places,
    project: ProjectFiles,
    trust: TrustState,
    choices: &Choices,
    also: impl Fn(&Settings) -> Vec<Problem>,
) -> Result<Loaded, Problems> {
    let mut layers = Layers::default();
    layers.lay_text(Layer::Default, &shipped::source());
    layers.lay_themes(&places.global_themes());
    let global = places.global_config();
    match project::load_file(&global) {
        Ok(Some(text)) => layers.lay_text(Layer::Global, &SourceText { file: global, text }),
        Ok(None) => {}
        Err(error) => layers.problems.push(project::unreadable(&global, &error)),
    }
    if let Some(source) = &project.config {
        layers.lay_project(trust, source);
    }
    if let Some(file) = &choices.file {
        let missing = || std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such file");
        match project::load_file(file).and_then(|text| text.ok_or_else(missing)) {
            Ok(text) => layers.lay_text(
                Layer::File,
                &SourceText {
                    file: file.clone(),
                    text,
                },
            ),
            Err(error) => layers.problems.push(project::unreadable(file, &error)),
        }
    }
    for given in &choices.overrides {
        match parse::parse_override(given) {
            Ok(setting) => layers.settings.lay(Layer::Flag, vec![setting]),
            Err(found) => layers.problems.extend(found),
        }
    }
    layers.notices.extend(ignored_prompts(&project, trust));
    let prompts_dir = places.global_prompts();
    let global_prompts = project::load_markdown(Path::new("/"), &prompts_dir, &mut layers.problems);
    let Layers {
        settings,
        mut problems,
        notices,
    } = layers;
    match resolve::resolve(&settings, &places.home) {
        Ok(config) if problems.is_empty() => {
            let mut notices = notices;
            notices.extend(permissions::Permissions::oddities(&config));
            return Ok(Loaded {
                config,
                settings,
                notices,
                trust,
                instructions: choices.instructions,
                project,
                global_prompts,
            });
        }
        Ok(_) => {}
        Err(found) => problems.extend(found),
    }
    problems.extend(also(&settings));
    problems.sort();
    problems.dedup();
    Err(Problems(problems))
}

/// The layers that are laid so far, and everything to tell about them.
#[derive(Default)]
struct Layers {
    settings: Settings,
    problems: Vec<Problem>,
    notices: Vec<Notice>,
}

impl Layers {
    fn lay_text(&mut self, layer: Layer, source: &SourceText) {
        let settings = self.parse(source);
        self.settings.lay(layer, settings);
    }

    fn lay_project(&mut self, trust: TrustState, source: &SourceText) {
        let settings = self.parse(source);
        let mut notices = self.settings.lay_project(trust, settings);
        notices.sort_by(|a, b| a.place.cmp(&b.place));
        self.notices.extend(notices);
    }

    /// The user's own themes that are files; what the configuration says of one counts more.
    fn lay_themes(&mut self, folder: &Path) {
        let root = Path::new("/");
        let sources = project::load_folder(root, (folder, "toml"), &mut self.problems);
        for source in &sources {
            let settings = self.take(parse::parse_theme(source));
            self.settings.lay(Layer::Global, settings);
        }
    }

    fn parse(&mut self, source: &SourceText) -> Vec<parse::Setting> {
        self.take(parse::parse_source(source))
    }

    fn take(&mut self, parsed: parse::Parsed) -> Vec<parse::Setting> {
        self.problems.extend(parsed.problems);
        self.settings.broken.extend(parsed.broken);
        parsed.settings
    }
}

fn ignored_prompts(project: &ProjectFiles, trust: TrustState) -> Vec<Notice> {
    if trust == TrustState::Trusted {
        return Vec::new();
    }
    let notice = |source: &SourceText| Notice {
        place: Place::File(source.file.clone()),
        what: format!("this prompt is ignored {}", layers::because(trust)),
        hint: layers::hint(trust),
    };
    project.prompts.iter().map(notice).collect()
}

#[cfg(test)]
mod tests;
