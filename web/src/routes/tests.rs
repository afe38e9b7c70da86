//! What every request passes, without a connection.

use std::fs;

use analysis::Origin;
use analysis::book::{BookFile, BookHeader, BookKey, BookMove, Entry};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use axum::response::Response;
use clap::Parser;
use go::{Game, Move, Size};
use http_body_util::BodyExt;
use store::Store;
use tokio::sync::watch;
use tower::ServiceExt;

use super::*;
use crate::Access;
use crate::hosts::Hosts;
use crate::view::Navigation;

const HOST: &str = "localhost:8080";
const OWN: &str = "http://localhost:8080";
const TOKEN: &str = "correct-horse-battery-staple";

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    web: crate::ServeArgs,
}

fn application(access: Access) -> Router {
    with_book(access, None)
}

fn with_book(access: Access, book: Option<Book>) -> Router {
    let (_, stopped) = watch::channel(false);
    let store = Store::in_memory().unwrap();
    let navigation = Navigation { has_players: true, has_book: book.is_some() };
    let app = App::new(store, access, navigation, 8, stopped);
    routes(&app, Some(&Program::parse_from(["web"]).web.play), book).unwrap()
}

fn open() -> Access {
    Access::new(Hosts { is_loopback: true, ..Hosts::default() })
}

fn with_token() -> Access {
    of_token(TOKEN)
}

fn of_token(token: &str) -> Access {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, token).unwrap();
    open().with_token(&file).unwrap()
}

fn request(method: Method, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let request = Request::builder().method(method).uri(path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Body::empty()).unwrap()
}

async fn send(access: Access, request: Request<Body>) -> Response {
    application(access).oneshot(request).await.unwrap()
}

/// The response to what the form for signing in sends.
async fn sign_in(access: Access, body: &str, origin: &str) -> Response {
    let request = Request::post("/sign-in").header("host", HOST).header("origin", origin);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    send(access, request.body(Body::from(body.to_owned())).unwrap()).await
}

async fn status(method: Method, path: &str, headers: &[(&str, &str)]) -> StatusCode {
    send(open(), request(method, path, headers)).await.status()
}

async fn text(response: Response) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn names_of_other_sites_are_refused_on_every_address() {
    for path in ["/", "/healthz", "/assets/0/style.css", "/nothing", "/sign-in"] {
        for host in ["evil.example:8080", "localhost.evil.example", "192.168.0.7:8080"] {
            let refused = status(Method::GET, path, &[("host", host)]).await;
            assert_eq!(refused, StatusCode::MISDIRECTED_REQUEST, "{path} {host}");
        }
        assert_eq!(status(Method::GET, path, &[]).await, StatusCode::MISDIRECTED_REQUEST, "{path} without a host");
        let twice = [("host", HOST), ("host", "evil.example")];
        assert_eq!(status(Method::GET, path, &twice).await, StatusCode::MISDIRECTED_REQUEST, "{path}");
    }
    assert_eq!(status(Method::GET, "/", &[("host", HOST)]).await, StatusCode::OK);
}

#[tokio::test]
async fn changing_requests_come_from_a_page_of_this_server() {
    let foreign: [&[(&str, &str)]; 6] = [
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://localhost:9090")],
        &[],
        &[("origin", OWN), ("sec-fetch-site", "cross-site")],
        &[("origin", OWN), ("origin", OWN)],
    ];
    for headers in foreign {
        let headers = [&[("host", HOST)], headers].concat();
        assert_eq!(status(Method::POST, "/sign-in", &headers).await, StatusCode::FORBIDDEN, "{headers:?}");
        let upgrade = [&headers[..], &[("upgrade", "websocket"), ("connection", "upgrade")]].concat();
        assert_eq!(status(Method::GET, "/", &upgrade).await, StatusCode::FORBIDDEN, "{upgrade:?}");
    }
    let own = [("host", HOST), ("origin", OWN), ("sec-fetch-site", "same-origin")];
    assert_ne!(status(Method::POST, "/sign-in", &own).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn other_sites_may_link_to_pages_and_read_none() {
    let link = [("host", HOST), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    assert_eq!(status(Method::GET, "/", &link).await, StatusCode::OK);
    let read = [("host", HOST), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")];
    assert_eq!(status(Method::GET, "/", &read).await, StatusCode::FORBIDDEN);
    let with_origin = [("host", HOST), ("origin", "http://evil.example")];
    assert_eq!(status(Method::GET, "/", &with_origin).await, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn every_response_has_the_headers_of_security() {
    for (path, host) in [("/", HOST), ("/", "evil.example"), ("/nothing", HOST)] {
        let response = send(open(), request(Method::GET, path, &[("host", host)])).await;
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(response.headers().contains_key("cross-origin-opener-policy"));
    }
}

/// What the policy forbids would be dead in the page.
#[tokio::test]
async fn pages_have_no_inline_scripts_or_styles() {
    for path in ["/", "/nothing", "/sign-in"] {
        let page = text(send(open(), request(Method::GET, path, &[("host", HOST)])).await).await;
        assert!(!page.contains(" style=") && !page.contains("<style") && !page.contains(" onclick="), "{page}");
        assert!(page.matches("<script").count() == page.matches("<script type=\"module\" src=\"/assets/").count());
    }
}

#[tokio::test]
async fn token_opens_the_pages() {
    let page = |headers: &[(&str, &str)]| {
        let headers = [&[("host", HOST), ("accept", "text/html")], headers].concat();
        send(with_token(), request(Method::GET, "/", &headers))
    };
    let closed = page(&[]).await;
    assert_eq!(
        (closed.status(), &closed.headers()[header::LOCATION]),
        (StatusCode::SEE_OTHER, &"/sign-in".parse().unwrap())
    );
    assert_eq!(page(&[("authorization", &format!("Bearer {TOKEN}"))]).await.status(), StatusCode::OK);
    assert_eq!(page(&[("authorization", "Bearer wrong")]).await.status(), StatusCode::SEE_OTHER);

    assert_eq!(sign_in(with_token(), "token=something+else", OWN).await.status(), StatusCode::FORBIDDEN);
    let right = format!("token={TOKEN}");
    let behind_proxy = sign_in(with_token(), &right, "https://localhost:8080").await;
    assert!(behind_proxy.headers()[header::SET_COOKIE].to_str().unwrap().ends_with("; Secure"));
    let signed_in = sign_in(with_token(), &right, OWN).await;
    let cookie = signed_in.headers()[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax") && !cookie.contains("correct"), "{cookie}");
    let session = cookie.split(';').next().unwrap();
    assert_eq!(page(&[("cookie", &format!("other=1; {session}"))]).await.status(), StatusCode::OK);
    let (name, _) = session.split_once('=').unwrap();
    assert_eq!(page(&[("cookie", &format!("{name}=wrong"))]).await.status(), StatusCode::SEE_OTHER);
}

/// Browsers send the cookies of a host to all of its ports, and keep one of each name.
#[tokio::test]
async fn visitors_sign_in_to_two_servers_of_a_host() {
    let tokens = [TOKEN, "another-horse-another-battery"];
    let (mut names, mut cookies) = (Vec::new(), Vec::new());
    for token in tokens {
        let signed_in = sign_in(of_token(token), &format!("token={token}"), OWN).await;
        let cookie = signed_in.headers()[header::SET_COOKIE].to_str().unwrap();
        names.push(cookie.split('=').next().unwrap().to_owned());
        cookies.push(cookie.split(';').next().unwrap().to_owned());
    }
    assert_ne!(names[0], names[1]);
    let both = cookies.join("; ");
    let headers = [("host", HOST), ("accept", "text/html"), ("cookie", both.as_str())];
    for token in tokens {
        let page = send(of_token(token), request(Method::GET, "/", &headers)).await;
        assert_eq!(page.status(), StatusCode::OK, "{token}");
    }
}

/// A visitor may come by a link from another site, and no such link leads through the form to a third one.
#[tokio::test]
async fn signing_in_leads_to_the_requested_page_of_this_server() {
    let link =
        [("host", HOST), ("accept", "text/html"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    let closed = send(with_token(), request(Method::GET, "/runs/tiny?by=games", &link)).await;
    let form = "/sign-in?to=%2Fruns%2Ftiny%3Fby%3Dgames";
    assert_eq!((closed.status(), &closed.headers()[header::LOCATION]), (StatusCode::SEE_OTHER, &form.parse().unwrap()));
    let hidden = r#"<input type="hidden" name="to" value="/runs/tiny?by=games">"#;
    let page = text(send(with_token(), request(Method::GET, form, &link)).await).await;
    assert!(page.contains(hidden), "{page}");
    let refused = sign_in(with_token(), "token=wrong&to=%2Fruns%2Ftiny%3Fby%3Dgames", OWN).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let page = text(refused).await;
    assert!(page.contains(hidden), "{page}");
    for (to, location) in [
        ("%2Fruns%2Ftiny%3Fby%3Dgames", "/runs/tiny?by=games"),
        ("%2F%2Fevil.example", "/"),
        ("%2F%5Cevil.example", "/"),
        ("%2F%09%2Fevil.example", "/"),
        ("https%3A%2F%2Fevil.example", "/"),
        ("", "/"),
    ] {
        let signed_in = sign_in(with_token(), &format!("token={TOKEN}&to={to}"), OWN).await;
        assert_eq!(signed_in.status(), StatusCode::SEE_OTHER, "{to}");
        assert_eq!(signed_in.headers()[header::LOCATION], location, "{to}");
    }
}

#[tokio::test]
async fn parameters_that_cannot_be_read_are_named_in_a_page() {
    for path in ["/runs/tiny/models?page=x", "/runs/tiny/matches?page=x"] {
        let response = send(open(), request(Method::GET, path, &[("host", HOST)])).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{path}");
        let page = text(response).await;
        assert!(page.contains("parameter that cannot be read: ") && page.contains("All runs"), "{page}");
    }
}

#[tokio::test]
async fn game_of_no_model_is_not_found() {
    for path in ["/runs/tiny/games/x/w-0000000000001/0", "/runs/tiny/games/-1/w-0000000000001/0/values.csv"] {
        let response = send(open(), request(Method::GET, path, &[("host", HOST)])).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        assert!(text(response).await.contains("All runs"), "{path}");
    }
}

#[tokio::test]
async fn bodies_have_a_limit() {
    let body = Body::from(vec![b'a'; MOST_BODY + 1]);
    let kind = "application/x-www-form-urlencoded";
    let request = Request::post("/sign-in").header("host", HOST).header("origin", OWN).header("content-type", kind);
    assert_eq!(send(open(), request.body(body).unwrap()).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn nothing_changes_by_reading() {
    for path in ["/", "/sign-in", "/healthz"] {
        let response = send(open(), request(Method::GET, path, &[("host", HOST)])).await;
        assert!(!response.headers().contains_key(header::SET_COOKIE), "{path}");
    }
    assert_eq!(status(Method::DELETE, "/", &[("host", HOST), ("origin", OWN)]).await, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn assets_are_compressed_and_kept() {
    let path = assets::asset("style.css");
    let response = send(open(), request(Method::GET, &path, &[("host", HOST), ("accept-encoding", "gzip, br")])).await;
    assert_eq!(response.headers()[header::CONTENT_ENCODING], "gzip");
    assert!(response.headers()[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
    let plain = send(open(), request(Method::GET, "/assets/older/style.css", &[("host", HOST)])).await;
    assert_eq!(plain.headers()[header::CACHE_CONTROL], "no-cache");
    assert_eq!(text(plain).await, page::STYLE);
    assert_eq!(status(Method::GET, "/assets/0/nothing.js", &[("host", HOST)]).await, StatusCode::NOT_FOUND);
}

/// A book of 5x5 whose best line is C3 C2, and whose root has a move that leads nowhere.
fn book() -> Book {
    let size = Size::new(5).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.jsonl");
    let (mut file, _) = BookFile::open(&path, &BookHeader::new(Origin::of("<b>m</b>"), size, 7.0)).unwrap();
    let one =
        |&(r#move, prior, value): &(&str, f32, f32)| BookMove { r#move: r#move.to_owned(), prior, visits: 40, value };
    let mut add = |line: &str, to_move: &str, value: f32, moves: &[(&str, f32, f32)]| {
        let mut game = Game::new(size);
        line.split_whitespace().for_each(|text| game.play(Move::from_gtp(size, text).unwrap()).unwrap());
        let (key, visits) = (BookKey::new(&game).1, 40 * moves.len() as u32);
        let moves = moves.iter().map(one).collect();
        file.add(&Entry { key, to_move: to_move.to_owned(), visits, value, full: false, moves }).unwrap();
    };
    add("", "B", 0.5, &[("C3", 0.75, 0.5), ("C2", 0.125, -0.5)]);
    add("C3", "W", 0.5, &[("C2", 0.5, 0.5)]);
    add("C3 C2", "B", 1.0, &[]);
    Book::read(&path).unwrap()
}

async fn of_book(path: &str) -> (StatusCode, String) {
    let response =
        with_book(open(), Some(book())).oneshot(request(Method::GET, path, &[("host", HOST)])).await.unwrap();
    (response.status(), text(response).await.replace('\u{202f}', ""))
}

#[tokio::test]
async fn book_is_walked_move_by_move() {
    let (code, page) = of_book("/book").await;
    assert_eq!(code, StatusCode::OK, "{page}");
    for part in [
        "5×5, komi 7, model &lt;b&gt;m&lt;/b&gt;, 3 positions.",
        "Black to move. Black wins <b>100.0%</b> (100.0% to 100.0%).",
        "Its own search: 75.0% with 80 visits.",
        "<a href=\"/book?line=C3\">C3</a></th><td>75.0%</td><td>40</td><td>75.0%</td><td>100.0%</td>",
        ">C2</th><td>12.5%</td><td>40</td><td>25.0%</td><td>–</td><td>18.2% to 31.8%</td>",
        "Best line: <a href=\"/book?line=C3\">C3</a> → <a href=\"/book?line=C3%20C2\">C2</a>",
        "<a href=\"/book\" aria-current=\"page\">Book</a>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(" style=") && page.contains("<svg class=\"board\""), "{page}");
    let (code, page) = of_book("/book?line=C3+c2").await;
    assert_eq!(code, StatusCode::OK, "{page}");
    assert!(page.contains("1 black and 1 white stones") && page.contains("The game is over."), "{page}");
    // An image of a position of the book, too.
    let (code, page) = of_book("/book?line=C3+B3").await;
    assert_eq!((code, page.contains("1 black and 1 white stones")), (StatusCode::OK, true), "{page}");
}

#[tokio::test]
async fn what_a_book_does_not_have_is_not_found() {
    for line in ["C2", "C3+C3", "C3+C2+C1", "Z9", "C3+%3Cscript%3E", "pass", "%00"] {
        let (code, page) = of_book(&format!("/book?line={line}")).await;
        assert_eq!(code, StatusCode::NOT_FOUND, "{line}");
        assert!(page.contains("in the book") && !page.contains("<script>"), "{page}");
    }
    assert_eq!(status(Method::GET, "/book", &[("host", HOST)]).await, StatusCode::NOT_FOUND, "without a book");
}
