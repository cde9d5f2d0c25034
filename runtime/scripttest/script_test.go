package scripttest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/scripttest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// notes are tools that work in a folder.
func notes(dir string) ([]*runtime.Tool, error) {
	src, err := os.ReadFile("testdata/tools.yaml")
	if err != nil {
		return nil, err
	}
	file, err := dsl.Parse("tools.yaml", src)
	if err != nil {
		return nil, err
	}
	return dynamic.Tools(file, func(ctx context.Context, tool string, in wire.Value) (wire.Value, error) {
		text, _ := wire.Append(nil, in)
		if tool == "note_count" {
			return count(dir, string(text))
		}
		return wire.Raw(`{"ok":true}`), os.WriteFile(filepath.Join(dir, tool), text, 0o600)
	})
}

// counted grows with each call of note_count: a state that is in no folder.
var counted atomic.Int64

// count counts the files in a folder. Its input says in what it is not deterministic.
func count(dir, how string) (wire.Value, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	n := counted.Add(1)
	switch {
	case strings.Contains(how, "output"):
		return wire.Raw(fmt.Sprintf(`{"n":%d}`, n)), nil
	case strings.Contains(how, "effect"):
		return wire.Raw(`{}`), os.WriteFile(filepath.Join(dir, "counted"), fmt.Append(nil, n), 0o600)
	case strings.Contains(how, "sometimes"):
		if n%2 == 0 {
			return nil, errors.New("not now")
		}
		return wire.Raw(`{}`), nil
	}
	if err := os.Remove(filepath.Join(dir, "sub", "b")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return wire.Raw(fmt.Sprintf(`{"n":%d}`, len(files))), os.WriteFile(filepath.Join(dir, "a"), nil, 0o600)
}

// ask allows every call and asks about those that the declaration says.
func ask(*runtime.Registry) (runtime.Policy, error) {
	return runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if c := in.Tool.Consent; c != nil && c.Ask == runtime.ConsentAskAlways && !in.Undo {
			return runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "declared", MaxCover: runtime.CoverTool}}}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}), nil
}

func TestScripts(t *testing.T) {
	p := testscript.Params{Dir: "testdata/script", RequireUniqueNames: true}
	scripttest.Setup(&p, scripttest.App{Tools: notes, Policy: ask, Session: engine.SessionConfig{Principal: "agent"}})
	testscript.Run(t, p)
}

// TestSetupFails shows what a script says of an application that cannot start.
func TestSetupFails(t *testing.T) {
	broken := errors.New("no tools today")
	for want, app := range map[string]scripttest.App{
		"scripttest: the application has no tools or no policy: set both": {},
		"scripttest: no tools today":                                      {Tools: func(string) ([]*runtime.Tool, error) { return nil, broken }, Policy: ask},
		"scripttest: no policy today": {Tools: notes, Policy: func(*runtime.Registry) (runtime.Policy, error) {
			return nil, errors.New("no policy today")
		}},
	} {
		var p testscript.Params
		scripttest.Setup(&p, app)
		require.EqualError(t, p.Setup(&testscript.Env{WorkDir: t.TempDir()}), want)
	}
	p := testscript.Params{Setup: func(*testscript.Env) error { return broken }}
	scripttest.Setup(&p, scripttest.App{})
	assert.Equal(t, broken, p.Setup(nil))
}

// TestLogHasRawErrors: the log of a script says what the handler returned, which its model is not told.
func TestLogHasRawErrors(t *testing.T) {
	var log strings.Builder
	failing := func(dir string) ([]*runtime.Tool, error) {
		tools, err := notes(filepath.Join(dir, "absent"))
		return tools, err
	}
	p := testscript.Params{Files: []string{"testdata/failing.txtar"}}
	scripttest.Setup(&p, scripttest.App{Tools: failing, Policy: ask, Session: engine.SessionConfig{Principal: "agent"}})
	testscript.RunT(&loggedT{log: &log}, p)
	assert.Contains(t, log.String(), "no such file or directory")
	assert.Contains(t, log.String(), "c1 failed handler_error: ")
}

// loggedT runs scripts and keeps what they log.
type loggedT struct {
	testscript.T
	log *strings.Builder
}

func (t *loggedT) Run(_ string, f func(testscript.T)) { f(t) }
func (t *loggedT) Parallel()                          {}
func (t *loggedT) Verbose() bool                      { return true }
func (t *loggedT) Log(args ...any)                    { fmt.Fprintln(t.log, args...) }
func (t *loggedT) FailNow()                           { panic(t.log.String()) }
func (t *loggedT) Fatal(args ...any)                  { panic(fmt.Sprint(args...)) }

// TestOptionsPerScript: each script has participants and options of its own, which its end closes.
func TestOptionsPerScript(t *testing.T) {
	var opened, closed atomic.Int64
	p := testscript.Params{Files: []string{"testdata/failing.txtar", "testdata/two.txtar"}}
	scripttest.Setup(&p, scripttest.App{
		Tools: notes, Policy: ask, Session: engine.SessionConfig{Principal: "agent"},
		PerScript: func(env *testscript.Env, dir string) ([]engine.Option, error) {
			assert.Equal(t, env.WorkDir, dir)
			opened.Add(1)
			env.Defer(func() { closed.Add(1) })
			return []engine.Option{engine.WithMaxInFlight(1)}, nil
		},
	})
	var log strings.Builder
	testscript.RunT(&loggedT{log: &log}, p)
	assert.Equal(t, [2]int64{2, 2}, [2]int64{opened.Load(), closed.Load()}, log.String())

	broken := errors.New("no database today")
	p = testscript.Params{}
	scripttest.Setup(&p, scripttest.App{Tools: notes, Policy: ask, PerScript: func(*testscript.Env, string) ([]engine.Option, error) { return nil, broken }})
	require.EqualError(t, p.Setup(&testscript.Env{WorkDir: t.TempDir()}), "scripttest: no database today")
}
