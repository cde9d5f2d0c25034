# METADATA
# title: Refunds
# description: Small ones are given, others are asked for.
package ambit.tools.refund

allow contains {"code": "small", "message": "a refund of up to 20.00 is given"} if input.args.cents <= 2000

ask contains {
	"id": "large",
	"message": "more than 20.00 is given back",
	"max_cover": "args",
} if {
	input.args.cents > 2000
}

ask contains {
	"id": "third",
	"message": "two refunds were given in this run already",
} if {
	input.run.counts.refund >= 2
}
