//! Checks that only the registry of adapters knows which CLIs there are; everything else asks for their traits.

use agent_collab::adapter::{AgentSandbox, adapter_entry};
use agent_collab::config::project_files::ROOT_INSTRUCTIONS;
use agent_collab::config::schema::KEYS;
use agent_collab::domain::adapter_kind::AdapterKind;
use regex::Regex;
use strum::{IntoEnumIterator, VariantNames};

use crate::none;
use crate::sources::{self, Source, line_of};

/// Where kinds are told apart: their definition, their registry, and the adapters. Scripted agents and the demo play
/// certain CLIs.
const MAY_KNOW: [&str; 4] = [
    "src/domain/adapter_kind.rs",
    "src/adapter/",
    "src/scripted",
    "src/cli/demo/",
];

/// Patterns of code that tells adapters apart, and of texts, which are blank in the code.
fn patterns() -> [Vec<Regex>; 2] {
    let names = AdapterKind::VARIANTS.join("|");
    let of_code = [
        r"\bAdapterKind::[A-Z]\w*[a-z]\w*".to_owned(),
        format!(r"\badapter::(?:\{{[^;]*)?\b(?:{names})\b"),
    ];
    let of_texts = [
        format!(r#"[=!]=\s*"(?:{names})""#),
        format!(r#""(?:{names})"\s*=>"#),
    ];
    [of_code, of_texts].map(|group| group.iter().map(|one| Regex::new(one).unwrap()).collect())
}

/// Returns each place in a file that tells adapters apart.
fn kinds_in(source: &Source, patterns: &[Vec<Regex>; 2]) -> Vec<String> {
    if MAY_KNOW.iter().any(|path| source.path.starts_with(path)) {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    for (group, text) in patterns.iter().zip([&source.code, &source.text]) {
        for found in group.iter().flat_map(|pattern| pattern.find_iter(text)) {
            let line = line_of(text, found.start());
            if !source.is_test(line) {
                complaints.push(format!("{}:{}: {}", source.path, line + 1, found.as_str()));
            }
        }
    }
    complaints
}

#[test]
fn only_the_registry_knows_which_adapters_there_are() {
    let patterns = patterns();
    let sources = sources::all().iter();
    let complaints: Vec<String> = sources
        .flat_map(|source| kinds_in(source, &patterns))
        .collect();
    none(
        &complaints,
        "add a field to AdapterTraits (src/adapter/adapter_traits.rs), set it in the traits of each adapter, and read \
         it here with `NamedAdapter::traits` or `adapter_entry(kind).traits`",
    );
}

#[test]
fn the_configuration_says_of_the_adapters_what_their_traits_say() {
    let all = || AdapterKind::iter().map(|kind| adapter_entry(kind).traits);
    let key = KEYS.iter().find(|key| key.path == "safety.contain_agents");
    let help = key.unwrap().help;
    for traits in all() {
        let is_contained = matches!(traits.sandbox, AgentSandbox::AgentCollab);
        assert_eq!(help.contains(traits.cli_name), is_contained, "{help}");
        let is_read = |file: &&str| ROOT_INSTRUCTIONS.contains(file);
        let files = traits.rule_files;
        assert!(files.is_empty() || files.iter().any(is_read), "{files:?}");
    }
    for file in ROOT_INSTRUCTIONS {
        assert!(
            all().any(|traits| traits.rule_files.contains(&file)),
            "{file}"
        );
    }
}

#[test]
fn a_place_that_tells_adapters_apart_is_found() {
    let patterns = patterns();
    let found = |path: &str, text: &str| kinds_in(&sources::parse(path, text).0, &patterns).len();
    let engine = "src/engine/x.rs";
    for text in [
        "match kind { AdapterKind::Codex => 1 }",
        "use crate::adapter::codex::CodexAdapter;",
        "use crate::adapter::{\n    Adapter, claude::ClaudeAdapter};",
        "if name == \"pipe\" {}",
        "match name { \"codex\" => 1 }",
    ] {
        assert_eq!(found(engine, text), 1, "{text}");
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}\n}}");
        assert_eq!(found(engine, &test), 0, "{test}");
        assert_eq!(found("src/adapter/registry.rs", text), 0, "{text}");
    }
    for text in [
        "Choice(AdapterKind::VARIANTS)",
        "use crate::adapter::{AdapterEntry, adapter_entry};",
        "// codex => \"a\"",
    ] {
        assert_eq!(found(engine, text), 0, "{text}");
    }
}
