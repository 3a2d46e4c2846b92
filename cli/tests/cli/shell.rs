//! Runs commands as a shell does, in a folder with the files of the pages.

use ndjit_cli::Streams;
use std::fs;
use std::path::Path;
use std::sync::Once;

/// The output of a command, results before errors, and its exit code.
pub struct Done {
    pub text: String,
    pub code: u8,
}

/// Runs `ndjit …`, split as in a shell, with single quotes.
pub fn run(line: &str) -> Done {
    enter();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { out: &mut out, err: &mut err, watched: false };
    let code = ndjit_cli::run(words(line), &mut streams);
    out.extend(err);
    let text = String::from_utf8(out).unwrap();
    Done { text: text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"), code }
}

/// Enters an empty folder with the table of the pages.
pub fn enter() {
    static ENTERED: Once = Once::new();
    ENTERED.call_once(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
        // Left over from the previous run.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        std::env::set_current_dir(&folder).unwrap();
        for (name, text) in TABLES {
            fs::write(name, text).unwrap();
        }
        fs::write("axpy.graph", GRAPH).unwrap();
        fs::write("misspelled.graph", GRAPH.replace("multiply", "mulitply")).unwrap();
        fs::write("scale.graph", SCALE).unwrap();
        fs::write("not.npy", "no header").unwrap();
    });
}

const TABLES: [(&str, &[u8]); 14] = [
    ("weather.csv", b"day,temp_max,rain\nmon,21.5,0\ntue,19,3\nwed,24.5,1\n"),
    ("semicolons.csv", b"\xef\xbb\xbfdate;value;count\r\n1.5.;-1,5;10\r\n2.5.;2,25;20\r\n"),
    ("tabs.csv", b"a\tb\n1\t2\n"),
    ("mixed.csv", b"a;b\n1,5;2\n2.5;3\n"),
    ("thousands.csv", b"a;b\n1.234,5;2\n"),
    ("quoted.csv", b"a,b\n\"1,5\",2\n"),
    ("decimals.csv", b"value\n1,5\n2,5\n"),
    ("open.csv", b"a,b\n1,2\n3,\"4\n5,6\n"),
    ("nul.csv", b"a\n1\n\0\n"),
    ("twice.csv", b"a,a,b\n1,2,3\n"),
    ("nameless.csv", b"a,,b\n1,2,3\n"),
    ("days.csv", b"mon,21.5\ntue,19\n"),
    ("years.csv", b"name,2023,2024\nrain,1,2\n"),
    ("latin.csv", b"temp \xb0C,rain\n1,2\n"),
];
const GRAPH: &str = "graph (%0: f32[3], %1: i8[3]) {
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : i8[3]
  %4 = add %0, %3 : f32[3]
  return %4
}
";

const SCALE: &str = "graph (%0: f32[], %1: f32[3]) {
  %2 = multiply %0, %1 : f32[3]
  return %2
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
