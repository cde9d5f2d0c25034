package wire_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// messageSchema has a union of types, members of any value, and one that is checked.
const messageSchema = `{
	"type": "object",
	"properties": {
		"to": {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 200}, {"type": "array", "items": {"type": "string", "maxLength": 200}, "maxItems": 20}]},
		"filter": true,
		"meta": {"type": "object", "additionalProperties": true},
		"shape": ` + shapeSchema + `
	},
	"required": ["to", "filter"],
	"additionalProperties": false
}`

const shapeSchema = `{
	"anyOf": [
		{"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number", "minimum": 0}}, "required": ["kind", "r"]},
		{"type": "object", "properties": {"kind": {"const": "box"}, "w": {"type": "number", "minimum": 0}, "h": {"type": "number", "minimum": 0}}, "required": ["kind", "w", "h"]},
		{"type": "array", "items": {"type": "number"}, "minItems": 2}
	],
	"not": {"required": ["id"]}
}`

const (
	union   = `{"to": ["ida@example.com", "ole@example.com"], "filter": true}`
	anyVals = `{"to": "ida@example.com", "filter": {"since": "2026-01-02", "tags": ["a", "b"], "size": [1, 2.5, 1e3], "trace": {"id": 17, "on": true}}}`
	anyMap  = `{"to": "ida@example.com", "filter": null, "meta": {"trace": {"id": 17, "on": true}, "note": null}}`
	shape   = `{"kind": "box", "w": 2.5, "h": 4}`
)

// A message is what the generator makes of messageSchema.
type message struct {
	To     messageTo                     // Whom.
	Filter wire.Raw                      // Any.
	Meta   wire.Opt[map[string]wire.Raw] // More.
	Shape  wire.Opt[wire.Raw]            // A shape.
}

var (
	messageRule   = wire.ObjectRule{Names: []string{"to", "filter", "meta", "shape"}, Required: 2}
	messageToRule = wire.UnionRule{Types: wire.TypeString | wire.TypeArray}
	messageMeta   = wire.ObjectRule{Open: true}
	messageShape  = wire.RawRule{Schema: &wire.Schema{Nodes: []wire.Node{
		{Any: []int{2, 5, 9}, Not: 11},
		{Types: wire.TypeObject, Required: []string{"kind", "r"}, Properties: []wire.Part{{Name: "kind", Node: 3}, {Name: "r", Node: 4}}},
		{Enum: []string{`"circle"`}, Const: true},
		{Types: wire.TypeNumber, Minimum: "0"},
		{
			Types:      wire.TypeObject,
			Required:   []string{"kind", "w", "h"},
			Properties: []wire.Part{{Name: "kind", Node: 6}, {Name: "w", Node: 7}, {Name: "h", Node: 8}},
		},
		{Enum: []string{`"box"`}, Const: true},
		{Types: wire.TypeNumber, Minimum: "0"},
		{Types: wire.TypeNumber, Minimum: "0"},
		{Types: wire.TypeArray, Items: wire.Range{Has: wire.Min, Min: 2}, Rest: 10},
		{Types: wire.TypeNumber},
		{Required: []string{"id"}},
	}}}
)

// ReadMember reads one member of v.
func (v *message) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "to":
		readMessageTo(r, &v.To, &messageToRule)
	case "filter":
		wire.ReadRaw(r, &v.Filter, nil)
	case "meta":
		wire.ReadMap(r, v.Meta.Put(), &messageMeta, wire.ReadRaw, nil)
	case "shape":
		wire.ReadRaw(r, v.Shape.Put(), &messageShape)
	}
}

// Walk visits v in declaration order.
func (v *message) Walk(w wire.Visitor) {
	wire.BeginObject(w, &messageRule)
	wire.Member(w, "to", &v.To, wire.WalkUnion, &messageToRule)
	wire.Member(w, "filter", &v.Filter, wire.WalkRaw, nil)
	wire.OptMember(w, "meta", &v.Meta, walkRawMap, &messageMeta)
	wire.OptMember(w, "shape", &v.Shape, wire.WalkRaw, &messageShape)
	wire.End(w)
}

func walkRawMap(w wire.Visitor, p *map[string]wire.Raw, rule *wire.ObjectRule) {
	wire.WalkMap(w, p, rule, wire.WalkRaw, nil)
}

// messageTo is the member to of message.
type messageTo interface {
	wire.Value
	isMessageTo()
}

func (*messageToString) isMessageTo() {}
func (*messageToArray) isMessageTo()  {}

func readMessageTo(r *wire.Reader, p *messageTo, rule *wire.UnionRule) {
	switch wire.ReadType(r, rule) {
	case wire.TypeString:
		v := new(messageToString)
		wire.ReadString(r, &v.V, &messageToStringRule)
		*p = v
	case wire.TypeArray:
		v := new(messageToArray)
		wire.ReadArray(r, &v.V, &messageToArrayRule, wire.ReadString, &messageToArrayItem)
		*p = v
	}
}

// messageToString is the string of messageTo.
type messageToString struct {
	V string
}

var messageToStringRule = wire.StringRule{Has: wire.Min | wire.Max, Min: 1, Max: 200}

// Walk visits v.
func (v *messageToString) Walk(w wire.Visitor) {
	wire.WalkString(w, &v.V, &messageToStringRule)
}

// messageToArray is the array of messageTo.
type messageToArray struct {
	V []string
}

var (
	messageToArrayRule = wire.ArrayRule{Has: wire.Max, Max: 20}
	messageToArrayItem = wire.StringRule{Has: wire.Max, Max: 200}
)

// Walk visits v.
func (v *messageToArray) Walk(w wire.Visitor) {
	walkMessageToArrayV(w, &v.V, &messageToArrayRule)
}

func walkMessageToArrayV(w wire.Visitor, p *[]string, rule *wire.ArrayRule) {
	wire.WalkArray(w, p, rule, wire.WalkString, &messageToArrayItem)
}

// other is a schema by another validator.
func other(t testing.TB, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(schema)))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// TestOtherAgrees: what the benchmark compares has the same verdicts.
func TestOtherAgrees(t *testing.T) {
	s := other(t, messageSchema)
	for _, text := range []string{
		union, anyVals, anyMap, `{"to":1,"filter":1}`, `{"to":"","filter":1}`, `{"to":["a"]}`,
		`{"to":"a","filter":1,"shape":` + shape + `}`, `{"to":"a","filter":1,"shape":{"kind":"box","w":2}}`, `{"to":"a","filter":1,"shape":{"kind":"circle","r":2,"id":1}}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
		require.NoError(t, err)
		_, bad := wire.Decode[message]([]byte(text), wire.Limits{}, &messageRule)
		require.Equal(t, s.Validate(doc) == nil, bad == nil, "%s: %v", text, bad)
	}
}

// A plainMessage is what encoding/json makes of a message that another validator has checked.
type plainMessage struct {
	To     any                        `json:"to"`
	Filter json.RawMessage            `json:"filter"`
	Meta   map[string]json.RawMessage `json:"meta"`
	Shape  json.RawMessage            `json:"shape"`
}

// BenchmarkChecked compares with another validator, in turns: from bytes to a checked value of
// Go, and a checked node on a value that is decoded. The first ratio, of the least times, is to
// what the documentation of the other one does, and Unmarshal into a struct. The second
// leaves out the struct, and the exact numbers.
func BenchmarkChecked(b *testing.B) {
	whole, node := other(b, messageSchema), other(b, shapeSchema)
	for name, text := range map[string][]byte{"union": []byte(union), "any": []byte(anyVals), "map": []byte(anyMap)} {
		b.Run(name, func(b *testing.B) {
			compare(b, func() {
				if _, bad := wire.Decode[message](text, wire.Limits{}, &messageRule); bad != nil {
					b.Fatal(bad)
				}
			}, func() {
				doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
				var m plainMessage
				if err != nil || whole.Validate(doc) != nil || json.Unmarshal(text, &m) != nil {
					b.Fatal("refused")
				}
			}, func() {
				var doc any
				if json.Unmarshal(text, &doc) != nil || whole.Validate(doc) != nil {
					b.Fatal("refused")
				}
			})
		})
	}
	b.Run("node", func(b *testing.B) {
		var doc any
		if err := json.Unmarshal([]byte(shape), &doc); err != nil {
			b.Fatal(err)
		}
		fits := messageShape.Schema.(*wire.Schema).Decoded([]byte(shape))
		compare(b, func() {
			if !fits() {
				b.Fatal("refused")
			}
		}, func() {
			if node.Validate(doc) != nil {
				b.Fatal("refused")
			}
		})
	})
}

// compare reports how many times faster ours is than each of the others.
func compare(b *testing.B, ours func(), others ...func()) {
	const batch = 50
	times := make([][]time.Duration, 1+len(others))
	for b.Loop() {
		for i, f := range append([]func(){ours}, others...) {
			start := time.Now()
			for range batch {
				f()
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	least := float64(slices.Min(times[0]))
	b.ReportMetric(least/batch, "least-ns")
	for i, unit := range []string{"times", "times-without-both"}[:len(others)] {
		b.ReportMetric(float64(slices.Min(times[1+i]))/least, unit)
	}
}
