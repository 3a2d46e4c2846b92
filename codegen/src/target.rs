//! What a code generator can do, as data.
