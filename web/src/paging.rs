//! Long tables in pages.

use maud::{Markup, html};

/// Links to the pages of a table: first, previous, next, last.
pub(crate) fn pages(rows: usize, of_page: usize, page: usize, address: &dyn Fn(usize) -> String) -> Markup {
    let last = rows.saturating_sub(1) / of_page;
    let link = |text: &str, to: usize| html! { a href=(address(to)) { (text) } };
    html! {
        @if last > 0 {
            nav.pages aria-label="Pages of the table" {
                @if page > 0 { (link("First", 0)) (link("Previous", page.min(last + 1) - 1)) }
                span { "Page " (page.saturating_add(1)) " of " (last + 1) }
                @if page < last { (link("Next", page + 1)) (link("Last", last)) }
            }
        }
    }
}

/// Links from a number to its neighbours, from 1 to the newest.
pub(crate) fn place(number: u32, newest: u32, address: &dyn Fn(u32) -> String) -> Markup {
    html! {
        nav.pages aria-label="Neighbours" {
            @if number > 1 { a href=(address(number - 1)) rel="prev" { "← model " (number - 1) } }
            @if number < newest { a href=(address(number + 1)) rel="next" { "model " (number + 1) " →" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_stay_inside_of_the_table() {
        let links = |rows, page| pages(rows, 10, page, &|page| format!("?page={page}")).into_string();
        assert_eq!(links(10, 0), "");
        assert!(links(11, 0).contains("?page=1") && !links(11, 0).contains("Previous"));
        assert!(links(11, 1).contains("?page=0") && !links(11, 1).contains("Next"));
        for far in [9, usize::MAX] {
            assert!(links(11, far).contains("href=\"?page=1\">Previous"), "{}", links(11, far));
        }
    }
}
