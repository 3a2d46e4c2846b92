//! The arguments of a call: one leaf for each parameter, or structures of them.

use crate::array::node::Array;
use crate::jit::input::{Arg, Input};
use crate::jit::output::{ArrayTree, Leaves};
use crate::trace::arity::for_each_tuple;
use ndjit_eval::plan::compiled::Lengths;
use ndjit_ir::{Error, ErrorCode, Result};

/// The arguments of a function with `N` parameters.
#[doc(hidden)]
pub enum CallArgs<'a, const N: usize> {
    /// Arrays and numbers: one leaf for each parameter.
    Leaves([Arg<'a>; N]),
    /// At least one structure.
    Trees(TreeArgs<'a>),
}

/// The leaves of arguments, and their structure.
#[doc(hidden)]
#[derive(Default)]
pub struct TreeArgs<'a> {
    args: Vec<Arg<'a>>,
    structure: Lengths,
}

impl<'a, const N: usize> CallArgs<'a, N> {
    /// Returns the leaves and their structure.
    pub(crate) fn parts(&mut self) -> (&mut [Arg<'a>], &[usize]) {
        match self {
            CallArgs::Leaves(args) => (args, &[]),
            CallArgs::Trees(trees) => trees.parts(),
        }
    }
}

impl<'a> TreeArgs<'a> {
    pub(crate) fn leaf(&mut self, arg: Arg<'a>) {
        self.args.push(arg);
        self.structure.extend([1, 0]);
    }

    /// Adds a structure of arrays as one argument.
    #[doc(hidden)]
    pub fn tree(&mut self, tree: &'a impl ArrayTree) -> Result<()> {
        let leaves = leaves(tree);
        self.described(&leaves);
        leaves.arrays.into_iter().try_for_each(|array| {
            self.args.push(array.arg()?);
            Ok(())
        })
    }

    /// Adds an owned structure, like [`tree`](TreeArgs::tree). The results may reuse its memory.
    #[doc(hidden)]
    pub fn donated(&mut self, tree: impl ArrayTree) -> Result<()> {
        let own = leaves(&tree);
        self.described(&own);
        let arrays: Vec<Array> = own.arrays.into_iter().cloned().collect();
        drop(tree);
        arrays.into_iter().try_for_each(|array| {
            self.args.push(array.arg()?);
            Ok(())
        })
    }

    pub(crate) fn parts(&mut self) -> (&mut [Arg<'a>], &[usize]) {
        (&mut self.args, &self.structure)
    }

    fn described(&mut self, leaves: &Leaves<'_>) {
        push(&mut self.structure, leaves.arrays.len(), &leaves.lengths);
    }

    /// Returns the leaves if there is one for each parameter.
    pub(crate) fn only_leaves<const N: usize>(self) -> Result<[Arg<'a>; N]> {
        let given = self.args.len();
        self.args.try_into().map_err(|_| several(given))
    }
}

/// Adds the structure of a parameter.
pub(crate) fn push(structure: &mut Lengths, leaves: usize, lists: &[usize]) {
    structure.extend([leaves, lists.len()]);
    structure.extend_from_slice(lists);
}

fn leaves(tree: &impl ArrayTree) -> Leaves<'_> {
    let mut leaves = Leaves::default();
    tree.leaves(&mut leaves);
    leaves
}

/// Returns the only array of a structure.
///
/// # Errors
/// `Arity` for another number of arrays.
#[doc(hidden)]
pub fn only_leaf(tree: &impl ArrayTree) -> Result<Arg<'_>> {
    match leaves(tree).arrays[..] {
        [array] => array.arg(),
        ref all => Err(several(all.len())),
    }
}

/// Returns the only array of an owned structure, like [`only_leaf`]. The results may reuse its memory.
#[doc(hidden)]
pub fn only_array<'a>(tree: impl ArrayTree) -> Result<Arg<'a>> {
    let array = match leaves(&tree).arrays[..] {
        [array] => array.clone(),
        ref all => return Err(several(all.len())),
    };
    drop(tree);
    array.arg()
}

fn several(given: usize) -> Error {
    Error::new(ErrorCode::Arity, format!("call: a structure of {given} arrays where the function takes one"))
        .help("functions of structures are `jit(trees(|p: Params<Expr>, x: Expr| …))`")
}

macro_rules! trees {
    ($([$($generics:tt)*] $tree:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<'a, $($generics)*> Input<'a> for &'a $tree {
            const IS_TREE: bool = true;

            fn arg(self) -> Result<Arg<'a>> {
                only_leaf(self)
            }

            fn args(self, into: &mut TreeArgs<'a>) -> Result<()> {
                into.tree(self)
            }
        }
    )*};
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {
        trees! {
            $([$($t: ArrayTree),*] ($($t,)*);)*
        }
    };
}

for_each_tuple!(tuples);
trees! {
    [] Vec<Array>;
    [const N: usize] [Array; N];
}
