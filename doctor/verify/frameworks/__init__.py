"""How each framework convolves: one program a framework, run by the user's own interpreter (`doctor/verify/child.py`).

A program is plain Python of 3.6 and later, imports nothing but the standard library (its framework in the functions),
and defines

- `DIRECTIONS`: those that the framework has;
- `load() -> dict`: import the framework, and say its `version` and, as `cudnn`, the one that it reports ("" for none);
- `gpu(number) -> place`: that GPU for it, as text or its own object; raises LookupError with the reason where it has
  none;
- `cpu() -> place`;
- `convolve(place, problem) -> dict`: by direction, the nested lists that came out, for its directions.

`problem` holds nested lists `x`, `w` and `dy`, in N, C, H, W order, and `padding`.
"""
