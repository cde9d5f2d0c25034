package console

import (
	"fmt"
	"net/http"
	"os"

	"github.com/ambit-tools/ambit/internal/catalog"
)

// health serves how the host is. Every caller may read it, as /metrics: it has no error texts, which are reported
// to the application.
func (p *pages) health(q *request) error {
	s, stats := p.store.Health(), p.exec.Stats()
	state := func(bad bool, words, otherwise string) string {
		if bad {
			return words
		}
		return otherwise
	}
	machine, _ := os.Hostname() // it is shown, and nothing else
	number := func(name string, n int) catalog.Fact { return fact(name, fmt.Sprint(n)) }
	d := struct {
		Ill                               bool
		Owner, Journal, Calls, Late, Lost []catalog.Fact
	}{
		Ill: s.Lost != nil || stats.Journal != nil,
		Owner: catalog.Said(
			fact("Process", fmt.Sprintf("%d on %s", os.Getpid(), machine)), fact("Epoch", fmt.Sprint(s.Epoch)),
			fact("Lease", state(s.Lost != nil, "lost: another process may own the store", "held")),
		),
		Journal: catalog.Said(
			fact("Takes entries", state(stats.Journal != nil, "no: nothing can run until it does", "yes")), fact("Entries", fmt.Sprint(s.Head)),
			fact("Write-ahead log", fmt.Sprintf("%d pages, %d not in the file yet", s.WALFrames, s.Unmoved)),
		),
		Calls: catalog.Said(
			number("In flight", stats.InFlight), number("Handlers that run", stats.Running), number("Queued for a slot of their tool", stats.Queued),
			number("Waiting for an answer", stats.Waiting), fact("Denied at capacity, so far", fmt.Sprint(stats.AtCapacity)),
		),
		Late: catalog.Said(
			number("Handlers that outlived their call", stats.Lingering), fact("Results that came too late, so far", fmt.Sprint(stats.LateResults)),
			number("Evaluations of the policy that do not end", stats.Abandoned), number("Tools whose breaker is open", stats.Broken),
		),
		Lost: catalog.Said(fact("Events and faults that a sink did not take, so far", fmt.Sprint(stats.Dropped))),
	}
	p.render(q, http.StatusOK, "health", "Health", d)
	return nil
}
