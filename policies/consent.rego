# METADATA
# title: Declared consent
# description: >-
#   Turns the consent that a tool declares into an ask. With `ask: policy` the
#   declaration only describes; a policy decides when to ask.
package ambit.consent

# METADATA
# title: The declaration asks before every call
ask contains {
	"id": "declared",
	"message": object.get(consent, "message", ""),
	"approvers": object.get(consent, "approvers", []),
	"quorum": object.get(consent, "quorum", 1),
	"timeout": object.get(consent, "timeout", ""),
	"max_cover": object.get(consent, "max_cover", "exact"),
} if {
	consent := data.ambit.declared.tools[input.tool.name].consent
	consent.ask == "always"
}
