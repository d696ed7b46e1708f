"""The fused kernel of `publicmoments.engines.fused`, in Triton's language."""

# Triton compiles the body; types and branches are its own.
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def bound_rows(
    mixed,
    responses,
    numbers,
    sound,
    n_rows,
    p,
    q,
    row_stride,
    response_stride,
    ROWS: tl.constexpr,
    FEATURES: tl.constexpr,
    RESPONSES: tl.constexpr,
):
    """Bound a few whitened rows: lengths, multipliers, rounding."""
    # Plain floats would come as float32. Behind these five are the sizes of the responses.
    x_radius, per_unit = tl.load(numbers), tl.load(numbers + 1)
    squared_radius, most = tl.load(numbers + 2), tl.load(numbers + 3)
    longest = tl.load(numbers + 4)
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    features, few = tl.arange(0, FEATURES)[None, :], tl.arange(0, RESPONSES)[None, :]
    within = (rows < n_rows)[:, None]
    here = mixed + rows[:, None] * row_stride
    some = responses + rows[:, None] * response_stride
    z = tl.load(here + features, mask=within & (features < p), other=0.0)
    fit = tl.load(here + p + few, mask=within & (few < q), other=0.0)
    y = tl.load(some + few, mask=within & (few < q), other=0.0)
    u = fit + y * tl.load(numbers + 5 + few, mask=few < q, other=0.0)
    squared, squares = tl.sum(z * z, axis=1), tl.sum(u * u, axis=1)
    kept = x_radius / tl.sqrt(squared)
    factor = tl.where(kept < 1.0, kept, 1.0) * per_unit
    room = tl.sqrt(tl.maximum(squared_radius - squared * factor * factor, 0.0))
    length = tl.sqrt(squares) * factor
    shorter = tl.minimum(room / tl.maximum(length, 1.0), 1.0)
    z = libdevice.rint(z * factor[:, None])
    u = libdevice.rint(u * (factor * shorter)[:, None])
    tl.store(here + features, z, mask=within & (features < p))
    tl.store(here + p + few, u, mask=within & (few < q))
    norm = tl.sum(z * z, axis=1) + tl.sum(u * u, axis=1)
    good = (norm <= most) & (squared + squares < longest)
    tl.store(sound + rows, good.to(tl.int8), mask=rows < n_rows)
