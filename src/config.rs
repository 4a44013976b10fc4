//! Loads the effective configuration: shipped defaults, the user's own file, the repository's file, `--config`
//! and flags, merged key by key and checked as a whole before anything runs.
//!
//! It is read once; a changed file counts at the next start. Anything wrong is an error, never an empty configuration.
//! A repository cannot loosen anything before the user trusts it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::instructions_choice::InstructionsChoice;

mod adapter_settings;
mod agent_profiles;
pub mod builtin_rule_overrides;
pub mod config_display;
pub mod config_key;
mod config_layer;
pub mod config_layers;
pub mod config_model;
mod config_resolver;
pub mod defaults;
pub mod diagnostic;
pub mod effective_permissions;
pub mod human_units;
mod key_suggestions;
pub mod project_files;
mod project_instructions;
mod rule_syntax;
pub mod schema;
pub mod toml_parser;
mod trust_state;
pub mod trust_store;
pub mod user_dirs;
mod value_check;
mod word_similarity;

pub use config_layer::ConfigLayer;
pub use config_layers::{ConfigSetting, LayeredSettings};
pub use config_model::AppConfig;
pub use diagnostic::{ConfigLocation, ConfigNotice, ConfigProblem, ConfigProblems};
pub use project_files::ProjectFiles;
pub use project_instructions::InstructionsReach;
pub use toml_parser::{ConfigOverride, ConfigSource};
pub use trust_state::TrustState;
pub use trust_store::TrustStore;
pub use user_dirs::UserDirs;
pub use word_similarity::suggest_name;

/// The configuration options of this start's command line.
#[derive(Debug, Clone, Default)]
pub struct ConfigFlags {
    /// `--config FILE`.
    pub file: Option<PathBuf>,
    /// Flags that set keys, in command-line order.
    pub overrides: Vec<ConfigOverride>,
    /// `--instructions`.
    pub instructions: Option<InstructionsChoice>,
}

/// The configuration as it was when the program started.
#[derive(Debug, Clone)]
pub struct LoadedConfig {
    /// The effective configuration, as plain fields.
    pub config: AppConfig,
    /// The effective configuration, key by key with its origin.
    pub settings: LayeredSettings,
    /// What was read but left out.
    pub notices: Vec<ConfigNotice>,
    /// Whether the user trusts this repository.
    pub trust: TrustState,
    /// The user's decision about the repository's agent instructions, if there is one.
    pub instructions: Option<InstructionsChoice>,
    /// The repository's own files, exactly as the trust decision saw them.
    pub project: ProjectFiles,
    /// The user's own prompt files.
    pub global_prompts: Vec<ConfigSource>,
}

impl LoadedConfig {
    /// Returns the effective prompts: the user's own, then the repository's as far as it is trusted. If two have the
    /// same name, the later one counts.
    pub fn prompts(&self) -> Vec<&ConfigSource> {
        let project: &[ConfigSource] = if self.trust == TrustState::Trusted {
            &self.project.prompts
        } else {
            &[]
        };
        self.global_prompts.iter().chain(project).collect()
    }

    /// Returns the additional prompts of agents, by agent: the texts that `agents.*.prompt` names, out of the effective
    /// prompts.
    ///
    /// # Errors
    /// A named file does not exist.
    pub fn agent_prompts(&self) -> Result<BTreeMap<String, ConfigSource>, ConfigProblems> {
        agent_profiles::find_agent_prompts(&self.settings, &self.prompts())
    }
}

/// Reads, merges and checks the whole configuration for a repository; reports all problems of all files at once.
pub fn load(
    places: &UserDirs,
    root: &Path,
    choices: &ConfigFlags,
) -> Result<LoadedConfig, ConfigProblems> {
    load_with_checks(places, root, choices, |_| Vec::new())
}

/// Does what [`load`] does. If anything is wrong, also reports the problems that the caller's checks find in the
/// settings that could be read.
pub fn load_with_checks(
    places: &UserDirs,
    root: &Path,
    choices: &ConfigFlags,
    also: impl Fn(&LayeredSettings) -> Vec<ConfigProblem>,
) -> Result<LoadedConfig, ConfigProblems> {
    let project = ProjectFiles::load(root)?;
    let mut notices = Vec::new();
    let trust_store = TrustStore::new(places);
    let trust = trust_store.status(&project).unwrap_or_else(|error| {
        let what = format!("this repository counts as untrusted: failed to {error}");
        notices.push(ConfigNotice {
            place: ConfigLocation::File(places.trust_file()),
            what,
            hint: trust_state::trust_hint(TrustState::Untrusted),
        });
        TrustState::Untrusted
    });
    // A trust file that cannot be read was reported above, and counts as empty.
    let remembered = trust_store.instructions(&project).unwrap_or_default();
    merge_sources(places, project, trust, choices, also).map(|mut loaded| {
        notices.append(&mut loaded.notices);
        LoadedConfig {
            notices,
            instructions: choices.instructions.or(remembered),
            ..loaded
        }
    })
}

/// Does what [`load`] does with the given trust state; shows what trust would change.
pub fn load_with_trust(
    places: &UserDirs,
    project: ProjectFiles,
    trust: TrustState,
    choices: &ConfigFlags,
) -> Result<LoadedConfig, ConfigProblems> {
    merge_sources(places, project, trust, choices, |_| Vec::new())
}

fn merge_sources(
    places: &UserDirs,
    project: ProjectFiles,
    trust: TrustState,
    choices: &ConfigFlags,
    also: impl Fn(&LayeredSettings) -> Vec<ConfigProblem>,
) -> Result<LoadedConfig, ConfigProblems> {
    let mut layers = LayerStack::default();
    layers.add_source(ConfigLayer::Default, &defaults::default_source());
    layers.add_themes(&places.global_themes());
    let global = places.global_config();
    let text = project_files::load_file(&global);
    layers.add_file(ConfigLayer::Global, global, text);
    if let Some(source) = &project.config {
        layers.add_project(trust, source);
    }
    if let Some(file) = &choices.file {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let text = project_files::load_file(file);
        let text = text.and_then(|text| text.ok_or_else(missing)).map(Some);
        layers.add_file(ConfigLayer::File, file.clone(), text);
    }
    for given in &choices.overrides {
        let settings = layers.collect_settings(toml_parser::parse_override(given));
        layers.settings.apply_layer(settings);
    }
    layers
        .notices
        .extend(ignored_prompt_notices(&project, trust));
    let prompts_dir = places.global_prompts();
    let global_prompts =
        project_files::load_markdown(Path::new("/"), &prompts_dir, &mut layers.problems);
    let LayerStack {
        settings,
        mut problems,
        notices,
    } = layers;
    match config_resolver::resolve_config(&settings, &places.home) {
        Ok(config) if problems.is_empty() => {
            let mut notices = notices;
            notices.extend(effective_permissions::EffectivePermissions::ineffective_rules(&config));
            return Ok(LoadedConfig {
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
    Err(ConfigProblems(problems))
}

/// The layers merged so far, and everything to report about them.
#[derive(Default)]
struct LayerStack {
    settings: LayeredSettings,
    problems: Vec<ConfigProblem>,
    notices: Vec<ConfigNotice>,
}

impl LayerStack {
    fn add_source(&mut self, layer: ConfigLayer, source: &ConfigSource) {
        let settings = self.collect_settings(toml_parser::parse_source(layer, source));
        self.settings.apply_layer(settings);
    }

    /// Adds a file, of which there may be no text.
    fn add_file(&mut self, layer: ConfigLayer, file: PathBuf, text: io::Result<Option<String>>) {
        match text {
            Ok(Some(text)) => self.add_source(layer, &ConfigSource { file, text }),
            Ok(None) => {}
            Err(error) => {
                let problem = project_files::unreadable_file_problem(&file, &error);
                self.problems.push(problem);
            }
        }
    }

    fn add_project(&mut self, trust: TrustState, source: &ConfigSource) {
        let parsed = toml_parser::parse_source(ConfigLayer::Project, source);
        let settings = self.collect_settings(parsed);
        let mut notices = self.settings.apply_project_layer(trust, settings);
        notices.sort_by(|a, b| a.place.cmp(&b.place));
        self.notices.extend(notices);
    }

    /// Adds the user's themes from theme files; what the configuration says about a theme takes precedence.
    fn add_themes(&mut self, folder: &Path) {
        let root = Path::new("/");
        let sources = project_files::load_folder(root, folder, "toml", &mut self.problems);
        for source in &sources {
            let settings = self.collect_settings(toml_parser::parse_theme(source));
            self.settings.apply_layer(settings);
        }
    }

    fn collect_settings(&mut self, parsed: toml_parser::SourceParseResult) -> Vec<ConfigSetting> {
        self.problems.extend(parsed.problems);
        self.notices.extend(parsed.notices);
        self.settings.broken.extend(parsed.broken);
        parsed.settings
    }
}

fn ignored_prompt_notices(project: &ProjectFiles, trust: TrustState) -> Vec<ConfigNotice> {
    if trust == TrustState::Trusted {
        return Vec::new();
    }
    let notice = |source: &ConfigSource| ConfigNotice {
        place: ConfigLocation::File(source.file.clone()),
        what: format!(
            "this prompt is ignored {}",
            trust_state::trust_reason(trust)
        ),
        hint: trust_state::trust_hint(trust),
    };
    project.prompts.iter().map(notice).collect()
}

#[cfg(test)]
mod tests;
