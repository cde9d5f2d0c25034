package opa

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

type object = map[string]any

// specs are the tools of the fixture: one that reads, one that writes, one with every gate, one that asks.
func specs() []*runtime.Spec {
	return []*runtime.Spec{
		{Name: "file_read", Version: "1.0.0", Pin: "p1", Effect: runtime.SideEffectRead, Idempotent: true},
		{Name: "file_write", Version: "1.2.0", Pin: "p2", Effect: runtime.SideEffectWrite, Capabilities: []string{"filesystem.write"}},
		{
			Name: "web_search", Version: "1.0.0", Pin: "p3", Effect: runtime.SideEffectRead, Behaviors: []string{"research"},
			Capabilities: []string{"web"}, Modes: []runtime.Mode{{Name: "web_mode", Values: []string{"cached", "live"}}},
		},
		{Name: "file_delete", Version: "1.0.0", Pin: "p4", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways, Message: "Delete {path}"}},
	}
}

// schemas are the arguments of the tools of the fixture.
func argsSchemas() map[string]object {
	str := object{"type": "string"}
	path := object{"type": "object", "additionalProperties": false, "properties": object{"path": str}, "required": []any{"path"}}
	return map[string]object{
		"file_read": {
			"type": "object", "additionalProperties": false, "required": []any{"path"},
			"properties": object{"path": str, "limit": object{"type": "integer"}},
		},
		"file_write": {
			"type": "object", "additionalProperties": false, "required": []any{"path", "content", "mode", "meta"},
			"properties": object{
				"path": str, "content": str, "mode": object{"type": "string", "enum": []any{"create", "append"}},
				"bytes": object{"type": "integer"}, "tags": object{"type": "array", "items": str}, "meta": object{"$ref": "#/$defs/Meta"},
				"ratio": object{"type": "number"}, "note": object{"type": []any{"string", "null"}},
				"shape": object{"type": "object", "properties": object{"kind": object{"type": "string", "enum": []any{"circle", "square"}}}},
			},
		},
		"web_search":  {"type": "object", "additionalProperties": false, "properties": object{"query": str, "x": object{}}, "required": []any{"query"}},
		"file_delete": path,
	}
}

// inputSchemaOf wraps the schema of arguments into that of the whole input.
func inputSchemaOf(args object, capabilities, modes []string) object {
	str, boolean, integer := object{"type": "string"}, object{"type": "boolean"}, object{"type": "integer"}
	all := func(names []string, member object) object {
		properties, required := object{}, []any{}
		for _, n := range names {
			properties[n] = member
			required = append(required, n)
		}
		return closed(properties, required...)
	}
	id := closed(object{"id": str}, "id")
	list := object{"type": "array", "items": str}
	s := closed(object{
		"tool": closed(object{
			"name": str, "version": str, "effect": object{"type": "string", "enum": []any{"read", "write", "destructive"}},
			"idempotent": boolean, "deterministic": boolean, "capabilities": list, "behaviors": list,
		}, "name", "version", "effect", "idempotent", "deterministic", "capabilities", "behaviors"),
		"args": args, "behavior": str, "modes": all(modes, str),
		"principal": closed(object{"id": str, "capabilities": all(capabilities, boolean)}, "id", "capabilities"),
		"session":   id, "call": id, "now_ns": integer,
		"run": closed(object{
			"id": str, "counts": object{"type": "object", "additionalProperties": integer}, "succeeded": object{"type": "object", "additionalProperties": boolean},
		}, "id", "counts", "succeeded"),
	}, "tool", "args", "behavior", "modes", "principal", "session", "run", "call", "now_ns")
	s["$defs"] = object{"Meta": closed(object{"owner": str, "note": str}, "owner")}
	return s
}

func closed(properties object, required ...any) object {
	return object{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
}

// generated returns what ambit generate writes for tools.
func generated(specs []*runtime.Spec, args func(string) object) fstest.MapFS {
	fsys := fstest.MapFS{}
	put := func(name string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		fsys[generatedDir+"/"+name] = &fstest.MapFile{Data: text}
	}
	tools, capabilities, modes := object{}, map[string]bool{}, map[string]bool{}
	for _, s := range specs {
		tools[s.Name] = declare(s, capabilities, modes)
	}
	held, gates := slices.Sorted(maps.Keys(capabilities)), slices.Sorted(maps.Keys(modes))
	put("data.json", object{
		"tools": tools, "reasons": object{"system_path": "Below a system directory.", "too_big": "Too big.", "night": "At night.", "too_many": "Too many."},
		"capabilities": held, "modes": gates, "set": "filetools",
	})
	for _, s := range specs {
		put(s.Name+schemaSuffix, inputSchemaOf(args(s.Name), held, gates))
		fsys[generatedDir+"/"+s.Name+".rego"] = text(fmt.Sprintf("# METADATA\n# scope: subpackages\n# schemas:\n#   - input: schema.%s\npackage ambit.tools.%s\n", s.Name, s.Name))
	}
	put("ambit"+schemaSuffix, inputSchemaOf(object{}, held, gates))
	fsys[generatedDir+"/policies.rego"] = text("# METADATA\n# scope: subpackages\n# schemas:\n#   - input: schema.ambit\npackage ambit.policies\n")
	return fsys
}

// declare returns the declaration of one tool, as policies see it.
func declare(s *runtime.Spec, capabilities, modes map[string]bool) object {
	d := object{"effect": s.Effect.String(), "capabilities": s.Capabilities, "pin": s.Pin}
	if s.Capabilities == nil {
		d["capabilities"] = []string{}
	}
	for _, c := range s.Capabilities {
		capabilities[c] = true
	}
	if len(s.Behaviors) > 0 {
		behaviors := object{}
		for _, b := range s.Behaviors {
			behaviors[b] = true
		}
		d["behaviors"] = behaviors
	}
	gates := object{}
	for _, m := range s.Modes {
		modes[m.Name] = true
		values := object{}
		for _, v := range m.Values {
			values[v] = true
		}
		gates[m.Name] = values
	}
	d["modes"] = gates
	if s.Consent != nil {
		d["consent"] = object{"ask": s.Consent.Ask.String(), "message": s.Consent.Message, "approvers": []string{"owner"}, "timeout": "10m", "quorum": 1, "max_cover": "exact"}
	}
	return d
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// dir returns a policy directory: the generated files of the fixture and pairs of name and text.
func dir(pairs ...string) fstest.MapFS {
	fsys := generated(specs(), func(name string) object { return argsSchemas()[name] })
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
