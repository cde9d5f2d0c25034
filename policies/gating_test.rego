package ambit.gating_test

declare(tool) := {"tools": {"web_search": tool}}

call(behavior, capabilities, modes) := {
	"tool": {"name": "web_search", "effect": "read"},
	"behavior": behavior,
	"modes": modes,
	"principal": {"id": "agent", "capabilities": capabilities},
}

plain := call("", {}, {})

codes(tool, doc) := found if {
	denied := data.ambit.gating.deny with data.ambit.declared as declare(tool) with input as doc
	found := {e.code | some e in denied}
}

test_nothing_declared_rules_out_nothing if codes({}, plain) == set()

test_empty_lists_rule_out_nothing if codes({"capabilities": [], "modes": {}}, plain) == set()

test_offered_behavior if codes({"behaviors": {"research": true}}, call("research", {}, {})) == set()

test_other_behavior if {
	denied := data.ambit.gating.deny with data.ambit.declared as declare({"behaviors": {"research": true, "chat": true}})
		with input as call("doc_edit", {}, {})
	denied == {{
		"code": "behavior_not_allowed",
		"message": `web_search is not offered in the behavior "doc_edit", only in "chat" or "research"`,
		"detail": {"behavior": "doc_edit", "allowed": ["chat", "research"]},
	}}
}

test_no_behavior_is_none_of_the_declared if {
	denied := data.ambit.gating.deny with data.ambit.declared as declare({"behaviors": {"research": true}}) with input as plain
	denied == {{
		"code": "behavior_not_allowed",
		"message": `web_search is not offered without a behavior, only in "research"`,
		"detail": {"behavior": "", "allowed": ["research"]},
	}}
}

test_every_missing_capability_is_named if {
	denied := data.ambit.gating.deny with data.ambit.declared as declare({"capabilities": ["net", "web", "held"]})
		with input as call("", {"net": false, "held": true}, {})
	denied == {
		{"code": "capability_missing", "message": `needs the capability "net"`, "detail": {"capability": "net"}},
		{"code": "capability_missing", "message": `needs the capability "web"`, "detail": {"capability": "web"}},
	}
}

test_held_capability if codes({"capabilities": ["net"]}, call("", {"net": true}, {})) == set()

test_mode_in_which_the_tool_runs if {
	codes({"modes": {"web_mode": {"live": true, "cached": true}}}, call("", {}, {"web_mode": "live"})) == set()
}

test_mode_that_is_off if {
	denied := data.ambit.gating.deny with data.ambit.declared as declare({"modes": {"web_mode": {"live": true, "cached": true}}})
		with input as call("", {}, {"web_mode": "off"})
	denied == {{
		"code": "mode_off",
		"message": `does not run while the mode "web_mode" is "off"`,
		"detail": {"mode": "web_mode", "value": "off", "allowed": ["cached", "live"]},
	}}
}

test_mode_without_a_value if {
	denied := data.ambit.gating.deny with data.ambit.declared as declare({"modes": {"web_mode": {"live": true}}}) with input as plain
	denied == {{
		"code": "mode_off",
		"message": `does not run while the mode "web_mode" is not set`,
		"detail": {"mode": "web_mode", "value": "", "allowed": ["live"]},
	}}
}

test_all_refusals_are_collected if {
	codes({"behaviors": {"a": true}, "capabilities": ["net"], "modes": {"m": {"on": true}}}, plain) == {
		"behavior_not_allowed",
		"capability_missing",
		"mode_off",
	}
}
