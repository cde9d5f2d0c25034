package dsl

import "time"

// DefaultMaxFor is consent.max_for of a declaration that does not say it. The
// runtime has the same default.
const DefaultMaxFor = 24 * time.Hour

// The other defaults of the declaration (SEMANTICS 8.1).
const (
	defaultEffect     = "destructive" // the one that promises least
	defaultDeadline   = 45 * time.Second
	defaultInput      = 64 << 10
	defaultOutput     = 1 << 20
	defaultRetryMax   = 3
	defaultRetryFirst = time.Second
	defaultRetryCap   = 30 * time.Second
	defaultDedupe     = 5 * time.Minute
	defaultTimeout    = 300 * time.Second
	defaultQuorum     = 1
	defaultCover      = "exact"
	defaultUndoTTL    = time.Hour
	defaultOver       = 12000
)

// newDefaults are the defaults of a file that declares none.
func newDefaults() Defaults {
	return Defaults{
		Deadline: defaultDeadline, ConsentTimeout: defaultTimeout, Dedupe: Dedupe{Mode: "never"},
		Limits: Limits{Input: defaultInput, Output: defaultOutput},
	}
}

func defaultsLevel() level[Defaults] {
	return level[Defaults]{def: "defaults", what: "defaults", keys: keys[Defaults]{
		{name: "deadline", is: wordDuration, doc: "Longest time of one attempt.", without: "45s", rules: "6.1",
			read: func(p *parser, n *node, d *Defaults) { d.Deadline = p.duration(n, "defaults.deadline") }},
		{name: "consent", is: mapping("defaultConsent"), doc: "Defaults of tools that declare consent.", rules: "5",
			read: func(p *parser, n *node, d *Defaults) {
				walk(p, n, p.levels.defaultConsent, "defaults.consent", n.pos, d)
			}},
		{name: "dedupe", is: wordDedupe, doc: "For how long an equal call is answered with the earlier one; true means 5m.", without: "never", rules: "4.8",
			read: func(p *parser, n *node, d *Defaults) { d.Dedupe = p.dedupe(n, "defaults.dedupe") }},
		{name: "limits", is: mapping("limits"), doc: "What one call may use; a tool may declare some of these limits, and inherits the rest.", rules: "6.3",
			read: func(p *parser, n *node, d *Defaults) {
				d.LimitKeys = walk(p, n, p.levels.limits, "defaults.limits", n.pos, &d.Limits)
			}},
	}}
}

func defaultConsentLevel() level[Defaults] {
	return level[Defaults]{def: "defaultConsent", what: "defaults.consent", keys: keys[Defaults]{
		{name: "timeout", is: wordDuration, doc: "How long a request waits for an answer.", without: "5m", rules: "5.4",
			read: func(p *parser, n *node, d *Defaults) { d.ConsentTimeout = p.duration(n, "defaults.consent.timeout") }},
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
