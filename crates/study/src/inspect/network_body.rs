//! The content of the page of a network, or of one against another.

use maud::{Markup, html};
use page::number::{percent, short, whole};

use super::facts::{Facts, Norm};
use super::parts::{TableLinks, card, dimensions, faults, footer, named, plain};
use super::pictures::{channels, histogram, kernels};
use super::tensor::{Against, TensorFacts};

/// The page with links to its data.
pub(super) fn body(facts: &Facts, links: &TableLinks<'_>) -> Markup {
    html! {
        h1 { (title(facts)) }
        p.quiet { (facts.model.shape) }
        nav.section aria-label="Page" {
            a href="#card" { "Metadata" }
            a href="#tensors" { "Tensors" }
            a href="#stem" { "First layer" }
            a href="#norms" { "Batch norms" }
        }
        (tiles(facts))
        ul.notes { @for note in &facts.notes { li { (note) } } }
        section #card {
            h2 { "Metadata" }
            div.pair { (card(&facts.model)) @if let Some(against) = &facts.against { (card(against)) } }
        }
        section #tensors { h2 { "Tensors" } (tensors(facts)) (links("tensors")) (links("histograms")) }
        section #stem { h2 { "First layer" } (stem(facts)) (links("kernels")) }
        section #norms { h2 { "Batch norms" } (norms(facts)) (links("channels")) }
        (footer())
    }
}

/// The names of the networks.
pub(super) fn title(facts: &Facts) -> String {
    let name = &facts.model.name;
    facts.against.as_ref().map_or_else(|| name.clone(), |against| format!("{name} against {}", against.name))
}

fn tiles(facts: &Facts) -> Markup {
    let broken: usize = facts.tensors.iter().map(TensorFacts::broken).sum();
    let dead: usize = facts.norms.iter().map(|norm| norm.dead.len()).sum();
    let channels: usize = facts.norms.iter().map(|norm| norm.variance.len()).sum();
    let tile =
        |number: String, text: &str, is_bad: bool| html! { div.tile { b.bad[is_bad] { (number) } span { (text) } } };
    html! {
        div.tiles #tiles {
            (tile(whole(facts.model.parameters as f64), "parameters", false))
            (tile(short(facts.model.operations as f64), "multiplications and additions per position", false))
            (tile(whole(broken as f64), "numbers that are not finite", broken > 0))
            (tile(format!("{} of {}", whole(dead as f64), whole(channels as f64)), "dead channels", dead > 0))
        }
    }
}

fn tensors(facts: &Facts) -> Markup {
    let other = facts.against.as_ref();
    html! {
        p.quiet {
            "Statistics cover finite values. Near zero: at most " (percent(facts.near_zero, 0)) " of the root mean square of its tensor."
            @if let Some(other) = other { " Blue is " (facts.model.name) ", orange " (other.name) "; the difference is ‖a − b‖ / ‖b‖." }
        }
        div.scroll tabindex="0" {
            table.inspected {
                thead { tr {
                    th scope="col" { "tensor" } th scope="col" { "shape" } th scope="col" { "histogram" }
                    @if other.is_some() { th scope="col" { "difference" } th scope="col" { "other’s L2" } }
                    @for name in ["mean", "sd", "min", "max", "L2", "near 0", "not finite"] { th scope="col" { (name) } }
                } }
                tbody { @for tensor in &facts.tensors { (tensor_row(tensor, other.is_some())) } }
            }
        }
    }
}

fn tensor_row(tensor: &TensorFacts, is_compared: bool) -> Markup {
    let against = tensor.against.as_ref();
    let broken = [(tensor.nan, "NaN"), (tensor.infinite, "±∞")].into_iter().filter(|(count, _)| *count > 0);
    let broken: Vec<String> = broken.map(|(count, name)| format!("{} {name}", whole(count as f64))).collect();
    let broken = if broken.is_empty() { "0".to_owned() } else { broken.join(", ") };
    html! {
        tr {
            td { (named(&tensor.name)) }
            td { (dimensions(&tensor.dimensions)) }
            td { (histogram(tensor.histogram.as_ref(), against.and_then(|against| against.histogram.as_ref()))) }
            @if is_compared { td { (difference(against)) } td { (plain(against.and_then(|against| against.norm))) } }
            @for number in [tensor.mean, tensor.deviation, tensor.least, tensor.largest, tensor.norm] { td { (plain(number)) } }
            td { (tensor.near_zero.map_or_else(|| plain(None), |share| percent(share, 1))) }
            (faults(tensor.broken(), &broken))
        }
    }
}

fn difference(against: Option<&Against>) -> String {
    match against {
        None => "not compared".to_owned(),
        Some(against) if against.equal => "equal".to_owned(),
        Some(against) => against.difference.map_or_else(|| plain(None), |difference| percent(difference, 2)),
    }
}

fn stem(facts: &Facts) -> Markup {
    let stem = &facts.stem;
    html! {
        p.quiet {
            "The 3×3 kernels of the " (stem.filters) " filters by input plane, filter 0 first. Blue is above 0, orange below, full colour ±"
            (short(stem.largest)) ", its strength by the root; NaN is magenta."
        }
        div #filters {
            @for (plane, name) in stem.planes.iter().enumerate() { figure { figcaption { (name) } (kernels(stem, plane)) } }
        }
    }
}

fn norms(facts: &Facts) -> Markup {
    html! {
        p.quiet {
            "A bar for each channel, in ascending order. A channel is dead, and marked below, where its scale is within ±"
            (short(facts.least_scale)) " or its running variance below " (short(facts.least_variance)) ": it is constant. "
            "The last batch norm of a block begins with scales of 0. The batch norms of the heads have no scale."
        }
        div.scroll tabindex="0" {
            table.inspected {
                thead { tr { @for name in ["batch norm", "channels", "dead", "scale", "running variance"] { th scope="col" { (name) } } } }
                tbody { @for (number, norm) in facts.norms.iter().enumerate() { (norm_row(number, norm)) } }
            }
        }
    }
}

fn norm_row(number: usize, norm: &Norm) -> Markup {
    html! {
        tr {
            td { (named(&norm.name)) }
            td { (norm.variance.len()) }
            (faults(norm.dead.len(), &norm.dead.len().to_string()))
            td { @if let Some(scale) = &norm.scale { (channels(norm, number, "scale", scale)) } @else { "–" } }
            td { (channels(norm, number, "variance", &norm.variance)) }
        }
    }
}
