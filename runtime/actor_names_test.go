package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
)

// SEMANTICS 5.5.13
func TestNamesOfApprovers(t *testing.T) {
	for _, entry := range []string{"alice", "Alice B.", "group:finance", "group:Finance team", "a:b", "mygroup:x", "grouper", "groups"} {
		assert.NoError(t, runtime.CheckApprover(entry), entry)
	}
	for entry, want := range map[string]string{
		"":              "empty",
		"Alice ":        "blanks at its ends",
		" alice":        "blanks at its ends",
		"alice\t":       "blanks at its ends",
		"alice\u00A0":   "blanks at its ends",
		"group:":        "no name",
		"group: x":      "blanks at its ends",
		"group:x ":      "blanks at its ends",
		"groups:x":      "neither an id nor a group",
		"Group:x":       "neither an id nor a group",
		"GROUP : x":     "neither an id nor a group",
		"group :x":      "neither an id nor a group",
		" group:x":      "neither an id nor a group",
		"group\uFF1Ax":  "neither an id nor a group",
		"group:group:x": "once too often",
		"group:groups:": "once too often",
	} {
		assert.ErrorContains(t, runtime.CheckApprover(entry), want, entry)
	}
	assert.NoError(t, runtime.Actor{ID: "alice", Groups: []string{"finance"}}.Check())
	for _, a := range []runtime.Actor{{}, {ID: "alice "}, {ID: "group:x"}, {ID: "groups: x"}, {ID: "a", Groups: []string{""}}, {ID: "a", Groups: []string{"group:x"}}, {ID: "a", Groups: []string{"x "}}} {
		assert.Error(t, a.Check(), "%v", a)
	}
}
