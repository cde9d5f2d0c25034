package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// conditions are what a rule requires, each as a text that is the same for equal
// conditions of other rules: the names of variables are no part of it.
type conditions struct {
	all   map[string]bool
	tools values.ToolSet
	// whole says that all that the rule requires is in all and tools. Else a rule
	// that requires the same may hold where this one does not.
	whole bool
}

// meets says that for some tool one of two rules holds whenever the other one does.
func (c conditions) meets(other conditions) bool {
	return c.impliedBy(other) || other.impliedBy(c)
}

// impliedBy says that a rule holds whenever another one does: for one tool at
// least, or for all of the other's when one of them looks at the tool in a way that
// is not followed.
func (c conditions) impliedBy(other conditions) bool {
	if !c.whole || c.tools.And(other.tools).None() || (c.looks() || other.looks()) && !c.tools.Covers(other.tools) {
		return false
	}
	for text := range c.all {
		if !other.all[text] {
			return false
		}
	}
	return true
}

// looks says that one of the conditions is about the tool.
func (c conditions) looks() bool {
	for text := range c.all {
		if strings.Contains(text, `ref[input "tool" "name"`) {
			return true
		}
	}
	return false
}

// A canon writes the conditions of one body.
type canon struct {
	*values.Analysis
	frame *values.Frame
	names map[ast.Var]string // of variables that have a value
	free  map[ast.Var]int    // how often a variable without one is used
	out   conditions
}

// conditionsOf returns the conditions of a rule without those of its else branches.
func (l *valueLint) conditionsOf(r *ast.Rule, tools values.ToolSet) conditions {
	f := values.NewFrame(r, nil, tools, 0)
	c := &canon{l.Analysis, f, map[ast.Var]string{}, map[ast.Var]int{}, conditions{map[string]bool{}, l.Narrowed(r.Body, f), true}}
	for i, arg := range r.Head.Args {
		name := fmt.Sprintf("$%d", i)
		if v, ok := arg.Value.(ast.Var); ok {
			c.names[v] = name
		} else {
			c.out.all[c.call("eq", name, c.term(arg))] = true
			c.out.whole = c.out.whole && ast.IsConstant(arg.Value)
		}
	}
	for _, e := range r.Body {
		c.expr(e)
	}
	for _, n := range c.free {
		c.out.whole = c.out.whole && n < 2
	}
	return c.out
}

// call writes a call. Equality has no order.
func (c *canon) call(name string, args ...string) string {
	if name == "eq" || name == "equal" || name == "neq" {
		slices.Sort(args)
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// expr adds what an expression requires.
func (c *canon) expr(e *ast.Expr) {
	not := ""
	if e.Negated {
		not = "not "
	}
	for _, w := range e.With {
		not += "with " + c.term(w.Target) + " as " + c.term(w.Value) + " "
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		if terms.Value.Compare(ast.Boolean(true)) != 0 || not != "" {
			c.out.all[not+c.term(terms)] = true
		}
	case []*ast.Term:
		if not == "" && (c.ofTool(e, terms) || c.defines(terms)) {
			return
		}
		args := make([]string, len(terms)-1)
		for i, t := range terms[1:] {
			args[i] = c.term(t)
		}
		c.out.all[not+c.call(terms[0].String(), args...)] = true
	default:
		c.out.whole = false
	}
}

// ofTool says that an expression requires nothing but that the call is of some tools.
func (c *canon) ofTool(e *ast.Expr, terms []*ast.Term) bool {
	if name := terms[0].String(); name != "eq" && name != "internal.member_2" || !c.Required(e, c.frame).Fixed {
		return false
	}
	for _, t := range terms[1:] {
		for _, p := range c.Side(t, c.frame, e).Parts() {
			if p.IsToolName() {
				return true
			}
		}
	}
	return false
}

// defines notes a variable to which an expression gives its value, and requires
// that the value is there.
func (c *canon) defines(terms []*ast.Term) bool {
	name := terms[0].String()
	if name == "eq" && len(terms) == 3 {
		for i, t := range terms[1:] {
			v, isVar := t.Value.(ast.Var)
			if isVar && c.names[v] == "" && c.free[v] == 0 {
				value := c.term(terms[2-i])
				c.there(terms[2-i], value)
				c.names[v] = value
				return true
			}
		}
		return false
	}
	if n := c.Arity(terms[0]); n < 0 || len(terms) != n+2 {
		return false
	}
	v, isVar := terms[len(terms)-1].Value.(ast.Var)
	if !isVar || c.names[v] != "" || c.free[v] > 0 {
		return false
	}
	args := make([]string, len(terms)-2)
	for i, t := range terms[1 : len(terms)-1] {
		args[i] = c.term(t)
	}
	c.names[v] = c.call(name, args...)
	c.out.all["there "+c.names[v]] = true
	return true
}

// there requires that a term is defined, unless it always is.
func (c *canon) there(t *ast.Term, text string) {
	if _, isRef := t.Value.(ast.Ref); !isRef {
		return
	}
	for _, p := range c.Values(t, c.frame).Parts() {
		if c.Analysis.AlwaysThere(p) {
			return
		}
	}
	c.out.all["there "+text] = true
}

// term writes a term with the values of its variables.
func (c *canon) term(t *ast.Term) string {
	switch v := t.Value.(type) {
	case ast.Var:
		return c.variable(v)
	case ast.Ref:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = c.term(p)
		}
		return "ref[" + strings.Join(parts, " ") + "]"
	case *ast.Array:
		return c.list("[", v) + "]"
	case ast.Set:
		return c.list("{", v) + "}"
	case ast.Object:
		var parts []string
		v.Foreach(func(key, value *ast.Term) { parts = append(parts, c.term(key)+": "+c.term(value)) })
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if !ast.IsScalar(t.Value) {
		c.out.whole = false // a comprehension, with variables of its own
	}
	return t.Value.String()
}

// list writes the elements of a list.
func (c *canon) list(open string, all policydir.Collection) string {
	var parts []string
	all.Foreach(func(t *ast.Term) { parts = append(parts, c.term(t)) })
	return open + strings.Join(parts, ", ")
}

// variable writes a variable: its value, or a mark for any.
func (c *canon) variable(v ast.Var) string {
	if text := c.names[v]; text != "" {
		return text
	}
	if v.Equal(ast.InputRootDocument.Value) || v.Equal(ast.DefaultRootDocument.Value) {
		return string(v)
	}
	c.free[v]++
	return "?"
}
