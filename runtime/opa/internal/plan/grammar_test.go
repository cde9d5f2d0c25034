package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A grammar writes policies of the contract's shape: partial sets, helpers, functions,
// some, every, not, else, with, comprehensions, members that are missing, types that do
// not fit.
type grammar struct {
	*rand.Rand
	vars  []string // that are bound here
	rules []string // that can be used here: those above
	names int      // of variables, so far
	depth int
}

func (g *grammar) pick(list ...string) string { return list[g.IntN(len(list))] }

// policy returns a module with the rule x, which the plan is asked for, and one with
// the rules that it is made of. A rule uses those above it.
func (g *grammar) policy() (x, rules string) {
	x = "package p\n\nx := {\"allow\": data.q.allow, \"deny\": data.q.deny, \"named\": [r | r := data.q[input.rule]]}\n"
	var b strings.Builder
	b.WriteString("package q\n\n")
	for i := range 3 {
		fmt.Fprintf(&b, "h%d := %s if {\n%s}%s\n\n", i, g.term(), g.body(), g.orElse())
		g.rules = append(g.rules, fmt.Sprintf("h%d", i))
	}
	fmt.Fprintf(&b, "default d := %s\n\nd := %s if {\n%s}\n\n", g.pick(`"none"`, "0", "[]"), g.term(), g.body())
	g.rules = append(g.rules, "d")
	g.vars = []string{"v"}
	fmt.Fprintf(&b, "f(v) := %s if {\n%s}%s\n\n", g.term(), g.body(), g.orElse())
	g.rules, g.vars = append(g.rules, "f(1)"), nil
	over := g.loose()
	g.vars = []string{"k", "w"}
	fmt.Fprintf(&b, "m[k] := w if {\n\tsome k, w in %s\n%s}\n\n", over, g.body())
	g.rules, g.vars = append(g.rules, "m", "m.a", "data.q.h0", `data.q["d"]`), nil
	for range 1 + g.IntN(2) {
		fmt.Fprintf(&b, "deny contains %s if {\n%s}\n\n", g.entry(), g.body())
	}
	g.rules = append(g.rules, "deny", "count(deny)")
	for range 1 + g.IntN(2) {
		fmt.Fprintf(&b, "allow contains %s if {\n%s}\n\n", g.entry(), g.body())
	}
	b.WriteString("allow contains {\"code\": \"c\"} if input.a == 1\n\ndeny contains \"d\" if input.b == 1\n")
	return x, b.String()
}

func (g *grammar) orElse() string {
	if g.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf(" else := %s if {\n%s}", g.term(), g.body())
}

func (g *grammar) entry() string {
	return fmt.Sprintf(`{"code": "c", "message": %s}`, g.term())
}

// body returns conditions, a line each. The variables that they bind end with it.
func (g *grammar) body() string {
	before := g.vars
	defer func() { g.vars = before }()
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString("\t" + g.condition() + "\n")
	}
	return b.String()
}

func (g *grammar) fresh() string {
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

func (g *grammar) condition() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 3 {
		return g.loose() + " == " + g.term()
	}
	switch g.IntN(13) {
	case 0:
		return "not " + g.plainCondition()
	case 1:
		v := g.fresh()
		over := g.loose()
		g.vars = append(g.vars[:len(g.vars):len(g.vars)], v)
		return "some " + v + " in " + over
	case 2:
		v := g.fresh()
		over, before := g.loose(), g.vars
		g.vars = append(g.vars[:len(g.vars):len(g.vars)], v)
		defer func() { g.vars = before }()
		return "every " + v + " in " + over + " { " + v + g.pick(" != ", " == ", " < ") + g.term() + " }"
	case 3:
		v := g.fresh()
		line := v + " := " + g.loose()
		g.vars = append(g.vars[:len(g.vars):len(g.vars)], v)
		return line
	case 4:
		return g.plainCondition() + " with input." + g.pick("a", "b", "list", "o.a") + " as " + g.term()
	case 5:
		return g.rule() + " == " + g.term() + " with data.limit as " + g.term()
	}
	return g.plainCondition()
}

// loose returns a term whose type OPA does not know before the evaluation, so that it
// can have any.
func (g *grammar) loose() string {
	switch n := g.IntN(12); {
	case n < 3 && len(g.vars) > 0:
		return g.vars[g.IntN(len(g.vars))]
	case n == 3 && g.depth < 4:
		return `object.get(input, ` + g.pick(`"a"`, `["o", "b"]`, `"list"`) + ", " + g.term() + ")"
	}
	return g.pick("input.a", "input.b", "input.o.a", "input.o.b.c", "input.list", "input.list", "input.list[0]", "input.o", "input.o", "input")
}

// rule returns a rule that can be used here.
func (g *grammar) rule() string {
	if len(g.rules) == 0 {
		return "input.a"
	}
	return g.rules[g.IntN(len(g.rules))]
}

// plainCondition binds no variable.
func (g *grammar) plainCondition() string {
	switch g.IntN(7) {
	case 0:
		return g.pick("startswith", "endswith", "contains") + "(" + g.loose() + ", " + g.pick(`"a"`, g.loose()) + ")"
	case 1:
		return g.term() + " in " + g.loose()
	case 2:
		return g.pick("is_string", "is_number", "is_null", "is_set") + "(" + g.loose() + ")"
	}
	return g.loose() + g.pick(" == ", " != ", " < ", " >= ") + g.term()
}

func (g *grammar) term() string {
	g.depth++
	defer func() { g.depth-- }()
	n := 14
	if g.depth > 3 {
		n = 6
	}
	switch g.IntN(n) {
	case 0, 1:
		return g.pick(g.loose(), g.loose(), "data.limit", "data.names")
	case 2:
		return g.pick("1", "1.0", "2", "18446744073709551616", `"a"`, `"ab"`, "null", "true", "false", `""`)
	case 3:
		return g.pick("[1, 1.0, \"a\"]", `{"a", "b"}`, `{"a": 1, "b": [2]}`, "[]", "{}", "set()", `{1, 1.0}`)
	case 4, 5:
		if len(g.vars) > 0 {
			return g.vars[g.IntN(len(g.vars))]
		}
		return g.pick("input.a", `"b"`)
	case 6:
		return g.rule()
	case 7:
		if slices.Contains(g.rules, "f(1)") {
			return "f(" + g.loose() + ")"
		}
		return g.rule()
	case 8:
		return g.comprehension()
	case 9:
		return "[" + g.term() + ", " + g.term() + "]"
	case 10:
		return `{"k": ` + g.term() + "}"
	case 11:
		return g.pick("count", "to_number", "upper", "sort", "sum") + "(" + g.loose() + ")"
	case 12:
		return "object.get(" + g.loose() + ", " + g.pick(`"a"`, `["b", "c"]`, "0") + ", " + g.term() + ")"
	}
	return "concat(\",\", " + g.loose() + ")"
}

func (g *grammar) comprehension() string {
	v, before := g.fresh(), g.vars
	over := g.loose()
	g.vars = append(g.vars[:len(g.vars):len(g.vars)], v)
	defer func() { g.vars = before }()
	switch g.IntN(3) {
	case 0:
		return "[" + v + " | some " + v + " in " + over + "; " + g.plainCondition() + "]"
	case 1:
		return "{" + v + " | some " + v + " in " + over + "; " + g.plainCondition() + "}"
	}
	return "{" + v + ": " + g.term() + " | some " + v + " in " + over + "}"
}
