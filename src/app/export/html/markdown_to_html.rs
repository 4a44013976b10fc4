//! Renders Markdown as HTML.
//!
//! Accepts any text, and none of it becomes markup of its own: HTML in it is shown as text, an image is its
//! description, and a link is its text with the address behind it. An agent wrote the text, so that no click on
//! the page may lead anywhere.

use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use super::escape_html;

/// Renders Markdown as HTML; every line end in the text is one on the page.
pub fn to_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS);
    let mut links = Vec::new();
    let events = parser.filter_map(|event| to_inert_event(event, &mut links));
    pulldown_cmark::html::push_html(&mut out, events);
    out
}

/// Renders one line without a paragraph around it.
pub fn render_inline(line: &str) -> String {
    // Behind a punctuation mark nothing starts a heading, a list or any other block.
    let html = to_html(&format!(":{line}"));
    let inner = html.trim_end().strip_prefix("<p>:");
    let inner = inner.and_then(|html| html.strip_suffix("</p>"));
    inner.map_or_else(|| escape_html(line), str::to_owned)
}

/// Replaces what would load something, lead elsewhere or be HTML; `links` contains the address of each open link, where
/// its text is not the address itself.
fn to_inert_event<'a>(event: Event<'a>, links: &mut Vec<Option<CowStr<'a>>>) -> Option<Event<'a>> {
    Some(match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::HtmlBlock | Tag::CodeBlock(_)) => {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented))
        }
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::CodeBlock),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => return None,
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            ..
        }) => {
            let is_address = matches!(link_type, LinkType::Email | LinkType::Autolink);
            links.push((!is_address && !dest_url.is_empty()).then_some(dest_url));
            return None;
        }
        Event::End(TagEnd::Link) => Event::Text(format!(" ({})", links.pop()??).into()),
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: heading_below_page(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => {
            Event::End(TagEnd::Heading(heading_below_page(level)))
        }
        Event::SoftBreak => Event::HardBreak,
        Event::TaskListMarker(is_done) => Event::Text(if is_done { "☑ " } else { "☐ " }.into()),
        event => event,
    })
}

/// Returns the level of a heading of a text; the page itself uses levels 1 and 2.
fn heading_below_page(level: HeadingLevel) -> HeadingLevel {
    HeadingLevel::try_from(level as usize + 2).unwrap_or(HeadingLevel::H6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        assert_eq!(to_html(text), wanted, "{text}");
    }

    #[test]
    fn markdown_has_its_form_and_all_else_is_text() {
        check(
            "# T <b>\n\na `x<y` **b**\nc\n- [ ] d",
            "<h3>T &lt;b&gt;</h3>\n<p>a <code>x&lt;y</code> <strong>b</strong><br />\nc</p>\n<ul>\n<li>☐ d</li>\n</ul>\n",
        );
        check(
            "1. [x] done `open\n",
            "<ol>\n<li>☑ done `open</li>\n</ol>\n",
        );
        check(
            "```rs\n<script>&\n```\n",
            "<pre><code>&lt;script&gt;&amp;\n</code></pre>\n",
        );
        check(
            "> # b\n>> c\n>\n> ```\n> > d\n> ```\n\ne",
            "<blockquote>\n<h3>b</h3>\n<blockquote>\n<p>c</p>\n</blockquote>\n<pre><code>&gt; d\n</code></pre>\n\
             </blockquote>\n<p>e</p>\n",
        );
        check("2 * 3 ** 4", "<p>2 * 3 ** 4</p>\n");
    }

    #[test]
    fn html_images_and_links_are_text() {
        check(
            "a <img src=x onerror=alert(1)> ![*b*](http://c/d.png)",
            "<p>a &lt;img src=x onerror=alert(1)&gt; <em>b</em></p>\n",
        );
        check(
            "<div>\n<script>a</script>\n</div>",
            "<pre><code>&lt;div&gt;\n&lt;script&gt;a&lt;/script&gt;\n&lt;/div&gt;</code></pre>\n",
        );
        check(
            "[a](javascript:alert(1)) [b](data:text/html,c) [d](/etc/passwd) [![e](f)](https://g \"<h>\")",
            "<p>a (javascript:alert(1)) b (data:text/html,c) d (/etc/passwd) e (https://g)</p>\n",
        );
        check(
            "<a@b.de> <HTTP://c> <javascript:d>",
            "<p>a@b.de HTTP://c javascript:d</p>\n",
        );
    }

    #[test]
    fn one_line_is_never_a_block() {
        assert_eq!(render_inline("# a **b**"), "# a <strong>b</strong>");
        assert_eq!(render_inline("1. <p> `c`"), "1. &lt;p&gt; <code>c</code>");
        assert_eq!(render_inline("**\"d\"**"), "<strong>\"d\"</strong>");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(128))]
        #[test]
        fn no_text_becomes_markup(text in "([<>&\"'`*#|!()\\[\\] \\n-]|script|onload=|\\[ \\]|\\]\\(|data:|é){0,60}") {
            let page = to_html(&text) + &render_inline(&text);
            let known = [
                "p", "br /", "hr /", "code", "em", "strong", "pre", "blockquote", "ul", "li", "table", "thead", "tbody",
                "tr", "th", "td", "h3", "h4", "h5", "h6",
            ];
            for tag in page.split('<').skip(1) {
                let name = tag.split('>').next().unwrap_or_default();
                let name = name.strip_prefix('/').unwrap_or(name);
                proptest::prop_assert!(known.contains(&name), "{name} in {page}");
            }
        }
    }
}
