package ir

import (
	"time"

	"github.com/ambit-tools/ambit/dsl"
)

// specs writes every declaration as the Go literal that the runtime is given.
// A field that has its zero value is left out.
func (b *builder) specs() {
	var set *Literal // in every Spec, so that no program can forget it
	if b.file.Rules != nil {
		if rules := rulesLiteral(b.file.Rules); len(rules.Fields) > 0 {
			b.pkg.SetRules, b.pkg.SetVar = rules, b.scope.unique("setRules")
			set = &Literal{Ident: b.pkg.SetVar, Ptr: true}
		}
	}
	for _, t := range b.pkg.Tools {
		t.Spec = spec(t, set)
	}
	for _, t := range b.pkg.Tools {
		b.pkg.UsesTime = b.pkg.UsesTime || t.Spec.usesTime()
	}
	b.pkg.UsesTime = b.pkg.UsesTime || b.pkg.SetRules != nil && b.pkg.SetRules.usesTime()
}

// usesTime reports whether l needs package time.
func (l *Literal) usesTime() bool {
	uses := l.Unit != ""
	for _, f := range l.Fields {
		uses = uses || f.Value.usesTime()
	}
	for _, e := range l.Elems {
		uses = uses || e.usesTime()
	}
	return uses
}

// A composite is a Literal under construction.
type composite struct{ lit *Literal }

func newComposite(typ string) composite { return composite{&Literal{Type: typ}} }

func (c composite) add(name string, v *Literal) {
	if v != nil {
		c.lit.Fields = append(c.lit.Fields, &LiteralField{Name: name, Value: v})
	}
}

func (c composite) text(name, s string) {
	if s != "" {
		c.add(name, &Literal{String: &s})
	}
}

func (c composite) flag(name string, set bool) {
	if set {
		c.add(name, &Literal{Bool: true})
	}
}

func (c composite) count(name string, n int64) {
	if n != 0 {
		c.add(name, &Literal{Int: &n})
	}
}

// size is a count of bytes, written in the largest binary unit that divides it.
func (c composite) size(name string, n int64) {
	shift := 0
	for n != 0 && n%1024 == 0 && shift < 30 {
		n, shift = n/1024, shift+10
	}
	if n != 0 {
		c.add(name, &Literal{Int: &n, Shift: shift})
	}
}

func (c composite) constant(name, value string) {
	if value != "" {
		c.add(name, &Literal{Const: value})
	}
}

func (c composite) texts(name string, all []string) {
	if len(all) == 0 {
		return
	}
	l := &Literal{Slice: true}
	for _, s := range all {
		l.Elems = append(l.Elems, &Literal{String: &s})
	}
	c.add(name, l)
}

// duration is written in the largest unit that divides it.
func (c composite) duration(name string, d time.Duration) {
	if d == 0 {
		return
	}
	unit, count := "Nanosecond", int64(d)
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"Hour", time.Hour}, {"Minute", time.Minute}, {"Second", time.Second}, {"Millisecond", time.Millisecond}, {"Microsecond", time.Microsecond}} {
		if d%u.size == 0 {
			unit, count = u.name, int64(d/u.size)
			break
		}
	}
	c.add(name, &Literal{Unit: unit, Count: count})
}

// nested adds a composite that says something; one behind a pointer always does.
func (c composite) nested(name string, inner composite) {
	if inner.lit.Ptr || len(inner.lit.Fields) > 0 {
		c.add(name, inner.lit)
	}
}

func (c composite) pointer() composite {
	c.lit.Ptr = true
	return c
}

// spec is the declaration of t, in a file whose rules of the whole set are set.
func spec(t *Tool, set *Literal) *Literal {
	d := t.Decl
	c := newComposite("Spec")
	c.add("Name", &Literal{Ident: t.Const})
	c.text("Alias", d.Alias)
	c.texts("RenamedFrom", d.RenamedFrom)
	c.text("Version", d.Version)
	c.text("Title", d.Title)
	c.text("Description", d.Description)
	c.text("Pin", t.Pin)
	c.constant("Effect", map[string]string{
		"read": "SideEffectRead", "write": "SideEffectWrite", "destructive": "SideEffectDestructive",
	}[d.Effect])
	c.flag("Idempotent", d.Idempotent)
	c.flag("Deterministic", d.Deterministic)
	c.texts("Capabilities", d.Capabilities)
	c.texts("Behaviors", d.Behaviors)
	c.add("Modes", modesLiteral(d.Modes))
	c.duration("Deadline", d.Deadline)
	c.nested("Limits", limitsLiteral(d.Limits))
	if r := d.Retry; r != nil {
		p := newComposite("Retry").pointer()
		p.count("Max", int64(r.Max))
		p.duration("Initial", r.Initial)
		p.duration("Cap", r.Cap)
		p.flag("OnTimeout", r.OnTimeout)
		c.nested("Retry", p)
	}
	c.flag("SafeErrors", d.SafeErrors)
	c.flag("Heartbeat", d.Heartbeat)
	c.duration("Every", d.Every)
	if d.Args != nil {
		c.text("Args", d.Args.JSON())
	}
	later(c, t)
	c.add("Set", set)
	c.add("InputSchema", &Literal{Ident: t.Embeds[0].Var, Ptr: true})
	c.add("OutputSchema", &Literal{Ident: t.Embeds[1].Var, Ptr: true})
	return c.lit
}

// later adds the parts whose engine comes with a later version.
func later(c composite, t *Tool) {
	d := t.Decl
	dedupe := newComposite("Dedupe")
	dedupe.constant("Mode", map[string]string{"window": "DedupeWindow", "always": "DedupeAlways"}[d.Dedupe.Mode])
	dedupe.duration("Window", d.Dedupe.Window)
	c.nested("Dedupe", dedupe)
	if i := d.Idempotency; i != nil {
		p := newComposite("Idempotency").pointer()
		p.texts("Key", i.Key)
		p.duration("Window", i.Window)
		c.nested("Idempotency", p)
	}
	if d.Consent != nil {
		c.nested("Consent", consentLiteral(d.Consent))
	}
	if u := d.Undo; u != nil {
		p := newComposite("UndoSpec").pointer()
		p.duration("TTL", u.TTL)
		p.add("StateSchema", &Literal{Ident: t.Embeds[2].Var, Ptr: true})
		c.nested("Undo", p)
	}
	c.flag("Transactional", d.Transactional)
	c.flag("Reconcile", d.Reconcile)
	if a := d.Artifact; a != nil {
		p := newComposite("Artifact").pointer()
		p.count("Over", int64(a.Over))
		p.text("Type", a.Type)
		c.nested("Artifact", p)
	}
	if d.Command != nil {
		c.nested("Command", commandLiteral(d))
	}
	if d.Rules != nil {
		c.nested("Rules", composite{rulesLiteral(d.Rules)})
	}
	if x := d.Deprecated; x != nil {
		p := newComposite("Deprecation").pointer()
		p.text("Since", x.Since)
		p.text("Use", x.Use)
		p.text("RemoveIn", x.RemoveIn)
		p.text("Message", x.Message)
		c.nested("Deprecated", p)
	}
}

func modesLiteral(modes []*dsl.Mode) *Literal {
	if len(modes) == 0 {
		return nil
	}
	l := &Literal{Type: "Mode", Slice: true}
	for _, m := range modes {
		c := newComposite("Mode")
		c.text("Name", m.Name)
		c.texts("Values", m.Values)
		l.Elems = append(l.Elems, c.lit)
	}
	return l
}

func limitsLiteral(l dsl.Limits) composite {
	c := newComposite("Limits")
	c.size("Input", l.Input)
	c.size("Output", l.Output)
	c.size("Memory", l.Memory)
	c.count("Concurrency", int64(l.Concurrency))
	if l.Queue == dsl.NoQueue {
		c.constant("Queue", "NoQueue")
	} else {
		c.count("Queue", int64(l.Queue))
	}
	return c
}

func consentLiteral(d *dsl.Consent) composite {
	c := newComposite("Consent").pointer()
	c.constant("Ask", map[string]string{"always": "ConsentAskAlways"}[d.Ask])
	c.text("Message", d.Message)
	c.texts("Approvers", d.Approvers)
	c.duration("Timeout", d.Timeout)
	c.count("Quorum", int64(d.Quorum))
	c.constant("MaxCover", map[string]string{"args": "CoverArgs", "tool": "CoverTool"}[d.MaxCover])
	if d.MaxFor != dsl.DefaultMaxFor { // which the runtime has too
		c.duration("MaxFor", d.MaxFor)
	}
	c.flag("Preview", d.Preview)
	c.flag("AllowEdit", d.AllowEdit)
	c.flag("AllowSelf", d.AllowSelf)
	c.texts("Reveal", d.Reveal)
	return c
}

func rulesLiteral(r *dsl.Rules) *Literal {
	c := newComposite("Rules")
	c.flag("StartConstraint", r.StartConstraint)
	c.texts("RequiresPreceding", r.RequiresPreceding)
	c.flag("AnyPreceding", r.AnyPreceding)
	c.texts("MustPrecede", r.MustPrecede)
	c.texts("ExclusiveGroups", r.ExclusiveGroups)
	c.flag("RequiredBeforeExit", r.RequiredBeforeExit)
	c.count("MaxCalls", int64(r.MaxCalls))
	c.flag("MaxCallsEach", r.MaxCallsEach)
	c.duration("Cooldown", r.Cooldown)
	c.flag("CooldownEach", r.CooldownEach)
	c.flag("ContinueLoop", r.ContinueLoop)
	c.flag("ExitLoop", r.ExitLoop)
	if a := r.AllowedOperations; a != nil {
		p := newComposite("AllowedOperations").pointer()
		p.text("Arg", a.Arg)
		p.texts("Values", a.Values)
		c.nested("AllowedOperations", p)
	}
	return c.lit
}
