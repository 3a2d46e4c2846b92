//! Every op on every dtype of its domain, in code of every width.

use ndjit_tests::each;

use ndjit_codegen::target::VectorWidth;
use ndjit_runtime::RunOptions;

#[test]
fn every_op_dtype_and_length() {
    let options = VectorWidth::ALL.map(|vector| RunOptions { threads: Some(1), vector, ..RunOptions::default() });
    let combinations = each::check(&options);
    println!("{combinations} ops and dtypes, {} lengths, vector and scalar", each::LENGTHS + 1);
    assert!(combinations > 400);
}
