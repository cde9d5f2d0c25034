package ambit.tools.payment_release

# The treasurers. The one on whose behalf the call is made cannot approve it.
treasurers := ["alice", "bob", "carol"]

# An ask counts as an allow that depends on the approval, so there is no allow here:
# no payment is released without one.
ask contains {
	"id": "release",
	"message": sprintf("Release %s: %d cents to %s", [input.args.payment, input.args.cents, input.args.supplier]),
	"approvers": treasurers,
	"timeout": "4h",
}

# All asks about a call are joined: the highest quorum and the shortest timeout count.
ask contains {
	"id": "four_eyes",
	"message": "1,000.00 and more needs two treasurers",
	"approvers": treasurers,
	"quorum": 2,
	"timeout": "4h",
} if {
	input.args.cents >= 100000
}
