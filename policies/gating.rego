# METADATA
# title: Gating
# description: >-
#   Refuses calls that the declaration rules out: a behaviour in which the tool
#   is not offered, a capability that the principal lacks, a session mode that
#   the tool does not run in. An absent list in the declaration rules out nothing.
package ambit.gating

# METADATA
# title: The tool is offered in this behaviour
deny contains {
	"code": "behavior_not_allowed",
	"message": sprintf("%s is not offered %s, only in %s", [input.tool.name, where(input.behavior), among(allowed)]),
	"detail": {"behavior": input.behavior, "allowed": allowed},
} if {
	behaviors := data.ambit.declared.tools[input.tool.name].behaviors
	not behaviors[input.behavior]
	allowed := sort(object.keys(behaviors))
}

# METADATA
# title: The principal has every capability that the tool needs
deny contains {
	"code": "capability_missing",
	"message": sprintf("needs the capability %q", [capability]),
	"detail": {"capability": capability},
} if {
	some capability in data.ambit.declared.tools[input.tool.name].capabilities
	not input.principal.capabilities[capability]
}

# METADATA
# title: The tool runs in each session mode as it is set
deny contains {
	"code": "mode_off",
	"message": sprintf("does not run while the mode %q is %s", [mode, shown(value)]),
	"detail": {"mode": mode, "value": value, "allowed": allowed},
} if {
	some mode, values in data.ambit.declared.tools[input.tool.name].modes

	# object.get, not input.modes[mode]: a mode without a value must not make this rule undefined
	value := object.get(input.modes, mode, "")
	not values[value]
	allowed := sort(object.keys(values))
}

# METADATA
# title: The names in a message
among(names) := concat(" or ", [sprintf("%q", [name]) | some name in names])

# METADATA
# title: The behaviour of the session in a message
where(behavior) := "without a behavior" if {
	behavior == ""
} else := sprintf("in the behavior %q", [behavior])

# METADATA
# title: The value of a mode in a message
shown(value) := "not set" if {
	value == ""
} else := sprintf("%q", [value])
