"""The one place that validates scalar parameters, and tells our own errors from others'.

Every function that validates takes the parameter's name, the value a caller passed and a hint that
says what to do instead; it returns the value as a plain ``float`` or ``int``. Acceptance tests are
written so that NaN fails them. The messages show the value, so these functions are for parameters
only, never for anything computed from private rows.
"""

from __future__ import annotations

import difflib
import dis
import math
from collections.abc import Iterable
from numbers import Integral, Real


def positive(name: str, value: object, hint: str = "pass a positive number") -> float:
    """
    Return ``value`` as a float in (0, inf), or raise.

    Parameters
    ----------
    name : str
        Parameter name, for the message.
    value : object
        What the caller passed.
    hint : str
        What to do instead.

    Returns
    -------
    float
        The value.

    Raises
    ------
    TypeError
        If ``value`` is a bool or not a real number.
    ValueError
        If ``value`` is outside (0, inf) or NaN.

    Examples
    --------
    >>> positive("epsilon", 2)
    2.0
    >>> positive("epsilon", -1.0, "pass a positive budget")
    Traceback (most recent call last):
        ...
    ValueError: epsilon must be in (0, inf), got epsilon=-1.0; pass a positive budget
    """
    number = _real(name, value, "in (0, inf)", hint)
    if not 0 < number < math.inf:
        raise ValueError(_message(name, number, "in (0, inf)", hint))
    return number


def non_negative(name: str, value: object, hint: str = "pass zero or a positive number") -> float:
    """
    Return ``value`` as a float in [0, inf), or raise as `positive` does.

    Examples
    --------
    >>> non_negative("alpha", 0)
    0.0
    """
    number = _real(name, value, "in [0, inf)", hint)
    if not 0 <= number < math.inf:
        raise ValueError(_message(name, number, "in [0, inf)", hint))
    return number


def fraction(name: str, value: object, hint: str = "pass a number between 0 and 1") -> float:
    """
    Return ``value`` as a float in the open interval (0, 1), or raise as `positive` does.

    Examples
    --------
    >>> fraction("delta", 1e-6)
    1e-06
    """
    number = _real(name, value, "in (0, 1)", hint)
    if not 0 < number < 1:
        raise ValueError(_message(name, number, "in (0, 1)", hint))
    return number


def share(name: str, value: object, hint: str = "pass a number from 0 to 1") -> float:
    """
    Return ``value`` as a float in the closed interval [0, 1], or raise as `positive` does.

    Examples
    --------
    >>> share("l1_ratio", 1)
    1.0
    """
    number = _real(name, value, "in [0, 1]", hint)
    if not 0 <= number <= 1:
        raise ValueError(_message(name, number, "in [0, 1]", hint))
    return number


def positive_integer(name: str, value: object, hint: str = "pass a positive whole number") -> int:
    """
    Return ``value`` as an int of at least 1, or raise.

    Floats are refused, whole ones too: a count that arrives as a float has usually been divided.

    Examples
    --------
    >>> positive_integer("dimension", 3)
    3
    >>> positive_integer("dimension", 0)
    Traceback (most recent call last):
        ...
    ValueError: dimension must be an integer >= 1, got dimension=0; pass a positive whole number
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(_message(name, value, "an integer >= 1", hint))
    number = int(value)
    if not number >= 1:
        raise ValueError(_message(name, number, "an integer >= 1", hint))
    return number


def nearest(word: str, known: Iterable[str]) -> str:
    """
    Suggest the known word that was probably meant, or list them.

    Examples
    --------
    >>> nearest("ftt", ["fit", "plan"])
    "; did you mean 'fit'?"
    """
    words = list(known)
    near = difflib.get_close_matches(word, words, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(words[:12]) + (f" and {len(words) - 12} more" if len(words) > 12 else "")
    return f"; known are {shown}"


def _real(name: str, value: object, expected: str, hint: str) -> float:
    """Convert a real number other than a bool to float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(_message(name, value, f"a number {expected}", hint))
    try:
        return float(value)
    except OverflowError:
        # Integers and fractions beyond the largest float: no interval here accepts infinity.
        return math.inf


def _message(name: str, value: object, expected: str, hint: str) -> str:
    """Say what was expected, what came and what to do."""
    return f"{name} must be {expected}, got {name}={value!r}; {hint}"


def raised_here(error: BaseException) -> bool:
    """
    Whether a ``raise`` of this package made an error, whose words were then written with care.

    What any other library says of private rows may quote them, also where this package called it:
    what ended the innermost frame must be a raise statement, and not a call of compiled code.

    Examples
    --------
    >>> try:
    ...     positive("mu", -1.0)
    ... except ValueError as error:
    ...     raised_here(error)
    True
    >>> try:
    ...     float("a private cell")
    ... except ValueError as error:
    ...     raised_here(error)
    False
    """
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    module = trace.tb_frame.f_globals.get("__name__", "")
    last = dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]]
    return module.partition(".")[0] == __name__.partition(".")[0] and last == "RAISE_VARARGS"


class PublicMomentsWarning(UserWarning):
    """The public moments had to be repaired or completed before use.

    Privacy never depends on the public moments; accuracy does.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", PublicMomentsWarning)
    """
