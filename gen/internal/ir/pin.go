package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/ambit-tools/ambit/dsl"
)

// maxPublished bounds the schemas of all tools, each of which has all that it refers to.
const maxPublished = 64 << 20

// publish makes the files that are not Go: schemas, policy data and pins.
func (b *builder) publish() {
	n, size := namesOf(b.file), 0
	for _, t := range b.pkg.Tools {
		if t.Decl.Heartbeat {
			b.refuseHeartbeat(t)
		}
		t.InputSchema = published(b.file, t.Decl.Input, t.Decl.Heartbeat)
		t.OutputSchema = published(b.file, t.Decl.Output, false)
		if t.State != nil {
			t.StateSchema = published(b.file, t.Decl.Undo.State, false)
		}
		t.PolicySchema = policySchema(b.file, n, t.Decl)
		t.Pin = pin(t)
		if size += len(t.InputSchema) + len(t.OutputSchema) + len(t.StateSchema) + len(t.PolicySchema); size > maxPublished {
			b.errorf(t.Decl.Pos, "let fewer tools refer to large types, or split the file", "the published schemas have more than %d bytes in all", maxPublished)
			return
		}
	}
	b.pkg.Envelope = pretty(envelopeSchema(n))
	b.pkg.Declared = declaredData(b.pkg, b.file, n)
	b.pkg.Schemas = publishedSchemas(b.pkg, b.file)
}

func (b *builder) refuseHeartbeat(t *Tool) {
	for _, f := range t.Input.Fields {
		if f.Name == heartbeatName {
			b.errorf(f.Schema.Pos, "rename it, or say heartbeat: false", "heartbeat: true adds %q to the input itself", heartbeatName)
		}
	}
}

// pin is the hash of everything that a tool's declaration says, in one fixed
// order and spelling: it changes exactly when the declaration means something else.
func pin(t *Tool) string {
	d := t.Decl
	o := object{
		{"name", d.Name}, {"version", d.Version}, {"title", d.Title}, {"description", d.Description},
		{"effect", d.Effect}, {"idempotent", d.Idempotent}, {"deterministic", d.Deterministic},
		{"capabilities", list(d.Capabilities)}, {"behaviors", list(d.Behaviors)},
		{"input", string(t.InputSchema)}, {"output", string(t.OutputSchema)},
		{"deadline", int64(d.Deadline)},
		{"limits", fmt.Sprint(d.Limits.Input, d.Limits.Output, d.Limits.Memory, d.Limits.Concurrency)},
		{"safe_errors", d.SafeErrors}, {"heartbeat", d.Heartbeat}, {"every", int64(d.Every)},
		{"dedupe", d.Dedupe.Mode}, {"dedupe_window", int64(d.Dedupe.Window)}, {"reconcile", d.Reconcile},
	}
	if d.Limits.Queue != 0 {
		o.set("queue", int64(d.Limits.Queue))
	}
	if d.Transactional {
		o.set("transactional", true)
	}
	for _, m := range d.Modes {
		o.set("mode", append([]any{m.Name}, list(m.Values)...))
	}
	if r := d.Retry; r != nil {
		o.set("retry", []any{int64(r.Max), int64(r.Initial), int64(r.Cap), r.OnTimeout})
	}
	if d.Args != nil {
		o.set("args", d.Args)
	}
	if i := d.Idempotency; i != nil {
		o.set("idempotency", append([]any{int64(i.Window)}, list(i.Key)...))
	}
	if d.Consent != nil {
		o.set("consent", consentObject(d.Consent))
		if d.Consent.MaxFor != dsl.DefaultMaxFor {
			o.set("consent_max_for", int64(d.Consent.MaxFor))
		}
	}
	if u := d.Undo; u != nil {
		o.set("undo", []any{int64(u.TTL), string(t.StateSchema)})
	}
	if a := d.Artifact; a != nil {
		o.set("artifact", []any{int64(a.Over), a.Type})
	}
	if d.Rules != nil {
		o.set("rules", rulesObject(d.Rules))
	}
	if x := d.Deprecated; x != nil {
		o.set("deprecated", list([]string{x.Since, x.Use, x.Message}))
		if x.RemoveIn != "" {
			o.set("remove_in", x.RemoveIn)
		}
	}
	if d.Command != nil {
		o.set("command", commandObject(d))
	}
	pinNames(&o, d)
	sum := sha256.Sum256(compact(o))
	return hex.EncodeToString(sum[:])
}

// pinNames adds the other names of a tool.
func pinNames(o *object, d *dsl.Tool) {
	if d.Alias != "" {
		o.set("alias", d.Alias)
	}
	if len(d.RenamedFrom) > 0 {
		o.set("renamed_from", list(d.RenamedFrom))
	}
}

func rulesObject(r *dsl.Rules) object {
	o := object{
		{"start_constraint", r.StartConstraint}, {"requires_preceding", list(r.RequiresPreceding)}, {"any", r.AnyPreceding},
		{"must_precede", list(r.MustPrecede)}, {"exclusive_group", list(r.ExclusiveGroups)},
		{"required_before_exit", r.RequiredBeforeExit}, {"max_calls", int64(r.MaxCalls)}, {"each", r.MaxCallsEach},
		{"cooldown", int64(r.Cooldown)}, {"continue_loop", r.ContinueLoop}, {"exit_loop", r.ExitLoop},
	}
	if a := r.AllowedOperations; a != nil {
		o.set("allowed_operations", append([]any{a.Arg}, list(a.Values)...))
	}
	return o
}
