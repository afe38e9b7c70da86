//! Signing in with the token: a form, and a cookie that this site alone receives.

use axum::extract::{Form, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;

use crate::App;
use crate::games_page::escaped;
use crate::query::Query;
use crate::view::Section;

/// The address of the form.
pub(crate) const PATH: &str = "/sign-in";

/// The page that was requested before the form.
#[derive(Deserialize)]
pub(crate) struct Destination {
    to: Option<String>,
}

/// What the form sends.
#[derive(Deserialize)]
pub(crate) struct Credentials {
    token: String,
    to: Option<String>,
}

/// The address of the form for a visitor who requests the page at `uri`.
pub(crate) fn address(uri: &Uri) -> String {
    match uri.path_and_query().map(PathAndQuery::as_str) {
        None | Some("/") => PATH.to_owned(),
        Some(to) => format!("{PATH}?to={}", escaped(to)),
    }
}

/// The form.
pub(crate) async fn form(State(app): State<App>, Query(Destination { to }): Query<Destination>) -> Response {
    page(&app, StatusCode::OK, to.as_deref(), None)
}

/// Checks the token. A right one leads to the requested page, a wrong one back to the form.
pub(crate) async fn submit(
    State(app): State<App>,
    headers: HeaderMap,
    Form(credentials): Form<Credentials>,
) -> Response {
    let (access, to) = (app.access(), credentials.to.as_deref().filter(|to| is_own(to)));
    let Some(session) = access.session_of(credentials.token.trim()) else {
        return page(&app, StatusCode::FORBIDDEN, to, Some("This is not the token of this server."));
    };
    // Behind a proxy the page is encrypted and this request is not.
    let is_encrypted = headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if access.is_tls || is_encrypted { "; Secure" } else { "" };
    // Strict would ask for the token at every link from another site. The guard refuses what such a site may not do.
    let cookie = format!("{}={session}; Path=/; HttpOnly; SameSite=Lax{secure}", access.cookie);
    ([(header::SET_COOKIE, cookie)], Redirect::to(to.unwrap_or("/"))).into_response()
}

/// Whether this is the address of a page of this server. Browsers read two slashes, also backward ones, as the
/// beginning of a host, and skip tabs.
fn is_own(to: &str) -> bool {
    let is_path = to.strip_prefix('/').is_some_and(|rest| !rest.starts_with(['/', '\\']));
    is_path && to.bytes().all(|byte| byte.is_ascii_graphic())
}

fn page(app: &App, status: StatusCode, to: Option<&str>, error: Option<&str>) -> Response {
    let content = html! {
        h1 { "Sign in" }
        p { "The token is the first line of the file that the server was started with (" code { "--token-file" } ")." }
        @if let Some(error) = error { p.bad role="alert" { (error) } }
        // Without an action it posts to its own address, whose fragment, such as a shared game, outlives the redirects.
        form.line method="post" {
            @if let Some(to) = to { input type="hidden" name="to" value=(to); }
            label for="token" { "Token" }
            input #token type="password" name="token" autocomplete="current-password" required autofocus;
            button { "Sign in" }
        }
    };
    (status, app.view("Sign in", Section::None).page(&content)).into_response()
}
