package consent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/location"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Predicate is met by arguments in which one member compares to a value.
type Predicate struct {
	Member string          `json:"member"` // the name of a top-level member, or a JSON Pointer
	Op     Op              `json:"op"`
	Value  json.RawMessage `json:"value"`
}

// ParsePredicate reads a predicate in its text form, MEMBER OP JSON, such as: path below "docs". What it returns can be
// compared, and may be none that a grant has ([Predicate.Check]).
func ParsePredicate(text string) (Predicate, error) {
	member, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	p := Predicate{Member: member, Value: json.RawMessage(strings.TrimSpace(value))}
	if !json.Valid(p.Value) {
		return Predicate{}, fmt.Errorf("%q is not a member, a comparison and a JSON value, such as: path below \"docs\"", text)
	}
	if err := p.Op.UnmarshalText([]byte(name)); err != nil {
		return Predicate{}, err
	}
	_, err := p.compile()
	return p, err
}

// String returns the text form of p.
func (p Predicate) String() string { return p.Member + " " + p.Op.String() + " " + string(p.Value) }

// Words returns p as a person reads it, such as: path is below the folder "docs".
func (p *Predicate) Words() string {
	verb := "compares to"
	if int(p.Op) < len(opWords) {
		verb = opWords[p.Op]
	}
	return p.Member + " " + verb + " " + string(p.Value)
}

// A matcher is a compiled Predicate.
type matcher struct {
	path   []string
	op     Op
	form   []byte        // OpEqual: canonical
	prefix string        // OpPrefix
	bound  wire.Token    // of the comparisons of numbers
	folder location.Path // OpBelow
	place  *location.URL // OpURL
	never  error         // why no grant has the predicate, though one may be recorded: it answers for nothing
}

// Check returns what is wrong with p as a condition of a new grant.
func (p *Predicate) Check() error {
	m, err := p.compile()
	if err != nil {
		return err
	}
	return m.never
}

// compile compiles p. The error says that its value cannot be compared by its comparison.
func (p *Predicate) compile() (matcher, error) {
	m := matcher{op: p.Op}
	var err error
	if m.path, err = parseMember(p.Member); err != nil {
		return m, err
	}
	value, violations := wire.ParseRaw(p.Value, wire.Limits{})
	if violations != nil {
		return m, fmt.Errorf("the value for %q is no JSON: %s", p.Member, violations[0])
	}
	first := find(value, nil)[0]
	switch {
	case p.Op == OpEqual:
		m.form, err = wire.AppendCanonical(nil, value)
		return m, err
	case p.Op == OpPrefix && first.Kind == wire.KindString:
		switch m.prefix = first.Str; {
		case location.HasScheme(m.prefix):
			m.never = fmt.Errorf("the prefix for %q contains ://, and its letters begin URLs of other hosts too: compare by url", p.Member)
		case location.LikeURL(m.prefix):
			m.never = fmt.Errorf("the prefix for %q is how a URL begins, and its letters begin URLs of other hosts too: compare by url", p.Member)
		}
	case p.Op == OpBelow && first.Kind == wire.KindString:
		if m.folder, err = location.ParsePlain(first.Str); err != nil {
			m.never = fmt.Errorf("the value for %q is no folder: %w", p.Member, err)
		}
		switch {
		case location.HasScheme(first.Str):
			m.never = fmt.Errorf("the value for %q contains ://, and a folder does not: compare by url", p.Member)
		case location.LikeURL(first.Str):
			m.never = fmt.Errorf("the value for %q is how a URL begins, and a folder does not: compare by url", p.Member)
		}
	case p.Op == OpURL && first.Kind == wire.KindString:
		if m.place, err = location.ParsePlainURL(first.Str); err == nil && !m.place.IsPlace() {
			err = errors.New("it has a query or a fragment")
		}
		if err != nil {
			m.never = fmt.Errorf("the value for %q is no place on the net: %w", p.Member, err)
		}
	case (p.Op == OpGreater || p.Op == OpAtMost || p.Op == OpAtLeast) && isNumber(first.Kind):
		m.bound = first
	default:
		return m, fmt.Errorf("%q cannot be compared by %s to %s", p.Member, p.Op, p.Value)
	}
	return m, nil
}

// Met reports whether arguments meet p, a prefix by its letters alone. The error says why p makes no
// sense. A grant answers for less ([Book.Match]).
func (p *Predicate) Met(args wire.Value) (bool, error) {
	m, err := p.compile()
	if err != nil {
		return false, err
	}
	return m.meets(args), nil
}

// compileAll compiles predicates.
func compileAll(where []Predicate) ([]matcher, error) {
	list := make([]matcher, len(where))
	for i := range where {
		var err error
		if list[i], err = where[i].compile(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// meets reports whether arguments meet m. A sensitive member, or one that is
// not there, meets nothing (SEMANTICS 5.3).
func (m *matcher) meets(args wire.Value) bool {
	found := find(args, m.path)
	if found == nil || slices.ContainsFunc(found, func(t wire.Token) bool { return t.Sensitive }) {
		return false
	}
	switch t := found[0]; m.op {
	case OpEqual:
		form, err := wire.AppendCanonical(nil, found)
		return err == nil && bytes.Equal(form, m.form)
	case OpPrefix:
		return t.Kind == wire.KindString && strings.HasPrefix(t.Str, m.prefix)
	case OpBelow:
		return t.Kind == wire.KindString && m.never == nil && below(t.Str, m.folder)
	case OpURL:
		return t.Kind == wire.KindString && m.never == nil && within(t.Str, m.place)
	case OpGreater:
		return isNumber(t.Kind) && greater(t, m.bound)
	case OpAtMost:
		return isNumber(t.Kind) && !greater(t, m.bound)
	case OpAtLeast:
		return isNumber(t.Kind) && !greater(m.bound, t)
	}
	return false
}

// answers reports whether a grant with m answers for arguments. A prefix does not where its member has an
// element "." or "..", or reads as a URL: its letters begin in one place, and it leads to another (SEMANTICS 5.3.13).
func (m *matcher) answers(args wire.Value) bool {
	if m.never != nil || !m.meets(args) {
		return false
	}
	if m.op != OpPrefix {
		return true
	}
	text := find(args, m.path)[0].Str
	return !location.Dotted(text) && !location.LikeURL(text)
}

// below reports whether a text is the path of what is plainly inside of a folder.
func below(text string, folder location.Path) bool {
	p, err := location.ParsePlain(text)
	return err == nil && p.Below(folder)
}

// within reports whether a text is a URL that is plainly a place or below it.
func within(text string, place *location.URL) bool {
	u, err := location.ParsePlainURL(text)
	return err == nil && u.Within(place)
}

// any reports whether p is met by every text: its prefix is empty.
func (p *Predicate) any() bool {
	return p.Op == OpPrefix && string(bytes.TrimSpace(p.Value)) == `""`
}

func isNumber(k wire.Kind) bool { return k == wire.KindInt || k == wire.KindFloat }

// greater compares two numbers exactly, for all exponents (SEMANTICS 5.3).
func greater(a, b wire.Token) bool {
	x, y := decimalOf(a), decimalOf(b)
	switch {
	case x.sign != y.sign:
		return x.sign > y.sign
	case x.sign < 0:
		x, y = y, x
	}
	return cmp.Or(cmp.Compare(x.scale, y.scale), cmp.Compare(x.digits, y.digits)) > 0
}

// A decimal is 0.digits times ten to the scale. The digits neither begin nor
// end with a zero.
type decimal struct {
	sign   int
	digits string
	scale  int64
}

// decimalOf returns a number as it is written in JSON.
func decimalOf(t wire.Token) decimal {
	text := t.Str
	switch {
	case t.Kind == wire.KindInt:
		text = strconv.FormatInt(t.Int, 10)
	case text == "":
		text = strconv.FormatFloat(t.Float, 'e', -1, 64)
	}
	d := decimal{sign: 1}
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		text, d.sign = rest, -1
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	d.scale, _ = strconv.ParseInt(exponent, 10, 64) // 0 when there is none
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.scale += int64(len(digits) - len(fraction))
	if d.digits = strings.TrimRight(digits, "0"); d.digits == "" {
		return decimal{}
	}
	return d
}

// names reports whether p looks at one of the members at pointers, or into or around it.
func (p *Predicate) names(pointers []string) bool {
	path, err := parseMember(p.Member)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(pointers, func(pointer string) bool {
		if pointer == "" {
			return true
		}
		other, err := parseMember(pointer)
		n := min(len(path), len(other))
		return err == nil && slices.Equal(path[:n], other[:n])
	})
}
