//! Types that files hold as their text.

/// Conversions for `#[serde(try_from = "String", into = "String")]` by a type's own `FromStr` and `Display`.
macro_rules! held_as_text {
    ($type:ty, $error:ty) => {
        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<$type, $error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    };
}

pub(crate) use held_as_text;
