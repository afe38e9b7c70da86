//! Where networks run.

use net::{Backend, Device, Precision};
use remote::{Client, Priority};
use runtime::{InferenceArgs, ResourceArgs, Stop, metrics};

use crate::ModelError;

/// Where networks run: on a device of this machine, or on inference servers.
#[derive(Clone, Debug)]
pub struct Place {
    device: Device,
    servers: Option<Client>,
}

impl From<Device> for Place {
    fn from(device: Device) -> Place {
        Place { device, servers: None }
    }
}

impl Place {
    /// The place that the arguments name, which is logged. `client` is the name by which servers know this process.
    ///
    /// # Errors
    /// Arguments that cannot be used, or a device of this machine that is needed and cannot be.
    pub fn open(
        resources: &ResourceArgs,
        inference: &InferenceArgs,
        client: &str,
        priority: Priority,
        stop: &Stop,
    ) -> Result<Place, ModelError> {
        let device = resources.device.parse()?;
        let servers = Client::open(inference, client, priority, stop)?;
        if servers.as_ref().is_none_or(Client::has_local) {
            let backend = Backend::open(device, Precision::Auto).map_err(ModelError::device)?;
            backend.log("inference", resources.threads());
            metrics::DEVICE.inform(&backend.labels());
        }
        Ok(Place { device, servers })
    }

    /// The same place for positions of another priority.
    pub fn with_priority(&self, priority: Priority) -> Place {
        Place { device: self.device, servers: self.servers.as_ref().map(|servers| servers.with_priority(priority)) }
    }

    /// The device of this machine, which networks use unless there are servers.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The inference servers.
    pub(crate) fn servers(&self) -> Option<&Client> {
        self.servers.as_ref()
    }
}
