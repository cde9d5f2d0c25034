package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// A grantItem is a grant as the list shows it.
type grantItem struct {
	consent.Grant
	Covers, Until, Grantors, Asks string
	MayRevoke                     bool
}

// grants serves the list of the grants that can answer something, the newest first.
func (p *pages) grants(q *request) error {
	all := p.exec.Grants(action.GrantFilter{Live: true})
	slices.Reverse(all)
	if after := q.query.Get("after"); after != "" {
		i := slices.IndexFunc(all, func(g consent.Grant) bool { return g.ID == after })
		all = all[i+1:] // of one that has ended meanwhile: from the beginning
	}
	var data struct {
		Items []grantItem
		Next  string
	}
	for i, g := range all {
		if len(data.Items) == perPage || i == maxCandidates {
			data.Next = all[i-1].ID
			break
		}
		if p.maySeeGrant(q, &g) {
			data.Items = append(data.Items, p.grantOf(q, g))
		}
	}
	p.render(q, http.StatusOK, "grants", "Grants", data)
	return nil
}

// maySeeGrant reports whether the viewer could answer the request that a grant comes from, or reads the
// journal of its session.
func (p *pages) maySeeGrant(q *request, g *consent.Grant) bool {
	of := runtime.ActTarget{Request: g.ID, Grant: g.ID}
	return p.exec.May(q.Context(), runtime.ActSee, q.by, of) == nil || p.mayAudit(q, runtime.ActTarget{Session: g.Session, Call: g.CallID, Grant: g.ID})
}

func (p *pages) grantOf(q *request, g consent.Grant) grantItem {
	item := grantItem{
		Grant: g, Covers: p.coverOf(&g), Until: "the session ends", Grantors: strings.Join(g.Grantors, ", "), Asks: strings.Join(g.Rules, ", "),
		MayRevoke: p.exec.May(q.Context(), runtime.ActRevoke, q.by, runtime.ActTarget{Grant: g.ID, DryRun: true}) == nil,
	}
	if err := g.Never(); err != nil {
		item.Covers = "no call: " + err.Error() + ". It was given for " + item.Covers
	}
	if !g.Expires.IsZero() {
		item.Until = momentOf(g.Expires).Text
	}
	return item
}

// coverOf says which calls a grant answers for.
func (p *pages) coverOf(g *consent.Grant) string {
	const most = 500
	switch g.Cover {
	case runtime.CoverExact:
		if r, ok := p.exec.Request(g.ID); ok && len(r.Args) > 0 {
			begin, more := cut(string(r.Args), most)
			if more > 0 {
				begin += "..."
			}
			return "calls with exactly the arguments " + begin
		}
		return "calls with exactly the same arguments"
	case runtime.CoverArgs:
		if len(g.Where) > 0 {
			return "calls in which " + strings.Join(conditions(g.Where), " and ")
		}
	}
	return "every call, whatever its arguments"
}

// conditions are predicates in words.
func conditions(where []consent.Predicate) []string {
	out := make([]string, len(where))
	for i, p := range where {
		out[i] = p.Words()
	}
	return out
}

// revoke takes a grant back.
func (p *pages) revoke(q *request) error {
	if err := p.exec.Revoke(q.Context(), q.id("id"), q.by, q.PostForm.Get("reason")); err != nil {
		return err
	}
	http.Redirect(q.w, q.Request, p.link.Grants(), http.StatusSeeOther)
	return nil
}
