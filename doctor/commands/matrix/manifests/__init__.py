"""Files that hold an environment, one kind a module, each with `MANIFEST = Manifest(usual name, is_named, render)`."""
