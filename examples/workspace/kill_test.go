//go:build unix

package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/buildcache"
)

var killSeed = flag.Uint64("kill.seed", 0, "of the choices of TestKills; 0: another one each time")

// TestKills kills the program with SIGKILL, always on the same store and
// directory, up to 20 ms after a random event, and compares what the next start
// finds with a model of what was promised: outcomes that were printed last, no
// message is sent twice, files are as the outcomes say, and every call that waits
// for consent can still be answered.
func TestKills(t *testing.T) {
	if *killSeed == 0 {
		*killSeed = rand.Uint64()
	}
	m := newModel(t, rand.New(rand.NewPCG(*killSeed, 0)))
	b := &killTest{t: t, model: m, binary: buildcache.Program(t, "."), store: filepath.Join(t.TempDir(), "ambit.db")}
	defer func() { t.Logf("seed %d, %d kills: %s", *killSeed, b.kills, m.figures()) }()
	for range battery.Count(t, 10, 200) {
		b.cycle()
	}
	b.last()
}

// A killTest starts the program and kills it.
type killTest struct {
	t             *testing.T
	model         *model
	binary, store string
	starting      time.Duration // how long the start before took to print its first line
	kills         int
}

// start starts the program.
func (b *killTest) start(args ...string) *process {
	b.t.Helper()
	args = append([]string{"-store", b.store, "-dir", b.model.dir, "-approve", "later"}, args...)
	return startProgram(b.t, exec.Command(b.binary, args...))
}

// cycle lets the program work and kills it.
func (b *killTest) cycle() {
	p := b.start("-calls", "-", "-json")
	began := time.Now()
	after := b.model.random.IntN(12)
	kill := func(within time.Duration) {
		time.AfterFunc(time.Duration(b.model.random.Int64N(int64(within))), func() { _ = p.Process.Kill() })
	}
	if after == 0 { // while it starts
		kill(max(b.starting, 20*time.Millisecond) * 3 / 2)
	}
	var s step
	for lines := 0; ; {
		s = b.model.next()
		if lines++; lines == after { // mostly while it is at this line
			kill([]time.Duration{2 * time.Millisecond, 4 * time.Millisecond, 20 * time.Millisecond}[b.model.random.IntN(3)])
		}
		if _, err := p.in.Write([]byte(s.line + "\n")); err != nil {
			break
		}
		if !b.answered(p, s) {
			break
		}
		if lines == 1 {
			b.starting = time.Since(began)
		}
	}
	b.model.interrupted(s)
	_ = p.Wait()
	require.Equal(b.t, -1, p.ProcessState.ExitCode(), "the program ended by itself: %s", p.stderr.String())
	b.kills++
}

// answered reads lines up to the one that answers a step. It is false when the
// program was killed before that.
func (b *killTest) answered(p *process, s step) bool {
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			require.NotContains(b.t, line, "}\n")
			return false
		}
		if b.model.learn(line, s) {
			return true
		}
	}
}

// last has everything told once more, and what waits answered, by a start that is
// not killed; the one after that finds nothing left to do.
func (b *killTest) last() {
	p := b.start("-calls", "-", "-json")
	tell := func(s step) {
		_, err := p.in.Write([]byte(s.line + "\n"))
		require.NoError(b.t, err, "%s", p.stderr.String())
		require.True(b.t, b.answered(p, s), "no answer to %s: %s", s.line, p.stderr.String())
	}
	if b.model.cut != nil {
		tell(*b.model.cut)
	}
	for _, s := range b.model.everything() {
		tell(s)
	}
	b.model.check()
	require.NoError(b.t, p.in.Close())
	_ = p.Wait()
	require.Equal(b.t, 0, p.ProcessState.ExitCode(), "%s", p.stderr.String())

	p = b.start("-calls", os.DevNull)
	rest, code := p.rest(b.t)
	require.Equal(b.t, 0, code, "%s", p.stderr.String())
	require.True(b.t, strings.HasPrefix(rest, "\n0 calls"), rest)
	require.Contains(b.t, rest, "\naudit: ok, ")
	b.model.check()
	b.model.checkOutbox(b.store + ".outbox")
}
