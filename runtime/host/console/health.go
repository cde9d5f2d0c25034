package console

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// health serves how the host is. Every caller may read it, as /metrics: it has no error texts, which are reported
// to the application.
func (p *pages) health(q *request) error {
	s, stats := p.store.Health(), p.exec.Stats()
	number := func(name string, n int) catalog.Fact { return fact(name, fmt.Sprint(n)) }
	d := struct {
		Ill                                         bool
		Owner, Journal, Calls, Queues, Policy, Late []catalog.Fact
		Lost                                        []catalog.Fact
	}{
		Ill:   s.Lost != nil || stats.Journal != nil || successor(&s) != "",
		Owner: ownerFacts(&s, &stats),
		Journal: catalog.Said(
			fact("Takes entries", takesEntries(&s, stats.Journal)), fact("Entries", fmt.Sprint(s.Head)), fact("Verified", p.verifiedWords()),
			fact("Write-ahead log", fmt.Sprintf("%d pages, %d not in the file yet", s.WALFrames, s.Unmoved)),
		),
		Calls: catalog.Said(
			number("In flight", stats.InFlight), number("Handlers that run", stats.Running), number("Queued for a slot of their tool", stats.Queued),
			number("Waiting for an answer", stats.Waiting), fact("Denied at capacity, so far", fmt.Sprint(stats.AtCapacity)),
		),
		Policy: catalog.Said(
			fact("Tools about which the policy is not asked, because it hangs", brokenWords(&stats)),
			number("Evaluations of the policy that do not end", stats.Abandoned),
		),
		Late: catalog.Said(
			number("Handlers that outlived their call", stats.Lingering), fact("Results that came too late, so far", fmt.Sprint(stats.LateResults)),
		),
		Lost: catalog.Said(fact("Events and faults that a sink did not take, so far", fmt.Sprint(stats.Dropped))),
	}
	for _, tool := range slices.Sorted(maps.Keys(stats.Queues)) {
		d.Queues = append(d.Queues, number(tool, stats.Queues[tool]))
	}
	p.render(q, http.StatusOK, "health", "Health", d)
	return nil
}

// ownerFacts say which process owns the store, and for how long.
func ownerFacts(s *sqlite.Health, stats *runtime.Stats) []catalog.Fact {
	process, since := "not known: the store cannot be asked", ""
	if s.Owner.Epoch != 0 {
		process, since = fmt.Sprintf("%d on %s", s.Owner.PID, cmp.Or(s.Owner.Host, "a host without a name")), momentOf(s.Owner.Since).Text
	}
	lease, renewed := "held", ""
	switch {
	case successor(s) != "":
		lease = successor(s)
	case errors.Is(s.Lost, journal.ErrClosed):
		lease = "given back: the application has closed the store"
	case s.Lost != nil || stats.Until.IsZero() && !stats.Renewed.IsZero():
		lease = "lost: this process does nothing more that needs the store, until it is started again"
	case !stats.Until.IsZero():
		lease = fmt.Sprintf("held until %s, unless it is renewed before", momentOf(stats.Until).Text)
	}
	if !stats.Renewed.IsZero() {
		renewed = momentOf(stats.Renewed).Text
	}
	return catalog.Said(
		fact("Process", process), fact("Since", since), fact("Epoch", fmt.Sprint(s.Epoch)), fact("Lease", lease), fact("Renewed last", renewed),
	)
}

// successor says which owner has taken the store over from this process, empty when none has.
func successor(s *sqlite.Health) string {
	if s.Owner.Epoch == 0 || s.Owner.Epoch == s.Epoch {
		return ""
	}
	return fmt.Sprintf("lost: the owner of epoch %d has taken over from this process", s.Owner.Epoch)
}

// takesEntries says whether the journal takes entries.
func takesEntries(s *sqlite.Health, cause error) string {
	var damage *sqlite.CorruptError
	switch {
	case errors.Is(s.Lost, journal.ErrClosed):
		return "no: the store is closed"
	case successor(s) != "":
		return "no: another process writes it"
	case errors.As(s.Lost, &damage), errors.As(cause, &damage):
		return "no: the file is damaged, and nothing can run. Audit shows what can be read"
	case s.Lost != nil:
		return "no: a write has failed, so that it is not known what is in the file. Start the application again"
	case errors.Is(cause, journal.ErrUnavailable):
		return "not now: nothing can run until it does"
	case cause != nil:
		return "no: nothing can run any more"
	}
	return "yes"
}

// verifiedWords tell when the journal was verified last, and how that ended. Positions are for who may audit.
func (p *pages) verifiedWords() string {
	if v := p.verification.last(); v != nil {
		return v.At.Text + ": " + v.Words
	}
	return "not since the application was started"
}

// brokenWords name the tools whose breaker is open.
func brokenWords(stats *runtime.Stats) string {
	switch {
	case stats.Halted:
		return "all, because of " + strings.Join(stats.BrokenTools, ", ")
	case len(stats.BrokenTools) == 0:
		return "none"
	}
	return strings.Join(stats.BrokenTools, ", ")
}
