package opa

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// answers is what the policies said, before precedence.
type answers struct {
	allows      []Allow
	denials     []runtime.Denial
	asks        []runtime.Ask
	rewrites    []runtime.Rewrite
	obligations []runtime.Obligation
}

// An Allow is one reason for a call.
type Allow struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	At      string `json:"at,omitempty"` // file:line of the rule
}

// A contractRule is a rule of the contract with the terms to look its members up by.
type contractRule struct {
	name   string
	term   *ast.Term
	fields []policydir.Field
}

// contract has the rules of the contract; members have the terms of all members' names.
var contract, members = contractTerms()

func contractTerms() (rules []contractRule, members map[string]*ast.Term) {
	members = map[string]*ast.Term{"at": ast.StringTerm("at")}
	for _, name := range policydir.ContractRules() {
		r := contractRule{name, ast.StringTerm(name), policydir.Contract(name)}
		for _, f := range r.fields {
			members[f.Name] = ast.StringTerm(f.Name)
		}
		rules = append(rules, r)
	}
	return rules, members
}

// decode reads the value of data.ambit.decision, strictly: a value that is not
// exactly of the contract's shape is an error, since a reason that is not
// understood might have been a denial.
func decode(t *ast.Term) (a answers, err error) {
	object, ok := t.Value.(ast.Object)
	if !ok || object.Len() != len(contract) {
		return a, fmt.Errorf("the decision is not an object of %v", policydir.ContractRules())
	}
	for i := range contract {
		rule := &contract[i]
		member := object.Get(rule.term)
		if member == nil {
			return a, fmt.Errorf("the decision has no %q", rule.name)
		}
		set, ok := member.Value.(ast.Set)
		if !ok {
			return a, fmt.Errorf("%s is not a set", rule.name)
		}
		if set.Len() == 0 {
			continue
		}
		for _, entry := range set.Slice() {
			if err := a.add(rule, entry); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

// add decodes one entry of a rule.
func (a *answers) add(rule *contractRule, t *ast.Term) error {
	e := entry{rule: rule}
	if err := e.open(t); err != nil {
		return err
	}
	switch rule.name {
	case "allow":
		a.allows = append(a.allows, Allow{e.text("code"), e.text("message"), e.at})
	case "deny":
		a.denials = append(a.denials, runtime.Denial{Code: e.text("code"), Message: e.text("message"), Detail: e.raw("detail"), At: e.at})
	case "ask":
		a.asks = append(a.asks, runtime.Ask{
			ID: e.text("id"), Message: e.text("message"), Approvers: e.approvers(),
			Quorum: e.count("quorum"), Timeout: e.duration("timeout"), MaxCover: e.cover("max_cover"), At: e.at,
			Bound: e.raw("bound"),
		})
	case "modify":
		a.rewrites = append(a.rewrites, runtime.Rewrite{Code: e.text("code"), Pointer: e.text("pointer"), Value: e.raw("value"), At: e.at})
	case "obligations":
		a.obligations = append(a.obligations, runtime.Obligation{Code: e.text("code"), Args: e.raw("args"), At: e.at})
	}
	return e.err
}

// An entry reads the members of one object, and remembers the first thing that is wrong.
type entry struct {
	rule   *contractRule
	at     string
	object ast.Object
	err    error
}

// value returns a member, nil when it is absent.
func (e *entry) value(name string) ast.Value {
	if t := e.object.Get(members[name]); t != nil {
		return t.Value
	}
	return nil
}

// open checks that the members are those of the contract.
func (e *entry) open(t *ast.Term) error {
	var ok bool
	if e.object, ok = t.Value.(ast.Object); !ok {
		return fmt.Errorf("%s holds %v, not an object", e.rule.name, t)
	}
	e.at = e.text("at")
	e.object.Foreach(func(k, _ *ast.Term) {
		name, ok := k.Value.(ast.String)
		if !ok {
			e.fail("has the member %v", k)
		} else if name != "at" && !slices.ContainsFunc(e.rule.fields, func(f policydir.Field) bool { return f.Name == string(name) }) {
			e.fail("has the unknown member %q", string(name))
		}
	})
	for _, f := range e.rule.fields {
		value := e.value(f.Name)
		switch {
		case value == nil && !f.Optional:
			e.fail("has no %q", f.Name)
		case value != nil && !f.Kind.Holds(value):
			e.fail("has a %q that is not %s", f.Name, f.Kind)
		}
	}
	return e.err
}

// fail remembers the first thing that is wrong.
func (e *entry) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%s: an entry of %s %s", cmp.Or(e.at, "policy"), e.rule.name, fmt.Sprintf(format, args...))
	}
}

func (e *entry) text(name string) string {
	s, _ := e.value(name).(ast.String)
	return string(s)
}

// approvers returns the ids that may approve, nil when the entry lists none. A list
// that evaluates to an empty one is an error: it must not mean any id, as a missing
// list does. What the library asks for the declaration always has a list, and the
// declaration cannot have an empty one.
func (e *entry) approvers() []string {
	ids := e.texts("approvers")
	if len(ids) == 0 && e.value("approvers") != nil && e.text("id") != policydir.DeclaredAsk {
		e.fail("has %q that name nobody", "approvers")
	}
	return ids
}

// texts returns a list of strings, sorted and without repetitions.
func (e *entry) texts(name string) []string {
	all, ok := e.value(name).(policydir.Collection)
	if !ok {
		return nil
	}
	var texts []string
	all.Foreach(func(t *ast.Term) {
		s, ok := t.Value.(ast.String)
		if !ok {
			e.fail("has a %q that is not a list of strings", name)
		}
		texts = append(texts, string(s))
	})
	slices.Sort(texts)
	return slices.Compact(texts)
}

// count returns a number that is not negative; 0, which is not to say, when it is absent.
func (e *entry) count(name string) int {
	n, ok := e.value(name).(ast.Number)
	if !ok {
		return 0
	}
	v, _ := n.Int()
	if v < 0 {
		e.fail("has a negative %q", name)
	}
	return v
}

// duration returns a duration that is not negative; 0, which is not to say, when it is absent or empty.
func (e *entry) duration(name string) time.Duration {
	text := e.text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		e.fail("has a %q of %q, which is not a duration", name, text)
	}
	return d
}

// cover returns how much a grant may cover; the narrowest when it is absent.
func (e *entry) cover(name string) (c runtime.GrantCover) {
	if text := e.text(name); text != "" {
		if err := c.UnmarshalText([]byte(text)); err != nil {
			e.fail("has a %q of %q: %v", name, text, err)
		}
	}
	return c
}

// raw returns a member as JSON; nil when it is absent. Sets become arrays.
func (e *entry) raw(name string) wire.Raw {
	value := e.value(name)
	if value == nil {
		return nil
	}
	plain, err := ast.JSON(value)
	if err != nil {
		e.fail("has a %q that is not JSON: %v", name, err)
		return nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(plain); err != nil {
		e.fail("has a %q that is not JSON: %v", name, err)
		return nil
	}
	return wire.Raw(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
