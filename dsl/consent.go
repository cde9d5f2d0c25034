package dsl

import (
	"regexp"
	"strings"
)

func consentLevel() level[Consent] {
	return level[Consent]{what: "consent", required: []string{"ask"}, keys: keys[Consent]{
		"ask":       func(p *parser, n *node, c *Consent) { c.Ask = p.choice(n, "consent.ask", "always", "policy") },
		"message":   func(p *parser, n *node, c *Consent) { c.Message, _ = p.prose(n, "consent.message") },
		"approvers": func(p *parser, n *node, c *Consent) { c.Approvers = p.filled(n, "consent.approvers", nil) },
		"timeout":   func(p *parser, n *node, c *Consent) { c.Timeout = p.duration(n, "consent.timeout") },
		"quorum":    func(p *parser, n *node, c *Consent) { c.Quorum = p.count(n, "consent.quorum", 1) },
		"max_cover": func(p *parser, n *node, c *Consent) {
			c.MaxCover = p.choice(n, "consent.max_cover", "exact", "args", "tool")
		},
		"max_for":    func(p *parser, n *node, c *Consent) { c.MaxFor = p.duration(n, "consent.max_for") },
		"preview":    func(p *parser, n *node, c *Consent) { c.Preview = p.flag(n, "consent.preview") },
		"allow_edit": func(p *parser, n *node, c *Consent) { c.AllowEdit = p.flag(n, "consent.allow_edit") },
		"allow_self": func(p *parser, n *node, c *Consent) { c.AllowSelf = p.flag(n, "consent.allow_self") },
		"reveal":     func(p *parser, n *node, c *Consent) { c.Reveal = p.filled(n, "consent.reveal", nil) },
	}}
}

func (p *parser) parseConsent(n *node, t *Tool) {
	c := &Consent{Timeout: p.defaults.ConsentTimeout, Quorum: defaultQuorum, MaxCover: defaultCover, MaxFor: DefaultMaxFor, Pos: n.pos}
	t.Consent = c
	places := walk(p, n, p.levels.consent, "consent", n.pos, c)
	if len(c.Approvers) > 0 && c.Quorum > len(c.Approvers) {
		p.report(places["quorum"], "name more approvers or lower the quorum",
			"consent.quorum: %d answers are wanted of %d approvers", c.Quorum, len(c.Approvers))
	}
	for _, e := range n.pairs {
		switch e.name {
		case "message":
			p.later(func() { p.checkMessage(e.val, t) })
		case "reveal":
			p.later(func() { p.checkReveal(e.val, t) })
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
	return level[Artifact]{what: "artifact", required: []string{"type"}, keys: keys[Artifact]{
		"over": func(p *parser, n *node, a *Artifact) { a.Over = p.count(n, "artifact.over", 1) },
		"type": func(p *parser, n *node, a *Artifact) { a.Type = p.mediaType(n) },
	}}
}

var mediaType = regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$`)

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
	return level[Deprecated]{what: "deprecated", required: []string{"since", "message"}, keys: keys[Deprecated]{
		"since":   func(p *parser, n *node, d *Deprecated) { d.Since = p.semver(n, "deprecated.since") },
		"use":     func(p *parser, n *node, d *Deprecated) { d.Use, _ = p.text(n, "deprecated.use") },
		"message": func(p *parser, n *node, d *Deprecated) { d.Message, _ = p.prose(n, "deprecated.message") },
	}}
}

func (p *parser) parseDeprecated(n *node, t *Tool) {
	d := new(Deprecated)
	t.Deprecated = d
	places := walk(p, n, p.levels.deprecated, "deprecated", n.pos, d)
	p.later(func() {
		switch {
		case d.Use == "":
		case d.Use == t.Name:
			p.report(places["use"], "name the tool to use instead, or remove use", "deprecated.use names the tool itself")
		default:
			p.knownTool(places["use"], "deprecated.use", d.Use)
		}
	})
}
