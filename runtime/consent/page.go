package consent

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// A RequestFilter says which open requests a page has. A field that is empty matches all of them.
type RequestFilter struct {
	Tool, Effect, Session string

	Approver string   // an id whose answer the requirement of the request admits
	Groups   []string // that the approver is in

	After Place // of the last request of the page before; zero: from the first
	Limit int   // of requests
}

// A Place is where a request is in the list of the open ones: those that expire first come first, and of those
// that expire at one instant the one with the smaller id.
type Place struct {
	Expires time.Time
	ID      string
}

// Place returns where r is in the list of the open requests.
func (r *Request) Place() Place { return Place{r.Expires, r.ID} }

// Compare returns -1 when p comes before q, 1 when it comes after it, and 0 when they are equal.
func (p Place) Compare(q Place) int {
	return cmp.Or(p.Expires.Compare(q.Expires), strings.Compare(p.ID, q.ID))
}

// wants reports whether f matches a request. It asks last what takes longest.
func (f *RequestFilter) wants(r *Request) bool {
	return (f.Tool == "" || f.Tool == r.Tool) && (f.Effect == "" || f.Effect == r.Effect) &&
		(f.Session == "" || f.Session == r.Session) && r.Place().Compare(f.After) > 0 &&
		(f.Approver == "" || r.Requirement.Permits(f.Approver, f.Groups, r.Principal) == NotRejected)
}

// Page lists at most f.Limit of the requests that wait for answers and that f matches, in the order of their
// places. It looks once at each open request and copies those of the page alone.
func (b *Book) Page(f RequestFilter) []Request { return f.page(b.Len(), slices.Values(b.open.list)) }

// page returns the page of n open requests.
func (f *RequestFilter) page(n int, open iter.Seq[*request]) []Request {
	most := min(max(f.Limit, 0), n)
	list := make([]*request, 0, 2*most)
	order := func(x, y *request) int { return x.Place().Compare(y.Place()) }
	var last *request // of the first that were found, once there are enough
	cut := func() {
		slices.SortFunc(list, order)
		list = list[:min(most, len(list))]
	}
	for r := range open {
		if most == 0 || last != nil && order(r, last) > 0 || !f.wants(&r.Request) {
			continue
		}
		if list = append(list, r); len(list) == 2*most {
			cut()
			last = list[most-1]
		}
	}
	cut()
	page := make([]Request, len(list))
	for i, r := range list {
		page[i] = r.Request
	}
	return page
}
