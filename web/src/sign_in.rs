//! Signing in with the token: a form, and a cookie that this site alone receives.

use axum::extract::{Form, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;

use crate::App;
use crate::view::Section;

/// The address of the form.
pub(crate) const PATH: &str = "/sign-in";

/// The name of the cookie.
pub(crate) const COOKIE: &str = "tengen_session";

/// What the form sends.
#[derive(Deserialize)]
pub(crate) struct Credentials {
    token: String,
}

/// The form.
pub(crate) async fn form(State(app): State<App>) -> Response {
    page(&app, StatusCode::OK, None)
}

/// Checks the token. A wrong one leads back to the form.
pub(crate) async fn submit(
    State(app): State<App>,
    headers: HeaderMap,
    Form(credentials): Form<Credentials>,
) -> Response {
    let access = app.access();
    let Some(session) = access.session_of(credentials.token.trim()) else {
        return page(&app, StatusCode::FORBIDDEN, Some("This is not the token of this server."));
    };
    // Behind a proxy the page is encrypted and this request is not.
    let is_encrypted = headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if access.is_tls || is_encrypted { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict{secure}");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

fn page(app: &App, status: StatusCode, error: Option<&str>) -> Response {
    let content = html! {
        h1 { "Sign in" }
        p { "The token is the first line of the file that the server was started with (" code { "--token-file" } ")." }
        @if let Some(error) = error { p.bad role="alert" { (error) } }
        form.line method="post" action=(PATH) {
            label for="token" { "Token" }
            input #token type="password" name="token" autocomplete="current-password" required autofocus;
            button { "Sign in" }
        }
    };
    (status, app.view("Sign in", Section::None).page(&content)).into_response()
}
