package engine

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// DefaultUndoTTL is for how long a call can be undone when its tool does not declare a time.
const DefaultUndoTTL = ruleinput.DefaultUndoTTL

// WithReminders sets how often a model that stops is reminded of required tools before its run ends
// incomplete; negative: not at all. The default, two, is wrong when the model is slow to learn, or
// each reminder costs much.
func WithReminders(n int) Option {
	return func(e *Executor) {
		if e.reminders = n; n == 0 {
			e.reminders = -1
		}
	}
}

// compile compiles the rule engine of the tools. The error names tools and rules.
func (e *Executor) compile() (err error) {
	specs := make([]*runtime.Spec, len(e.tools))
	for i, t := range e.tools {
		specs[i] = t.spec
		e.requires = e.requires || t.spec.Rules.RequiredBeforeExit
	}
	if e.engine, err = rules.Compile(ruleinput.Config(specs, e.reminders)); err != nil {
		return fmt.Errorf("the rules of the tools: %w", err)
	}
	e.wants = make([]rules.Wants, len(e.tools))
	for i, s := range specs {
		e.wants[i] = e.engine.Wants(s.Name)
	}
	return nil
}

// zeroOf returns the instant 0, which is 1970 by the monotonic clock.
func zeroOf(now time.Time) time.Time { return now.Add(-time.Duration(now.UnixNano())) }

// fillRulesCall sets rc to what the rules need to know of the call. args are the arguments that the
// handler would get. It returns the digest that the idempotency key is derived from.
func (c *work) fillRulesCall(rc *rules.Call, args wire.Value) (effect rules.Digest, err error) {
	*rc = rules.Call{ID: c.id, Run: c.run.id, Agent: c.run.agent, Principal: c.run.principal, Tool: c.record.tool}
	wants := &c.exec.wants[c.index]
	ruleinput.Operation(rc, wants, args)
	return ruleinput.Digests(rc, c.tool.spec, wants, args, c.exec.inputs)
}

// restoreKey sets the key of a call of an earlier process. The code of the tool walks the arguments,
// and may panic.
func (c *call) restoreKey() {
	defer func() { _ = recover() }() // the key is then derived from the ids of the session and the call
	if c.final == nil || c.tool.spec.Idempotency == nil {
		return
	}
	if key, err := ruleinput.Effect(c.record.tool, c.run.principal, c.tool.spec, c.final); err == nil {
		c.scope.SetEffect(key)
	}
}
