package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A proc is a program that ran, as the world outside knows it.
type proc struct {
	mark, call string
	runs       bool
	kills      int // how often a recovery asked to end it
}

// command returns the tool that a process does.
func command(spec *runtime.Spec) *runtime.Tool {
	spec.Command = &runtime.Command{Program: "sh", Form: runtime.FormText}
	return runtime.NewDynamicCommandTool(spec, anything{}, anything{}, func(in wire.Value) ([]string, error) {
		return []string{"sh", string(in.(wire.Raw))}, nil
	}, nil)
}

// A host runs the processes of one life. What they do is known outside, and the processes that ran when the power went
// run on in the next life until they are ended.
type host struct {
	runtimetest.FakeRunner
	w *world

	mu    sync.Mutex
	ended map[string]bool // marks of processes of which the journal has the end
	asked map[string]bool // marks of those that this life was to end
	err   error           // what must not be
}

func (w *world) newHost() *host {
	w.host = &host{w: w, ended: map[string]bool{}, asked: map[string]bool{}}
	w.host.Script = script
	return w.host
}

// script is what a process does. Each writes, so that it is known when it runs.
func script(job *process.Job) runtimetest.Act {
	act := runtimetest.Act{Out: "ran"}
	switch planOf(job).How {
	case fails:
		act.Code = 9
	case panics:
		act.Signal = "SIGSEGV"
	case oversleep, drags:
		act.Hang = true
	case exhausted:
		act.Limit = runtime.LimitMemory
	}
	return act
}

func planOf(job *process.Job) (p plan) {
	_ = json.Unmarshal([]byte(job.Argv[1]), &p) // it is what newCall made
	return p
}

// Run implements process.Runner. The program has its effect with the first byte that it writes.
func (h *host) Run(ctx context.Context, job *process.Job) (*process.Exit, error) {
	j, p := *job, planOf(job)
	began := false
	j.Spool = func(process.Stream, []byte) {
		if began {
			return
		}
		began = true
		h.w.m.touch(func(m *model) {
			of := &proc{mark: job.Mark, runs: true}
			for _, k := range m.calls {
				if k.kind.runs && k.plan.Text == p.Text {
					of.call = k.id
					k.effects++
					m.late = m.late || k.outcome != nil
				}
			}
			m.procs = append(m.procs, of)
		})
		if p.How == oversleep || p.How == drags {
			h.w.clock.Sleep(deadline + deadline/5)
		}
	}
	exit, err := h.FakeRunner.Run(ctx, &j)
	if began {
		h.w.m.touch(func(m *model) { m.gone(job.Mark) })
	}
	return exit, err
}

// Kill implements process.Runner.
func (h *host) Kill(_ context.Context, id runtime.ProcessID) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended[id.Mark]:
		h.err = errors.Join(h.err, fmt.Errorf("process %s is to be ended, and the journal has its end", id.Mark))
	case h.asked[id.Mark]:
		h.err = errors.Join(h.err, fmt.Errorf("process %s is to be ended twice in one recovery", id.Mark))
	}
	h.asked[id.Mark] = true
	h.w.m.touch(func(m *model) {
		if p := m.gone(id.Mark); p != nil {
			p.kills++
		}
	})
	return nil
}

// gone notes that nothing is left of a process, and returns it; nil: its program has not run.
func (m *model) gone(mark string) *proc {
	for _, p := range m.procs {
		if p.mark == mark {
			p.runs = false
			return p
		}
	}
	return nil
}

// remember reads before a recovery of which processes the journal has the end.
func (w *world) remember() error {
	_, ended, err := w.recorded()
	for mark := range ended {
		w.host.ended[mark] = true
	}
	return err
}

// recorded returns the calls of the processes that the journal says were started, and how many ends it has of each, by
// marks.
func (w *world) recorded() (started map[string]string, ended map[string]int, err error) {
	started, ended = map[string]string{}, map[string]int{}
	entries, err := w.entries()
	for i := range entries {
		r, bad := journal.Decode(entries[i].Leaf)
		switch {
		case bad != nil:
			return nil, nil, bad
		case r.Process == nil:
		case r.Kind == journal.KindProcessStarted:
			started[r.Process.ID.Mark] = r.Call
		case r.Process.Exit != nil:
			ended[r.Process.ID.Mark]++
		}
	}
	return started, ended, err
}

// checkProcesses requires of the processes of all lives that none ran before its start was durable, and that after a
// recovery nothing is left of any, and the journal has one end of each.
func (w *world) checkProcesses() (err error) {
	started, ended, err := w.recorded()
	if err != nil {
		return err
	}
	w.host.mu.Lock()
	err = w.host.err
	w.host.mu.Unlock()
	w.m.note(func(m *model) {
		for _, p := range m.procs {
			switch {
			case started[p.mark] != p.call || p.call == "":
				err = errors.Join(err, fmt.Errorf("a process ran for call %s whose start is not in the journal", p.call))
			case p.runs:
				err = errors.Join(err, fmt.Errorf("a process of call %s still runs after the recovery", p.call))
			}
			if p.kills > 0 {
				w.tally["process ended by a recovery"]++
			}
			if p.kills > 1 {
				w.tally["process ended by another recovery"]++
			}
		}
	})
	for mark, call := range started {
		if n := ended[mark]; n != 1 {
			err = errors.Join(err, fmt.Errorf("the journal has %d ends of a process of call %s", n, call))
		}
	}
	return err
}
