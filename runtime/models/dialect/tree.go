package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// An object is a JSON object whose members keep their order: a model writes the members of its
// arguments in the order of the schema.
type object struct {
	members []member
	at      string // JSON Pointer of where it was read; empty for the root and for what was made
}

type member struct {
	name  string
	value any       // *object, []any, string, json.Number, bool or nil
	in    *object   // that it was read in, which a merged schema is not; nil for what was made
	also  []*object // those of which it was merged besides
}

// get returns the member called name. A nil object has none.
func (o *object) get(name string) (any, bool) {
	if o == nil {
		return nil, false
	}
	for _, m := range o.members {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// value returns the member called name, or nil.
func (o *object) value(name string) any {
	v, _ := o.get(name)
	return v
}

// has reports whether o has a member called name.
func (o *object) has(name string) bool {
	_, ok := o.get(name)
	return ok
}

// object returns the member called name if it is an object, else nil.
func (o *object) object(name string) *object {
	v, _ := o.get(name)
	out, _ := v.(*object)
	return out
}

// fields returns the members of o. A nil object has none.
func (o *object) fields() []member {
	if o == nil {
		return nil
	}
	return o.members
}

// list returns the member called name if it is an array, else nil.
func (o *object) list(name string) []any {
	v, _ := o.get(name)
	out, _ := v.([]any)
	return out
}

// text returns the member called name if it is a string.
func (o *object) text(name string) string {
	v, _ := o.get(name)
	out, _ := v.(string)
	return out
}

// strings returns the strings of the member called name, an array.
func (o *object) strings(name string) []string {
	var out []string
	for _, v := range o.list(name) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// set replaces or adds a member.
func (o *object) set(name string, value any) {
	for i := range o.members {
		if o.members[i].name == name {
			o.members[i].value = value
			return
		}
	}
	o.members = append(o.members, member{name: name, value: value})
}

// origin returns the object in which the member called name was read: a schema that is merged of several
// has keywords of each. It is o where o has no such member, or it was made.
func (o *object) origin(name string) *object {
	for _, m := range o.members {
		if m.name == name && m.in != nil {
			return m.in
		}
	}
	return o
}

// combine replaces a member by what it and that of another schema became together.
func (o *object) combine(name string, value any, other *object) {
	for i, m := range o.members {
		if m.name == name {
			also := append(slices.Clone(m.also), other.origin(name))
			for _, n := range other.members {
				if n.name == name {
					also = append(also, n.also...)
				}
			}
			o.members[i] = member{name: name, value: value, in: m.in, also: also}
		}
	}
}

// places returns the places of the objects in which the member called name was read: a note is about each.
func (o *object) places(name string) []string {
	out := []string{o.origin(name).at}
	for _, m := range o.members {
		if m.name == name {
			for _, in := range m.also {
				out = append(out, in.at)
			}
		}
	}
	return out
}

// place returns the JSON Pointer of the member called name.
func (o *object) place(name string) string { return o.origin(name).at + "/" + escape(name) }

// without returns a copy of o that lacks the named members.
func (o *object) without(names ...string) *object {
	out := &object{at: o.at}
members:
	for _, m := range o.members {
		for _, name := range names {
			if m.name == name {
				continue members
			}
		}
		out.members = append(out.members, m)
	}
	return out
}

// made returns an object of names and values in turn.
func made(pairs ...any) *object {
	o := &object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.set(pairs[i].(string), pairs[i+1])
	}
	return o
}

// MarshalJSON returns o with its members in their order.
func (o *object) MarshalJSON() ([]byte, error) { return encode(o) }

// encode returns v as JSON that keeps <, > and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := write(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// write adds v to b as JSON, in time that is linear in its size.
func write(b *bytes.Buffer, v any) error {
	switch x := v.(type) {
	case *object:
		if x == nil {
			break
		}
		b.WriteByte('{')
		for i, m := range x.members {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, m.name); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := write(b, m.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		if x == nil {
			break
		}
		b.WriteByte('[')
		for i, v := range x {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := write(b, v); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the end of the line
	return nil
}

// equal reports whether two values are the same JSON value. The order of members counts.
func equal(a, b any) bool {
	switch x := a.(type) {
	case *object:
		y, ok := b.(*object)
		if !ok || x == nil || y == nil {
			return ok && x == y
		}
		return x == y || slices.EqualFunc(x.members, y.members, func(m, n member) bool { return m.name == n.name && equal(m.value, n.value) })
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	}
	return reflect.DeepEqual(a, b)
}

const (
	maxSize  = 4 << 20 // bytes of a schema
	maxDepth = 100     // levels of objects and arrays
)

// parse reads the schema of an object.
func parse(text []byte) (*object, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("the schema has %d bytes, which is more than %d", len(text), maxSize)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := read(d, "", 0)
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the schema is not JSON: there is more after its end")
	}
	root, ok := v.(*object)
	if !ok {
		return nil, errors.New("the schema is not an object")
	}
	return root, nil
}

// read reads the next value, which is at a pointer and in depth arrays and objects.
func read(d *json.Decoder, at string, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("it is nested deeper than %d levels", maxDepth)
	}
	if delim == '[' {
		list := []any{}
		for d.More() {
			v, err := read(d, at+"/"+strconv.Itoa(len(list)), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	o, seen := &object{at: at}, map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if seen[name] {
			return nil, fmt.Errorf("%.40q is in an object twice", name)
		}
		seen[name] = true
		v, err := read(d, at+"/"+escape(name), depth+1)
		if err != nil {
			return nil, err
		}
		o.members = append(o.members, member{name: name, value: v, in: o})
	}
	_, err = d.Token()
	return o, err
}

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// escape returns name as a token of a JSON Pointer (RFC 6901).
func escape(name string) string {
	return escaper.Replace(name)
}

// unescape returns the name that a token of a JSON Pointer stands for.
func unescape(token string) string {
	return unescaper.Replace(token)
}

// resolve returns what a JSON Pointer from o leads to, or nil. It is a fragment of a URI.
func (o *object) resolve(fragment string) *object {
	pointer, err := url.PathUnescape(fragment)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil
	}
	var v any = o
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = unescape(token)
		ok := false
		switch x := v.(type) {
		case *object:
			v, ok = x.get(token)
		case []any:
			i, err := strconv.Atoi(token)
			if ok = err == nil && 0 <= i && i < len(x); ok {
				v = x[i]
			}
		}
		if !ok {
			return nil
		}
	}
	out, _ := v.(*object)
	return out
}
