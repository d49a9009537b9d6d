"""The golden harness: proof that a change of the code changes no output.

`python -m tests.golden` runs everything that gpudoctor prints for a fixed set of inputs and compares it with the
committed digests; `--approve` replaces the digests; CONTRIBUTING.md has the commands.

An area (tests/golden/areas) makes jobs; a job makes outputs, each with an id. `digests/<area>.txt` holds one line for
each output: id, the first digits of its SHA-256, its length. The texts themselves are not committed. They are 60 MB,
and as one compressed file they would change as a whole with each approval, and conflict in each merge; lines of digests
merge line by line. Every run keeps the texts that it made in `.cache/golden`, found by their digests, so that a later
run can show a difference as a diff. Where the cache has no text of before, `--base REV` makes it from that commit.

The harness knows gpudoctor by its command line and by helpers of tests/; `product.py` holds every name that it uses.
"""
