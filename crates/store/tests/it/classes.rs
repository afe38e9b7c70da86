//! Classes of errors. `object_store` tells some of them apart only in its texts, so these tests make the errors with
//! the version of `Cargo.lock`: they fail when another version words them otherwise.

use bytes::Bytes;
use exit_class::{Classified, ExitClass};
use store::{Claim, Run, Store, StoreError};
use testing::s3::{Refusal, Server};

use crate::{config, name, on_server};

fn list(run: &Run) -> StoreError {
    run.logs().list().unwrap_err()
}

fn read(run: &Run) -> StoreError {
    run.config().unwrap_err()
}

fn write(run: &Run) -> StoreError {
    run.logs().publish("log", Bytes::from("x")).unwrap_err()
}

/// A client of the server with other options, each of which goes before the server's own.
fn client(server: &Server, url: &str, others: &[(&str, &str)]) -> Run {
    let mut options = server.options();
    options.retain(|(key, _)| !others.iter().any(|(other, _)| key == other));
    let others = others.iter().filter(|(_, value)| !value.is_empty());
    options.extend(others.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    Store::open_with(url, &options).unwrap().run(&name("r"))
}

#[test]
fn missing_bucket_is_a_misconfiguration_when_listed_and_written() {
    let server = Server::start().unwrap();
    let run = client(&server, "s3://no-such-bucket/x", &[]);
    for error in [list(&run), write(&run)] {
        assert!(matches!(&error, StoreError::BadUrl { reason, .. } if reason == "there is no such bucket"), "{error}");
    }
}

#[test]
fn skewed_clock_is_unreachable_at_once() {
    let server = Server::start().unwrap();
    let run = on_server(&server).run(&name("r"));
    server.refuse(Some(Refusal::ClockSkew));
    for fail in [list, read, write] {
        server.asked();
        let error = fail(&run);
        assert!(
            error.class() == ExitClass::StoreUnreachable && error.to_string().contains("RequestTimeTooSkewed"),
            "{error}"
        );
        assert!(server.asked().len() <= 2, "it is not retried");
    }
}

/// `object_store` repeats a request with its signature, which is too old after the machine has slept.
#[test]
fn request_during_which_the_machine_slept_is_signed_again() {
    let server = Server::start().unwrap();
    let run = on_server(&server).run(&name("r"));
    run.create(&config(&[])).unwrap();
    run.logs().publish("log", Bytes::from("x")).unwrap();
    let requests: [fn(&Run); 3] = [
        |run| assert!(run.exists().unwrap()),
        |run| assert_eq!(run.logs().read("log").unwrap(), "x"),
        |run| assert_eq!(run.logs().list().unwrap(), ["log"]),
    ];
    for request in requests {
        server.asked();
        server.sleep();
        request(&run);
        let asked = server.asked();
        assert!(asked.len() >= 3, "lost, refused and served: {asked:?}");
    }
}

#[test]
fn refused_writes_are_refused_and_reads_go_on() {
    let server = Server::start().unwrap();
    let run = on_server(&server).run(&name("r"));
    for (refusal, said) in [(Refusal::Full, "the store is full"), (Refusal::ReadOnly, "AccessDenied")] {
        server.refuse(Some(refusal));
        let error = write(&run);
        assert!(error.is_refused() && error.to_string().contains(said), "{error}");
        assert_eq!(run.logs().list().unwrap(), Vec::<String>::new());
    }
}

/// As to a client without the right `s3:DeleteObject`.
#[test]
fn refused_deletion_is_refused_at_once() {
    let server = Server::start().unwrap();
    let run = on_server(&server).run(&name("r"));
    let claim = Claim { first: "r-1".to_owned(), second: "random".to_owned(), numbers: vec![0] };
    assert!(run.claims().acquire("w", &claim).unwrap());
    server.refuse(Some(Refusal::ReadOnly));
    server.asked();
    let error = run.claims().release(&claim).unwrap_err();
    let said = ": the credentials do not allow it (the server says AccessDenied: Access Denied)";
    assert!(error.class() == ExitClass::StoreRefuses && error.to_string().ends_with(said), "{error}");
    assert_eq!(server.asked().len(), 1, "it is not retried");
    server.refuse(None);
    run.claims().release(&claim).unwrap();
    assert!(run.claims().acquire("w", &claim).unwrap());
}

#[test]
fn wrong_secret_key_is_named() {
    let server = Server::start().unwrap();
    let run = client(&server, &server.url(), &[("aws_secret_access_key", "wrong")]);
    for error in [list(&run), read(&run), write(&run)] {
        assert!(
            error.class() == ExitClass::StoreUnreachable && error.to_string().contains("see AWS_SECRET_ACCESS_KEY"),
            "{error}"
        );
    }
}

#[test]
fn missing_credentials_are_a_misconfiguration() {
    let server = Server::start().unwrap();
    let endpoint = server.options().into_iter().find(|(key, _)| key == "aws_endpoint").unwrap().1;
    let without =
        [("aws_access_key_id", ""), ("aws_secret_access_key", ""), ("aws_metadata_endpoint", endpoint.as_str())];
    let error = list(&client(&server, &server.url(), &without));
    assert!(
        matches!(&error, StoreError::BadUrl { reason, .. } if reason.contains("there are no credentials")),
        "{error}"
    );
}

#[test]
fn server_that_is_away_is_unreachable_after_retries() {
    let server = Server::start().unwrap();
    let run = on_server(&server).run(&name("r"));
    server.set_away(true);
    let error = read(&run);
    assert!(error.class() == ExitClass::StoreUnreachable, "{error}");
    assert!(server.asked().len() >= 7, "it is retried");
}
