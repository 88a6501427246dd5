"""Blocks of rows of a mask, each with the columns that the mask keeps."""

from __future__ import annotations

from typing import Any, NamedTuple


class Block(NamedTuple):
    """Some rows, and the columns *inside*; the others are *outside*.

    Attributes:
      rows: The first row and the one behind the last.
      columns: The first column inside and the one behind the last.
      witness: A column inside that all rows discard; none is needed where all columns are inside.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    witness: int

    @property
    def n_rows(self) -> int:
        return self.rows[1] - self.rows[0]

    @property
    def n_columns(self) -> int:
        return self.columns[1] - self.columns[0]


def cut_in_blocks(kept: Any, n_blocks: int, aligned: int) -> list[Block]:
    """Returns the rows of a mask in blocks of about the same size.

    Args:
      kept: What is kept, an array of truth values by row and column.
      n_blocks: How many blocks there are to be.
      aligned: Columns inside start and end at multiples of this.
    """
    n_rows = kept.shape[0]
    size = -(-n_rows // max(1, n_blocks))
    found, start = [], 0
    while start < n_rows:
        end = n_rows if n_rows - start < 2 * size else start + size
        # of a causal mask, the last of 128 rows keeps all of 128 columns: without it the last column is the witness
        block = _block(kept, start, end, aligned)
        shorter = _block(kept, start, end - 1, aligned) if end < n_rows else block
        found.append(shorter if shorter.n_columns < block.n_columns else block)
        start = found[-1].rows[1]
    return found


def _block(kept: Any, start: int, end: int, aligned: int) -> Block:
    n_columns = kept.shape[1]
    discarded = ~kept[start:end].any(0)
    (inside,) = (~discarded).nonzero()
    first = int(inside[0]) // aligned * aligned if len(inside) else 0
    last = min(n_columns, -(-(int(inside[-1]) + 1) // aligned) * aligned) if len(inside) else aligned
    if not discarded[first:last].any():  # a witness is needed
        if last < n_columns:
            last = min(n_columns, last + aligned)
        else:
            first = max(0, first - aligned)
    witness = first + int(discarded[first:last].argmax())
    return Block((start, end), (first, last), witness)
