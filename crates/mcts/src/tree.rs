//! Where the nodes, edges and statistics of one search live.
//!
//! A node's edges are one run in `priors` and `moves`. The first `visited` of them have been followed, in the order of
//! their first visit, and each has a [`Child`] at the same offset of the node's block in `children`. Of the others
//! only the one with the highest prior can be chosen next, since all share the same initial value; it is kept at
//! offset `visited`. So choosing an edge reads `visited + 1` entries rather than all of them, and an edge that was
//! never followed costs six bytes.

use std::num::NonZeroU32;

use go::{Color, Move};

/// Index of a node, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(NonZeroU32);

impl NodeId {
    fn of(index: usize) -> NodeId {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        NodeId(number.expect("a tree has fewer than 2^32 nodes"))
    }

    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// State of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// Handed out as a leaf, and met this many times since, including the first; 0 once it was taken back.
    Waiting { selections: u16 },
    /// Evaluated; its edges have priors.
    Expanded,
    /// The game is over here.
    Ended,
}

/// A position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The node above and the offset of the edge that leads here; none for the root.
    pub(crate) parent: Option<(NodeId, u16)>,
    pub(crate) state: State,
    /// The network's value, or the outcome, for Black.
    pub(crate) value: f32,
    /// Where each edge starts, for Black.
    pub(crate) init: f32,
    /// Edges followed at least once.
    pub(crate) visited: u16,
    edges: u16,
    first_edge: u32,
    block: u32,
    capacity: u16,
}

/// Statistics of a followed edge. Sums of values are for Black.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Child {
    /// Visits.
    pub(crate) visits: u32,
    /// Sum of the values backed up; of many it is rounded at random: see [`add`].
    pub(crate) sum: f32,
    /// Virtual losses: leaves below that wait for their evaluation.
    pub(crate) pending: u16,
    pub(crate) node: Option<NodeId>,
}

/// A node and its edges, as the side to move there sees them.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) node: &'a Node,
    /// +1 where Black is to move, −1 where White is: what turns a value for Black into one for the mover.
    pub(crate) sign: f32,
    /// Visits of the node, its own evaluation included.
    pub(crate) visits: u32,
    /// Priors and moves of all edges.
    pub(crate) priors: &'a [f32],
    pub(crate) moves: &'a [u16],
    /// Statistics of the followed edges, which come first.
    pub(crate) children: &'a [Child],
}

/// All nodes of one search. The statistics of the root itself are `children[0]`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    priors: Vec<f32>,
    moves: Vec<u16>,
    children: Vec<Child>,
    /// Blocks of children that were outgrown, by the binary logarithm of their capacity.
    free: [Vec<u32>; 10],
}

impl Tree {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.priors.clear();
        self.moves.clear();
        self.children.clear();
        self.free.iter_mut().for_each(Vec::clear);
    }

    pub(crate) fn root(&self) -> Option<NodeId> {
        (!self.nodes.is_empty()).then(|| NodeId::of(0))
    }

    /// Bytes in use for nodes, edges and statistics.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..])
            + size_of_val(&self.priors[..])
            + size_of_val(&self.moves[..])
            + size_of_val(&self.children[..])
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// Adds the root: its statistics and a node that waits for its evaluation.
    pub(crate) fn add_root(&mut self, moves: impl Iterator<Item = u16>) -> NodeId {
        debug_assert!(self.nodes.is_empty(), "a tree has one root");
        self.children.push(Child::default());
        self.add_node(None, State::Waiting { selections: 1 }, moves)
    }

    /// Follows the next edge of `parent` for the first time: adds a child with one virtual loss, and its node.
    pub(crate) fn add_child(&mut self, parent: NodeId, state: State, moves: impl Iterator<Item = u16>) -> NodeId {
        let slot = self.node(parent).visited;
        let id = self.add_node(Some((parent, slot)), state, moves);
        self.push_child(parent, Child { pending: 1, node: Some(id), ..Child::default() });
        self.bring_best_forward(parent);
        id
    }

    fn add_node(&mut self, parent: Option<(NodeId, u16)>, state: State, moves: impl Iterator<Item = u16>) -> NodeId {
        let first_edge = self.moves.len();
        self.moves.extend(moves);
        self.priors.resize(self.moves.len(), 0.0);
        self.nodes.push(Node {
            parent,
            state,
            value: 0.0,
            init: 0.0,
            visited: 0,
            edges: (self.moves.len() - first_edge) as u16,
            first_edge: place(first_edge),
            block: 0,
            capacity: 0,
        });
        NodeId::of(self.nodes.len() - 1)
    }

    fn push_child(&mut self, parent: NodeId, child: Child) {
        let node = *self.node(parent);
        if node.visited == node.capacity {
            self.grow(parent);
        }
        let node = self.node_mut(parent);
        node.visited += 1;
        let at = node.block as usize + usize::from(node.visited) - 1;
        self.children[at] = child;
    }

    /// Moves the children of a node to a block of twice the capacity.
    fn grow(&mut self, id: NodeId) {
        let node = *self.node(id);
        let capacity = (node.capacity * 2).max(1);
        let block = self.take_block(capacity);
        let from = node.block as usize;
        self.children.copy_within(from..from + usize::from(node.visited), block as usize);
        if node.capacity > 0 {
            self.free[node.capacity.ilog2() as usize].push(node.block);
        }
        let node = self.node_mut(id);
        (node.block, node.capacity) = (block, capacity);
    }

    fn take_block(&mut self, capacity: u16) -> u32 {
        self.free[capacity.ilog2() as usize].pop().unwrap_or_else(|| {
            let block = place(self.children.len());
            self.children.resize(self.children.len() + usize::from(capacity), Child::default());
            block
        })
    }

    /// The children of the followed edges, in the order of their first visit.
    pub(crate) fn children(&self, id: NodeId) -> &[Child] {
        let node = self.node(id);
        &self.children[node.block as usize..][..usize::from(node.visited)]
    }

    /// Priors of all edges of a node.
    pub(crate) fn priors(&self, id: NodeId) -> &[f32] {
        let node = self.node(id);
        &self.priors[node.first_edge as usize..][..usize::from(node.edges)]
    }

    /// Moves of all edges of a node, by index; they belong to `priors` one by one.
    pub(crate) fn moves(&self, id: NodeId) -> &[u16] {
        let node = self.node(id);
        &self.moves[node.first_edge as usize..][..usize::from(node.edges)]
    }

    /// A node as `mover` sees it, who is to move there.
    pub(crate) fn view(&self, id: NodeId, mover: Color) -> View<'_> {
        View {
            node: self.node(id),
            sign: mover.sign(),
            visits: self.stats(id).visits,
            priors: self.priors(id),
            moves: self.moves(id),
            children: self.children(id),
        }
    }

    /// Lets `change` set the priors, given the moves, and puts the best edge in its place.
    pub(crate) fn set_priors(&mut self, id: NodeId, change: impl FnOnce(&[u16], &mut [f32])) {
        let node = *self.node(id);
        let range = node.first_edge as usize..node.first_edge as usize + usize::from(node.edges);
        change(&self.moves[range.clone()], &mut self.priors[range]);
        self.bring_best_forward(id);
    }

    /// Puts the edge with the highest prior that was never followed (of equals the one with the lowest move) behind
    /// those that were.
    fn bring_best_forward(&mut self, id: NodeId) {
        let node = *self.node(id);
        let first = node.first_edge as usize + usize::from(node.visited);
        let end = node.first_edge as usize + usize::from(node.edges);
        if let Some(offset) = best_edge(&self.priors[first..end], &self.moves[first..end]) {
            self.priors.swap(first, first + offset);
            self.moves.swap(first, first + offset);
        }
    }

    /// Sees to it that the edge with offset `slot` is the one of move `mv`: one that was never followed changes places
    /// with it, so that it can be followed next. [`Tree::add_child`] puts the best of the others behind it again.
    pub(crate) fn bring_to(&mut self, id: NodeId, slot: usize, mv: u16) {
        let moves = &self.moves(id)[slot..];
        let offset = moves.iter().position(|&other| other == mv).expect("the edge is at this place or further back");
        let first = self.node(id).first_edge as usize + slot;
        self.priors.swap(first, first + offset);
        self.moves.swap(first, first + offset);
    }

    /// Index in `children` of a node's own statistics.
    fn entry(&self, id: NodeId) -> usize {
        self.node(id).parent.map_or(0, |(parent, slot)| self.node(parent).block as usize + usize::from(slot))
    }

    /// A node's own statistics.
    pub(crate) fn stats(&self, id: NodeId) -> &Child {
        &self.children[self.entry(id)]
    }

    pub(crate) fn add_virtual_loss(&mut self, id: NodeId) {
        let entry = self.entry(id);
        self.children[entry].pending += 1;
    }

    /// Backs a value up from a node to the root as one visit, and takes back `pending` virtual losses on the way.
    pub(crate) fn back_up(&mut self, from: NodeId, value: f32, pending: u16) {
        let mut next = Some(from);
        while let Some(id) = next {
            let entry = self.entry(id);
            let stats = &mut self.children[entry];
            stats.visits += 1;
            stats.sum = add(stats.sum, value, stats.visits);
            stats.pending -= pending;
            next = self.node(id).parent.map(|(parent, _)| parent);
        }
    }

    /// Takes back `pending` virtual losses from a node to the root.
    pub(crate) fn take_back(&mut self, from: NodeId, pending: u16) {
        let mut next = Some(from);
        while let Some(id) = next {
            let entry = self.entry(id);
            self.children[entry].pending -= pending;
            next = self.node(id).parent.map(|(parent, _)| parent);
        }
    }

    /// The child that `mv` leads to, if that edge was followed.
    pub(crate) fn child_by_move(&self, id: NodeId, mv: Move, size: go::Size) -> Option<NodeId> {
        let slot = self.moves(id).iter().position(|&other| usize::from(other) == mv.index(size))?;
        self.children(id).get(slot).and_then(|child| child.node)
    }

    /// Copies the tree below `from` into `into`, which becomes a tree of its own.
    pub(crate) fn copy_below(&self, from: NodeId, into: &mut Tree) {
        into.clear();
        into.children.push(Child { pending: 0, ..*self.stats(from) });
        let root = into.copy_node(self, from, None);
        let mut open = vec![(from, root)];
        while let Some((old, new)) = open.pop() {
            for (slot, child) in self.children(old).iter().enumerate() {
                debug_assert_eq!(child.pending, 0, "no leaf waits while a move is played");
                let node = child.node.map(|node| (node, into.copy_node(self, node, Some((new, slot as u16)))));
                into.push_child(new, Child { node: node.map(|(_, copy)| copy), ..*child });
                open.extend(node);
            }
        }
    }

    /// Copies one node with its edges; its children are pushed afterwards.
    fn copy_node(&mut self, other: &Tree, id: NodeId, parent: Option<(NodeId, u16)>) -> NodeId {
        let copy = self.add_node(parent, other.node(id).state, other.moves(id).iter().copied());
        let first = self.node(copy).first_edge as usize;
        self.priors[first..].copy_from_slice(other.priors(id));
        let Node { value, init, .. } = *other.node(id);
        let node = self.node_mut(copy);
        (node.value, node.init) = (value, init);
        copy
    }
}

/// Visits from which sums are rounded at random. Searches of fewer are those of plain sums, bit for bit.
const ROUNDED_AT_RANDOM: u32 = 1 << 16;

/// The sum with the value of the visit of this number, from 1.
///
/// From 2^16 on a sum is a multiple of 1/128 or more. Rounded to the nearest, values near each other all lose or gain
/// the same, and after 1.9 million visits a mean of 0.97 is 0.985. So the sum is rounded up or down in proportion to
/// what is cut off (stochastic rounding). What draws is the number of the visit: fractions of multiples of the golden
/// ratio are spread evenly.
fn add(sum: f32, value: f32, visit: u32) -> f32 {
    if visit < ROUNDED_AT_RANDOM {
        return sum + value;
    }
    let exact = f64::from(sum) + f64::from(value);
    let nearest = exact as f32;
    let error = exact - f64::from(nearest);
    let other = if error > 0.0 { nearest.next_up() } else { nearest.next_down() };
    // From 0 to one half.
    let share = error / (f64::from(other) - f64::from(nearest));
    let drawn = f64::from(visit.wrapping_mul(0x9E37_79B9)) / f64::from(u32::MAX);
    if drawn < share { other } else { nearest }
}

/// Where a run of edges or a block of children begins. Nodes of 19×19 have up to 362 edges, so these reach the limit
/// long before the nodes do.
fn place(index: usize) -> u32 {
    u32::try_from(index).expect("a tree has fewer than 2^32 edges")
}

/// Offset of the highest prior, of equals the one with the lowest move.
fn best_edge(priors: &[f32], moves: &[u16]) -> Option<usize> {
    let highest = priors.iter().copied().fold(f32::NEG_INFINITY, |a, b| if b > a { b } else { a });
    let equals = priors.iter().zip(moves).enumerate().filter(|(_, (prior, _))| **prior == highest);
    equals.min_by_key(|(_, (_, mv))| **mv).map(|(offset, _)| offset)
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::{Game, Size};

    use super::*;
    use crate::{Evaluation, LARGEST_TREE, MOST_VISITS, Search, Selected, Settings, Value};

    /// docs/guide/analysis.md calculates the memory of a search from these, and six bytes for each edge.
    #[test]
    fn nodes_and_statistics_have_the_sizes_of_the_guide() {
        assert_eq!((size_of::<Node>(), size_of::<Child>()), (36, 16));
    }

    /// Values of a decided position. Plain sums have means of 0.9692, 0.985 and 0.993.
    #[test]
    fn mean_of_millions_of_similar_values_is_theirs() {
        let (mut sum, mut exact, mut bits) = (0.0_f32, 0.0_f64, 1_u64);
        for visit in 1..=4_000_000 {
            // Xorshift.
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let value = 0.965 + 0.01 * (bits >> 40) as f32 / (1 << 24) as f32;
            sum = add(sum, value, visit);
            exact += f64::from(value);
            if [480_000, 1_900_000, 4_000_000].contains(&visit) {
                let error = (f64::from(sum) - exact) / f64::from(visit);
                assert!(error.abs() < 0.0005, "{error} after {visit} visits");
            }
        }
    }

    /// The sum is a whole number there. With plain sums the last 100,000 visits alone make it a mean of 0.9703.
    #[test]
    fn mean_has_no_drift_up_to_the_visits_at_which_a_search_is_full() {
        const VALUE: f32 = 0.97;
        let config = Preset::Minigo.config();
        let size = Size::new(3).expect("a size");
        let mut search = Search::new(Game::new(size), Settings::new(&config.search, &config.game));
        let Selected::Leaf(leaf) = search.select(&mut |_| {}) else { panic!("the root is a leaf") };
        search.expand(leaf, Evaluation { policy: &vec![0.1; size.moves()], value: Value::for_black(VALUE) });
        let root = search.expanded_root();
        let stats = &mut search.tree.children[0];
        stats.visits = MOST_VISITS - 99_999;
        stats.sum = VALUE * stats.visits as f32;
        for _ in 0..99_999 {
            search.tree.back_up(root, VALUE, 0);
        }
        assert!(!search.is_full(LARGEST_TREE) && search.is_full(1));
        search.tree.back_up(root, VALUE, 0);
        assert!(search.is_full(LARGEST_TREE));
        let mean = search.root_value().black();
        assert!(search.visits() == MOST_VISITS && (mean - VALUE).abs() < 1e-5, "{mean}");
    }

    #[test]
    fn sums_of_fewer_visits_are_plain() {
        let sums = [60_000.0, 0.1, -1234.5].map(|sum: f32| (add(sum, 0.97, ROUNDED_AT_RANDOM - 1), sum + 0.97));
        assert!(sums.iter().all(|(found, plain)| found.to_bits() == plain.to_bits()), "{sums:?}");
    }

    #[test]
    #[should_panic(expected = "a tree has fewer than 2^32 edges")]
    fn edges_beyond_32_bits_do_not_take_the_place_of_others() {
        assert_eq!(place(u32::MAX as usize), u32::MAX);
        place(u32::MAX as usize + 1);
    }
}
