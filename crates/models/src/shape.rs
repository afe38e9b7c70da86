//! The shape of a model in a store.

use go::{Size, SizeError};
use net::Shape;
use store::ModelMetadata;

/// The shape of a published model, on the board of its metadata.
///
/// # Errors
/// A board that does not exist.
pub fn shape_of(metadata: &ModelMetadata) -> Result<Shape, SizeError> {
    Ok(Shape::of_network(Size::new(metadata.size)?, &metadata.network))
}
