package author

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
)

// moneyWords are words of names by which members hold money.
var moneyWords = []string{
	"amount", "amounts", "balance", "cent", "cents", "charge", "cost", "costs", "deposit", "discount", "fee", "fees", "money", "payment",
	"price", "prices", "refund", "salary", "subtotal", "tax", "total",
}

// maxMoney is how many members have a note each.
const maxMoney = 5

// moneyNotes name the members that are named like money and are numbers: a float64 in Go, in which sums of cents are not
// exact.
func moneyNotes(d *project.Declaration) []finding {
	if d == nil {
		return nil
	}
	w := money{seen: map[dsl.Pos]bool{}}
	for _, t := range d.File.Tools {
		for _, part := range []struct {
			name string
			s    *dsl.Schema
		}{{"input", t.Input}, {"output", t.Output}} {
			w.schema(fmt.Sprintf("tool %q: %s: ", t.Name, part.name), part.s, 0)
		}
	}
	if len(w.notes) > maxMoney {
		first := w.notes[0]
		first.Message = fmt.Sprintf("%d members are named like money, and are numbers: a float64 in Go, in which sums of cents are not exact", len(w.notes))
		return []finding{first}
	}
	return w.notes
}

// money walks the schemas of a declaration.
type money struct {
	notes []finding
	seen  map[dsl.Pos]bool // what types share has one note
}

const maxMoneyDepth = 64

func (w *money) schema(in string, s *dsl.Schema, depth int) {
	if s == nil || depth > maxMoneyDepth {
		return
	}
	if s.Checked {
		w.value(in, s.Source, depth)
		return
	}
	for _, p := range s.Properties {
		if p.Schema != nil && p.Schema.Type == dsl.TypeNumber {
			w.member(in, p.Name, p.Pos)
		}
		w.schema(in, p.Schema, depth+1)
	}
	if s.Target != nil && !w.seen[s.Target.Schema.Pos] {
		w.seen[s.Target.Schema.Pos] = true
		w.schema(in, s.Target.Schema, depth+1)
	}
	for _, below := range slices.Concat(s.OneOf, s.PrefixItems, []*dsl.Schema{s.Additional, s.Items, s.OrNull}) {
		w.schema(in, below, depth+1)
	}
}

// value walks what stays JSON in Go.
func (w *money) value(in string, v *dsl.Value, depth int) {
	if v == nil || depth > maxMoneyDepth {
		return
	}
	for _, m := range v.Members {
		if m.Name == "properties" {
			for _, p := range m.Value.Members {
				if slices.ContainsFunc(p.Value.Members, func(k *dsl.ValueMember) bool {
					return k.Name == "type" && (k.Value.Text == "number" || slices.ContainsFunc(k.Value.Items, func(v *dsl.Value) bool { return v.Text == "number" }))
				}) {
					w.member(in, p.Name, p.Value.Pos)
				}
			}
		}
		w.value(in, m.Value, depth+1)
	}
	for _, item := range v.Items {
		w.value(in, item, depth+1)
	}
}

func (w *money) member(in, name string, at dsl.Pos) {
	if w.seen[at] || !slices.ContainsFunc(moneyWords, func(word string) bool { return slices.Contains(wordsOf(name), word) }) {
		return
	}
	w.seen[at] = true
	n := note(at, fmt.Sprintf("%smember %q is named like money, and is a number: a float64 in Go, in which sums of cents are not exact", in, name))
	n.Hint = "declare whole cents as integer, or a text with a pattern, such as ^[0-9]+\\.[0-9]{2}$"
	w.notes = append(w.notes, n)
}

// wordsOf are the words of a name in lower case: totalCost and total_cost are total and cost.
func wordsOf(name string) []string {
	var b strings.Builder
	before := rune(0)
	for _, c := range name {
		if unicode.IsUpper(c) && !unicode.IsUpper(before) || !unicode.IsLetter(c) {
			b.WriteByte(' ')
		}
		if unicode.IsLetter(c) {
			b.WriteRune(unicode.ToLower(c))
		}
		before = c
	}
	return strings.Fields(b.String())
}
