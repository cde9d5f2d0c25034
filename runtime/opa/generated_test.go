package opa

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const declaration = `ambit: v1
package: filetools
reasons: {outside: The path leaves the folder for documents.}
tools:
  file_write:
    version: 1.2.0
    title: Write file
    description: Replace the content of a file in the workspace.
    effect: write
    capabilities: [filesystem.write]
    behaviors: [doc_edit]
    modes: {web_mode: [cached, live]}
    consent: {ask: always, message: "Write {path}"}
    input:
      type: object
      properties:
        path: {type: string, description: Path inside the workspace.}
        mode: {type: string, enum: [create, append], description: What to do with an existing file.}
      required: [path, mode]
    output: {type: object, properties: {size: {type: integer, description: Bytes written.}}, required: [size]}
  file_list:
    version: 1.0.0
    title: List files
    description: List the files of the workspace.
    effect: read
    input: {type: object, properties: {}}
    output: {type: object, properties: {}}
`

// fromDeclaration returns the policy directory and the registry that follow from the declaration.
func fromDeclaration(t *testing.T, pairs ...string) (fstest.MapFS, *runtime.Registry) {
	t.Helper()
	fsys, tools, err := generate(declaration)
	require.NoError(t, err)
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = regotest.Text(pairs[i+1])
	}
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	return fsys, reg
}

// What ambit generate writes is what the loader reads.
func TestGeneratedFiles(t *testing.T) {
	outside := regotest.Tool("deny contains {\"code\": \"outside\", \"message\": sprintf(\"%s is outside\", [input.args.path])} if {\n\tnot startswith(input.args.path, \"docs/\")\n}")
	fsys, reg := fromDeclaration(t, "w.rego", outside)
	p, err := Load(fsys, reg)
	require.NoError(t, err)
	found, i, _ := reg.Lookup("file_write")
	args, bad := found.Decode([]byte(`{"path":"src/a","mode":"create"}`))
	require.Empty(t, bad)
	in := &runtime.PolicyInput{Tool: found.Spec(), Index: i, Args: args}
	var codes []string
	for _, d := range decide(t, p, in).Denials {
		codes = append(codes, d.Code)
	}
	assert.Equal(t, []string{"behavior_not_allowed", "capability_missing", "mode_off", "outside"}, codes)

	in.Behavior, in.Capabilities, in.Modes = "doc_edit", []string{"filesystem.write"}, map[string]string{"web_mode": "live"}
	in.Args, bad = found.Decode([]byte(`{"path":"docs/a","mode":"create"}`))
	require.Empty(t, bad)
	d := decide(t, p, in)
	assert.Equal(t, runtime.EffectAsk, d.Effect)
	assert.Equal(t, "Write {path}", d.Asks[0].Message)

	list, i, _ := reg.Lookup("file_list")
	in.Tool, in.Index, in.Args = list.Spec(), i, wire.Raw(`{}`)
	assert.Equal(t, runtime.EffectAllow, decide(t, p, in).Effect)
}

func TestGeneratedSchemasAreChecked(t *testing.T) {
	for condition, want := range map[string]string{
		`input.args.paht == "x"`:            `input.args has no member "paht"`,
		`input.args.path == 1`:              "input.args.path is a string, and it is compared with a number",
		`input.modes.webmode == "live"`:     `input.modes has no member "webmode"`,
		`input.tool.efect == "read"`:        `input.tool has no member "efect"`,
		`input.args.mode == "apend"`:        `input.args.mode is never "apend"`,
		`input.tool.effect == "reed"`:       `input.tool.effect is never "reed"`,
		`input.run.counts.file_wrte > 1`:    `input.run.counts has no tool "file_wrte"`,
		`data.ambit.declared.tools.file_wr`: "there is no data.ambit.declared.tools.file_wr",
	} {
		fsys, reg := fromDeclaration(t, "w.rego", regotest.Tool(`deny contains {"code": "outside", "message": "m"} if `+condition))
		_, err := Load(fsys, reg)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "w.rego:3:")
	}
}
