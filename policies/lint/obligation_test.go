package lint

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// Args of redact_output that no call could run with are refused where they are written.
func TestLintsOfRedactOutput(t *testing.T) {
	const form = ` (its args are {"pointers": ["/member", ...]})`
	rule := func(args string) string {
		return regotest.Tool(`obligations contains {"code": "redact_output", "args": ` + args + `} if input.args.path != "x"`)
	}
	for args, want := range map[string]string{
		`{"pointer": ["/card"]}`: "w.rego:3:57: the args of redact_output have no member \"pointer\" (did you mean \"pointers\"?)",
		`{}`:                     `w.rego:3:56: the args of redact_output have no "pointers"` + form,
		`{"pointers": ["/card"], "reason": "pii"}`: `w.rego:3:80: the args of redact_output have no member "reason"` + form,
		`{"pointers": "/card"}`:                    `w.rego:3:69: the pointers of redact_output are no list` + form,
		`{"pointers": {"a": "/card"}}`:             `w.rego:3:69: the pointers of redact_output are no list` + form,
		`object.union({"pointers": []}, {})`:       `w.rego:3:56: the pointers of redact_output are none (name what is to be masked, or delete the rule)`,
		`{"pointers": []}`:                         `w.rego:3:69: the pointers of redact_output are none (name what is to be masked, or delete the rule)`,
		`{"pointers": [1]}`:                        `w.rego:3:70: the pointer 1 of redact_output is no string` + form,
		`{"pointers": ["card"]}`:                   `w.rego:3:70: "card" is no JSON Pointer: it does not start with a slash (write "/card")`,
		`{"pointers": ["/a~b", input.args.path]}`:  `w.rego:3:70: "/a~b" is no JSON Pointer: write ~0 for a tilde and ~1 for a slash`,
	} {
		assert.ErrorContains(t, checkDir(regotest.Dir("w.rego", rule(args))), want, args)
	}
	for _, args := range []string{
		`{"pointers": ["/card"]}`, `{"pointers": ["", "/a/0/b~1c"]}`, `{"pointers": {"/card"}}`, `{"pointers": [input.args.path]}`,
		`{"pointers": [p | p := input.args.path]}`, `object.union({"pointers": ["/a"]}, {})`, `{"pointers": array.concat(["/a"], ["/b"])}`,
	} {
		assert.NoError(t, checkDir(regotest.Dir("w.rego", rule(args))), args)
	}
	assert.NoError(t, checkDir(regotest.Dir("w.rego", regotest.Tool(`obligations contains {"code": "notify", "args": {"pointer": 1}}`))))
}
