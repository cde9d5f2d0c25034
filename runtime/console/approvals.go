package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/view"
)

const (
	perPage       = 50
	maxCandidates = 1_000 // requests that the operator policy is asked about for one page
)

// A waitingFilter says which requests a list has; what is empty matches all.
type waitingFilter struct {
	Tool, Effect, Session string
	Mine                  bool // that the viewer may answer
	after                 cursor
}

// A cursor is the place of a request in the list, by when it expires.
type cursor struct {
	expires int64
	id      string
}

func cursorOf(r *runtime.ConsentRequest) cursor { return cursor{r.Expires.UnixNano(), r.ID} }

func (c cursor) compare(d cursor) int {
	return cmp.Or(cmp.Compare(c.expires, d.expires), strings.Compare(c.id, d.id))
}

func (c cursor) String() string { return strconv.FormatInt(c.expires, 10) + "." + c.id }

// filterOf reads the filter of a list from its URL.
func filterOf(v url.Values) (f waitingFilter, err error) {
	f = waitingFilter{Tool: v.Get("tool"), Effect: v.Get("effect"), Session: v.Get("session"), Mine: v.Get("mine") != ""}
	if text := v.Get("after"); text != "" {
		number, id, _ := strings.Cut(text, ".")
		if f.after.expires, err = strconv.ParseInt(number, 10, 64); err != nil {
			return f, problem(httpguard.BadPosition, "after is not a place of the list")
		}
		f.after.id = id
	}
	return f, nil
}

func (f *waitingFilter) wants(r *runtime.ConsentRequest) bool {
	return (f.Tool == "" || f.Tool == r.Tool) && (f.Effect == "" || f.Effect == r.Effect) && (f.Session == "" || f.Session == r.Session) &&
		cursorOf(r).compare(f.after) > 0
}

// next is the query of the page after a request.
func (f *waitingFilter) next(last cursor) string {
	v := url.Values{"after": {last.String()}}
	for name, value := range map[string]string{"tool": f.Tool, "effect": f.Effect, "session": f.Session} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if f.Mine {
		v.Set("mine", "on")
	}
	return "?" + v.Encode()
}

// waiting returns a page of the requests that wait and that the viewer may see, those that expire first
// before the others, and the query of the next page, if there may be one.
func (p *pages) waiting(q *request, f waitingFilter) (list []*view.Request, next string) {
	all := slices.DeleteFunc(p.exec.Requests(), func(r *runtime.ConsentRequest) bool { return !f.wants(r) })
	slices.SortFunc(all, func(a, b *runtime.ConsentRequest) int { return cursorOf(a).compare(cursorOf(b)) })
	for i, r := range all {
		if len(list) == perPage || i == maxCandidates {
			return list, f.next(cursorOf(all[i-1]))
		}
		if f.Mine && r.Requirement.Permits(q.by.ID, q.by.Groups, r.Principal) != consent.NotRejected {
			continue
		}
		if v, err := view.Of(q.Context(), p.exec, r.ID, q.by); err == nil && v.Status == consent.StatusOpen && (v.MayDecide || !f.Mine) {
			list = append(list, v)
		}
	}
	return list, ""
}

// approvals serves the list of what waits.
func (p *pages) approvals(q *request) error {
	f, err := filterOf(q.URL.Query())
	if err != nil {
		return err
	}
	list, next := p.waiting(q, f)
	if wantsJSON(q.Request) {
		if list == nil {
			list = []*view.Request{}
		}
		return writeJSON(q.w, map[string]any{"approvals": list, "next": next})
	}
	data := struct {
		Filter  waitingFilter
		Any     bool // a filter is set
		Effects []string
		Items   []waitingItem
		Next    string
	}{f, f != waitingFilter{after: f.after}, []string{"read", "write", "destructive"}, nil, next}
	now := time.Now()
	for _, v := range list {
		data.Items = append(data.Items, itemOf(v, now))
	}
	p.render(q, http.StatusOK, "approvals", "Waiting for an answer", data)
	return nil
}

// A waitingItem is a request as the list shows it.
type waitingItem struct {
	*view.Request
	Name, Message, EffectWords, Left, Until string
	Given                                   int
}

func itemOf(v *view.Request, now time.Time) waitingItem {
	const most = 300
	message, more := cut(fill(v.Message, v.Args), most)
	if more > 0 {
		message += "..."
	}
	return waitingItem{
		v, cmp.Or(v.Title, v.Tool), message, catalog.Effect(v.Effect), catalog.Span(max(v.Expires.Sub(now), 0)), momentOf(v.Expires).Machine, len(v.Votes),
	}
}

// ended serves the list of the requests that need no answer any more, the newest first, as long as the
// executor retains them.
func (p *pages) ended(q *request) error {
	list := view.Ended(q.Context(), p.exec, q.URL.Query().Get("before"), perPage, q.by)
	if wantsJSON(q.Request) {
		return writeJSON(q.w, map[string]any{"approvals": list})
	}
	var data struct {
		Items []endedItem
		Next  string
	}
	for _, v := range list {
		data.Items = append(data.Items, endedItem{itemOf(v, time.Time{}), statuses[v.Status], momentOf(v.Request.Created)})
	}
	if len(list) == perPage {
		data.Next = list[perPage-1].ID
	}
	p.render(q, http.StatusOK, "ended", "Answered, expired and cancelled", data)
	return nil
}

// An endedItem is a request that has ended, as the list shows it.
type endedItem struct {
	waitingItem
	StatusWords string
	Asked       moment
}

// request returns a request for consent as the viewer may see it.
func (p *pages) request(q *request) (*view.Request, error) {
	return view.Of(q.Context(), p.exec, q.id("id"), q.by)
}

// mayGrant reports whether the viewer may give a grant on a request.
func (p *pages) mayGrant(q *request, v *view.Request) bool {
	return v.MayDecide && p.exec.May(q.Context(), operator.Grant, q.by, operator.Target{Request: v.ID, DryRun: true}) == nil
}
