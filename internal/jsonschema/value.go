package jsonschema

import (
	"iter"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Kind is the type of a JSON value.
type Kind uint8

// The kinds of a value.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// A Pos is a place in a source, counted from 1; Col counts code points.
type Pos struct{ Line, Col int }

// A Value is one JSON value. A program that changes it must not share it.
type Value struct {
	Kind    Kind
	Bool    bool
	Text    string // the string, or the digits of a number as they are written
	Items   []*Value
	Members []*Member

	// Broken: the string, or the name of a member, had half of a surrogate pair, which no text has; U+FFFD stands for it.
	Broken bool

	Pos     Pos
	Pointer string // from the value that Locate was called with, where the node comes from
	Comment string // what the writer adds behind the value, for readers
}

// A Member is one member of an object.
type Member struct {
	Name  string
	Pos   Pos // of the name
	Value *Value
	From  []*Value // the objects of the source that it was merged of, for programs that merge schemas; nil elsewhere
}

// NewString returns a string that stands where at stands.
func NewString(text string, at *Value) *Value {
	return &Value{Kind: String, Text: text, Pos: at.Pos, Pointer: at.Pointer}
}

// NewNumber returns a number that stands where at stands.
func NewNumber(text string, at *Value) *Value {
	return &Value{Kind: Number, Text: text, Pos: at.Pos, Pointer: at.Pointer}
}

// NewBool returns a boolean that stands where at stands.
func NewBool(b bool, at *Value) *Value {
	return &Value{Kind: Bool, Bool: b, Pos: at.Pos, Pointer: at.Pointer}
}

// NewArray returns an array that stands where at stands.
func NewArray(at *Value, items ...*Value) *Value {
	return &Value{Kind: Array, Items: items, Pos: at.Pos, Pointer: at.Pointer}
}

// NewObject returns an object without members that stands where at stands.
func NewObject(at *Value) *Value {
	return &Value{Kind: Object, Pos: at.Pos, Pointer: at.Pointer}
}

// Is reports whether v is there and of a kind. It may be nil.
func (v *Value) Is(k Kind) bool { return v != nil && v.Kind == k }

// IsText reports whether v is the string text. It may be nil.
func (v *Value) IsText(text string) bool { return v.Is(String) && v.Text == text }

// IsTrue reports whether v is true. It may be nil.
func (v *Value) IsTrue() bool { return v.Is(Bool) && v.Bool }

// IsFalse reports whether v is false. It may be nil.
func (v *Value) IsFalse() bool { return v.Is(Bool) && !v.Bool }

// Get returns a member of an object, nil when v has none of that name. v may be nil.
func (v *Value) Get(name string) *Value {
	if m := v.Member(name); m != nil {
		return m.Value
	}
	return nil
}

// Member is Get with the name and its place.
func (v *Value) Member(name string) *Member {
	if !v.Is(Object) {
		return nil
	}
	for _, m := range v.Members {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Has reports whether an object has a member.
func (v *Value) Has(name string) bool { return v.Member(name) != nil }

// TextOf returns the text of a member that is a string, else an empty one.
func (v *Value) TextOf(name string) string {
	if m := v.Get(name); m.Is(String) {
		return m.Text
	}
	return ""
}

// ObjectOf returns a member that is an object, else nil.
func (v *Value) ObjectOf(name string) *Value {
	if m := v.Get(name); m.Is(Object) {
		return m
	}
	return nil
}

// ListOf returns the elements of a member that is an array, else nil.
func (v *Value) ListOf(name string) []*Value {
	if m := v.Get(name); m.Is(Array) {
		return m.Items
	}
	return nil
}

// TextsOf returns the strings in a member that is an array.
func (v *Value) TextsOf(name string) []string {
	var out []string
	for _, item := range v.ListOf(name) {
		if item.Is(String) {
			out = append(out, item.Text)
		}
	}
	return out
}

// Fields returns the members of an object; none for another value. v may be nil.
func (v *Value) Fields() []*Member {
	if !v.Is(Object) {
		return nil
	}
	return v.Members
}

// Set replaces a member, or adds it as the last. An object that shares its members with v keeps the one it has.
func (v *Value) Set(name string, to *Value) {
	for i, m := range v.Members {
		if m.Name == name {
			own := *m
			own.Value = to
			v.Members[i] = &own
			return
		}
	}
	v.Members = append(v.Members, &Member{Name: name, Pos: to.Pos, Value: to})
}

// Without returns an object with the members of v but for some, at the place of v.
func (v *Value) Without(names ...string) *Value {
	out := NewObject(v)
	for _, m := range v.Members {
		if !slices.Contains(names, m.Name) {
			out.Members = append(out.Members, m)
		}
	}
	return out
}

// Rename gives a member another name in its place. Nothing has that name yet.
func (v *Value) Rename(from, to string) {
	if m := v.Member(from); m != nil {
		m.Name = to
	}
}

// Delete removes a member.
func (v *Value) Delete(name string) {
	v.Members = slices.DeleteFunc(v.Members, func(m *Member) bool { return m.Name == name })
}

// Names are the names of the members of an object, in order.
func (v *Value) Names() []string {
	if !v.Is(Object) {
		return nil
	}
	out := make([]string, len(v.Members))
	for i, m := range v.Members {
		out[i] = m.Name
	}
	return out
}

// Clone copies a value with the places that it comes from.
func (v *Value) Clone() *Value {
	if v == nil {
		return nil
	}
	out := *v
	out.Items = nil
	for _, item := range v.Items {
		out.Items = append(out.Items, item.Clone())
	}
	out.Members = nil
	for _, m := range v.Members {
		own := *m
		own.Value = m.Value.Clone()
		out.Members = append(out.Members, &own)
	}
	return &out
}

// Locate writes into every node its pointer below v.
func (v *Value) Locate() { v.locate("") }

func (v *Value) locate(at string) {
	v.Pointer = at
	for i, item := range v.Items {
		item.locate(at + "/" + strconv.Itoa(i))
	}
	for _, m := range v.Members {
		m.Value.locate(at + "/" + wire.EscapePointer(m.Name))
	}
}

// Values is the [Tree] of values.
type Values struct{}

// Text implements [Tree].
func (Values) Text(v *Value) (string, bool) {
	if !v.Is(String) {
		return "", false
	}
	return v.Text, true
}

// Items implements [Tree].
func (Values) Items(v *Value) []*Value {
	switch {
	case !v.Is(Array):
		return nil
	case v.Items == nil:
		return []*Value{}
	}
	return v.Items
}

// Members implements [Tree].
func (Values) Members(v *Value) iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		if !v.Is(Object) {
			return
		}
		for _, m := range v.Members {
			if !yield(m.Name, m.Value) {
				return
			}
		}
	}
}
