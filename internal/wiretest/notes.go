package wiretest

import (
	"context"
	"sync"
	"testing"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Notes is a desk with one tool, note, whose alias is takeNote. Its members tag and edit may be left out, and
// its member also may be null. In edit, with may be left out where kind is put or move is there, and may be null
// where kind is cut or drop is there. The tool takes any JSON, {} included, and keeps it.
type Notes struct {
	*Desk
	mu  sync.Mutex
	Got []string // the arguments that the handler ran with; calls of one message run at once
}

// NewNotes returns notes with an open run. Every call is admitted.
func NewNotes(t testing.TB) *Notes {
	t.Helper()
	n := &Notes{Desk: &Desk{}}
	schema := `{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},"tag":{"type":"string"},"also":{"type":["string","null"]},"edit":{"oneOf":[` +
		edit("put", `"string"`, `"kind"`) + `,` + edit("cut", `["string","null"]`, `"kind","with"`) + `,` +
		named("move", `"string"`, `"move"`) + `,` + named("drop", `["string","null"]`, `"drop","with"`) + `]}},"required":["text","count","also"],"additionalProperties":false}`
	note := runtime.NewDynamicTool(&runtime.Spec{Name: "note", Alias: "takeNote", InputSchema: &schema}, anything{},
		func(_ context.Context, in wire.Value) (wire.Value, error) {
			n.mu.Lock()
			defer n.mu.Unlock()
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

// edit returns a branch of the member edit.
func edit(kind, with, required string) string {
	return `{"type":"object","properties":{"kind":{"type":"string","const":"` + kind + `"},"with":{"type":` + with + `}},"required":[` + required + `],"additionalProperties":false}`
}

// named returns a branch of the member edit that its names tell apart.
func named(name, with, required string) string {
	return `{"type":"object","properties":{"` + name + `":{"type":"string"},"with":{"type":` + with + `}},"required":[` + required + `],"additionalProperties":false}`
}

// anything decodes any JSON.
type anything struct{}

func (anything) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}
