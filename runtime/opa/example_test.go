package opa_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// noteWrite is what generated code declares, and directory the policy directory.
var noteWrite = runtime.Spec{Name: "note_write", Version: "1.0.0", Effect: runtime.SideEffectWrite, Pin: "3f2a"}

func directory() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const schema = `{"type": "object", "properties": {"args": {"type": "object", "properties": {"title": {"type": "string"}}}}}`
	return fstest.MapFS{
		"ambit_gen/data.json": file(`{"set": "notes", "modes": [], "capabilities": [], "reasons": {"secret": "Names a secret."},
			"tools": {"note_write": {"effect": "write", "capabilities": [], "modes": {}, "pin": "3f2a"}}}`),
		"ambit_gen/note_write.schema.json": file(schema),
		"ambit_gen/note_write.rego":        file("# METADATA\n# scope: subpackages\n# schemas:\n#   - input: schema.note_write\npackage ambit.tools.note_write\n"),
		"ambit_gen/schemas.json":           file(`{}`),
		"ambit_gen/ambit.schema.json":      file(`{"type": "object"}`),
		"ambit_gen/policies.rego":          file("# METADATA\n# scope: subpackages\n# schemas:\n#   - input: schema.ambit\npackage ambit.policies\n"),
		"note_write.rego": file(`package ambit.tools.note_write

allow contains {"code": "notes", "message": "notes may be written"}

deny contains {"code": "secret", "message": "the title names a secret"} if contains(lower(input.args.title), "password")
`),
	}
}

func Example() {
	tool := runtime.NewDynamicTool(&noteWrite, codec{}, func(context.Context, wire.Value) (wire.Value, error) { return wire.Raw("{}"), nil })
	reg, err := runtime.NewRegistry(tool)
	if err != nil {
		panic(err)
	}
	policy, err := opa.Load(directory(), reg)
	if err != nil {
		panic(err)
	}
	for _, args := range []string{`{"title": "Shopping"}`, `{"title": "My password"}`} {
		d, err := policy.Decide(context.Background(), &runtime.PolicyInput{Tool: &noteWrite, Args: wire.Raw(args), Now: time.Now()})
		fmt.Println(d.Effect, err)
		for _, denial := range d.Denials {
			fmt.Printf("%s: %s (%s)\n", denial.Code, denial.Message, denial.At)
		}
	}

	misspelt := directory()
	misspelt["note_write.rego"].Data = []byte("package ambit.tools.note_write\n\ndenny contains {\"code\": \"secret\", \"message\": \"no\"}\n")
	fmt.Println(policy.Reload(misspelt))
	// Output:
	// allow <nil>
	// deny <nil>
	// secret: the title names a secret (note_write.rego:5)
	// note_write.rego:3:1: nothing reaches "denny" from the decision (did you mean "deny"?)
}

// codec takes any JSON; generated tools check theirs.
type codec struct{}

func (codec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}
