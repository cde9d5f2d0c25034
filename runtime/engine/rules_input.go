package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// DefaultUndoTTL is for how long a call can be undone when its tool does not declare a time.
const DefaultUndoTTL = time.Hour

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
func (e *Executor) compile() error {
	cfg := rules.Config{Reminders: e.reminders}
	e.wants = make([]rules.Wants, e.reg.Len())
	for _, t := range e.tools {
		cfg.Tools = append(cfg.Tools, ruleTool(t.spec))
		e.requires = e.requires || t.spec.Rules.RequiredBeforeExit
		set := t.spec.Set
		if set == nil {
			continue
		}
		// Of several sets the strictest limit and the longest cooldown of all tools together hold for all.
		if n := set.MaxCalls; n > 0 && !set.MaxCallsEach && (cfg.Set.MaxCalls == 0 || n < cfg.Set.MaxCalls) {
			cfg.Set.MaxCalls = n
		}
		if !set.CooldownEach {
			cfg.Set.Cooldown = max(cfg.Set.Cooldown, set.Cooldown)
		}
	}
	var err error
	if e.engine, err = rules.Compile(cfg); err != nil {
		return fmt.Errorf("the rules of the tools: %w", err)
	}
	for i, t := range e.tools {
		e.wants[i] = e.engine.Wants(t.spec.Name)
	}
	return nil
}

// ruleTool returns the rules of the tool, merged with those rules of its set that apply to each
// tool separately.
func ruleTool(s *runtime.Spec) rules.Tool {
	t := rules.Tool{
		Name: s.Name, Rules: s.Rules, Dedupe: s.Dedupe, Idempotent: s.Idempotent,
		Consent: s.Consent != nil && s.Consent.Ask == runtime.ConsentAskAlways,
	}
	if set := s.Set; set != nil {
		if set.CooldownEach {
			t.Rules.Cooldown = max(t.Rules.Cooldown, set.Cooldown)
		}
		if n := set.MaxCalls; set.MaxCallsEach && n > 0 && (t.Rules.MaxCalls == 0 || n < t.Rules.MaxCalls) {
			t.Rules.MaxCalls = n
		}
	}
	if s.Idempotency != nil {
		t.Idempotency = &rules.Idempotency{Window: s.Idempotency.Window}
	}
	if s.Undo != nil {
		t.Undo = cmp.Or(s.Undo.TTL, DefaultUndoTTL)
	}
	return t
}

// zeroOf returns the instant 0, which is 1970 by the monotonic clock.
func zeroOf(now time.Time) time.Time { return now.Add(-time.Duration(now.UnixNano())) }

// fillRulesCall sets rc to what the rules need to know of the call. args are the arguments that the
// handler would get. It returns the digest that the idempotency key is derived from. The digest is
// independent of the key of the journal, so it is the same with another journal.
func (c *call) fillRulesCall(rc *rules.Call, args wire.Value) (effect rules.Digest, err error) {
	*rc = rules.Call{ID: c.id, Run: c.run.id, Agent: c.run.agent, Principal: c.run.principal, Tool: c.record.tool}
	wants := &c.exec.wants[c.index]
	if wants.Operation != "" {
		l := memberFinder{name: wants.Operation}
		args.Walk(&l)
		rc.Operation, rc.HasOperation = l.text, l.found
	}
	if !wants.Args {
		return effect, nil
	}
	var room [512]byte
	form, err := wire.AppendCanonical(room[:0], args)
	if err != nil {
		return effect, err
	}
	rc.Args = c.digest(form)
	if wants.Key {
		effect, err = c.keyDigest(args)
		rc.Key = effect
	}
	c.exec.inputs.mask(&rc.Args)
	c.exec.inputs.mask(&rc.Key)
	return effect, err
}

// digest returns the digest of canonical bytes, of this tool and principal.
func (c *call) digest(form []byte) rules.Digest {
	var room [768]byte
	b := room[:0]
	for _, s := range [...]string{c.record.tool, c.run.principal} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	b = append(binary.BigEndian.AppendUint64(b, uint64(len(form))), form...)
	return sha256.Sum256(b)
}

// keyDigest returns the digest of the members that form the idempotency key.
func (c *call) keyDigest(args wire.Value) (rules.Digest, error) {
	var form []byte
	for _, name := range c.tool.spec.Idempotency.Key {
		form = append(binary.BigEndian.AppendUint64(form, uint64(len(name))), name...)
		l := memberFinder{name: name, keep: true}
		args.Walk(&l)
		if !l.seen {
			form = append(form, 0)
			continue
		}
		var err error
		if form, err = wire.AppendCanonical(append(form, 1), &l); err != nil {
			return rules.Digest{}, err
		}
	}
	return c.digest(form), nil
}

// A memberFinder is a visitor that finds a member of the top-level object.
type memberFinder struct {
	name   string
	keep   bool
	depth  int
	inside bool         // the visited tokens are those of the member
	tokens []wire.Token // of the member, if keep is set
	seen   bool         // the member exists
	text   string       // of the member, when it is a string
	found  bool         // the member is a string
}

// Visit takes the next token of the arguments.
func (l *memberFinder) Visit(t wire.Token) {
	if t.Kind == wire.KindName && l.depth == 1 {
		l.inside = t.Str == l.name
		return
	}
	if l.inside && l.depth >= 1 && (l.depth > 1 || t.Kind != wire.KindEnd) {
		l.seen = true
		if l.depth == 1 && t.Kind == wire.KindString {
			l.text, l.found = t.Str, true
		}
		if l.keep {
			l.tokens = append(l.tokens, t)
		}
	}
	switch t.Kind {
	case wire.KindObject, wire.KindArray:
		l.depth++
	case wire.KindEnd:
		l.depth--
	}
}

// Walk visits the tokens of the member.
func (l *memberFinder) Walk(w wire.Visitor) {
	for _, t := range l.tokens {
		w.Visit(t)
	}
}

// restoreKey sets the key of a call of an earlier process. The code of the tool walks the arguments,
// and may panic.
func (c *call) restoreKey() {
	defer func() { _ = recover() }() // the key is then derived from the ids of the session and the call
	if c.final == nil || c.tool.spec.Idempotency == nil {
		return
	}
	if key, err := c.keyDigest(c.final); err == nil {
		c.effect = key
	}
}
