# METADATA
# title: Operators
# description: >-
#   Who may see, answer, undo, cancel, resolve and revoke. A file of a policy
#   directory in this package that has rules named allow replaces the defaults;
#   an act that no such rule allows is denied.
# scope: subpackages
# schemas:
# - input: schema.Operators
package ambit.operators

# METADATA
# title: What an approver may do without an operator policy
# description: Write "allow if by_default" to keep it beside rules of your own.
by_default if {
	input.act in {"see", "decide", "grant"}
	input.approver
	input.actor.id != ""
}

# METADATA
# title: What the user who owns the store and the program's own code may do
by_default if {
	input.act in {"see", "revoke", "undo", "cancel", "resolve", "consent_off", "audit", "archive"}
	input.actor.method in {"code", "owner"}
	input.actor.id != ""
}

# METADATA
# title: What the principal of a session may do
by_default if {
	input.act in {"cancel", "undo"}
	input.session != ""
	input.actor.id == input.session_principal
	input.actor.id != ""
}
