//! Checks that no object in a line of JSON has two members with the same name.
//!
//! Numbers and strings are skipped.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns whether a text is JSON and no object in it has two members with the same name.
pub fn has_unique_keys(line: &str) -> bool {
    serde_json::from_str::<UniqueKeyJson>(line).is_ok()
}

struct UniqueKeyJson;

impl<'de> Deserialize<'de> for UniqueKeyJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeyVisitor)
    }
}

struct UniqueKeyVisitor;

impl<'de> Visitor<'de> for UniqueKeyVisitor {
    type Value = UniqueKeyJson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without repeated members")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueKeyJson, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a repeated member"));
            }
            map.next_value::<UniqueKeyJson>()?;
        }
        Ok(UniqueKeyJson)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeyJson, A::Error> {
        while items.next_element::<UniqueKeyJson>()?.is_some() {}
        Ok(UniqueKeyJson)
    }

    fn visit_unit<E>(self) -> Result<UniqueKeyJson, E> {
        Ok(UniqueKeyJson)
    }

    fn visit_bool<E>(self, _: bool) -> Result<UniqueKeyJson, E> {
        Ok(UniqueKeyJson)
    }

    fn visit_u64<E>(self, _: u64) -> Result<UniqueKeyJson, E> {
        Ok(UniqueKeyJson)
    }

    fn visit_i64<E>(self, _: i64) -> Result<UniqueKeyJson, E> {
        Ok(UniqueKeyJson)
    }

    fn visit_f64<E>(self, _: f64) -> Result<UniqueKeyJson, E> {
        Ok(UniqueKeyJson)
    }

    fn visit_str<E>(self, _: &str) -> Result<UniqueKeyJson, E> {
        Ok(UniqueKeyJson)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_member_is_found_however_deep() {
        for line in [
            "null",
            "[1, -2, 3.5, true, \"日本\"]",
            r#"{"a":{"a":1},"b":[{"a":2},{"a":3}]}"#,
        ] {
            assert!(has_unique_keys(line), "{line}");
        }
        for line in [
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"[{"b":{"a":[{"c":1,"c":1}]}}]"#,
            "{",
        ] {
            assert!(!has_unique_keys(line), "{line}");
        }
    }
}
