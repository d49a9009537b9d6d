# Stops at the first error; you can run it again. Downloads are unpacked in a separate directory
# (GPUDOCTOR_STAGING sets another one). Replaced files are kept there, in "replaced".
# Exit status: 0 done, 1 a step failed, 4 reboot needed, then run it again.
# shellcheck disable=SC2016 # printed text is for a person to type, not to expand
set -euo pipefail
umask 022
