//! Tuple sizes: numbers of parameters, arguments and results.

/// Calls `$callback!` with a row per tuple size from one to twelve: the size and a name for each element.
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
