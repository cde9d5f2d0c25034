package wiretest

import (
	"context"
	"testing"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Notes is a desk with one tool, note. Its member tag may be left out, and its member also may be null.
// The tool takes any JSON, {} included, and keeps it.
type Notes struct {
	*Desk
	Got []string // the arguments that the handler ran with
}

// NewNotes returns notes with an open run. Every call is admitted.
func NewNotes(t testing.TB) *Notes {
	t.Helper()
	n := &Notes{Desk: &Desk{}}
	schema := `{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},"tag":{"type":"string"},"also":{"type":["string","null"]}},"required":["text","count","also"],"additionalProperties":false}`
	note := runtime.NewDynamicTool(&runtime.Spec{Name: "note", InputSchema: &schema}, anything{},
		func(_ context.Context, in wire.Value) (wire.Value, error) {
			n.Got = append(n.Got, string(in.(wire.Raw)))
			return wire.Raw(`{}`), nil
		})
	reg, err := runtime.NewRegistry(note)
	if err != nil {
		t.Fatal(err)
	}
	allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithJournal(&n.journal))
	if err != nil {
		t.Fatal(err)
	}
	n.begin(t, exec)
	return n
}

// anything decodes any JSON.
type anything struct{}

func (anything) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}
