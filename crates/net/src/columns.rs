//! The columns of a batch: what an example has beside its planes.

/// Makes [`Columns`] of a list, so that each column is named once and keeps its place by its name.
macro_rules! columns {
    ($($(#[$doc:meta])* $column:ident,)*) => {
        /// Something for each column of a batch: its width, its numbers, or a tensor.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub(crate) struct Columns<T> {
            $($(#[$doc])* pub(crate) $column: T,)*
        }

        impl<T> Columns<T> {
            pub(crate) fn each_ref(&self) -> Columns<&T> {
                Columns { $($column: &self.$column,)* }
            }

            pub(crate) fn each_mut(&mut self) -> Columns<&mut T> {
                Columns { $($column: &mut self.$column,)* }
            }

            /// In the order of the list.
            pub(crate) fn map<U>(self, mut change: impl FnMut(T) -> U) -> Columns<U> {
                Columns { $($column: change(self.$column),)* }
            }

            /// In the order of the list, up to the first error.
            pub(crate) fn try_map<U, E>(self, mut change: impl FnMut(T) -> Result<U, E>) -> Result<Columns<U>, E> {
                Ok(Columns { $($column: change(self.$column)?,)* })
            }

            pub(crate) fn zip<U>(self, other: Columns<U>) -> Columns<(T, U)> {
                Columns { $($column: (self.$column, other.$column),)* }
            }
        }
    };
}

columns! {
    /// Target probabilities, one a move.
    policies,
    /// Outcomes for the side to move.
    outcomes,
    /// Root values of the search for the side to move.
    searches,
    /// One a point: 1 the mover's in the end, 0 the opponent's, ½ neutral; empty without the head.
    ownership,
    /// By position: whether that is known, 1 or 0; empty without the head.
    ownership_known,
    /// Margins for the side to move in points, by the side of the board; 0 where unknown.
    scores,
    /// By position: whether that is known, 1 or 0.
    scores_known,
    /// 1 for the opponent's next move, one number a move; zeros where that is not known, empty where it is not
    /// trained.
    opponent_moves,
    /// How much each example counts, above 0.
    weights,
}
