# METADATA
# description: A rule that fails on most inputs, as rules with a mistake do.
package ambit.tools.broken

deny contains {"code": "small", "message": "the number is small"} if to_number(input.args.text) < 10
