# METADATA
# title: Commands
# description: >-
#   What policies ask about a tool that runs a program. input.command is there
#   only for such a tool; for any other the functions here are undefined.
package ambit.command

# METADATA
# title: The arguments begin with a list
# description: >-
#   Compares whole arguments, the name of the program first: ["git", "push"] is
#   the beginning of git push --force, and not of git pushy. What a script of a
#   shell would run is not looked into.
starts_with(prefix) if array.slice(input.command.argv, 0, count(prefix)) == prefix
