//! Queries without a run, for tests and the fuzz target of pages.

use axum::extract::Query;
use axum::http::Uri;
use go::Size;

use crate::compare::Choice;
use crate::games_page::Wanted;

/// Reads a query as the pages do that search games and compare runs.
///
/// # Errors
/// Why no games can be searched with it.
///
/// # Panics
/// When the address of a search is that of another one.
pub fn check_query(query: &str) -> Result<(), String> {
    let _runs = Choice::read(Some(query));
    let wanted = read(query)?;
    let size = Size::new(9).expect("9 is a size");
    let search = wanted.search(size).map_err(|error| error.to_string())?;
    let _place = wanted.from();
    // An address may be too long.
    if let Ok(again) = read(&wanted.address()) {
        assert_eq!(again.search(size).expect("a search that was read is read again"), search, "{query}");
    }
    Ok(())
}

fn read(query: &str) -> Result<Wanted, String> {
    let address = format!("/?{query}").parse::<Uri>().map_err(|error| error.to_string())?;
    let read = Query::<Wanted>::try_from_uri(&address).map_err(|error| error.to_string())?;
    Ok(read.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_of_a_search_is_checked() {
        let good = "kind=match&player=a%2Bvisits%3D8&opening=C3%20e5&after=games/7/w-0000000000005&run=a&plot=elo";
        assert_eq!(check_query(good), Ok(()));
        for (bad, reason) in
            [("opening=z99", "no move"), ("model=x", "no number"), ("kind=a&kind=b", "query string"), ("a b", "uri")]
        {
            let error = check_query(bad).unwrap_err();
            assert!(error.contains(reason), "{bad}: {error}");
        }
    }
}
