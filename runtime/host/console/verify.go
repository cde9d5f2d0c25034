package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// verify compares the journal with all that proves it. It is for who may audit all of it.
func (p *pages) verify(q *request) error {
	if !p.mayAudit(q, runtime.ActTarget{}) {
		return problem(httpguard.NotPermitted, "")
	}
	v := &p.verification
	if !v.running.TryLock() {
		return problem(httpguard.TooManyRequests, "a verification is going on")
	}
	defer v.running.Unlock()
	_ = http.NewResponseController(q.w).SetWriteDeadline(time.Time{}) // a server of net/http has one
	report, err := p.host.VerifyAudit(q.Context())
	if err != nil {
		return err
	}
	result := &verified{Report: report, At: momentOf(time.Now()), Words: verdicts[report.Verdict]}
	if report.Bad != nil {
		result.Bad, result.First = fmt.Sprintf("%s: %s", report.Bad.Class, report.Bad.What), report.Bad.First
	}
	v.mu.Lock()
	v.result = result
	v.mu.Unlock()
	http.Redirect(q.w, q.Request, p.link.Audit(), http.StatusSeeOther)
	return nil
}

// export sends the entries that the viewer may audit, as JSON lines. Where the journal cannot be read the last
// line says where it stops.
func (p *pages) export(q *request) error {
	after, err := positionOf(q.query.Get("after"))
	if err != nil {
		return err
	}
	deadline := http.NewResponseController(q.w)
	reader := kept{p, p.auditor(q), func() { _ = deadline.SetWriteDeadline(time.Now().Add(30 * time.Second)) }}
	h := q.w.Header()
	h.Set("Content-Type", "application/x-ndjson")
	h.Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	last, err := audit.Export(q.Context(), q.w, reader, after)
	if err == nil || q.Context().Err() != nil {
		return nil
	}
	p.tell(err)
	at := max(damagedAt(err), last+1)
	_, _ = fmt.Fprintf(q.w, "{\"seq\":%d,\"code\":%q}\n", at, httpguard.Damaged) // the client is gone otherwise
	return nil
}

// kept is the reader of an export, without the entries that the viewer may not audit.
type kept struct {
	*pages
	may  func(*journal.Entry) bool
	next func() // a page was read
}

// Read implements audit.Reader. An empty page is the end, or comes with the error of what cannot be read.
func (k kept) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	for {
		k.next()
		list, err := k.store.Read(ctx, after, limit)
		if len(list) == 0 {
			return nil, err
		}
		after = list[len(list)-1].Seq
		if list = slices.DeleteFunc(list, func(e journal.Entry) bool { return !k.may(&e) }); len(list) > 0 {
			return list, nil // the next page begins with what cannot be read
		}
	}
}

var _ audit.Reader = kept{}
