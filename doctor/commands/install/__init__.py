"""What `gpudoctor install` and `check --fix` do: order a plan, show it, carry it out, look again, take it back.

Plans, methods and everything that writes to a machine are in `installers/`; here they meet a machine that was looked
at.
"""
