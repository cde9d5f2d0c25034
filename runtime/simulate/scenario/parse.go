package scenario

import (
	"slices"
	"time"

	"github.com/ambit-tools/ambit/dsl"
)

// A File is one checked scenario file.
type File struct {
	Path  string
	Cases []*Case
}

// A Case is one sequence of calls, and what is expected of them.
type Case struct {
	Name, Title string

	pos       dsl.Pos
	path      string
	declared  *dsl.Pos  // where tools, rules or a policy are declared; nil: nowhere
	tools     *dsl.File // nil when the case declares none
	undoFails map[string]bool
	policy    policySource
	reminders int
	steps     []step
	final     *node
	deadlines map[string]time.Duration // that tools declare
}

// A policySource is what a stand-in policy is made of.
type policySource struct {
	version string
	rules   []policyRule
	missing string // decision when no rule matches
}

// A step is one thing that happens.
type step struct {
	pos    dsl.Pos
	do     operation
	expect *node // nil: nothing is compared
}

// defaultReminders is how often a model that stops is reminded.
const defaultReminders = 2

// Parse reads the source of a scenario file. The path is used in diagnostics.
// The error is of type [dsl.Diagnostics] and holds every fault of the file.
func Parse(path string, src []byte) (*File, error) {
	r := &reader{path: path}
	f := &File{Path: path}
	if root := r.load(src); root != nil && len(r.found) == 0 {
		r.mapping(root, "the file", fields{
			"scenarios": func(n *node) {
				if n.kind != kindString || n.text != "v1" {
					r.report(n.pos, "write scenarios: v1", "scenarios: version %s of the format is not known", n.shown())
				}
			},
			"cases": func(n *node) {
				r.list(n, "cases", func(n *node) { f.Cases = append(f.Cases, r.parseCase(n)) })
			},
		}, "scenarios", "cases")
		r.unique(f.Cases)
	}
	if err := r.found.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// unique refuses two cases of one name.
func (r *reader) unique(cases []*Case) {
	seen := make(map[string]bool, len(cases))
	for _, c := range cases {
		if seen[c.Name] && c.Name != "" {
			r.report(c.pos, "give it a name of its own", "a second case is called %s", quote(c.Name))
		}
		seen[c.Name] = true
	}
}

func (r *reader) parseCase(n *node) *Case {
	c := &Case{
		pos: n.pos, path: r.path, reminders: defaultReminders, undoFails: map[string]bool{},
		policy: policySource{version: "v1", missing: "allow"},
	}
	var tools, rules, stubs *node
	declares := func(n *node) {
		if c.declared == nil {
			c.declared = &n.pos
		}
	}
	r.mapping(n, "the case", fields{
		"name":  func(n *node) { r.string(n, "name", &c.Name) },
		"title": func(n *node) { r.string(n, "title", &c.Title) },
		"tools": func(n *node) { tools = n; declares(n) },
		"rules": func(n *node) { rules = n; declares(n) },
		"stubs": func(n *node) { stubs = n },
		"policy": func(n *node) {
			declares(n)
			c.policy.rules = r.parsePolicy(n)
		},
		"policy_default":     func(n *node) { declares(n); r.decision(n, "policy_default", &c.policy.missing) },
		"policy_version":     func(n *node) { r.string(n, "policy_version", &c.policy.version) },
		"max_exit_reminders": func(n *node) { r.int(n, "max_exit_reminders", &c.reminders) },
		"steps":              func(n *node) { r.list(n, "steps", func(n *node) { c.steps = append(c.steps, r.parseStep(n)) }) },
		"final":              func(n *node) { c.final = r.parseFinal(n) },
	}, "name")
	r.parseTools(c, tools, rules)
	if stubs != nil {
		r.parseStubs(c, stubs)
	}
	return c
}

func (r *reader) parseStubs(c *Case, n *node) {
	if n.kind != kindMap {
		r.report(n.pos, "write stubs: {tool: {undo: fails}}", "stubs must be a mapping, not %s", n.kind)
		return
	}
	for _, p := range n.pairs {
		var undo string
		r.mapping(p.val, "the stub of "+quote(p.name), fields{
			"undo": func(n *node) { r.choice(n, "undo", &undo, "fails", "ok") },
		})
		c.undoFails[p.name] = undo == "fails"
		if c.tools == nil {
			continue // there are none, or not here
		}
		var names []string
		for _, t := range c.tools.Tools {
			names = append(names, t.Name)
		}
		if !slices.Contains(names, p.name) {
			r.report(p.key, dsl.DidYouMean(p.name, names), "stubs: no tool is named %s", quote(p.name))
		}
	}
}

// parseFinal checks the keys of final.
func (r *reader) parseFinal(n *node) *node {
	free := func(*node) {}
	r.mapping(n, "final", fields{"used": free, "invocations": free, "pending_exit": free, "run": free})
	return n
}

// An actions table says how the mapping under each step key is read.
type actions map[string]func(r *reader, n *node) operation

func stepKinds() actions {
	return actions{
		"call":       func(r *reader, n *node) operation { return r.parseCall(n) },
		"batch":      (*reader).parseBatch,
		"approve":    (*reader).parseApprove,
		"deny":       (*reader).parseDeny,
		"revoke":     (*reader).parseRevoke,
		"tamper":     (*reader).parseTamper,
		"set_policy": (*reader).parseSetPolicy,
		"what_if":    (*reader).parseWhatIf,
		"undo":       (*reader).parseUndo,
		"advance": func(r *reader, n *node) operation {
			var d time.Duration
			r.duration(n, "advance", &d)
			return advanceStep(d)
		},
		"turn":       func(r *reader, n *node) operation { return r.flag(n, "turn", turnStep{}) },
		"new_run":    func(r *reader, n *node) operation { return r.flag(n, "new_run", newRunStep{}) },
		"model_stop": func(r *reader, n *node) operation { return r.flag(n, "model_stop", modelStopStep{}) },
		"undo_run":   func(r *reader, n *node) operation { return r.flag(n, "undo_run", undoRunStep{}) },
	}
}

// flag reads the true of a step that needs nothing else.
func (r *reader) flag(n *node, key string, a operation) operation {
	if n.kind != kindBool || n.text != "true" {
		r.report(n.pos, "write "+key+": true", "%s must be true, not %s", key, n.shown())
	}
	return a
}

// parseStep reads a mapping with one step key, and expect.
func (r *reader) parseStep(n *node) step {
	s := step{pos: n.pos}
	kinds := stepKinds()
	known := fields{"expect": func(n *node) { s.expect = n }}
	for key, parse := range kinds {
		known[key] = func(n *node) {
			if s.do != nil {
				r.report(n.pos, "make it a step of its own", "%s stands beside another step", key)
			}
			s.do = parse(r, n)
		}
	}
	before := len(r.found)
	if r.mapping(n, "the step", known) && s.do == nil && len(r.found) == before {
		r.report(n.pos, "write one of call, batch, approve, deny, revoke, tamper, set_policy, advance, turn, new_run, model_stop, what_if, undo and undo_run",
			"the step says nothing")
	}
	if s.expect != nil {
		r.checkExpect(s)
	}
	return s
}

// checkExpect refuses the expectation of a field that the result of the step
// never has.
func (r *reader) checkExpect(s step) {
	if s.do == nil {
		return
	}
	known := map[string]bool{}
	for _, name := range s.do.answers() {
		known[name] = true
	}
	check := func(n *node, names []string) {
		all := fields{}
		for _, name := range names {
			all[name] = func(*node) {}
		}
		r.mapping(n, "expect", all)
	}
	if _, ok := s.do.(*batchStep); ok {
		r.list(s.expect, "expect", func(n *node) { check(n, callFields()) })
		return
	}
	check(s.expect, s.do.answers())
	if call := s.expect.get("call"); call != nil && call.kind == kindMap && known["call"] {
		check(call, callFields())
	}
}
