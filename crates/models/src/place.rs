//! Where networks run.

use config::Overrides;
use net::{Backend, Device, Devices, Precision};
use remote::{Client, Priority};
use runtime::{InferenceArgs, ResourceArgs, Stop, metrics};

use crate::ModelError;

/// Where networks run: on a device of this machine, or on inference servers.
#[derive(Clone, Debug)]
pub struct Place {
    devices: Devices,
    /// Whether that is a GPU and evaluates.
    gpu: bool,
    servers: Option<Client>,
}

impl From<Device> for Place {
    fn from(device: Device) -> Place {
        Place { devices: device.into(), gpu: device.is_gpu(), servers: None }
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
        let devices: Devices = resources.device().parse()?;
        let servers = Client::open(inference, client, priority, stop)?;
        let gpu = servers.is_none() && devices.first().is_gpu();
        if servers.as_ref().is_none_or(Client::has_local) {
            let backend = Backend::open_all(&devices, Precision::Auto).map_err(ModelError::device)?;
            backend.log("inference", resources.search_threads(gpu));
            metrics::DEVICE.inform(&backend.labels());
        }
        Ok(Place { devices, gpu, servers })
    }

    /// Whether a GPU of this machine evaluates.
    pub fn is_gpu(&self) -> bool {
        self.gpu
    }

    /// Threads that search here.
    pub fn search_threads(&self, resources: &ResourceArgs) -> usize {
        resources.search_threads(self.gpu)
    }

    /// The same place for positions of another priority.
    pub fn with_priority(&self, priority: Priority) -> Place {
        let servers = self.servers.as_ref().map(|servers| servers.with_priority(priority));
        Place { servers, ..self.clone() }
    }

    /// The devices of this machine, which networks use unless there are servers.
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Whether networks can compute here with the numbers of these settings: inference servers have those of their own.
    pub fn has_precision_of(&self, settings: &Overrides) -> bool {
        let is_auto = |precision: &str| matches!(precision.parse::<Precision>(), Ok(Precision::Auto));
        self.servers.is_none() || settings.precision().is_none_or(is_auto)
    }

    /// The inference servers.
    pub(crate) fn servers(&self) -> Option<&Client> {
        self.servers.as_ref()
    }
}
