//! The result of a look for a file that need not be there, and may be damaged.

/// What was found of a file.
#[derive(Debug)]
pub(crate) enum Lookup<T> {
    /// There is no such file.
    Gone,
    /// There is one, and it says nothing to this version.
    Unreadable,
    Found(T),
}

impl<T> Lookup<T> {
    /// The content, where it is known.
    pub(crate) fn found(self) -> Option<T> {
        match self {
            Lookup::Found(content) => Some(content),
            Lookup::Gone | Lookup::Unreadable => None,
        }
    }
}

impl<T> From<Option<T>> for Lookup<T> {
    fn from(found: Option<T>) -> Lookup<T> {
        found.map_or(Lookup::Gone, Lookup::Found)
    }
}
