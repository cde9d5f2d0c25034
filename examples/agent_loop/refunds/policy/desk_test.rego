package ambit.policies.desk_test

test_the_desk_works_on_cases if {
	every name in ["case_open", "case_close", "order_history", "reply"] {
		count(data.ambit.policies.desk.allow) == 1 with input as {"tool": {"name": name}}
	}
}

test_refunds_are_not_its_business if {
	data.ambit.policies.desk.allow == set() with input as {"tool": {"name": "refund"}}
}
