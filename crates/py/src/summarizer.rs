//! A callable of Python as a summariser.

use pyo3::prelude::*;
use strongroom::summariser::{Request, Summariser};
use strongroom::{Error, Result};

/// A callable that takes the request as JSON and returns the draft.
#[derive(Debug)]
pub(crate) struct Callable {
    name: String,
    call: Py<PyAny>,
}

impl Callable {
    pub(crate) fn new(name: String, call: Py<PyAny>) -> Self {
        Self { name, call }
    }
}

impl Summariser for Callable {
    fn name(&self) -> &str {
        &self.name
    }

    fn draft(&self, request: &Request) -> Result<String> {
        let request = request.json()?;
        Python::attach(|py| {
            let draft = self.call.call1(py, (request,)).map_err(|error| {
                // The words of an exception may hold a key.
                let kind = error
                    .get_type(py)
                    .name()
                    .map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
                Error::unavailable(format!("it raised {kind}"))
            })?;
            draft.extract::<String>(py).map_err(|_| Error::unavailable("what it returned is no str"))
        })
    }
}
