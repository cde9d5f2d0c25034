package inbox_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// victimOf tells a process of this test that it is one that will be killed.
const victimOf = "AMBIT_INBOX_VICTIM"

// codec takes any input.
type codec struct{}

func (codec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// victim runs an executor in which five calls more wait for consent, and serves its
// inbox until it is killed. Each handler leaves a line in a file.
func victim(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(path, sqlite.WithWait(time.Minute))
	if err != nil {
		return err
	}
	spec := &runtime.Spec{Name: "send", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways}}
	send := func(ctx context.Context, _ wire.Value) (wire.Value, error) {
		info, _ := runtime.FromContext(ctx)
		f, err := os.OpenFile(path+".sent", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(info.ID + "\n")
		return wire.Raw(`{}`), errors.Join(err, f.Close())
	}
	reg, err := runtime.NewRegistry(runtime.NewDynamicTool(spec, codec{}, send))
	if err != nil {
		return err
	}
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	e, err := engine.NewExecutor(reg, allow, engine.WithJournal(s), engine.WithPendingRequests(), engine.WithPolicyTimeout(time.Minute))
	if err != nil {
		return err
	}
	if err := e.Recover(ctx); err != nil {
		return err
	}
	run, err := e.Session(engine.SessionConfig{ID: "s"}).StartRun(ctx, engine.RunConfig{ID: rand.Text()})
	if err != nil {
		return err
	}
	for range 5 {
		run.Turn(engine.TurnConfig{}).Execute(ctx, runtime.Call{ID: rand.Text(), Tool: "send", Input: []byte(`{}`)})
	}
	if _, err := inbox.Serve(ctx, s, e); err != nil {
		return err
	}
	select {}
}

// begin starts a victim and returns when it serves its inbox.
func begin(t *testing.T, path string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	var said bytes.Buffer
	cmd.Stderr, cmd.Env = &said, append(os.Environ(), victimOf+"="+path)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for {
		served, err := inbox.Served(&store{path: path})
		require.NoError(t, err)
		if served {
			return func() {
				require.NoError(t, cmd.Process.Kill())
				<-ended
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("it has ended by itself: %v\n%s", err, said.String())
		case <-poll.C:
		}
	}
}

// read returns the open requests of a store, and how often each command was
// imported, and done.
func read(t *testing.T, r *sqlite.Reader) (open []consent.Request, imported, done map[string]int) {
	t.Helper()
	books := consent.NewBooks(nil)
	imported, done = map[string]int{}, map[string]int{}
	for after := uint64(0); ; {
		list, err := r.Read(t.Context(), after, 1000)
		require.NoError(t, err)
		if len(list) == 0 {
			return books.Open(), imported, done
		}
		for i := range list {
			rec, err := journal.Decode(list[i].Leaf)
			require.NoError(t, err)
			for k := range rec.Consent {
				require.NoError(t, books.Continue(rec.Session, &rec.Consent[k]))
			}
			switch after = list[i].Seq; rec.Kind {
			case journal.KindCommandImported:
				imported[rec.Command.Nonce]++
			case journal.KindCommandDone:
				done[rec.Command.Nonce]++
			}
		}
	}
}

// TestCommandsOutliveKills kills the executor while it imports commands, again and
// again: each is carried out once.
func TestCommandsOutliveKills(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	var put []string
	for cycle := range battery.Count(t, 8, 20) {
		kill := begin(t, path)
		r, err := sqlite.OpenReader(path)
		require.NoError(t, err)
		open, _, _ := read(t, r)
		require.NotEmpty(t, open)
		for _, q := range open {
			c := inbox.Command{Kind: inbox.CommandApprove, Request: q.ID}
			require.NoError(t, inbox.Put(t.Context(), r, &c))
			put = append(put, c.Nonce)
		}
		for want := cycle % 6; want > 0; { // some are, some are not yet, one is in between
			_, _, done := read(t, r)
			if len(done) >= len(put)-len(open)+want || len(left(t, &store{path: path})) == 0 {
				break
			}
		}
		kill()
		require.NoError(t, r.Close())
	}
	kill := begin(t, path)
	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for len(left(t, &store{path: path})) > 0 {
		goruntime.Gosched()
	}
	kill()
	_, imported, done := read(t, r)
	for _, nonce := range put {
		assert.Equal(t, 1, imported[nonce], nonce)
		assert.Equal(t, 1, done[nonce], nonce)
	}
	sent, err := os.ReadFile(path + ".sent")
	require.NoError(t, err)
	times := map[string]int{}
	for id := range strings.FieldsSeq(string(sent)) {
		times[id]++
		assert.Equal(t, 1, times[id], id)
	}
	t.Logf("%d commands, %d calls", len(put), len(times))
}
