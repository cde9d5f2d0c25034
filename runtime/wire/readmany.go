package wire

import (
	"strconv"
	"strings"
)

// Members is implemented by the structs of generated code. ReadMember reads
// the value of the named member; names that the rule of the object does not
// declare only arrive when that rule is open.
type Members interface {
	ReadMember(r *Reader, name string)
}

// Items is implemented by the tuples of generated code. ReadItem reads element i.
type Items interface {
	ReadItem(r *Reader, i int)
}

// ReadObject reads an object into a struct.
//
//go:noinline
func ReadObject[P Members](r *Reader, p P, rule *ObjectRule) {
	r.object(p, rule)
}

// seenNames is a set of indexes into ObjectRule.Names.
type seenNames [4]uint64

func (s *seenNames) has(i int) bool { return s[i>>6&3]&(1<<(i&63)) != 0 }
func (s *seenNames) add(i int)      { s[i>>6&3] |= 1 << (i & 63) }

// noMembers stands in for a nil rule: nothing is declared and nothing allowed.
var noMembers ObjectRule

func (r *Reader) object(m Members, rule *ObjectRule) {
	if rule == nil {
		rule = &noMembers
	}
	secret := rule.Sensitive || r.hideNext
	r.hideNext = false
	if r.ws() != '{' {
		r.mismatch("object", secret)
		return
	}
	if secret {
		r.secret++
	}
	r.members(m, rule)
	if secret {
		r.secret--
	}
}

// members reads the members of the object at the cursor.
func (r *Reader) members(m Members, rule *ObjectRule) {
	at, bad := r.i, r.count()
	if !r.open() {
		return
	}
	var seen seenNames
	next, n, found := 0, 0, 0
	for ; ; n++ {
		name, ok := r.member(n)
		if !ok {
			break
		}
		i := rule.index(alias(name), next)
		switch {
		case i < 0:
			r.undeclared(m, name, rule, at)
			continue
		case seen.has(i):
			r.noteDuplicate(name)
			r.skip()
		default:
			seen.add(i)
			found++
			r.into(m, rule.Names[i])
		}
		next = i + 1
	}
	if r.dead {
		return
	}
	end := r.i
	if found < len(rule.Names) {
		r.absent(m, rule, at, &seen)
	}
	r.whole(rule, at, end, n, bad)
}

// whole checks what the rule says of an object as a whole: of its n members, and, where
// nothing was wrong with them since there were bad notes, of the JSON between two offsets.
func (r *Reader) whole(rule *ObjectRule, at, end, n, bad int) {
	rule.checkCount(&r.notes, at, n)
	if rule.Schema != nil && r.count() == bad {
		rule.Schema.check(&r.notes, at, r.b[at:end])
	}
}

// into lets m read the named member at the cursor.
func (r *Reader) into(m Members, name string) {
	at := r.i
	m.ReadMember(r, name)
	if r.i == at {
		r.skip() // m does not know the name
	}
}

// index returns where a name is declared, -1 when it is not. Members mostly
// come in the declared order, so the search begins at next.
func (o *ObjectRule) index(name string, next int) int {
	for i := next; i < len(o.Names); i++ {
		if o.Names[i] == name {
			return i
		}
	}
	for i := range min(next, len(o.Names)) {
		if o.Names[i] == name {
			return i
		}
	}
	return -1
}

// undeclared deals with a member that the rule of the object at an offset does
// not declare. In a sensitive object its name is as secret as its value.
func (r *Reader) undeclared(m Members, name []byte, rule *ObjectRule, at int) {
	if r.secret > 0 {
		r.mask(at)
		defer r.unmask()
	}
	if rule.Open {
		r.into(m, string(name))
		return
	}
	if r.full() {
		r.more++ // thousands of them must not cost a look at every declared name
	} else {
		r.note(r.i, false, "additionalProperties", rule.expectedNames(alias(name)), show(string(name)))
	}
	r.skip()
}

// expectedNames lists the declared names, with the one that was probably meant.
func (o *ObjectRule) expectedNames(name string) string {
	if len(o.Names) == 0 {
		return "no members"
	}
	want := "only " + list(o.Names)
	if len(name) > 4*maxActual {
		return want
	}
	name = loose.Replace(name)
	for _, s := range o.Names {
		if strings.EqualFold(loose.Replace(s), name) {
			return want + "; did you mean " + strconv.Quote(s) + "?"
		}
	}
	return want
}

var loose = strings.NewReplacer("_", "", "-", "", " ", "")

// absent puts defaults in the place of absent members and reports required ones.
func (r *Reader) absent(m Members, rule *ObjectRule, at int, seen *seenNames) {
	defaults := rule.Defaults
	for i, name := range rule.Names {
		text := ""
		if len(defaults) > 0 && defaults[0].Name == name {
			text, defaults = defaults[0].JSON, defaults[1:]
		}
		switch {
		case seen.has(i):
		case i < rule.Required:
			r.noteMember(at, name, "required", "a member "+strconv.Quote(name), "nothing")
		case text != "":
			r.standIn(m, at, name, text)
		case len(defaults) == 0:
			return // only required members and those with a default are missed
		}
	}
}

// standIn reads a default in the place of an absent member.
func (r *Reader) standIn(m Members, at int, name, text string) {
	b, i, dflt := r.b, r.i, r.dflt
	if dflt == nil {
		r.dflt = &site{at: at, member: name}
	}
	r.b, r.i = []byte(text), 0
	m.ReadMember(r, name)
	if r.ws(); r.i != len(r.b) {
		r.syntax("the end of the default")
	}
	r.b, r.i, r.dflt = b, i, dflt
	if r.dead {
		r.i = len(r.b)
	}
}

// ReadExtra reads a member that is not declared into the map of an open object.
func ReadExtra[T, R any](r *Reader, p *map[string]T, name string, read func(*Reader, *T, *R), value *R) {
	readExtra(r, p, name, new(T), read, value)
}

// readExtra is ReadExtra by way of v.
func readExtra[T, R any](r *Reader, p *map[string]T, name string, v *T, read func(*Reader, *T, *R), value *R) {
	if _, dup := (*p)[name]; dup {
		r.noteDuplicate([]byte(name))
		r.skip()
		return
	}
	var zero T
	*v = zero
	read(r, v, value)
	if *p == nil {
		*p = make(map[string]T)
	}
	(*p)[name] = *v
}

// ReadMap reads an object whose members all have the same schema.
func ReadMap[T, R any](r *Reader, p *map[string]T, rule *ObjectRule, read func(*Reader, *T, *R), value *R) {
	secret := r.secret > 0 || rule != nil && rule.Sensitive
	if r.ws() != '{' {
		r.mismatch("object", secret)
		return
	}
	at, bad := r.i, r.count()
	if !r.open() {
		return
	}
	if secret {
		r.mask(at)
	}
	*p = make(map[string]T)
	n := 0
	v := new(T)
	for ; ; n++ {
		name, ok := r.member(n)
		if !ok {
			break
		}
		readExtra(r, p, string(name), v, read, value)
	}
	if rule != nil && !r.dead {
		r.whole(rule, at, r.i, n, bad)
	}
	if secret {
		r.unmask()
	}
}

// ReadArray reads an array.
//
//go:noinline
func ReadArray[T, R any](r *Reader, p *[]T, rule *ArrayRule, read func(*Reader, *T, *R), item *R) {
	at, ok := r.openArray(rule)
	if !ok {
		return
	}
	most := -1
	if rule != nil && rule.Has&Max != 0 {
		most = rule.Max
	}
	out := []T{}
	n := 0
	for ; r.element(n); n++ {
		if n == most {
			r.skip() // too many: what follows is not kept
			most++
			continue
		}
		var zero T
		out = append(out, zero)
		read(r, &out[n], item)
	}
	*p = out
	r.closeArray(rule, at, n)
}

// openArray enters the array at the cursor.
func (r *Reader) openArray(rule *ArrayRule) (at int, ok bool) {
	secret := rule != nil && rule.Sensitive
	if r.ws() != '[' {
		r.mismatch("array", secret)
		return 0, false
	}
	at = r.i
	if !r.open() {
		return 0, false
	}
	if secret {
		r.secret++
	}
	return at, true
}

// closeArray checks the rule of an array that has been read.
func (r *Reader) closeArray(rule *ArrayRule, at, n int) {
	if rule == nil {
		return
	}
	if !r.dead {
		rule.checkArray(&r.notes, at, n, r.b[at:r.i])
	}
	if rule.Sensitive {
		r.secret--
	}
}

// ReadTuple reads an array of n elements, each with a schema of its own.
func ReadTuple[P Items](r *Reader, p P, rule *ArrayRule, n int) {
	r.tuple(p, rule, n)
}

func (r *Reader) tuple(m Items, rule *ArrayRule, want int) {
	at, ok := r.openArray(rule)
	if !ok {
		return
	}
	n := 0
	for ; r.element(n); n++ {
		was := r.i
		if n < want {
			m.ReadItem(r, n)
		}
		if r.i == was {
			r.skip()
		}
	}
	if !r.dead {
		exact := "exactly " + plural(want, "item")
		switch {
		case n < want:
			r.note(at, false, "minItems", exact, strconv.Itoa(n))
		case n > want:
			r.note(at, false, "maxItems", exact, strconv.Itoa(n))
		}
	}
	r.closeArray(rule, at, n)
}
