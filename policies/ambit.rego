# METADATA
# title: The decision
# description: >-
#   Collects what the library, the called tool's own package and the packages of
#   the organisation say about one call. It holds sets only: what wins over what
#   (an error over a deny, over an ask, over a rewrite, over an allow) is decided
#   by the engine, so that no rule here can hide another.
package ambit

# METADATA
# title: Everything that applies to this call
# description: >-
#   Undefined, and so a refusal, for a tool that is not declared.
# entrypoint: true
decision := {
	"allow": allow,
	"deny": deny,
	"ask": ask,
	"modify": modify,
	"obligations": obligations,
} if {
	data.ambit.declared.tools[input.tool.name]
}

# METADATA
# title: Reading is allowed
# description: A tool that changes nothing needs no further permission.
allow contains {"code": "read_only", "message": "the tool only reads"} if input.tool.effect == "read"

# METADATA
# title: What the called tool's package allows
allow contains entry if some entry in data.ambit.tools[input.tool.name].allow

# METADATA
# title: What the organisation allows
allow contains entry if some entry in data.ambit.policies[_].allow

# METADATA
# title: What the library refuses
deny contains entry if some entry in data.ambit.gating.deny

# METADATA
# title: What the called tool's package refuses
deny contains entry if some entry in data.ambit.tools[input.tool.name].deny

# METADATA
# title: What the organisation refuses
deny contains entry if some entry in data.ambit.policies[_].deny

# METADATA
# title: What the declaration asks for
ask contains entry if some entry in data.ambit.consent.ask

# METADATA
# title: What the called tool's package asks for
ask contains entry if some entry in data.ambit.tools[input.tool.name].ask

# METADATA
# title: What the organisation asks for
ask contains entry if some entry in data.ambit.policies[_].ask

# METADATA
# title: What the called tool's package rewrites
modify contains entry if some entry in data.ambit.tools[input.tool.name].modify

# METADATA
# title: What the organisation rewrites
modify contains entry if some entry in data.ambit.policies[_].modify

# METADATA
# title: What the called tool's package obliges to
obligations contains entry if some entry in data.ambit.tools[input.tool.name].obligations

# METADATA
# title: What the organisation obliges to
obligations contains entry if some entry in data.ambit.policies[_].obligations
