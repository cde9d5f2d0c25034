package dsl

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

func consentLevel() level[Consent] {
	return level[Consent]{def: "consent", what: "consent", keys: keys[Consent]{
		{name: "ask", required: true, is: wordAsk, doc: "Ask for every call, or when a policy says so.", rules: "5.1",
			read: func(p *parser, n *node, c *Consent) { c.Ask = p.choice(n, "consent.ask", asks...) }},
		{name: "message", is: wordProse, doc: "What approvers read; {member} stands for a member of the input.", without: "none", rules: "5.7",
			read: func(p *parser, n *node, c *Consent) { c.Message, _ = p.prose(n, "consent.message") }},
		{name: "approvers", is: wordNames, doc: "Ids of the approvers that may answer, and groups of them, such as group:finance.", without: "any approver but the principal", rules: "5.5",
			read: func(p *parser, n *node, c *Consent) { c.Approvers = p.filled(n, "consent.approvers", nil) }},
		{name: "timeout", is: wordDuration, doc: "How long a request waits for an answer.", without: "5m", rules: "5.4",
			read: func(p *parser, n *node, c *Consent) { c.Timeout = p.duration(n, "consent.timeout") }},
		{name: "quorum", is: wordCount, doc: "How many different approvers must agree.", without: "1", rules: "5.5",
			read: func(p *parser, n *node, c *Consent) { c.Quorum = p.count(n, "consent.quorum", 1) }},
		{name: "max_cover", is: wordCover, doc: "The widest grant that an approver may give.", without: "exact", rules: "5.3",
			read: func(p *parser, n *node, c *Consent) {
				c.MaxCover = p.choice(n, "consent.max_cover", covers...)
			}},
		{name: "max_for", is: wordDuration, doc: "The longest time for which an approver may grant.", without: "24h", rules: "5.3",
			read: func(p *parser, n *node, c *Consent) { c.MaxFor = p.duration(n, "consent.max_for") }},
		{name: "preview", is: wordFlag, doc: "The handler shows what the call would do; approvers see it and approve it with the call.", without: "false", rules: "5.2",
			read: func(p *parser, n *node, c *Consent) { c.Preview = p.flag(n, "consent.preview") }},
		{name: "allow_edit", is: wordFlag, doc: "An approver may change the arguments.", without: "false", rules: "5.2",
			read: func(p *parser, n *node, c *Consent) { c.AllowEdit = p.flag(n, "consent.allow_edit") }},
		{name: "allow_self", is: wordFlag, doc: "The principal may approve its own calls.", without: "false", rules: "5.5",
			read: func(p *parser, n *node, c *Consent) { c.AllowSelf = p.flag(n, "consent.allow_self") }},
		{name: "reveal", is: wordNames, doc: "x-sensitive members of the input that approvers see.", without: "none", rules: "5.9",
			read: func(p *parser, n *node, c *Consent) { c.Reveal = p.filled(n, "consent.reveal", nil) }},
	}}
}

func (p *parser) parseConsent(n *node, t *Tool) {
	c := &Consent{Timeout: p.defaults.ConsentTimeout, Quorum: defaultQuorum, MaxCover: defaultCover, MaxFor: DefaultMaxFor, Pos: n.pos}
	t.Consent = c
	places := walk(p, n, p.levels.consent, "consent", n.pos, c)
	group := func(approver string) bool { return strings.HasPrefix(approver, runtime.GroupPrefix) }
	if len(c.Approvers) > 0 && c.Quorum > len(c.Approvers) && !slices.ContainsFunc(c.Approvers, group) {
		p.report(places["quorum"], "name more approvers or lower the quorum",
			"consent.quorum: %d answers are wanted of %d approvers", c.Quorum, len(c.Approvers))
	}
	for _, e := range n.pairs {
		switch e.name {
		case "approvers":
			p.checkApprovers(e.val)
		case "message":
			p.later(func() { p.checkMessage(e.val, t) })
		case "reveal":
			p.later(func() { p.checkReveal(e.val, t) })
		}
	}
}

// checkApprovers refuses entries that no approver can be: the call would wait for nobody.
func (p *parser) checkApprovers(n *node) {
	for i, item := range n.items {
		if item.kind != nodeString || item.text == "" || strings.TrimSpace(item.text) != item.text {
			continue // the list is refused for it
		}
		if err := runtime.CheckApprover(item.text); err != nil {
			p.report(item.pos, "write an id as approvers have it, or group:NAME, such as group:finance", "consent.approvers: entry %d: %s", i+1, err)
		}
	}
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// checkMessage refuses a placeholder that is not a member of the input.
func (p *parser) checkMessage(n *node, t *Tool) {
	in := t.Input.base()
	if in == nil || n.kind != nodeString {
		return
	}
	for _, m := range placeholder.FindAllStringSubmatch(n.text, -1) {
		if in.property(m[1]) == nil {
			p.report(n.pos, p.didYouMean(m[1], in.propertyNames()), "consent.message: the input has no member %s", quote(m[1]))
		}
	}
	if rest := placeholder.ReplaceAllString(n.text, ""); strings.ContainsAny(rest, "{}") {
		p.report(n.pos, "write placeholders as {member}", "consent.message has a brace without its pair")
	}
}

// checkReveal refuses members that are not there or need no revealing.
func (p *parser) checkReveal(n *node, t *Tool) {
	in := t.Input.base()
	if in == nil {
		return
	}
	for _, item := range n.items {
		if item.kind != nodeString || item.text == "" {
			continue
		}
		m := in.property(item.text)
		switch {
		case m == nil:
			p.report(item.pos, p.didYouMean(item.text, in.propertyNames()), "consent.reveal: the input has no member %s", quote(item.text))
		case !m.Schema.sensitive():
			p.report(item.pos, "remove it: approvers see it anyway", "consent.reveal: member %s is not x-sensitive", quote(item.text))
		}
	}
}

func artifactLevel() level[Artifact] {
	return level[Artifact]{def: "artifact", what: "artifact", keys: keys[Artifact]{
		{name: "over", is: wordCount, doc: "Characters, of the output as JSON, above which the executor stores it as an artifact.", without: "12000", rules: "8",
			read: func(p *parser, n *node, a *Artifact) { a.Over = p.count(n, "artifact.over", 1) }},
		{name: "type", required: true, is: wordMedia, doc: "Media type of what the output holds, for programs that show it. The store holds the output as JSON.",
			read: func(p *parser, n *node, a *Artifact) { a.Type = p.mediaType(n) }},
	}}
}

func (p *parser) mediaType(n *node) string {
	text, ok := p.text(n, "artifact.type")
	if ok && !mediaType.MatchString(text) {
		p.report(n.pos, "write a media type, such as text/plain", "artifact.type: %s is not a media type", quote(text))
	}
	return text
}

func (p *parser) parseArtifact(n *node, t *Tool) {
	t.Artifact = &Artifact{Over: defaultOver}
	walk(p, n, p.levels.artifact, "artifact", n.pos, t.Artifact)
}

func deprecatedLevel() level[Deprecated] {
	return level[Deprecated]{def: "deprecated", what: "deprecated", keys: keys[Deprecated]{
		{name: "since", required: true, is: wordSemver, doc: "Version of the tool from which on it is deprecated.",
			read: func(p *parser, n *node, d *Deprecated) { d.Since = p.semver(n, "deprecated.since") }},
		{name: "use", is: wordName, doc: "The tool to use instead.", without: "none",
			read: func(p *parser, n *node, d *Deprecated) { d.Use, _ = p.text(n, "deprecated.use") }},
		{name: "remove_in", is: wordSemver, doc: "The version that has the tool no more, of a later major than the tool's.", without: "not said",
			read: func(p *parser, n *node, d *Deprecated) { d.RemoveIn = p.semver(n, "deprecated.remove_in") }},
		{name: "message", required: true, is: wordProse, doc: "What to do instead.",
			read: func(p *parser, n *node, d *Deprecated) { d.Message, _ = p.prose(n, "deprecated.message") }},
	}}
}

func (p *parser) parseDeprecated(n *node, t *Tool) {
	d := new(Deprecated)
	t.Deprecated = d
	places := walk(p, n, p.levels.deprecated, "deprecated", n.pos, d)
	p.later(func() {
		if version.MatchString(d.RemoveIn) && version.MatchString(t.Version) && !laterMajor(d.RemoveIn, t.Version) {
			p.report(places["remove_in"], "name a version whose first number is higher", "deprecated.remove_in: %s is no later major version than %s", d.RemoveIn, t.Version)
		}
		switch {
		case d.Use == "":
		case d.Use == t.Name:
			p.report(places["use"], "name the tool to use instead, or remove use", "deprecated.use names the tool itself")
		default:
			p.knownTool(places["use"], "deprecated.use", d.Use)
		}
	})
}

// laterMajor reports whether version a has a higher first number than b.
func laterMajor(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) > 0
}
