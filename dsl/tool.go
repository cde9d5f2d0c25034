package dsl

import (
	"cmp"
	"strings"
	"time"
)

// DefaultMaxFor is consent.max_for of a declaration that does not say it. The
// runtime has the same default.
const DefaultMaxFor = 24 * time.Hour

// The other defaults of the declaration.
const (
	defaultEffect     = "destructive" // the one that promises least
	defaultDeadline   = 45 * time.Second
	defaultInput      = 64 << 10
	defaultOutput     = 1 << 20
	defaultRetryMax   = 3
	defaultRetryFirst = time.Second
	defaultRetryCap   = 30 * time.Second
	defaultDedupe     = 5 * time.Minute
	defaultTimeout    = 300 * time.Second
	defaultQuorum     = 1
	defaultCover      = "exact"
	defaultUndoTTL    = time.Hour
	defaultOver       = 12000
)

func toolLevel() level[Tool] {
	return level[Tool]{what: "a tool", required: []string{"version", "description", "input", "output"}, keys: keys[Tool]{
		"version":       func(p *parser, n *node, t *Tool) { t.Version = p.semver(n, "version") },
		"title":         func(p *parser, n *node, t *Tool) { t.Title, _ = p.prose(n, "title") },
		"description":   func(p *parser, n *node, t *Tool) { t.Description, _ = p.prose(n, "description") },
		"effect":        func(p *parser, n *node, t *Tool) { t.Effect = p.choice(n, "effect", "read", "write", "destructive") },
		"idempotent":    func(p *parser, n *node, t *Tool) { t.Idempotent = p.flag(n, "idempotent") },
		"deterministic": func(p *parser, n *node, t *Tool) { t.Deterministic = p.flag(n, "deterministic") },
		"capabilities":  func(p *parser, n *node, t *Tool) { t.Capabilities = p.labels(n, "capabilities", labelName) },
		"behaviors":     func(p *parser, n *node, t *Tool) { t.Behaviors = p.labels(n, "behaviors", labelName) },
		"input":         func(p *parser, n *node, t *Tool) { t.Input = p.rootSchema(n, "input") },
		"output":        func(p *parser, n *node, t *Tool) { t.Output = p.rootSchema(n, "output") },
		"deadline":      func(p *parser, n *node, t *Tool) { t.Deadline = p.duration(n, "deadline") },
		"limits":        (*parser).parseLimits,
		"retry":         (*parser).parseRetry,
		"safe_errors":   func(p *parser, n *node, t *Tool) { t.SafeErrors = p.flag(n, "safe_errors") },
		"modes":         (*parser).parseModes,
		"heartbeat":     (*parser).parseHeartbeat,
		"every":         (*parser).parseEvery,
		"args":          (*parser).parseArgs,
		"dedupe":        func(p *parser, n *node, t *Tool) { t.Dedupe = p.dedupe(n, "dedupe") },
		"idempotency":   (*parser).parseIdempotency,
		"transactional": (*parser).parseTransactional,
		"reconcile":     func(p *parser, n *node, t *Tool) { t.Reconcile = p.flag(n, "reconcile") },
		"consent":       (*parser).parseConsent,
		"undo":          (*parser).parseUndo,
		"artifact":      (*parser).parseArtifact,
		"rules":         func(p *parser, n *node, t *Tool) { t.Rules = p.parseRules(n, t) },
		"deprecated":    (*parser).parseDeprecated,
	}}
}

// parseTool reads one tool. What depends on its input is checked later.
func (p *parser) parseTool(e pair) *Tool {
	t := &Tool{
		Name: e.name, Pos: e.key, Effect: defaultEffect,
		Deadline: p.defaults.Deadline, Limits: p.defaults.Limits, Dedupe: p.defaults.Dedupe,
	}
	t.Keys = walk(p, e.val, p.levels.tool, "tool "+quote(e.name), e.key, t)
	if _, own := t.Keys["limits"]; !own && t.Limits.Concurrency == 0 {
		t.Limits.Queue = 0 // of the defaults: there is nothing to wait for
	}
	return t
}

func limitsLevel() level[Limits] {
	return level[Limits]{what: "limits", keys: keys[Limits]{
		"input":       func(p *parser, n *node, l *Limits) { l.Input = p.size(n, "limits.input") },
		"output":      func(p *parser, n *node, l *Limits) { l.Output = p.size(n, "limits.output") },
		"memory":      func(p *parser, n *node, l *Limits) { l.Memory = p.size(n, "limits.memory") },
		"concurrency": func(p *parser, n *node, l *Limits) { l.Concurrency = p.count(n, "limits.concurrency", 1) },
		"queue":       func(p *parser, n *node, l *Limits) { l.Queue = cmp.Or(p.count(n, "limits.queue", 0), NoQueue) },
	}}
}

func (p *parser) parseLimits(n *node, t *Tool) {
	places := walk(p, n, p.levels.limits, "limits", n.pos, &t.Limits)
	p.later(func() {
		at, own := places["queue"]
		switch {
		case t.Limits.Concurrency != 0:
		case own:
			p.report(at, "declare limits.concurrency, or remove limits.queue",
				"limits.queue: calls of tool %s wait for nothing without limits.concurrency", quote(t.Name))
		default:
			t.Limits.Queue = 0
		}
	})
}

func retryLevel() level[Retry] {
	return level[Retry]{what: "retry", keys: keys[Retry]{
		"max":        func(p *parser, n *node, r *Retry) { r.Max = p.count(n, "retry.max", 1) },
		"initial":    func(p *parser, n *node, r *Retry) { r.Initial, _ = p.delay(n, "retry.initial") },
		"cap":        func(p *parser, n *node, r *Retry) { r.Cap = p.duration(n, "retry.cap") },
		"on_timeout": func(p *parser, n *node, r *Retry) { r.OnTimeout = p.flag(n, "retry.on_timeout") },
	}}
}

func (p *parser) parseRetry(n *node, t *Tool) {
	r := &Retry{Max: defaultRetryMax, Initial: defaultRetryFirst, Cap: defaultRetryCap}
	places := walk(p, n, p.levels.retry, "retry", n.pos, r)
	t.Retry = r
	if r.Cap > 0 && r.Initial > r.Cap {
		at, ok := places["initial"]
		if !ok {
			at = places["cap"]
		}
		p.report(at, "raise retry.cap or lower retry.initial", "retry: initial %s is above cap %s", r.Initial, r.Cap)
	}
	p.later(func() {
		if !t.Idempotent {
			p.report(t.Keys["retry"], "remove retry, or declare idempotent: true when running it twice does no harm",
				"retry: tool %s is not idempotent", quote(t.Name))
		}
	})
}

// parseTransactional reads what a tool promises of its effects. One that has none
// has nothing to promise.
func (p *parser) parseTransactional(n *node, t *Tool) {
	t.Transactional = p.flag(n, "transactional")
	p.later(func() {
		if t.Transactional && t.Effect == "read" {
			p.report(t.Keys["transactional"], "remove transactional: a call of a tool that only reads leaves nothing behind",
				"transactional: tool %s has effect: read", quote(t.Name))
		}
	})
}

func (p *parser) parseModes(n *node, t *Tool) {
	if !p.isMap(n, "modes") {
		return
	}
	for _, e := range n.pairs {
		if !e.twin {
			p.name(e, "mode", lowerName)
		}
		t.Modes = append(t.Modes, &Mode{Name: e.name, Values: p.filled(e.val, "modes."+e.name, labelName), Pos: e.key})
	}
}

func (p *parser) parseHeartbeat(n *node, t *Tool) {
	t.Heartbeat = p.flag(n, "heartbeat")
	p.later(func() {
		in := t.Input.base()
		if own := in.property("request_heartbeat"); t.Heartbeat && own != nil {
			p.report(own.Pos, "rename the property or remove heartbeat",
				"heartbeat adds %s to the input, which declares it already", quote("request_heartbeat"))
		}
	})
}

func (p *parser) parseEvery(n *node, t *Tool) {
	t.Every = p.duration(n, "every")
	p.later(func() {
		if in := t.Input.base(); in != nil && len(in.Required) > 0 && t.Keys["args"] == (Pos{}) {
			p.report(t.Keys["every"], "add args with "+strings.Join(in.Required, ", "),
				"every: the engine cannot run tool %s without args", quote(t.Name))
		}
	})
}

func (p *parser) parseArgs(n *node, t *Tool) {
	if !p.isMap(n, "args") {
		return
	}
	t.Args = p.value(n)
	p.later(func() { p.fits(t.Args, t.Input, "args") })
}

// dedupe reads a window, or a word that stands for one.
func (p *parser) dedupe(n *node, key string) Dedupe {
	switch {
	case n.kind == nodeBool && n.text == "true":
		return Dedupe{Mode: "window", Window: defaultDedupe}
	case n.kind == nodeBool, n.kind == nodeString && n.text == "never":
	case n.kind == nodeString && n.text == "always":
		return Dedupe{Mode: "always"}
	case n.kind == nodeString && n.text != "" && strings.Contains("0123456789+-.", n.text[:1]):
		return Dedupe{Mode: "window", Window: p.duration(n, key)}
	case n.kind != nodeBad:
		p.report(n.pos, "write a duration such as 5m, true (5m), always or never",
			"%s must be a duration, true, always or never, not %s", key, n.shown())
	}
	return Dedupe{Mode: "never"}
}

func idempotencyLevel() level[Idempotency] {
	return level[Idempotency]{what: "idempotency", required: []string{"key", "window"}, keys: keys[Idempotency]{
		"key":    nil, // set by parseIdempotency, which has the tool
		"window": func(p *parser, n *node, i *Idempotency) { i.Window = p.duration(n, "idempotency.window") },
	}}
}

func (p *parser) parseIdempotency(n *node, t *Tool) {
	l := p.levels.idempotency
	l.keys = keys[Idempotency]{"window": l.keys["window"], "key": func(p *parser, n *node, i *Idempotency) {
		i.Key = p.inputMembers(n, "idempotency.key", t)
	}}
	t.Idempotency = new(Idempotency)
	walk(p, n, l, "idempotency", n.pos, t.Idempotency)
}

// inputMembers is a list of names of members of the input.
func (p *parser) inputMembers(n *node, key string, t *Tool) []string {
	out := p.filled(n, key, nil)
	p.later(func() {
		in := t.Input.base()
		for _, item := range n.items {
			if in != nil && item.kind == nodeString && item.text != "" && in.property(item.text) == nil {
				p.report(item.pos, p.didYouMean(item.text, in.propertyNames()), "%s: the input has no member %s", key, quote(item.text))
			}
		}
	})
	return out
}

func undoLevel() level[Undo] {
	return level[Undo]{what: "undo", required: []string{"state"}, keys: keys[Undo]{
		"ttl":   func(p *parser, n *node, u *Undo) { u.TTL = p.duration(n, "undo.ttl") },
		"state": func(p *parser, n *node, u *Undo) { u.State = p.rootSchema(n, "undo.state") },
	}}
}

func (p *parser) parseUndo(n *node, t *Tool) {
	t.Undo = &Undo{TTL: defaultUndoTTL, Pos: n.pos}
	walk(p, n, p.levels.undo, "undo", n.pos, t.Undo)
}
