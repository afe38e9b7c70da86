//! Speed of a 3x3 convolution with each instruction set, and its share of the roof: of the rate at which this core
//! multiplies numbers in registers. Gflop/s are effective: they count the operations of a direct convolution. Paths
//! take turns, and the best of several rounds counts. Results: `experiments/0063-integer-winograd`.
//!
//! ```text
//! cargo bench -p cpu --bench layer [-- --csv]
//! ```

use std::hint::black_box;
use std::time::{Duration, Instant};

use cpu::{Convolution, CpuError, InstructionSet, Layer, Peak, Work};
use testing::Noise;

#[path = "shared/peak.rs"]
mod peak;

use peak::Multiply;

const ROUNDS: usize = 200;
const ROUND: Duration = Duration::from_millis(2);
/// Steps of a chain between two readings of the time.
const CHAIN: u32 = 50_000;
/// Side, channels and positions: whole groups.
const SHAPES: [(usize, usize, usize); 4] = [(9, 32, 12), (9, 64, 4), (9, 96, 4), (19, 128, 4)];

type Build = fn(&Convolution, usize, &[f32], InstructionSet) -> Result<Layer, CpuError>;

/// A type of number, multiplied with an instruction set.
struct Path {
    numbers: &'static str,
    set: InstructionSet,
    build: Build,
    multiply: Multiply,
    /// Multiply-adds a second in registers: the most of all rounds.
    peak: f64,
}

/// A shape, and the layer of each path with the seconds of its best round.
struct Shape {
    side: usize,
    channels: usize,
    positions: usize,
    layers: Vec<(Layer, f64)>,
}

/// What the measurements of a layer say.
struct Row<'a> {
    path: &'a Path,
    work: Work,
    /// Operations of a direct convolution for a position, and how many are made in a nanosecond.
    operations: f64,
    gflops: f64,
    /// Of a position, as measured and at the roof.
    cycles: f64,
    roof: f64,
}

/// A layer that is calibrated on its positions.
fn rounded(conv: &Convolution, side: usize, input: &[f32], set: InstructionSet) -> Result<Layer, CpuError> {
    Layer::rounded(conv, side, input, input, set)
}

fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for set in InstructionSet::available() {
        paths.push(Path { numbers: "int16", set, build: rounded, multiply: Peak::rounded, peak: 0.0 });
        if set != InstructionSet::Portable {
            paths.push(Path { numbers: "f32", set, build: Layer::exact, multiply: Peak::exact, peak: 0.0 });
        }
    }
    paths
}

/// Seconds of a run.
fn time(layer: &mut Layer) -> f64 {
    let (start, mut runs) = (Instant::now(), 0);
    while start.elapsed() < ROUND {
        layer.run();
        runs += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(runs)
}

/// Cycles a second, by a chain of dependent additions and exclusive ors of a cycle each. Their operands are in
/// registers and unknown to the compiler: with constants a processor may drop an addition, and additions alone become
/// one.
fn clock() -> f64 {
    let (added, flipped) = black_box((0x9e37_79b9_7f4a_7c15_u64, 0xd1b5_4a32_d192_ed03_u64));
    let (start, mut state, mut cycles) = (Instant::now(), 0u64, 0u32);
    while start.elapsed() < ROUND {
        for _ in 0..CHAIN {
            state = state.wrapping_add(added) ^ flipped;
        }
        cycles += 2 * CHAIN;
        state = black_box(state);
    }
    f64::from(cycles) / start.elapsed().as_secs_f64()
}

impl Shape {
    fn new((side, channels, positions): (usize, usize, usize), paths: &[Path]) -> Result<Shape, CpuError> {
        let weight = Noise(1).numbers(channels * channels * 9);
        let weight = weight.iter().map(|w| w * (2.0 / (3.0 * channels as f32)).sqrt()).collect();
        let conv = Convolution { inputs: channels, outputs: channels, weight, bias: vec![0.1; channels] };
        let input = Noise(1).activations(positions * channels * side * side);
        let mut layers = Vec::new();
        for path in paths {
            layers.push(((path.build)(&conv, side, &input, path.set)?, f64::INFINITY));
        }
        Ok(Shape { side, channels, positions, layers })
    }

    fn rows<'a>(&self, paths: &'a [Path], clock: f64) -> Vec<Row<'a>> {
        let row = |(path, (layer, seconds)): (&'a Path, &(Layer, f64))| {
            let (work, positions) = (layer.work(), self.positions as f64);
            Row {
                path,
                work,
                operations: layer.operations() as f64 / positions,
                gflops: layer.operations() as f64 / seconds / 1e9,
                cycles: seconds / positions * clock,
                roof: work.multiply_adds as f64 / path.peak * clock,
            }
        };
        paths.iter().zip(&self.layers).map(row).collect()
    }
}

impl Path {
    fn name(&self) -> String {
        format!("{} {}", self.numbers, self.set)
    }

    /// Multiply-adds a cycle, and products of vectors a cycle.
    fn of_a_cycle(&self, clock: f64) -> Result<[f64; 2], CpuError> {
        let Peak { vectors, multiply_adds } = (self.multiply)(self.set, 1)?;
        let rate = self.peak / clock;
        Ok([rate, rate * vectors as f64 / multiply_adds as f64])
    }
}

impl Row<'_> {
    /// Bytes of a group.
    fn moved(&self) -> usize {
        let Work { weights, planes, tiles, products, .. } = self.work;
        weights + planes + tiles + products
    }

    fn print(&self) {
        let Work { group, weights, planes, tiles, products, .. } = self.work;
        let [weights, planes, tiles, products] = [weights, planes, tiles, products].map(|bytes| bytes / 1000);
        println!(
            "  {:<18} {:>7.0} {:>9.0} {:>8.0} {:>4.0} % {weights:>8} {planes:>7} {tiles:>6} {products:>9} {:>8.1}",
            self.path.name(),
            self.gflops,
            self.cycles,
            self.roof,
            100.0 * self.roof / self.cycles,
            self.moved() as f64 / group as f64 / self.cycles,
        );
    }
}

fn print_table(shapes: &[Shape], paths: &[Path], clock: f64) -> Result<(), CpuError> {
    println!("clock {:.2} GHz; in registers, a cycle:", clock / 1e9);
    for path in paths {
        let [multiply_adds, vectors] = path.of_a_cycle(clock)?;
        println!("  {:<18} {multiply_adds:>6.1} multiply-adds, {vectors:>5.2} products of vectors", path.name());
    }
    for shape in shapes {
        let rows = shape.rows(paths, clock);
        let Shape { side, channels, .. } = shape;
        if let Some(Row { operations, work: Work { group, multiply_adds, packed, .. }, .. }) = rows.first() {
            println!(
                "\n{side}x{side}, {channels} channels: a position has {operations} operations of a direct convolution"
            );
            println!("and {multiply_adds} multiply-adds; {packed} bytes of weights in int16; kB of {group} positions");
        }
        println!("                     Gflop/s    cycles     roof  share  weights  planes  tiles  products  B/cycle");
        rows.iter().for_each(Row::print);
    }
    Ok(())
}

fn print_csv(shapes: &[Shape], paths: &[Path], clock: f64) -> Result<(), CpuError> {
    println!(
        "side,channels,numbers,instructions,operations,multiply_adds,gflops,cycles,roof,share,clock_ghz,\
         multiply_adds_a_cycle,vectors_a_cycle,group,packed,weights,planes,tiles,products"
    );
    for shape in shapes {
        for row in shape.rows(paths, clock) {
            let Row { path, operations, gflops, cycles, roof, .. } = row;
            let Work { group, multiply_adds, packed, weights, planes, tiles, products } = row.work;
            let [rate, vectors] = path.of_a_cycle(clock)?;
            println!(
                "{},{},{},{},{operations},{multiply_adds},{gflops:.1},{cycles:.0},{roof:.0},{:.3},{:.3},{rate:.2},\
                 {vectors:.3},{group},{packed},{weights},{planes},{tiles},{products}",
                shape.side,
                shape.channels,
                path.numbers,
                path.set,
                roof / cycles,
                clock / 1e9,
            );
        }
    }
    Ok(())
}

fn main() -> Result<(), CpuError> {
    let (mut paths, mut fastest, mut shapes) = (paths(), 0.0f64, Vec::new());
    for sizes in SHAPES {
        let mut shape = Shape::new(sizes, &paths)?;
        for _ in 0..ROUNDS {
            fastest = fastest.max(clock());
            for (path, (layer, best)) in paths.iter_mut().zip(&mut shape.layers) {
                path.peak = path.peak.max(peak::rate(path.multiply, path.set)?);
                *best = best.min(time(layer));
            }
        }
        shapes.push(shape);
    }
    let is_csv = std::env::args().any(|argument| argument == "--csv");
    if is_csv { print_csv(&shapes, &paths, fastest) } else { print_table(&shapes, &paths, fastest) }
}
