//! Spans for the crate `tracing`, with the feature of that name: one for each stage of a program's way to machine code, and one for each
//! launch of a call. Without the feature they are nothing.

/// A span that is left when this is dropped.
#[must_use]
#[derive(Debug)]
pub struct Span {
    #[cfg(feature = "tracing")]
    _entered: tracing::span::EnteredSpan,
}

macro_rules! spans {
    ($($(#[$doc:meta])* $function:ident $name:literal ($($field:ident: $ty:ty),*);)*) => {$(
        $(#[$doc])*
        #[cfg(feature = "tracing")]
        pub fn $function($($field: $ty),*) -> Span {
            Span { _entered: tracing::debug_span!(target: "ndjit", $name, $($field),*).entered() }
        }

        $(#[$doc])*
        #[cfg(not(feature = "tracing"))]
        #[inline(always)]
        pub fn $function($(_: $ty),*) -> Span {
            Span {}
        }
    )*};
}

/// Whether somebody collects spans, whose code then runs where one begins and ends: no lock is held there, and nobody waits.
#[cfg(feature = "tracing")]
pub fn are_collected() -> bool {
    tracing::span_enabled!(target: "ndjit", tracing::Level::DEBUG)
}

/// Runs what others wait for: its spans are collected by nobody.
#[cfg(feature = "tracing")]
pub fn unseen<R>(body: impl FnOnce() -> R) -> R {
    tracing::dispatcher::with_default(&tracing::Dispatch::none(), body)
}

/// Runs it.
#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub fn unseen<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Nobody does.
#[cfg(not(feature = "tracing"))]
#[inline(always)]
pub fn are_collected() -> bool {
    false
}

spans! {
    /// A function is traced.
    trace "ndjit::trace" (params: usize);
    /// A pass runs.
    lower "ndjit::lower" (pass: &'static str);
    /// The kernels of a program are compiled, or found.
    compile "ndjit::compile" (kernels: usize);
    /// One kernel is compiled that the cache did not hold, or waited for while another thread does that.
    kernel "ndjit::kernel" (rank: usize, inputs: usize, outputs: usize);
    /// A launch runs: so many nests of loops, tile by tile if they are several. On a GPU it is handed over.
    launch "ndjit::launch" (launch: usize, nests: usize);
}
