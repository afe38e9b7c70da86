//! Tables of results of other programs, as `evaluator rate` reads them.
#![no_main]

use evaluator::rate::{self, PriorChoice, Request};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // An error is a result; a table that is read has every game once, and its report can be written.
    let Ok(results) = rate::read(text) else { return };
    assert!(results.repeated < text.lines().count());
    let request = Request { prior: PriorChoice::Gauss(400.0), ..Request::default() };
    if let Ok(report) = rate::rate(text, &request) {
        let _csv = report.to_csv();
        let _table = report.to_table();
    }
});
