//! Parses the TOML tables that are compiled in: what is known of rules and programs, as data beside the code.

use serde::de::DeserializeOwned;

/// Parses a table. A broken one does not pass the tests, which read every row of each.
#[expect(
    clippy::expect_used,
    reason = "the tables are constants and every one is parsed by the tests"
)]
pub fn parse_embedded_table<T: DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("a compiled-in table is valid")
}
