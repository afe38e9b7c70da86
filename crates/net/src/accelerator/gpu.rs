//! A network on a GPU.
//!
//! Everything here belongs to the thread of the [`Queue`] that has opened it: tensors, graphs and events are made, used
//! and dropped there, on one stream, so that what is started later happens later. That is why graphs of several sizes
//! may share their memory, and why outputs, which the next replay overwrites, are copied in time: the copy is started
//! before it. Recording a graph and freeing one are the exceptions. They change what libtorch keeps for the whole
//! device, and are done under a lock (`shim.rs`).
//!
//! Operations of `tch` panic where they should fail, so that every call from outside is [`unpanicked`].

use std::collections::HashMap;

use tch::{Kind, Tensor};

use super::unpacking::Unpacking;
use super::{Accelerator, Outputs, PackedPlanes, Queue};
use crate::layers::{Layers, Output};
use crate::shim::{Event, Graph, Pool, Stream, unpanicked};
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::{NetError, Weights};

/// Rows of a batch that several threads fill together: with as many, a tower of ten blocks is within 2 % of its highest
/// rate on an H200 (`experiments/0084-gpu`).
const ROWS: usize = 2048;
/// Threads' batches that are put together at most, so that with few games the others are not kept waiting.
const TOGETHER: usize = 16;
/// The smallest size of a batch.
const LEAST_ROWS: usize = 8;

/// Positions of the largest batch on a device when each thread hands over up to `batch`.
pub fn largest_batch(batch: usize) -> usize {
    batch * (ROWS / batch.max(1)).clamp(1, TOGETHER)
}

/// Opens a queue for a network on a device. A thread submits up to `batch` positions at a time.
pub(crate) fn open(weights: &Weights, options: TensorOptions, batch: usize) -> Result<Queue, NetError> {
    let weights = weights.clone();
    Queue::open(Gpu::most, move || Gpu::open(&weights, options, batch))
}

/// A network on a GPU, or as in tests on the CPU, for the thread that has opened it.
pub(super) struct Gpu {
    layers: Layers,
    options: TensorOptions,
    unpacking: Unpacking,
    moves: usize,
    /// Rows of a batch at most.
    most: usize,
    /// Host memory that the device reads by itself, for batches to come.
    free: Vec<Tensor>,
    /// Where graphs have their memory; `None` where operations are started one by one.
    pool: Option<Pool>,
    /// What is known of batches by their rows.
    sizes: HashMap<usize, Preparation>,
    /// Given back last.
    _stream: Option<Stream>,
}

/// How far libtorch is prepared for batches of a size.
enum Preparation {
    /// One was evaluated: kernels are chosen, and the next can be recorded.
    Warm,
    /// A batch is the replay of a graph between fixed places of the device's memory.
    Recorded { graph: Graph, input: Tensor, output: Output },
    /// Its operations could not be recorded.
    Refused,
}

/// A batch on its way.
pub(super) struct Flight {
    /// Where the device reads the planes.
    input: Tensor,
    /// Outputs, in host memory that the device writes.
    policies: Tensor,
    values: Tensor,
    /// Positions of each client.
    clients: Vec<usize>,
    /// When the outputs are there; `None`: they are.
    done: Option<Event>,
}

impl Gpu {
    /// Puts the weights on the device, and evaluates the largest batch, so that libtorch is prepared, and what does not
    /// fit is known.
    pub(super) fn open(weights: &Weights, options: TensorOptions, batch: usize) -> Result<Gpu, NetError> {
        single();
        let stream = if let tch::Device::Cuda(number) = options.device { Some(Stream::take(number)?) } else { None };
        let pool = stream.as_ref().and_then(pool);
        let shape = weights.shape();
        let mut gpu = Gpu {
            layers: Layers::new(weights, options, batch)?,
            options,
            unpacking: Unpacking::new(shape.inputs.packing(shape.size), shape.size.side(), options.device)?,
            moves: shape.size.moves(),
            most: largest_batch(batch),
            free: Vec::new(),
            pool,
            sizes: HashMap::new(),
            _stream: stream,
        };
        let wanted = gpu.most;
        let activation = (shape.filters * shape.size.area()) as i64;
        gpu.most = fitting(batch, gpu.most, |rows| gpu.try_rows(rows, activation))?;
        gpu.free.clear();
        if gpu.most < wanted {
            tracing::warn!(rows = gpu.most, wanted, "larger batches do not fit into the memory of the GPU");
        }
        Ok(gpu)
    }

    /// Positions of a batch at most.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Evaluates so many positions of zeros, twice, as after the second nothing is left to prepare.
    fn try_rows(&mut self, positions: usize, activation: i64) -> Result<(), NetError> {
        // A block has three activations at once, so that without memory for them there is no need to begin.
        drop(Tensor::f_empty([3, positions as i64, activation], (self.options.kind, self.options.device))?);
        let planes = PackedPlanes {
            positions,
            bits: vec![0; positions * self.unpacking.bit_bytes()],
            scalars: vec![0; positions * (self.unpacking.bytes() - self.unpacking.bit_bytes())],
        };
        for _ in 0..2 {
            let flight = unpanicked(|| self.start(&[&planes], positions, positions))?;
            self.read(flight, &mut [&mut Outputs::default()])?;
        }
        Ok(())
    }

    fn start(&mut self, clients: &[&PackedPlanes], positions: usize, rows: usize) -> Result<Flight, NetError> {
        let mut input = match self.free.pop().filter(|input| input.numel() >= rows * self.unpacking.bytes()) {
            Some(input) => input,
            None => self.host_memory(rows)?,
        };
        let (mut bits, mut scalars) = bytes_of(&mut input).split_at_mut(rows * self.unpacking.bit_bytes());
        for client in clients {
            bits = fill(bits, &client.bits);
            scalars = fill(scalars, &client.scalars);
        }
        let packed = input.f_narrow(0, 0, (rows * self.unpacking.bytes()) as i64)?;
        let packed = packed.f_internal_to_copy((Kind::Uint8, self.options.device), true)?;
        let output = self.evaluate(&packed, rows)?;
        let home = |tensor: &Tensor| -> Result<Tensor, NetError> {
            Ok(tensor.f_narrow(0, 0, positions as i64)?.f_internal_to_copy((Kind::Float, tch::Device::Cpu), true)?)
        };
        let (policies, values) = (home(&output.policies)?, home(&output.values)?);
        let clients = clients.iter().map(|client| client.positions).collect();
        Ok(Flight { input, policies, values, clients, done: self.event()? })
    }

    /// Evaluates packed planes on the device: the first batch of a size operation by operation, the second to record
    /// these, and all others by that record. For a small network starting the operations takes longer than computing
    /// them.
    fn evaluate(&mut self, packed: &Tensor, rows: usize) -> Result<Output, NetError> {
        if let (Some(pool), Some(Preparation::Warm)) = (&self.pool, self.sizes.get(&rows)) {
            let input = packed.f_internal_to_copy((Kind::Uint8, self.options.device), false)?;
            let recorded = Graph::record(pool, || self.by_operations(&input, rows));
            let preparation = match recorded {
                Ok((graph, output)) => Preparation::Recorded { graph, input, output },
                Err(error) => {
                    tracing::warn!(%error, rows, "batches of this size cannot be recorded as a CUDA graph");
                    Preparation::Refused
                }
            };
            self.sizes.insert(rows, preparation);
        }
        match self.sizes.get_mut(&rows) {
            Some(Preparation::Recorded { graph, input, output }) => {
                input.f_copy_(packed)?;
                graph.replay()?;
                Ok(Output { policies: output.policies.shallow_clone(), values: output.values.shallow_clone() })
            }
            None => {
                let output = self.by_operations(packed, rows)?;
                self.sizes.insert(rows, Preparation::Warm);
                Ok(output)
            }
            Some(Preparation::Warm | Preparation::Refused) => self.by_operations(packed, rows),
        }
    }

    fn by_operations(&self, packed: &Tensor, rows: usize) -> Result<Output, NetError> {
        self.layers.on_device(&self.unpacking.unpack(packed, rows)?)
    }

    /// The moment at which all that was started is done.
    fn event(&self) -> Result<Option<Event>, NetError> {
        Ok(if let tch::Device::Cuda(number) = self.options.device { Some(Event::record(number)?) } else { None })
    }

    /// Memory for the planes of at least so many rows, which the operating system does not move, so that a GPU reads it
    /// by itself. libtorch gives such memory to what it copies back without waiting, and `tch` has no other way to it.
    fn host_memory(&self, rows: usize) -> Result<Tensor, NetError> {
        let len = (rows.max(self.most) * self.unpacking.bytes()) as i64;
        let there = Tensor::f_zeros([len], (Kind::Uint8, self.options.device))?;
        let memory = there.f_internal_to_copy((Kind::Uint8, tch::Device::Cpu), true)?;
        self.event()?.as_ref().map_or(Ok(()), Event::wait)?;
        Ok(memory)
    }
}

impl Accelerator for Gpu {
    type Flight = Flight;

    fn launch(&mut self, clients: &[&PackedPlanes]) -> Result<Flight, NetError> {
        let positions = clients.iter().map(|client| client.positions).sum();
        unpanicked(|| self.start(clients, positions, self.rows(positions)))
    }

    fn is_done(&self, flight: &Flight) -> Result<bool, NetError> {
        flight.done.as_ref().map_or(Ok(true), Event::has_happened)
    }

    fn read(&mut self, flight: Flight, outputs: &mut [&mut Outputs]) -> Result<(), NetError> {
        let Flight { input, policies, values, clients, done } = flight;
        done.as_ref().map_or(Ok(()), Event::wait)?;
        self.free.push(input);
        let mut first = 0;
        for (outputs, positions) in outputs.iter_mut().zip(clients) {
            outputs.policies.resize(positions * self.moves, 0.0);
            outputs.values.resize(positions, 0.0);
            let copy = |tensor: &Tensor, to: &mut [f32]| -> Result<(), NetError> {
                Ok(tensor.f_narrow(0, first, positions as i64)?.f_copy_data(to, to.len())?)
            };
            copy(&policies, &mut outputs.policies)?;
            copy(&values, &mut outputs.values)?;
            first += positions as i64;
        }
        Ok(())
    }

    fn rows(&self, positions: usize) -> usize {
        rows_of(self.most, positions)
    }

    fn bytes(&self, positions: usize) -> [usize; 2] {
        [self.rows(positions) * self.unpacking.bytes(), positions * (self.moves + 1) * size_of::<f32>()]
    }
}

/// The largest size, halved as often as the positions allow.
fn rows_of(most: usize, positions: usize) -> usize {
    let mut rows = most.max(positions);
    while rows / 2 >= positions.max(LEAST_ROWS) {
        rows /= 2;
    }
    rows
}

/// Memory for graphs, which need a stream of their own. Without them all is the same but slower for small networks.
fn pool(stream: &Stream) -> Option<Pool> {
    if !stream.is_own() {
        tracing::warn!("so many networks are on the GPU that this one is evaluated without CUDA graphs");
        return None;
    }
    Pool::new().inspect_err(|error| tracing::warn!(%error, "networks are evaluated without CUDA graphs")).ok()
}

/// Copies to the beginning, and returns the rest.
fn fill<'a>(to: &'a mut [u8], from: &[u8]) -> &'a mut [u8] {
    let (beginning, rest) = to.split_at_mut(from.len());
    beginning.copy_from_slice(from);
    rest
}

/// The bytes of a tensor in host memory.
#[expect(unsafe_code, reason = "tch has copies of tensors only")]
fn bytes_of(tensor: &mut Tensor) -> &mut [u8] {
    assert!(
        tensor.kind() == Kind::Uint8 && tensor.device() == tch::Device::Cpu && tensor.is_contiguous(),
        "plain bytes"
    );
    assert!(tensor.numel() > 0, "an empty tensor has no address");
    // SAFETY: a contiguous tensor of bytes on the CPU has so many bytes there, and lives as long as the slice. No other
    // handle to it exists but those of batches on the device, and a tensor with one is not free. All bytes were
    // written: tensors of `host_memory` are copies of zeros.
    unsafe { std::slice::from_raw_parts_mut(tensor.data_ptr().cast(), tensor.numel()) }
}

/// The most rows, at least `batch` and at most `most`, that do not run out of memory.
fn fitting(
    batch: usize,
    most: usize,
    mut attempt: impl FnMut(usize) -> Result<(), NetError>,
) -> Result<usize, NetError> {
    let mut rows = most;
    loop {
        match attempt(rows) {
            Ok(()) if rows >= batch => return Ok(rows),
            Ok(()) => return Err(NetError::OutOfMemory { batch, fits: Some(rows) }),
            Err(error) if !is_out_of_memory(&error) => return Err(error),
            Err(_) if rows == 1 => return Err(NetError::OutOfMemory { batch, fits: None }),
            Err(error) => {
                tracing::debug!(%error, rows, "a batch does not fit into the memory of the device");
                // Not past `batch` before it was tried.
                rows = if rows > batch { batch.max(rows / 2) } else { rows / 2 };
            }
        }
    }
}

fn is_out_of_memory(error: &NetError) -> bool {
    matches!(error, NetError::Torch(message) if message.contains("out of memory"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use go::{Game, Move, Size, Symmetry};

    use super::*;
    use crate::{Inputs, PlaneEvaluator, Shape};

    /// All but the device: the queue, its bits, sizes of batches, and the copies back.
    #[test]
    fn queue_evaluates_as_the_layers_do() {
        let size = Size::new(7).unwrap();
        let shape = Shape { inputs: Inputs::Tactics, blocks: 1, filters: 8, value_hidden: 8, ..Shape::plain(size) };
        let (weights, options) =
            (Weights::synthetic(shape, 3), TensorOptions { device: tch::Device::Cpu, kind: Kind::Float });
        let packing = shape.inputs.packing(size);
        let mut planes = vec![0; 21 * packing.plane_bytes()];
        let mut game = Game::new(size);
        for (turn, planes) in planes.chunks_exact_mut(packing.plane_bytes()).enumerate() {
            game.play(Move::from_index(size, 2 * turn).unwrap()).unwrap();
            shape.inputs.of_game(&game, 2.5, Symmetry::ALL[turn % 8], planes);
        }
        let expected = Layers::new(&weights, options, 21).unwrap().forward(&planes).unwrap();
        let numbers = |tensor: &Tensor| Vec::<f32>::try_from(tensor.flatten(0, -1)).unwrap();
        let queue = Arc::new(open(&weights, options, 4).unwrap());
        let mut client = queue.client(packing, size.moves());
        for _ in 0..2 {
            let (mut policies, mut values) = (vec![0.0; 21 * size.moves()], vec![0.0; 21]);
            client.evaluate(&planes, &mut policies, &mut values).unwrap();
            for (expected, found) in [(&expected.policies, policies), (&expected.values, values)] {
                assert!(numbers(expected).iter().zip(&found).all(|(e, f)| (e - f).abs() < 1e-5));
            }
        }
        let counts = queue.counts();
        assert_eq!((counts.batches, counts.positions, counts.rows), (2, 42, 64), "21 of 32 rows, twice");
    }

    #[test]
    fn threads_fill_batches_of_two_thousand_rows_unless_they_are_few_or_hand_over_more() {
        for (batch, expected) in
            [(1, 16), (16, 256), (64, 1024), (128, 2048), (256, 2048), (1000, 2000), (1500, 1500), (5000, 5000)]
        {
            assert_eq!(largest_batch(batch), expected, "{batch}");
        }
    }

    #[test]
    fn rows_are_the_largest_size_halved() {
        for (positions, rows) in
            [(1, 8), (8, 8), (9, 16), (1000, 1024), (1024, 1024), (1025, 2048), (2048, 2048), (3000, 3000)]
        {
            assert_eq!(rows_of(2048, positions), rows, "{positions}");
        }
        // What fits may be any number.
        let most = fitting(300, 1600, limited(500)).unwrap();
        assert_eq!(most, 400);
        for (positions, rows) in [(1, 12), (12, 12), (13, 25), (100, 100), (101, 200), (201, 400), (400, 400)] {
            assert_eq!(rows_of(most, positions), rows, "{positions} of {most}");
        }
    }

    /// A device whose memory holds so many rows.
    fn limited(memory: usize) -> impl FnMut(usize) -> Result<(), NetError> {
        move |rows| match rows <= memory {
            true => Ok(()),
            false => Err(NetError::of_libtorch("CUDA out of memory. Tried to allocate 2.00 GiB")),
        }
    }

    #[test]
    fn largest_fitting_batch_is_found_and_named() {
        for (memory, rows) in [(5000, 2048), (2048, 2048), (1500, 1024), (300, 256)] {
            assert_eq!(fitting(256, 2048, limited(memory)).unwrap(), rows, "{memory}");
        }
        let error = fitting(256, 2048, limited(100)).unwrap_err();
        assert!(matches!(error, NetError::OutOfMemory { batch: 256, fits: Some(64) }), "{error}");
        assert!(error.to_string().contains("batches of 64"), "{error}");
        assert!(matches!(fitting(3, 3, limited(0)), Err(NetError::OutOfMemory { batch: 3, fits: None })));
        let panics = |rows: usize| unpanicked(|| if rows > 8 { panic!("CUDA {} of memory", "out") } else { Ok(()) });
        assert!(matches!(fitting(32, 32, panics), Err(NetError::OutOfMemory { batch: 32, fits: Some(8) })));
        let broken = |_| Err(NetError::of_libtorch("CUDA error: unspecified launch failure"));
        assert!(matches!(fitting(4, 4, broken), Err(NetError::Torch(_))));
    }

    #[test]
    #[should_panic(expected = "an empty tensor has no address")]
    fn empty_tensor_is_no_slice() {
        bytes_of(&mut Tensor::zeros([0_i64], (Kind::Uint8, tch::Device::Cpu)));
    }
}
