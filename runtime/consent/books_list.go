package consent

import (
	"cmp"
	"slices"
	"time"
)

// Request returns a request.
func (b *Books) Request(id string) (Request, bool) { return b.about(id).Request(id) }

// Grant returns a grant, live or not.
func (b *Books) Grant(id string) (Grant, bool) { return b.about(id).Grant(id) }

// Requests lists the requests of all sessions in the order in which they were made.
func (b *Books) Requests() []Request {
	return plainly(b.asked(func(of *shelved, add func(*request)) {
		for _, r := range of.requests {
			add(r)
		}
	}))
}

// Open lists the requests that wait for answers, in the order in which they were made.
func (b *Books) Open() []Request {
	return plainly(b.asked(func(of *shelved, add func(*request)) {
		for _, r := range of.open.list {
			add(r)
		}
	}))
}

// Page is Book.Page for all sessions. It looks at no session in which nothing waits.
func (b *Books) Page(f RequestFilter) []Request {
	if f.Session != "" {
		return b.Of(f.Session).Page(f)
	}
	return f.page(b.open, func(yield func(*request) bool) {
		for _, of := range b.queues[dueNext].list {
			for _, r := range of.open.list {
				if !yield(r) {
					return
				}
			}
		}
	})
}

// Ended is Book.Ended for all sessions.
func (b *Books) Ended(at time.Time, before string, n int) []Request {
	list := b.asked(func(of *shelved, add func(*request)) {
		for _, r := range of.requests {
			add(r)
		}
	})
	slices.Reverse(list)
	if before != "" {
		from := slices.IndexFunc(list, func(r *request) bool { return r.ID == before })
		if from < 0 {
			return []Request{}
		}
		list = list[from+1:]
	}
	return endedOf(list, at, n)
}

// Len returns how many requests wait for answers.
func (b *Books) Len() int { return b.open }

// Waiting returns how many requests of a session wait for answers.
func (b *Books) Waiting(session string) int { return b.Of(session).Len() }

// Grants lists the grants of all sessions in the order in which they were given, those that are not
// live any more too.
func (b *Books) Grants() []Grant {
	all := b.granted()
	list := make([]Grant, len(all))
	for i, g := range all {
		list[i] = g.Grant
	}
	return list
}

// asked returns requests of all sessions in the order in which they were made.
func (b *Books) asked(of func(of *shelved, add func(*request))) (list []*request) {
	for _, s := range b.sessions {
		of(s, func(r *request) { list = append(list, r) })
	}
	slices.SortFunc(list, func(x, y *request) int { return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.made, y.made)) })
	return list
}

// plainly returns requests as they are shown.
func plainly(list []*request) []Request {
	plain := make([]Request, len(list))
	for i, r := range list {
		plain[i] = r.Request
	}
	return plain
}

// granted returns the grants of all sessions in the order in which they were given.
func (b *Books) granted() (list []*grant) {
	for _, of := range b.sessions {
		for _, g := range of.grants {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(x, y *grant) int { return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.made, y.made)) })
	return list
}

// Due is Book.Due for the session in which something is due first.
func (b *Books) Due(at time.Time) []Event {
	of := b.queues[dueNext].first()
	if of == nil {
		return nil
	}
	return of.Due(at)
}

// DueOf is Due for one request.
func (b *Books) DueOf(at time.Time, id string) []Event { return b.about(id).DueOf(at, id) }

// Next returns when Due will have something; false when it will not.
func (b *Books) Next() (time.Time, bool) {
	of := b.queues[dueNext].first()
	if of == nil {
		return time.Time{}, false
	}
	return of.Next()
}

// Prune is Book.Prune for all sessions.
func (b *Books) Prune(before time.Time, most int) (forgotten []string) {
	for range most {
		of := b.queues[agedNext].first()
		if of == nil || !of.aged[0].at.Before(before) {
			break
		}
		id := of.aged[0].id
		forgotten = append(forgotten, of.Prune(before, 1)...)
		if of.requests[id] == nil && of.grants[id] == nil {
			delete(b.byRequest, id)
		}
		b.requeue(of)
		b.shed(of)
	}
	return forgotten
}
