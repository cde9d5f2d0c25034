package dynamic_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const declaration = `
ambit: v1
package: greeting
tools:
  greet:
    version: 1.0.0
    description: Greet somebody.
    effect: read
    input:
      type: object
      properties:
        name: {type: string, minLength: 1, description: Whom to greet.}
        times: {type: integer, maximum: 9, default: 1, description: How often.}
      required: [name]
    output:
      type: object
      properties:
        text: {type: string, description: The greeting.}
      required: [text]
`

func Example() {
	file, err := dsl.Parse("tools.yaml", []byte(declaration))
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, err := dynamic.Tools(file, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, input := range []string{`{"name": "Ada"}`, `{"Name": "Ada", "times": 12}`} {
		v, violations := tools[0].Decode([]byte(input))
		for _, bad := range violations {
			fmt.Println(bad)
		}
		if violations == nil {
			text, _ := wire.Append(nil, v)
			fmt.Printf("%s\n", text)
		}
	}
	// Output:
	// {"name":"Ada","times":1}
	// /Name: additionalProperties: want only "name", "times"; did you mean "name"?, have "Name"
	// /times: maximum: want at most 9, have 12
	// /name: required: want a member "name", have nothing
}

// call runs one call of greet that everything allows.
func call(t *testing.T, tools []*runtime.Tool) runtime.Outcome {
	t.Helper()
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	exec, err := engine.NewExecutor(reg, allow)
	require.NoError(t, err)
	ses := exec.Session(engine.SessionConfig{ID: "s", Principal: "p"})
	run, err := ses.StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	return run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c", Tool: "greet", Input: []byte(`{"name":"Ada"}`)})
}

// TestStandIn runs a tool whose handler answers with JSON text.
func TestStandIn(t *testing.T) {
	file, err := dsl.Parse("tools.yaml", []byte(declaration))
	require.NoError(t, err)
	loaded, err := dynamic.Load(file)
	require.NoError(t, err)
	answer := `{"text":"hello"}`
	tools, err := dynamic.Tools(file, func(_ context.Context, tool string, in wire.Value) (wire.Value, error) {
		text, bad := wire.Append(nil, in)
		assert.Empty(t, bad)
		assert.Equal(t, "greet", tool)
		assert.Equal(t, `{"name":"Ada","times":1}`, string(text))
		out, bad := loaded[0].Output.Decode([]byte(answer), wire.Limits{})
		assert.Empty(t, bad)
		return out, nil
	})
	require.NoError(t, err)
	out := call(t, tools)
	assert.Equal(t, runtime.Completed, out.Kind)
	assert.Equal(t, answer, string(out.Output))

	_, bad := loaded[0].Output.Decode([]byte(`{}`), wire.Limits{})
	require.Len(t, bad, 1)
	assert.Equal(t, "/text", bad[0].Pointer)
	assert.Nil(t, loaded[0].State)
}

func TestNoHandler(t *testing.T) {
	file, err := dsl.Parse("tools.yaml", []byte(declaration))
	require.NoError(t, err)
	tools, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	assert.Equal(t, runtime.Failed, call(t, tools).Kind)
}

// TestSpec shows that the parts of a specification arrive that the corpus of
// TestAgree cannot have, since they want further methods of a handler.
func TestSpec(t *testing.T) {
	src, err := os.ReadFile("../../dsl/testdata/good/full.yaml")
	require.NoError(t, err)
	file, err := dsl.Parse("full.yaml", src)
	require.NoError(t, err)
	loaded, err := dynamic.Load(file)
	require.NoError(t, err)
	write := loaded[2]
	assert.Equal(t, runtime.SideEffectWrite, write.Spec.Effect)
	assert.Equal(t, &runtime.Consent{
		Ask: runtime.ConsentAskAlways, Message: "Write {path}", Approvers: []string{"owner", "alice@example.com"}, Timeout: 10 * time.Minute,
		Quorum: 2, MaxCover: runtime.CoverArgs, MaxFor: 2 * time.Hour, Preview: true, AllowEdit: true, Reveal: []string{"token"},
	}, write.Spec.Consent)
	assert.Equal(t, time.Hour, write.Spec.Undo.TTL)
	assert.Contains(t, *write.Spec.Undo.StateSchema, `"before"`)
	assert.Contains(t, *write.Spec.InputSchema, `"content"`)
	assert.Contains(t, *write.Spec.OutputSchema, `"size"`)
	assert.Equal(t, &runtime.AllowedOperations{Arg: "mode", Values: []string{"append"}}, write.Spec.Rules.AllowedOperations)
	assert.True(t, write.Spec.Reconcile)

	v, bad := write.State.Decode([]byte(`{"before":null}`), wire.Limits{})
	require.Empty(t, bad)
	text, bad := wire.Append(nil, v)
	require.Empty(t, bad)
	assert.Equal(t, `{"before":null}`, string(text))
}

func TestLoadRefuses(t *testing.T) {
	file, err := dsl.Parse("tools.yaml", []byte(declaration))
	require.NoError(t, err)
	file.Tools[0].Input.Properties[0].Schema.Pattern = `(a)\1`
	_, err = dynamic.Load(file)
	var all dsl.Diagnostics
	require.ErrorAs(t, err, &all)
	assert.Contains(t, err.Error(), "back reference")
	_, err = dynamic.Tools(file, nil)
	require.Error(t, err)
}
