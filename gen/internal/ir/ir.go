package ir

import (
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/command/argv"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Package is everything that one declaration file becomes.
type Package struct {
	Name   string // of the Go package
	Source string // base name of the declaration file
	Tools  []*Tool
	// Types are the declared Go types, each once: those of types first, then
	// each tool's, every type before the types that only it uses.
	Types []*Type
	// Rules are the rule tables of shared schemas that have no Go type of
	// their own. The table of a schema that has one is with its Type.
	Rules    []*Rule
	Patterns []*Pattern
	Reasons  []*Reason
	SetRules *Literal // a runtime.Rules; nil when the file declares none
	SetVar   string   // setRules: the variable that holds SetRules
	UsesTime bool     // some Literal has a Unit
	Declared []byte   // policy/ambit_gen/data.json
	Schemas  []byte   // policy/ambit_gen/schemas.json: input and output of every tool as they are published
	Envelope []byte   // policy/ambit_gen/ambit.schema.json: the input of any tool, its arguments unknown

	file  *dsl.File
	named map[*dsl.NamedSchema]*Type // what declared schemas became
}

// A Tool is one declared tool.
type Tool struct {
	Decl    *dsl.Tool
	GoName  string   // FileRead: the name of its method, the start of its other names
	Doc     Doc      // the comment of its method
	Const   string   // FileReadName: the constant that holds the tool's name
	SpecVar string   // fileReadSpec
	Spec    *Literal // a runtime.Spec
	Hooks   []*Hook
	Command *Command // what it runs; nil: it has a method of Handler

	Input, Output *Type // KindStruct
	State         *Type // what undo remembers, KindStruct; nil when the tool has no undo

	// Pin is the SHA-256 of the whole declaration, in hexadecimal.
	Pin string
	// The published JSON Schemas (2020-12). StateSchema is nil when State is.
	InputSchema, OutputSchema, StateSchema []byte
	// PolicySchema describes the input document of the tool's policies.
	PolicySchema []byte
	Embeds       []*Embed
}

// A Doc is a comment.
type Doc struct {
	Text []string // a paragraph each, or more where it has line breaks; to be read as text only
	// Deprecated is what stands in the notice that the tools of Go act on;
	// empty for what is not deprecated.
	Deprecated string
}

// A Hook is a further method of Handler that a tool's declaration asks for.
type Hook struct {
	GoName string // PreviewFileWrite
	Kind   HookKind
	Doc    Doc
}

// A HookKind says which method a Hook is.
type HookKind uint8

// The hooks of a tool.
const (
	HookPreview   HookKind = iota + 1 // consent.preview
	HookPrepare                       // undo: what undo will need
	HookUndo                          // undo
	HookReconcile                     // reconcile
)

// An Embed is a schema file that the generated package embeds.
type Embed struct {
	Var  string // fileReadInputSchema
	File string // schemas/file_read.input.json
}

// A Reason is a denial code as a Go constant.
type Reason struct {
	GoName string // ReasonOutsideDocs
	Code   string
	Doc    Doc
}

// A Pattern is a compiled pattern that all rules with the same source share.
type Pattern struct {
	Var     string // patternPath
	Source  string
	Pattern *wire.Pattern
}

// A Kind says what a Type is in Go and which functions of package wire read
// and walk it.
type Kind uint8

// The kinds of a Type.
const (
	KindInvalid Kind = iota
	KindString       // string
	KindEnum         // a named string type with constants
	KindFixed        // a required const string: checked, but no field
	KindInt          // int64
	KindIntEnum      // a named int64 type with constants
	KindFloat        // float64
	KindBool         // bool
	KindRaw          // wire.Raw: any JSON value
	KindStruct       // a named struct
	KindTuple        // a named struct with the fields V0, V1, ...
	KindArray        // []Elem
	KindMap          // map[string]Elem
	KindNull         // wire.Null[Elem]
	KindPointer      // *Elem, where a struct would hold itself
	KindUnion        // a named interface that the variants' pointers implement
	KindBox          // a named struct with the field V: a variant of a union that is told apart by types
)

// A Type is one schema node as Go sees it. Nodes that refer to the same
// declared schema share one Type.
type Type struct {
	Kind Kind
	// Name is the Go name of an enum, struct, tuple or union; otherwise empty.
	Name string
	Doc  Doc
	// Rule is what the schema says of the value; nil when it says nothing.
	// Null and Pointer have none: see [Type.Check].
	Rule *Rule
	Elem *Type // of an array, map, null or pointer

	Fields     []*Field // of a struct, in declaration order
	Beside     bool     // the comments of the fields stand on their lines
	Items      []*Type  // of a tuple
	Extra      *Type    // of the undeclared members of an open struct; nil when it is closed
	ExtraName  string   // Go name of the field that holds them
	Variants   []*Variant
	Enum       []*EnumValue
	Implements []string // names of the unions that a struct is a variant of

	// Read and Walk name the generated function that reads or walks a value of
	// a type for which no function of package wire will do alone; empty
	// when none is needed.
	Read, Walk string

	// Rules are the rule tables that the declaration of a struct, tuple or
	// union brings with it: its own and those of what is declared inside it.
	// Helpers are the types whose Read or Walk functions it brings.
	Rules   []*Rule
	Helpers []*Type

	Schema *dsl.Schema // where it comes from; nil for the made-up

	base    string // what Read and Walk are named after
	unnamed int    // how deep arrays and maps are nested in it
}

// Check is the rule that reads and walks of t are given: its own, or for a
// null or a pointer that of the value inside.
func (t *Type) Check() *Rule {
	for t.Kind == KindNull || t.Kind == KindPointer {
		t = t.Elem
	}
	return t.Rule
}

// Base is t, or what is inside when t is a null or a pointer.
func (t *Type) Base() *Type {
	for t.Kind == KindNull || t.Kind == KindPointer {
		t = t.Elem
	}
	return t
}

// Nullable reports whether null is a value of t.
func (t *Type) Nullable() bool {
	for ; t.Kind == KindPointer; t = t.Elem {
	}
	return t.Kind == KindNull
}

// A Presence says how a member that may be absent shows in Go.
type Presence uint8

// The presences of a Field.
const (
	Required  Presence = iota + 1 // a plain field
	Defaulted                     // a plain field: ObjectRule.Defaults stands in
	Optional                      // wire.Opt, or a pointer: see [Field.Pointer]
)

// A Field is a declared member of an object.
type Field struct {
	Name     string // of the member
	GoName   string // empty for KindFixed
	Doc      Doc
	Type     *Type
	Presence Presence
	Schema   *dsl.Schema
}

// Pointer reports whether the field is a pointer, nil when the member is
// absent: so is a member that is a struct and may be absent.
func (f *Field) Pointer() bool { return f.Presence == Optional && f.Type.Kind == KindStruct }

// Default is the value that stands in when the member is absent; nil for none.
func (f *Field) Default() *dsl.Value {
	for s := f.Schema; ; s = s.Target.Schema {
		if s.Default != nil || s.Ref == "" || s.Target == nil {
			return s.Default
		}
	}
}

// A Variant is a branch of a union.
type Variant struct {
	Tag  string     // the value of the discriminating member; empty where JSON tells
	JSON wire.Types // the one type that its values have; 0 where Tag tells
	Type *Type      // KindStruct, or KindBox where JSON tells
}

// An EnumValue is a constant of an enum.
type EnumValue struct {
	GoName string
	Text   string // of a KindEnum
	Int    int64  // of a KindIntEnum
}

// A Rule is a rule table of the generated code. Exactly one of the pointers is
// set; Pattern is the shared pattern that String names.
type Rule struct {
	Var     string // Go name of the variable
	String  *wire.StringRule
	Int     *wire.IntRule
	Number  *wire.NumberRule
	Bool    *wire.BoolRule
	Raw     *wire.RawRule
	Array   *wire.ArrayRule
	Object  *wire.ObjectRule
	Union   *wire.UnionRule
	Pattern *Pattern
	// Patterns are those that the nodes of a [wire.Schema] name.
	Patterns []*Pattern
}

// Schema is the table of a rule that has one, or nil.
func (r *Rule) Schema() *wire.Schema {
	var check wire.Check
	switch {
	case r.Raw != nil:
		check = r.Raw.Schema
	case r.Object != nil:
		check = r.Object.Schema
	}
	schema, _ := check.(*wire.Schema)
	return schema
}

// A Literal is a Go value as it stands in generated code. Exactly one form is used.
type Literal struct {
	Type   string // composite: a type of package runtime, Spec
	Ptr    bool   // composite or Ident: its address
	Fields []*LiteralField
	Elems  []*Literal // with Type: a slice of it; ElemString for strings
	Slice  bool

	String *string
	Int    *int64
	Shift  int    // with Int: Int << Shift
	Bool   bool   // true
	Const  string // a constant of package runtime
	Ident  string // a name of the generated package
	Count  int64  // with Unit: Count * time.Unit
	Unit   string
}

// A LiteralField is one field of a composite Literal.
type LiteralField struct {
	Name  string
	Value *Literal
}

// A Command is what a tool runs in place of a method of Handler.
type Command struct {
	Func     string // gitDiffArgv: the function from the input to the arguments
	Elements []*Element
	Template argv.Template // the same, for members by their names

	Stdin     *Field // what the process reads; nil: nothing
	StdinFunc string // textFindStdin
}

// An Element is a part of the arguments. Exactly one of Literal, Parts, Each and When is set.
type Element struct {
	Literal string
	Parts   []Part // of one argument, which there is only when all members are present
	Each    *Field // one argument for each of its elements
	When    *Field // adds Add where it is true
	Add     string
}

// A Part is literal text, or the value of a member.
type Part struct {
	Literal string
	Field   *Field
}
