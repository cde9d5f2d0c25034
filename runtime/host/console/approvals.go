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
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/view"
)

const (
	perPage       = 50
	maxCandidates = 1_000 // calls or grants that the operator policy is asked about for one page
)

// A waitingFilter says which requests a list has.
type waitingFilter struct {
	consent.RequestFilter
	Mine bool // that the viewer may answer
}

// filterOf reads the filter of a list from its URL.
func filterOf(v url.Values) (f waitingFilter, err error) {
	f.RequestFilter = consent.RequestFilter{Tool: v.Get("tool"), Effect: v.Get("effect"), Session: v.Get("session"), Limit: perPage}
	f.Mine = v.Get("mine") != ""
	if text := v.Get("after"); text != "" {
		number, id, _ := strings.Cut(text, ".")
		expires, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return f, problem(httpguard.BadPosition, "after is not a place of the list")
		}
		f.After = consent.Place{Expires: time.Unix(0, expires), ID: id}
	}
	return f, nil
}

// set reports whether the list has not all that waits.
func (f *waitingFilter) set() bool { return f.Tool+f.Effect+f.Session != "" || f.Mine }

// next is the query of the page that begins after a place.
func (f *waitingFilter) next(after consent.Place) string {
	v := url.Values{"after": {strconv.FormatInt(after.Expires.UnixNano(), 10) + "." + after.ID}}
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

// approvals serves the list of what waits.
func (p *pages) approvals(q *request) error {
	f, err := filterOf(q.query)
	if err != nil {
		return err
	}
	list, place, err := view.Open(q.Context(), p.exec, f.RequestFilter, f.Mine, q.by)
	if err != nil {
		return err
	}
	next := ""
	if place.ID != "" {
		next = f.next(place)
	}
	if wantsJSON(q.Request) {
		return writeJSON(q.w, map[string]any{"approvals": allFilled(list), "next": next})
	}
	data := struct {
		Filter  waitingFilter
		Any     bool // a filter is set
		Effects []string
		Items   []waitingItem
		Next    string
		Waiting int // requests, those included that this viewer may not see
	}{f, f.set(), []string{"read", "write", "destructive"}, nil, next, p.exec.Stats().Waiting}
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
	list, err := view.Ended(q.Context(), p.exec, q.query.Get("before"), perPage, q.by)
	if err != nil {
		return err
	}
	if wantsJSON(q.Request) {
		return writeJSON(q.w, map[string]any{"approvals": allFilled(list)})
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
	return v.MayDecide && p.exec.May(q.Context(), runtime.ActGrant, q.by, runtime.ActTarget{Request: v.ID, DryRun: true}) == nil
}

// filled returns a request for a program, with the arguments in its messages.
func filled(v *view.Request) *view.Request {
	f := *v
	f.Message, f.Reasons = fill(v.Message, v.Args), slices.Clone(v.Reasons)
	for i := range f.Reasons {
		f.Reasons[i].Message = fill(f.Reasons[i].Message, v.Args)
	}
	return &f
}

// allFilled returns requests for a program.
func allFilled(list []*view.Request) []*view.Request {
	out := make([]*view.Request, len(list))
	for i, v := range list {
		out[i] = filled(v)
	}
	return out
}
