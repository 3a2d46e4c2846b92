//! Commands as a shell runs them, in a folder with the files that pages speak of.

use ndjit_cli::Streams;
use std::fs;
use std::path::Path;
use std::sync::Once;

/// What a command wrote and its exit code. Errors come after results.
pub struct Done {
    pub text: String,
    pub code: u8,
}

/// Runs `ndjit …`, split as a shell would, with single quotes.
pub fn run(line: &str) -> Done {
    enter();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, watched: false };
    let code = ndjit_cli::run(words(line), &mut streams);
    out.extend(err);
    let text = String::from_utf8(out).unwrap();
    Done { text: text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"), code }
}

/// Goes to an empty folder with the table of the pages.
pub fn enter() {
    static ENTERED: Once = Once::new();
    ENTERED.call_once(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
        // Left over from the last time.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        std::env::set_current_dir(&folder).unwrap();
        fs::write("weather.csv", TABLE).unwrap();
        fs::write("axpy.graph", GRAPH).unwrap();
        fs::write("not.npy", "no header").unwrap();
    });
}

const TABLE: &str = "day,temp_max,rain\nmon,21.5,0\ntue,19,3\nwed,24.5,1\n";
const GRAPH: &str = "graph (%0: f32[3], %1: i8[3]) {
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : i8[3]
  %4 = add %0, %3 : f32[3]
  return %4
}
";

fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                any = true;
            }
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}
