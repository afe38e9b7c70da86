//! What can go wrong between a client and its server.

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::{Response, StatusCode};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, s3s::StdError>>;

/// How unreliable a server is.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    /// One request in so many meets trouble, each kind as likely: it is refused, delayed, lost before it is done, or its
    /// answer is lost or cut off after it is done. 0 for none.
    pub one_in: u32,
    /// What decides which.
    pub seed: u64,
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Fine,
    Refused,
    Delayed,
    Lost,
    AnswerLost,
    AnswerCut,
}

const TROUBLES: [Fate; 5] = [Fate::Refused, Fate::Delayed, Fate::Lost, Fate::AnswerLost, Fate::AnswerCut];

const DELAY: Duration = Duration::from_millis(50);

/// Decides the fate of each request.
pub(crate) struct Dice {
    one_in: u32,
    random: Mutex<Xoshiro256PlusPlus>,
}

impl Dice {
    pub(crate) fn new(trouble: Trouble) -> Dice {
        Dice { one_in: trouble.one_in, random: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(trouble.seed)) }
    }

    pub(crate) fn throw(&self) -> Fate {
        let mut random = self.random.lock().expect("nobody panics while throwing dice");
        if self.one_in == 0 || random.random_range(0..self.one_in) > 0 {
            return Fate::Fine;
        }
        TROUBLES[random.random_range(0..TROUBLES.len())]
    }
}

/// What S3 answers when the bucket is not there.
pub(crate) fn no_such_bucket() -> Answer {
    let body = "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>";
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync();
    let mut answer = Response::new(body);
    *answer.status_mut() = StatusCode::NOT_FOUND;
    answer
}

impl Fate {
    pub(crate) async fn before(self) -> io::Result<()> {
        match self {
            Fate::Lost => Err(io::Error::other("lost")),
            Fate::Delayed => {
                tokio::time::sleep(DELAY).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn refusal(self) -> Option<Answer> {
        let body = || Full::new(Bytes::new()).map_err(|never| match never {}).boxed_unsync();
        let mut refusal = Response::new(body());
        *refusal.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        (self == Fate::Refused).then_some(refusal)
    }

    pub(crate) async fn after(self, answer: Response<s3s::Body>) -> io::Result<Answer> {
        match self {
            Fate::AnswerLost => Err(io::Error::other("answer lost")),
            Fate::AnswerCut => cut(answer).await,
            _ => Ok(answer.map(BodyExt::boxed_unsync)),
        }
    }
}

/// Half of an answer, and then the end of the connection. An answer without a body is lost as a whole.
async fn cut(answer: Response<s3s::Body>) -> io::Result<Answer> {
    let (head, body) = answer.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    if body.is_empty() {
        return Err(io::Error::other("answer lost"));
    }
    let half = Frame::data(body.slice(..body.len() / 2));
    let frames = [Ok(half), Err(s3s::StdError::from("cut off"))];
    Ok(Response::from_parts(head, StreamBody::new(stream::iter(frames)).boxed_unsync()))
}
