package values

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/schema"
)

// A Made is what a built-in function returns, of which no more is known than its operands.
type Made struct {
	Name  string // of the function
	Kinds schema.Kinds
	args  []*ast.Term
	frame *Frame
}

func (Made) member(*Analysis, *ast.Term) Set { return Anything() }

func (Made) elements(*Analysis) Set { return Anything() }

func (Made) keys(*Analysis) Set { return Anything() }

// made returns what a built-in function returns by its declaration.
func (a *Analysis) made(name string, args []*ast.Term, f *Frame) Set {
	if kinds := KindsOfResult(name); kinds != schema.AnyKind && len(args) > 0 && !functions.Builtin(name).Relation {
		return Only(Made{name, kinds, args, f})
	}
	return Anything()
}

// KindsOfResult returns the kinds of value that a built-in function returns; AnyKind for other functions.
func KindsOfResult(name string) schema.Kinds {
	if b := functions.Builtin(name); b != nil && b.Decl.Result() != nil {
		return KindsOfType(b.Decl.Result())
	}
	return schema.AnyKind
}

// days and types are all that time.weekday and type_name return.
var closedResults = map[string][]string{
	"time.weekday": {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
	"type_name":    {"null", "boolean", "number", "string", "array", "object", "set"},
}

// idempotent are the functions that return what they return already as it is.
var idempotent = map[string]bool{"lower": true, "upper": true, "trim_space": true, "trim": true, "trim_left": true, "trim_right": true}

// answering returns, for a function of Ambit that has one spelling of what it answers, the operands of which it answers a
// text if it ever does. Where it answers other texts of them, these are in its spelling.
var answering = map[string]func(text string) []string{
	"ambit.url.scheme": func(text string) []string { return []string{strings.TrimRight(text, ":/") + "://x/"} },
	"ambit.url.host": func(text string) []string {
		return []string{text, "https://[" + text + "]/", "https://" + text + "/"}
	},
	"ambit.url.path": func(text string) []string {
		return []string{(&url.URL{Scheme: "https", Host: "x", Path: text}).String()}
	},
	"ambit.path.clean": func(text string) []string { return []string{text} },
	"ambit.path.base":  func(text string) []string { return []string{text} },
	"ambit.path.ext":   func(text string) []string { return []string{"x" + text, "x." + text} },
}

// Spelled returns a constant as a function answers it, nil when it answers nothing like it. known is false where the
// function has no spelling of its own.
func (a *Analysis) Spelled(m Made, c ast.Value) (spelled ast.Value, known bool) {
	text, isText := c.(ast.String)
	if !isText {
		return nil, false
	}
	operands := []string{string(text)}
	switch of := answering[m.Name]; {
	case of != nil:
		operands = of(string(text))
	case m.Name != "lower" && m.Name != "upper":
		return nil, false
	}
	for _, operand := range operands {
		t, err := a.Call(m.Name, []*ast.Term{ast.StringTerm(operand)})
		switch {
		case err == nil && t == nil:
			return nil, false // the time for calls is over
		case err != nil:
		case t.Value.Compare(c) == 0:
			return t.Value, true
		case t.Value.Compare(ast.String("")) != 0:
			spelled = t.Value
		}
	}
	return spelled, true
}

// Results returns all that a function can return, when that is known.
func (a *Analysis) Results(m Made) ([]*ast.Term, bool) {
	if names := closedResults[m.Name]; names != nil {
		all := make([]*ast.Term, len(names))
		for i, name := range names {
			all[i] = ast.StringTerm(name)
		}
		return all, true
	}
	if !IsFolded(m.Name) {
		return nil, false
	}
	calls, ok := a.Combined(m.args, m.frame)
	var all []*ast.Term
	for _, call := range calls {
		t, err := a.Call(m.Name, call)
		if err != nil || t == nil {
			return nil, false
		}
		all = append(all, t)
	}
	return all, ok
}

// Few returns all values that a term can have: constants, those of an enum, what a function returns.
func (a *Analysis) Few(s Set) (all []*ast.Term, ok bool) {
	if s.open || len(s.list) == 0 {
		return nil, false
	}
	for _, c := range s.list {
		switch c := c.(type) {
		case Constant:
			all = append(all, c.Term)
		case InputPart:
			listed := c.At.Values()
			for _, v := range listed {
				value, err := ast.InterfaceToValue(v)
				if err != nil {
					return nil, false
				}
				all = append(all, ast.NewTerm(value))
			}
			if len(listed) == 0 {
				return nil, false
			}
		case Made:
			results, known := a.Results(c)
			if !known {
				return nil, false
			}
			all = append(all, results...)
		case document:
			k, known := c.constant()
			if !known {
				return nil, false
			}
			all = append(all, k.Term)
		default:
			return nil, false
		}
	}
	return all, true
}

// Makes says that a function may return a constant.
func (a *Analysis) Makes(m Made, c *ast.Term) bool {
	if m.Kinds&KindsOf(c.Value) == 0 {
		return false
	}
	if all, ok := a.Results(m); ok {
		for _, t := range all {
			if t.Value.Compare(c.Value) == 0 {
				return true
			}
		}
		return false
	}
	return a.Keeps(m, c)
}

// Keeps says that a function leaves a constant as it is: lower does that with a text in small letters, and what it
// returns has no other parts.
func (a *Analysis) Keeps(m Made, c *ast.Term) bool {
	if answering[m.Name] != nil {
		spelled, known := a.Spelled(m, c.Value)
		return !known || spelled != nil && spelled.Compare(c.Value) == 0
	}
	if !idempotent[m.Name] {
		return true
	}
	call := []*ast.Term{ast.NewTerm(c.Value)}
	for _, t := range m.args[1:] {
		all, ok := a.Values(t, m.frame).AllConstants()
		if !ok || len(all) != 1 {
			return true
		}
		call = append(call, all[0].Term)
	}
	if t, err := a.Call(m.Name, call); err == nil && t != nil && t.Value.Compare(c.Value) != 0 {
		return false
	}
	for _, inner := range a.Values(m.args[0], m.frame).list { // trim_space(lower(x)) has no capital letters either
		if of, ok := inner.(Made); !ok || m.Name == "lower" || m.Name == "upper" || of.Name != "lower" && of.Name != "upper" || a.Keeps(of, c) {
			return true
		}
	}
	return len(a.Values(m.args[0], m.frame).list) == 0
}

// Folded says that all that a term can be is the result of a function that makes letters small, or of upper.
func (s Set) Folded() (Made, bool) {
	if s.open || len(s.list) != 1 {
		return Made{}, false
	}
	m, ok := s.list[0].(Made)
	return m, ok && slices.Contains([]string{"lower", "upper", "ambit.url.host", "ambit.url.scheme"}, m.Name)
}

// Kinds returns the kinds of value that a term can have; AnyKind where that is not known.
func (a *Analysis) Kinds(s Set) schema.Kinds {
	var all schema.Kinds
	for _, c := range s.list {
		all |= a.KindsOfOne(c)
	}
	if s.open || all == 0 {
		return schema.AnyKind
	}
	return all
}

// KindsOfOne returns the kinds of value of a candidate.
func (a *Analysis) KindsOfOne(c Candidate) schema.Kinds {
	switch c := c.(type) {
	case Constant:
		return KindsOf(c.Value)
	case InputPart:
		return c.At.Kinds()
	case Literal:
		return KindsOf(c.Term.Value)
	case Made:
		return c.Kinds
	case memberNames:
		return schema.SetKind
	case partial:
		if c.rules[0].Head.RuleKind() == ast.MultiValue && c.whole {
			return schema.SetKind
		}
		return schema.ObjectKind
	case document:
		return c.kinds()
	}
	return schema.AnyKind
}

// kinds returns the kind of what is at the place.
func (d document) kinds() schema.Kinds {
	if d.Node != nil {
		return schema.ObjectKind
	}
	switch d.Value.(type) {
	case nil:
		return schema.NullKind
	case bool:
		return schema.BooleanKind
	case json.Number, float64, int:
		return schema.NumberKind
	case string:
		return schema.StringKind
	case []any:
		return schema.ArrayKind
	case map[string]any:
		return schema.ObjectKind
	}
	return schema.AnyKind
}

// KindsOf returns the kind of a value.
func KindsOf(v ast.Value) schema.Kinds {
	switch v.(type) {
	case ast.Null:
		return schema.NullKind
	case ast.Boolean:
		return schema.BooleanKind
	case ast.Number:
		return schema.NumberKind
	case ast.String:
		return schema.StringKind
	case *ast.Array, *ast.ArrayComprehension:
		return schema.ArrayKind
	case ast.Object, *ast.ObjectComprehension:
		return schema.ObjectKind
	case ast.Set, *ast.SetComprehension:
		return schema.SetKind
	}
	return schema.AnyKind
}

// KindsOfType translates a type of OPA's checker.
func KindsOfType(t types.Type) schema.Kinds {
	switch t := t.(type) {
	case types.Null:
		return schema.NullKind
	case types.Boolean:
		return schema.BooleanKind
	case types.Number:
		return schema.NumberKind
	case types.String:
		return schema.StringKind
	case *types.Array:
		return schema.ArrayKind
	case *types.Object:
		return schema.ObjectKind
	case *types.Set:
		return schema.SetKind
	case types.Any:
		var all schema.Kinds
		for _, alternative := range t {
			all |= KindsOfType(alternative)
		}
		if all != 0 {
			return all
		}
	case *types.NamedType:
		return KindsOfType(t.Type)
	}
	return schema.AnyKind
}
