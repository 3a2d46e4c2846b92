//! Wrong spellings do not compile, and the compiler says what to write instead.

#[test]
fn wrong_spellings() {
    trybuild::TestCases::new().compile_fail("tests/wrong/*.rs");
}
