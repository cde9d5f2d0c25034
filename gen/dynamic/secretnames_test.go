package dynamic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// bags are objects whose undeclared members, names included, are secret.
const bags = `
        map: {type: object, x-sensitive: true, additionalProperties: true, description: Any.}
        open: {type: object, x-sensitive: true, properties: {known: {type: string, description: Known.}}, additionalProperties: {type: string}, description: Half.}
        values: {type: object, additionalProperties: {type: string, x-sensitive: true}, description: Sensitive values.}
        beside: {type: object, properties: {known: {type: string, description: Known.}}, additionalProperties: {type: string, x-sensitive: true}, description: Beside a member.}
        shared: {$ref: "#/types/Bag", x-sensitive: true}
        named: {type: object, additionalProperties: {$ref: "#/types/Secret"}, description: By name.}
        perhaps: {type: [object, "null"], additionalProperties: {type: [integer, "null"], x-sensitive: true}, description: Perhaps.}
        list: {type: array, items: {type: object, additionalProperties: {type: object, x-sensitive: true, additionalProperties: true}}, description: Many.}
        way:
          description: One of two.
          oneOf:
            - {type: object, description: Bag., properties: {kind: {type: string, const: bag, description: Kind.}}, required: [kind], additionalProperties: {type: string, x-sensitive: true}}
            - {type: object, description: Box., properties: {kind: {type: string, const: box, description: Kind.}}, required: [kind]}
`

const bagTool = `ambit: v1
package: bags
types:
  Bag: {type: object, description: A bag., additionalProperties: true}
  Secret: {type: string, x-sensitive: true, description: A secret.}
tools:
  pack:
    version: 1.0.0
    description: Pack.
    effect: write
    input:
      type: object
      properties:` + bags + `
    output:
      type: object
      properties:` + bags

const (
	packed = `{"map":{"SECRETa":1},"open":{"known":"k","SECRETb":"v"},"values":{"SECRETc":"v"},"beside":{"known":"k","SECRETd":"v"},"shared":{"SECRETe":1},` +
		`"named":{"SECRETf":"v"},"perhaps":{"SECRETg":1},"list":[{"SECRETh":{"SECRETi":1}}],"way":{"kind":"bag","SECRETj":"v"}}`
	mispacked = `{"map":{"SECRETa":1,"SECRETa":1e999},"open":{"known":1,"SECRETb":5},"values":{"SECRETc":5},"beside":{"SECRETd":5},"shared":{"SECRETe":1e999},` +
		`"named":{"SECRETf":5},"perhaps":{"SECRETg":"v"},"list":[{"SECRETh":{"SECRETi":1e999}}],"way":{"kind":"bag","SECRETj":5}}`
)

// bagRegistry returns the tool, whose handler packs what it is given.
func bagRegistry(t *testing.T) *runtime.Registry {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", []byte(bagTool))
	require.NoError(t, err)
	loaded, err := dynamic.Load(f)
	require.NoError(t, err)
	tools, err := dynamic.Tools(f, func(_ context.Context, _ string, in wire.Value) (wire.Value, error) {
		text, _ := wire.Append(nil, in)
		if bytes.Contains(text, []byte("SECRETx")) {
			return nil, fmt.Errorf("cannot pack %s", text)
		}
		out, bad := loaded[0].Output.Decode([]byte(packed), wire.Limits{})
		require.Empty(t, bad)
		return out, nil
	})
	require.NoError(t, err)
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	return reg
}

// A secret that is the name of an undeclared member shows in no journal, event,
// request, message or export: its object is committed and masked as one value.
// SEMANTICS 5.9.1
func TestSecretNamesAreMasked(t *testing.T) {
	reg := bagRegistry(t)
	var shown []string // texts of outcomes, requests, events and the export
	show := func(v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		shown = append(shown, string(text), fmt.Sprintf("%+v", v))
	}
	store, sink := new(journal.Memory), new(runtime.MemorySink)
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if strings.HasPrefix(in.CallID, "ask") {
			return runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "big", Message: "it is big"}}}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	exec, err := engine.NewExecutor(reg, policy, engine.WithJournal(store), engine.WithSink(sink),
		engine.WithApprover(consent.ApproverFunc(func(_ context.Context, q *consent.Notice) error { show(q); return nil })))
	require.NoError(t, err)
	require.NoError(t, exec.Recover(t.Context()))
	run, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	execute := func(id, input string) runtime.Outcome {
		return run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: id, Tool: "pack", Input: []byte(input)})
	}
	require.Equal(t, runtime.Completed, execute("good", packed).Kind)
	bad := execute("bad", mispacked)
	require.Equal(t, runtime.ReasonInvalidInput, bad.Reason)
	require.GreaterOrEqual(t, len(bad.Violations), 9, "each of the bags is wrong")
	show(bad)
	failed := execute("failed", strings.Replace(packed, "SECRETc", "SECRETx", 1))
	require.Equal(t, runtime.Failed, failed.Kind)
	show(failed)
	asked := execute("ask", packed)
	require.Equal(t, runtime.Pending, asked.Kind)
	show(asked)
	require.NotEmpty(t, exec.Requests())
	for _, q := range exec.Requests() {
		show(q)
	}
	require.NoError(t, exec.Shutdown(t.Context()))
	for _, e := range sink.Events() {
		show(e)
	}
	var export bytes.Buffer
	_, err = audit.Export(t.Context(), &export, store, 0)
	require.NoError(t, err)
	shown = append(shown, export.String())
	assert.Contains(t, export.String(), "(committed: ")
	for _, text := range shown {
		assert.NotContains(t, text, "SECRET")
	}
}

// The root cannot be one value, so its undeclared members cannot be secret.
func TestSecretNamesOfTheInputAreRefused(t *testing.T) {
	for _, input := range []string{
		`{type: object, properties: {}, additionalProperties: {type: string, x-sensitive: true}}`,
		`{type: object, properties: {}, additionalProperties: {$ref: "#/types/Secret"}}`,
		`{$ref: "#/types/Root"}`,
	} {
		f, err := dsl.Parse("tools.yaml", []byte(`ambit: v1
package: bags
types:
  Secret: {type: string, x-sensitive: true, description: A secret.}
  Root: {type: object, description: All., properties: {}, additionalProperties: {type: string, x-sensitive: true}}
tools:
  pack:
    version: 1.0.0
    description: Pack.
    effect: write
    input: `+input+`
    output: {type: object, properties: {}}
`))
		require.NoError(t, err)
		_, err = dynamic.Load(f)
		require.ErrorContains(t, err, "undeclared members of PackInput cannot be sensitive, since their names would be shown", input)
	}
}
