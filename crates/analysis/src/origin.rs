//! What searches come from.

/// What the searches of a file come from. A file is continued only by searches with the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The model.
    pub model: &'a str,
    /// The SHA-256 of its weights in hexadecimal digits; `None` for a built-in model, which has none.
    pub weights: Option<&'a str>,
    /// What rounds evaluations: symmetry and steps of the evaluation cache, as `canonical 2048`; `None` without a cache.
    pub evaluations: Option<&'a str>,
}

impl<'a> Origin<'a> {
    /// A model without weights and without a cache.
    pub fn of(model: &'a str) -> Origin<'a> {
        Origin { model, ..Origin::default() }
    }
}
