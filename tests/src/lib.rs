//! What no single crate can check.
