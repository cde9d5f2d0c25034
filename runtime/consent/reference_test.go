package consent_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// A slow and obvious model of a Book. Arguments are {"n": N}, time is seconds,
// and everything is found by looking at everything.
type model struct {
	requests []*modelRequest
	grants   []*modelGrant
}

type modelCall struct {
	tool, session, run, principal, agent, pin, revision string // the revision changes nothing
	n                                                   int
}

type modelRequest struct {
	id       string
	call     modelCall
	need     modelNeed
	rules    []string
	end      int // of its life
	remind   int
	state    string // open, approved, used, mismatch, denied, expired, cancelled
	reminded bool
	votes    []modelVote
	editor   string // of the terms
	unseen   bool   // the policy rewrote what the editor wrote
}

type modelNeed struct {
	approvers  []string
	quorum     int
	life       int
	cover      int
	edit, self bool
}

type modelVote struct {
	by, entry string
	offer     modelOffer
}

// A modelOffer covers n itself, n above a bound, or all.
type modelOffer struct {
	lasting string // once, duration, session
	seconds int
	cover   int
	above   []int
}

type modelGrant struct {
	id      string
	call    modelCall
	offer   modelOffer
	end     int // 0: none
	by      []string
	entries []string // by grantor
	rules   []string
	uses    int
	revoked bool
}

type modelAnswer struct {
	by      string
	groups  []string
	approve bool
	saw     string // the terms: current, other, or none that it names
	offer   modelOffer
	edit    *modelEdit
}

type modelEdit struct {
	invalid   bool
	rewritten bool // by the policy
	n         int
	need      modelNeed
}

func (m *model) request(id string) *modelRequest {
	for _, r := range m.requests {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (m *model) ask(now int, id string, c modelCall, need modelNeed, rules []string) {
	m.requests = append(m.requests, &modelRequest{
		id: id, call: c, need: need, rules: rules, end: now + need.life, remind: now + need.life*4/5, state: "open",
	})
}

// allowed returns why an id with groups may not answer; empty: it may.
func (need modelNeed) allowed(by string, groups []string, principal string) string {
	if by == "" || by == "group:f" {
		return "not_permitted"
	}
	if len(need.approvers) > 0 && !slices.Contains(need.approvers, by) && need.group(groups) == "" {
		return "not_permitted"
	}
	if by == principal && !need.self {
		return "self_approval"
	}
	return ""
}

// group returns the first approver that is one of the groups.
func (need modelNeed) group(groups []string) string {
	for _, entry := range need.approvers {
		for _, g := range groups {
			if entry == "group:"+g {
				return entry
			}
		}
	}
	return ""
}

// same reports whether two needs are one but for the life of a request, which an edit does not change.
func (need modelNeed) same(other modelNeed) bool {
	return slices.Equal(need.approvers, other.approvers) && need.quorum == other.quorum && need.cover == other.cover &&
		need.edit == other.edit && need.self == other.self
}

func (o modelOffer) wide(limit int) bool {
	if o.lasting == "once" {
		return false
	}
	if o.cover == 1 && len(o.above) == 0 {
		return limit < 2
	}
	return o.cover > limit
}

func (m *model) decide(now int, id string, a modelAnswer) (resolution, reason string) {
	r := m.request(id)
	if r == nil {
		return "rejected", "unknown_request"
	}
	if r.state != "open" && r.state != "expired" {
		return "rejected", "already_resolved"
	}
	if r.state == "expired" || now >= r.end {
		return "rejected", "expired"
	}
	if why := r.need.allowed(a.by, a.groups, r.call.principal); why != "" {
		return "rejected", why
	}
	if !a.approve {
		r.state = "denied"
		return "accepted", ""
	}
	same := a.edit != nil && !a.edit.invalid && a.edit.n == r.call.n && a.edit.need.same(r.need)
	wrote := same && !a.edit.rewritten
	if !wrote && (a.saw == "other" || a.saw == "" && r.editor != "" && (r.editor != a.by || r.unseen)) {
		return "rejected", "changed"
	}
	if a.offer.wide(r.need.cover) {
		return "rejected", "grant_too_wide"
	}
	if a.edit != nil && !r.need.edit {
		return "rejected", "edit_not_allowed"
	}
	if a.edit != nil && a.edit.invalid || a.offer.lasting == "duration" && a.offer.seconds <= 0 {
		return "rejected", "invalid_input"
	}
	if a.edit != nil {
		if why := a.edit.need.allowed(a.by, a.groups, r.call.principal); why != "" {
			return "rejected", why
		}
		if a.offer.wide(a.edit.need.cover) {
			return "rejected", "grant_too_wide"
		}
		if !same {
			r.call.n, r.need, r.votes, r.editor, r.unseen = a.edit.n, a.edit.need, nil, a.by, a.edit.rewritten
		}
		if a.edit.rewritten {
			return "recorded", ""
		}
	}
	known := false
	for _, v := range r.votes {
		known = known || v.by == a.by
	}
	if !known {
		entry := ""
		if !slices.Contains(r.need.approvers, a.by) {
			entry = r.need.group(a.groups)
		}
		r.votes = append(r.votes, modelVote{a.by, entry, a.offer})
	}
	if len(r.votes) < r.need.quorum {
		return "recorded", ""
	}
	r.state = "approved"
	m.grant(now, r)
	return "accepted", ""
}

// grant leaves what all votes have in common.
func (m *model) grant(now int, r *modelRequest) {
	g := &modelGrant{id: r.id, call: r.call, rules: slices.Clone(r.rules), offer: modelOffer{lasting: "session", cover: 2}}
	for _, v := range r.votes {
		g.by, g.entries = append(g.by, v.by), append(g.entries, v.entry)
		if v.offer.lasting == "once" {
			return
		}
		if v.offer.lasting == "duration" {
			g.offer.lasting = "duration"
			if end := now + v.offer.seconds; g.end == 0 || end < g.end {
				g.end = end
			}
		}
		if v.offer.cover < g.offer.cover {
			g.offer.cover = v.offer.cover
		}
		if v.offer.cover == 1 {
			g.offer.above = append(g.offer.above, v.offer.above...)
		}
	}
	m.grants = append(m.grants, g)
}

func (g *modelGrant) live(now int) bool {
	return !g.revoked && len(g.rules) > 0 && (g.end == 0 || now < g.end)
}

// answers says whether a grant answers what rules ask about a call.
func (g *modelGrant) answers(now int, c modelCall, need modelNeed, rules []string) bool {
	if !g.live(now) || len(rules) == 0 {
		return false
	}
	for _, rule := range rules {
		if !slices.Contains(g.rules, rule) {
			return false
		}
	}
	if g.call.tool != c.tool || g.call.session != c.session || g.call.principal != c.principal || g.call.agent != c.agent || g.call.pin != c.pin {
		return false
	}
	able := 0
	for i, by := range g.by {
		if need.allowed(by, []string{strings.TrimPrefix(g.entries[i], "group:")}, c.principal) == "" {
			able++
		}
	}
	o := g.offer
	if able < need.quorum || o.wide(need.cover) {
		return false
	}
	switch o.cover {
	case 0:
		return g.call.n == c.n
	case 1:
		for _, bound := range o.above {
			if c.n <= bound {
				return false
			}
		}
	}
	return true
}

func (m *model) match(now int, c modelCall, need modelNeed, rules []string) *modelGrant {
	for _, exact := range []bool{true, false} {
		for _, g := range m.grants {
			if exact == (g.offer.cover == 0) && g.answers(now, c, need, rules) {
				return g
			}
		}
	}
	return nil
}

// due lists what has happened as "kind id".
func (m *model) due(now int) (list []string) {
	when := func(r *modelRequest) int {
		if r.reminded {
			return r.end
		}
		return r.remind
	}
	inOrder := slices.DeleteFunc(slices.Clone(m.requests), func(r *modelRequest) bool { return r.state != "open" || now < when(r) })
	slices.SortStableFunc(inOrder, func(a, b *modelRequest) int { return cmp.Compare(when(a), when(b)) })
	for chunk := range slices.Chunk(inOrder, consent.AtOnce) {
		slices.SortFunc(chunk, func(a, b *modelRequest) int {
			return cmp.Compare(slices.Index(m.requests, a), slices.Index(m.requests, b))
		})
	}
	for _, r := range inOrder {
		if r.state != "open" {
			continue
		}
		if now >= r.remind && !r.reminded {
			r.reminded = true
			list = append(list, "reminded "+r.id)
		}
		if now >= r.end {
			r.state = "expired"
			list = append(list, "expired "+r.id)
		}
	}
	return list
}

// use lists what has changed; ok is false when there is nothing to use.
func (m *model) use(now int, id string, c modelCall, rules []string, unasked bool) (changed []string, ok bool) {
	r := m.request(id)
	if r == nil || r.state != "approved" {
		return nil, false
	}
	was := r.call
	for _, part := range []struct {
		name string
		same bool
	}{
		{"tool", c.tool == was.tool}, {"declaration", c.pin == was.pin}, {"args", c.n == was.n},
		{"principal", c.principal == was.principal}, {"session", c.session == was.session},
		{"question", unasked || slices.Equal(slices.Sorted(slices.Values(rules)), slices.Sorted(slices.Values(r.rules)))},
		{"expired", now < r.end},
	} {
		if !part.same {
			changed = append(changed, part.name)
		}
	}
	r.state = "used"
	if changed != nil {
		r.state = "mismatch"
	}
	if changed != nil && !slices.Equal(changed, []string{"expired"}) {
		for _, g := range m.grants {
			g.revoked = g.revoked || g.id == id // it came with an approval that does not hold
		}
	}
	return changed, true
}

// cancel reports whether there was something to cancel.
func (m *model) cancel(id string) bool {
	r := m.request(id)
	if r == nil || r.state != "open" && r.state != "approved" {
		return false
	}
	r.state = "cancelled"
	return true
}

func (m *model) revoke(now int, id, by string) (resolution, reason string) {
	for _, g := range m.grants {
		switch {
		case g.id != id:
		case g.revoked:
			return "rejected", "already_resolved"
		case !g.live(now):
			return "rejected", "expired"
		case by == "":
			return "rejected", "not_permitted"
		default:
			g.revoked = true
			return "accepted", ""
		}
	}
	return "rejected", consent.UnknownRequest.String()
}

// retire takes a rule of a tool away.
func (m *model) retire(tool, rule string) {
	for _, g := range m.grants {
		if g.call.tool == tool {
			g.rules = slices.DeleteFunc(g.rules, func(r string) bool { return r == rule })
		}
	}
}
