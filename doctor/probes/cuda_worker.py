"""Start CUDA, in a process of its own: it may crash or hang. Run as a script by `doctor.probes.cuda_start`.

It writes one line of JSON: why libcuda was not opened, the status of cuInit, its name and words.
"""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from doctor.probes.driver_api import ask_driver

if __name__ == "__main__":
    told = ask_driver()
    sys.stdout.write("\n" + json.dumps([told.why_not_opened, told.status, told.name, told.text]) + "\n")
