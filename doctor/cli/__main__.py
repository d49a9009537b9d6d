"""`python -m gpudoctor` in a wheel, where this file stands in the package `gpudoctor`."""

from gpudoctor import main

if __name__ == "__main__":
    main()
