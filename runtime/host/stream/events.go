package stream

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// Events returns the handler for browsers: server-sent events. The query has after, session, run, call
// and any number of kind; one that comes twice, and any other, is refused. Last-Event-ID, which a browser sends when it connects again,
// goes before after. Without both the events begin now.
func (s *Stream) Events() http.Handler { return http.HandlerFunc(s.events) }

// parameters are those of the query of events.
var parameters = []string{"after", "session", "run", "call", "kind"}

func (s *Stream) events(w http.ResponseWriter, r *http.Request) {
	caller, ok := httpguard.CallerOf(r.Context())
	if !ok {
		httpguard.ProblemOf(httpguard.NotAuthenticated, "").Write(w)
		return
	}
	query, refused := httpguard.Query(r, "kind")
	if refused != nil {
		refused.Write(w)
		return
	}
	for name := range query {
		if !slices.Contains(parameters, name) {
			httpguard.ProblemOf(httpguard.BadRequest, wording.Quote(name)+" is no parameter: "+strings.Join(parameters, ", ")+" are").Write(w)
			return
		}
	}
	if len(r.Header.Values("Last-Event-ID")) > 1 {
		httpguard.ProblemOf(httpguard.BadRequest, "Last-Event-ID comes twice").Write(w)
		return
	}
	want := subscription{Session: query.Get("session"), Run: query.Get("run"), Call: query.Get("call"), Kinds: query["kind"]}
	from := r.Header.Get("Last-Event-ID")
	if from == "" {
		from = query.Get("after")
	}
	if from != "" {
		after, err := strconv.ParseUint(from, 10, 64)
		if err != nil {
			badPosition(s.feed.Head()).Write(w)
			return
		}
		want.After = &after
	}
	after, filter, problem := want.check(s.feed)
	if problem != nil {
		problem.Write(w)
		return
	}
	ctx, cancel := untilRevoked(r.Context(), caller)
	defer cancel(nil)
	q := newQueue(after)
	first := frameAbout(opened, time.Now(), positionData{Position: after})
	q.add(first)
	following := make(chan struct{})
	go func() {
		defer close(following)
		if err := s.follow(ctx, q, viewer{s.exec, caller.Actor}, after, filter); err != errStalled {
			cancel(err)
		}
	}()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	writeEvents(ctx, w, q)
	cancel(nil)
	<-following
}

// writeEvents writes what is in a queue until its last frame, or ctx ends.
func writeEvents(ctx context.Context, w http.ResponseWriter, q *queue) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{}) // nothing more is read
	// A write that waits for the reader ends with ctx.
	defer context.AfterFunc(ctx, func() { _ = c.SetWriteDeadline(time.Now()) })()
	for {
		f, some, last, err := q.take(ctx, idle)
		if err != nil {
			return
		}
		_ = c.SetWriteDeadline(time.Now().Add(writeTimeout))
		if ctx.Err() != nil { // it ended between take and the new deadline
			return
		}
		if some {
			_, err = fmt.Fprintf(w, "%s\ndata: %s\n\n", f.header(), f.text)
		} else {
			_, err = fmt.Fprint(w, ": alive\n\n")
		}
		if err != nil || last {
			_ = c.Flush() // the stream ends in any case
			return
		}
		if !q.more() && c.Flush() != nil { // frames that wait are sent together
			return
		}
	}
}
