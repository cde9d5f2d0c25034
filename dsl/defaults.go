package dsl

import "time"

// Defaults hold for the tools that do not say their own: the declared ones, or
// those of SEMANTICS section 8.
type Defaults struct {
	Deadline       time.Duration
	ConsentTimeout time.Duration
	Dedupe         Dedupe
	Limits         Limits
}

// newDefaults are the defaults of a file that declares none.
func newDefaults() Defaults {
	return Defaults{
		Deadline: defaultDeadline, ConsentTimeout: defaultTimeout, Dedupe: Dedupe{Mode: "never"},
		Limits: Limits{Input: defaultInput, Output: defaultOutput},
	}
}

func defaultsLevel() level[Defaults] {
	return level[Defaults]{what: "defaults", keys: keys[Defaults]{
		"deadline": func(p *parser, n *node, d *Defaults) { d.Deadline = p.duration(n, "defaults.deadline") },
		"consent": func(p *parser, n *node, d *Defaults) {
			walk(p, n, p.levels.defaultConsent, "defaults.consent", n.pos, d)
		},
		"dedupe": func(p *parser, n *node, d *Defaults) { d.Dedupe = p.dedupe(n, "defaults.dedupe") },
		"limits": func(p *parser, n *node, d *Defaults) {
			walk(p, n, p.levels.limits, "defaults.limits", n.pos, &d.Limits)
		},
	}}
}

func defaultConsentLevel() level[Defaults] {
	return level[Defaults]{what: "defaults.consent", keys: keys[Defaults]{
		"timeout": func(p *parser, n *node, d *Defaults) { d.ConsentTimeout = p.duration(n, "defaults.consent.timeout") },
	}}
}

// parseDefaults reads the key defaults wherever it stands in the file: tools
// before it have them too.
func (p *parser) parseDefaults(root *node) {
	for _, e := range root.pairs {
		if e.name == "defaults" && !e.twin {
			walk(p, e.val, p.levels.defaults, "defaults", e.key, &p.defaults)
		}
	}
}
