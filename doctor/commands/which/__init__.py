"""Which file a process of an environment loads for a library, and why."""
