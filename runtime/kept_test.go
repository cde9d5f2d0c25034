package runtime

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a session keeps of an outcome is all of it, whichever fields are set: also
// those that are added one day.
func TestKeptOutcome(t *testing.T) {
	check := func(set func(*Outcome)) {
		t.Helper()
		out := Outcome{CallID: "c", Tool: "t", Kind: Completed}
		set(&out)
		r := &record{id: "c", tool: "t"}
		r.keep(&out)
		assert.Equal(t, out, r.outcome())
	}
	check(func(*Outcome) {})
	fill := func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Struct:
		default:
			v.Set(reflect.ValueOf(1).Convert(v.Type()))
		}
	}
	for i := range reflect.TypeFor[Outcome]().NumField() {
		check(func(out *Outcome) { fill(reflect.ValueOf(out).Elem().Field(i)) })
	}
	for i := range reflect.TypeFor[Detail]().NumField() {
		check(func(out *Outcome) { fill(reflect.ValueOf(&out.Detail).Elem().Field(i)) })
	}
}
