package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
)

// flood makes n calls of a tool, many at a time, and returns how many had each outcome.
func (r *rig) flood(tool string, n int) map[runtime.OutcomeKind]int {
	r.Helper()
	const workers = 64
	run, err := r.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(r.Context(), engine.RunConfig{})
	require.NoError(r, err)
	turn := run.Turn(engine.TurnConfig{})
	input, err := json.Marshal(letter{"ada", "a letter with some text, as agents write them", secret})
	require.NoError(r, err)
	numbers := make(chan int)
	got := map[runtime.OutcomeKind]int{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range numbers {
				kind := turn.Execute(r.Context(), runtime.Call{ID: tool + strconv.Itoa(i), Tool: tool, Input: input}).Kind
				mu.Lock()
				got[kind]++
				mu.Unlock()
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	wait.Wait()
	return got
}

const (
	mostOfPage = 100 << 10 // bytes of a page
	looks      = 20        // of each page that is measured
)

// measure loads a page some times, wants it to be no longer than a page may be, and logs how long that takes. No time
// is asserted: docs/internal/figures.md has those of a quiet machine.
func (b *browser) measure(what, path string) *page {
	b.Helper()
	var p *page
	took := spans(func() { p = b.get(path) })
	require.Equal(b, http.StatusOK, p.StatusCode, path)
	b.Logf("%s: %d bytes, %s", what, len(p.text), took)
	assert.LessOrEqual(b, len(p.text), mostOfPage, path)
	return p
}

// spans says how long f takes.
func spans(f func()) string {
	took := make([]time.Duration, looks)
	for i := range took {
		begin := time.Now()
		f()
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return fmt.Sprintf("median %v, p95 %v", took[looks/2].Round(10*time.Microsecond), took[looks*95/100-1].Round(10*time.Microsecond))
}

var nextPage = regexp.MustCompile(`<a class="button" href="([^"]*(?:after|before)=[^"]*)">`)

// TestManyApprovals: the list of what waits has pages of a bounded length, the first as the last one, however much
// waits. Each request is on one page.
func TestManyApprovals(t *testing.T) {
	n := min(battery.Count(t, 300, 10_000), 10_000) // all of its pages are read
	r := startWith(t, func(c *host.Config) { c.Options = append(c.Options, engine.WithMaxOpenRequests(n)) })
	require.Equal(t, n, r.flood("send", n)[runtime.Pending])
	alice := r.as("alice")
	assert.Contains(t, alice.measure("the first page", "/").text, fmt.Sprintf("50 requests on this page, of %d that wait", n))
	seen := map[string]bool{}
	last := ""
	for path := "/"; path != ""; {
		p := alice.get(path)
		require.Equal(t, http.StatusOK, p.StatusCode)
		for _, m := range cards.FindAllStringSubmatch(p.text, -1) {
			require.False(t, seen[m[1]], "it is on two pages")
			seen[m[1]] = true
		}
		last, path = path, ""
		if m := nextPage.FindStringSubmatch(p.text); m != nil {
			path = html.UnescapeString(m[1])
		}
	}
	assert.Len(t, seen, n)
	alice.measure("the last page", last)
	alice.measure("a filter that nothing matches", "/?tool=burn")
	alice.measure("those that alice may answer", "/?mine=on")
	r.as("mallory").measure("for who may see none", "/")
	t.Logf("without a page, all requests with their arguments: %s", spans(func() { r.Executor.Requests() }))
	t.Logf("with a page: %s", spans(func() { r.Executor.OpenRequests(consent.RequestFilter{Limit: 50}) }))
}

var cards = regexp.MustCompile(`<li class="card" data-id="([^"]*)"`)

// TestManyCalls: a page of calls is of a bounded length with every filter.
func TestManyCalls(t *testing.T) {
	n := battery.Count(t, 500, 50_000)
	if n > 50_000 {
		n *= 2 // 1,000,000 by night
	}
	r := startWith(t, nil)
	require.Equal(t, n, r.flood("note", n)[runtime.Completed])
	r.callAs("rare", "file", "ada", "x")
	eve := r.as("eve", "audit")
	for _, filter := range []string{"", "tool=note", "tool=file", "session=s", "session=s&run=" + "s%2F1", "state=unfinished", "state=unsettled", "tool=nothing", "before=" + strconv.Itoa(n)} {
		eve.measure(fmt.Sprintf("calls of %d, %q", n, filter), "/calls?"+filter)
	}
}
