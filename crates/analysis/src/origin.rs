//! What searches come from.

use std::path::Path;

/// What the searches of a file come from. A file is continued only by searches with the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The model.
    pub model: &'a str,
    /// The SHA-256 of its weights in hexadecimal digits; `None` for a built-in model, which has none.
    pub weights: Option<&'a str>,
    /// What rounds evaluations: symmetry and steps of the evaluation cache, as `canonical 2048`; `None` without a
    /// cache.
    pub evaluations: Option<&'a str>,
}

impl<'a> Origin<'a> {
    /// A model without weights and without a cache.
    pub fn of(model: &'a str) -> Origin<'a> {
        Origin { model, ..Origin::default() }
    }

    /// Whether both are of one model: of the same name, or of files of one name with the same weights in whatever
    /// folders. The name of a file of weights is its path, as typed.
    pub(crate) fn is_of_model(&self, other: &Origin<'_>) -> bool {
        let [own_file, other_file] = [self.model, other.model].map(|model| Path::new(model).file_name());
        let same_file = self.weights.is_some() && self.weights == other.weights && own_file == other_file;
        self.model == other.model || same_file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_weights_are_one_model_with_their_name_and_digest_alone() {
        let of = |model, weights| Origin { model, weights, evaluations: None };
        let first = of("a/net.safetensors", Some("ab"));
        assert!(first.is_of_model(&of("./net.safetensors", Some("ab"))));
        assert!(first.is_of_model(&of("net.safetensors", Some("ab"))));
        assert!(!first.is_of_model(&of("net.safetensors", Some("cd"))));
        assert!(!first.is_of_model(&of("a/other.safetensors", Some("ab"))));
        assert!(!of("a/uniform", None).is_of_model(&of("uniform", None)));
        assert!(first.is_of_model(&of("a/net.safetensors", Some("cd"))), "weights are compared by themselves");
    }
}
