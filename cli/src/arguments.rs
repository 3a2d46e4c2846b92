//! The command line's arguments.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use ndjit::{Policy, Stage, ValueType, nearest};
use std::path::PathBuf;

/// Compiles array expressions: explains dtypes, shows each stage of an expression, evaluates it over files.
#[derive(Debug, Parser)]
#[command(name = "ndjit", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
pub struct CommandLine {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

impl CommandLine {
    /// Rejects an unknown option in the place of the expression, which may begin with `-`.
    ///
    /// # Errors
    /// The error of clap for unknown options.
    pub fn checked(self) -> Result<CommandLine, clap::Error> {
        let expression = match &self.command {
            Command::Explain(ExplainArguments { expression, .. }) | Command::Eval(EvalArguments { expression, .. }) => {
                expression
            }
            Command::Promote(_) | Command::Run(_) | Command::Doctor => return Ok(self),
        };
        match option(expression) {
            None => Ok(self),
            Some(option) => {
                Err(unknown(option, if matches!(self.command, Command::Eval(_)) { "eval" } else { "explain" }))
            }
        }
    }
}

/// The name of a text such as `--threads` or `--threads=2`. Not an expression: `--x`, which equals `x`, is of no use.
fn option(text: &str) -> Option<&str> {
    let name = text.split('=').next()?;
    let word = name.strip_prefix("--")?;
    let begins = word.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')).then_some(name)
}

/// Clap's error for an unknown option of a command.
fn unknown(option: &str, command: &str) -> clap::Error {
    let mut arguments = CommandLine::command();
    arguments.build();
    let Some(command) = arguments.find_subcommand(command) else { return clap::Error::new(ErrorKind::UnknownArgument) };
    let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(command);
    error.insert(ContextKind::InvalidArg, ContextValue::String(option.to_owned()));
    let known: Vec<String> =
        command.get_arguments().filter_map(|known| known.get_long()).map(|long| format!("--{long}")).collect();
    if let Some(near) = nearest(option, known.iter().map(String::as_str)) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(near.to_owned()));
    }
    error.insert(ContextKind::Usage, ContextValue::StyledStr(command.clone().render_usage()));
    error
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Promotes dtypes and explains the result
    Promote(PromoteArguments),
    /// Shows the compilation of an expression, from its graph to machine code
    Explain(ExplainArguments),
    /// Evaluates an expression over files and numbers
    Eval(EvalArguments),
    /// Runs a program: a graph, or one that was saved
    Run(RunArguments),
    /// Describes this machine and tests the compiler
    Doctor,
}

/// `ndjit promote`.
#[derive(Debug, Args)]
#[command(after_help = "Dtypes: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128; weak types: i* f* c* \
    (quote them, for the shell).\nExample: ndjit promote u32 i32 --policy numpy2")]
pub struct PromoteArguments {
    /// Dtypes and weak types, in order
    #[arg(value_parser = value_type)]
    pub types: Vec<ValueType>,
    /// The promotion rules: standard, numpy2, torch …
    #[arg(long, default_value = "standard", value_parser = policy)]
    pub policy: Policy,
    /// Prints all pairs
    #[arg(long)]
    pub table: bool,
    /// Prints the pairs on which two policies differ
    #[arg(long, num_args = 2, value_names = ["P", "Q"], value_parser = policy, conflicts_with_all = ["types", "table"])]
    pub diff: Vec<Policy>,
    /// Writes the policy's Hasse diagram, as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `ndjit explain`.
#[derive(Debug, Args)]
#[command(after_help = "Example: ndjit explain 'x + y * 2' 'x:f32[n,3]' y:i8 --stage typed")]
pub struct ExplainArguments {
    /// The expression, or a saved program: a .ndjit file
    #[arg(allow_hyphen_values = true)]
    pub expression: String,
    /// The inputs by their types.
    #[arg(
        value_name = "NAME:TYPE",
        help = "The inputs: NAME:TYPE[EXTENTS], as x:f32[2,3], y:i8 or k:f*; an extent with a name gets an example number"
    )]
    pub inputs: Vec<String>,
    /// A stage, or all; the default is the graph and the dtypes' explanations
    #[arg(long, value_parser = stages, value_name = "NAME|all")]
    pub stage: Option<Stages>,
    /// Writes a page of all stages
    #[arg(long, value_name = "FILE", conflicts_with = "stage")]
    pub html: Option<PathBuf>,
    /// The promotion rules
    #[arg(long, default_value = "standard", value_parser = policy)]
    pub policy: Policy,
}

/// `ndjit eval`.
#[derive(Debug, Args)]
#[command(after_help = "Example: ndjit eval 'where(x > 0, x, expm1(x)) * 2' x=a.npy -o out.npy")]
pub struct EvalArguments {
    /// The expression
    #[arg(allow_hyphen_values = true)]
    pub expression: String,
    /// The inputs: NAME=FILE.npy, NAME=FILE.csv (all its columns), NAME=FILE.csv:COLUMN, or NAME=NUMBER
    #[arg(value_name = "NAME=INPUT")]
    pub inputs: Vec<String>,
    /// A .npy or .csv file for the result, or a .ndjit file for the program; by default the first elements are printed
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The settings of the run.
    #[command(flatten)]
    pub how: How,
}

/// `ndjit run`.
#[derive(Debug, Args)]
#[command(after_help = "Example: ndjit run program.graph x=a.npy y=b.npy --stage loops")]
pub struct RunArguments {
    /// The file with the graph, or a .ndjit file
    pub file: PathBuf,
    /// The arguments in order: [NAME=]FILE.npy, [NAME=]FILE.csv, [NAME=]FILE.csv:COLUMN, or numbers
    #[arg(value_name = "INPUT", allow_negative_numbers = true)]
    pub inputs: Vec<String>,
    /// Fills missing arguments with ones
    #[arg(long, conflicts_with = "random")]
    pub ones: bool,
    /// Fills missing arguments with random numbers of this seed, from 0 to 1 (integers: 0 to 99)
    #[arg(long, value_name = "SEED")]
    pub random: Option<u64>,
    /// Prints a stage, or all
    #[arg(long, value_parser = stages, value_name = "NAME|all")]
    pub stage: Option<Stages>,
    /// The settings of the run.
    #[command(flatten)]
    pub how: How,
}

/// Settings of runs.
#[derive(Debug, Args)]
pub struct How {
    /// The memory limit: 500MB, 2GB, 1GiB; default: half of the machine's
    #[arg(long, value_name = "SIZE", value_parser = crate::memory::parse)]
    pub memory: Option<usize>,
    /// The promotion rules
    #[arg(long, default_value = "standard", value_parser = policy)]
    pub policy: Policy,
    /// The maximum number of threads
    #[arg(long, allow_negative_numbers = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// The device: cpu, or gpu if built with that feature
    #[arg(long, default_value = "cpu", value_parser = ["cpu", "gpu"])]
    pub device: String,
    /// Hides the progress bar
    #[arg(long, short)]
    pub quiet: bool,
}

/// A list of stages.
#[derive(Clone, Debug)]
pub struct Stages(pub Vec<Stage>);

fn stages(text: &str) -> Result<Stages, String> {
    let mut stages = Vec::new();
    for name in text.split(',').map(str::trim) {
        let named = if name == "all" { Stage::ALL.to_vec() } else { vec![name.parse()?] };
        let new: Vec<Stage> = named.into_iter().filter(|stage| !stages.contains(stage)).collect();
        stages.extend(new);
    }
    Ok(Stages(stages))
}

/// The maximum number of threads.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_THREADS).contains(number));
    number.ok_or_else(|| format!("write a number from 1 to {MOST_THREADS}"))
}

fn policy(text: &str) -> Result<Policy, String> {
    text.parse().map_err(|unknown: ndjit::promotion::UnknownPolicy| unknown.to_string())
}

fn value_type(text: &str) -> Result<ValueType, String> {
    text.parse().map_err(|error: ndjit::Error| {
        let help = error.help_text().map(|help| format!("help: {help}"));
        let lines = error.facts().iter().cloned().chain(help);
        lines.fold(error.headline().to_owned(), |text, line| format!("{text}\n  {line}"))
    })
}
