package commandtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/isolate"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestMain(m *testing.M) {
	isolate.Enter()
	if dir := os.Getenv("AMBIT_AGENT"); dir != "" {
		agent(dir)
	}
	battery.Main(m)
}

// declaration has tools that run the script which they are given, with a tier and a deadline.
const declaration = `
ambit: v1
package: samples
unboxed: true
isolation: %s
types:
  Script: {type: object, required: [script], properties: {script: {type: string, description: What a shell reads.}}}
tools:
  once:
    version: 1.0.0
    description: Run a script that writes.
    effect: write
    input: {$ref: "#/types/Script"}
    command: {run: [sh], stdin: script}
    limits: {stop_grace: 100ms}
    deadline: %[2]s
  again:
    version: 1.0.0
    description: Run a script that may run twice.
    effect: write
    input: {$ref: "#/types/Script"}
    command: {run: [sh], stdin: script}
    idempotent: true
    retry: {max: 1, initial: 1ms, cap: 1ms}
    limits: {stop_grace: 100ms}
    deadline: %[2]s
  look:
    version: 1.0.0
    description: Run a script that reads.
    effect: read
    input: {$ref: "#/types/Script"}
    command: {run: [sh], stdin: script}
    limits: {stop_grace: 100ms}
    deadline: %[2]s
  polite:
    version: 1.0.0
    description: Run a script that has time to stop.
    effect: read
    input: {$ref: "#/types/Script"}
    command: {run: [sh], stdin: script}
    limits: {stop_grace: 4s}
    deadline: %[2]s
`

const (
	// brood starts children and daemons, which hold its output, and ignores SIGTERM, as they do.
	brood = `trap '' TERM
i=0; while [ $i -lt 10 ]; do i=$((i+1)); sleep 1000 & setsid sh -c 'sleep 1000; sleep 1000' & done
echo on; wait; sleep 1000`
	broodSize = 31 // with the shell

	// polite ends by itself when it gets SIGTERM.
	polite = `trap 'echo bye; exit 3' TERM
echo on; while :; do sleep 1000 & wait; done`

	// gated ends when its workspace has a file.
	gated = `until [ -e go ]; do sleep 0.01; done; echo done`
)

// A form is a way to run a process.
type form struct {
	name  string
	tier  string
	plain bool
}

func forms() []form {
	return []form{{"box", "sandbox", false}, {"box without namespaces", "sandbox", true}, {"process", "process", true}}
}

// eachForm runs a test in each form of the box; a plain run takes the first that the host can build.
func eachForm(t *testing.T, test func(t *testing.T, f form)) {
	list := forms()
	for !battery.Full(t) && len(list) > 1 && list[0].lacks(t) != "" {
		list = list[1:]
	}
	if !battery.Full(t) {
		list = list[:1]
	}
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			if lacks := f.lacks(t); lacks != "" {
				t.Skip(lacks)
			}
			test(t, f)
		})
	}
}

// lacks says what keeps the host from a form, if anything does.
func (f form) lacks(t *testing.T) string {
	t.Helper()
	r, err := isolate.New(isolate.Options{WithoutNamespaces: f.plain})
	require.NoError(t, err)
	switch h := r.Host(); {
	case strings.Contains(h.WhyNot, "got out"):
		require.Fail(t, "the self-test finds a hole: that is no reason to skip", h.WhyNot)
	case f.tier == "sandbox" && !h.Sandbox:
		return "this host builds no sandbox: " + h.WhyNot
	case f.tier == "sandbox" && !f.plain && !h.Namespaces:
		return "this host gives no namespaces: " + h.WhyNot
	}
	return ""
}

// config is that of a host in a folder, whose tools have a deadline.
func (f form) config(dir, deadline string) (cfg host.Config, err error) {
	file, err := dsl.Parse("commands.yaml", fmt.Appendf(nil, declaration, f.tier, deadline))
	if err != nil {
		return cfg, err
	}
	cfg = host.Config{Dir: filepath.Join(dir, "store"), Workspace: filepath.Join(dir, "work"), Report: func(error) {}}
	cfg.Policy = runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	if cfg.Tools, err = dynamic.Tools(file, nil); err != nil {
		return cfg, err
	}
	boxes := filepath.Join(dir, "boxes")
	for _, d := range []string{boxes, cfg.Workspace} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return cfg, err
		}
	}
	cfg.Runner, err = isolate.New(isolate.Options{Folder: boxes, WithoutNamespaces: f.plain})
	return cfg, err
}

// A bench is a host with one run.
type bench struct {
	*host.Host
	dir     string
	session *engine.Session
	run     *engine.Run
}

// open opens a host in a folder; change may change its configuration.
func (f form) open(t *testing.T, dir, deadline string, change func(*host.Config)) *bench {
	t.Helper()
	cfg, err := f.config(dir, deadline)
	require.NoError(t, err)
	if change != nil {
		change(&cfg)
	}
	b := &bench{dir: dir}
	b.Host, err = host.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { // the test may have closed it
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = b.Close(ctx)
	})
	b.begin(t.Context())
	return b
}

// begin starts the run.
func (b *bench) begin(ctx context.Context) {
	b.session = b.Executor.Session(engine.SessionConfig{ID: "s", Principal: "ada"})
	b.run, _ = b.session.StartRun(ctx, engine.RunConfig{}) // a call on none says what is wrong
}

// callOf is a call of the tool that its id begins with.
func callOf(id, script string) runtime.Call {
	tool, _, _ := strings.Cut(id, "-")
	input, _ := json.Marshal(map[string]string{"script": script})
	return runtime.Call{ID: id, Tool: tool, Input: input}
}

// start starts a call of the tool that its id begins with.
func (b *bench) start(id, script string) error {
	_, err := b.run.Turn(engine.TurnConfig{}).StartCall(callOf(id, script))
	return err
}

// recorded returns the records of a call.
func (b *bench) recorded(call string) (list []*journal.Record, err error) {
	entries, err := b.Store.Read(context.Background(), 0, 10_000)
	for i := 0; i < len(entries) && err == nil; i++ {
		var r *journal.Record
		if r, err = journal.Decode(entries[i].Leaf); err == nil && r.Call == call {
			list = append(list, r)
		}
	}
	return list, err
}

// records returns what the journal says of the processes of a call: those that started, and their ends.
func (b *bench) records(call string) (started, ended []*journal.Record, err error) {
	list, err := b.recorded(call)
	for _, r := range list {
		switch {
		case r.Process == nil:
		case r.Process.Exit == nil:
			started = append(started, r)
		default:
			ended = append(ended, r)
		}
	}
	return started, ended, err
}

// state returns the state of a call in the journal, also once its session has ended.
func (b *bench) state(t *testing.T, call string) (state string) {
	t.Helper()
	list, err := b.recorded(call)
	require.NoError(t, err)
	for _, r := range list {
		state = cmp.Or(r.To, state)
	}
	return state
}

// running waits until the process of a call has written "on", and its tree has so many processes, and returns the
// mark of the tree. It returns "" when the call has its outcome before.
func (b *bench) running(call string, size int) (mark string, err error) {
	for ; ; time.Sleep(time.Millisecond) { // go test -timeout ends what hangs
		if over := b.Executor.Stats().InFlight == 0; over {
			return "", nil
		}
		said := ""
		for _, piece := range b.Executor.Output("s", call) {
			said += piece.Text
		}
		if !strings.HasPrefix(said, "on\n") {
			continue
		}
		started, _, err := b.records(call)
		if err != nil || len(started) == 0 {
			return "", err
		}
		if mark = started[0].Process.ID.Mark; len(alive(mark)) >= size {
			return mark, nil
		}
	}
}

// ended returns the only end of a process of a call.
func (b *bench) ended(t *testing.T, call string) *journal.Record {
	t.Helper()
	_, ended, err := b.records(call)
	require.NoError(t, err)
	require.Len(t, ended, 1)
	return ended[0]
}

// alive returns the processes of this machine whose environment names a call.
func alive(mark string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, d := range dirs {
		text, err := os.ReadFile(d)
		if err == nil && slices.Contains(strings.Split(string(text), "\x00"), process.MarkVariable+"="+mark) {
			pid, _ := strconv.Atoi(strings.Split(d, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}
