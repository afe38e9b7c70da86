//! A queue that is fair between visitors: they take turns, however much each of them waits for, and when the queue is
//! full who waits for most gives way.

use std::collections::{BTreeMap, VecDeque};

/// A visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VisitorId {
    /// All pages of a browser, which have drawn this number.
    Browser(u64),
    /// A page of a client without such a number.
    Page(u64),
}

/// Names something that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaitingId(u64);

/// Things that wait, by visitor.
#[derive(Debug)]
pub(super) struct FairQueue<T> {
    most: usize,
    next: u64,
    len: usize,
    waiting: BTreeMap<VisitorId, VecDeque<(WaitingId, T)>>,
    /// Visitors who wait for something, the next one first.
    turns: VecDeque<VisitorId>,
}

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl<T> FairQueue<T> {
    /// An empty queue for so many things.
    pub(super) fn new(most: usize) -> FairQueue<T> {
        FairQueue { most, next: 0, len: 0, waiting: BTreeMap::new(), turns: VecDeque::new() }
    }

    /// Adds something behind all else of its visitor. Of a full queue the last thing of the visitor who waits for most
    /// gives way, and is returned, if its visitor still waits for as much as this one then.
    ///
    /// # Errors
    /// The queue is full, and no visitor waits for more than this one would.
    pub(super) fn push_back(&mut self, visitor: VisitorId, thing: T) -> Result<(WaitingId, Option<T>), Full> {
        self.push(visitor, |own, id| own.push_back((id, thing)))
    }

    /// Adds something before all else of its visitor, as [`FairQueue::push_back`] does behind it.
    ///
    /// # Errors
    /// As [`FairQueue::push_back`].
    pub(super) fn push_front(&mut self, visitor: VisitorId, thing: T) -> Result<(WaitingId, Option<T>), Full> {
        self.push(visitor, |own, id| own.push_front((id, thing)))
    }

    /// Makes room for something, which `put` adds to what its visitor waits for.
    fn push(
        &mut self,
        visitor: VisitorId,
        put: impl FnOnce(&mut VecDeque<(WaitingId, T)>, WaitingId),
    ) -> Result<(WaitingId, Option<T>), Full> {
        let displaced = if self.len >= self.most { Some(self.make_room(visitor)?) } else { None };
        let id = WaitingId(self.next);
        self.next += 1;
        self.len += 1;
        let own = self.waiting.entry(visitor).or_default();
        if own.is_empty() {
            self.turns.push_back(visitor);
        }
        put(own, id);
        Ok((id, displaced))
    }

    fn make_room(&mut self, visitor: VisitorId) -> Result<T, Full> {
        let own = self.waiting.get(&visitor).map_or(0, VecDeque::len);
        let (longest, waiting) = self.waiting.iter().max_by_key(|(_, waiting)| waiting.len()).ok_or(Full)?;
        let (longest, id) = (*longest, waiting.back().filter(|_| waiting.len() > own + 1).ok_or(Full)?.0);
        self.remove(longest, id).ok_or(Full)
    }

    /// The next thing of the visitor whose turn it is.
    pub(super) fn pop(&mut self) -> Option<T> {
        let visitor = self.turns.pop_front()?;
        let own = self.waiting.get_mut(&visitor)?;
        let (_, thing) = own.pop_front()?;
        self.len -= 1;
        if own.is_empty() {
            self.waiting.remove(&visitor);
        } else {
            self.turns.push_back(visitor);
        }
        Some(thing)
    }

    /// Removes something that still waits.
    pub(super) fn remove(&mut self, visitor: VisitorId, id: WaitingId) -> Option<T> {
        let own = self.waiting.get_mut(&visitor)?;
        let place = own.iter().position(|(other, _)| *other == id)?;
        let (_, thing) = own.remove(place)?;
        self.len -= 1;
        if own.is_empty() {
            self.waiting.remove(&visitor);
            self.turns.retain(|other| *other != visitor);
        }
        Some(thing)
    }

    /// How many things come before this one; `None` if it does not wait.
    pub(super) fn place(&self, visitor: VisitorId, id: WaitingId) -> Option<usize> {
        let rounds = self.waiting.get(&visitor)?.iter().position(|(other, _)| *other == id)?;
        let turn = self.turns.iter().position(|other| *other == visitor)?;
        let before = |(index, other): (usize, &VisitorId)| {
            let others = self.waiting.get(other).map_or(0, VecDeque::len);
            others.min(rounds + usize::from(index < turn))
        };
        Some(self.turns.iter().enumerate().map(before).sum())
    }

    /// Things that wait.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: VisitorId = VisitorId::Page(1);
    const BEN: VisitorId = VisitorId::Page(2);
    const CLEO: VisitorId = VisitorId::Page(3);

    fn emptied(mut queue: FairQueue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn visitors_take_turns_and_places_say_when() {
        let mut queue = FairQueue::new(9);
        let mut ids = Vec::new();
        for (visitor, number) in [(ANNA, 1), (ANNA, 2), (ANNA, 3), (BEN, 4), (CLEO, 5), (BEN, 6)] {
            ids.push((number, visitor, queue.push_back(visitor, number).expect("there is room").0));
        }
        let mut placed: Vec<(usize, u32)> = Vec::new();
        for (number, visitor, id) in ids {
            placed.push((queue.place(visitor, id).expect("it waits"), number));
        }
        placed.sort_unstable();
        let order = emptied(queue);
        assert_eq!(order, [1, 4, 5, 2, 6, 3]);
        assert_eq!(placed, order.into_iter().enumerate().collect::<Vec<_>>());
    }

    #[test]
    fn urgent_things_come_before_others_of_their_visitor_only() {
        let mut queue = FairQueue::new(9);
        for (visitor, number) in [(ANNA, 1), (BEN, 2)] {
            queue.push_back(visitor, number).expect("there is room");
        }
        queue.push_front(BEN, 3).expect("there is room");
        assert_eq!(emptied(queue), [1, 3, 2]);
    }

    #[test]
    fn full_queue_displaces_a_request_of_the_visitor_with_most() {
        let mut queue = FairQueue::new(4);
        for number in 1..=4 {
            queue.push_back(ANNA, number).expect("there is room");
        }
        let mut push = |visitor, number| queue.push_back(visitor, number).map(|(_, displaced)| displaced);
        assert_eq!(push(ANNA, 5), Err(Full));
        assert_eq!((push(BEN, 6), push(CLEO, 7)), (Ok(Some(4)), Ok(Some(3))));
        // Each would then wait for as much as who gives way.
        assert_eq!((push(BEN, 8), push(CLEO, 9)), (Err(Full), Err(Full)));
        assert_eq!(emptied(queue), [1, 6, 7, 2]);
    }

    #[test]
    fn removed_things_are_not_waited_for() {
        let mut queue = FairQueue::new(2);
        let (first, _) = queue.push_back(ANNA, 1).expect("there is room");
        let (second, _) = queue.push_back(BEN, 2).expect("there is room");
        assert_eq!(queue.push_back(CLEO, 3), Err(Full));
        assert_eq!((queue.remove(ANNA, first), queue.remove(ANNA, first)), (Some(1), None));
        assert_eq!((queue.place(ANNA, first), queue.place(BEN, second), queue.len()), (None, Some(0), 1));
        assert_eq!(emptied(queue), [2]);
    }
}
