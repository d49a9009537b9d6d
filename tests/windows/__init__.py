"""gpudoctor on a Windows that runs by Wine.

| what must hold there | tested by |
| --- | --- |
| `install torch` is the build for the driver and card, also in the place of a CPU build | test_install.py |
| one place is known by every spelling of its path | test_article.py: known_by_every_spelling; base/test_paths.py |
| only symbols are replaced in a pipe, never a path's letters | test_commands.py: stays_what_it_is_in_a_pipe |
| free space is told, and no toolkit asked for that is there | test_article.py: from_the_zip_to_theano_and_back |
| Path is looked at, set in the registry, and taken back | test_article.py: path_is_set_and_taken_back |
| a DLL says its release by its version resource | test_real.py: in_system32; test_commands.py: own_dll; test_pe.py |
| the search of a program, of ctypes, without safe search mode | test_which.py; KnownDLLs: which/test_windows.py |
| a venv's program is its base's | test_python.py: loads_from_beside_its_base |
| cards without a driver, from the registry; from a disk's hive | test_installed.py; tests/host/test_hive.py |
| "as administrator", with the path | test_commands.py: asks_for_an_administrator |
| paths with backslashes, `which --live`; `matrix can` for Windows | test_which.py; test_install.py |
| what is flushed is open for writing | test_commands.py: really_on_the_disk |
| live as from the disk | test_lab.py |
"""
