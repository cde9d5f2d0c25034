package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A typist types one line at each prompt.
type typist struct {
	mu    sync.Mutex
	lines []string
	said  bytes.Buffer
	in    *io.PipeWriter
}

func (p *typist) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said.Write(b)
	if strings.HasSuffix(string(b), "> ") && len(p.lines) > 0 {
		line := p.lines[0] + "\n"
		p.lines = p.lines[1:]
		p.said.WriteString(line)
		go io.WriteString(p.in, line)
	}
	return len(b), nil
}

const shown = `
refund wants to run for "agent"
  destructive; cannot be undone
  Give money back to the customer.
  Refund 4900 cents of order "1017"
  asked by large (refund.rego:8): more than 20.00 is given back
  with
    order  "1017"
    cents  4900
  it would do this
  | --- order 1017
  | +++ order 1017
  | @@ -1,2 +1,2 @@
  |  paid      4900
  | -refunded     0
  | +refunded  4900
`

// TestManagerAtATerminal approves the refund by hand.
func TestManagerAtATerminal(t *testing.T) {
	out, in := io.Pipe()
	defer in.Close()
	manager := &typist{lines: []string{"y"}, in: in}
	var stdout bytes.Buffer
	require.Zero(t, run(nil, out, &stdout, manager))
	require.Contains(t, stdout.String(), `{"outcome":"completed","output":{"refunded":4900}}`)
	manager.mu.Lock()
	defer manager.mu.Unlock()
	require.Contains(t, manager.said.String(), shown)
	require.Contains(t, manager.said.String(), "choice> y\n  This will be recorded: \"manager\" approves this call, once.\nAccepted. refund: ")
}

// TestSameEveryTime holds the output to one text.
func TestSameEveryTime(t *testing.T) {
	var first string
	for range 5 {
		var stdout, stderr bytes.Buffer
		require.Zero(t, run([]string{"-approve", "yes"}, nil, &stdout, &stderr), stderr.String())
		if first == "" {
			first = stdout.String()
		}
		require.Equal(t, first, stdout.String())
	}
}
