package opa

import (
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime"
)

// keys are the member names of the input, made once: a term is made of every
// string that OPA sees, and these never change.
type keys struct {
	tool, args, behavior, modes, principal, session, run, call, now *ast.Term
	id, capabilities, counts, succeeded, undo, by, groups, method   *ast.Term

	command, program, argv, dir, env, network, tier, script *ast.Term
}

func newKeys() keys {
	s := ast.StringTerm
	return keys{
		tool: s("tool"), args: s("args"), behavior: s("behavior"), modes: s("modes"), principal: s("principal"),
		session: s("session"), run: s("run"), call: s("call"), now: s("now_ns"),
		id: s("id"), capabilities: s("capabilities"), counts: s("counts"), succeeded: s("succeeded"),
		undo: s("undo"), by: s("by"), groups: s("groups"), method: s("method"),
		command: s("command"), program: s("program"), argv: s("argv"), dir: s("dir"), env: s("env"),
		network: s("network"), tier: s("tier"), script: s("script"),
	}
}

// names are the terms that follow from the registry and the declarations. They
// belong to one generation.
type names struct {
	keys
	registered   []*runtime.Spec
	tools        []*ast.Term // names, by position in the registry
	specs        []*ast.Term // input.tool, by position in the registry
	members      map[string]*ast.Term
	capabilities []string
	modes        []string
	none         *pair // of a call without facts

	principal atomic.Pointer[principalTerm] // the last one
}

// A principalTerm remembers input.principal, which seldom changes between calls.
type principalTerm struct {
	id           string
	capabilities []string
	term         *ast.Term
}

// newNames makes the terms that the calls of one registry share.
func newNames(reg *runtime.Registry, b *policydir.Bundle) *names {
	n := &names{keys: newKeys(), members: map[string]*ast.Term{}, capabilities: b.Declared.Capabilities, modes: b.Declared.Modes}
	for _, t := range reg.All() {
		spec := t.Spec()
		n.registered = append(n.registered, spec)
		n.tools = append(n.tools, ast.StringTerm(spec.Name))
		n.specs = append(n.specs, specTerm(spec))
	}
	for _, s := range b.Schemas {
		collectMembers(s.Root, n.members)
	}
	n.none = newPair(n, nil)
	return n
}

// collectMembers makes a term of every member name that a schema declares.
func collectMembers(node any, into map[string]*ast.Term) {
	switch node := node.(type) {
	case map[string]any:
		properties, _ := node["properties"].(map[string]any)
		for name := range properties {
			if into[name] == nil {
				into[name] = ast.StringTerm(name)
			}
		}
		for _, child := range node {
			collectMembers(child, into)
		}
	case []any:
		for _, child := range node {
			collectMembers(child, into)
		}
	}
}

// specTerm returns input.tool.
func specTerm(s *runtime.Spec) *ast.Term {
	return ast.ObjectTerm(
		item("name", ast.StringTerm(s.Name)),
		item("version", ast.StringTerm(s.Version)),
		item("effect", ast.StringTerm(s.Effect.String())),
		item("idempotent", ast.InternedTerm(s.Idempotent)),
		item("deterministic", ast.InternedTerm(s.Deterministic)),
		item("capabilities", stringTerms(s.Capabilities)),
		item("behaviors", stringTerms(s.Behaviors)),
	)
}

func item(name string, value *ast.Term) [2]*ast.Term {
	return ast.Item(ast.StringTerm(name), value)
}

func stringTerms(list []string) *ast.Term {
	terms := make([]*ast.Term, len(list))
	for i, s := range list {
		terms[i] = ast.StringTerm(s)
	}
	return ast.ArrayTerm(terms...)
}

// intValue returns a number without a detour over float64, which would lose
// digits of nanoseconds.
func intValue(v int64) ast.Value {
	if v == int64(int(v)) && ast.HasInternedIntNumberTerm(int(v)) {
		return ast.InternedValue(int(v))
	}
	return ast.Number(strconv.FormatInt(v, 10))
}

func stringTerm(s string) *ast.Term {
	if s == "" {
		return ast.InternedEmptyString
	}
	return ast.StringTerm(s)
}

// input builds the input document of one call, of the parts that are read.
func (n *names) input(r *reads, in *runtime.PolicyInput, args *ast.Term, facts *pair) ast.Value {
	items := make([][2]*ast.Term, 0, 10)
	add := func(read bool, name *ast.Term, value func() *ast.Term) {
		if read {
			items = append(items, ast.Item(name, value()))
		}
	}
	items = append(items, ast.Item(n.tool, n.specs[in.Index]), ast.Item(n.args, args))
	add(r.member("behavior"), n.behavior, func() *ast.Term { return stringTerm(in.Behavior) })
	add(r.member("modes"), n.keys.modes, func() *ast.Term { return n.modesTerm(in.Modes) })
	add(r.member("principal"), n.keys.principal, func() *ast.Term { return n.principalTerm(in.Principal, in.Capabilities) })
	add(r.member("session"), n.session, func() *ast.Term { return ast.ObjectTerm(ast.Item(n.id, stringTerm(in.SessionID))) })
	add(r.member("run"), n.run, func() *ast.Term { return n.runTerm(r, in, facts) })
	add(r.member("call"), n.call, func() *ast.Term { return ast.ObjectTerm(ast.Item(n.id, stringTerm(in.CallID))) })
	add(r.member("now_ns"), n.now, func() *ast.Term { return ast.NewTerm(intValue(in.Now.UnixNano())) })
	add(in.Undo && r.member("undo"), n.undo, func() *ast.Term { return n.undoTerm(&in.UndoneBy) })
	add(in.Command != nil && r.member("command"), n.command, func() *ast.Term { return n.commandTerm(in.Command) })
	return ast.NewObject(items...)
}

// commandTerm returns input.command.
func (n *names) commandTerm(c *runtime.Invocation) *ast.Term {
	return ast.ObjectTerm(
		ast.Item(n.program, stringTerm(c.Program)), ast.Item(n.argv, stringTerms(c.Argv)), ast.Item(n.dir, stringTerm(c.Dir)),
		ast.Item(n.env, stringTerms(c.Env)), ast.Item(n.network, stringTerm(c.Network.String())),
		ast.Item(n.tier, stringTerm(c.Tier.String())), ast.Item(n.script, stringTerm(c.Script)),
	)
}

// undoTerm returns input.undo.
func (n *names) undoTerm(by *runtime.Actor) *ast.Term {
	return ast.ObjectTerm(ast.Item(n.by, ast.ObjectTerm(
		ast.Item(n.id, stringTerm(by.ID)), ast.Item(n.groups, stringTerms(by.Groups)), ast.Item(n.method, stringTerm(string(by.Method))),
	)))
}

// runTerm returns input.run.
func (n *names) runTerm(r *reads, in *runtime.PolicyInput, facts *pair) *ast.Term {
	counts, succeeded := ast.Item(n.counts, facts.counts), ast.Item(n.succeeded, facts.succeeded)
	if !r.runID {
		return ast.ObjectTerm(counts, succeeded)
	}
	return ast.ObjectTerm(ast.Item(n.id, stringTerm(in.RunID)), counts, succeeded)
}

// modesTerm returns input.modes: every declared mode, empty when it is not set.
func (n *names) modesTerm(modes map[string]string) *ast.Term {
	items := make([][2]*ast.Term, len(n.modes))
	for i, mode := range n.modes {
		items[i] = ast.Item(n.member(mode), stringTerm(modes[mode]))
	}
	return ast.ObjectTerm(items...)
}

// principalTerm returns input.principal: every declared capability, true when it is held.
func (n *names) principalTerm(id string, held []string) *ast.Term {
	if last := n.principal.Load(); last != nil && last.id == id && slices.Equal(last.capabilities, held) {
		return last.term
	}
	items := make([][2]*ast.Term, len(n.capabilities))
	for i, capability := range n.capabilities {
		items[i] = ast.Item(n.member(capability), ast.InternedTerm(slices.Contains(held, capability)))
	}
	term := ast.ObjectTerm(ast.Item(n.id, stringTerm(id)), ast.Item(n.keys.capabilities, ast.ObjectTerm(items...)))
	n.principal.Store(&principalTerm{id, slices.Clone(held), term})
	return term
}

// member returns the term of a member name.
func (n *names) member(name string) *ast.Term {
	if t := n.members[name]; t != nil {
		return t
	}
	return ast.StringTerm(name)
}
