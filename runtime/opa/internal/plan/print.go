package plan

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ir"
)

// Print writes the plan of a rule, named by its path below data, with file:line for each
// statement. It reports whether there is such a rule.
func Print(w io.Writer, policy *ir.Policy, rule []string) (found bool) {
	p := printer{w, policy.Static}
	for _, f := range policy.Funcs.Funcs {
		if !slices.Equal(f.Path, append([]string{root}, rule...)) {
			continue
		}
		found = true
		fmt.Fprintf(w, "%s%s returns %s\n", strings.Join(rule, "."), p.value(f.Params), p.value(f.Return))
		p.blocks(f.Blocks, 1)
	}
	return found
}

// A printer writes statements for people.
type printer struct {
	w      io.Writer
	static *ir.Static
}

func (p printer) blocks(list []*ir.Block, depth int) {
	for i, b := range list {
		if len(list) > 1 {
			fmt.Fprintf(p.w, "%-28s%sblock %d\n", "", strings.Repeat("  ", depth), i+1)
		}
		for _, s := range b.Stmts {
			fmt.Fprintf(p.w, "%-28s%s%s\n", p.place(s.GetLocation()), strings.Repeat("  ", depth), p.statement(s))
			p.blocks(inside(s), depth+1)
		}
	}
}

// place returns file:line.
func (p printer) place(at *ir.Location) string {
	if at == nil || at.File < 0 || at.File >= len(p.static.Files) {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.static.Files[at.File].Value, at.Row)
}

// statement returns the name of a statement and what it works on.
func (p printer) statement(s ir.Stmt) string {
	v := reflect.Indirect(reflect.ValueOf(s))
	if number, ok := s.(*ir.MakeNumberRefStmt); ok { // its index is no operand
		return fmt.Sprintf("MakeNumber value=%s target=%s", p.static.Strings[number.Index].Value, p.value(number.Target))
	}
	text := strings.TrimSuffix(v.Type().Name(), "Stmt")
	for i := range v.NumField() {
		switch f := v.Type().Field(i); f.Name {
		case "Location", "Block", "Blocks", "Capacity":
		default:
			text += " " + strings.ToLower(f.Name) + "=" + p.value(v.Field(i).Interface())
		}
	}
	return text
}

// value returns a local, a constant, or a list of them.
func (p printer) value(v any) string {
	switch v := v.(type) {
	case ir.Operand:
		return p.value(v.Value)
	case ir.StringIndex:
		return fmt.Sprintf("%q", p.static.Strings[v].Value)
	case ir.Bool:
		return fmt.Sprint(bool(v))
	case ir.Local:
		return fmt.Sprint("$", int(v))
	case []ir.Operand:
		return p.list(len(v), func(i int) any { return v[i] })
	case []int: // the path of a with statement
		return p.list(len(v), func(i int) any { return ir.StringIndex(v[i]) })
	case []ir.Local:
		return p.list(len(v), func(i int) any { return v[i] })
	}
	return fmt.Sprint(v)
}

func (p printer) list(n int, at func(i int) any) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = p.value(at(i))
	}
	return "[" + strings.Join(texts, " ") + "]"
}
