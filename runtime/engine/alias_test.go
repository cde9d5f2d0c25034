package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

func aliased(alias string, former ...string) func(*runtime.Spec) {
	return func(s *runtime.Spec) { s.Alias, s.RenamedFrom = alias, former }
}

// TestCallsByAlias: a call by any name of a tool is a call of the tool, under its name.
// SEMANTICS 1.5.1
func TestCallsByAlias(t *testing.T) {
	r := newRig(t, readTool(okRead, aliased("readFile", "read_it", "old_read")))
	turn := r.turn()
	for _, name := range []string{"file_read", "readFile", "read_it", "old_read"} {
		out := turn.Execute(t.Context(), callOf(name, name, goodInput))
		require.Equal(t, runtime.Completed, out.Kind, "%v", out)
		assert.Equal(t, "file_read", out.Tool)
	}
	again := turn.Execute(t.Context(), callOf("readFile", "file_read", goodInput))
	assert.Equal(t, runtime.Completed, again.Kind, "the same call by its other name: %v", again)
	require.NoError(t, r.exec.Flush(t.Context()))
	for _, e := range r.sink.Events() {
		if e.CallID != "" {
			assert.Equal(t, "file_read", e.Tool, "%v", e.Kind)
		}
	}
	assert.Equal(t, runtime.ReasonUnknownTool, turn.Execute(t.Context(), callOf("x", "readfile", goodInput)).Reason)
}

// SEMANTICS 1.5.1
func TestRegistryRefusesNamesOfTwoTools(t *testing.T) {
	_, err := runtime.NewRegistry(
		readTool(okRead, named("a"), aliased("b")),
		readTool(okRead, named("b")),
		readTool(okRead, named("c"), aliased("see")),
		readTool(okRead, named("d"), aliased("", "see")),
		readTool(okRead, named("e"), aliased("e")),
	)
	require.Error(t, err)
	for _, part := range []string{`tool "a": "b" names tool "b" already`, `tool "d": "see" names tool "c" already`, `tool "e": "e" names tool "e" already`} {
		assert.ErrorContains(t, err, part)
	}
}

// TestNotesOfDeprecatedTools: the outcome and its event say what to do instead, however the call ends.
// SEMANTICS 1.5.2
func TestNotesOfDeprecatedTools(t *testing.T) {
	old := &runtime.Deprecation{Since: "1.2.0", Use: "fetch", RemoveIn: "2.0.0", Message: "It reads more."}
	r := newRig(t,
		readTool(okRead, aliased("", "read_it"), func(s *runtime.Spec) { s.Deprecated = old }),
		readTool(okRead, named("fetch"), aliased("Fetch", "get_it")))
	turn := r.turn()
	const text = "file_read is deprecated since 1.2.0, and removed in 2.0.0: use fetch. It reads more."
	want := map[string][]string{
		"file_read": {text}, "read_it": {"the tool read_it is now file_read: call it by that name", text},
		"fetch": nil, "Fetch": nil, "get_it": {"the tool get_it is now Fetch: call it by that name"},
	}
	for name, notes := range want {
		assert.Equal(t, notes, turn.Execute(t.Context(), callOf(name, name, goodInput)).Notes, name)
	}
	refused := turn.Execute(t.Context(), callOf("refused", "file_read", `{}`))
	assert.Equal(t, runtime.ReasonInvalidInput, refused.Reason)
	assert.Equal(t, []string{text}, refused.Notes)
	require.NoError(t, r.exec.Flush(t.Context()))
	ended := 0
	for _, e := range r.sink.Events() {
		switch {
		case e.Kind == runtime.EventCompleted:
			ended++
			assert.Equal(t, want[e.CallID], e.Notes, e.CallID)
		case e.Kind != runtime.EventDenied:
			assert.Nil(t, e.Notes, "%v", e.Kind)
		}
	}
	assert.Equal(t, len(want), ended)
}
