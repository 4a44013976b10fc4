//! Counts of things in words. Refuses to know any language but the one of this program.

/// So many of something: `1 step`, `3 steps`.
pub fn n_of(n: usize, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_plural() {
        let told: Vec<String> = (0..3).map(|n| n_of(n, "step")).collect();
        assert_eq!(told, ["0 steps", "1 step", "2 steps"]);
    }
}
