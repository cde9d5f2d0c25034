package engine

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// eachField calls check for outcomes in each of which one field is set. A session must
// retain every field of an outcome, also a field that is added later.
func eachField(check func(field string, set func(*runtime.Outcome))) {
	fill := func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Struct:
		default:
			v.Set(reflect.ValueOf(1).Convert(v.Type()))
		}
	}
	check("", func(*runtime.Outcome) {})
	for i := range reflect.TypeFor[runtime.Outcome]().NumField() {
		check(reflect.TypeFor[runtime.Outcome]().Field(i).Name, func(out *runtime.Outcome) { fill(reflect.ValueOf(out).Elem().Field(i)) })
	}
	for i := range reflect.TypeFor[runtime.Detail]().NumField() {
		check("Detail", func(out *runtime.Outcome) { fill(reflect.ValueOf(&out.Detail).Elem().Field(i)) })
	}
}

func TestKeptOutcome(t *testing.T) {
	eachField(func(_ string, set func(*runtime.Outcome)) {
		out := runtime.Outcome{CallID: "c", Tool: "t", Kind: runtime.Completed}
		set(&out)
		r := &callRecord{ID: "c", Tool: "t"}
		r.Store(&out)
		assert.Equal(t, out, r.Outcome())
		assert.Equal(t, out.Kind, r.Kind())
		assert.Equal(t, out.RolledBack, r.RolledBack())
	})
}

// TestRecordedOutcome: what a record holds in other members, or as a payload, is
// omitted.
func TestRecordedOutcome(t *testing.T) {
	eachField(func(field string, set func(*runtime.Outcome)) {
		out := runtime.Outcome{Kind: runtime.Completed}
		set(&out)
		switch field {
		case "Steps":
			out.Steps = []runtime.Step{{Kind: runtime.StepWait, Tool: "t", Call: "c", Consent: true, For: 5}}
		case "Denials":
			out.Denials = []runtime.Denial{{Code: "c", Message: "m", Detail: wire.Raw(`{"a":1}`), At: "f:1"}}
		case "Obligations":
			out.Obligations = []runtime.Obligation{{Code: "notify", Args: wire.Raw(`[1]`), At: "f:1"}}
		}
		text, err := history.EncodeOutcome(&out)
		require.NoError(t, err)
		again, err := history.DecodeOutcome(text)
		require.NoError(t, err, string(text))
		out.CallID, out.Tool, out.Output, out.Artifact, out.Duration, out.Revision = "", "", nil, nil, 0, ""
		assert.Equal(t, out, again, field)
	})
}
