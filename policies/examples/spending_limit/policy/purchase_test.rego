package ambit.tools.purchase_test

import data.ambit.tools.purchase

of(args, earlier) := {
	"args": object.union({"offer": "O1", "currency": "EUR", "quantity": 1}, args),
	"run": {"counts": {"purchase": earlier}},
}

codes(args, earlier) := {denial.code | some denial in purchase.deny with input as of(args, earlier)}

test_small_purchases_are_allowed if {
	count(purchase.allow) == 1 with input as of({"cents": 5000}, 0)
	codes({"cents": 5000}, 0) == set()
}

test_the_quantity_counts if {
	count(purchase.allow) == 0 with input as of({"cents": 2501, "quantity": 2}, 0)
	some question in purchase.ask with input as of({"cents": 2501, "quantity": 2}, 0)
	question.message == "Spend 5002 cents (EUR)"
}

test_above_the_limit_nothing_helps if codes({"cents": 20001}, 0) == {"over_limit"}

test_a_center_has_limits_of_its_own if codes({"cents": 20001, "center": "lab"}, 0) == set()

test_an_unknown_center_spends_nothing if codes({"cents": 1, "center": "no such"}, 0) == {"over_limit"}

test_the_fourth_is_refused if codes({"cents": 1}, 3) == {"too_many"}

# A test may bring data of its own.
test_limits_are_data if codes({"cents": 1}, 0) == {"too_many"} with data.limits.purchases as 0
