package journal_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// special sets what must not hold just any value, and reports whether v is that.
func special(rng *rand.Rand, v reflect.Value) bool {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(rng.Int64N(1e10), rng.Int64N(1e9)).UTC()))
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage([]string{`{"a":1}`, `[]`, `"x"`, `9007199254740993`}[rng.IntN(4)])))
	case rules.EventKind:
		v.Set(reflect.ValueOf(rules.EventKind(1 + rng.IntN(11))))
	case rules.Status:
		v.Set(reflect.ValueOf(rules.Status(rng.IntN(5))))
	case runtime.Tier:
		v.Set(reflect.ValueOf(runtime.Tier(rng.IntN(2))))
	case []consent.Event:
		v.Set(reflect.ValueOf([]consent.Event{{Seq: 1, Kind: consent.EventUsed, Request: "q", At: time.Unix(5, 6).UTC()}}))
	case *consent.Snapshot:
		v.Set(reflect.ValueOf(&consent.Snapshot{Seq: rng.Uint64()}))
	case *rules.Snapshot:
		v.Set(reflect.ValueOf(&rules.Snapshot{Order: rng.Uint64(), Cooling: []rules.Cooling{{Tool: "t", End: 5}}}))
	case *rules.PastCall:
		v.Set(reflect.ValueOf(&rules.PastCall{Order: rng.Uint64(), Call: "c", Tool: "t", Status: rules.StatusOK}))
	default:
		return false
	}
	return true
}

// full sets everything that v holds, at random, but leaves something out at times.
func full(rng *rand.Rand, v reflect.Value) {
	texts := []string{"plain", "a\"b\\c", "<b>&amp;", "tab\tline\n\x00", "Grüße 🙂", "\u2028", ""}
	if special(rng, v) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[rng.IntN(len(texts))])
	case reflect.Int, reflect.Int64:
		v.SetInt(rng.Int64() - rng.Int64())
	case reflect.Uint8:
		v.SetUint(uint64(rng.IntN(4)))
	case reflect.Uint64:
		v.SetUint(rng.Uint64())
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Struct:
		for i := range v.NumField() {
			if _, kind := v.Field(i).Interface().(rules.EventKind); kind || rng.IntN(4) > 0 {
				full(rng, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(rng, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(2), 2))
		for i := range v.Len() {
			full(rng, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			full(rng, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{texts[rng.IntN(5)]: texts[rng.IntN(5)]}))
	default:
		panic(fmt.Sprint("no value for ", v.Type()))
	}
}

// TestEncodeSaysWhatJSONSays compares the encoder with the library's, on records
// in which any field may be set.
func TestEncodeSaysWhatJSONSays(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 5000 {
		var r journal.Record
		full(rng, reflect.ValueOf(&r).Elem())
		leaf, err := journal.Encode(&r)
		require.NoError(t, err, seed)
		want, err := json.Marshal(&r)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(leaf), seed)
		a, err := journal.Decode(leaf)
		require.NoError(t, err)
		b, err := journal.Decode(want)
		require.NoError(t, err)
		require.Equal(t, b, a, seed)
		again, err := journal.Encode(a)
		require.NoError(t, err)
		require.Equal(t, string(leaf), string(again), seed)
	}
}

// TestEncodeKeepsTheBytesOfValues, of which there is a digest.
func TestEncodeKeepsTheBytesOfValues(t *testing.T) {
	value := `{"a" : "<b>"}`
	leaf, err := journal.Encode(&journal.Record{Args: &journal.Payload{Value: json.RawMessage(value)}})
	require.NoError(t, err)
	r, err := journal.Decode(leaf)
	require.NoError(t, err)
	assert.Equal(t, value, string(r.Args.Value))
}

func BenchmarkEncode(b *testing.B) {
	r := &journal.Record{
		Kind: "tool.started", At: time.Now().UTC(), Session: "session-0f3b5d1c", Run: "run-0f3b5d1c", Call: "call-1", Tool: "file_read",
		Mark: journal.MarkStarted, ToolVersion: "1.0.0", From: "AUTHORIZED", To: "EXECUTING", Attempt: 1, Duration: 12345, Revision: "r1",
		Rules: []rules.Event{{Kind: rules.EventStarted, At: 1e18, Call: "call-1"}},
	}
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			_, _ = journal.Encode(r)
		}
	})
	b.Run("json", func(b *testing.B) {
		for b.Loop() {
			_, _ = json.Marshal(r)
		}
	})
}
