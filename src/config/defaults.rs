//! Embeds the shipped `config.toml` with the default of every key.
//!
//! A test writes the file from the list of keys, so no default is defined here.

use std::path::PathBuf;

use super::config_key::ConfigKey;
use super::schema::KEYS;
use super::toml_parser::ConfigSource;

/// The name under which the shipped configuration is shown.
pub(super) const DEFAULTS_NAME: &str = "the shipped config.toml";

/// Returns the embedded default configuration.
pub fn default_source() -> ConfigSource {
    ConfigSource {
        file: PathBuf::from(DEFAULTS_NAME),
        text: include_str!("../../config.toml").to_owned(),
    }
}

/// Returns all tables in the order of the list, each with its keys.
pub(super) fn key_tables() -> Vec<(String, Vec<&'static ConfigKey>)> {
    let mut tables: Vec<(String, Vec<&'static ConfigKey>)> = Vec::new();
    for key in KEYS {
        let table = key
            .path
            .rsplit_once('.')
            .map_or("", |(table, _)| table)
            .to_owned();
        match tables.last_mut().filter(|(last, _)| *last == table) {
            Some((_, keys)) => keys.push(key),
            None => tables.push((table, vec![key])),
        }
    }
    tables
}
