package ambit.tools.payment_release_test

import data.ambit.tools.payment_release

of(cents) := {"args": {"payment": "P1", "supplier": "ACME", "cents": cents}}

ids(cents) := {question.id | some question in payment_release.ask with input as of(cents)}

test_small_payments_need_one_treasurer if ids(99999) == {"release"}

test_large_payments_need_two if {
	ids(100000) == {"release", "four_eyes"}
	some question in payment_release.ask with input as of(100000)
	question.quorum == 2
}

test_the_approver_sees_the_payment if {
	some question in payment_release.ask with input as of(5)
	question.message == "Release P1: 5 cents to ACME"
}
