"""Read lock files: uv, poetry, pdm, pipenv, pixi, conda-lock and pylock.toml."""
