package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/attempt"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// An undoAttempt is one run of an undo handler.
type undoAttempt struct {
	ident       // of the call that is undone, except that it is undoing
	of    *call // the call that is undone
	by    string
	late  *sched.Event // fires when the attempt is ended from outside

	mu       lockorder.Mutex[lockorder.Call] // guards all that follows
	life     lifecycle.Call
	scope    attempt.Scope
	why      Code // of the end from outside
	decided  bool // to commit
	ended    bool // the goroutine of the handler has ended
	detached bool // by its caller, while a decided commit continued
}

// undoAttempts are the undo handlers that run. They end with the executor, or with its ownership of
// the journal.
type undoAttempts struct {
	mu      lockorder.Mutex[lockorder.Undos]
	running map[*undoAttempt]struct{}
	halted  bool
}

// add adds an attempt. It reports false when no attempt may begin any more.
func (l *undoAttempts) add(a *undoAttempt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.halted {
		return false
	}
	if l.running == nil {
		l.running = map[*undoAttempt]struct{}{}
	}
	l.running[a] = struct{}{}
	return true
}

// remove removes an attempt that has ended.
func (l *undoAttempts) remove(a *undoAttempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, a)
}

// all returns the attempts that run.
func (l *undoAttempts) all() (list []*undoAttempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for a := range l.running {
		list = append(list, a)
	}
	return list
}
