package dsl

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

func toolLevel() level[Tool] {
	return level[Tool]{def: "tool", what: "a tool", conditions: toolConditions, exempt: madeByCommand, keys: slices.Concat(toolKeys(), toolCallKeys())}
}

// madeByCommand are the keys that a command makes unnecessary.
func madeByCommand(n *node) []string {
	if n.get("command") != nil {
		return []string{"output"}
	}
	return nil
}

func toolKeys() keys[Tool] {
	return keys[Tool]{
		{name: "version", required: true, is: wordSemver, doc: "Semantic version of the tool.",
			read: func(p *parser, n *node, t *Tool) { t.Version = p.semver(n, "version") }},
		{name: "alias", is: wordAlias, doc: "The name under which clients know the tool: calls may use it, rules and policies may not.", without: "none", rules: "1.5",
			read: (*parser).parseAlias},
		{name: "renamed_from", is: wordFormer, doc: "Earlier names of the tool, the earliest first, which calls may still use. Its idempotency keys are made of the first.", without: "none", rules: "1.5",
			read: (*parser).parseRenamedFrom},
		{name: "title", is: wordProse, doc: "Name for people.", without: "none",
			read: func(p *parser, n *node, t *Tool) { t.Title, _ = p.prose(n, "title") }},
		{name: "description", required: true, is: wordProse, doc: "What the tool does, for the model.",
			read: func(p *parser, n *node, t *Tool) { t.Description, _ = p.prose(n, "description") }},
		{name: "effect", is: wordEffect, doc: "What a handler may do outside of the executor.", without: "destructive", rules: "6.7",
			read: func(p *parser, n *node, t *Tool) { t.Effect = p.choice(n, "effect", effects...) }},
		{name: "idempotent", is: wordFlag, doc: "Running the same call twice does what running it once does.", without: "false", rules: "6.2",
			read: func(p *parser, n *node, t *Tool) { t.Idempotent = p.flag(n, "idempotent") }},
		{name: "deterministic", is: wordFlag, doc: "Equal input and state give equal output.", without: "false",
			read: func(p *parser, n *node, t *Tool) { t.Deterministic = p.flag(n, "deterministic") }},
		{name: "capabilities", is: wordLabels, doc: "Capabilities that the principal must have.", without: "none", rules: "2.3",
			read: func(p *parser, n *node, t *Tool) { t.Capabilities = p.labels(n, "capabilities", labelName) }},
		{name: "behaviors", is: wordLabels, doc: "Behaviors in which the tool may run; empty means all.", without: "all", rules: "2.3",
			read: func(p *parser, n *node, t *Tool) { t.Behaviors = p.labels(n, "behaviors", labelName) }},
		{name: "input", required: true, is: wordRoot, doc: "Schema of the arguments, an object.", rules: "7",
			read: func(p *parser, n *node, t *Tool) { t.Input = p.rootSchema(n, "input") }},
		{name: "output", required: true, is: wordRoot, doc: "Schema of the result, an object. A command needs it with the output json; with json_lines it is that of a line.", rules: "6.8",
			read: func(p *parser, n *node, t *Tool) { t.Output = p.rootSchema(n, "output") }},
		{name: "isolation", is: wordTier, doc: "The tier of a command tool: a box, or a process group of its own.", without: "that of the file",
			read: (*parser).parseIsolation},
		{name: "command", is: mapping("command"), doc: "What the tool runs in place of a handler.", without: "the tool has a handler",
			read: (*parser).parseCommand},
		{name: "deadline", is: wordDuration, doc: "Longest time of one attempt.", without: "45s", rules: "6.1",
			read: func(p *parser, n *node, t *Tool) { t.Deadline = p.duration(n, "deadline") }},
		{name: "limits", is: mapping("limits"), doc: "What one call may use.", rules: "6.3",
			read: (*parser).parseLimits},
		{name: "retry", is: mapping("retry"), doc: "How a failed call of an idempotent tool is tried again.", without: "no retry", rules: "6.2",
			read: (*parser).parseRetry},
		{name: "safe_errors", is: wordFlag, doc: "Every error text of the handler may reach the model; runtime.Public marks a single one.", without: "false", rules: "2.4",
			read: func(p *parser, n *node, t *Tool) { t.SafeErrors = p.flag(n, "safe_errors") }},
	}
}

func toolCallKeys() keys[Tool] {
	return keys[Tool]{
		{name: "modes", is: wordModes, doc: "Session modes, each with the values under which the tool may run.", without: "any", rules: "2.3",
			read: (*parser).parseModes},
		{name: "heartbeat", is: wordFlag, doc: "Adds the argument request_heartbeat.", without: "false", rules: "4.19",
			read: (*parser).parseHeartbeat},
		{name: "every", is: wordDuration, doc: "Interval at which the engine runs the tool.", without: "never",
			read: (*parser).parseEvery},
		{name: "args", is: wordMembers, doc: "Complete arguments with which the engine may run the tool itself.", without: "none", rules: "4.11, 4.14",
			read: (*parser).parseArgs},
		{name: "dedupe", is: wordDedupe, doc: "For how long an equal call is answered with the earlier one; true means 5m.", without: "never", rules: "4.8",
			read: func(p *parser, n *node, t *Tool) { t.Dedupe = p.dedupe(n, "dedupe") }},
		{name: "idempotency", is: mapping("idempotency"), doc: "What identifies an effect, whichever call id it comes with.", without: "none", rules: "4.9",
			read: (*parser).parseIdempotency},
		{name: "transactional", is: wordFlag, doc: "All effects of a call go through participants (runtime.PartOf), so that an interrupted call is rolled back.", without: "false", rules: "6.7",
			read: (*parser).parseTransactional},
		{name: "reconcile", is: wordFlag, doc: "The handler can find out what an interrupted call did.", without: "false", rules: "6.7",
			read: func(p *parser, n *node, t *Tool) { t.Reconcile = p.flag(n, "reconcile") }},
		{name: "consent", is: mapping("consent"), doc: "Which approvers to ask before a call, and how.", without: "not asked", rules: "5",
			read: (*parser).parseConsent},
		{name: "undo", is: mapping("undo"), doc: "How long and with which state the handler can take the effect back.", without: "cannot be undone", rules: "4.20",
			read: (*parser).parseUndo},
		{name: "artifact", is: mapping("artifact"), doc: "When the executor stores the output as an artifact and answers with a preview.", without: "never", rules: "8",
			read: (*parser).parseArtifact},
		{name: "rules", is: mapping("rules"), doc: "Rules of this tool.", without: "none", rules: "4",
			read: func(p *parser, n *node, t *Tool) { t.Rules = p.parseRules(n, t) }},
		{name: "deprecated", is: mapping("deprecated"), doc: "Marks a tool that should not be used any more.",
			read: (*parser).parseDeprecated},
	}
}

// parseTool reads one tool. What depends on its input is checked later.
func (p *parser) parseTool(e pair) *Tool {
	t := &Tool{
		Name: e.name, Pos: e.key, Effect: defaultEffect,
		Deadline: p.defaults.Deadline, Limits: p.defaults.Limits, Dedupe: p.defaults.Dedupe,
		LimitKeys: maps.Clone(p.defaults.LimitKeys),
	}
	t.Keys = walk(p, e.val, p.levels.tool, "tool "+quote(e.name), e.key, t)
	if t.Command != nil {
		p.commandOutput(t)
		t.Limits.Concurrency = cmp.Or(t.Limits.Concurrency, defaultConcurrency)
	}
	if _, own := t.Keys["limits"]; !own && t.Limits.Concurrency == 0 {
		t.Limits.Queue = 0 // of the defaults: there is nothing to wait for
	}
	return t
}

func limitsLevel() level[Limits] {
	return level[Limits]{def: "limits", what: "limits", keys: slices.Concat(toolLimits(), commandLimits())}
}

func toolLimits() keys[Limits] {
	return keys[Limits]{
		{name: "input", is: wordSize, doc: "Largest input.", without: "64KiB", rules: "7.2",
			read: func(p *parser, n *node, l *Limits) { l.Input = p.size(n, "limits.input") }},
		{name: "output", is: wordSize, doc: "Largest output.", without: "1MiB", rules: "8",
			read: func(p *parser, n *node, l *Limits) { l.Output = p.size(n, "limits.output") }},
		{name: "memory", is: wordMemory, doc: "Most memory of a process; of a command, of all its processes together.", without: "no limit; 512MiB for a command",
			read: (*parser).parseMemory},
		{name: "concurrency", is: wordCount, doc: "Most calls at once in one executor.", without: "no limit; 5 for a command", rules: "6.3",
			read: func(p *parser, n *node, l *Limits) { l.Concurrency = p.count(n, "limits.concurrency", 1) }},
		{name: "queue", is: wordBound, doc: "Most calls that wait for one of these; more are at_capacity at once.", without: "4 times concurrency", rules: "6.3",
			read: func(p *parser, n *node, l *Limits) { l.Queue = cmp.Or(p.count(n, "limits.queue", 0), NoQueue) }},
	}
}

func (p *parser) parseLimits(n *node, t *Tool) {
	places := walk(p, n, p.levels.limits, "limits", n.pos, &t.Limits)
	if t.LimitKeys == nil {
		t.LimitKeys = map[string]Pos{}
	}
	maps.Copy(t.LimitKeys, places)
	p.later(func() {
		p.checkProcessLimits(t, n, places)
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
	return level[Retry]{def: "retry", what: "retry", keys: keys[Retry]{
		{name: "max", is: wordCount, doc: "Most attempts after the first.", without: "3", rules: "6.2",
			read: func(p *parser, n *node, r *Retry) { r.Max = p.count(n, "retry.max", 1) }},
		{name: "initial", is: wordDelay, doc: "Wait before the first retry; it doubles each time.", without: "1s", rules: "6.2",
			read: func(p *parser, n *node, r *Retry) { r.Initial, _ = p.delay(n, "retry.initial") }},
		{name: "cap", is: wordDuration, doc: "Longest wait.", without: "30s", rules: "6.2",
			read: func(p *parser, n *node, r *Retry) { r.Cap = p.duration(n, "retry.cap") }},
		{name: "on_timeout", is: wordFlag, doc: "A timeout is tried again too.", without: "false", rules: "6.2",
			read: func(p *parser, n *node, r *Retry) { r.OnTimeout = p.flag(n, "retry.on_timeout") }},
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
	return level[Idempotency]{def: "idempotency", what: "idempotency", keys: keys[Idempotency]{
		{name: "key", required: true, is: wordNames, doc: "Members of the input that identify the effect.", rules: "4.9",
			read: func(p *parser, n *node, i *Idempotency) { i.Key = p.filled(n, "idempotency.key", nil) }},
		{name: "window", required: true, is: wordDuration, doc: "For how long the key is remembered: in its session, for its principal. A call in another session runs.", rules: "4.9",
			read: func(p *parser, n *node, i *Idempotency) { i.Window = p.duration(n, "idempotency.window") }},
	}}
}

func (p *parser) parseIdempotency(n *node, t *Tool) {
	t.Idempotency = new(Idempotency)
	walk(p, n, p.levels.idempotency, "idempotency", n.pos, t.Idempotency)
	for _, e := range n.pairs {
		if e.name == "key" {
			p.later(func() { p.checkMembers(e.val, "idempotency.key", t) })
		}
	}
}

// checkMembers refuses names that are not of members of the input.
func (p *parser) checkMembers(n *node, key string, t *Tool) {
	in := t.Input.base()
	for _, item := range n.items {
		if in != nil && item.kind == nodeString && item.text != "" && in.property(item.text) == nil {
			p.report(item.pos, p.didYouMean(item.text, in.propertyNames()), "%s: the input has no member %s", key, quote(item.text))
		}
	}
}

func undoLevel() level[Undo] {
	return level[Undo]{def: "undo", what: "undo", keys: keys[Undo]{
		{name: "ttl", is: wordDuration, doc: "How long the effect can be taken back.", without: "1h", rules: "4.20",
			read: func(p *parser, n *node, u *Undo) { u.TTL = p.duration(n, "undo.ttl") }},
		{name: "state", required: true, is: wordRoot, doc: "Schema of what undoing needs to know, an object.", rules: "4.20",
			read: func(p *parser, n *node, u *Undo) { u.State = p.rootSchema(n, "undo.state") }},
	}}
}

func (p *parser) parseUndo(n *node, t *Tool) {
	t.Undo = &Undo{TTL: defaultUndoTTL, Pos: n.pos}
	walk(p, n, p.levels.undo, "undo", n.pos, t.Undo)
}
