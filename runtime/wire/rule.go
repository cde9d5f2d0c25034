package wire

// Bounds says which limits of a rule are set. The zero value sets none.
type Bounds uint8

// The limits of a rule that may be set.
const (
	Min          Bounds = 1 << iota // Min holds
	Max                             // Max holds
	ExclusiveMin                    // Min itself is outside
	ExclusiveMax                    // Max itself is outside
)

// A StringRule is what a schema says of a string. A nil rule allows every string.
type StringRule struct {
	Has       Bounds
	Min, Max  int      // length in code points
	Pattern   *Pattern // nil: any
	Format    Format   // zero: any
	Enum      []string // nil: any
	Const     bool     // Enum is a const: violations say so
	Sensitive bool     // x-sensitive: never in logs, events or violations
}

// An IntRule is what a schema says of an integer. A nil rule allows every int64.
type IntRule struct {
	Has        Bounds
	Min, Max   int64
	MultipleOf int64   // 0: any
	Enum       []int64 // nil: any
	Const      bool
	Sensitive  bool
}

// A NumberRule is what a schema says of a number. A nil rule allows every finite float64. Numbers are compared as
// they are written: a float64 stands for its shortest literal.
type NumberRule struct {
	Has      Bounds
	Min, Max float64
	// MinText and MaxText are the bounds as decimal literals where Min and Max are others; empty: they are the same.
	MinText, MaxText string
	MultipleOf       string    // decimal literal, judged in decimal arithmetic; empty: any
	Enum             []float64 // nil: any
	Const            bool
	Sensitive        bool
}

// A BoolRule is what a schema says of a boolean. A nil rule allows both.
type BoolRule struct {
	Enum      []bool // nil: any
	Const     bool
	Sensitive bool
}

// An ArrayRule is what a schema says of an array or of a tuple.
type ArrayRule struct {
	Has       Bounds
	Min, Max  int // number of elements
	Unique    bool
	Sensitive bool
}

// An ObjectRule is what a schema says of an object or of a map.
//
// Names lists the declared members, the required ones first; Required is how
// many of them there are. Defaults lists, in the order of Names, what stands in
// for absent members.
type ObjectRule struct {
	Names     []string
	Required  int
	Defaults  []Default
	Open      bool // other members are allowed and handed to ReadMember
	Has       Bounds
	Min, Max  int // number of members
	Sensitive bool
	Schema    Check // what else is said of the object as a whole; nil: nothing
}

// A Default is what an absent member means.
type Default struct {
	Name string // of the member
	JSON string // its value
}

// A UnionRule is what a schema says of a union whose branches are told apart by a member,
// or by their types.
type UnionRule struct {
	Tag       string   // name of the discriminating member; empty: Types tell
	Values    []string // its values, in declaration order
	Types     Types
	Sensitive bool
}

// A RawRule is what is said of a value that has no type in Go.
type RawRule struct {
	Sensitive bool
	Schema    Check // nil: any value
}

// A Check is what a schema says of a value for which Go has no type: a *[Schema].
type Check interface {
	// check notes what is wrong with the value that a valid text holds, which begins
	// at an offset.
	check(n *notes, at int, text []byte)
}
