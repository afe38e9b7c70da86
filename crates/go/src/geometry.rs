//! What lies next to what, tabulated for every size when the program is compiled.

use crate::point::Point;
use crate::point_set::PointSet;
use crate::size::{MAX_AREA, MAX_SIDE, Size};

/// The index that stands for every place beyond the edge.
pub(crate) const BEYOND: u16 = MAX_AREA as u16;

/// The tables of one size.
pub(crate) struct Geometry {
    /// Up, left, right, down of each point; [`BEYOND`] where the board ends.
    pub(crate) neighbours: [[u16; 4]; MAX_AREA],
    pub(crate) board: PointSet,
    /// All but the leftmost column, and all but the rightmost.
    pub(crate) not_left: PointSet,
    pub(crate) not_right: PointSet,
}

/// The tables of a size.
pub(crate) fn geometry(size: Size) -> &'static Geometry {
    &TABLES[size.side()]
}

/// The points next to each point of a board.
pub(crate) fn around(size: Size) -> &'static [PointSet] {
    let first = size.first_index();
    &AROUND[first..first + size.area()]
}

/// In one row, since tables of the largest board for every size would be three times as large.
static AROUND: [PointSet; Size::ALL_POINTS] = {
    let mut around = [PointSet::EMPTY; Size::ALL_POINTS];
    let mut side = Size::MIN.side();
    while let Ok(size) = Size::new(side) {
        let mut i = 0;
        while i < size.area() {
            let mut next = 0;
            while next < 4 {
                let at = TABLES[side].neighbours[i][next];
                if at != BEYOND {
                    around[size.first_index() + i].insert(Point::at(at as usize));
                }
                next += 1;
            }
            i += 1;
        }
        side += 1;
    }
    around
};

static TABLES: [Geometry; MAX_SIDE + 1] = {
    const EMPTY: Geometry = tabulate(0);
    let mut tables = [EMPTY; MAX_SIDE + 1];
    let mut side = 2;
    while side <= MAX_SIDE {
        tables[side] = tabulate(side);
        side += 1;
    }
    tables
};

const fn tabulate(side: usize) -> Geometry {
    let mut table = Geometry {
        neighbours: [[BEYOND; 4]; MAX_AREA],
        board: PointSet::EMPTY,
        not_left: PointSet::EMPTY,
        not_right: PointSet::EMPTY,
    };
    let mut i = 0;
    while i < side * side {
        let (row, col) = (i / side, i % side);
        table.board.insert(Point::at(i));
        if row > 0 {
            table.neighbours[i][0] = (i - side) as u16;
        }
        if col > 0 {
            table.neighbours[i][1] = (i - 1) as u16;
            table.not_left.insert(Point::at(i));
        }
        if col + 1 < side {
            table.neighbours[i][2] = (i + 1) as u16;
            table.not_right.insert(Point::at(i));
        }
        if row + 1 < side {
            table.neighbours[i][3] = (i + side) as u16;
        }
        i += 1;
    }
    table
}
