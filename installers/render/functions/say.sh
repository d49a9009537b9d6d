say() { printf '%s\n' "$*"; }
