package ambit.tools.shell

# What a script would run is not known before it runs: the box is what holds it.
allow contains {"code": "boxed", "message": "a script may run in a box"} if input.command.tier == "sandbox"
