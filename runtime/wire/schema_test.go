package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
