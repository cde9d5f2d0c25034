package process_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// TestKeeper writes random texts in random pieces: what is kept is their head and tail.
func TestKeeper(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for seed := range 300 {
		most := r.IntN(40)
		k := process.NewKeeper(int64(most))
		var all []byte
		for range r.IntN(12) {
			piece := bytes.Repeat([]byte{byte('a' + r.IntN(26)), '\n'}[:1+r.IntN(2)], r.IntN(15))
			n, err := k.Write(piece)
			require.NoError(t, err)
			require.Equal(t, len(piece), n)
			all = append(all, piece...)
		}
		o := k.Output()
		require.Equal(t, int64(len(all)), o.Size, seed)
		require.Equal(t, sha256.Sum256(all), o.SHA256, seed)
		rows := bytes.Count(all, []byte("\n"))
		if len(all) > 0 && all[len(all)-1] != '\n' {
			rows++
		}
		require.EqualValues(t, rows, o.Lines, seed)
		if len(all) <= most {
			require.Equal(t, string(all), string(o.Head)+string(o.Tail), seed)
			require.False(t, o.Truncated, seed)
			continue
		}
		require.True(t, o.Truncated, seed)
		require.Equal(t, string(all[:most-most/2]), string(o.Head), seed)
		require.Equal(t, string(all[len(all)-most/2:]), string(o.Tail), seed)
		require.EqualValues(t, len(all)-most, o.Dropped(), seed)
	}
}

func keep(most int64, text string) *process.Output {
	k := process.NewKeeper(most)
	_, _ = k.Write([]byte(text))
	o := k.Output()
	return &o
}

func TestLines(t *testing.T) {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	for _, most := range []int64{0, 1, 7, 8, 50, 64, 100, 101, 10_000} {
		lines, dropped := process.Lines(keep(most, text.String()))
		require.EqualValues(t, 100, int64(len(lines))+dropped, "%d", most)
		for _, l := range lines {
			require.Contains(t, text.String(), l+"\n", most) // whole ones
			require.True(t, strings.HasPrefix(l, "line "), "%d: %q", most, l)
		}
	}
	lines, dropped := process.Lines(keep(100, "a\r\n\nb"))
	require.Equal(t, []string{"a", "", "b"}, lines)
	require.Zero(t, dropped)
	lines, dropped = process.Lines(keep(100, ""))
	require.Empty(t, lines)
	require.Zero(t, dropped)
}

func TestJSONLines(t *testing.T) {
	values, dropped, err := process.JSONLines(keep(100, "{\"a\":1}\n\n[2]\r\n"))
	require.NoError(t, err)
	require.Zero(t, dropped)
	require.Len(t, values, 2)
	require.JSONEq(t, "[2]", string(values[1]))
	_, _, err = process.JSONLines(keep(100, "{}\nno\n"))
	require.ErrorContains(t, err, "line 2")
	values, dropped, err = process.JSONLines(keep(20, strings.Repeat("[1,2]\n", 10)))
	require.NoError(t, err)
	require.EqualValues(t, 10, int64(len(values))+dropped)
}

func TestText(t *testing.T) {
	exit := &process.Exit{Code: 3, Stdout: *keep(100, "a\xffb"), Stderr: *keep(8, "ééééééé")}
	out := process.Text(exit)
	require.Equal(t, "a\uFFFDb", out.Stdout)
	require.True(t, out.Binary && out.Truncated)
	require.Equal(t, "éé\n[6 bytes left out]\néé", out.Stderr)
	out = process.Text(&process.Exit{Stderr: *keep(7, "ééééééé")}) // the cut is within a character
	require.False(t, out.Binary, "%q", out.Stderr)
}

func TestExits(t *testing.T) {
	x := process.Exits{1: runtime.ExitOK, 2: runtime.ExitPermissionDenied, 0: runtime.ExitSystemError}
	require.NoError(t, x.Check())
	for _, c := range []struct {
		exit process.Exit
		want runtime.ExitCategory
	}{
		{process.Exit{Code: 0}, runtime.ExitSystemError}, {process.Exit{Code: 1}, runtime.ExitOK}, {process.Exit{Code: 2}, runtime.ExitPermissionDenied},
		{process.Exit{Code: 7}, runtime.ExitSystemError}, {process.Exit{Code: -1, Signal: "SIGSEGV"}, runtime.ExitProcessKilled},
		{process.Exit{Cause: process.Ended}, runtime.ExitTimeout}, {process.Exit{Cause: process.LimitReached}, runtime.ExitResourceExhausted},
		{process.Exit{Cause: process.Stale}, runtime.ExitProcessKilled}, {process.Exit{Cause: process.Lost, Code: -1}, runtime.ExitProcessKilled},
	} {
		require.Equal(t, c.want, x.Of(&c.exit), "%+v", c.exit)
	}
	require.Equal(t, runtime.ExitOK, process.Exits(nil).Of(&process.Exit{}))
	require.ErrorContains(t, process.Exits{256: runtime.ExitOK}.Check(), "256")
	require.ErrorContains(t, process.Exits{1: "fine"}.Check(), "fine")
}

func TestHolds(t *testing.T) {
	e := process.Enforcement{Limits: []process.LimitLevel{{Name: runtime.LimitMemory, Level: runtime.LevelWatched, Note: "why"}}}
	for level, ok := range []bool{false, true, true} {
		err := e.Holds(&process.Spec{Accepts: map[runtime.LimitName]runtime.Level{runtime.LimitMemory: runtime.Level(level)}})
		require.Equal(t, ok, err == nil, "%s: %v", runtime.Level(level), err)
	}
	err := e.Holds(&process.Spec{Accepts: map[runtime.LimitName]runtime.Level{runtime.LimitCPU: runtime.LevelAdvisory}})
	require.ErrorContains(t, err, "refused", "a limit that the runner does not know")
	require.NoError(t, e.Holds(&process.Spec{}))
}

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tool")
	require.NoError(t, os.WriteFile(file, []byte("\x7fELF one"), 0o755))
	p, err := process.Find("tool", "relative:"+dir)
	require.NoError(t, err)
	f, err := p.Open()
	require.NoError(t, err)
	f.Close()

	require.NoError(t, os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0))) // another identity, the same bytes
	f, err = p.Open()
	require.NoError(t, err)
	f.Close()
	require.NoError(t, os.WriteFile(file+".new", []byte("\x7fELF two"), 0o755))
	require.NoError(t, os.Rename(file+".new", file))
	_, err = p.Open()
	require.ErrorIs(t, err, process.ErrProgramChanged)
	require.NoError(t, os.Remove(file))
	_, err = p.Open()
	require.ErrorIs(t, err, process.ErrProgramChanged)

	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755))
	_, err = process.Find("tool", dir)
	require.ErrorContains(t, err, "interpreter")
	for _, name := range []string{"", "nowhere", "./tool", "../tool"} {
		_, err = process.Find(name, dir)
		require.ErrorContains(t, err, "command_not_found", name)
	}
}

func TestSpecCheck(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	for _, s := range []process.Spec{
		{Reads: []string{"relative"}}, {Reads: []string{dir + "/../x"}}, {Tier: 9}, {Network: 9}, {Limits: runtime.ProcessLimits{Memory: -1}},
		{Workspace: dir, Protected: []string{dir + "/store"}}, {Caches: []string{link}, Protected: []string{dir + "/a/b"}},
		{Reads: []string{dir}, Protected: []string{link + "/store"}},
		{Workspace: dir, Caches: []string{link + "/cache"}}, {Reads: []string{dir + "/a"}, Caches: []string{dir}},
	} {
		require.Error(t, s.Check(), "%+v", s)
	}
	ok := process.Spec{Workspace: dir, Caches: []string{dir + "-cache"}, Protected: []string{dir + "-store", filepath.Dir(dir)}}
	require.NoError(t, ok.Check())
}

// TestStreamsWait: a chunk that is small waits 100 ms for more.
func TestStreamsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var got []process.Chunk
		var at []time.Duration
		s := process.NewStreams(&process.Job{Spec: &process.Spec{Limits: runtime.ProcessLimits{Output: 100}}, Output: func(c process.Chunk) {
			got, at = append(got, c), append(at, time.Since(began))
		}})
		_, _ = s.Writer(process.Stdout).Write([]byte("a"))
		time.Sleep(time.Millisecond)
		_, _ = s.Writer(process.Stdout).Write([]byte("b"))
		time.Sleep(time.Second)
		s.Close()
		require.Len(t, got, 1)
		require.Equal(t, "ab", string(got[0].Data))
		require.Equal(t, 100*time.Millisecond, at[0])
	})
}

// TestSpool: all that a process writes is spooled before it is kept, beyond what is kept too.
func TestSpool(t *testing.T) {
	var got [2]string
	s := process.NewStreams(&process.Job{Spec: &process.Spec{Limits: runtime.ProcessLimits{Output: 2}}, Spool: func(i process.Stream, b []byte) { got[i] += string(b) }})
	_, _ = s.Writer(process.Stdout).Write([]byte("abcdef"))
	_, _ = s.Writer(process.Stderr).Write([]byte("x"))
	s.Close()
	require.Equal(t, [2]string{"abcdef", "x"}, got)
}

func TestEnvironment(t *testing.T) {
	env := (&process.Job{Env: []string{"PATH=/x", "TZ="}, Mark: "m"}).Environment("/private")
	require.ElementsMatch(t, []string{"PATH=/x", "TZ=", "AMBIT_CALL=m", "HOME=/private", "TMPDIR=/private", "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1"}, env)
}

// TestInvocation: what a policy sees is what was declared.
func TestInvocation(t *testing.T) {
	c := &runtime.Command{
		Program: "bash", Script: "script", Dir: "src", Network: runtime.NetworkLoopback, Tier: runtime.TierProcess,
		Env: []runtime.Variable{{Name: "Z", Value: "secret"}, {Name: "A", Value: "$HOST"}}, Caches: []runtime.Variable{{Name: "GOCACHE", Value: "go-build"}},
	}
	require.Equal(t, &runtime.Invocation{
		Program: "bash", Argv: []string{"bash", "-c", "--", "exit"}, Dir: "src", Network: runtime.NetworkLoopback, Tier: runtime.TierProcess,
		Env: []string{"A", "GOCACHE", "Z"}, Script: "exit",
	}, c.Invocation([]string{"bash", "-c", "--", "exit"}))
	c.Script = ""
	require.Empty(t, c.Invocation([]string{"bash", "-c"}).Script)
	require.Equal(t, "loopback", runtime.NetworkLoopback.String())
	require.Equal(t, "none", runtime.NetworkNone.String())
}

// TestDigest: lists whose joined text is the same differ.
func TestDigest(t *testing.T) {
	seen := map[[32]byte][]string{}
	for _, argv := range [][]string{nil, {""}, {"", ""}, {"a b"}, {"a", "b"}, {"ab"}, {"ab", ""}, {"", "ab"}, {"a" + strings.Repeat("\x00", 8) + "b"}} {
		d := process.Digest(argv)
		require.Nil(t, seen[d], argv)
		seen[d] = append(argv, "seen")
	}
}

// TestSummary: the summary of an exit names what was held less well, survives JSON and has none of
// the output.
func TestSummary(t *testing.T) {
	e := &process.Exit{
		Code: -1, Signal: "SIGKILL", Cause: process.LimitReached, Limit: runtime.LimitMemory, Usage: runtime.ProcessUsage{PeakMemory: 7},
		Stdout: *keep(4, "secrets"), Levels: process.Enforcement{Tier: runtime.TierProcess, Namespaces: true, Limits: []process.LimitLevel{
			{Name: runtime.LimitMemory, Level: runtime.LevelWatched, Note: "why"}, {Name: runtime.LimitFile}, {Name: runtime.LimitLoopback, Level: runtime.LevelRefused},
		}},
	}
	s := e.Summary(runtime.ExitResourceExhausted)
	require.Equal(t, []process.LimitLevel{{Name: runtime.LimitMemory, Level: runtime.LevelWatched}}, s.Weaker)
	require.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte("secrets"))), s.Stdout.SHA256)
	require.True(t, s.Stdout.Truncated)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.NotContains(t, string(text), "secr")
	var again process.Summary
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, s, &again)
	for _, bad := range []string{`{"cause":"boredom"}`, `{"tier":"cloud"}`, `{"weaker":[{"level":"strong"}]}`} {
		require.Error(t, json.Unmarshal([]byte(bad), &again), bad)
	}
}

// TestWithin: less of a stream is its beginning and its end, as a keeper with that bound has it.
func TestWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(44, 2))
	for range 500 {
		text := strings.Repeat("0123456789", 8)[:r.IntN(80)]
		most := int64(r.IntN(80))
		less := keep(100, text).Within(most)
		is := *keep(most, text)
		if is.Truncated {
			require.Equal(t, string(is.Head), string(less.Head), "%d of %q", most, text)
			require.Equal(t, string(is.Tail), string(less.Tail), "%d of %q", most, text)
		}
		require.Equal(t, string(is.Head)+string(is.Tail), string(less.Head)+string(less.Tail))
		require.Equal(t, is.Truncated, less.Truncated)
		require.Equal(t, is.Dropped(), less.Dropped())

		cut := keep(40, text)
		less = cut.Within(most)
		require.LessOrEqual(t, len(less.Head)+len(less.Tail), int(max(most, 0)))
		require.True(t, strings.HasPrefix(text, string(less.Head)))
		require.True(t, strings.HasSuffix(text, string(less.Tail)))
	}
}

// TestCheckProgram: a program lies where no tool may write.
func TestCheckProgram(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	in := &process.Program{Path: filepath.Join(dir, "bin", "tool")}
	require.ErrorContains(t, (&process.Spec{Workspace: link}).CheckProgram(in), "which tools may write")
	require.Error(t, (&process.Spec{Caches: []string{"/nowhere", dir}}).CheckProgram(in))
	require.NoError(t, (&process.Spec{Reads: []string{dir}, Workspace: dir + "x"}).CheckProgram(in))
	require.NoError(t, new(process.Spec).CheckProgram(in))
}
