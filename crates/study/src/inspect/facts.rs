//! Data of the page.

use std::fmt;

use net::{ListedTensor, Listing};
use serde::Serialize;
use store::Source;

use super::Subject;
use super::tensor::{NEAR_ZERO, TensorFacts, shown};
use crate::StudyError;

/// A channel whose scale is smaller is constant. Scales begin at 1, or at 0 in the last batch norm of a
/// block, where channels that have not been trained away from zero are meant to be found.
const LEAST_SCALE: f64 = 0.01;

/// All that the page shows.
#[derive(Debug, Serialize)]
pub(super) struct Facts {
    pub(super) model: ModelFacts,
    pub(super) against: Option<ModelFacts>,
    pub(super) tensors: Vec<TensorFacts>,
    /// What was not compared, and why.
    pub(super) notes: Vec<String>,
    pub(super) stem: Stem,
    pub(super) norms: Vec<Norm>,
    pub(super) near_zero: f64,
    pub(super) least_scale: f64,
    pub(super) least_variance: f64,
    /// When the page was written, in milliseconds since 1970.
    written: u64,
    version: &'static str,
}

/// Shape and origin of a network.
#[derive(Debug, Serialize)]
pub(super) struct ModelFacts {
    pub(super) name: String,
    pub(super) shape: String,
    pub(super) parameters: usize,
    pub(super) operations: u64,
    pub(super) bytes: usize,
    pub(super) step: Option<u64>,
    pub(super) config_digest: Option<String>,
    /// The model whose training it continues.
    pub(super) parent: Option<String>,
    /// The first model of the run, and what that was made of.
    pub(super) first: Option<String>,
    pub(super) origin: Vec<Source>,
}

/// The kernels of the first layer: its filters for each plane of a position.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Stem {
    pub(super) planes: Vec<String>,
    pub(super) filters: usize,
    /// The size that −127 and 127 stand for.
    pub(super) largest: f64,
    /// By filter and plane, nine numbers each, in steps that a picture can show; absent where one is not finite.
    pub(super) kernels: Vec<Option<i8>>,
    /// The same numbers as they are, for the table.
    #[serde(skip)]
    pub(super) weights: Vec<f32>,
}

/// A batch norm, by channel.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Norm {
    pub(super) name: String,
    /// `None` where it has none, as in the heads.
    pub(super) scale: Option<Vec<Option<f64>>>,
    pub(super) variance: Vec<Option<f64>>,
    /// Channels that say the same of every position.
    pub(super) dead: Vec<usize>,
}

impl Facts {
    /// All that there is to show of a network, and of what it has in common with another.
    ///
    /// # Errors
    /// Networks that have no tensor of one name and dimensions.
    pub(super) fn gather(subject: &Subject, against: Option<&Subject>) -> Result<Facts, StudyError> {
        let (own, other) = (&subject.listing, against.map(|against| &against.listing));
        let tensors: Vec<TensorFacts> =
            own.tensors.iter().map(|tensor| TensorFacts::new(tensor, like(against, tensor))).collect();
        if against.is_some() && tensors.iter().all(|tensor| tensor.against.is_none()) {
            let other = other.map(|other| other.shape.to_string()).unwrap_or_default();
            return Err(StudyError::Unlike(own.shape.to_string(), other));
        }
        Ok(Facts {
            model: ModelFacts::new(subject),
            against: against.map(ModelFacts::new),
            notes: other.map(|other| uncompared(own, other)).unwrap_or_default(),
            tensors,
            stem: Stem::new(own),
            norms: norms(own),
            near_zero: NEAR_ZERO,
            least_scale: LEAST_SCALE,
            least_variance: Listing::LEAST_VARIANCE,
            written: runtime::unix_millis(),
            version: env!("CARGO_PKG_VERSION"),
        })
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: usize = self.tensors.iter().map(|tensor| tensor.count).sum();
        let broken: usize = self.tensors.iter().map(TensorFacts::broken).sum();
        let dead: usize = self.norms.iter().map(|norm| norm.dead.len()).sum();
        write!(
            f,
            "{} tensors of {numbers} numbers, {broken} of them not finite, {dead} dead channels",
            self.tensors.len()
        )?;
        let Some(against) = &self.against else { return Ok(()) };
        let compared = self.tensors.iter().filter(|tensor| tensor.against.is_some()).count();
        write!(f, "; {compared} tensors compared with {}", against.name)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

/// The tensor of the same name and dimensions.
pub(super) fn like<'a>(network: Option<&'a Subject>, tensor: &ListedTensor) -> Option<&'a ListedTensor> {
    network?.listing.tensor(&tensor.name).filter(|like| like.dimensions == tensor.dimensions)
}

/// What one network has and the other has not, or has in other dimensions.
fn uncompared(own: &Listing, other: &Listing) -> Vec<String> {
    let theirs = other.tensors.iter().filter(|tensor| own.tensor(&tensor.name).is_none());
    let theirs = theirs.map(|tensor| format!("{} is in the other network only", tensor.name));
    let ours = own.tensors.iter().filter_map(|tensor| match other.tensor(&tensor.name) {
        None => Some(format!("{} is in this network only", tensor.name)),
        Some(like) if like.dimensions == tensor.dimensions => None,
        Some(like) => Some(format!("{} is {:?} here and {:?} there", tensor.name, tensor.dimensions, like.dimensions)),
    });
    ours.chain(theirs).map(|what| format!("not compared: {what}")).collect()
}

impl ModelFacts {
    pub(super) fn new(subject: &Subject) -> ModelFacts {
        let Subject { name, listing, bytes, metadata, first } = subject;
        let begun = first.as_ref().or(metadata.as_ref());
        ModelFacts {
            name: name.clone(),
            shape: listing.shape.to_string(),
            parameters: listing.shape.parameters(),
            operations: listing.shape.operations(),
            bytes: *bytes,
            step: metadata.as_ref().map(|metadata| metadata.step),
            config_digest: metadata.as_ref().map(|metadata| metadata.config_digest.clone()),
            parent: metadata.as_ref().and_then(|metadata| Some(metadata.run.model(metadata.parent?).to_string())),
            first: first.as_ref().map(|first| first.id().to_string()),
            origin: begun.map(|metadata| metadata.origin.clone()).unwrap_or_default(),
        }
    }
}

impl Stem {
    fn new(listing: &Listing) -> Stem {
        let tensor = listing.tensor("stem.conv.weight").expect("every network has a stem");
        let finite = tensor.numbers.iter().filter(|number| number.is_finite());
        let largest = finite.fold(0.0f32, |largest, number| largest.max(number.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let small = |&number: &f32| number.is_finite().then(|| (127.0 * (number / unit)).round() as i8);
        Stem {
            planes: listing.shape.inputs.names(),
            filters: tensor.dimensions[0],
            largest: shown(largest.into()).unwrap_or_default(),
            kernels: tensor.numbers.iter().map(small).collect(),
            weights: tensor.numbers.clone(),
        }
    }
}

pub(super) fn norms(listing: &Listing) -> Vec<Norm> {
    let norms = listing.tensors.iter().filter_map(|tensor| Some((tensor.name.strip_suffix(".running_var")?, tensor)));
    norms.map(|(name, variance)| Norm::new(name, variance, listing.tensor(&format!("{name}.weight")))).collect()
}

impl Norm {
    fn new(name: &str, variance: &ListedTensor, scale: Option<&ListedTensor>) -> Norm {
        let is_dead = |channel: usize| {
            let small = |numbers: &[f32], least: f64| f64::from(numbers[channel]).abs() < least;
            small(&variance.numbers, Listing::LEAST_VARIANCE)
                || scale.is_some_and(|scale| small(&scale.numbers, LEAST_SCALE))
        };
        let numbers = |tensor: &ListedTensor| tensor.numbers.iter().map(|&number| shown(number.into())).collect();
        Norm {
            name: name.to_owned(),
            scale: scale.map(numbers),
            variance: numbers(variance),
            dead: (0..variance.numbers.len()).filter(|&channel| is_dead(channel)).collect(),
        }
    }
}
