package ambit_test

declared := {"tools": {
	"file_read": {"effect": "read", "capabilities": [], "modes": {}},
	"file_write": {"effect": "write", "capabilities": [], "modes": {}},
}}

call(tool, effect) := {
	"tool": {"name": tool, "effect": effect},
	"args": {"path": "docs/a.md"},
	"behavior": "",
	"modes": {},
	"principal": {"id": "agent", "capabilities": {}},
}

read := call("file_read", "read")

write := call("file_write", "write")

entry := {"code": "c", "message": "m"}

other := {"code": "d", "message": "m"}

test_reading_is_allowed if {
	decision := data.ambit.decision with input as read with data.ambit.declared as declared
	{e.code | some e in decision.allow} == {"read_only"}
	decision.deny == set()
	decision.ask == set()
	decision.modify == set()
	decision.obligations == set()
}

test_writing_is_not_allowed_by_itself if {
	data.ambit.decision.allow == set() with input as write with data.ambit.declared as declared
}

test_undeclared_tool_has_no_decision if {
	not data.ambit.decision with input as call("file_wrte", "read") with data.ambit.declared as declared
}

test_packages_of_the_tool_and_the_organisation_add_up[kind] if {
	some kind in ["allow", "deny", "ask", "modify", "obligations"]
	decision := data.ambit.decision with input as write
		with data.ambit.declared as declared
		with data.ambit.tools as {"file_write": {kind: {entry}}, "file_read": {kind: {{"code": "not mine"}}}}
		with data.ambit.policies as {"security": {kind: {other}}, "silent": {}}
	decision[kind] == {entry, other}
}

test_refusals_of_the_library_are_part_of_the_decision if {
	decision := data.ambit.decision with input as write
		with data.ambit.declared as {"tools": {"file_write": {"capabilities": ["filesystem.write"]}}}
	{e.code | some e in decision.deny} == {"capability_missing"}
}

test_declared_consent_is_part_of_the_decision if {
	decision := data.ambit.decision with input as write
		with data.ambit.declared as {"tools": {"file_write": {"consent": {"ask": "always"}}}}
	{e.id | some e in decision.ask} == {"declared"}
}
