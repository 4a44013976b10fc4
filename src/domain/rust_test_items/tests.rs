//! Tests how Rust files are divided into code and tests, and how the two are put together.

use proptest::prelude::*;

use super::*;

/// Returns the first line of each test item.
fn test_items(source: &str) -> Vec<&str> {
    let items = RustItems::split(source).unwrap();
    let texts = items.test_ranges().into_iter().map(|range| &source[range]);
    texts.map(|text| text.lines().next().unwrap()).collect()
}

#[test]
fn what_is_compiled_for_tests_only_is_a_test() {
    for source in [
        "#[cfg(test)]\nmod tests { fn a() {} }",
        "#[cfg(test)] mod tests;",
        "#[cfg(test)] use a::{b, c};",
        "#[cfg(test)] const A: B = B { c: 1 };",
        "#[cfg(test)] impl A { fn b() {} }",
        "#[cfg(all(test, feature = \"x\"))] fn a() {}",
        "#[cfg(all(unix, any(test,)))] fn a() {}",
        "#[test] fn a() {}",
        "#[test]\n#[should_panic(expected = \"x\")]\nfn a() -> Result<(), E> { Ok(()) }",
        "#[tokio::test(flavor = \"multi_thread\")] async fn a() {}",
        "#[rstest::rstest] fn a() {}",
        "#[cfg(\n    test\n)]\n// why\n#[allow(dead_code)]\nmod tests {}",
        "/// Says it.\n#[cfg(test)] mod tests {}",
        "#[cfg(test)] macro_rules! m { () => {} }",
        "proptest! { #![proptest_config(c())] #[test] fn a(b in 0..3) {} }",
        "proptest::proptest! { #[test] fn a(b in 0..3) {} /** x */ #[test] fn c() {} }",
        "mod tests { #![cfg(test)] fn a() {} }",
        "#[cfg(test)] pub(crate) static A: &str = \"}\";",
        "#[cfg(test)] extern crate a;",
        "#[bench] fn a(b: &mut Bencher) {}",
    ] {
        let expected = source.lines().next().unwrap();
        assert_eq!(
            test_items(&format!("fn x() {{}}\n{source}\nfn y() {{}}\n")),
            [expected],
            "{source}"
        );
    }
}

#[test]
fn what_is_compiled_otherwise_too_is_code() {
    for source in [
        "#[cfg(any(test, feature = \"x\"))] mod a {}",
        "#[cfg(not(test))] fn a() {}",
        "#[cfg(all(not(test), unix))] fn a() {}",
        "#[cfg_attr(test, derive(Debug))] struct A;",
        "#[cfg(feature = \"test\")] fn a() {}",
        "#[cfg(any())] fn a() {}",
        "struct A { #[cfg(test)] b: u8 }",
        "enum A { #[cfg(test)] B }",
        "fn a() { #[cfg(test)] b(); if cfg!(test) {} }",
        "const A: &str = r##\"\n#[cfg(test)]\nmod tests {}\n\"##;",
        "// #[cfg(test)]\nfn a() {}",
        "/* #[test] */ fn a() {}",
        "/// #[cfg(test)] mod tests {}\nfn a() {}",
        "thread_local! { static A: u8 = 1; }",
        "macro_rules! m { () => { #[test] fn a() {} } }",
        "m! { #[test] fn a() {} fn b() {} }",
        "m!(#[cfg(test)]);",
        "#[derive(Debug)] pub struct A<const N: usize = { 3 }>([u8; N]);",
        "impl<T: Fn() -> u8> A<{ 1 + 2 }> for B<T> where T: C {}",
        "pub(in crate::a) const unsafe extern \"C\" fn a() {}",
        "unsafe extern \"C\" { fn a(); }",
        "extern \"C\" fn a() {}",
        "impl !Send for A {}",
        "fn a() -> [u8; { 2 }] { [1, 2] }",
        "type A = [u8; { 3 }];",
        "fn a<T>() where [(); { 1 }]: B, {}",
        "pub macro m($a:ident) { $a }",
        "const _: () = { fn a() {} };",
        "use a::{self, b};",
        "::a::b! { c }",
        "union U { a: u8 }",
        "trait T = A + B;",
    ] {
        let items = RustItems::split(source).unwrap_or_else(|| panic!("{source}"));
        assert!(!items.has_tests(), "{source}");
        let with_test = format!("{source}\n#[test] fn last() {{}}");
        assert_eq!(test_items(&with_test), ["#[test] fn last() {}"], "{source}");
    }
}

#[test]
fn tests_in_modules_and_blocks_are_found() {
    let source = "impl A {\n    fn a() {}\n    #[cfg(test)]\n    fn b() {}\n}\npub mod m {\n    mod n { #[test] fn c() {} }\n    #[cfg(test)] mod far;\n}\n#[cfg(test)] #[path = \"other.rs\"] mod o;\n#[cfg(test)] mod tests;\nmod p;\n";
    assert_eq!(
        test_items(source),
        [
            "#[cfg(test)]",
            "#[test] fn c() {}",
            "#[cfg(test)] mod far;",
            "#[cfg(test)] #[path = \"other.rs\"] mod o;",
            "#[cfg(test)] mod tests;"
        ]
    );
    let whole = "//! Text.\n#![cfg(test)]\nuse a;\nfn b() {}\n";
    assert!(RustItems::split(whole).unwrap().has_tests());
    assert!(
        RustItems::split("#!/usr/bin/env cargo\n#[test] fn a() {}")
            .unwrap()
            .has_tests()
    );
    assert!(
        RustItems::split("\u{feff}#![allow(a)]\n#[test] fn a() {}")
            .unwrap()
            .has_tests()
    );
}

#[test]
fn what_is_no_rust_is_not_divided() {
    for source in [
        "fn a() {",
        "fn a(",
        "def f():\n    pass",
        "\"open",
        "fn",
        "pub",
        "#[test]\nfn a()",
        "a b c",
    ] {
        assert!(RustItems::split(source).is_none(), "{source}");
        assert!(with_tests_of(source, "").is_none(), "{source}");
        assert!(
            code_differs(source, "") && tests_differ(source, ""),
            "{source}"
        );
        assert!(!code_differs(source, source), "{source}");
    }
    assert!(RustItems::split("").is_some_and(|items| !items.has_tests()));
}

/// Checks what becomes of a file's code with the tests of another one.
fn check(code: &str, tests: &str, expected: Option<&str>) {
    let merged = with_tests_of(code, tests);
    assert_eq!(
        merged.as_deref(),
        expected,
        "{code:?} with the tests of {tests:?}"
    );
    if let Some(merged) = merged {
        assert!(!code_differs(&merged, code), "{merged:?}");
        assert!(!tests_differ(&merged, tests), "{merged:?}");
    }
}

#[test]
fn tests_are_put_in_the_place_of_tests() {
    check(
        "// A\nfn a() { 1 }\n\n// B\n#[cfg(test)]\nmod tests { old }\n\n// C\nfn c() {}\n",
        "fn a() { 2 }\n#[cfg(test)]\nmod tests {\n    new // D\n}",
        Some(
            "// A\nfn a() { 1 }\n\n// B\n#[cfg(test)]\nmod tests {\n    new // D\n}\n\n// C\nfn c() {}\n",
        ),
    );
    check(
        "fn a() {}\n",
        "#[test] fn t() {}",
        Some("fn a() {}\n\n#[test] fn t() {}\n"),
    );
    check(
        "fn a() {} // end",
        "#[test] fn t() {}",
        Some("fn a() {} // end\n#[test] fn t() {}\n"),
    );
    check(
        "fn a() {}\n#[test] fn t() {}\n",
        "fn b() {}",
        Some("fn a() {}\n\n"),
    );
    check(
        "#[test] fn t() {}\nfn a() {}\n",
        "#[test] fn u() {}\n#[test] fn v() {}\n",
        Some("#[test] fn u() {}\n\n#[test] fn v() {}\nfn a() {}\n"),
    );
    check(
        "#[test] fn t() {}\nfn a() {}\n#[test] fn u() {}\n",
        "#[test] fn w() {}",
        Some("#[test] fn w() {}\nfn a() {}\n\n"),
    );
    check("", "", Some(""));
    check(
        "#![cfg(test)] fn a() {}",
        "#![cfg(test)] fn b() {}",
        Some("#![cfg(test)] fn b() {}"),
    );
    check("fn a() {}", "#![cfg(test)] fn b() {}", None);
}

#[test]
fn tests_go_to_their_modules_and_blocks() {
    check(
        "mod m {\n    fn a() { 1 }\n    #[test] fn t() {}\n}\nimpl A<u8> {\n    fn b() {}\n}\n",
        "impl A<u8> {\n    #[cfg(test)] fn c() {}\n}\nmod m { #[test] fn u() {} }",
        Some(
            "mod m {\n    fn a() { 1 }\n    #[test] fn u() {}\n}\nimpl A<u8> {\n    fn b() {}\n\n#[cfg(test)] fn c() {}\n}\n",
        ),
    );
    // Tests of a module that the other version does not have go with it.
    check(
        "mod m { #[test] fn t() {} }\n",
        "fn a() {}\n",
        Some("mod m {  }\n"),
    );
    check("fn a() {}\n", "mod m { #[test] fn t() {} }\n", None);
    check("mod m;\n", "mod m { #[test] fn t() {} }\n", None);
    check(
        "mod m {}\n",
        "mod m { mod n { #[test] fn t() {} } }\n",
        None,
    );
    // Two blocks with the same head are told apart by their order.
    check(
        "impl A { fn a() {} }\nimpl A { fn b() {} }\n",
        "impl A {}\nimpl A { #[test] fn t() {} }",
        Some("impl A { fn a() {} }\nimpl A { fn b() {} \n#[test] fn t() {}\n}\n"),
    );
    check(
        "impl A { fn a() {} }\nimpl A { fn b() {} }\n",
        "impl A { #[test] fn t() {} }",
        None,
    );
    check("impl A<B> {}", "impl A<C> { #[test] fn t() {} }", None);
}

#[test]
fn macros_keep_their_order() {
    let one = "#[cfg(test)] macro_rules! m { () => { 1 } }\nfn a() {}\n#[cfg(test)] mod tests { m!(); }\n";
    let two = one.replace("{ 1 }", "{ 2 }").replace("fn a", "fn b");
    check(one, &two, Some(&one.replace("{ 1 }", "{ 2 }")));
    check("fn a() {}\n", one, None);
    check(
        "fn a() {}\n#[cfg(test)] mod tests {}\n",
        "#[cfg(test)] #[macro_use] mod m;\n#[cfg(test)] mod tests {}\n",
        None,
    );
}

#[test]
fn line_ends_and_everything_else_stay_as_they_are() {
    let code = "//! T\u{e9}xt\r\nfn a() {\r\n\tlet s = \"#[cfg(test)]\";\r\n}  \r\n\r\n#[cfg(test)]\r\nmod tests {\r\n}\r\n\r\n/* \u{754c} */";
    let tests = "#[cfg(test)]\nmod tests {\n    b\n}\n#[test] fn c() {}\n";
    check(
        code,
        tests,
        Some(&code.replace(
            "#[cfg(test)]\r\nmod tests {\r\n}",
            "#[cfg(test)]\nmod tests {\n    b\n}\r\n\r\n#[test] fn c() {}",
        )),
    );
    let raw = "const A: &str = r#\"\n#[cfg(test)]\nmod tests { }\n\"#;\n#[test] fn t() { r##\"}\"# }\"##; '}'; b'{'; \"\\\"}\"; }\n";
    check(
        raw,
        "#[test] fn u() {}",
        Some(&format!(
            "{}\n",
            raw.replace(
                &raw[raw.find("#[test] fn t").unwrap()..],
                "#[test] fn u() {}"
            )
        )),
    );
}

#[test]
fn only_tokens_make_a_difference() {
    let old = "/// A.\nfn a() { 1 }\n#[cfg(test)]\nmod tests { fn t() { 1 } }\n";
    for (new, is_code, is_tests) in [
        (old.to_owned(), false, false),
        (old.replace("{ 1 }\n#", "{ 1 }\n// why\n\n#"), false, false),
        (old.replace("fn a() { 1 }", "fn a() { 2 }"), true, false),
        (old.replace("/// A.", "/// B."), true, false),
        (old.replace("fn t() { 1 }", "fn t() { 2 }"), false, true),
        (old.replace("#[cfg(test)]\n", ""), true, true),
        (format!("{old}#[test] fn u() {{}}\n"), false, true),
        (
            old.replace("fn t() { 1 }", "/* x */ fn t( ) {\n1 }"),
            false,
            false,
        ),
    ] {
        assert_eq!(
            (code_differs(old, &new), tests_differ(old, &new)),
            (is_code, is_tests),
            "{new}"
        );
    }
    // A test in another module is another test.
    assert!(tests_differ(
        "mod a { #[test] fn t() {} } mod b {}",
        "mod a {} mod b { #[test] fn t() {} }"
    ));
}

#[test]
fn files_of_any_depth_are_handled() {
    let deep = |open: &str, close: &str, n: usize| format!("{}{}", open.repeat(n), close.repeat(n));
    let body = format!(
        "fn a() {{ {} }}\n#[test] fn t() {{}}",
        deep("(", ")", 10_000)
    );
    assert!(RustItems::split(&body).unwrap().has_tests());
    let signs = format!("fn a() {{ {}1 }}\n#[test] fn t() {{}}", "!".repeat(10_000));
    assert!(RustItems::split(&signs).unwrap().has_tests());
    assert!(RustItems::split(&deep("mod a {", "}", 10_000)).is_none());
    assert!(RustItems::split(&deep("mod a {", "}", 20)).is_some());
    let attribute = format!(
        "#[cfg({}test{})] fn a() {{}}",
        "all(".repeat(10_000),
        ")".repeat(10_000)
    );
    assert!(!RustItems::split(&attribute).unwrap().has_tests());
    let header = format!("impl A<[u8; {}]> {{}}", deep("(", ")", 10_000));
    assert!(RustItems::split(&header).is_some());
    let macros = format!("m! {{ {} }}", deep("m! {", "}", 10_000));
    assert!(RustItems::split(&macros).is_some_and(|items| !items.has_tests()));
}

#[test]
fn files_of_this_program_come_out_as_they_went_in() {
    for source in [
        include_str!("tests.rs"),
        include_str!("item_parser.rs"),
        include_str!("../plan.rs"),
        include_str!("../run.rs"),
        include_str!("../event.rs"),
        include_str!("../../permission/wildcard.rs"),
        include_str!("../../text/cleaner.rs"),
        include_str!("../../tui/keymap.rs"),
        include_str!("../../lib.rs"),
    ] {
        assert_eq!(with_tests_of(source, source).as_deref(), Some(source));
    }
}

const CODE_ITEMS: &[&str] = &[
    "fn a() { 1 }",
    "/// Text.\npub struct A { b: u8 }",
    "// #[cfg(test)]",
    "const C: &str = \"#[cfg(test)] mod tests {}\";",
    "use a::{b, c};",
    "m! { x }",
];
const TEST_ITEMS: &[&str] = &[
    "#[test]\nfn t() {}",
    "#[cfg(test)]\nmod tests {\n    // x\n    fn u() {}\n}",
    "#[cfg(test)] use x::y;",
    "/** Text. */\n#[cfg(all(test, unix))] const T: u8 = { 1 };",
];

fn any_file() -> impl Strategy<Value = String> {
    let item = prop::sample::select([CODE_ITEMS, TEST_ITEMS].concat());
    let items = proptest::collection::vec(item, 0..5);
    (
        items.clone(),
        items,
        prop::sample::select(vec!["\n", "\r\n"]),
    )
        .prop_map(|(outer, inner, newline)| {
            let text = format!("{}\nmod m {{\n{}\n}}\n", outer.join("\n"), inner.join("\n"));
            text.replace('\n', newline)
        })
}

proptest! {
    #[test]
    fn code_and_tests_of_two_files_are_put_together(code in any_file(), tests in any_file()) {
        let merged = with_tests_of(&code, &tests).unwrap();
        prop_assert!(!code_differs(&merged, &code));
        prop_assert!(!tests_differ(&merged, &tests));
        prop_assert!(with_tests_of(&merged, &code).is_some());
    }

    #[test]
    fn every_text_is_handled(code in "[a-z#!\\[\\](){};:<>'\"/* \u{e9}\n-]{0,40}", tests in "(#\\[(test|cfg\\(test\\))\\]|fn a|mod m|\\{|\\}|\\(\\)|;| |\n){0,12}") {
        for (one, other) in [(&code, &tests), (&tests, &code)] {
            if let Some(merged) = with_tests_of(one, other) {
                prop_assert!(!code_differs(&merged, one));
            }
        }
    }
}
