//! The one exception of this module. The package turns it into one of its own by the kind.

use pyo3::prelude::*;
use strongroom::Error;

pyo3::create_exception!(
    _native,
    Failure,
    pyo3::exceptions::PyException,
    "A failed operation: its arguments are the kind and the message."
);

/// An error as the exception.
pub(crate) fn raised(error: &Error) -> PyErr {
    Failure::new_err((error.kind().word(), error.chain()))
}
