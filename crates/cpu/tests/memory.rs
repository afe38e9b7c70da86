//! What a session allocates. The counter is of the whole process, so this is its only test.

use config::{PolicyHead as HeadKind, ValueHead};
use cpu::{
    Block, Convolution, Dense, Description, Header, Input, InstructionSet, Model, Policy, PolicyHead, Precision,
    Scales, Value, session_bytes,
};
use testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A network on 19x19, large enough for what is not counted to be little.
const HEADER: Header = Header {
    size: 19,
    blocks: 1,
    filters: 64,
    policy_planes: 24,
    value_planes: 8,
    value_hidden: 16,
    planes: 17,
    ownership: false,
    score: false,
    opponent_policy: false,
    se_channels: 0,
    pooled_filters: 32,
    policy_head: HeadKind::Convolution,
    value_head: ValueHead::Tanh,
    value_pooled: true,
};

/// The network of the header, all of whose weights are zeros.
fn network() -> Description {
    let conv = |inputs: usize, outputs: usize, side: usize| {
        let (weight, bias) = (vec![0.0; inputs * outputs * side * side], vec![0.0; outputs]);
        Convolution { inputs, outputs, weight, bias }
    };
    let dense = |inputs: usize, outputs: usize| {
        let (weight, bias) = (vec![0.0; inputs * outputs], vec![0.0; outputs]);
        Dense { weight, bias }
    };
    let Header { filters, pooled_filters, policy_planes, value_planes, value_hidden, planes, .. } = HEADER;
    Description {
        side: HEADER.size,
        inputs: (0..planes).map(Input::Plane).collect(),
        stem: conv(planes, filters, 3),
        blocks: vec![Block {
            first: conv(filters, filters, 3),
            pooled: Some((conv(filters, pooled_filters, 3), dense(2 * pooled_filters, filters))),
            second: conv(filters, filters, 3),
            squeeze: None,
        }],
        policy: Policy {
            planes: conv(filters, policy_planes, 1),
            head: PolicyHead::Convolution { board: dense(policy_planes, 1), pass: dense(2 * policy_planes, 1) },
        },
        value: Value {
            planes: conv(filters, value_planes, 1),
            pooled: true,
            hidden: dense(value_planes, value_hidden),
            out: dense(value_hidden, 1),
        },
    }
}

#[test]
fn session_takes_the_bytes_that_are_reserved_for_it() {
    let scales = Scales(vec![[1.0; 25]; 3]);
    let model = Model::new(&network(), Precision::Int16(&scales), InstructionSet::Portable).unwrap();
    let before = ALLOCATOR.bytes();
    let session = model.session();
    let found = ALLOCATOR.bytes() - before;
    drop(session);
    let more = found.checked_sub(session_bytes(&HEADER) as u64);
    // Products of a block of tiles, 192 KB, and what belongs to dense layers.
    assert!(more.is_some_and(|more| (180_000..220_000).contains(&more)), "{more:?} of {found} bytes are not counted");
}
