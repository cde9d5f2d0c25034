package scenario

import (
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An operation is what a step does.
type operation interface {
	run(sim *simulation) any // the result, made for encoding/json
	answers() []string       // the fields that the result may have
}

// A callStep is a call of a tool by its id, and how its stand-in handler behaves.
type callStep struct {
	id, tool, principal string

	args      []byte
	handler   string
	duration  time.Duration
	lasts     bool // duration is given
	heartbeat bool
}

type batchStep struct {
	parallel bool
	calls    []*callStep
}

type approveStep struct {
	request      string
	by           runtime.Actor
	grant, cover string
	lasting      time.Duration
	where        []consent.Predicate
	edit         []byte
}

type denyStep struct {
	request, message string
	by               runtime.Actor
}

type revokeStep struct {
	grant string
	by    runtime.Actor
}

type tamperStep struct {
	request string
	args    []byte
}

type setPolicyStep struct{ policy policySource }

type whatIfStep struct{ call *callStep }

type undoStep struct{ call string }

type (
	advanceStep   time.Duration
	turnStep      struct{}
	newRunStep    struct{}
	modelStopStep struct{}
	undoRunStep   struct{}
)

// callFields are the fields of the result of a call.
func callFields() []string {
	return []string{"outcome", "status", "reason", "all_reasons", "detail", "loop", "of", "args", "shown_args", "run", "pending_exit"}
}

func (*callStep) answers() []string     { return callFields() }
func (*batchStep) answers() []string    { return nil }
func (*approveStep) answers() []string  { return []string{"resolution", "reason", "detail", "call"} }
func (*denyStep) answers() []string     { return []string{"resolution", "reason", "detail", "call"} }
func (*revokeStep) answers() []string   { return []string{"resolution", "reason"} }
func (*tamperStep) answers() []string   { return nil }
func (setPolicyStep) answers() []string { return nil }
func (*whatIfStep) answers() []string   { return callFields() }
func (*undoStep) answers() []string     { return []string{"undo", "reason"} }
func (advanceStep) answers() []string   { return []string{"expired"} }
func (turnStep) answers() []string      { return nil }
func (newRunStep) answers() []string    { return nil }
func (modelStopStep) answers() []string { return []string{"run", "pending_exit"} }
func (undoRunStep) answers() []string {
	return []string{"undone", "failed", "not_undoable", "reads", "complete"}
}

func (r *reader) parseCall(n *node) *callStep {
	c := &callStep{args: []byte("{}"), handler: "ok", principal: mainPrincipal}
	r.mapping(n, "call", fields{
		"id":      func(n *node) { r.string(n, "call.id", &c.id) },
		"tool":    func(n *node) { r.string(n, "call.tool", &c.tool) },
		"args":    func(n *node) { r.args(n, "call.args", &c.args) },
		"handler": func(n *node) { r.choice(n, "call.handler", &c.handler, "ok", "error", "timeout") },
		"duration": func(n *node) {
			r.duration(n, "call.duration", &c.duration)
			c.lasts = true
		},
		"heartbeat": func(n *node) { r.bool(n, "call.heartbeat", &c.heartbeat) },
		"principal": func(n *node) { r.string(n, "call.principal", &c.principal) },
	}, "id", "tool")
	return c
}

func (r *reader) parseBatch(n *node) operation {
	b := &batchStep{parallel: true}
	mode := "parallel"
	r.mapping(n, "batch", fields{
		"mode":  func(n *node) { r.choice(n, "batch.mode", &mode, "sequential", "parallel") },
		"calls": func(n *node) { r.list(n, "batch.calls", func(n *node) { b.calls = append(b.calls, r.parseCall(n)) }) },
	}, "calls")
	b.parallel = mode == "parallel"
	return b
}

func (r *reader) parseApprove(n *node) operation {
	a := &approveStep{grant: "once", cover: "exact"}
	r.mapping(n, "approve", fields{
		"request_for": func(n *node) { r.string(n, "approve.request_for", &a.request) },
		"by":          func(n *node) { r.id(n, "approve.by", &a.by) },
		"groups":      func(n *node) { r.groups(n, "approve.groups", &a.by) },
		"grant":       func(n *node) { r.choice(n, "approve.grant", &a.grant, "once", "duration", "session") },
		"for":         func(n *node) { r.duration(n, "approve.for", &a.lasting) },
		"cover":       func(n *node) { r.choice(n, "approve.cover", &a.cover, "exact", "args", "tool") },
		"cover_args":  func(n *node) { a.where = r.predicates(n, "approve.cover_args") },
		"edit":        func(n *node) { r.args(n, "approve.edit", &a.edit) },
	}, "request_for", "by")
	return a
}

func (r *reader) parseDeny(n *node) operation {
	d := &denyStep{}
	r.mapping(n, "deny", fields{
		"request_for": func(n *node) { r.string(n, "deny.request_for", &d.request) },
		"by":          func(n *node) { r.id(n, "deny.by", &d.by) },
		"groups":      func(n *node) { r.groups(n, "deny.groups", &d.by) },
		"message":     func(n *node) { r.string(n, "deny.message", &d.message) },
	}, "request_for", "by")
	return d
}

func (r *reader) parseRevoke(n *node) operation {
	v := &revokeStep{}
	r.mapping(n, "revoke", fields{
		"grant_from": func(n *node) { r.string(n, "revoke.grant_from", &v.grant) },
		"by":         func(n *node) { r.id(n, "revoke.by", &v.by) },
		"groups":     func(n *node) { r.groups(n, "revoke.groups", &v.by) },
	}, "grant_from", "by")
	return v
}

func (r *reader) parseTamper(n *node) operation {
	t := &tamperStep{}
	r.mapping(n, "tamper", fields{
		"request_for": func(n *node) { r.string(n, "tamper.request_for", &t.request) },
		"args":        func(n *node) { r.args(n, "tamper.args", &t.args) },
	}, "request_for", "args")
	return t
}

func (r *reader) parseSetPolicy(n *node) operation {
	s := setPolicyStep{policySource{missing: "allow"}}
	r.mapping(n, "set_policy", fields{
		"version":        func(n *node) { r.string(n, "set_policy.version", &s.policy.version) },
		"policy":         func(n *node) { s.policy.rules = r.parsePolicy(n) },
		"policy_default": func(n *node) { r.decision(n, "set_policy.policy_default", &s.policy.missing) },
	})
	return s
}

func (r *reader) parseWhatIf(n *node) operation {
	c := &callStep{args: []byte("{}"), handler: "ok", principal: mainPrincipal}
	r.mapping(n, "what_if", fields{
		"tool":      func(n *node) { r.string(n, "what_if.tool", &c.tool) },
		"args":      func(n *node) { r.args(n, "what_if.args", &c.args) },
		"principal": func(n *node) { r.string(n, "what_if.principal", &c.principal) },
	}, "tool")
	return &whatIfStep{c}
}

func (r *reader) parseUndo(n *node) operation {
	u := &undoStep{}
	r.mapping(n, "undo", fields{"call": func(n *node) { r.string(n, "undo.call", &u.call) }}, "call")
	return u
}

// id reads who answers. A group is let through, since the executor rejects what it answers.
func (r *reader) id(n *node, key string, by *runtime.Actor) {
	by.Method = runtime.MethodCode
	r.string(n, key, &by.ID)
	if err := runtime.CheckApprover(by.ID); n.kind == kindString && by.ID != "" && err != nil {
		r.report(n.pos, "a member of a group is an id with groups: [NAME]", "%s: %s", key, err)
	}
}

// groups reads the groups of who answers.
func (r *reader) groups(n *node, key string, by *runtime.Actor) {
	r.list(n, key, func(n *node) {
		var name string
		r.string(n, key, &name)
		if err := runtime.CheckGroup(name); n.kind == kindString && name != "" && err != nil {
			r.report(n.pos, "write the name of the group, without group:", "%s: %s", key, err)
		}
		by.Groups = append(by.Groups, name)
	})
}

// args reads the arguments of a call: any JSON, since the engine is what judges them.
func (r *reader) args(n *node, _ string, dst *[]byte) { *dst = n.appendJSON(nil) }

// predicates reads {name: {op: value}}.
func (r *reader) predicates(n *node, key string) []consent.Predicate {
	var ops []string
	for _, op := range consent.Ops() {
		ops = append(ops, op.String())
	}
	var out []consent.Predicate
	if n.kind != kindMap {
		r.report(n.pos, "write {name: {"+ops[0]+": value}}", "%s must be a mapping, not %s", key, n.kind)
		return nil
	}
	for _, p := range n.pairs {
		if p.val.kind != kindMap || len(p.val.pairs) == 0 {
			r.report(p.val.pos, "write "+p.name+": {"+ops[0]+": value}", "%s.%s must be a mapping, not %s", key, p.name, p.val.kind)
			continue
		}
		for _, q := range p.val.pairs {
			var op consent.Op
			if !slices.Contains(ops, q.name) || op.UnmarshalText([]byte(q.name)) != nil {
				r.report(q.key, "", "%s.%s compares by %s, not by %s", key, p.name, either(ops), quote(q.name))
				continue
			}
			where := consent.Predicate{Member: p.name, Op: op, Value: q.val.appendJSON(nil)}
			if _, err := where.Met(wire.Raw("{}")); err != nil {
				r.report(q.val.pos, "", "%s: %s", key, err)
			}
			out = append(out, where)
		}
	}
	return out
}
