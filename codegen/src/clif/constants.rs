//! The constants table of a kernel: one cell per distinct constant, loaded at each use, and the tables of look-ups.

use super::abi::{CELL, Cell};
use ndjit_ir::PrimType;
use ndjit_ir::body::LookupTable;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The table under construction. Offsets are in bytes from its start and stay valid.
#[derive(Default)]
pub(crate) struct ConstantPool {
    pub(crate) cells: Vec<Cell>,
    known: FxHashMap<Cell, i32>,
    tables: FxHashMap<Arc<LookupTable>, i32>,
    vectors: FxHashMap<Vec<u8>, i32>,
}

impl ConstantPool {
    /// Returns the offset of a cell with one value in all lanes.
    pub(crate) fn splat(&mut self, ty: PrimType, bits: u64) -> i32 {
        let cell = Cell::splat(ty, bits);
        let next = self.cells.len() as i32 * CELL;
        *self.known.entry(cell).or_insert_with(|| {
            self.cells.push(cell);
            next
        })
    }

    /// Returns the offset of a vector of a multiple of 16 bytes.
    pub(crate) fn vector(&mut self, bytes: &[u8]) -> i32 {
        if let Some(&known) = self.vectors.get(bytes) {
            return known;
        }
        let next = self.cells.len() as i32 * CELL;
        self.cells.extend(bytes.as_chunks::<16>().0.iter().map(|&chunk| Cell(chunk)));
        self.vectors.insert(bytes.to_vec(), next);
        next
    }

    /// Returns the offset of a table's entries, one after the other in their stored size.
    pub(crate) fn table(&mut self, table: &Arc<LookupTable>) -> i32 {
        if let Some(&offset) = self.tables.get(table) {
            return offset;
        }
        let offset = self.cells.len() as i32 * CELL;
        let size = table.ty.bytes();
        let bytes: Vec<u8> = table.values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect();
        for chunk in bytes.chunks(16) {
            let mut cell = Cell([0; 16]);
            cell.0[..chunk.len()].copy_from_slice(chunk);
            self.cells.push(cell);
        }
        self.tables.insert(table.clone(), offset);
        offset
    }
}
