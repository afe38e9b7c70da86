//! A model under any name.

use std::sync::Arc;

use config::RunName;
use inference::{Found, ModelProvider, Opened, ProviderError};
use net::{PlaneEvaluator, Shape};
use remote::Digest;

/// A network of some shape, under the name of any model.
pub(super) struct OneNetwork {
    pub(super) shape: Shape,
    pub(super) open: Arc<dyn Fn() -> Box<dyn PlaneEvaluator> + Send + Sync>,
}

impl ModelProvider for OneNetwork {
    fn find(&self, _: &RunName, _: u32) -> Result<Found, ProviderError> {
        let (shape, open) = (self.shape, Arc::clone(&self.open));
        let opened = move || Ok(Opened { shape, devices: 1, open: Box::new(move |_| open()) });
        Ok(Found { digest: digest(), bytes: 0, open: Box::new(opened) })
    }
}

pub(super) fn digest() -> Digest {
    Digest::of(b"bench")
}
