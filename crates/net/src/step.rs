//! Gradient accumulation: forward and backward pass of a micro-batch.

use go::Symmetry;
use record::Example;
use tch::Tensor;

use crate::batch::Batch;
use crate::loss::{Loss, LossConfig, TargetTensors, loss};
use crate::mean_losses::Losses;
use crate::mode::Mode;
use crate::norm::Statistics;
use crate::tensor_options::TensorOptions;
use crate::tower::{Tower, numbers};
use crate::{NetError, TrainConfig};

/// The gradient of a part of a batch.
pub(crate) struct MicroBatchResult {
    /// The weight of its examples.
    pub(crate) weight: f64,
    /// Its losses, on the device: see [`Losses::of_facts`].
    pub(crate) losses: Tensor,
    /// Its part of the gradient of the batch, in the order of [`Tower::trainable`].
    pub(crate) gradients: Vec<Tensor>,
    /// What its batch norms have seen.
    pub(crate) statistics: Vec<Statistics>,
}

/// Trains on some examples, which are so large a share of the weight of a batch.
pub(crate) fn train_step(
    tower: &Tower,
    train_config: &TrainConfig,
    examples: &[Example],
    symmetries: &[Symmetry],
    encoded: Option<BatchTensors>,
    share: f64,
) -> Result<MicroBatchResult, NetError> {
    let batch = match encoded {
        Some(batch) => batch,
        None => {
            let batch = Batch::encode(tower.shape(), examples, &train_config.targets, symmetries)?;
            BatchTensors::new(tower.options(), &batch)?
        }
    };
    let result = gradients(tower, train_config, &batch, share)?;
    let (losses, weight) = (result.loss.facts()?, Example::total_weight(examples));
    Ok(MicroBatchResult { weight, losses, gradients: result.gradients, statistics: result.statistics })
}

/// An encoded part of a batch on the device of a tower.
#[derive(Debug)]
pub(crate) struct BatchTensors {
    /// Bytes.
    pub(crate) planes: Tensor,
    pub(crate) targets: TargetTensors,
}

impl BatchTensors {
    /// Puts it there, all before the first operation: a copy to a GPU waits for what was started on it.
    pub(crate) fn new(options: TensorOptions, batch: &Batch) -> Result<BatchTensors, NetError> {
        let planes = options.upload(&batch.planes)?;
        Ok(BatchTensors { planes, targets: TargetTensors::new(&batch.columns, options)? })
    }

    /// Other handles to the same tensors, for another thread.
    pub(crate) fn share(&self) -> BatchTensors {
        BatchTensors { planes: self.planes.shallow_clone(), targets: self.targets.share() }
    }
}

/// The gradient of a part of a batch, its losses not yet read.
pub(crate) struct MicroBatchGradients {
    loss: Loss,
    pub(crate) gradients: Vec<Tensor>,
    pub(crate) statistics: Vec<Statistics>,
}

/// Forward and backward, of so large a share of a batch. The gradients of all parts sum to that of the batch's loss,
/// but for auxiliary heads where parts differ in their shares of positions with a target: these are means of the part.
pub(crate) fn gradients(
    tower: &Tower,
    train_config: &TrainConfig,
    batch: &BatchTensors,
    share: f64,
) -> Result<MicroBatchGradients, NetError> {
    let output = tower.forward_there(&batch.planes, Mode::Training)?;
    let loss = loss(&output, &batch.targets, &LossConfig::new(&train_config.train))?;
    let trainable: Vec<&Tensor> = tower.trainable().map(|(_, tensor)| tensor).collect();
    let gradients = Tensor::f_run_backward(&[&loss.tensor * share], &trainable, false, false)?;
    // A head whose loss has the weight 0 is no part of the graph, and libtorch has no gradient for it.
    let or_zeros = |(gradient, tensor): (Tensor, &Tensor)| {
        if gradient.defined() { Ok(gradient) } else { tensor.f_zeros_like() }
    };
    let gradients: Vec<Tensor> = gradients.into_iter().zip(trainable).map(or_zeros).collect::<Result<_, _>>()?;
    Ok(MicroBatchGradients { loss, gradients, statistics: output.statistics })
}

/// Batch-norm statistics of some examples under their symmetries, which so many threads encode.
pub(crate) fn batch_norm_statistics(
    tower: &Tower,
    train_config: &TrainConfig,
    threads: usize,
    examples: &[Example],
    symmetries: &[Symmetry],
) -> Result<Vec<Statistics>, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let batch = Batch::encode_on(threads, tower.shape(), examples, &train_config.targets, symmetries)?;
    Ok(tower.forward(&batch.planes, Mode::Training)?.statistics)
}

/// What some examples are to a network as in play.
pub(crate) struct Evaluated {
    /// The weight of the examples.
    pub(crate) weight: f64,
    pub(crate) losses: Losses,
    /// The predicted values, for the side to move.
    pub(crate) values: Vec<f32>,
}

/// Measures some examples as they are, the network being as in play. So many threads encode them.
pub(crate) fn measure(
    tower: &Tower,
    train_config: &TrainConfig,
    threads: usize,
    examples: &[Example],
) -> Result<Evaluated, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let symmetries = vec![Symmetry::Identity; examples.len()];
    let batch = Batch::encode_on(threads, tower.shape(), examples, &train_config.targets, &symmetries)?;
    let batch = BatchTensors::new(tower.options(), &batch)?;
    let output = tower.forward_there(&batch.planes, Mode::Playing)?;
    let losses = loss(&output, &batch.targets, &LossConfig::new(&train_config.train))?.read()?;
    Ok(Evaluated { weight: Example::total_weight(examples), losses, values: numbers(&output.values)? })
}

/// The values of some examples under a symmetry, the network being as in play. So many threads encode them.
pub(crate) fn values(
    tower: &Tower,
    train_config: &TrainConfig,
    threads: usize,
    examples: &[Example],
    symmetry: Symmetry,
) -> Result<Vec<f32>, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let symmetries = vec![symmetry; examples.len()];
    let batch = Batch::encode_on(threads, tower.shape(), examples, &train_config.targets, &symmetries)?;
    numbers(&tower.forward(&batch.planes, Mode::Playing)?.values)
}

/// The sum of the gradients of all parts, in their order, arranged.
pub(crate) fn sum(tower: &Tower, parts: &[Vec<Tensor>]) -> Result<Tensor, NetError> {
    let _no_gradients = tch::no_grad_guard();
    let (first, others) = parts.split_first().ok_or(NetError::NoExamples)?;
    let mut sum = tower.arrangement().gather(first)?;
    for part in others {
        let _ = sum.f_add_(&tower.arrangement().gather(part)?)?;
    }
    Ok(sum)
}
