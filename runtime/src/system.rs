//! The machine that this process runs on.

use std::fs::read_to_string;

/// Bytes of memory of the machine, or of its container (cgroup v2); `None` if unknown.
pub fn memory() -> Option<usize> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let machine = line.split_whitespace().nth(1)?.parse::<usize>().ok()?.checked_mul(1024)?;
    let container = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some(machine.min(container.unwrap_or(machine)))
}
