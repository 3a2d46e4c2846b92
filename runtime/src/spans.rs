//! Spans for the crate `tracing`, with the feature of that name: one for each compilation stage, and one for each launch of a call.
//! Without the feature they are no-ops.

/// A span that ends when dropped.
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

/// Whether a subscriber collects spans. Its code runs at both ends of a span, where no lock is held and no thread waits.
#[cfg(feature = "tracing")]
pub fn are_collected() -> bool {
    tracing::span_enabled!(target: "ndjit", tracing::Level::DEBUG)
}

/// Runs code that other threads wait for, without collecting its spans.
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

/// Always false.
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
    /// A kernel is compiled on a miss of the cache, or another thread is waited for.
    kernel "ndjit::kernel" (rank: usize, inputs: usize, outputs: usize);
    /// A launch runs: so many loop nests, tile by tile if there are several. On a GPU it is submitted.
    launch "ndjit::launch" (launch: usize, nests: usize);
}
