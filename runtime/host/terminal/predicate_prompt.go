package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// members returns the members of the arguments that a grant may name, in their
// order, and their values.
func (d *dialogue) members() (names []string, values map[string]json.RawMessage) {
	values = map[string]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(d.r.Args))
	if _, err := decoder.Token(); err != nil {
		return nil, values
	}
	for decoder.More() {
		token, err := decoder.Token()
		name, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || decoder.Decode(&value) != nil {
			break
		}
		if masked := slices.ContainsFunc(d.r.Masked, func(p string) bool { return within(p, name) }); !masked && simple(name) {
			names, values[name] = append(names, name), value
		}
	}
	return names, values
}

// within reports whether a pointer is that of the member name, or of a part of it.
func within(pointer, name string) bool {
	return pointer == "" || pointer == "/"+name || strings.HasPrefix(pointer, "/"+name+"/")
}

// simple reports whether a name can be typed here and is no pointer.
func simple(name string) bool { return identifier.MatchString(name) }

// alike asks by which members a later call is recognized. It returns nil when
// there is nothing to recognize it by.
func (d *dialogue) alike(ctx context.Context) ([]consent.Predicate, error) {
	names, values := d.members()
	if len(names) == 0 {
		d.printf("  %s\n", d.colour.yellow("There is no argument that a grant may name."))
		return nil, nil
	}
	d.printf("  Name what has to stay as it is, of %s; or the beginning of a text, as in %s^=TEXT; or a condition, as in %s below \"FOLDER\", url, le, ge, gt.\n",
		Escape(strings.Join(names, ", ")), Escape(names[0]), Escape(names[0]))
	line, err := d.read(ctx, "alike in")
	if err != nil {
		return nil, err
	}
	where, err := d.predicates(line, values)
	if err != nil {
		d.printf("  %s\n", d.colour.yellow(Escape(err.Error())))
		return nil, nil
	}
	return where, nil
}

// predicates reads what later calls have in common with this one: NAME, NAME^=TEXT and NAME OP JSON, separated by spaces.
func (d *dialogue) predicates(line string, values map[string]json.RawMessage) ([]consent.Predicate, error) {
	var where []consent.Predicate
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		var p consent.Predicate
		p, line = next(line, values)
		switch value, known := values[p.Member]; {
		case !known:
			return nil, fmt.Errorf("there is no argument %q that a grant may name", p.Member)
		case p.Op == consent.OpPrefix && !bytes.HasPrefix(value, []byte(`"`)):
			return nil, fmt.Errorf("%q is no text", p.Member)
		}
		if err := p.Check(); err != nil {
			return nil, err
		}
		met, err := p.Met(wire.Raw(d.r.Args))
		if err == nil && !met {
			err = fmt.Errorf("%q of this call does not fit: %s", p.Member, p.Words())
		}
		if err != nil {
			return nil, err
		}
		where = append(where, p)
	}
	if len(where) == 0 {
		return nil, fmt.Errorf("name at least one argument")
	}
	return where, nil
}

// next reads the first condition of a line, and returns what follows it.
func next(line string, values map[string]json.RawMessage) (consent.Predicate, string) {
	name, rest := cutWord(line)
	if begin, prefix, ok := strings.Cut(name, "^="); ok {
		text, _ := json.Marshal(prefix) // a string always has a JSON form
		return consent.Predicate{Member: begin, Op: consent.OpPrefix, Value: text}, rest
	}
	p := consent.Predicate{Member: name, Value: values[name]}
	word, behind := cutWord(rest)
	var value json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(behind))
	if p.Op.UnmarshalText([]byte(word)) != nil || decoder.Decode(&value) != nil {
		p.Op = consent.OpEqual
		return p, rest
	}
	p.Value = value
	return p, behind[decoder.InputOffset():]
}

// cutWord returns the first word of a text, and what follows it.
func cutWord(text string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimSpace(text), " ")
	return word, strings.TrimSpace(rest)
}

// stored says what an approval leaves behind.
func (d *dialogue) stored(a action.Answer) string {
	if a.Grant == consent.Once {
		return "This will be recorded: " + quoteID(d.by.ID) + " approves this call, once."
	}
	what := "calls of " + d.r.Tool
	switch a.Cover {
	case runtime.CoverExact:
		what += " with exactly these arguments"
	case runtime.CoverArgs:
		what += " in which " + strings.Join(conditions(a.CoverArgs), " and ")
	default:
		what = "every call of " + d.r.Tool + ", whatever its arguments,"
	}
	howLong := "until the session ends"
	if a.Grant == consent.ForDuration {
		howLong = "for " + plainDuration(a.For)
	}
	return fmt.Sprintf("This will be stored: %s allows %s by %s %s. It answers what %s; it lifts no refusal and no limit.",
		quoteID(d.by.ID), what, quoteID(d.r.Principal), howLong, asks(d.r.Rules()))
}

func asks(rules []string) string {
	if len(rules) == 1 {
		return rules[0] + " asks"
	}
	return strings.Join(rules, " and ") + " ask"
}

// conditions are predicates in words.
func conditions(where []consent.Predicate) []string {
	out := make([]string, len(where))
	for i, p := range where {
		out[i] = p.Words()
	}
	return out
}
