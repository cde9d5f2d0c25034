package ambit.operators_test

by(id, method) := {"id": id, "groups": [], "method": method}

asked(act, actor) := {
	"act": act, "actor": actor, "approver": false, "session": "s", "session_principal": "pat", "principal": "agent",
}

allowed(doc) if data.ambit.operators.by_default with input as doc

test_approver_may_answer if {
	every act in ["see", "decide", "grant"] {
		allowed(object.union(asked(act, by("alice", "token")), {"approver": true}))
		not allowed(asked(act, by("alice", "token")))
		not allowed(object.union(asked(act, by("", "token")), {"approver": true}))
	}
	not allowed(object.union(asked("undo", by("alice", "token")), {"approver": true}))
}

test_owner_and_code_may_do_all_but_answer if {
	every method in ["owner", "code"] {
		every act in ["see", "revoke", "undo", "cancel", "resolve", "consent_off", "audit", "archive"] {
			allowed(asked(act, by("root", method)))
			not allowed(asked(act, by("", method)))
		}
		not allowed(asked("decide", by("root", method)))
		not allowed(asked("grant", by("root", method)))
	}
	not allowed(asked("audit", by("root", "user")))
}

test_principal_of_the_session_may_cancel_and_undo if {
	allowed(asked("cancel", by("pat", "token")))
	allowed(asked("undo", by("pat", "token")))
	not allowed(asked("resolve", by("pat", "token")))
	not allowed(asked("undo", by("agent", "token")))
	not allowed(object.union(asked("undo", by("pat", "token")), {"session": ""}))
	not allowed(object.union(asked("undo", by("", "token")), {"session_principal": ""}))
}
