package wire

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Unmarshal reads a whole text into the Go value that p points to, which has no
// generated decoder: an answer of an approver, a command, a file of settings.
// The types and tags are those of encoding/json; the reading is that of Decode.
// Member names are exact and come once, a struct takes no other members, null
// stands for pointers, slices and maps alone, and nothing follows the value.
// Members of *p that the text lacks keep their values. With violations *p has what
// is right, such as the number of a later version, and is good for nothing else.
//
// The type may have booleans, strings, numbers, slices, maps by string, structs,
// pointers, and what unmarshals itself; another one is a mistake of the program
// and panics.
func Unmarshal(b []byte, l Limits, p any) []Violation {
	l.AnyNumber = true // json.RawMessage keeps a text that its own decoder will judge
	r := readers.Get().(*Reader)
	r.begin(b, l)
	r.reflected(reflect.ValueOf(p).Elem())
	bad := r.Finish()
	r.release()
	return bad
}

// reflected reads the value at the cursor into v, which can be set.
func (r *Reader) reflected(v reflect.Value) {
	null := r.ws() == 'n'
	if r.dead {
		return
	}
	if v.Kind() == reflect.Pointer {
		if null {
			r.skip()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		r.reflected(v.Elem())
		return
	}
	k := v.Kind()
	if null && k != reflect.Slice && k != reflect.Map {
		r.mismatch("no null", false)
		return
	}
	switch u := v.Addr().Interface().(type) {
	case json.Unmarshaler:
		r.unmarshal(func(text Raw) error { return u.UnmarshalJSON(text) })
		return
	case encoding.TextUnmarshaler:
		at := r.i
		if s, ok := r.text(nil); ok {
			r.refused(at, s, u.UnmarshalText([]byte(s)))
		}
		return
	}
	switch {
	case null:
		r.skip()
	case k == reflect.String:
		if s, ok := r.text(nil); ok {
			v.SetString(s)
		}
	case k == reflect.Bool:
		var b bool
		ReadBool(r, &b, nil)
		v.SetBool(b)
	case v.CanInt(), v.CanUint():
		r.reflectedInt(v)
	case v.CanFloat():
		var f float64
		ReadFloat(r, &f, nil)
		v.SetFloat(f)
	case k == reflect.Struct:
		m := membersOf(v.Type())
		r.object(reflected{v, m.index}, &m.rule)
	case k == reflect.Map && v.Type().Key().Kind() == reflect.String:
		r.reflectedMap(v)
	case k == reflect.Slice:
		r.reflectedSlice(v)
	default:
		panic(fmt.Sprintf("wire: no JSON text is read into a %v", v.Type()))
	}
}

// unmarshal gives the text of the value at the cursor, once it is known to be strict, to code
// that reads it.
func (r *Reader) unmarshal(read func(Raw) error) {
	at, bad := r.i, r.count()
	var text Raw
	if ReadRaw(r, &text, nil); r.count() == bad {
		r.refused(at, string(text), read(text))
	}
}

// refused records that code which reads a value has refused it.
func (r *Reader) refused(at int, text string, err error) {
	if err != nil {
		r.note(at, false, "type", "a value that fits: "+clip(err.Error()), show(text))
	}
}

// reflectedInt reads an integer of any size.
func (r *Reader) reflectedInt(v reflect.Value) {
	at, bad := r.i, r.count()
	var n int64
	if ReadInt(r, &n, nil); r.dead || r.count() != bad {
		return
	}
	switch {
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	default:
		r.note(at, false, "type", "a number of the type "+v.Kind().String(), strconv.FormatInt(n, 10))
	}
}

// reflectedMap reads an object whose members have any names.
func (r *Reader) reflectedMap(v reflect.Value) {
	if r.ws() != '{' {
		r.mismatch("object", false)
		return
	}
	if !r.open() {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for n := 0; ; n++ {
		name, ok := r.member(n)
		if !ok {
			return
		}
		key := reflect.ValueOf(string(name)).Convert(v.Type().Key())
		if v.MapIndex(key).IsValid() {
			r.noteDuplicate([]byte(key.String()))
			r.skip()
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		r.reflected(value)
		v.SetMapIndex(key, value)
	}
}

// reflectedSlice reads an array, or bytes as base64.
func (r *Reader) reflectedSlice(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		at := r.i
		if s, ok := r.text(nil); ok {
			b, err := base64.StdEncoding.Strict().DecodeString(s)
			r.refused(at, s, err)
			v.SetBytes(b)
		}
		return
	}
	at, ok := r.openArray(nil)
	if !ok {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	n := 0
	for ; r.element(n); n++ {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		r.reflected(v.Index(n))
	}
	r.closeArray(nil, at, n)
}

// reflected reads the members of a struct by reflection.
type reflected struct {
	v     reflect.Value
	index map[string][]int
}

// ReadMember reads the value of a member.
func (m reflected) ReadMember(r *Reader, name string) { r.reflected(m.v.FieldByIndex(m.index[name])) }

// structMembers are the members that a struct type has in JSON.
type structMembers struct {
	rule  ObjectRule
	index map[string][]int // of their fields
}

var structs sync.Map // of *structMembers, by type

func membersOf(t reflect.Type) *structMembers {
	if m, ok := structs.Load(t); ok {
		return m.(*structMembers)
	}
	m := &structMembers{index: map[string][]int{}}
	for _, f := range reflect.VisibleFields(t) {
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if _, twice := m.index[name]; twice || strings.Contains(options, "string") {
			panic(fmt.Sprintf("wire: the member %q of %v is of two fields, or a number in a text", name, t))
		}
		m.index[name] = f.Index
		m.rule.Names = append(m.rule.Names, name)
	}
	structs.Store(t, m)
	return m
}
