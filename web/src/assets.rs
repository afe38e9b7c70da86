//! Style sheets and scripts: in the program, under an address that changes with any of them.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// A file of the application.
struct Asset {
    /// Its name, by which modules import each other.
    name: &'static str,
    text: &'static str,
}

/// A file of `web/assets`.
macro_rules! of_web {
    ($name:literal) => {
        Asset { name: $name, text: include_str!(concat!("../assets/", $name)) }
    };
}

const ASSETS: &[Asset] = &[
    Asset { name: "style.css", text: page::STYLE },
    Asset { name: "plots.js", text: page::PLOTS },
    of_web!("page.js"),
    Asset { name: "network.css", text: study::inspect::STYLE },
    Asset { name: "network.js", text: study::inspect::SCRIPT },
    // Of the pages for players.
    of_web!("play.css"),
    of_web!("board.js"),
    of_web!("clock.js"),
    of_web!("dom.js"),
    of_web!("files.js"),
    of_web!("game.js"),
    of_web!("graph.js"),
    of_web!("kept.js"),
    of_web!("link.js"),
    of_web!("panels.js"),
    of_web!("play.js"),
    of_web!("review.js"),
    of_web!("tree.js"),
    of_web!("watch.js"),
];

/// The address of a file.
///
/// # Panics
/// There is no such file.
pub(crate) fn asset(name: &str) -> String {
    assert!(ASSETS.iter().any(|asset| asset.name == name), "no asset {name}");
    format!("/assets/{}/{name}", *DIGEST)
}

/// The text of a file, for tests of what scripts and the server must agree on.
#[cfg(test)]
pub(crate) fn text(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).expect("there is such a file").text
}

/// Of all files together, so that a module's imports change with what they name.
static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    ASSETS.iter().for_each(|asset| {
        digest.update(asset.name);
        digest.update(asset.text);
    });
    digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

/// Serves a file, under any digest: an older page may still be open.
pub(crate) async fn serve(Path((digest, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return (StatusCode::NOT_FOUND, "no such file\n").into_response();
    };
    let is_current = digest == *DIGEST;
    let headers = [
        (header::CONTENT_TYPE, content_type(asset.name)),
        (header::CACHE_CONTROL, if is_current { "public, max-age=31536000, immutable" } else { "no-cache" }),
    ];
    (headers, asset.text).into_response()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What all pages together load, before it is compressed.
    const MOST: usize = 256 << 10;

    #[test]
    fn all_assets_together_are_small() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.text.len()).sum();
        assert!(bytes <= MOST, "{bytes} bytes");
    }

    #[test]
    fn assets_have_one_name_and_a_type() {
        for (place, asset) in ASSETS.iter().enumerate() {
            assert!(ASSETS[..place].iter().all(|other| other.name != asset.name), "{}", asset.name);
            assert!(!content_type(asset.name).starts_with("text/plain"), "{}", asset.name);
        }
    }
}
