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
	d.printf("  Name what has to stay as it is, of %s; or the beginning of a text, as in %s^=TEXT.\n",
		Escape(strings.Join(names, ", ")), Escape(names[0]))
	line, err := d.read(ctx, "alike in")
	if err != nil {
		return nil, err
	}
	where, err := predicates(line, values)
	if err != nil {
		d.printf("  %s\n", d.colour.yellow(Escape(err.Error())))
		return nil, nil
	}
	return where, nil
}

// predicates reads "path^=docs/ mode": several are separated by spaces.
func predicates(line string, values map[string]json.RawMessage) ([]consent.Predicate, error) {
	var where []consent.Predicate
	for _, word := range strings.Fields(line) {
		name, prefix, isPrefix := strings.Cut(word, "^=")
		value, known := values[name]
		switch {
		case !known:
			return nil, fmt.Errorf("there is no argument %q that a grant may name", name)
		case isPrefix:
			var text string
			if json.Unmarshal(value, &text) != nil {
				return nil, fmt.Errorf("%q is no text", name)
			}
			if !strings.HasPrefix(text, prefix) {
				return nil, fmt.Errorf("%q of this call does not begin with %q", name, prefix)
			}
			begin, _ := json.Marshal(prefix) // a string always has a JSON form
			where = append(where, consent.Predicate{Member: name, Op: consent.OpPrefix, Value: begin})
		default:
			where = append(where, consent.Predicate{Member: name, Op: consent.OpEqual, Value: value})
		}
	}
	if len(where) == 0 {
		return nil, fmt.Errorf("name at least one argument")
	}
	return where, nil
}

// stored says what an approval leaves behind.
func (d *dialogue) stored(a action.Answer) string {
	if a.Grant == consent.Once {
		return "This will be recorded: " + quoteID(d.by) + " approves this call, once."
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
		quoteID(d.by), what, quoteID(d.r.Principal), howLong, asks(d.r.Rules()))
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
		verb := "is"
		if p.Op == consent.OpPrefix {
			verb = "begins with"
		}
		out[i] = fmt.Sprintf("%s %s %s", p.Member, verb, p.Value)
	}
	return out
}
