//! The content of the page of several networks.

use std::collections::BTreeSet;
use std::fmt::Write;

use maud::{Markup, html};
use page::number::{counted, percent, whole};

use super::parts::{TableLinks, dimensions, faults, footer, named, plain};
use super::series::{Row, Series};

/// Steps of strength of a heat map.
const SHADES: f64 = 10.0;
/// Networks whose norms are marked by dots; of more, a line is enough.
const MOST_DOTS: usize = 40;

/// The page with links to its data.
pub(super) fn body(series: &Series, links: &TableLinks<'_>) -> Markup {
    let shape = series.networks.last().map_or("", |column| &column.card.shape);
    html! {
        h1 #title { (series.ends().join(" to ")) }
        p.quiet #counts {
            (counted(series.networks.len(), "network", "networks")) ", " (counted(series.tensors.len(), "tensor", "tensors")) ". " (shape)
        }
        nav.section aria-label="Page" {
            a href="#networks" { "Networks" }
            a href="#histograms" { "Histograms" }
        }
        section #networks { h2 { "Networks" } (networks(series)) (links("networks")) }
        section #histograms { h2 { "Histograms" } (histograms(series)) (links("tensors")) (links("histograms")) }
        (footer())
    }
}

fn networks(series: &Series) -> Markup {
    let names = ["network", "L2", "change", "dead channels", "not finite", "steps", "parameters"];
    html! {
        p.quiet {
            "L2 is the root of the sum of squares of all parameters. Change is ‖a − b‖ / ‖b‖, b being the previous network, over the \
             tensors that both have in the same shape. A channel is dead where its batch norm makes it constant."
        }
        div.scroll tabindex="0" {
            table.inspected {
                thead { tr { @for name in names { th scope="col" { (name) } } } }
                tbody { @for column in &series.networks {
                    tr {
                        td { (named(&column.card.name)) }
                        td { (plain(column.norm)) }
                        td { (column.change.map_or_else(|| plain(None), |change| percent(change, 1))) }
                        (faults(column.dead, &format!("{} of {}", column.dead, column.channels)))
                        (faults(column.broken, &whole(column.broken as f64)))
                        td { (column.card.step.map_or_else(|| plain(None), |step| whole(step as f64))) }
                        td { (whole(column.card.parameters as f64)) }
                    }
                } }
            }
        }
    }
}

fn histograms(series: &Series) -> Markup {
    html! {
        p.quiet {
            "One column for each network, in the order of the table; the vertical axis has the values of the tensor, stronger where there \
             are more (root of the count, scaled per column). At most " (percent(series.beyond, 1)) " of a tensor’s numbers are beyond \
             either end and are counted there. Below in orange: the L2 norm."
        }
        div #maps { @for (number, tensor) in series.tensors.iter().enumerate() { (figure(series, number, tensor)) } }
    }
}

fn figure(series: &Series, number: usize, tensor: &Row) -> Markup {
    let shapes: BTreeSet<String> = tensor.cells.iter().flatten().map(|cell| dimensions(&cell.dimensions)).collect();
    let [first, last] = series.ends();
    html! {
        figure {
            figcaption { (named(&tensor.name)) span { (shapes.into_iter().collect::<Vec<_>>().join(", ")) } }
            div.map data-tensor=(number) {
                (values(tensor))
                (norms(tensor))
                div.ends {
                    span { (first) }
                    @if series.networks.len() > 1 { span { (last) } }
                }
            }
        }
    }
}

/// A heat map: a column for each network, numbers upward, the stronger the more of them.
fn values(tensor: &Row) -> Markup {
    let bars = tensor.cells.iter().flatten().map(|cell| cell.counts.len()).max().unwrap_or(0).max(1);
    let mut shades = vec![String::new(); SHADES as usize + 1];
    for (place, cell) in tensor.cells.iter().enumerate() {
        let Some(cell) = cell else { continue };
        let most = cell.counts.iter().max().copied().unwrap_or(1).max(1) as f64;
        for (bar, &count) in cell.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // The strength is the root of the count, so that the tails are seen.
            let shade = (SHADES * (count as f64 / most).sqrt()).ceil() as usize;
            // Writing to a string cannot fail.
            let _ = write!(shades[shade], "M{place} {}h.94v1h-.94z", bars - 1 - bar);
        }
    }
    let zero = tensor.range.and_then(|(from, to)| (from < 0.0 && to > 0.0).then(|| to / (to - from)));
    let said = tensor
        .range
        .map_or_else(String::new, |(from, to)| format!(", from {} to {}", plain(Some(from)), plain(Some(to))));
    html! {
        svg aria-hidden="true" {
            @if let Some((from, to)) = tensor.range {
                text x="100%" dx="-6" y="10" text-anchor="end" { (plain(Some(to))) }
                text x="100%" dx="-6" y="100%" text-anchor="end" { (plain(Some(from))) }
                @if let Some(share) = zero.filter(|share| (0.25..0.8).contains(share)) {
                    text x="100%" dx="-6" dy="4" y=(format!("{:.1}%", 100.0 * share)) text-anchor="end" { "0" }
                }
            }
        }
        svg.heat viewBox=(format!("0 0 {} {bars}", tensor.cells.len())) preserveAspectRatio="none"
            role="img" aria-label=(format!("histograms of {}{said}", tensor.name)) {
            @for (shade, path) in shades.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
                path.own fill-opacity=(format!("{:.2}", shade as f64 / SHADES)) d=(path) {}
            }
            @if let Some(share) = zero {
                @let y = format!("{:.2}", share * bars as f64);
                line.zero x1="0" x2=(tensor.cells.len()) y1=(y) y2=(y) {}
            }
        }
    }
}

/// The L2 norms, from 0 to the largest.
fn norms(tensor: &Row) -> Markup {
    let norms: Vec<Option<f64>> = tensor.cells.iter().map(|cell| cell.as_ref().and_then(|cell| cell.norm)).collect();
    let largest = norms.iter().flatten().fold(0.0_f64, |largest, norm| largest.max(*norm));
    let at = |norm: f64| 100.0 * (1.0 - norm / if largest > 0.0 { largest } else { 1.0 });
    let (mut line, mut dots) = (String::new(), String::new());
    for (place, norm) in norms.iter().enumerate() {
        let Some(norm) = norm else { continue };
        let begins = place == 0 || norms[place - 1].is_none();
        let _ = write!(line, "{}{place}.5 {:.1}", if begins { 'M' } else { 'L' }, at(*norm));
        let _ = write!(dots, "M{place}.5 {:.1}h0", at(*norm));
    }
    html! {
        svg aria-hidden="true" {
            text x="100%" dx="-6" y="10" text-anchor="end" { (plain(Some(largest))) }
            text x="100%" dx="-6" y="100%" text-anchor="end" { "0" }
        }
        svg viewBox=(format!("0 0 {} 100", norms.len())) preserveAspectRatio="none"
            role="img" aria-label=(format!("L2 norms of {}, at most {}", tensor.name, plain(Some(largest)))) {
            line.base x1="0" x2=(norms.len()) y1="100" y2="100" {}
            path.norm d=(line) {}
            @if norms.len() <= MOST_DOTS { path.dots d=(dots) {} }
        }
    }
}
