"""Which file the dynamic loader of Linux opens for a name, answered from files: nothing is run, nothing is loaded.

`library` reads what a file says of its search; `tokens` replaces $ORIGIN and its like; `hwcaps` knows the
directories for better processors; `search` walks the order of search; `process` keeps what is loaded already. They
see a machine through a Host and the loader's facts alone.
"""
