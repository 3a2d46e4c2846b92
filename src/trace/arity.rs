//! The numbers of parameters, arguments and results there can be: what tuples are written out for.

/// Calls `$callback!` with a row per tuple of one to twelve: its length and a name for each element.
macro_rules! for_each_tuple {
    ($callback:ident) => {
        $callback! {
            1 A;
            2 A B;
            3 A B C;
            4 A B C D;
            5 A B C D E;
            6 A B C D E F;
            7 A B C D E F G;
            8 A B C D E F G H;
            9 A B C D E F G H I;
            10 A B C D E F G H I J;
            11 A B C D E F G H I J K;
            12 A B C D E F G H I J K L;
        }
    };
}
pub(crate) use for_each_tuple;
