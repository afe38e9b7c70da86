//! Requests to the store, as metrics. Without a recorder the counts are dropped. docs/METRICS.md describes the names.

use metrics::counter;

/// A kind of request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Get,
    Put,
    List,
    Head,
    Delete,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Get => "get",
            Operation::Put => "put",
            Operation::List => "list",
            Operation::Head => "head",
            Operation::Delete => "delete",
        }
    }

    /// A request was sent, for the first time or again.
    pub(crate) fn asked(self) {
        counter!("tengen_store_requests_total", "operation" => self.name()).increment(1);
    }

    /// A transient error occurred, and the request is retried.
    pub(crate) fn again(self) {
        counter!("tengen_store_retries_total", "operation" => self.name()).increment(1);
    }

    /// It failed for good. That there is no such file, or that there is one, is a response.
    pub(crate) fn failed(self, error: &object_store::Error) {
        let answered = matches!(
            error,
            object_store::Error::NotFound { .. }
                | object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
        );
        if !answered {
            counter!("tengen_store_errors_total", "operation" => self.name()).increment(1);
        }
    }
}

/// So many bytes were read.
pub(crate) fn read(bytes: usize) {
    counter!("tengen_store_read_bytes_total").increment(bytes as u64);
}

/// So many bytes were published.
pub(crate) fn written(bytes: usize) {
    counter!("tengen_store_written_bytes_total").increment(bytes as u64);
}

/// So many files were moved to quarantine.
pub(crate) fn quarantined(files: usize) {
    counter!("tengen_store_quarantined_files_total").increment(files as u64);
}
