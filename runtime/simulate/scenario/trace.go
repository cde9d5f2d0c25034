package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A Trace is the result of a case.
type Trace struct {
	of      *Case
	results []any
	final   *final            // nil when the case could not be run to its end
	errors  map[string]string // by call id: what the error handler was told
}

// WriteJSON writes one line per step, and one for the state after the last.
func (t *Trace) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i, result := range t.results {
		line := struct {
			Case   string `json:"case"`
			Step   int    `json:"step"`
			Result any    `json:"result"`
		}{t.of.Name, i, result}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	if t.final == nil {
		return nil
	}
	return enc.Encode(struct {
		Case  string `json:"case"`
		Final *final `json:"final"`
	}{t.of.Name, t.final})
}

// A Fault is one difference between the expected and the actual result.
type Fault struct {
	Step string // its index from 0, or final
	Want string
	Got  string
	Why  string // why the calls of the step did not complete, in words; empty: they did
}

// Faults are all differences of a case, in order.
type Faults []Fault

// String returns "step: expected ..., came ...; ..." with what differs in the
// first step that differs, and why its calls did not complete.
func (fs Faults) String() string {
	var b strings.Builder
	because := func() {
		if fs[0].Why != "" {
			fmt.Fprintf(&b, " (%s)", fs[0].Why)
		}
	}
	for i, f := range fs {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "%s: ", f.Step)
		case f.Step != fs[0].Step:
			because()
			fmt.Fprintf(&b, " (and %d more in later steps)", len(fs)-i)
			return b.String()
		default:
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "expected %s, came %s", f.Want, f.Got)
	}
	if len(fs) > 0 {
		because()
	}
	return b.String()
}

// Faults lists the expected results that differ from the actual ones.
func (t *Trace) Faults() Faults {
	var out Faults
	for i, s := range t.of.steps {
		if s.expect == nil || i >= len(t.results) {
			continue
		}
		faults := differ(strconv.Itoa(i), s.expect, generic(t.results[i]), true)
		for j := range faults {
			faults[j].Why = t.why(i, faults[j].Step)
		}
		out = append(out, faults...)
	}
	if t.of.final != nil && t.final != nil {
		out = append(out, differ("final", t.of.final, generic(t.final), true)...)
	}
	return out
}

// why says why the calls of a step did not complete; of a batch the one that a
// place such as 3.1 is of.
func (t *Trace) why(step int, place string) string {
	var calls []*callResult
	switch r := t.results[step].(type) {
	case *callResult:
		calls = append(calls, r)
	case *resolution:
		calls = append(calls, r.Call)
	case []*callResult:
		calls = r
		_, nth, _ := strings.Cut(place, ".")
		if i, err := strconv.Atoi(nth); err == nil && i < len(r) {
			calls = r[i : i+1]
		}
	}
	var texts []string
	for _, c := range calls {
		if c == nil || c.why == "" {
			continue
		}
		text := c.why
		if fault := t.errors[c.id]; fault != "" {
			text += ": " + fault
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// generic returns v as encoding/json reads it, numbers as they are written.
func generic(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out any
	if dec.Decode(&out) != nil {
		return nil
	}
	return out
}

// differ compares field by field where want lists fields.
func differ(step string, want *node, got any, fields bool) []Fault {
	object, isObject := got.(map[string]any)
	list, isList := got.([]any)
	switch {
	case fields && want.kind == kindMap && isObject:
		var out []Fault
		for _, p := range want.pairs {
			value, there := object[p.name]
			switch {
			case (p.name == "detail" || p.name == "call") && p.val.kind == kindMap && there:
				out = append(out, differ(step, p.val, value, true)...)
			case there && equal(p.val, value), !there && p.val.kind == kindNull:
			case !there:
				out = append(out, Fault{Step: step, Want: p.name + " " + string(p.val.appendJSON(nil)), Got: "none"})
			default:
				out = append(out, Fault{Step: step, Want: p.name + " " + string(p.val.appendJSON(nil)), Got: shown(value)})
			}
		}
		return out
	case fields && want.kind == kindList && isList && len(list) == len(want.items):
		var out []Fault
		for i, item := range want.items {
			out = append(out, differ(step+"."+strconv.Itoa(i), item, list[i], true)...)
		}
		return out
	case equal(want, got):
		return nil
	}
	return []Fault{{Step: step, Want: string(want.appendJSON(nil)), Got: shown(got)}}
}

func shown(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// equal reports whether got is the value that want writes.
func equal(want *node, got any) bool {
	switch got := got.(type) {
	case nil:
		return want.kind == kindNull
	case bool:
		return want.kind == kindBool && (want.text == "true") == got
	case string:
		return want.kind == kindString && want.text == got || (want.kind == kindNumber || want.kind == kindBool) && want.text == got
	case json.Number:
		return want.kind == kindNumber && equalNumbers(want.text, got.String())
	case []any:
		return want.kind == kindList && slices.EqualFunc(want.items, got, equal)
	case map[string]any:
		if want.kind != kindMap || len(want.pairs) != len(got) {
			return false
		}
		for _, p := range want.pairs {
			if v, ok := got[p.name]; !ok || !equal(p.val, v) {
				return false
			}
		}
		return true
	}
	return false
}

// equalNumbers compares exactly: 1.0 equals 1.
func equalNumbers(a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, also := new(big.Rat).SetString(b)
	return ok && also && x.Cmp(y) == 0
}
