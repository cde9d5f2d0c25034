package wire_test

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// Greeting is what a generated struct looks like.
type Greeting struct {
	Name  string
	Times wire.Opt[int64]
}

var (
	greetingRule  = wire.ObjectRule{Names: []string{"name", "times"}, Required: 1}
	greetingName  = wire.StringRule{Has: wire.Min, Min: 1}
	greetingTimes = wire.IntRule{Has: wire.Min | wire.Max, Min: 1, Max: 9}
)

// ReadMember reads one member of v.
func (v *Greeting) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "name":
		wire.ReadString(r, &v.Name, &greetingName)
	case "times":
		wire.ReadInt(r, v.Times.Put(), &greetingTimes)
	}
}

// Walk visits v in declaration order.
func (v *Greeting) Walk(w wire.Visitor) {
	wire.BeginObject(w, &greetingRule)
	wire.Member(w, "name", &v.Name, wire.WalkString, &greetingName)
	wire.OptMember(w, "times", &v.Times, wire.WalkInt, &greetingTimes)
	wire.End(w)
}

func Example() {
	for _, raw := range []string{`{"times": 2e0, "name": "Ada"}`, `{"Name": "Ada", "times": 12}`} {
		v, violations := wire.Decode[Greeting]([]byte(raw), wire.Limits{}, &greetingRule)
		for _, bad := range violations {
			fmt.Println(bad)
		}
		if violations == nil {
			text, _ := wire.Append(nil, v)
			fmt.Printf("%s %d %s\n", v.Name, v.Times.Or(1), text)
		}
	}
	// Output:
	// Ada 2 {"name":"Ada","times":2}
	// /Name: additionalProperties: want only "name", "times"; did you mean "name"?, have "Name"
	// /times: maximum: want at most 9, have 12
	// /name: required: want a member "name", have nothing
}
