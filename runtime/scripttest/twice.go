package scripttest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// twice makes a call in two applications that begin with the folder as it is, and compares what
// came of it and what the folder holds then. The folder is afterwards as before.
func (s *script) twice(ts *testscript.TestScript, neg bool, args []string) {
	in := runtime.Call{ID: "twice", Tool: args[0], Input: []byte("{}")}
	if len(args) == 2 {
		in.Input = input(ts, args[1])
	}
	before, err := folder(s.dir)
	ts.Check(err)
	var outs [2]runtime.Outcome
	var left [2]map[string][]byte
	for i := range outs {
		one, err := s.app.with(func(*runtime.Registry) (runtime.Policy, error) { return runtime.PolicyFunc(allow), nil }).start(s.env)
		ts.Check(err)
		one.perform(ts, func() { outs[i] = one.run.Turn(engine.TurnConfig{}).Execute(context.Background(), in) })
		if id := outs[i].RequestID; outs[i].Kind == runtime.Pending {
			one.perform(ts, func() {
				one.exec.Decide(context.Background(), id, action.Answer{By: runtime.ProgramActor("twice"), Approve: true})
				outs[i] = one.session.Await(context.Background(), in.ID)
			})
		}
		one.end()
		left[i], err = folder(s.dir)
		ts.Check(err)
		ts.Check(restore(s.dir, before, left[i]))
	}
	if outs[0].Kind != runtime.Completed && outs[0].Kind != runtime.Failed {
		ts.Fatalf("twice: the call did not run: it is %s %s: %s", outs[0].Kind, outs[0].Reason, outs[0].Message)
	}
	s.print(ts, &outs[0])
	why := ""
	switch path := differing(left[0], left[1]); {
	case outs[0].Kind != outs[1].Kind:
		why = fmt.Sprintf("it is %s, and then %s", outs[0].Kind, outs[1].Kind)
	case !bytes.Equal(outs[0].Output, outs[1].Output):
		why = fmt.Sprintf("its output is %s, and then %s", outs[0].Output, outs[1].Output)
	case path != "":
		why = fmt.Sprintf("it leaves another %s", path)
	}
	switch {
	case why != "" && !neg:
		ts.Fatalf("a call of %s that is made twice differs: %s", args[0], why)
	case why == "" && neg:
		ts.Fatalf("a call of %s that is made twice does not differ", args[0])
	case why != "":
		fmt.Fprintln(ts.Stdout(), why)
	}
}

func allow(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// with is the application with another policy.
func (a *App) with(policy func(*runtime.Registry) (runtime.Policy, error)) *App {
	other := *a
	other.Policy = policy
	return &other
}

// folder returns the files below dir; nil stands for a folder.
func folder(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() {
			files[name] = nil
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = append([]byte{}, text...)
		return err
	})
	return files, err
}

// restore makes the files of a folder what they were.
func restore(dir string, before, now map[string][]byte) error {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(now))) {
		if was, ok := before[name]; !ok || (was == nil) != (now[name] == nil) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		text, path := before[name], filepath.Join(dir, name)
		is, ok := now[name]
		switch {
		case ok && (is == nil) == (text == nil) && bytes.Equal(is, text):
		case text == nil:
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
		default:
			if err := os.WriteFile(path, text, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// differing is a file of which two folders have not the same; empty: there is none.
func differing(a, b map[string][]byte) string {
	for _, pair := range [][2]map[string][]byte{{a, b}, {b, a}} {
		for _, name := range slices.Sorted(maps.Keys(pair[0])) {
			other, ok := pair[1][name]
			if !ok || (other == nil) != (pair[0][name] == nil) || !bytes.Equal(other, pair[0][name]) {
				return filepath.ToSlash(name)
			}
		}
	}
	return ""
}
