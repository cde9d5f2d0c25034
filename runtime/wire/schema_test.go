package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// SEMANTICS 7.6.2
func TestSchemaSays(t *testing.T) {
	s := &Schema{Nodes: []Node{
		{Types: TypeObject, Properties: []Part{{"a", 2}, {"b", 3}}, Additional: 4, Required: []string{"a"}},
		{Any: []int{5, 6}},
		{Enum: []string{`1`, `"x"`, `{"k":[1]}`}},
		{Never: true},
		{Types: TypeString, Length: Range{Has: Min, Min: 2}},
		{Types: TypeArray, Rest: 5},
	}}
	for text, want := range map[string][]string{
		`{"a":"xy"}`:          nil,
		`{"a":["xy"]}`:        nil,
		`{"a":"xy","b":1.0}`:  nil,
		`{"b":{"k":[1e0]}}`:   {`/r/a: required: want a member "a", have nothing`},
		`{"a":"x"}`:           {`/r/a: anyOf: want array; or at least 2 characters, have "x"`},
		`{"a":["x"]}`:         {`/r/a: anyOf: want string; or in an item at least 2 characters, have array`},
		`{"a":"xy","b":2}`:    {`/r/b: enum: want one of 1, "x", {"k":[1]}, have 2`},
		`{"a":"xy","c":1}`:    {`/r/c: additionalProperties: want only "a", "b", have "c"`},
		`{"a":"xy","a":"xy"}`: {`/r/a: duplicate: want every member once, have "a" again`},
		`3`:                   {`/r: type: want object, have number`},
	} {
		var r Reader
		r.Reset([]byte(`{"r":`+text+`}`), Limits{})
		m := map[string]Raw{}
		ReadMap(&r, &m, nil, ReadRaw, &RawRule{Schema: s})
		assert.Equal(t, want, lines(r.Finish()), text)

		raw := Raw(text)
		_, bad := Append(nil, inMember{raw, &RawRule{Schema: s}})
		if len(want) != 1 || !assert.ObjectsAreEqual(`/r/a: duplicate: want every member once, have "a" again`, want[0]) {
			assert.Equal(t, want, lines(bad), text)
		}
	}
}

// inMember is a Raw in a member.
type inMember struct {
	raw  Raw
	rule *RawRule
}

func (v inMember) Walk(w Visitor) {
	BeginObject(w, nil)
	Member(w, "r", &v.raw, WalkRaw, v.rule)
	End(w)
}

func lines(all []Violation) (out []string) {
	for _, v := range all {
		out = append(out, v.String())
	}
	return out
}

// TestMapAsAWhole: what a rule says of a map as a whole is checked by the reader and by the writer,
// where nothing was wrong with its members.
func TestMapAsAWhole(t *testing.T) {
	rule := &ObjectRule{Open: true, Has: Max, Max: 2, Schema: &Schema{Nodes: []Node{{Required: []string{"a"}}}}}
	for text, want := range map[string][]string{
		`{"a":1,"b":2}`:       nil,
		`{"b":2}`:             {`/r/a: required: want a member "a", have nothing`},
		`{"b":2,"b":3}`:       {`/r/b: duplicate: want every member once, have "b" again`},
		`{"b":2,"c":3,"d":4}`: {`/r: maxProperties: want at most 2 members, have 3`},
	} {
		var r Reader
		r.Reset([]byte(`{"r":`+text+`}`), Limits{})
		m := map[string]map[string]Raw{}
		ReadMap(&r, &m, nil, func(r *Reader, p *map[string]Raw, rule *ObjectRule) { ReadMap(r, p, rule, ReadRaw, nil) }, rule)
		assert.Equal(t, want, lines(r.Finish()), text)
	}
	_, bad := Append(nil, mapOfRaw{"b": Raw("1")})
	assert.Equal(t, []string{`/a: required: want a member "a", have nothing`}, lines(bad))
	_, bad = Append(nil, mapOfRaw{"a": Raw("1")})
	assert.Empty(t, bad)
}

// mapOfRaw is a map that has to have a member a.
type mapOfRaw map[string]Raw

func (m mapOfRaw) Walk(w Visitor) {
	p := map[string]Raw(m)
	WalkMap(w, &p, &ObjectRule{Open: true, Schema: &Schema{Nodes: []Node{{Required: []string{"a"}}}}}, WalkRaw, nil)
}
