//! Where networks come from.

use config::{ModelRef, RunName};
use models::{ModelError, ModelName, Models};
use net::{Devices, Model, NetError, Precision, Shape, Weights};
use remote::Digest;
use store::StoreError;

use crate::network::Opened;

/// Bytes that an activation and its copies take on a GPU at most: f32, in and out of a layer, twice for what is in
/// flight.
#[cfg(feature = "torch")]
const ACTIVATION_BYTES: u64 = 16;

/// Where networks come from: a store, or something made up for a benchmark.
pub trait ModelProvider: Send + Sync {
    /// Finds a model and says what it takes.
    ///
    /// # Errors
    /// The model cannot be had.
    fn find(&self, run: &RunName, number: u32) -> Result<Found, ProviderError>;

    /// The digest of its weights at present, which are not read; `None` where models of a name are never replaced.
    ///
    /// # Errors
    /// The model cannot be had.
    fn digest(&self, _run: &RunName, _number: u32) -> Result<Option<Digest>, ProviderError> {
        Ok(None)
    }
}

/// A model that was found.
pub struct Found {
    /// The digest of its weights.
    pub digest: Digest,
    /// Memory that it takes on the device, estimated.
    pub bytes: u64,
    /// Opens it.
    pub open: Box<dyn FnOnce() -> Result<Opened, ProviderError> + Send>,
}

/// A model that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// It is not in the store, or its weights are deleted.
    #[error("{0}")]
    Missing(String),
    /// Its weights cannot be used.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The store failed.
    #[error("{0}")]
    Store(String),
}

/// The models of a store.
pub struct StoreProvider {
    models: Models,
    devices: Devices,
    batch: usize,
    threads: usize,
}

impl StoreProvider {
    /// The models of a store, for devices with so many threads that evaluate `batch` positions at a time.
    pub fn new(models: Models, devices: impl Into<Devices>, batch: usize, threads: usize) -> StoreProvider {
        StoreProvider { models, devices: devices.into(), batch, threads }
    }

    /// Weights as read, and as made ready on each device, and the activations of all batches in flight.
    fn bytes(&self, weights: &[u8], shape: Shape) -> u64 {
        (1 + self.devices.all().len() as u64) * weights.len() as u64 + self.activations(shape)
    }

    fn activations(&self, shape: Shape) -> u64 {
        #[cfg(feature = "torch")]
        if self.devices.first().is_gpu() {
            // Two batches, of which the second begins when the first has ended: they share memory.
            let positions = self.devices.all().len() * net::largest_batch(self.batch);
            return ACTIVATION_BYTES * (positions * shape.size.area() * shape.filters) as u64;
        }
        // A CPU evaluates a batch in groups of a few positions.
        self.threads as u64 * shape.cpu_session_bytes()
    }
}

impl ModelProvider for StoreProvider {
    fn find(&self, run: &RunName, number: u32) -> Result<Found, ProviderError> {
        let (_, bytes) = self.models.published(&run.model(number))?;
        let weights = Weights::from_bytes(&bytes)?;
        let shape = weights.shape();
        let (devices, batch) = (self.devices.clone(), self.batch);
        let open = move || {
            let model = Model::new(&weights, devices, Precision::Auto, batch)?;
            let (shape, devices) = (model.shape(), model.devices());
            Ok(Opened { shape, devices, open: Box::new(move |device| model.session_on(device)) })
        };
        Ok(Found { digest: Digest::of(&bytes), bytes: self.bytes(&bytes, shape), open: Box::new(open) })
    }

    fn digest(&self, run: &RunName, number: u32) -> Result<Option<Digest>, ProviderError> {
        let name = ModelName::Model(ModelRef::Exact(run.model(number)));
        Ok(self.models.version(&name)?.and_then(|sha256| Digest::from_hex(&sha256)))
    }
}

impl From<ModelError> for ProviderError {
    fn from(error: ModelError) -> ProviderError {
        match error {
            ModelError::Store(StoreError::NotFound { .. } | StoreError::Deleted { .. })
            | ModelError::NoRun { .. }
            | ModelError::NoModel { .. }
            | ModelError::Missing { .. } => ProviderError::Missing(error.to_string()),
            error => ProviderError::Store(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use net::Device;
    use store::Store;

    use super::*;

    /// 19x19 with 128 filters, in groups of 4 positions.
    #[test]
    fn memory_on_cpus_does_not_depend_on_the_size_of_batches() {
        let shape = Shape { filters: 128, ..Shape::plain(go::Size::new(19).unwrap()) };
        let mib = |batch, threads| {
            let models = Models::new(Store::in_memory().unwrap());
            StoreProvider::new(models, Device::Cpu, batch, threads).bytes(&[], shape) >> 20
        };
        assert_eq!((mib(64, 1), mib(64, 256), mib(1024, 256)), (3, 928, 928));
    }
}
