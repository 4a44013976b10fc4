//! The table of layers: which layer may use which others, which crates, and how much of the standard library.
//!
//! The table is data; ARCHITECTURE.md prints it and `arrows` checks every file against it. To allow a new arrow or
//! crate, add a line here and give the reason in the commit.

use std::collections::BTreeSet;

use regex::Regex;

use crate::{read, sources};

/// One top-level module.
pub struct Layer {
    pub name: &'static str,
    /// The other modules that it may use.
    pub uses: &'static [&'static str],
    /// The crates that its code, tests apart, may use.
    pub crates: Crates,
    /// The part of the standard library that its code may use, apart from tests.
    pub std: Std,
}

/// The crates that a layer may use.
pub enum Crates {
    /// These and no others.
    Only(&'static [&'static str]),
    /// All that the package depends on but these.
    AllBut(&'static [&'static str]),
}

/// The part of the standard library that a layer may use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Std {
    /// No files, environment, processes, network, threads or clock.
    Pure,
    /// Everything.
    All,
}

const PURE: Crates = Crates::Only(&[
    "aho_corasick",
    "diffy",
    "memchr",
    "proc_macro2",
    "regex",
    "regex_automata",
    "serde",
    "serde_json",
    "sha2",
    "similar",
    "strum",
    "thiserror",
    // Tables that are compiled in; a file is for others to read.
    "toml",
    "unicode_segmentation",
    "unicode_width",
]);
/// A screen belongs to `tui` and `app`, a command line to `cli` and `app`.
const NO_FRONT: Crates = Crates::AllBut(&[
    "clap",
    "clap_complete",
    "clap_mangen",
    "crossterm",
    "ratatui",
    "ratatui_textarea",
]);
const ABSTRACT: &[&str] = &["domain", "permission", "text"];

/// All layers from the inside out.
pub const LAYERS: &[Layer] = &[
    Layer {
        name: "text",
        uses: &[],
        crates: PURE,
        std: Std::Pure,
    },
    Layer {
        name: "permission",
        uses: &["text"],
        crates: PURE,
        std: Std::Pure,
    },
    Layer {
        name: "domain",
        uses: &["permission", "text"],
        crates: PURE,
        std: Std::Pure,
    },
    Layer {
        name: "adapter",
        uses: ABSTRACT,
        // uuid only formats ids from bytes that it is handed.
        crates: Crates::Only(&[
            "serde",
            "serde_json",
            "sha2",
            "similar",
            "strum",
            "thiserror",
            "uuid",
        ]),
        std: Std::Pure,
    },
    Layer {
        name: "process",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "store",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "config",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "prompts",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        // rmcp speaks the protocol, schemars makes the schemas of the argument types.
        name: "mcp",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "scripted",
        uses: ABSTRACT,
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "engine",
        uses: &[
            "domain",
            "permission",
            "text",
            "adapter",
            "process",
            "store",
            "config",
            "mcp",
            "prompts",
        ],
        crates: NO_FRONT,
        std: Std::All,
    },
    Layer {
        name: "tui",
        uses: ABSTRACT,
        // nucleo_matcher finds by a few letters what is offered: files, commands, actions.
        crates: Crates::Only(&[
            "nucleo_matcher",
            "ratatui",
            "ratatui_textarea",
            "similar",
            "unicode_segmentation",
            "unicode_width",
        ]),
        std: Std::Pure,
    },
    Layer {
        name: "app",
        uses: &[
            "domain",
            "permission",
            "text",
            "adapter",
            "process",
            "store",
            "config",
            "mcp",
            "prompts",
            "engine",
            "tui",
        ],
        crates: Crates::AllBut(&[]),
        std: Std::All,
    },
    Layer {
        name: "cli",
        uses: &[
            "domain",
            "permission",
            "text",
            "adapter",
            "process",
            "store",
            "config",
            "mcp",
            "prompts",
            "scripted",
            "engine",
            "app",
        ],
        crates: Crates::AllBut(&[]),
        std: Std::All,
    },
    Layer {
        name: "main",
        uses: &["cli"],
        crates: Crates::AllBut(&[]),
        std: Std::All,
    },
];

/// The layer table as ARCHITECTURE.md prints it.
pub fn as_markdown() -> String {
    let list = |names: &[&str]| match names {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    let mut lines = vec![
        "| layer | may use | crates | standard library |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    for layer in LAYERS {
        let crates = match &layer.crates {
            Crates::Only(names) => format!("only {}", names.join(", ")),
            Crates::AllBut([]) => "all".to_owned(),
            Crates::AllBut(names) => format!("all but {}", names.join(", ")),
        };
        let std = match layer.std {
            Std::Pure => "no files, environment, processes, threads, clock",
            Std::All => "all",
        };
        lines.push(format!(
            "| {} | {} | {crates} | {std} |",
            layer.name,
            list(layer.uses)
        ));
    }
    lines.join("\n")
}

#[test]
fn every_module_of_the_library_is_a_layer() {
    let lib = sources::blank(&read("src/lib.rs"));
    let declared: Vec<String> = Regex::new(r"\bmod (\w+);")
        .unwrap()
        .captures_iter(&lib)
        .map(|captures| captures[1].to_owned())
        .collect();
    let of_table = LAYERS
        .iter()
        .map(|layer| layer.name)
        .filter(|name| *name != "main");
    let (declared, of_table): (BTreeSet<&str>, BTreeSet<&str>) = (
        declared.iter().map(String::as_str).collect(),
        of_table.collect(),
    );
    assert_eq!(
        declared, of_table,
        "src/lib.rs and the table in tests/it/layers.rs differ"
    );
}

#[test]
fn a_layer_uses_only_layers_further_in() {
    for (at, layer) in LAYERS.iter().enumerate() {
        for used in layer.uses {
            let inner = LAYERS[..at].iter().any(|inner| inner.name == *used);
            assert!(inner, "{} uses {used}, which is not further in", layer.name);
        }
    }
}
