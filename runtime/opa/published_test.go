package opa

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// The checks say of a place in the output and of a value in the input what the
// engine does.
func TestPublishedSchemasAreTheEngines(t *testing.T) {
	fsys, tools, err := generate(regotest.Shop)
	require.NoError(t, err)
	src, err := policydir.ReadSource(fsys)
	require.NoError(t, err)
	b := &policydir.Bundle{Src: src}
	var errs policydir.Errors
	b.ReadPublished(&errs)
	require.Empty(t, errs)
	for _, tool := range tools {
		if tool.Name() != "pay" {
			continue
		}
		for _, text := range payInputs() {
			_, want := tool.Decode([]byte(text))
			assert.ElementsMatch(t, places(want), places(b.Published["pay"].Input.Violations([]byte(text))), text)
		}
	}
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	for _, pointer := range []string{"", "/id", "/id/x", "/nope", "/receipt", "/receipt/card", "/receipt/x", "/lines", "/lines/0", "/lines/00", "/lines/-", "/lines/0/text", "/open/x", "/open/x/y", "/a~1b"} {
		names, err := wire.ParsePointer(pointer)
		require.NoError(t, err)
		out := masked(t, reg, pointer)
		assert.Equal(t, out.Reason == runtime.ReasonPolicyError, !b.Published["pay"].Output.Leads(names), "%q: %s", pointer, out.Message)
	}
}

// places returns where violations are and what is broken there; what is expected
// lists members in the order of the declaration.
func places(all []wire.Violation) []string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = v.Pointer + " " + v.Keyword + " " + v.Actual
	}
	return texts
}

// rightPay are arguments that a call of pay runs with.
const rightPay = `{"amount":5,"currency":"EUR","to":"x","level":1,"urgent":true,"lines":["tax"],"card":{"brand":"visa","last":"1"},"way":{"kind":"bank","iban":"1"}}`

// payInputs are arguments of pay of which each breaks the schema in another way, or in none.
func payInputs() []string {
	inputs := []string{rightPay, `{}`, `[]`, `null`}
	for _, change := range [][2]string{
		{`"amount":5`, `"amount":0`}, {`"amount":5`, `"amount":1e2`}, {`"amount":5`, `"amount":1.5`}, {`"amount":5`, `"amount":"5"`}, {`"EUR"`, `"EURO"`}, {`"EUR"`, `null`},
		{`"level":1`, `"level":4`}, {`true`, `1`}, {`["tax"]`, `["tax","tpi",3]`}, {`["tax"]`, `{}`}, {`"brand":"visa"`, `"brand":"vsia"`}, {`,"last":"1"`, ``}, {`"last":"1"`, `"last":"1","x":2`},
		{`"kind":"bank"`, `"kind":"bnak"`}, {`"kind":"bank",`, ``}, {`"iban":"1"`, `"number":"1"`}, {`"iban":"1"`, `"iban":"1","bic":4`}, {`{"kind":"bank","iban":"1"}`, `7`},
		{`"to":"x"`, `"to":"x","note":"more than twenty characters"`}, {`"to":"x"`, `"to":"x","code":"abc"`}, {`"to":"x"`, `"to":"x","code":"ABC"`}, {`"to":"x"`, `"to":"x","extra":{"a":1,"b":"c"}`},
		{`"to":"x"`, `"to":"x","items":[{"name":"a"},{"price":1},{"name":"b","price":1.5}]`}, {`"to":"x"`, `"to":"x","address":{"zip":"1"}`}, {`"to":"x"`, `"to":"x","more":1`}, {`"to":"x"`, `"to":"x","to":"y"`},
	} {
		inputs = append(inputs, strings.Replace(rightPay, change[0], change[1], 1))
	}
	return inputs
}

// masked calls pay under a policy that masks a place of the output.
func masked(t *testing.T, reg *runtime.Registry, pointer string) runtime.Outcome {
	t.Helper()
	args, err := json.Marshal(regotest.Object{"pointers": []string{pointer}})
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: args}}}, nil
	}))
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent", Capabilities: []string{"money"}}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	return run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{Tool: "pay", Input: []byte(rightPay)})
}
