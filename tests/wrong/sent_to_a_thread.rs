//! An expression that is sent to another thread.

use ndjit::Expr;

fn send(x: Expr) {
    std::thread::spawn(move || x + 1);
}

fn main() {
    let _ = send;
}
