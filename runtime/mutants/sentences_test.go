package mutants

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A sentence is something that the specification of the semantics says, in
// sections 3 to 5 and parts of 6 and 8, and that a change of one line could break.
type sentence struct {
	key     string // begins with the section
	section string // and row
	text    string
	later   string // why it cannot be broken yet; empty: it can
}

func TestEverySentenceHasAMutant(t *testing.T) {
	known := map[string]*sentence{}
	for i := range sentences {
		s := &sentences[i]
		assert.Nil(t, known[s.key], "%s is listed twice", s.key)
		known[s.key] = s
	}
	broken := map[string]bool{}
	for _, p := range patches(t) {
		s := known[keyOf(p)]
		if assert.NotNil(t, s, "%s breaks no listed sentence", p.Name) {
			assert.Equal(t, s.section+": "+s.text, p.Breaks, p.Name)
			broken[s.key] = true
		}
	}
	for _, s := range sentences {
		switch {
		case s.later == "":
			assert.True(t, broken[s.key], "%s: no patch breaks %q", s.key, s.text)
		default:
			assert.False(t, broken[s.key], "%s: %q is broken by a patch: take its reason away", s.key, s.text)
		}
	}
}

var sentences = []sentence{
	{"s3_1_first", "3.1", "unknown_tool, invalid_input, operation_not_allowed, run_finished or exiting, duplicate: the first that applies", ""},
	{"s3_1_only", "3.1", "is the only answer", ""},
	{"s3_2_all", "3.2", "start_constraint, prerequisite_missing, order_violation, exclusive_group, max_calls, cooldown, then policy: all collected", ""},
	{"s3_2_order", "3.2", "listed in this order", ""},
	{"s3_2_primary", "3.2", "the first is primary", ""},
	{"s3_3_last", "3.3", "Consent is asked last, only when nothing refuses", ""},
	{"s3_3_again", "3.3", "After an approval everything in 1 after decoding, and everything in 2, is checked again before the handler starts", ""},
	{"s3_3_own", "3.3", "the call's own reservation left out", ""},
	{"s3_4_deadline", "3.4", "With less than the minimum of the turn budget left the call is denied deadline", ""},
	{"s3_4_before", "3.4", "before anything is reserved", "what is checked before the worker is given the call cannot be moved behind the reservation by one line"},
	{"s3_5_snapshot", "3.5", "Snapshot the rule state without this call; evaluate the policy outside the lock", ""},
	{"s3_5_rewrite", "3.5", "apply a rewrite, decode it, evaluate once more (an invalid, conflicting or further rewrite is policy_error)", ""},
	{"s3_5_repeat", "3.5", "when the state has changed since the snapshot, repeat, the third time under the lock", ""},
	{"s3_5_reserve", "3.5", "collect all reasons, reserve, append the event, release the lock", ""},
	{"s3_5_emission", "3.5", "Calls of one session are admitted in emission order", ""},
	{"s3_5_limit", "3.5", "A policy evaluation that outlives its limit (100 ms by default) is abandoned and denies", ""},
	{"s3_5_breaker", "3.5", "two abandoned at once open a breaker that denies until one ends", ""},
	{"s3_6_precedence", "3.6", "error > deny > ask > modify > allow over all matches", ""},
	{"s3_6_no_allow", "3.6", "Without an allow (or an ask, which allows subject to consent) the call is denied (policy_denied, rule no_allow)", ""},
	{"s3_6_undefined", "3.6", "Undefined, error, panic, timeout: deny", ""},
	{"s3_6_load", "3.6", "A policy that does not load means the engine does not start", ""},
	{"s3_6_reload", "3.6", "on reload: it keeps the generation that it has and says so", ""},
	{"s3_7_before", "3.7", "A rewrite is applied before everything else is judged: re-validated", ""},
	{"s3_7_bound", "3.7", "shown to the approver, bound, executed", ""},
	{"s3_7_digests", "3.7", "both digests audited", ""},
	{"s4_facts_open", "4", "Facts that open a door need success", ""},
	{"s4_facts_close", "4", "facts that close one need only an invocation", ""},
	{"s4_invoked", "4", "\"Invoked\" means that the handler was started", ""},
	{"s4_fact_holds", "4", "A fact holds while any success that was not undone remains", ""},
	{"s4_max_calls_limit", "4 max_calls", "n invocations, n+1 refused", ""},
	{"s4_max_calls_reserved", "4 max_calls", "Slot reserved at admission", ""},
	{"s4_max_calls_committed", "4 max_calls", "committed when the handler starts (failures and timeouts count)", ""},
	{"s4_max_calls_released", "4 max_calls", "released when it never starts", ""},
	{"s4_max_calls_shared", "4 max_calls", "* is one counter shared by all tools", ""},
	{"s4_max_calls_each", "4 max_calls", "each: true makes it per tool", ""},
	{"s4_parallel_order", "4 parallel calls", "admission in emission order", ""},
	{"s4_parallel_excess", "4 parallel calls", "excess calls are refused singly", ""},
	{"s4_parallel_results", "4 parallel calls", "one result per call, in emission order", ""},
	{"s4_parallel_siblings", "4 parallel calls", "a refusal never stops siblings", ""},
	{"s4_parallel_default", "4 parallel calls", "Batch mode is parallel by default", ""},
	{"s4_parallel_tied", "4 parallel calls", "A call with an order, start or exit rule waits for all earlier calls of its batch and later ones wait for it", ""},
	{"s4_parallel_pending", "4 parallel calls", "a pending call counts as ended, so what depends on it is prerequisite_missing", ""},
	{"s4_retries_once", "4 retries", "one logical call: one slot, one consent, one claim", ""},
	{"s4_retries_recorded", "4 retries", "attempts are recorded inside it", ""},
	{"s4_refused_free", "4 refused and duplicate calls", "use up nothing", ""},
	{"s4_pending_hold", "4 pending calls", "hold slot and group", ""},
	{"s4_pending_dedupe", "4 pending calls", "count for dedupe", ""},
	{"s4_pending_cooldown", "4 pending calls", "cooldown is taken when the handler is about to start, so that two pending calls of a cooling tool can both be asked", ""},
	{"s4_cooldown_end", "4 cooldown", "from the end of an invocation", ""},
	{"s4_cooldown_status", "4 cooldown", "whatever its status", ""},
	{"s4_cooldown_running", "4 cooldown", "a running invocation counts as cooling down", ""},
	{"s4_cooldown_boundary", "4 cooldown", "free at exactly end + d", ""},
	{"s4_dedupe_off", "4 dedupe", "off unless the tool declares a window", ""},
	{"s4_dedupe_always", "4 dedupe", "or always", ""},
	{"s4_dedupe_key", "4 dedupe", "key = tool + canonical arguments + principal", ""},
	{"s4_dedupe_lengths", "4 dedupe", "length-prefixed", ""},
	{"s4_dedupe_window", "4 dedupe", "window from the end", ""},
	{"s4_dedupe_running", "4 dedupe", "a running equal call counts", ""},
	{"s4_dedupe_errors", "4 dedupe", "errors are forgotten", ""},
	{"s4_dedupe_timeouts", "4 dedupe", "timeouts are remembered unless the tool is idempotent", ""},
	{"s4_dedupe_answer", "4 dedupe", "The answer duplicate names the earlier call", ""},
	{"s4_dedupe_no_error", "4 dedupe", "and is not an error", ""},
	{"s4_idempotency_fields", "4 idempotency key", "declared fields and window", ""},
	{"s4_idempotency_same", "4 idempotency key", "the same key with the same arguments answers duplicate", ""},
	{"s4_idempotency_outcome", "4 idempotency key", "with the earlier outcome", ""},
	{"s4_idempotency_conflict", "4 idempotency key", "with other arguments idempotency_conflict", ""},
	{"s4_idempotency_failed", "4 idempotency key", "a failed call releases the key", ""},
	{"s4_idempotency_unknown", "4 idempotency key", "an unknown one keeps it", ""},
	{"s4_group_admission", "4 exclusive_group", "claimed at admission", ""},
	{"s4_group_released", "4 exclusive_group", "released if never invoked", ""},
	{"s4_group_failure", "4 exclusive_group", "kept on failure", ""},
	{"s4_group_undo", "4 exclusive_group", "freed by a successful undo", ""},
	{"s4_group_end", "4 exclusive_group", "and by the end of the run", ""},
	{"s4_group_all", "4 exclusive_group", "all groups of a tool or none", ""},
	{"s4_group_repeat", "4 exclusive_group", "the same tool may repeat", ""},
	{"s4_start_all", "4 start_constraint", "all start tools, in any order, must have succeeded in this run", ""},
	{"s4_start_engine", "4 start_constraint", "The engine never invents arguments: a start tool with complete args in the YAML may be run by it", ""},
	{"s4_requires_all", "4 requires_preceding", "all of the list have succeeded in this run", ""},
	{"s4_requires_any", "4 requires_preceding", "any: true for any of them", ""},
	{"s4_precede_refused", "4 must_precede", "refused once one of the listed tools succeeded", ""},
	{"s4_precede_obliges", "4 must_precede", "it obliges nothing", ""},
	{"s4_required_success", "4 required_before_exit", "must have succeeded", ""},
	{"s4_required_cleanup", "4 required_before_exit", "when an exit tool succeeds with requirements open the run enters clean-up", ""},
	{"s4_required_only", "4 required_before_exit", "only pending required tools and their prerequisites run", ""},
	{"s4_required_exiting", "4 required_before_exit", "others are refused exiting", ""},
	{"s4_required_finishes", "4 required_before_exit", "met, the run finishes", ""},
	{"s4_required_engine", "4 required_before_exit", "A required tool with complete args may be run by the engine", ""},
	{"s4_stop_reminders", "4 model stops, requirements open", "reminders that name them (two by default)", ""},
	{"s4_stop_incomplete", "4 model stops, requirements open", "then the run ends incomplete with the list", ""},
	{"s4_stop_waiting", "4 model stops, requirements open", "While a request is pending the run stays waiting and no reminder counts", ""},
	{"s4_operations_absent", "4 allowed_operations", "an absent operation argument is not allowed", ""},
	{"s4_loop_both", "4 continue_loop and exit_loop on one tool", "error at generation", ""},
	{"s4_hint_kinds", "4 loop hint", "continue, yield, wait, exit", ""},
	{"s4_hint_refusals", "4 loop hint", "refusals, duplicates and failures continue, so that the model can react", ""},
	{"s4_hint_finished", "4 loop hint", "run_finished says exit", ""},
	{"s4_heartbeat_removed", "4 request_heartbeat", "taken out of the arguments before handler, digest and dedupe", ""},
	{"s4_undo_run", "4 undo", "of a run: reverse order, all tried, failures collected", ""},
	{"s4_undo_policy", "4 undo", "policy-checked and audited itself", ""},
	{"s4_undo_drift", "4 undo", "drift refuses", ""},
	{"s4_undo_facts", "4 undo", "un-satisfies ordering and exit facts and frees the group", ""},
	{"s4_undo_slot", "4 undo", "gives back neither slot nor cooldown", ""},
	{"s4_undo_once", "4 undo", "once", ""},
	{"s4_undo_lifetime", "4 undo", "with a lifetime", ""},
	{"s4_undo_interrupted", "4 undo", "a timed-out or unknown call may be undone after its grace", ""},
	{"s4_agents_denials", "4 sub-agents", "inherit denials and questions", ""},
	{"s4_agents_grants", "4 sub-agents", "never grants", ""},
	{"s4_agents_counters", "4 sub-agents", "own counters", ""},
	{"s4_agents_budget", "4 sub-agents", "plus the run's shared budget", ""},
	{"s5_recorded", "5", "A request is recorded, then its approvers are notified", ""},
	{"s5_one_door", "5", "every answer enters by one door, which resolves it atomically", ""},
	{"s5_unavailable", "5", "Nobody who can be notified: consent_unavailable", ""},
	{"s5_bound", "5", "An approval binds a digest of tool, declaration pin, final arguments, preview, principal, session, policy revision, expiry and a nonce", ""},
	{"s5_single_use", "5", "Single use", ""},
	{"s5_recomputed", "5", "recomputed immediately before the handler", ""},
	{"s5_edit_validated", "5", "Edited arguments are validated", ""},
	{"s5_edit_judged", "5", "judged", ""},
	{"s5_edit_bound", "5", "and bound anew", ""},
	{"s5_edit_quorum", "5", "and reset a quorum", ""},
	{"s5_edit_tool", "5", "the tool cannot be changed", ""},
	{"s5_grant_once", "5", "Grants: once", ""},
	{"s5_grant_duration", "5", "duration (from the approval)", ""},
	{"s5_grant_end", "5", "invalid at the end instant", ""},
	{"s5_grant_session", "5", "session", ""},
	{"s5_cover_exact", "5", "Cover: exact (default)", ""},
	{"s5_cover_args", "5", "declared argument predicates (args)", ""},
	{"s5_cover_tool", "5", "tool", ""},
	{"s5_max_cover", "5", "The declaration caps the cover (max_cover)", ""},
	{"s5_scope", "5", "000's ApproveForScope is a session grant with a cover", ""},
	{"s5_grant_asks", "5", "A grant answers ask; it never lifts deny or a rule", ""},
	{"s5_once_failed", "5", "once is used up by a failed execution too", ""},
	{"s5_grant_fields", "5", "Fields: cover, uses, expiry, grantor, reason, policy revision, revoked", ""},
	{"s5_expiry_own", "5", "Expiry is its own outcome (consent_expired)", ""},
	{"s5_expiry_allows", "5", "never allow", ""},
	{"s5_expiry_denial", "5", "never counted as a person's refusal", ""},
	{"s5_late_answer", "5", "Late answers are rejected with that reason", ""},
	{"s5_patience", "5", "The waiter's patience is not the request's life", ""},
	{"s5_reminder", "5", "A reminder event comes before expiry", ""},
	{"s5_approver_id", "5", "Approvers: an authenticated id", ""},
	{"s5_approver_set", "5", "in the rule's set", ""},
	{"s5_approver_self", "5", "never the acting principal unless allow_self", ""},
	{"s5_quorum_distinct", "5", "quorum counts distinct ids", ""},
	{"s5_quorum_repeat", "5", "a repeated one answers recorded", ""},
	{"s5_one_denial", "5", "one denial ends it", ""},
	{"s5_rejected_audited", "5", "rejected attempts are audited", ""},
	{"s5_rejected_open", "5", "and leave the request open", ""},
	{"s5_siblings_run", "5", "Siblings of a pending call run at once unless an ordering rule ties them", ""},
	{"s5_siblings_reservation", "5", "the pending call keeps its reservation", ""},
	{"s5_reload_revision", "5", "Policy reload: a call keeps the revision it was admitted with", ""},
	{"s5_reload_refused", "5", "A pending request is judged again when it is answered: now refused, the answer is accepted and the call denied policy_denied", ""},
	{"s5_reload_asking", "5", "still asking, the answer is accepted and the call denied binding_mismatch (changed: policy_version)", ""},
	{"s5_reload_anew", "5", "and the agent's new call asks anew", ""},
	{"s5_reload_grants", "5", "Grants die with the rule that asked", ""},
	{"s5_secret_shown", "5", "x-sensitive members are shown to approvers as length and salted digest", ""},
	{"s5_secret_revealed", "5", "unless the declaration reveals them (consent.reveal)", ""},
	{"s5_secret_events", "5", "revealed values never enter events", ""},
	{"s5_off_signed", "5", "Permissions off is ConsentOff(until, by, reason)", ""},
	{"s5_off_hour", "5", "at most one hour", ""},
	{"s5_off_event", "5", "an event and a warning", ""},
	{"s5_off_asks", "5", "lifts ask only", ""},
	{"s6_lease_cancels", "6", "A holder that lost its lease cancels its handler", ""},
	{"s6_lease_writes", "6", "Ownership of a running call is a lease: who has lost it writes nothing", ""},
	{"s6_lease_late", "6", "its late result is kept as evidence", ""},
	{"s6_shutdown_early", "6", "Shutdown releases leases early", ""},
	{"s6_shutdown_knows", "6", "and writes no outcome that it does not know", ""},
	{"s6_unknown_reconcile", "6", "any other becomes unknown, and leaves it by the tool's declared reconcile handler", ""},
	{"s6_unknown_person", "6", "by a person", ""},
	{"s6_stable_key", "6", "Handlers receive a stable key", ""},
	{"s6_handler_fence", "6", "and the fence for the systems that they call", ""},
	{"s8_heartbeat", "8", "heartbeat 10 s", ""},
	{"s8_stale", "8", "stale after 60 s", ""},
}
