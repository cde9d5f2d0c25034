package ambit.tools.refund_test

call(cents, refunds) := {"args": {"order": "1017", "cents": cents}, "run": {"counts": {"refund": refunds}}}

test_small_refunds_are_given if {
	data.ambit.tools.refund.ask == set() with input as call(2000, 0)
	count(data.ambit.tools.refund.allow) == 1 with input as call(2000, 0)
}

test_large_refunds_are_asked_for if {
	{e.id | some e in data.ambit.tools.refund.ask} == {"large"} with input as call(2001, 0)
}

test_the_third_refund_is_asked_for if {
	data.ambit.tools.refund.ask == set() with input as call(5, 1)
	{e.id | some e in data.ambit.tools.refund.ask} == {"third"} with input as call(5, 2)
}
