package runtime

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// errExited is the fault of code that left its goroutine.
var errExited = errors.New("the goroutine was left by runtime.Goexit")

// A CallError is a fault that an operator should see and a model must not.
type CallError struct {
	Tool, CallID, SessionID, RunID string

	Reason Reason // ReasonNone: the call was not affected
	Err    error
	Panic  any    // value of a panic, when there was one
	Stack  []byte // of that panic

	said string // what Err or Panic say: asked once, in the goroutine where they came from
	told bool   // the error handler knows
}

// Error describes the fault.
func (e *CallError) Error() string {
	return fmt.Sprintf("call %q of %q: %s", e.CallID, e.Tool, e.text())
}

// Unwrap returns the error that the handler, the policy or the sink returned.
func (e *CallError) Unwrap() error { return e.Err }

// text describes the fault without the call.
func (e *CallError) text() string {
	switch {
	case e.said != "":
		return e.said
	case e.Panic != nil:
		return fmt.Sprintf("panic: %v", e.Panic)
	case e.Err != nil:
		return errorText(e.Err)
	}
	return e.Reason.String()
}

// faulty returns a fault of this call. The text of err is asked here: who calls
// it holds no lock, unless err is an error of this package.
func (c *call) faulty(r Reason, err error) *CallError {
	f := &CallError{
		Tool: c.record.tool, CallID: c.id, SessionID: c.run.session.cfg.ID, RunID: c.run.id, Reason: r, Err: err,
	}
	if err != nil {
		f.said = f.text()
	}
	return f
}

// panicked returns the fault that v is, which was recovered. It is called while
// the stack still stands.
func (c *call) panicked(v any) *CallError {
	f := c.faulty(ReasonPanic, nil)
	f.Panic, f.Stack = v, debug.Stack()
	f.said = f.text()
	return f
}

// report tells the error handler of a fault, once.
func (e *Executor) report(f *CallError) {
	if e.onError == nil || f.told {
		return
	}
	f.told = true
	defer func() { _ = recover() }() // nobody is left to be told
	e.onError(f)
}

// observe tells the observers how the call ended.
func (c *call) observe() {
	if len(c.exec.observers) == 0 {
		return
	}
	info := c.info()
	for _, f := range c.exec.observers {
		c.exec.tell(f, info, c.record.outcome())
	}
}

// tell tells one observer.
func (e *Executor) tell(f func(CallInfo, Outcome), info CallInfo, out Outcome) {
	defer func() {
		if v := recover(); v != nil {
			e.report(&CallError{
				Tool: info.Tool, CallID: info.ID, SessionID: info.Session, RunID: info.Run, Panic: v, Stack: debug.Stack(),
			})
		}
	}()
	f(info, out)
}

// A secretary collects the texts of sensitive values.
type secretary struct{ secrets []string }

// Visit notes a token that is sensitive.
func (s *secretary) Visit(t wire.Token) {
	if !t.Sensitive {
		return
	}
	switch t.Kind {
	case wire.KindString:
		s.secrets = append(s.secrets, t.Str)
	case wire.KindInt:
		s.secrets = append(s.secrets, strconv.FormatInt(t.Int, 10))
	case wire.KindFloat:
		s.secrets = append(s.secrets, strconv.FormatFloat(t.Float, 'g', -1, 64))
	}
}

const (
	withheld = "(withheld: it mentions a sensitive value)"
	// maxText is how much of a foreign text is kept.
	maxText = 4096
	// minSecret is the length from which a sensitive value is cut out of a text;
	// a text that holds a shorter one is not shown at all.
	minSecret = 4
)

// scrub takes the values of members marked x-sensitive out of a text that a
// handler or a policy wrote. What they made of a value, its digest or its
// first half, cannot be recognised.
func (c *call) scrub(text string) string {
	if text == "" {
		return ""
	}
	var s secretary
	for _, v := range []wire.Value{c.args, c.final, c.outputs} {
		if v != nil {
			collect(&s, v)
		}
	}
	slices.SortFunc(s.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, secret := range s.secrets {
		if secret == "" {
			continue
		}
		quoted := strconv.Quote(secret)
		for _, form := range []string{secret, quoted[1 : len(quoted)-1]} {
			if !strings.Contains(text, form) {
				continue
			}
			if len(secret) < minSecret {
				return withheld
			}
			text = strings.ReplaceAll(text, form, "(sensitive)")
		}
	}
	return shorten(text)
}

// collect walks v, whose Walk may be broken: then what it showed is what there is.
func collect(s *secretary, v wire.Value) {
	defer func() { _ = recover() }()
	v.Walk(s)
}

// shorten makes text valid UTF-8 and not longer than maxText.
func shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
