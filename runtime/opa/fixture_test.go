package opa

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

type object = map[string]any

// fixture declares one tool that reads, one that writes, one with every gate, one that asks.
const fixture = `ambit: v1
package: filetools
reasons: {system_path: Below a system directory., too_big: Too big., night: At night., too_many: Too many.}
types:
  Meta:
    type: object
    description: About the file.
    properties: {owner: {type: string, description: Whose.}, note: {type: string, description: Why.}}
    required: [owner]
tools:
  file_read:
    version: 1.0.0
    description: Read a file.
    effect: read
    idempotent: true
    input:
      type: object
      properties: {path: {type: string, description: Where.}, limit: {type: integer, description: Lines.}}
      required: [path]
    output: {type: object, properties: {}}
  file_write:
    version: 1.2.0
    description: Write a file.
    effect: write
    capabilities: [filesystem.write]
    input:
      type: object
      properties:
        path: {type: string, description: Where.}
        content: {type: string, description: What.}
        mode: {type: string, enum: [create, append], description: How.}
        meta: {$ref: "#/types/Meta"}
        bytes: {type: integer, description: How much.}
        tags: {type: array, items: {type: string, description: One.}, description: Tags.}
        items: {type: array, items: {type: object, description: One., properties: {name: {type: string, description: Name.}}}, description: Parts.}
        ratio: {type: number, description: Share.}
        note: {type: [string, "null"], description: Note.}
        tries: {type: integer, default: 3, description: How often.}
        shape:
          description: Form.
          oneOf:
            - type: object
              description: Round.
              properties: {kind: {type: string, const: circle, description: Which.}, size: {type: integer, description: How big.}}
              required: [kind]
            - type: object
              description: With corners.
              properties: {kind: {type: string, const: square, description: Which.}, side: {type: integer, description: How long.}}
              required: [kind]
      required: [path, content, mode, meta]
    output: {type: object, properties: {card: {type: string, description: Card.}}, additionalProperties: true}
  web_search:
    version: 1.0.0
    description: Search.
    effect: read
    behaviors: [research]
    capabilities: [web]
    modes: {web_mode: [cached, live]}
    input:
      type: object
      properties:
        query: {type: string, description: What for.}
        extra: {type: object, additionalProperties: true, description: Anything.}
      required: [query]
    output: {type: object, properties: {}}
  file_delete:
    version: 1.0.0
    description: Delete a file.
    effect: destructive
    consent: {ask: always, message: "Delete {path}", approvers: [owner], timeout: 10m}
    input: {type: object, properties: {path: {type: string, description: Where.}}, required: [path]}
    output: {type: object, properties: {}}
`

// generate returns the policy directory that ambit generate writes for a
// declaration, and the tools.
func generate(declaration string) (fstest.MapFS, []*runtime.Tool, error) {
	f, err := dsl.Parse("tools.yaml", []byte(declaration))
	if err != nil {
		return nil, nil, err
	}
	out, err := gen.Generate(f, gen.Options{Source: "tools.yaml"})
	if err != nil {
		return nil, nil, err
	}
	fsys := fstest.MapFS{}
	for _, o := range out {
		if name, ok := strings.CutPrefix(o.Name, "policy/"); ok {
			fsys[name] = &fstest.MapFile{Data: o.Content}
		}
	}
	tools, err := dynamic.Tools(f, func(context.Context, string, wire.Value) (wire.Value, error) { return nil, nil })
	return fsys, tools, err
}

// generated is what follows from the fixture.
var generated = sync.OnceValues(func() (fstest.MapFS, []*runtime.Spec) {
	fsys, tools, err := generate(fixture)
	if err != nil {
		panic(err)
	}
	specs := make([]*runtime.Spec, len(tools))
	for i, t := range tools {
		specs[i] = t.Spec()
	}
	return fsys, specs
})

// specs returns copies of what the tools of the fixture declare.
func specs() []*runtime.Spec {
	_, all := generated()
	copies := make([]*runtime.Spec, len(all))
	for i, s := range all {
		spec := *s
		copies[i] = &spec
	}
	return copies
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// dir returns a policy directory: the generated files of the fixture and pairs of name and text.
func dir(pairs ...string) fstest.MapFS {
	all, _ := generated()
	fsys := maps.Clone(all)
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = text(pairs[i+1])
	}
	return fsys
}

// A rawCodec takes any JSON as it is.
type rawCodec struct{}

func (rawCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// registryOf returns a registry whose tools do nothing.
func registryOf(t testing.TB, specs []*runtime.Spec) *runtime.Registry {
	t.Helper()
	var tools []*runtime.Tool
	for _, s := range specs {
		tools = append(tools, runtime.NewDynamicTool(s, rawCodec{}, func(context.Context, wire.Value) (wire.Value, error) { return nil, nil }))
	}
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	return reg
}

// load loads a directory for the tools of the fixture.
func load(t testing.TB, pairs ...string) (*Policy, *runtime.Registry) {
	t.Helper()
	reg := registryOf(t, specs())
	p, err := Load(dir(pairs...), reg)
	require.NoError(t, err)
	return p, reg
}

// call returns the input of a call that no gate refuses.
func call(t testing.TB, reg *runtime.Registry, tool, args string) *runtime.PolicyInput {
	t.Helper()
	found, i, ok := reg.Lookup(tool)
	require.True(t, ok, tool)
	raw, bad := wire.ParseRaw([]byte(args), wire.Limits{})
	require.Empty(t, bad)
	return &runtime.PolicyInput{
		Tool: found.Spec(), Index: i, Args: raw, CallID: "c1", SessionID: "s1", RunID: "r1", Principal: "agent",
		Capabilities: []string{"filesystem.write", "web"}, Behavior: "research", Modes: map[string]string{"web_mode": "live"},
		Now: time.Unix(1_700_040_000, 123_456_789),
	}
}

// decide judges one call.
func decide(t testing.TB, p *Policy, in *runtime.PolicyInput) runtime.Decision {
	t.Helper()
	d, err := p.Decide(t.Context(), in)
	require.NoError(t, err)
	return d
}
