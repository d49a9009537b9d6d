"""How each framework convolves: one program a framework, run by the user's own interpreter (`verify/child.py`).

A program is plain Python of 3.6 and later, imports nothing but the standard library (its framework in the functions),
and defines

- `DIRECTIONS`: those that the framework has;
- `load() -> dict`: import the framework, and say its `version` and, as `cudnn`, the one that it reports ("" for none);
- `gpu(number) -> place`: that GPU for it, as text or its own object; raises LookupError with the reason where it has
  none, and with a second argument, `MEANT`, where it is not made to use one;
- `cpu() -> place`;
- `convolve(place, problem) -> (dict, dict)`: by direction, the nested lists that came out, for its directions; and what
  the framework itself says of how they came about: `executed`, pairs of an operation and "gpu" or "cpu" (None where it
  cannot tell), `cudnn`, whether that was cuDNN (None where it cannot tell), `why` it was not, and `memory_bytes`, what
  it took of the GPU's memory (None where it cannot tell).

and may define `ENVIRONMENT`, variables that are set before the framework is imported: a trial takes little of the GPU's
memory, however the user's programs are set up, and the framework is to say why it does not use the GPU. And
`take_at_most(share)`, called before `gpu`, where a framework is held to 256 MiB by a share of the GPU's memory.

`problem` holds nested lists `x`, `w` and `dy`, in N, C, H, W order, and `padding`.
"""
