//! When a call is to be evaluated: the parameters of Triton's extension "schedule_policy", and the timeout of gRPC.

use std::time::Duration;

use remote::Priority;
use remote::proto::kserve::ModelInferRequest;
use remote::proto::kserve::infer_parameter::ParameterChoice;
use tonic::{Request, Status};

/// Priorities are 1 for people and matches, and 2 for self-play.
pub(super) const LEVELS: u64 = 2;
/// The priority of calls that have none.
pub(super) const DEFAULT_LEVEL: u64 = 2;

/// When a call is to be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    pub(super) priority: Priority,
    /// Time from arrival after which the response is of no use.
    pub(super) timeout: Option<Duration>,
}

impl Schedule {
    /// Reads the parameters `priority` and `timeout` (microseconds), and the header `grpc-timeout`.
    pub(super) fn read(request: &Request<ModelInferRequest>) -> Result<Schedule, Status> {
        let priority = match parameter(request.get_ref(), "priority")?.unwrap_or(0) {
            0 => DEFAULT_LEVEL,
            level @ 1..=LEVELS => level,
            level => return Err(Status::invalid_argument(format!("priority {level} is not one of 0 to {LEVELS}"))),
        };
        let priority = if priority == DEFAULT_LEVEL { Priority::Selfplay } else { Priority::Interactive };
        let micros = parameter(request.get_ref(), "timeout")?.filter(|&micros| micros > 0);
        let header = request.metadata().get("grpc-timeout").and_then(|value| value.to_str().ok());
        let times = micros.map(Duration::from_micros).into_iter().chain(header.and_then(grpc_timeout));
        Ok(Schedule { priority, timeout: times.min() })
    }
}

/// A parameter that is a number.
fn parameter(request: &ModelInferRequest, name: &str) -> Result<Option<u64>, Status> {
    let choice = request.parameters.get(name).and_then(|parameter| parameter.parameter_choice.as_ref());
    let number = match choice {
        None => return Ok(None),
        Some(ParameterChoice::Int64Param(number)) => u64::try_from(*number).ok(),
        Some(ParameterChoice::Uint64Param(number)) => Some(*number),
        Some(_) => None,
    };
    let wrong = || Status::invalid_argument(format!("the parameter {name} is a whole number from 0 on"));
    number.map(Some).ok_or_else(wrong)
}

/// A time as gRPC writes it: up to eight digits and a unit.
fn grpc_timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = digits.parse().ok().filter(|_| digits.len() <= 8)?;
    Some(match unit {
        "H" => Duration::from_secs(3600 * number),
        "M" => Duration::from_secs(60 * number),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use remote::proto::kserve::InferParameter;
    use tonic::Code;

    use super::*;

    fn read(parameters: &[(&str, ParameterChoice)], timeout: Option<&str>) -> Result<Schedule, Code> {
        let parameter = |(name, choice): &(&str, ParameterChoice)| {
            ((*name).to_owned(), InferParameter { parameter_choice: Some(choice.clone()) })
        };
        let parameters = parameters.iter().map(parameter).collect();
        let mut request = Request::new(ModelInferRequest { parameters, ..ModelInferRequest::default() });
        if let Some(timeout) = timeout {
            request.metadata_mut().insert("grpc-timeout", timeout.parse().unwrap());
        }
        Schedule::read(&request).map_err(|status| status.code())
    }

    #[test]
    fn schedule_is_read_from_parameters_and_the_shorter_timeout() {
        use ParameterChoice::{Int64Param, StringParam, Uint64Param};
        let selfplay = Schedule { priority: Priority::Selfplay, timeout: None };
        let people = Schedule { priority: Priority::Interactive, timeout: None };
        let within = |micros| Schedule { timeout: Some(Duration::from_micros(micros)), ..selfplay };
        for (parameters, timeout, expected) in [
            (&[][..], None, selfplay),
            (&[("priority", Uint64Param(0)), ("timeout", Int64Param(0))], None, selfplay),
            (&[("priority", Uint64Param(2))], None, selfplay),
            (&[("priority", Uint64Param(1))], None, people),
            (&[("timeout", Int64Param(700))], None, within(700)),
            (&[("timeout", Int64Param(700))], Some("1m"), within(700)),
            (&[("timeout", Int64Param(7000))], Some("1m"), within(1000)),
            (&[], Some("3S"), within(3_000_000)),
            (&[], Some("123456789S"), selfplay),
            (&[], Some("x"), selfplay),
        ] {
            assert_eq!(read(parameters, timeout), Ok(expected), "{parameters:?} {timeout:?}");
        }
        for wrong in [Uint64Param(3), Int64Param(-1), StringParam("1".to_owned())] {
            assert_eq!(read(&[("priority", wrong)], None), Err(Code::InvalidArgument));
        }
    }
}
