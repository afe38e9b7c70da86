//! How near decoded evaluations are to those that were encoded.

use crate::sample::Sample;
use crate::steps::moves;
use crate::{Codec, Tables};

/// How far decoded evaluations are from the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fidelity {
    /// Samples compared.
    pub samples: usize,
    /// Mean Kullback–Leibler divergence of the decoded policy from the network's over the moves that there is room for, in nats.
    pub kl: f64,
    /// Share of samples whose most likely move stays the same.
    pub top_1: f64,
    /// Root of the mean squared difference of values.
    pub value_rms: f64,
    /// Mean bytes of an evaluation, policy and value.
    pub bytes: f64,
}

/// Encodes and decodes all samples.
pub fn fidelity(samples: &[Sample], tables: &Tables) -> Fidelity {
    let codec = Codec::new(tables);
    let mut sum = Fidelity::default();
    let (mut code, mut decoded) = (Vec::new(), Vec::new());
    for Sample { view, policy, value } in samples {
        code.clear();
        if codec.encode(view, policy, *value, &mut code).is_none() {
            continue;
        }
        decoded.resize(policy.len(), 0.0);
        let found = codec.decode(view, &code, &mut decoded);
        let room: f64 = moves(view).map(|index| f64::from(policy[index])).sum();
        let kept: f64 = moves(view).map(|index| f64::from(decoded[index])).sum();
        sum.kl += moves(view)
            .map(|index| (f64::from(policy[index]) / room, f64::from(decoded[index]) / kept))
            .filter(|&(p, _)| p > 0.0)
            .map(|(p, q)| p * (p / q.max(1e-12)).ln())
            .sum::<f64>();
        let best = |policy: &[f32]| {
            moves(view).fold(policy.len() - 1, |best, i| if policy[i] > policy[best] { i } else { best })
        };
        sum.top_1 += f64::from(u8::from(best(policy) == best(&decoded)));
        sum.value_rms += f64::from(found - value).powi(2);
        sum.bytes += code.len() as f64;
        sum.samples += 1;
    }
    let number = sum.samples.max(1) as f64;
    Fidelity {
        kl: sum.kl / number,
        top_1: sum.top_1 / number,
        value_rms: (sum.value_rms / number).sqrt(),
        bytes: sum.bytes / number,
        ..sum
    }
}
