//! Pictures of a network's numbers as SVG: histograms, kernels and channels.

use std::collections::BTreeMap;
use std::fmt::Write;

use maud::{Markup, html};

use super::facts::{Norm, Stem};
use super::parts::plain;
use super::tensor::Histogram;

/// Steps of colour from 0 to the largest number.
const COLOURS: f64 = 12.0;

/// Columns of a histogram, or of two over the same range, the other behind the first.
pub(super) fn histogram(own: Option<&Histogram>, other: Option<&Histogram>) -> Markup {
    let Some(own) = own else { return html! { "–" } };
    let (width, height) = (132.0, 30.0);
    let bars = |histogram: &Histogram| {
        let step = width / histogram.counts.len() as f64;
        let most = histogram.counts.iter().max().copied().unwrap_or(1).max(1) as f64;
        let filled = histogram.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.fold(String::new(), |mut path, (place, &count)| {
            // The height is the root of the count, so that the tails are seen.
            let tall = (height * (count as f64 / most).sqrt()).max(1.0);
            // Writing to a string cannot fail.
            let _ = write!(path, "M{:.1} {height}v-{tall:.1}h{step:.2}V{height}z", step * place as f64);
            path
        })
    };
    let said = format!("from {} to {}; heights are roots of counts", plain(Some(own.from)), plain(Some(own.to)));
    let zero = (own.from < 0.0 && own.to > 0.0).then(|| width * -own.from / (own.to - own.from));
    html! {
        svg width=(width) height=(height) role="img" aria-label=(format!("histogram {said}")) data-tip=(said) {
            path.own d=(bars(own)) fill-opacity=(if other.is_some() { 0.55 } else { 0.85 }) {}
            @if let Some(other) = other { path.other d=(bars(other)) fill-opacity="0.55" {} }
            @if let Some(x) = zero { line.zero x1=(format!("{x:.1}")) x2=(format!("{x:.1}")) y1="0" y2=(height) {} }
        }
    }
}

/// All kernels that look at one plane. A kernel is three units wide, and one from the next.
pub(super) fn kernels(stem: &Stem, plane: usize) -> Markup {
    let (across, pixels) = if stem.filters > 64 { (24, 5) } else { (16, 6) };
    let across = across.min(stem.filters.max(1));
    let down = stem.filters.div_ceil(across);
    let place = |filter: usize| (4 * (filter % across), 4 * (filter / across));
    let mut rims = String::new();
    let mut colours: BTreeMap<(&str, u8), String> = BTreeMap::new();
    for filter in 0..stem.filters {
        let (left, top) = place(filter);
        let _ = write!(rims, "M{left} {top}h3v3h-3z");
        let from = 9 * (filter * stem.planes.len() + plane);
        for (cell, number) in stem.kernels[from..from + 9].iter().enumerate() {
            let Some(colour) = colour(*number) else { continue };
            let path = colours.entry(colour).or_default();
            let _ = write!(path, "M{} {}.5h1", left + cell % 3, top + cell / 3);
        }
    }
    let (width, height) = (4 * across, 4 * down);
    html! {
        svg.kernels width=(pixels * width) height=(pixels * height) viewBox=(format!("-0.5 -0.5 {width} {height}"))
            role="img" aria-label=(format!("kernels of {}", stem.planes[plane])) data-kernels=(plane) data-across=(across) {
            path.rim d=(rims) {}
            @for ((side, strength), path) in &colours {
                path class=(side) stroke-opacity=(format!("{:.2}", f64::from(*strength) / COLOURS)) d=(path) {}
            }
        }
    }
}

/// Blue above 0, orange below, nothing at 0; magenta of what is no number. The strength is the root of the number, so
/// that weak kernels are seen beside strong ones.
fn colour(number: Option<i8>) -> Option<(&'static str, u8)> {
    let Some(number) = number else { return Some(("none", COLOURS as u8)) };
    let strength = (COLOURS * (f64::from(number).abs() / 127.0).sqrt()).round() as u8;
    (strength > 0).then_some((if number < 0 { "below" } else { "above" }, strength))
}

/// A bar for each channel of a batch norm, in ascending order; dead ones are marked below. What is no number has no
/// bar.
pub(super) fn channels(norm: &Norm, number: usize, of: &str, numbers: &[Option<f64>]) -> Markup {
    let (width, height, foot) = (190.0, 34.0, 6.0);
    let mut order: Vec<(f64, usize)> =
        numbers.iter().enumerate().map(|(at, number)| (number.unwrap_or(0.0), at)).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let low = order.first().map_or(0.0, |(number, _)| number.min(0.0));
    let high = order.last().map_or(0.0, |(number, _)| number.max(0.0));
    let span = if high > low { high - low } else { 1.0 };
    let y = |number: f64| (height - foot) * (high - number) / span;
    let step = width / order.len().max(1) as f64;
    let wide = step - if step > 3.0 { 1.0 } else { 0.0 };
    let mut bars = String::new();
    let mut dead = String::new();
    for (place, &(number, channel)) in order.iter().enumerate() {
        let x = step * place as f64;
        let _ = write!(bars, "M{x:.2} {:.2}V{:.2}h{wide:.2}V{:.2}z", y(0.0), y(number), y(0.0));
        if norm.dead.contains(&channel) {
            let _ = write!(dead, "M{x:.2} {height}v-5h{:.2}v5z", wide.max(1.0));
        }
    }
    let said = format!("{of} of {} channels, from {} to {}", order.len(), plain(Some(low)), plain(Some(high)));
    html! {
        svg width=(width) height=(height) role="img" aria-label=(said) data-norm=(number) data-of=(of) {
            path.own d=(bars) {}
            line.base x1="0" x2=(width) y1=(format!("{:.2}", y(0.0))) y2=(format!("{:.2}", y(0.0))) {}
            @if !dead.is_empty() { path.dead d=(dead) {} }
        }
    }
}
