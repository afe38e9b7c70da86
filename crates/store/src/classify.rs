//! Classes of errors of `object_store`, and their reasons in words for an operator.
//!
//! Where `object_store` 0.14 has a variant for an error, that decides. It has none for a request that failed while
//! listing or while credentials were fetched, and the type with the status is private: [`status`] reads it from the
//! text. `tests/it/classes.rs` makes each error with a real server.

use std::error::Error;
use std::io;

use crate::error::{Doing, StoreError, is_write_refusal, lacks_links};

/// Statuses of a server that has understood the request and will not do it, now or in half a minute: unauthorized,
/// forbidden, not found, insufficient storage.
const REFUSALS: [u16; 4] = [401, 403, 404, 507];

/// The words of `object_store` before the status of a response and its body.
const ANSWERED: &str = "Server returned non-2xx status code: ";

/// The words of `object_store` before the key of an object that S3 does not delete, the message and the code. The
/// response to the request has status 200.
const NOT_DELETED: &str = "DeleteObjects request failed for key ";

/// The words of `object_store` after the number of tries before the last one, if there were any.
const REPEATED: &str = " retries, max_retries: ";

/// Codes of servers that refuse a write until the operator acts: S3, Google Cloud Storage, MinIO, Ceph.
const NO_WRITES: [&str; 6] = [
    "AccessDenied",
    "AllAccessDisabled",
    "QuotaExceeded",
    "UserProjectAccountProblem",
    "XMinioAdminBucketQuotaExceeded",
    "XMinioStorageFull",
];

/// Codes that need an operator, with the remedy.
const ADVICE: [(&str, &str); 6] = [
    (
        "RequestTimeTooSkewed",
        "the clock of this machine is wrong: it and the server's differ by more than the server allows",
    ),
    ("SignatureDoesNotMatch", "the secret key is not that of the access key: see AWS_SECRET_ACCESS_KEY"),
    ("InvalidAccessKeyId", "unknown access key: see AWS_ACCESS_KEY_ID"),
    ("ExpiredToken", "the credentials have expired: renew them"),
    ("AccessDenied", "the credentials do not allow it"),
    ("XMinioStorageFull", "the store is full"),
];

/// Paths of metadata servers from which object_store reads credentials by default: on AWS, and on Google Cloud.
const METADATA: [&str; 3] = ["/latest/api/token", "/latest/meta-data/", "/computeMetadata/"];

/// The error of a store at `root` for what was requested of a path.
pub(crate) fn store_error(root: &str, doing: Doing, path: String, error: &object_store::Error) -> StoreError {
    let misconfigured = |reason: String| StoreError::BadUrl { url: root.to_owned(), reason };
    let no_bucket = || misconfigured("there is no such bucket".to_owned());
    match error {
        error if has_no_credentials(error) => misconfigured(reason(error)),
        // A new object can be written everywhere but in a missing bucket, and the list of an empty place is empty.
        object_store::Error::NotFound { .. } if doing == Doing::Write => no_bucket(),
        error if doing == Doing::List && status(error) == Some(404) => no_bucket(),
        object_store::Error::NotFound { .. } => StoreError::NotFound { path },
        // A range that is not there: readers request those that a footer or an index names.
        error if doing == Doing::Read && status(error) == Some(416) => {
            StoreError::Damaged { path, reason: "it is cut short".to_owned() }
        }
        object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } => {
            StoreError::AlreadyExists { path }
        }
        error if matches!(doing, Doing::Write | Doing::Delete) && refuses_writes(error) => {
            StoreError::Refused { doing: doing.verb(), path, reason: reason(error) }
        }
        _ => StoreError::Unreachable { doing: doing.verb(), path, reason: reason(error) },
    }
}

/// The errors of a bucket for each request of a file: to read, write, list and delete it. The text is that of
/// `object_store`, with the response in it.
#[cfg(any(test, feature = "testing"))]
pub fn errors_of_response(text: &str) -> [StoreError; 4] {
    let error = object_store::Error::Generic { store: "S3", source: text.into() };
    [Doing::Read, Doing::Write, Doing::List, Doing::Delete]
        .map(|doing| store_error("s3://bucket", doing, "s3://bucket/run/file".to_owned(), &error))
}

/// The error of the operating system or of the server, without the text around it, which repeats the path.
fn reason(error: &object_store::Error) -> String {
    let text = error.to_string();
    if METADATA.iter().any(|place| text.contains(place)) {
        return format!(
            "there are no credentials for the bucket in the environment, and the machine gives none ({text})"
        );
    }
    if let Some(system) = system_error(error) {
        let remedy = match system.kind() {
            _ if lacks_links(system) => "; the file system may have no hard links, which a store in a folder needs",
            io::ErrorKind::PermissionDenied => "; give this user the permission",
            _ => "",
        };
        return format!("{system}{remedy}");
    }
    match code_and_message(&text) {
        Some((code, message)) => {
            let advice = ADVICE.iter().find(|(known, _)| *known == code).map(|(_, advice)| format!("{advice} "));
            format!("{}(the server says {code}: {message})", advice.unwrap_or_default())
        }
        None => text,
    }
}

/// The code and the message of a server's response.
fn code_and_message(text: &str) -> Option<(&str, &str)> {
    if let Some((_, deletion)) = text.split_once(NOT_DELETED) {
        let (message, code) = deletion.split_once(": ")?.1.rsplit_once(" (code: ")?;
        return Some((code.strip_suffix(')')?, message));
    }
    let of = |tag: &str| Some(text.split_once(&format!("<{tag}>"))?.1.split_once(&format!("</{tag}>"))?.0);
    Some((of("Code")?, of("Message").unwrap_or_default()))
}

/// Whether it is known that the machine has no credentials to give: it responded so.
fn has_no_credentials(error: &object_store::Error) -> bool {
    let text = error.to_string();
    METADATA.iter().any(|place| text.contains(place)) && status(error) == Some(404)
}

/// Whether a server has refused for a reason that does not pass.
pub(crate) fn is_refusal(error: &object_store::Error) -> bool {
    status(error).is_some_and(|status| REFUSALS.contains(&status)) || has_code_of_refusal(error)
}

/// Whether a server's response has one of the codes with which it refuses a write until the operator acts.
fn has_code_of_refusal(error: &object_store::Error) -> bool {
    code_and_message(&error.to_string()).is_some_and(|(code, _)| NO_WRITES.contains(&code))
}

/// Whether a server has refused a request for the age of its signature, and `object_store` had sent it before. It signs
/// a request once: when the machine sleeps between two tries, the second one is too old, and a new request is not.
/// Without a try before, the clock is wrong.
pub(crate) fn has_old_signature(error: &object_store::Error) -> bool {
    let text = error.to_string();
    text.contains("<Code>RequestTimeTooSkewed</Code>") && text.contains(REPEATED)
}

/// The status of a server's response.
fn status(error: &object_store::Error) -> Option<u16> {
    error.to_string().split_once(ANSWERED)?.1.get(..3)?.parse().ok()
}

/// Whether a write failed for a reason that only the operator can remove: a full or read-only disk, a quota, no
/// permission.
fn refuses_writes(error: &object_store::Error) -> bool {
    if let Some(system) = system_error(error) {
        return is_write_refusal(system);
    }
    status(error) == Some(507) || has_code_of_refusal(error)
}

/// The error of the operating system, if there is one.
pub(crate) fn system_error(error: &object_store::Error) -> Option<&io::Error> {
    let causes = std::iter::successors(Some(error as &(dyn Error + 'static)), |&cause| cause.source());
    let mut system = causes.filter_map(|cause| cause.downcast_ref::<io::Error>());
    system.find(|e| e.raw_os_error().is_some())
}

#[cfg(test)]
mod tests {
    use exit_class::{Classified, ExitClass};

    use super::*;

    fn said(text: &str) -> String {
        reason(&object_store::Error::Generic { store: "S3", source: text.into() })
    }

    #[test]
    fn server_message_is_unwrapped() {
        let skewed = "Error performing GET http://x in 1ms - Server returned non-2xx status code: 403 Forbidden: <?xml?>\n\
                      <Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>";
        assert_eq!(
            said(skewed),
            "the clock of this machine is wrong: it and the server's differ by more than the server allows (the server says \
             RequestTimeTooSkewed: The difference is too large.)"
        );
        assert_eq!(said("<Code>Other</Code><Message>m</Message>"), "(the server says Other: m)");
        assert_eq!(
            said("DeleteObjects request failed for key r/x: Access: Denied (code: AccessDenied)"),
            "the credentials do not allow it (the server says AccessDenied: Access: Denied)"
        );
        assert!(
            said("Error performing PUT http://169.254.169.254/latest/api/token in 2s")
                .starts_with("there are no credentials")
        );
        let asked = |answer: &str| {
            let text = format!("Error performing GET http://x/latest/meta-data/iam/ in 1ms - {answer}");
            has_no_credentials(&object_store::Error::Generic { store: "S3", source: text.into() })
        };
        assert!(asked(&format!("{ANSWERED}404 Not Found: ")) && !asked("connection refused"));
        let answered = |status: &str| {
            let source = format!("Error performing LIST http://x in 1ms - {ANSWERED}{status}").into();
            is_refusal(&object_store::Error::Generic { store: "S3", source })
        };
        assert!(answered("507 Insufficient Storage: ") && answered("403 Forbidden: "));
        assert!(!answered("503 Service Unavailable: the page 404 Not Found is not here"));
    }

    #[test]
    fn response_decides_by_its_status_and_code() {
        use ExitClass::{Configuration, Failure, StoreRefuses, StoreUnreachable};
        let check = |text: &str, classes: [ExitClass; 4]| {
            let found = errors_of_response(&format!("{ANSWERED}{text}")).map(|error| error.class());
            assert_eq!(found, classes, "read, write, list and delete: {text}");
        };
        check("404 Not Found: ", [StoreUnreachable, StoreUnreachable, Configuration, StoreUnreachable]);
        check("416 Range Not Satisfiable: ", [Failure, StoreUnreachable, StoreUnreachable, StoreUnreachable]);
        let denied = "403 Forbidden: <Error><Code>AccessDenied</Code>";
        check(denied, [StoreUnreachable, StoreRefuses, StoreUnreachable, StoreRefuses]);
    }

    #[test]
    fn refuses_writes_only_where_the_operator_must_act() {
        let system = |code| {
            let source = io::Error::from_raw_os_error(code);
            refuses_writes(&object_store::Error::Generic { store: "x", source: source.into() })
        };
        // ENOSPC, EDQUOT, EROFS, EACCES, EPERM, EFBIG, EOPNOTSUPP.
        for code in [28, 122, 30, 13, 1, 27, 95] {
            assert!(system(code), "{}", io::Error::from_raw_os_error(code));
        }
        // EIO, ESTALE, ECONNREFUSED, ETIMEDOUT.
        for code in [5, 116, 111, 110] {
            assert!(!system(code), "{}", io::Error::from_raw_os_error(code));
        }
        let server = |text: &str| {
            let source = format!("{ANSWERED}{text}").into();
            refuses_writes(&object_store::Error::PermissionDenied { path: "x".to_owned(), source })
        };
        assert!(server("403 Forbidden: <Error><Code>AccessDenied</Code>"));
        assert!(server("403 Forbidden: <Error><Code>QuotaExceeded</Code>"));
        assert!(server("507 Insufficient Storage: "));
        for code in ["SignatureDoesNotMatch", "InvalidAccessKeyId", "RequestTimeTooSkewed", "ExpiredToken", "SlowDown"]
        {
            assert!(!server(&format!("403 Forbidden: <Error><Code>{code}</Code>")), "{code}");
        }
    }

    /// A test of a real folder says nothing where it runs as root.
    #[test]
    fn folder_without_permission_refuses_writes() {
        let denied = || io::Error::from_raw_os_error(13);
        let errors = [
            object_store::Error::Generic { store: "LocalFileSystem", source: denied().into() },
            object_store::Error::PermissionDenied { path: "r/x".to_owned(), source: denied().into() },
        ];
        for error in errors {
            for doing in [Doing::Write, Doing::Delete] {
                let found = store_error("/s", doing, "/s/r/x".to_owned(), &error);
                assert_eq!(found.class(), ExitClass::StoreRefuses, "{found}");
            }
            let found = store_error("/s", Doing::Read, "/s/r/x".to_owned(), &error);
            assert_eq!(found.class(), ExitClass::StoreUnreachable, "{found}");
        }
    }

    #[test]
    fn message_of_the_system_takes_precedence() {
        let source = io::Error::from_raw_os_error(28);
        let expected = source.to_string();
        assert_eq!(reason(&object_store::Error::Generic { store: "x", source: source.into() }), expected);
        assert_eq!(said("cannot"), "Generic S3 error: cannot");
        let source = io::Error::from_raw_os_error(13);
        let expected = format!("{source}; give this user the permission");
        assert_eq!(reason(&object_store::Error::Generic { store: "x", source: source.into() }), expected);
        // Of link(2) on vfat and exFAT.
        let source = io::Error::from_raw_os_error(1);
        let expected = format!("{source}; the file system may have no hard links, which a store in a folder needs");
        assert_eq!(reason(&object_store::Error::Generic { store: "x", source: source.into() }), expected);
    }
}
