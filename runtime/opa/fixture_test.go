package opa

import (
	"context"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// generate returns the policy directory that ambit generate writes for a
// declaration, and the tools.
func generate(declaration string) (fstest.MapFS, []*runtime.Tool, error) {
	fsys, err := regotest.Generate(declaration)
	if err != nil {
		return nil, nil, err
	}
	f, err := dsl.Parse("tools.yaml", []byte(declaration))
	if err != nil {
		return nil, nil, err
	}
	tools, err := dynamic.Tools(f, func(context.Context, string, wire.Value) (wire.Value, error) { return nil, nil })
	return fsys, tools, err
}

// generated is what the tools of the fixture declare.
var generated = sync.OnceValue(func() []*runtime.Spec {
	_, tools, err := generate(regotest.Fixture)
	if err != nil {
		panic(err)
	}
	specs := make([]*runtime.Spec, len(tools))
	for i, t := range tools {
		specs[i] = t.Spec()
	}
	return specs
})

// specs returns copies of what the tools of the fixture declare.
func specs() []*runtime.Spec {
	all := generated()
	copies := make([]*runtime.Spec, len(all))
	for i, s := range all {
		spec := *s
		copies[i] = &spec
	}
	return copies
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
	p, err := Load(regotest.Dir(pairs...), reg)
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
