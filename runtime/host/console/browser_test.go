package console_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/console"
)

// scripts is the folder of the tests that drive a browser.
const scripts = "../../../.ci/browser"

// TestBrowser runs the tests of .ci/browser in a real browser. They ask this process for hosts, and for what
// happens in them. AMBIT_BROWSER names the browser and AMBIT_NODE the Node.js that drives it, as
// .ci/browser/install prints them; AMBIT_BROWSER_TESTS is a pattern of names of tests, and AMBIT_BROWSER_OUT the
// folder for the screenshots.
func TestBrowser(t *testing.T) {
	if os.Getenv("AMBIT_BROWSER") == "" {
		t.Skip("AMBIT_BROWSER names no browser: .ci/browser/install prints what to set")
	}
	c := newControl(t)
	require.NoError(t, c.drive(os.Getenv("AMBIT_BROWSER_TESTS")))
	for _, r := range c.rigs {
		for line := range strings.Lines(r.reported.String()) {
			expected := strings.HasPrefix(line, "call ") || r.damaged && strings.Contains(line, " is damaged at entry ")
			assert.True(t, expected, "what is not about a call: %s", line)
		}
	}
}

// newControl returns a control that scripts reach.
func newControl(t *testing.T) *control {
	c := &control{T: t, work: make(chan func())}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// drive runs those tests of the scripts whose names match a pattern, all for none, and does what they ask for.
func (c *control) drive(pattern string, env ...string) error {
	files, err := filepath.Glob(filepath.Join(scripts, "*.test.mjs"))
	require.NoError(c, err)
	require.NotEmpty(c, files)
	args := []string{"--test", "--test-isolation=none", "--test-reporter=spec"}
	if pattern != "" {
		args = append(args, "--test-name-pattern="+pattern)
	}
	cmd := exec.Command(os.Getenv("AMBIT_NODE"), append(args, files...)...)
	cmd.Env = append(append(os.Environ(), "AMBIT_CONTROL="+c.url), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	require.NoError(c, cmd.Start())
	c.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless a test has failed here
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case f := <-c.work:
			f()
		case err := <-done:
			return err
		}
	}
}

// A control does in hosts what scripts ask for. Its work is done by the goroutine of the test, one after the
// other.
type control struct {
	*testing.T
	url  string
	work chan func()
	rigs []*stage
}

// A stage is a host that a script uses.
type stage struct {
	*rig
	begun chan struct{}  // has an element for each call of hold whose handler runs
	said  chan string    // what a call of hold reports
	held  chan struct{}  // closed when the calls of hold may end
	wait  sync.WaitGroup // for these calls

	damaged bool // its journal, by a script
}

// An order is what a script asks for. Host is the number of the host that it is about.
type order struct {
	Host                                  int
	Prefix                                string
	ID, By, Call, Tool, To, Text, Message string
	Groups                                []string
	N                                     int
	Approve, Grant                        bool
}

// ServeHTTP takes an order, whose name is the path.
func (c *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	do, ok := orders[r.URL.Path[1:]]
	if !ok {
		http.NotFound(w, r)
		return
	}
	done := make(chan any, 1)
	select {
	case c.work <- func() { done <- do(c, &o) }:
	case <-r.Context().Done():
		return
	}
	select {
	case answer := <-done:
		_ = json.NewEncoder(w).Encode(answer)
	case <-r.Context().Done(): // the test has failed: the script is killed
	}
}

// orders are what scripts may ask for.
var orders = map[string]func(c *control, o *order) any{
	"open":    (*control).open,
	"login":   func(c *control, o *order) any { return c.of(o).LoginURL(o.ID, o.Groups...) },
	"token":   func(c *control, o *order) any { return c.of(o).as(o.ID, o.Groups...).token },
	"ask":     func(c *control, o *order) any { return c.of(o).ask(o.Tool, o.To, o.Text) },
	"call":    func(c *control, o *order) any { return c.of(o).callAs(o.Call, o.Tool, o.To, o.Text).Kind.String() },
	"decide":  (*control).decide,
	"flood":   func(c *control, o *order) any { return c.of(o).flood(o.Tool, o.N)[runtime.Pending] },
	"hold":    (*control).hold,
	"big":     (*control).big,
	"say":     func(c *control, o *order) any { c.of(o).said <- o.Text; return nil },
	"run":     (*control).run,
	"await":   (*control).await,
	"damage":  (*control).spoil,
	"release": func(c *control, o *order) any { close(c.of(o).held); return nil },
	"status":  func(c *control, o *order) any { return c.of(o).status(o.ID) },
	"callof":  func(c *control, o *order) any { q, _ := c.of(o).Executor.Request(o.ID); return q.CallID },
	"end":     func(c *control, o *order) any { return c.of(o).EndSessions(o.ID) },
	"printed": func(c *control, o *order) any { return c.of(o).printed.String() + c.of(o).reported.String() },
	"hostile": func(*control, *order) any { return hostile },
}

func (c *control) of(o *order) *stage {
	require.Less(c, o.Host, len(c.rigs))
	return c.rigs[o.Host]
}

// open opens a host. Its number and its address are the answer.
func (c *control) open(o *order) any {
	s := &stage{begun: make(chan struct{}, 100), said: make(chan string), held: make(chan struct{})}
	c.Cleanup(s.wait.Wait) // the host is closed by then
	s.rig = startWith(c.T, func(cfg *host.Config) {
		cfg.Tools = append(append(cfg.Tools, s.tools()...), anythingTools(c.T)...)
		cfg.Options = append(cfg.Options, engine.WithParticipant("elsewhere", elsewhere{}), engine.WithMaxOpenRequests(20_000))
		cfg.Grace = time.Millisecond // a script may have left calls of hold
	}, func(co *console.Options) { co.Prefix, co.Title = o.Prefix, "Post office" })
	c.rigs = append(c.rigs, s)
	return map[string]any{"host": len(c.rigs) - 1, "base": "http://" + s.Addr().String(), "secret": secret}
}

// decide answers a request in the name of another person.
func (c *control) decide(o *order) any {
	a := action.Answer{By: runtime.Actor{ID: o.By, Groups: o.Groups}, Approve: o.Approve, Message: o.Message, NoWait: true}
	if o.Grant {
		a.Grant, a.Cover = consent.ForSession, runtime.CoverTool
	}
	if o.Text != "" {
		edited, err := json.Marshal(letter{o.To, o.Text, secret})
		require.NoError(c, err)
		a.Edit = edited
	}
	res := c.of(o).Executor.Decide(c.Context(), o.ID, a)
	require.Equal(c, consent.NotRejected, res.Reason, "%+v", res)
	return res.Kind.String()
}

// hold begins a call that runs until it is released or cancelled.
func (c *control) hold(o *order) any {
	s := c.of(o)
	run, err := s.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(c.Context(), engine.RunConfig{})
	require.NoError(c, err)
	input, err := json.Marshal(letter{o.To, o.Text, secret})
	require.NoError(c, err)
	ctx := context.WithoutCancel(c.Context())
	s.wait.Go(func() {
		run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: o.Call, Tool: "hold", Input: input})
	})
	<-s.begun
	return nil
}
