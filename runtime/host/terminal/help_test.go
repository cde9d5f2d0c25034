package terminal_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/terminal"
)

// A person types one line at each prompt, and ends the input after the last.
type person struct {
	mu    sync.Mutex
	lines []string
	said  strings.Builder
	in    *io.PipeWriter
	out   *io.PipeReader
}

func newPerson(lines ...string) *person {
	p := &person{lines: lines}
	p.out, p.in = io.Pipe()
	return p
}

func (p *person) Read(b []byte) (int, error) { return p.out.Read(b) }

func (p *person) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said.Write(b)
	if strings.HasSuffix(string(b), "> ") {
		if len(p.lines) == 0 {
			go p.in.Close()
			return len(b), nil
		}
		line := p.lines[0] + "\n"
		p.lines = p.lines[1:]
		p.said.WriteString(line)
		go io.WriteString(p.in, line)
	}
	return len(b), nil
}

func (p *person) heard() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// A desk takes answers.
type desk struct {
	answers chan action.Answer
	res     action.Resolution
}

func newDesk() *desk {
	return &desk{answers: make(chan action.Answer, 10), res: action.Resolution{Kind: runtime.ResolutionAccepted}}
}

func (d *desk) Decide(_ context.Context, _ string, a action.Answer) action.Resolution {
	d.answers <- a
	return d.res
}

func request(args string) *consent.Notice {
	created := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := &consent.Notice{
		Request: consent.Request{
			ID: "r1", CallID: "c1", Tool: "file_write", Principal: "agent", Effect: "write",
			Terms: consent.Terms{
				Args:        json.RawMessage(args),
				Reasons:     []consent.Reason{{Code: "declared", Message: "Write {path}"}},
				Requirement: consent.Requirement{Quorum: 1, MaxCover: runtime.CoverTool},
			},
			Created: created, Expires: created.Add(5 * time.Minute),
		},
		Covers: []runtime.GrantCover{runtime.CoverExact, runtime.CoverArgs, runtime.CoverTool},
	}
	return r
}

// converse asks one person about one request and returns what was answered, if
// anything was, and what was said.
func converse(t *testing.T, r *consent.Notice, lines ...string) (given *action.Answer, said string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { given, said = talk(t, r, lines) })
	return given, said
}

func talk(t *testing.T, r *consent.Notice, lines []string) (*action.Answer, string) {
	t.Helper()
	p, d := newPerson(lines...), newDesk()
	a, err := terminal.New("alice", p, p)
	require.NoError(t, err)
	require.NoError(t, a.Notify(t.Context(), r))
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, d) }()
	select {
	case answer := <-d.answers:
		synctest.Wait()
		require.Contains(t, p.heard(), "Accepted.")
		stop()
		p.in.Close()
		require.NoError(t, ignoreEnd(<-served))
		return &answer, p.heard()
	case err := <-served:
		stop()
		require.ErrorContains(t, err, "has ended")
		return nil, p.heard()
	}
}

func ignoreEnd(err error) error {
	if err != nil && strings.Contains(err.Error(), "has ended") {
		return nil
	}
	return err
}

// A quiet reader says nothing until it is closed.
type quiet struct{ done chan struct{} }

func newQuiet() *quiet { return &quiet{make(chan struct{})} }

func (q *quiet) Read([]byte) (int, error) {
	<-q.done
	return 0, io.EOF
}

func (q *quiet) Close() { close(q.done) }

// listening returns a writer that records what is printed to p, who types nothing.
func listening(p *person) io.Writer { return listener{p} }

type listener struct{ *person }

func (l listener) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.Write(b)
}
