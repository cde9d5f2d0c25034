package ambit.consent_test

ask(tool) := entries if {
	entries := data.ambit.consent.ask with data.ambit.declared as {"tools": {"file_write": tool}}
		with input as {"tool": {"name": "file_write"}}
}

test_no_declaration_asks_for_nothing if ask({}) == set()

test_left_to_the_policy if ask({"consent": {"ask": "policy", "message": "Write"}}) == set()

test_always_with_everything_declared if {
	ask({"consent": {
		"ask": "always", "message": "Write {path}", "approvers": ["owner"],
		"quorum": 2, "timeout": "10m", "max_cover": "args",
	}}) == {{
		"id": "declared", "message": "Write {path}", "approvers": ["owner"],
		"quorum": 2, "timeout": "10m", "max_cover": "args",
	}}
}

test_always_with_nothing_else_declared_is_the_narrowest if {
	ask({"consent": {"ask": "always"}}) == {{
		"id": "declared", "message": "", "approvers": [],
		"quorum": 1, "timeout": "", "max_cover": "exact",
	}}
}
