//! Style sheets and scripts: in the program, compressed once, under an address that changes with any of them.

use std::io::Write;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
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
    of_web!("game.js"),
    of_web!("graph.js"),
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
    assert!(FILES.iter().any(|file| file.name == name), "no asset {name}");
    format!("/assets/{}/{name}", *DIGEST)
}

struct File {
    name: &'static str,
    plain: Bytes,
    compressed: Bytes,
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let file = |asset: &Asset| File {
        name: asset.name,
        plain: Bytes::from_static(asset.text.as_bytes()),
        compressed: compressed(asset.text.as_bytes()),
    };
    ASSETS.iter().map(file).collect()
});

/// Of all files together, so that a module's imports change with what they name.
static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    FILES.iter().for_each(|file| {
        digest.update(file.name);
        digest.update(&file.plain);
    });
    digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

fn compressed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Memory can be written.
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map(Bytes::from).unwrap_or_default()
}

/// Serves a file, under any digest: an older page may still be open.
pub(crate) async fn serve(Path((digest, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return (StatusCode::NOT_FOUND, "no such file\n").into_response();
    };
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_current = digest == *DIGEST;
    let fixed = [
        (header::CONTENT_TYPE, content_type(file.name)),
        (header::CACHE_CONTROL, if is_current { "public, max-age=31536000, immutable" } else { "no-cache" }),
        (header::VARY, "accept-encoding"),
    ];
    if accepted.split(',').any(|coding| coding.trim().starts_with("gzip")) {
        (fixed, [(header::CONTENT_ENCODING, "gzip")], file.compressed.clone()).into_response()
    } else {
        (fixed, file.plain.clone()).into_response()
    }
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

    /// What a page costs over the wire.
    const MOST_COMPRESSED: usize = 150 << 10;

    #[test]
    fn all_assets_together_are_small() {
        let bytes: usize = FILES.iter().map(|file| file.compressed.len()).sum();
        assert!(bytes <= MOST_COMPRESSED, "{bytes} bytes");
    }

    #[test]
    fn assets_have_one_name_and_a_type() {
        for (place, file) in FILES.iter().enumerate() {
            assert!(FILES[..place].iter().all(|other| other.name != file.name), "{}", file.name);
            assert!(!content_type(file.name).starts_with("text/plain"), "{}", file.name);
        }
    }
}
