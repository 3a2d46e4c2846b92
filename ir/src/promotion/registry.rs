//! The registry of systems: the built-in ones, and users'.
//!
//! Nodes store a policy as a few bytes, so a system is never removed. An equal system has the same number. The number
//! of distinct systems is bounded. A look-up takes no lock.

use super::policy::BUILT_IN;
use super::system::{Rules, System, Table};
use crate::error::{Error, ErrorCode, Result};
use crate::lock::Mutex;
use std::sync::{LazyLock, OnceLock};

/// The maximum number of users' systems.
pub const USER_SYSTEMS: usize = 128;

/// The users' systems, on the heap: in the executable they would take 52 KB of empty cells.
static USERS: LazyLock<Box<[OnceLock<System>]>> =
    LazyLock::new(|| (0..USER_SYSTEMS).map(|_| OnceLock::new()).collect());
/// For each number, whether the system's joins are a partial lattice: a check of 5832 triples, which every explained
/// step needs.
static PARTIAL_LATTICES: [OnceLock<bool>; u8::MAX as usize + 1] = [const { OnceLock::new() }; u8::MAX as usize + 1];
/// Other names of built-in systems.
const ALIASES: [(&str, &str); 2] = [("jax", "standard"), ("jax_strict", "strict")];

static ADDING: Mutex<()> = Mutex::new(());

/// Returns the system of this number, which is from [`add`] or built-in.
pub(super) fn system(number: u8) -> &'static System {
    let number = usize::from(number);
    match BUILT_IN.get(number) {
        Some(system) => system,
        None => USERS.get(number - BUILT_IN.len()).and_then(OnceLock::get).unwrap_or(BUILT_IN[0]),
    }
}

/// Returns the cached answer whether the joins of the system of this number are a partial lattice.
pub(super) fn partial_lattice(number: u8) -> &'static OnceLock<bool> {
    &PARTIAL_LATTICES[usize::from(number)]
}

/// Returns the number of the system with this name or alias.
pub(super) fn named(name: &str) -> Option<u8> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    let users = USERS.iter().map_while(OnceLock::get);
    let mut all = BUILT_IN.iter().copied().chain(users);
    all.position(|system| system.name == name).map(|number| number as u8)
}

/// Returns the number of the system with this name, joins and rules, and adds the system if it is new.
///
/// # Errors
/// `Promotion` if the name is not one word or another system has it, or if too many were added.
pub(super) fn add(name: &str, joins: Table, rules: Rules) -> Result<u8> {
    let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if name.is_empty() || !is_word {
        let headline = format!("policy: the name `{}` is not one word", name.escape_debug());
        return Err(Error::new(ErrorCode::Promotion, headline)
            .help("use letters, digits and `_`: graphs are printed and read with it"));
    }
    let _adding = ADDING.lock();
    if let Some(number) = named(name) {
        let known = system(number);
        if known.joins == joins && known.rules == rules {
            return Ok(number);
        }
        let headline = format!("policy: another policy is named `{name}`");
        return Err(Error::new(ErrorCode::Promotion, headline).help("policies are told apart by name: choose another"));
    }
    let count = USERS.iter().map_while(OnceLock::get).count();
    match USERS.get(count) {
        // The lock is held, so the slot is free.
        Some(slot) => {
            let name = Box::leak(name.to_owned().into_boxed_str());
            let _ = slot.set(System { name, source: "", joins, joins_under: None, rules, lacks: &[], ops: &[] });
            Ok((BUILT_IN.len() + count) as u8)
        }
        None => Err(Error::new(
            ErrorCode::Promotion,
            format!("policy: {USER_SYSTEMS} policies have been added, no more fit"),
        )
        .help("a policy stays for the life of the process: make each once and keep it")),
    }
}
