package engine_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// readOutputSchema declares what a readOutput never has too.
const readOutputSchema = `{
	"type": "object",
	"properties": {
		"content": {"type": "string"},
		"size": {"type": "integer"},
		"nothing": {"$ref": "#/$defs/nothing"},
		"list": {"type": "array", "items": {"oneOf": [{"$ref": "#/$defs/nothing"}]}},
		"pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
		"headers": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
		"any": true
	},
	"required": ["content", "size"],
	"additionalProperties": false,
	"$defs": {"nothing": {
		"type": "object", "properties": {"at/all": {"type": "string"}, "again": {"$ref": "#/$defs/nothing"}},
		"additionalProperties": false
	}}
}`

// redacting is an allowance that wants pointers redacted.
func redacting(t *testing.T, pointers ...string) runtime.Decision {
	args, err := json.Marshal(map[string]any{"pointers": pointers})
	require.NoError(t, err)
	return runtime.Decision{
		Effect:      runtime.EffectAllow,
		Obligations: []runtime.Obligation{{Code: "redact_output", Args: args, At: "p.rego:9"}},
	}
}

func TestRedactedPlacesAreDeclared(t *testing.T) {
	const whole, withheld = `{"content":"a.md","size":2}`, `"(redacted)"`
	for pointer, want := range map[string]string{
		"/content":                 `{"content":"(redacted)","size":2}`,
		"":                         withheld,
		"/nothing":                 whole, // declared and optional
		"/nothing/at~1all":         whole,
		"/nothing/again/again":     whole,
		"/list/0/at~1all":          whole,
		"/pair/0":                  whole,
		"/headers":                 whole,
		"/headers/Authorization":   withheld, // it may be there under another name
		"/any/thing":               withheld,
		"/secret":                  "",
		"/Content":                 "",
		"/content/0":               "",
		"/list/first":              "",
		"/list/-":                  "",
		"/pair/1":                  "",
		"/nothing/at~1all/nothing": "",
	} {
		t.Run(pointer, func(t *testing.T) {
			r := newRigWith(t, decide(redacting(t, pointer)), []*runtime.Tool{
				readTool(okRead, func(s *runtime.Spec) { s.OutputSchema = new(readOutputSchema) }),
			})
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			if want == "" {
				assert.Equal(t, runtime.ReasonPolicyError, out.Reason)
				require.Len(t, r.allFaults(), 1)
				assert.ErrorContains(t, r.allFaults()[0], "nothing at "+strconv.Quote(pointer))
				return
			}
			assert.Equal(t, runtime.Completed, out.Kind)
			assert.Equal(t, want, string(out.Output))
			assert.Equal(t, want == withheld && pointer != "", len(r.allFaults()) == 1)
		})
	}
}

func TestRedactWithoutASchema(t *testing.T) {
	for schema, reason := range map[string]runtime.Reason{"": runtime.ReasonNone, "[]": runtime.ReasonPolicyError, "{": runtime.ReasonPolicyError} {
		r := newRigWith(t, decide(redacting(t, "/secret")), []*runtime.Tool{
			readTool(okRead, func(s *runtime.Spec) { s.OutputSchema = &schema }),
		})
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, reason, out.Reason)
		if reason == runtime.ReasonNone {
			assert.Equal(t, `"(redacted)"`, string(out.Output))
			assert.Contains(t, r.sink.Events()[4].Err, `nothing at "/secret"`)
		}
	}
}

func TestRedactAPlaceInAPlace(t *testing.T) {
	r := newRigWith(t, decide(redacting(t, "/nothing", "/nothing/again")), []*runtime.Tool{
		runtime.NewDynamicTool(&runtime.Spec{Name: "grow", OutputSchema: new(readOutputSchema)}, anyCodec{},
			func(context.Context, wire.Value) (wire.Value, error) {
				return wire.Raw(`{"nothing":{"again":{}}}`), nil
			}),
	})
	out := r.turn().Execute(t.Context(), callOf("c1", "grow", `{}`))
	assert.Equal(t, `{"nothing":"(redacted)"}`, string(out.Output))
}

// TestOutputViolationsHideValues looks for what the handler returned in what a
// model is told, redacted or not.
func TestOutputViolationsHideValues(t *testing.T) {
	r := newRigWith(t, decide(redacting(t, "/size")), []*runtime.Tool{
		readTool(func(context.Context, *readInput) (*readOutput, error) { return &readOutput{Size: -4711}, nil }),
	})
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonInvalidOutput, out.Reason)
	require.Len(t, out.Violations, 1)
	assert.Equal(t, "/size", out.Violations[0].Pointer)
	b, err := json.Marshal(out)
	require.NoError(t, err)
	assert.NotContains(t, string(b), "4711")
	assert.ErrorContains(t, r.allFaults()[0], "4711")
	assert.Contains(t, r.sink.Events()[4].Err, "4711")
}

func TestObligationArgsAreStrict(t *testing.T) {
	for code, list := range map[string][]string{
		"redact_output": {
			``, `{}`, `[]`, `{"pointers":[]}`, `{"pointers":[1]}`, `{"Pointers":["/content"]}`, `{"pointers":["/content"],"pointers":["/size"]}`,
			`{"pointers":["/content"]} {"pointers":["/size"]}`, `{"pointers":["/content"],"x":1}`, `{"pointers":null}`,
		},
		"notify": {`{`, `{} {}`, `{"a":1,"a":2}`},
	} {
		for _, args := range list {
			r := newRigWith(t, decide(runtime.Decision{
				Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: code, Args: wire.Raw(args)}},
			}), []*runtime.Tool{readTool(okRead)})
			out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.ReasonPolicyError, out.Reason, "%s %s", code, args)
			assert.Equal(t, code, out.Detail.Rule)
		}
	}
}
