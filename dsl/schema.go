package dsl

// A Type is a JSON Schema type name. Null never stands here: see Schema.Nullable.
type Type string

// The types that a schema may name.
const (
	TypeObject  Type = "object"
	TypeArray   Type = "array"
	TypeString  Type = "string"
	TypeInteger Type = "integer"
	TypeNumber  Type = "number"
	TypeBoolean Type = "boolean"
)

// A Schema is a JSON Schema (draft 2020-12) as declared, with the order and the
// place of everything. Exactly one of Type, Ref, OneOf, OrNull, Any and Checked is set.
type Schema struct {
	Pos         Pos
	Keys        map[string]Pos // where each keyword stands
	Title       string
	Description string
	Deprecated  bool
	Sensitive   bool // x-sensitive
	Examples    []*Value

	// Any is set where a schema says nothing of the value.
	Any bool
	// Checked is set where no Go type says what the values are: Source does. An object
	// inside it is open unless it says otherwise, as in JSON Schema.
	Checked bool
	// Composed is set where Source says more of an object than its properties do.
	Composed bool
	Source   *Value    // of a checked or composed schema: all of it
	Document *Document // what Source is a part of
	// OrNull is what a value is that is not null, where Union has two branches and the
	// other is null: the first of them with NullFirst.
	OrNull    *Schema
	NullFirst bool
	// Union is the keyword of OrNull and of branches by type: anyOf, oneOf, or type for a
	// list of types. NullAt is the place of null among branches by type that are Nullable.
	Union  string
	NullAt int
	// Notes are the annotations that have no field: $comment, readOnly and the like.
	Notes []*ValueMember

	Type     Type
	Nullable bool // type: [T, "null"]
	Ref      string
	// Target is what Ref names, resolved: an entry of File.Types or of a $defs.
	Target *NamedSchema
	// OneOf are the branches of a union: of one that Tag tells apart, or with ByType of
	// one whose branches have a type each.
	OneOf  []*Schema
	ByType bool
	// Tag is the member whose const tells the branches of OneOf apart.
	Tag string

	Defs       []*NamedSchema
	Properties []*Property
	Required   []string
	// Additional is the schema of undeclared members; nil with Closed false
	// means that any value is allowed. Objects are Closed unless they say otherwise.
	Closed     bool
	Additional *Schema

	Items       *Schema
	PrefixItems []*Schema // a tuple; items: false is required beside it

	// Enum never holds null: a Nullable schema allows it anyway (its published
	// form must list null).
	Enum    []*Value
	Const   *Value
	Default *Value

	// Numeric bounds as exact decimal literals; empty when absent.
	Minimum, Maximum, ExclusiveMinimum, ExclusiveMaximum, MultipleOf string
	// Counts; nil when absent.
	MinLength, MaxLength, MinItems, MaxItems, MinProperties, MaxProperties *int
	UniqueItems                                                            bool
	Pattern                                                                string // ECMA-262; empty when absent
	Format                                                                 string
}

// A Document is the text of a schema with all that it holds: an entry of types, an input,
// an output or a state. References inside checked schemas lead to its parts.
type Document struct {
	Root *Value
	Type string // the entry of types; empty for the others
}

// A Property is a named member of an object schema.
type Property struct {
	Name   string
	Pos    Pos // of the name
	Schema *Schema
}

// A ValueKind tells what a Value is.
type ValueKind uint8

// The kinds of a Value.
const (
	ValueNull ValueKind = iota
	ValueBool
	ValueNumber
	ValueString
	ValueArray
	ValueObject
)

// A Value is a JSON value written in the declaration.
type Value struct {
	Pos     Pos
	Kind    ValueKind
	Bool    bool
	Text    string // the string, or the exact JSON number literal
	Items   []*Value
	Members []*ValueMember

	refused bool // reported already: checks pass over it
}

// A ValueMember is one member of an object Value.
type ValueMember struct {
	Name  string
	Value *Value
}
