# METADATA
# title: Run a script
# description: The shell is declared as a tool that only reads, so that its calls are allowed. That is true in a box alone.
# custom:
#   reasons:
#     unboxed: A script runs in a box.
package ambit.tools.shell

deny contains {"code": "unboxed", "message": "a script runs in a box"} if input.command.tier != "sandbox"
