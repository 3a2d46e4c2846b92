"""Arrays in notebooks: the dtype, the shape and a small table."""

from html import escape

# Rows and columns of the table.
MOST = 8


def _cells(count):
    """The shown indices of an axis; `None` stands for those between."""
    if count <= MOST:
        return list(range(count))
    half = MOST // 2
    return [*range(half), None, *range(count - half, count)]


def html(x):
    """The array as HTML."""
    title = escape(f"Array {x.dtype}{list(x.shape)}")
    if x.ndim not in (1, 2) or x.size == 0:
        return f"<div><code>{title}</code><pre>{escape(str(x))}</pre></div>"
    table = x if x.ndim == 2 else x[None, :]
    rows = []
    for row in _cells(table.shape[0]):
        cells = []
        for column in _cells(table.shape[1]):
            between = row is None or column is None
            cells.append(f"<td>{'…' if between else escape(str(table[row, column]))}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<div><code>{title}</code><table>{''.join(rows)}</table></div>"


def page(function):
    """A jitted function as HTML: the page of the stages of its last call, in a frame."""
    title = f"<code>{escape(repr(function))}</code>"
    if function.trace_count == 0:
        return f"<div>{title}: not called yet</div>"
    return f'<div>{title}<iframe srcdoc="{escape(function.page())}" style="width: 100%; height: 40em; border: 0"></iframe></div>'
