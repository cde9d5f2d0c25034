package schema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// maxSize bounds the bytes of a value that is checked.
const maxSize = 16 << 20

// Violations reads a JSON text by the schema as a call reads its arguments.
func (s Schema) Violations(text []byte) []wire.Violation {
	var r wire.Reader
	r.Reset(text, wire.Limits{Size: maxSize})
	readValue(&r, new(unread), &s)
	return r.Finish()
}

// unread stands for values that are read to be checked.
type unread struct{}

// readValue reads a value by its schema, as generated code does.
func readValue(r *wire.Reader, _ *unread, s *Schema) {
	of := s.Resolve()
	if types, ok := of.Node["type"].([]any); ok && len(types) == 2 && slices.Contains(types, any("null")) {
		var null wire.Null[unread]
		one := Schema{of.Root, withType(of.Node, types[0])}
		wire.ReadNull(r, &null, readValue, &one)
		return
	}
	if tag, values := of.tag(); tag != "" {
		value := wire.ReadTag(r, &wire.UnionRule{Tag: tag, Values: values})
		if i := slices.Index(values, value); i >= 0 {
			readValue(r, new(unread), &of.Branches()[i])
		}
		return
	}
	switch of.Node["type"] {
	case "string":
		wire.ReadString(r, new(string), of.stringRule())
	case "integer":
		wire.ReadInt(r, new(int64), of.intRule())
	case "number":
		wire.ReadFloat(r, new(float64), of.numberRule())
	case "boolean":
		wire.ReadBool(r, new(bool), of.boolRule())
	case "object":
		wire.ReadStruct(r, of, of.objectRule())
	case "array":
		of.readArray(r)
	default:
		wire.ReadRaw(r, new(wire.Raw), nil)
	}
}

// withType returns a schema of one of its types.
func withType(node map[string]any, one any) map[string]any {
	out := maps.Clone(node)
	out["type"] = one
	return out
}

// ReadMember reads a member of an object.
func (s Schema) ReadMember(r *wire.Reader, name string) {
	if m, _, ok, _ := s.Member(name); ok {
		readValue(r, new(unread), &m)
		return
	}
	extra := s.child(s.Node["additionalProperties"])
	readValue(r, new(unread), &extra)
}

// ReadItem reads an element of a tuple.
func (s Schema) ReadItem(r *wire.Reader, i int) {
	prefix, _ := s.Node["prefixItems"].([]any)
	item := s.child(prefix[i])
	readValue(r, new(unread), &item)
}

// readArray reads an array or a tuple.
func (s Schema) readArray(r *wire.Reader) {
	rule := &wire.ArrayRule{Unique: s.Node["uniqueItems"] == true}
	rule.Has, rule.Min, rule.Max = s.counts("Items")
	prefix, ok := s.Node["prefixItems"].([]any)
	least, _ := s.Node["minItems"].(json.Number)
	switch closed := s.Node["items"] == false; {
	case ok && closed && least.String() == strconv.Itoa(len(prefix)):
		wire.ReadTuple(r, s, rule, len(prefix))
		return
	case ok: // the elements differ
		wire.ReadArray(r, new([]wire.Raw), rule, wire.ReadRaw, nil)
		return
	}
	item := s.child(s.Node["items"])
	wire.ReadArray(r, new([]unread), rule, readValue, &item)
}

// objectRule returns what the schema says of an object.
func (s Schema) objectRule() *wire.ObjectRule {
	rule := &wire.ObjectRule{Open: s.Node["additionalProperties"] != false}
	rule.Has, rule.Min, rule.Max = s.counts("Properties")
	required, _ := s.Node["required"].([]any)
	for _, name := range required {
		if text, ok := name.(string); ok {
			rule.Names = append(rule.Names, text)
		}
	}
	rule.Required = len(rule.Names)
	for _, name := range slices.Sorted(slices.Values(s.Names())) {
		if !s.Requires(name) {
			rule.Names = append(rule.Names, name)
		}
	}
	return rule
}

// stringRule returns what the schema says of a string.
func (s Schema) stringRule() *wire.StringRule {
	rule := &wire.StringRule{}
	rule.Has, rule.Min, rule.Max = s.counts("Length")
	if text, ok := s.Node["pattern"].(string); ok {
		if p, err := wire.CompilePattern(text); err == nil {
			p.Source = text
			rule.Pattern = p
		}
	}
	if name, ok := s.Node["format"].(string); ok {
		rule.Format, _ = wire.ParseFormat(name)
	}
	for _, v := range s.Values() {
		if text, ok := v.(string); ok {
			rule.Enum = append(rule.Enum, text)
		}
	}
	return rule
}

// boolRule returns what the schema says of a boolean.
func (s Schema) boolRule() *wire.BoolRule {
	rule := &wire.BoolRule{}
	for _, v := range s.Values() {
		if b, ok := v.(bool); ok {
			rule.Enum = append(rule.Enum, b)
		}
	}
	return rule
}

// intRule returns what the schema says of an integer.
func (s Schema) intRule() *wire.IntRule {
	rule := &wire.IntRule{}
	one := big.NewInt(1)
	if lo, exclusive := s.bound("minimum", "exclusiveMinimum", 1); lo != nil {
		n := new(big.Int).Div(lo.Num(), lo.Denom()) // the next lower
		if !lo.IsInt() || exclusive {
			n.Add(n, one)
		}
		if n.IsInt64() {
			rule.Has, rule.Min = rule.Has|wire.Min, n.Int64()
		}
	}
	if hi, exclusive := s.bound("maximum", "exclusiveMaximum", -1); hi != nil {
		n := new(big.Int).Div(hi.Num(), hi.Denom())
		if hi.IsInt() && exclusive {
			n.Sub(n, one)
		}
		if n.IsInt64() {
			rule.Has, rule.Max = rule.Has|wire.Max, n.Int64()
		}
	}
	if m := s.number("multipleOf"); m != nil && m.Num().IsInt64() {
		rule.MultipleOf = m.Num().Int64() // a multiple of p/q in lowest terms is one of p
	}
	for _, v := range s.Values() {
		if n, ok := v.(json.Number); ok {
			if d, ok := new(big.Rat).SetString(n.String()); ok && d.IsInt() && d.Num().IsInt64() {
				rule.Enum = append(rule.Enum, d.Num().Int64())
			}
		}
	}
	return rule
}

// numberRule returns what the schema says of a number.
func (s Schema) numberRule() *wire.NumberRule {
	rule := &wire.NumberRule{}
	if lo, exclusive := s.bound("minimum", "exclusiveMinimum", 1); lo != nil {
		rule.Has |= wire.Min
		if exclusive {
			rule.Has |= wire.ExclusiveMin
		}
		rule.Min, _ = lo.Float64()
		rule.MinText = literal(s.Node, lo, "minimum", "exclusiveMinimum")
	}
	if hi, exclusive := s.bound("maximum", "exclusiveMaximum", -1); hi != nil {
		rule.Has |= wire.Max
		if exclusive {
			rule.Has |= wire.ExclusiveMax
		}
		rule.Max, _ = hi.Float64()
		rule.MaxText = literal(s.Node, hi, "maximum", "exclusiveMaximum")
	}
	if n, ok := s.Node["multipleOf"].(json.Number); ok {
		rule.MultipleOf = n.String()
	}
	for _, v := range s.Values() {
		if n, ok := v.(json.Number); ok {
			if f, err := n.Float64(); err == nil {
				rule.Enum = append(rule.Enum, f)
			}
		}
	}
	return rule
}

// literal is how the schema writes a bound, of which a float64 may be another number.
func literal(node map[string]any, bound *big.Rat, keywords ...string) string {
	for _, keyword := range keywords {
		if n, ok := node[keyword].(json.Number); ok {
			if d, ok := new(big.Rat).SetString(n.String()); ok && d.Cmp(bound) == 0 {
				return n.String()
			}
		}
	}
	return ""
}

// bound returns the narrower of an inclusive and an exclusive bound; side is 1
// when the higher one is.
func (s Schema) bound(inclusive, exclusive string, side int) (bound *big.Rat, isExclusive bool) {
	in, ex := s.number(inclusive), s.number(exclusive)
	if ex != nil && (in == nil || ex.Cmp(in)*side >= 0) {
		return ex, true
	}
	return in, false
}

// number returns a number of the schema, nil when there is none.
func (s Schema) number(keyword string) *big.Rat {
	n, ok := s.Node[keyword].(json.Number)
	if !ok {
		return nil
	}
	d, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil
	}
	return d
}

// counts returns the bounds of a length or of a number of entries.
func (s Schema) counts(of string) (has wire.Bounds, lo, hi int) {
	read := func(keyword string, bound wire.Bounds, to *int) {
		n, ok := s.Node[keyword].(json.Number)
		if !ok {
			return
		}
		if i, err := strconv.Atoi(n.String()); err == nil {
			has, *to = has|bound, i
		}
	}
	read("min"+of, wire.Min, &lo)
	read("max"+of, wire.Max, &hi)
	return has, lo, hi
}
