package opa

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
)

// TestPolicySeesAnUndo: a rule can ask who undoes a call, and whether it is about an undo at all.
func TestPolicySeesAnUndo(t *testing.T) {
	p, reg := load(t, "w.rego", `# METADATA
# custom:
#   reasons: {not_on_call: N., closed: C., mallory: M.}
package ambit.tools.file_write

allow contains {"code": "ok", "message": "m"}

deny contains {"code": "not_on_call", "message": "m"} if {
	input.undo
	not "oncall" in input.undo.by.groups
	input.undo.by.method != "owner"
}

deny contains {"code": "closed", "message": "m"} if {
	not input.undo
	input.args.path == "closed"
}

deny contains {"code": "mallory", "message": "m"} if input.undo.by.id == "mallory"
`)
	for name, c := range map[string]struct {
		undo bool
		by   runtime.Actor
		path string
		want []string
	}{
		"call":                     {path: "open"},
		"call that is denied":      {path: "closed", want: []string{"closed"}},
		"undo of what is denied":   {undo: true, by: runtime.Actor{ID: "ada", Groups: []string{"oncall", "staff"}, Method: "token"}, path: "closed"},
		"undo by somebody":         {undo: true, by: runtime.Actor{ID: "ada", Groups: []string{"staff"}, Method: "token"}, path: "open", want: []string{"not_on_call"}},
		"undo by nobody's group":   {undo: true, by: runtime.Actor{ID: "mallory", Method: "token"}, path: "open", want: []string{"mallory", "not_on_call"}},
		"undo by the owner":        {undo: true, by: runtime.Actor{ID: "root", Method: runtime.MethodOwner}, path: "open"},
		"an actor without an undo": {by: runtime.Actor{ID: "mallory"}, path: "open"},
	} {
		t.Run(name, func(t *testing.T) {
			in := call(t, reg, "file_write", `{"path":"`+c.path+`"}`)
			in.Undo, in.UndoneBy = c.undo, c.by
			d := decide(t, p, in)
			var codes []string
			for _, denial := range d.Denials {
				codes = append(codes, denial.Code)
			}
			assert.Equal(t, c.want, codes)
			assert.Equal(t, c.want == nil, d.Effect == runtime.EffectAllow)
		})
	}
}
