//! Makes names for branches and folders from a goal's title.
//!
//! Whether a name is already used is checked elsewhere.

use sha2::{Digest, Sha256};

/// The longest slug, in characters.
pub const SLUG_LIMIT: usize = 40;

/// Makes a slug: lower case ASCII letters, digits and single hyphens, with no hyphen at the ends, 1 to [`SLUG_LIMIT`]
/// characters long, so it is a valid component of a git ref.
///
/// A title that is mostly not ASCII gives `run-` and eight hex digits of its hash.
pub fn slugify(title: &str) -> String {
    let foreign = title
        .chars()
        .filter(|c| c.is_alphanumeric() && !c.is_ascii())
        .count();
    let native = title.chars().filter(char::is_ascii_alphanumeric).count();
    let words = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words {
        if !slug.is_empty() && slug.len() + 1 + word.len() > SLUG_LIMIT {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(
            word.chars()
                .take(SLUG_LIMIT)
                .map(|c| c.to_ascii_lowercase()),
        );
    }
    if slug.is_empty() || foreign > native {
        slug_from_hash(title)
    } else {
        slug
    }
}

fn slug_from_hash(title: &str) -> String {
    let hash = Sha256::digest(title.trim().as_bytes());
    let hex: String = hash
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("run-{hex}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(title: &str, expected: &str) {
        assert_eq!(slugify(title), expected);
    }

    #[test]
    fn words_are_joined_by_hyphens() {
        check(
            "Add a --verbose flag (to `ls`)!",
            "add-a-verbose-flag-to-ls",
        );
        check("  HEAD.lock/../x  ", "head-lock-x");
        check("修复 the parser bug", "the-parser-bug");
    }

    #[test]
    fn long_titles_are_cut_at_a_word() {
        check(
            "Rewrite the whole configuration loader and its tests",
            "rewrite-the-whole-configuration-loader",
        );
        check(&"x".repeat(60), &"x".repeat(40));
    }

    #[test]
    fn titles_without_ascii_have_a_stable_name() {
        check("修复解析器的错误", &slugify(" 修复解析器的错误\n"));
        assert!(slugify("修复解析器").starts_with("run-") && slugify("修复解析器").len() == 12);
        assert_ne!(slugify("修复解析器"), slugify("修复解析"));
        assert_eq!(slugify("").len(), 12);
    }

    proptest! {
        #[test]
        fn a_slug_is_a_valid_ref_component(title in any::<String>()) {
            let slug = slugify(&title);
            prop_assert!((1..=SLUG_LIMIT).contains(&slug.len()));
            prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
        }
    }
}
