# METADATA
# description: Talking is allowed, shouting is not.
package ambit.tools.shout

allow contains {"code": "talk", "message": "talking is allowed"}

deny contains {"code": "too_loud", "message": "shouting is refused"} if {
	input.args.text == upper(input.args.text)
}
