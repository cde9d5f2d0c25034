package ir_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// declare makes a file by hand, past the checks of package dsl: Build stands
// on its own.
func declare(properties ...*dsl.Property) *dsl.File {
	return &dsl.File{
		Path:    "tools.yaml",
		Package: "tools",
		Tools: []*dsl.Tool{{
			Name:   "check",
			Effect: "read",
			Input:  &dsl.Schema{Type: dsl.TypeObject, Closed: true, Properties: properties},
		}},
	}
}

func property(name string, s dsl.Schema) *dsl.Property { return &dsl.Property{Name: name, Schema: &s} }

func rule(t *testing.T, s dsl.Schema) *ir.Rule {
	t.Helper()
	p, err := ir.Build(declare(property("x", s)))
	require.NoError(t, err)
	return p.Tools[0].Input.Fields[0].Type.Rule
}

func TestIntegerBounds(t *testing.T) {
	integer := func(s dsl.Schema) *wire.IntRule {
		s.Type = dsl.TypeInteger
		if r := rule(t, s); r != nil {
			return r.Int
		}
		return nil
	}
	require.Nil(t, integer(dsl.Schema{}))
	require.Equal(t, &wire.IntRule{Has: wire.Min | wire.Max, Max: 100}, integer(dsl.Schema{Minimum: "0", Maximum: "1e2"}))
	require.Equal(t, &wire.IntRule{Has: wire.Min, Min: 1}, integer(dsl.Schema{Minimum: "0.5"}), "the next that can occur")
	require.Equal(t, &wire.IntRule{Has: wire.Max, Max: -2}, integer(dsl.Schema{ExclusiveMaximum: "-1.5"}))
	require.Equal(t, &wire.IntRule{Has: wire.Min | wire.ExclusiveMin, Min: 3}, integer(dsl.Schema{ExclusiveMinimum: "3.0"}))
	require.Equal(t, &wire.IntRule{Has: wire.Min | wire.ExclusiveMin, Min: 3}, integer(dsl.Schema{Minimum: "2", ExclusiveMinimum: "3"}), "the tighter")
	require.Equal(t, &wire.IntRule{Has: wire.Min, Min: 4}, integer(dsl.Schema{Minimum: "4", ExclusiveMinimum: "3"}))

	require.Nil(t, integer(dsl.Schema{Minimum: "-1e30", Maximum: "9223372036854775807"}), "every int64 keeps them")
	require.Nil(t, integer(dsl.Schema{Minimum: "-9223372036854775808", ExclusiveMaximum: "9223372036854775808"}))
	require.Equal(t, &wire.IntRule{Has: wire.Max | wire.ExclusiveMax, Max: math.MaxInt64}, integer(dsl.Schema{ExclusiveMaximum: "9223372036854775807"}))
	require.Equal(t, &wire.IntRule{Has: wire.Min | wire.ExclusiveMin, Min: math.MinInt64}, integer(dsl.Schema{ExclusiveMinimum: "-9223372036854775808"}))

	require.Nil(t, integer(dsl.Schema{MultipleOf: "0.5"}), "every integer is one")
	require.Equal(t, &wire.IntRule{MultipleOf: 5}, integer(dsl.Schema{MultipleOf: "2.5"}), "of 5/2: the multiples of 5")
	require.Equal(t, &wire.IntRule{Enum: []int64{1, 100, math.MaxInt64}}, integer(dsl.Schema{Enum: []*dsl.Value{
		{Kind: dsl.ValueNumber, Text: "1.0"}, {Kind: dsl.ValueNumber, Text: "1e2"}, {Kind: dsl.ValueNumber, Text: "9223372036854775807"},
	}}))
}

func TestNumberBounds(t *testing.T) {
	number := func(s dsl.Schema) *wire.NumberRule {
		s.Type = dsl.TypeNumber
		if r := rule(t, s); r != nil {
			return r.Number
		}
		return nil
	}
	require.Equal(t, &wire.NumberRule{Has: wire.Min | wire.Max | wire.ExclusiveMax, Min: 0.1, Max: 1}, number(dsl.Schema{Minimum: "0.1", ExclusiveMaximum: "1"}))
	require.Nil(t, number(dsl.Schema{Minimum: "-1e400", Maximum: "1e400"}))
	require.Equal(t, &wire.NumberRule{MultipleOf: "0.01"}, number(dsl.Schema{MultipleOf: "0.01"}))
}

func TestRefused(t *testing.T) {
	str := func(text string) *dsl.Value { return &dsl.Value{Kind: dsl.ValueString, Text: text} }
	three, two := 3, 2
	for want, s := range map[string]dsl.Schema{
		"leaves no 64-bit integer":         {Type: dsl.TypeInteger, Minimum: "9223372036854775808"},
		"leaves no 64-bit number":          {Type: dsl.TypeNumber, Maximum: "-1e400"},
		"leave no value":                   {Type: dsl.TypeInteger, Minimum: "2", Maximum: "1"},
		"the exponent is outside":          {Type: dsl.TypeNumber, Minimum: "1e1000000000"},
		"multipleOf 0 cannot be enforced":  {Type: dsl.TypeNumber, MultipleOf: "0"},
		"is no 64-bit integer":             {Type: dsl.TypeInteger, Enum: []*dsl.Value{{Kind: dsl.ValueNumber, Text: "0.5"}}},
		"is no integer":                    {Type: dsl.TypeInteger, Enum: []*dsl.Value{str("1")}},
		"enum allows no string":            {Type: dsl.TypeString, Enum: []*dsl.Value{}},
		"minLength cannot be enforced":     {Type: dsl.TypeInteger, MinLength: &three},
		"enum cannot be enforced":          {Type: dsl.TypeArray, Enum: []*dsl.Value{}},
		"maxLength is less than minLength": {Type: dsl.TypeString, MinLength: &three, MaxLength: &two},
		"exactly 1":                        {Type: dsl.TypeArray, PrefixItems: []*dsl.Schema{{Type: dsl.TypeString}}, MinItems: &two},
		`format "uri-template"`:            {Type: dsl.TypeString, Format: "uri-template"},
		"without a type":                   {},
		"leads nowhere":                    {Ref: "#/types/None"},
		"other unions":                     {OneOf: []*dsl.Schema{{Type: dsl.TypeString}}, Tag: "kind"},
		"required but not declared":        {Type: dsl.TypeObject, Closed: true, Required: []string{"y"}},
		"at most 256":                      {Type: dsl.TypeObject, Properties: make([]*dsl.Property, 257)},
		"the default of x: want an array":  {Type: dsl.TypeArray, Default: str("x")},
	} {
		_, err := ir.Build(declare(property("x", s)))
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(dsl.Diagnostics))
	}
}

// TestHostileNames holds that Build refuses a name that is no identifier, or that
// another declaration has, also in a file that dsl has not parsed.
func TestHostileNames(t *testing.T) {
	_, err := ir.Build(&dsl.File{Path: "x", Package: "p; import \"os\""})
	require.ErrorContains(t, err, "is not a Go package name")

	f := declare()
	f.Tools[0].Name = "../../etc"
	_, err = ir.Build(f)
	require.ErrorContains(t, err, "is not a tool name")
}

// TestFieldNames names members in every order alike: of those that would share a name the one that is spelled so
// keeps it.
func TestFieldNames(t *testing.T) {
	want := map[string]string{
		"+1": "Plus1", "-1": "Minus1", "1": "Upper1", "~1": "Tilde1",
		"a-b": "AHyphenB", "a_b": "AUnderscoreB", "a b": "ASpaceB", "a.b": "ADotB", "AB": "UpperAB", "ab": "LowerAb",
		"id": "LowerId", "ID": "ID", "Id": "UpperId", "x": "LowerX", "X": "X",
		"walk": "LowerWalk", "walk_value": "WalkUnderscoreValue", "Walk": "UpperWalk",
	}
	members := slices.Sorted(maps.Keys(want))
	for range 20 {
		var all []*dsl.Property
		for _, name := range members {
			all = append(all, property(name, dsl.Schema{Type: dsl.TypeString}))
		}
		p, err := ir.Build(declare(all...))
		require.NoError(t, err)
		for _, f := range p.Tools[0].Input.Fields {
			assert.Equal(t, want[f.Name], f.GoName, f.Name)
		}
		members = append(members[5:], members[:5]...)
		slices.Reverse(members[:9])
	}
}

// TestPin changes each property of a tool, one at a time.
func TestPin(t *testing.T) {
	pins := map[string]string{}
	for name, change := range map[string]func(*dsl.Tool){
		"nothing":      func(*dsl.Tool) {},
		"description":  func(d *dsl.Tool) { d.Description = "x" },
		"effect":       func(d *dsl.Tool) { d.Effect = "write" },
		"schema":       func(d *dsl.Tool) { d.Input.Description = "x" },
		"capabilities": func(d *dsl.Tool) { d.Capabilities = []string{"a"} },
		"behaviors":    func(d *dsl.Tool) { d.Behaviors = []string{"a"} },
		"modes":        func(d *dsl.Tool) { d.Modes = []*dsl.Mode{{Name: "a", Values: []string{"b"}}} },
		"other modes":  func(d *dsl.Tool) { d.Modes = []*dsl.Mode{{Name: "a"}, {Name: "b"}} },
		"limits":       func(d *dsl.Tool) { d.Limits.Memory = 1 },
		"consent":      func(d *dsl.Tool) { d.Consent = &dsl.Consent{Ask: "always"} },
		"max_for":      func(d *dsl.Tool) { d.Consent = &dsl.Consent{Ask: "always", MaxFor: 1} },
		"rules":        func(d *dsl.Tool) { d.Rules = &dsl.Rules{MaxCalls: 1} },
		"heartbeat":    func(d *dsl.Tool) { d.Heartbeat = true },
		"undo":         func(d *dsl.Tool) { d.Undo = &dsl.Undo{TTL: 1} },
	} {
		f := declare()
		change(f.Tools[0])
		p, err := ir.Build(f)
		require.NoError(t, err)
		pin := p.Tools[0].Pin
		require.Len(t, pin, 64)
		require.NotContains(t, pins, pin, "%s", name)
		pins[pin] = name
	}
}

func TestHeartbeat(t *testing.T) {
	f := declare(property("x", dsl.Schema{Type: dsl.TypeString}))
	f.Tools[0].Heartbeat = true
	p, err := ir.Build(f)
	require.NoError(t, err)
	require.Contains(t, string(p.Tools[0].InputSchema), "request_heartbeat")
	require.Len(t, p.Tools[0].Input.Fields, 1, "the runtime takes it out before decoding")

	f = declare()
	f.Tools[0].Heartbeat = true
	p, err = ir.Build(f)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(p.Tools[0].InputSchema), "request_heartbeat"))
}

// Every fault of a pattern comes with what to write instead.
func TestPatternHints(t *testing.T) {
	for _, pattern := range []string{
		"(?=a)*", strings.Repeat("(?<!a)", 101), "(?=a", `(?!(a)\1)`, `(a)\1`, "(?i)a", "[", "[]", "a{2000}", "[b-a]", `\y`, `\p{Foo}`, "(", "a)", "*", "a**",
		`\p{L`, "(?P<x>a)", `\u12`, `[\`, `\`, `\k<x>`,
	} {
		fault, hint := ir.PatternFault(pattern)
		require.NotEmpty(t, fault, pattern)
		require.NotEmpty(t, hint, pattern)
		require.NotContains(t, hint, "ECMA-262", pattern)
	}
	for _, pattern := range []string{"^a*$", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b"} {
		fault, _ := ir.PatternFault(pattern)
		require.Empty(t, fault)
	}
}
