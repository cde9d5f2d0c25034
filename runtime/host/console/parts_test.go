package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/catalog"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestTable: every value has a row, in the order of the text; long ones are cut and say by how much.
func TestTable(t *testing.T) {
	long := strings.Repeat("é", maxValue+7)
	text, err := json.Marshal(long)
	require.NoError(t, err)
	got := tableOf(json.RawMessage(`{"a":"x","b":{"c/d":[1e400,true,null,[],{}],"~":"y"},"":0,"long":` + string(text) + `}`))
	assert.Equal(t, table{Rows: []row{
		{"/a", "text", "x", 0}, {"/b/c~1d/0", "number", "1e400", 0}, {"/b/c~1d/1", "boolean", "true", 0}, {"/b/c~1d/2", "null", "null", 0},
		{"/b/c~1d/3", "list", "[]", 0}, {"/b/c~1d/4", "object", "{}", 0}, {"/b/~0", "text", "y", 0}, {"/", "number", "0", 0},
		{"/long", "text", long[:2*maxValue], 7},
	}}, got)
	assert.Equal(t, table{Rows: []row{{"", "object", "{}", 0}}}, tableOf(json.RawMessage(`{}`)))
	assert.Equal(t, table{Rows: []row{{"", "text", "x", 0}}}, tableOf(json.RawMessage(`"x"`)))
	assert.Empty(t, tableOf(nil).Rows)
}

// TestTableIsBounded: many members and deep values give a table that a browser takes.
func TestTableIsBounded(t *testing.T) {
	many := tableOf(json.RawMessage("[" + strings.Repeat("1,", 100_000) + "1]"))
	assert.Len(t, many.Rows, maxRows)
	assert.True(t, many.More)
	exact := tableOf(json.RawMessage("[" + strings.Repeat("1,", maxRows-1) + "1]"))
	assert.Len(t, exact.Rows, maxRows)
	assert.False(t, exact.More, "the end of the list is no value")
	deep := tableOf(json.RawMessage(strings.Repeat(`{"member":`, 128) + "1" + strings.Repeat("}", 128)))
	require.Len(t, deep.Rows, 1)
	assert.LessOrEqual(t, len(deep.Rows[0].Pointer), maxPointer+3)
}

func FuzzTable(f *testing.F) {
	for _, text := range []string{`{}`, `[[],{}]`, `{"a":{"b":[1,"x"]}}`, `nul`, `{"a"`, `]`, `{"a":1}{"b":2}`, `1 2`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := tableOf(text)
		if len(got.Rows) > maxRows {
			t.Fatal(len(got.Rows))
		}
	})
}

// TestDiff: lines are what a unified diff says, and the part that differs is marked where as many lines came
// as went.
func TestDiff(t *testing.T) {
	p := previewOf(&consent.Preview{MediaType: "text/x-diff", Text: "--- a\n+++ b\n@@ -1,3 +1,3 @@\n same\n-total 10 euros\n+total 99 euros\n-gone\n"})
	assert.Equal(t, []line{
		{Kind: "file", Before: "--- a"}, {Kind: "file", Before: "+++ b"}, {Kind: "place", Before: "@@ -1,3 +1,3 @@"}, {Kind: "same", Sign: " ", Before: "same"},
		{Kind: "removed", Sign: "-", Before: "total ", Mark: "10", Tail: " euros"}, {Kind: "added", Sign: "+", Before: "total ", Mark: "99", Tail: " euros"},
		{Kind: "removed", Sign: "-", Before: "gone"},
	}, p.Lines)
	p = previewOf(&consent.Preview{Text: "-5 degrees\n+ 3"})
	assert.Equal(t, []line{{Kind: "same", Before: "-5 degrees"}, {Kind: "same", Before: "+ 3"}}, p.Lines, "it is no diff")
	assert.Nil(t, previewOf(nil))
	p = previewOf(&consent.Preview{MediaType: "text/x-diff", Text: strings.Repeat("+x\n", maxLines+3)})
	assert.Equal(t, []int{maxLines, 3}, []int{len(p.Lines), p.More})
	p = previewOf(&consent.Preview{MediaType: "text/x-diff", Text: "-a\\u{202E}b\n+a\\x{FF}b"})
	for _, l := range p.Lines {
		assert.False(t, strings.HasSuffix(l.Before, `\`) || strings.HasSuffix(l.Mark, `\`), "a backslash stays with what it escapes: %+v", l)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("-a\n+b")
	f.Add("-é\n+è")
	f.Add("--- a\n+++ b\n@@\n-\n+\n")
	f.Add("-\xff\n+\xfe\xff")
	f.Fuzz(func(t *testing.T, text string) {
		p := previewOf(&consent.Preview{MediaType: "text/x-diff", Text: text})
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		for i, l := range p.Lines {
			whole := l.Sign + l.Before + l.Mark + l.Tail
			if whole != lines[i] && !strings.HasSuffix(whole, "...") {
				t.Fatalf("%q became %q", lines[i], whole)
			}
		}
	})
}

// TestLinks: an id is one part of a path, which a browser neither drops nor splits.
func TestLinks(t *testing.T) {
	l := links{"/ambit"}
	for _, id := range []string{"x", ".", "..", "...", "~", "~.", "a/b", "a//b", "%2e", "#3", "?x", "\u202e", "a b", `\`, "é"} {
		link := l.Approval(id)
		var got string
		mux := http.NewServeMux()
		mux.HandleFunc("GET /ambit/approvals/{id}", func(_ http.ResponseWriter, r *http.Request) { got = (&request{Request: r}).id("id") })
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, link, nil))
		assert.Equal(t, id, got, link)
		last := link[strings.LastIndex(link, "/")+1:]
		assert.NotContains(t, []string{".", "..", "%2E", "%2E%2E"}, last, "browsers drop them")
	}
}

// TestSpan: a duration has its two largest units.
func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 61 * time.Second: "1 min 1 s", time.Hour + time.Second: "1 h 1 s", 25 * time.Hour: "1 d 1 h", 10 * time.Minute: "10 min",
		49*time.Hour + 59*time.Minute: "2 d 1 h",
	} {
		assert.Equal(t, want, catalog.Span(d))
	}
}

// TestFill: arguments stand where a message of the declaration names them.
func TestFill(t *testing.T) {
	assert.Equal(t, "Pay 5 to ada, {no}", fill("Pay {sum} to {to.name}, {no}", json.RawMessage(`{"sum":5,"to":{"name":"ada"}}`)))
	assert.Equal(t, "Pay {sum}", fill("Pay {sum}", json.RawMessage(`not JSON`)))
}

// TestHealthWords: what the journal and the lease are like is told in words, and no text of an error is.
func TestHealthWords(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	own := sqlite.Owner{Epoch: 3, PID: 7, Host: "here", Since: now}
	damaged := &sqlite.CorruptError{Path: "secret", Damaged: 13}
	lost := func(err error) sqlite.Health { return sqlite.Health{Epoch: 3, Owner: own, Lost: err} }
	for name, c := range map[string]struct {
		health         sqlite.Health
		stats          runtime.Stats
		lease, journal string
	}{
		"well":        {lost(nil), runtime.Stats{Renewed: now, Until: now.Add(time.Minute)}, "held until 2026-01-02 03:05:05 UTC, unless it is renewed before", "yes"},
		"unavailable": {lost(nil), runtime.Stats{Journal: fmt.Errorf("secret: %w", journal.ErrUnavailable), Renewed: now, Until: now}, "held until 2026-01-02 03:04:05 UTC, unless it is renewed before", "not now: nothing can run until it does"},
		"not renewed": {lost(nil), runtime.Stats{Journal: journal.ErrLost, Renewed: now}, "lost: this process does nothing more that needs the store, until it is started again", "no: nothing can run any more"},
		"failed":      {lost(fmt.Errorf("secret: %w", journal.ErrLost)), runtime.Stats{Renewed: now}, "lost: this process does nothing more that needs the store, until it is started again", "no: a write has failed, so that it is not known what is in the file. Start the application again"},
		"damaged":     {lost(nil), runtime.Stats{Journal: fmt.Errorf("secret: %w", damaged), Renewed: now, Until: now}, "held until 2026-01-02 03:04:05 UTC, unless it is renewed before", "no: the file is damaged, and nothing can run. Audit shows what can be read"},
		"fenced":      {sqlite.Health{Epoch: 2, Owner: own}, runtime.Stats{Renewed: now, Until: now}, "lost: the owner of epoch 3 has taken over from this process", "no: another process writes it"},
		"closed":      {sqlite.Health{Epoch: 3, Lost: journal.ErrClosed}, runtime.Stats{Renewed: now}, "given back: the application has closed the store", "no: the store is closed"},
		"no owners":   {lost(nil), runtime.Stats{}, "held", "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			facts := map[string]string{}
			for _, f := range ownerFacts(&c.health, &c.stats) {
				facts[f.Name] = f.Value
				assert.NotContains(t, f.Value, "secret")
			}
			assert.Equal(t, c.lease, facts["Lease"])
			assert.Equal(t, c.journal, takesEntries(&c.health, c.stats.Journal))
			process := "7 on here"
			if c.health.Owner.Epoch == 0 {
				process = "not known: the store cannot be asked"
			}
			assert.Equal(t, process, facts["Process"])
		})
	}
	assert.Equal(t, "none", brokenWords(&runtime.Stats{}))
	assert.Equal(t, "a, b", brokenWords(&runtime.Stats{BrokenTools: []string{"a", "b"}}))
	assert.Equal(t, "all, because of a, b", brokenWords(&runtime.Stats{BrokenTools: []string{"a", "b"}, Halted: true}))
}
