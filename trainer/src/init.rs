//! A run whose first model it has not trained itself.

use config::RunConfig;
use models::NamedWeights;
use net::{FileKind, NetError, Shape, Weights};
use store::{ModelMetadata, Run, Source, SourceKind};

use crate::TrainerError;
use crate::resume::is_of_bootstrap;

/// Weights that a run begins with, and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct InitialWeights {
    /// The weights.
    pub weights: Weights,
    /// What they are.
    pub source: Source,
}

impl InitialWeights {
    /// The weights of a model, or of a file of any kind that [`FileKind`] knows or an ONNX file of `trainer export`.
    ///
    /// # Errors
    /// A file that cannot be read as a network.
    pub fn new(NamedWeights { name, bytes, metadata }: NamedWeights) -> Result<InitialWeights, TrainerError> {
        // What cannot be unpacked is refused below.
        let plain = record::unpacked(&bytes, FileKind::MOST_BYTES).ok();
        let weights = match plain.filter(|plain| onnx::looks_like(plain)) {
            Some(plain) => {
                let broken = |source| TrainerError::Onnx { name: name.clone(), source };
                Weights::from_description(&onnx::read(&plain).map_err(broken)?)
            }
            None => FileKind::read(&bytes).map(|(_, weights, _)| weights),
        };
        let weights = weights.map_err(|source| unusable(&name, source))?;
        let kind = if metadata.is_some() { SourceKind::Model } else { SourceKind::Weights };
        Ok(InitialWeights { weights, source: Source::new(kind, name, &bytes) })
    }

    /// The same with scales for int16 inference: those of the file, or others from the network's own games, 384
    /// positions that it evaluates in f32. Without them every program that opens the model has to find them.
    ///
    /// # Errors
    /// A network whose output is not finite.
    pub fn calibrated(self) -> Result<InitialWeights, TrainerError> {
        let weights = if self.weights.has_scales() { Ok(self.weights) } else { self.weights.calibrated(&[], 1) };
        let weights = weights.map_err(|source| unusable(&self.source.name, source))?;
        Ok(InitialWeights { weights, source: self.source })
    }

    /// The same in the tower of the configuration: it computes the same function, with more capacity.
    ///
    /// # Errors
    /// As [`Weights::grown`].
    pub fn grown(self, config: &RunConfig) -> Result<InitialWeights, TrainerError> {
        let weights = self.weights.grown(self.expected(config), config.seed);
        let weights = weights.map_err(|source| unusable(&self.source.name, source))?;
        Ok(InitialWeights { weights, source: self.source })
    }

    /// The same with the auxiliary heads of the configuration, where nothing else differs: those that the weights lack
    /// begin as in a new network, and others are dropped. Folded, ONNX and Leela Zero files have none. Widths of layers
    /// that no block has, which the last two do not keep either, become those of the configuration, too. The network
    /// plays the same.
    ///
    /// # Errors
    /// As [`Weights::grown`].
    pub fn with_heads_of(self, config: &RunConfig) -> Result<InitialWeights, TrainerError> {
        let (expected, found) = (self.expected(config), self.weights.shape());
        let like = found.with_absent_layers_like(expected);
        if found == expected || like.in_play() != expected.in_play() {
            return Ok(self);
        }
        if like != expected {
            let weights = self.source.name.as_str();
            tracing::info!(weights, %found, network = %expected, "auxiliary heads changed to those of the configuration");
        }
        self.grown(config)
    }

    /// Publishes the weights as model 1, which has taken no steps in this run.
    ///
    /// # Errors
    /// The run has models already, or trains its first, human games included, or has a configuration of another shape.
    pub fn publish(&self, run: &Run, config: &RunConfig) -> Result<ModelMetadata, TrainerError> {
        self.check(config)?;
        refuse_begun(run)?;
        publish_first(run, config, &self.weights, 0, vec![self.source.clone()])
    }

    /// Makes sure that the weights are a network of the configuration.
    pub(crate) fn check(&self, config: &RunConfig) -> Result<(), TrainerError> {
        let (expected, found) = (self.expected(config), self.weights.shape());
        if found == expected {
            return Ok(());
        }
        Err(unusable(&self.source.name, NetError::OtherShape { expected: Box::new(expected), found: Box::new(found) }))
    }

    /// The network of the configuration. None speaks of the planes that tell whose turn it is: they stay as they are.
    fn expected(&self, config: &RunConfig) -> Shape {
        Shape::new(&config.game, &config.network).with_planes_like(self.weights.shape())
    }
}

/// Publishes the first model of a run, made of what `origin` says. To be called under the lease of the trainer.
pub(crate) fn publish_first(
    run: &Run,
    config: &RunConfig,
    weights: &Weights,
    step: u64,
    origin: Vec<Source>,
) -> Result<ModelMetadata, TrainerError> {
    let metadata = ModelMetadata { origin, ..ModelMetadata::new(run.name(), 1, step, config) };
    let published = run.models().publish(&metadata, weights.to_bytes().into());
    published.map_err(|error| TrainerError::of_publishing(run, || "model 1".to_owned(), error))?;
    Ok(metadata)
}

/// Only a run without models can begin with one, and only before it has a checkpoint. A trainer would train on from its
/// own and publish another model 1; a bootstrap could not publish what it trained.
pub(crate) fn refuse_begun(run: &Run) -> Result<(), TrainerError> {
    refuse_models(run)?;
    match run.checkpoints().newest()? {
        None => Ok(()),
        Some(checkpoint) if is_of_bootstrap(&checkpoint) => {
            Err(TrainerError::Bootstrapping { run: run.name().clone() })
        }
        Some(checkpoint) => Err(TrainerError::in_training(run, &checkpoint)),
    }
}

/// Only a run without models can begin with one.
pub(crate) fn refuse_models(run: &Run) -> Result<(), TrainerError> {
    match run.models().newest()? {
        None => Ok(()),
        Some(newest) => Err(TrainerError::HasModels { newest: run.name().model(newest) }),
    }
}

fn unusable(name: &str, source: NetError) -> TrainerError {
    TrainerError::Weights { name: name.to_owned(), source }
}
