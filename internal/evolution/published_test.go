package evolution_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestDecodersTakeWhatIsPublished: the decoder of a random schema takes the values that an
// independent validator takes by the schema which the tool publishes, and no other.
func TestDecodersTakeWhatIsPublished(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := schemas{rand.New(rand.NewPCG(21, seed))}
	limits := wire.Limits{Size: 1 << 20}
	taken, refused := 0, 0
	for n := 0; n < battery.Count(t, 60, 800); {
		schema := r.schema(3)
		_, tool, ok := declared(schema)
		if !ok {
			continue
		}
		n++
		published := compiled(t, []byte(*tool.Spec.InputSchema))
		for range 30 {
			text, err := json.Marshal(object{"v": r.value(3)})
			require.NoError(t, err)
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			require.NoError(t, err)
			want := published.Validate(value)
			_, have := tool.Input.Decode(text, limits)
			require.Equal(t, want == nil, have == nil, "seed %d: %s\nby %s\nvalidator: %v\ndecoder: %v", seed, text, *tool.Spec.InputSchema, want, have)
			if have == nil {
				taken++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d values taken, %d refused", taken, refused)
	require.Greater(t, taken, (taken+refused)/20)
	require.Greater(t, refused, (taken+refused)/20)
}

func compiled(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, compiler.AddResource("tool.json", document))
	out, err := compiler.Compile("tool.json")
	require.NoError(t, err, "%s", schema)
	return out
}
