package opa

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

// The pin shows that a declaration of a tool has changed, not that the generated file
// was edited by hand: without this check, an edit could remove a gate.
func TestEditedDeclarations(t *testing.T) {
	const remedy = " in the program (run go generate and build the program again)"
	for _, test := range []struct{ name, old, edited, want string }{
		{"effect", `"effect": "write"`, `"effect": "read"`, `"effect" of the tool "file_write" is "read", and "write"`},
		{"capabilities", `"capabilities": ["filesystem.write"],` + "\n      \"behaviors\"", `"capabilities": [], "behaviors"`, `"capabilities" of the tool "file_write" is [], and ["filesystem.write"]`},
		{"another spelling", `"effect": "write"`, `"effect": "read", "Effect": "write"`, `"effect" of the tool "file_write" is "read", and "write"`},
		{"behaviors", `"doc_edit": true`, `"doc_edit": true, "chat": true`, `"behaviors" of the tool "file_write" is {"chat":true,"doc_edit":true}, and {"doc_edit":true}`},
		{"no behaviors", `"behaviors"`, `"behaviours"`, `"behaviors" of the tool "file_write" is absent, and {"doc_edit":true}`},
		{"value of a mode", `"live": true`, `"off": true`, `"web_mode" of "modes" of the tool "file_write" is {"cached":true,"off":true}, and {"cached":true,"live":true}`},
		{"consent", `"ask": "always"`, `"ask": "policy"`, `"ask" of "consent" of the tool "file_write" is "policy", and "always"`},
		{"quorum", `"quorum": 1`, `"quorum": 0`, `"quorum" of "consent" of the tool "file_write" is 0, and 1`},
		{"modes of all", `"modes": ["web_mode"]`, `"modes": []`, `"modes" of the declaration is [], and ["web_mode"]`},
		{"capabilities of all", "\n  \"capabilities\": [\"filesystem.write\"]", "\n  \"capabilities\": []", `"capabilities" of the declaration is [], and ["filesystem.write"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys, reg := fromDeclaration(t)
			_, err := Load(fsys, reg)
			require.NoError(t, err)
			before := string(fsys[policydir.DeclaredFile].Data)
			require.Contains(t, before, test.old)
			fsys[policydir.DeclaredFile] = regotest.Text(strings.Replace(before, test.old, test.edited, 1))
			_, err = Load(fsys, reg)
			assert.ErrorContains(t, err, "ambit_gen/data.json: "+test.want)
			assert.ErrorContains(t, err, remedy)
			p, err := Load(asGenerated(t), reg)
			require.NoError(t, err)
			assert.ErrorContains(t, p.Reload(fsys), test.want)
		})
	}
}

// Lists that name the same are the same.
func TestListsOfTheProgram(t *testing.T) {
	fsys, reg := fromDeclaration(t)
	tool, _, _ := reg.Lookup("file_write")
	spec := tool.Spec()
	spec.Capabilities = append(spec.Capabilities, spec.Capabilities...)
	_, err := Load(fsys, reg)
	assert.NoError(t, err)
}

// asGenerated returns the directory as it was generated.
func asGenerated(t *testing.T) fstest.MapFS {
	fsys, _ := fromDeclaration(t)
	return fsys
}

// SEMANTICS 3.6.4
func TestStaleDeclarations(t *testing.T) {
	changed := specs()
	changed[0].Pin = "other"
	changed[1].Name = "file_patch"
	_, err := Load(regotest.Dir(), registryOf(t, changed))
	var errs policies.Diagnostics
	require.ErrorAs(t, err, &errs)
	assert.Equal(t, `ambit_gen/data.json: the tool "file_read" was declared anew since the program was built, or the program since (run go generate and build the program again)
ambit_gen/data.json: the program's tool "file_patch" is not declared (run go generate and build the program again)
ambit_gen/data.json: the program has no tool "file_write" (run go generate and build the program again)`, err.Error())
}
