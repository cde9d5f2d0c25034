package engine

import (
	"hash/maphash"
	"iter"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A callRecord is what a session keeps of a call.
type callRecord struct {
	id       string
	tool     string
	input    []byte
	digest   bool         // input is a digest: the input is larger than the tool allows
	room     [160]byte    // for a short input and, behind it, a short output
	first    sched.Event  // fires when there is a first answer: the outcome, or that the call waits for consent
	final    *sched.Event // fires when the call that waited has its outcome; nil: first was the outcome
	stored   storedOutcome
	later    atomic.Pointer[runtime.Outcome] // replaces an outcome that was unknown or not recorded in time; nil: nothing does
	call     *call                           // as long as the call can change, or when it waited for consent
	run      *runCalls
	number   int            // in the session
	undo     undoable       // guarded by the session
	restored *restoredInput // of a call of an earlier process; nil: it was made in this one
	hash     uint64         // of the id, in callIndex
	next     *callRecord    // in the chain of callIndex
	before   *callRecord    // the previous call of the same run; nil: this is the first
}

// A restoredInput identifies the input of a call of an earlier process by what the
// journal holds of it.
type restoredInput struct {
	mac       string // of the input
	heartbeat bool   // which read removes from the arguments
}

// A storedOutcome is an outcome as a session retains it, for as long as the session exists. Most
// outcomes have only these members.
type storedOutcome struct {
	kind     runtime.OutcomeKind
	loop     runtime.Loop
	run      runtime.RunState
	duration time.Duration
	times    runtime.Times
	output   wire.Raw
	revision string
	more     *runtime.Outcome // the whole outcome, when it has other members
}

// An undoable is the state of a call with respect to undo.
type undoable struct {
	possible bool // its handler was started, and its tool declares undo
	done     bool // it was undone
	busy     bool // it is being undone
	ended    time.Time
	asked    time.Time // for the present undo, or the latest one
	lost     error     // why the journal no longer has what the undo needs
}

// ended reports whether the call of r has its outcome.
func (r *callRecord) ended() bool {
	return r.first.Fired() && (r.final == nil || r.final.Fired())
}

// spare returns the part of room that the input does not use, to append the output to.
// Only the goroutine that works on the call uses it.
func (r *callRecord) spare() []byte {
	n := 0
	if len(r.input) <= len(r.room) {
		n = len(r.input)
	}
	return r.room[n:n]
}

// storeOutcome stores out as the outcome of r.
func (r *callRecord) storeOutcome(out *runtime.Outcome) {
	r.stored = storedOutcome{
		kind: out.Kind, loop: out.Loop, run: out.Run, duration: out.Duration, times: out.Times, output: out.Output, revision: out.Revision,
	}
	if out.CallID != r.id || out.Tool != r.tool || !history.Plain(out) {
		more := *out
		r.stored.more = &more
	}
}

// artifact returns the artifact that replaces a long output in the answer, nil if there is none.
func (r *callRecord) artifact() *runtime.StoredOutput {
	if later := r.later.Load(); later != nil {
		return later.Artifact
	}
	if r.stored.more == nil {
		return nil
	}
	return r.stored.more.Artifact
}

// obliges reports whether the outcome of r has obligations.
func (r *callRecord) obliges() bool {
	return r.stored.more != nil && len(r.outcome().Obligations) > 0
}

// outcome returns the outcome of r. r has ended.
func (r *callRecord) outcome() (out runtime.Outcome) {
	r.fillOutcome(&out)
	return out
}

// fillOutcome is outcome for a zero Outcome that the caller provides, because an Outcome is large.
func (r *callRecord) fillOutcome(out *runtime.Outcome) {
	k := &r.stored
	if k.kind == runtime.Unknown || k.more != nil && k.more.Reason == runtime.ReasonJournalUnavailable {
		if later := r.later.Load(); later != nil {
			*out = *later
			return
		}
	}
	if k.more != nil {
		*out = *k.more
		return
	}
	out.CallID, out.Tool, out.Kind, out.Output, out.Duration = r.id, r.tool, k.kind, k.output, k.duration
	out.Times, out.Revision, out.Loop, out.Run = k.times, k.revision, k.loop, k.run
}

// A runCalls links the records of the calls of one run, in a list through the records. All parts of
// a run share it, and so do consecutive runs of one session with the same id. The session guards
// it.
type runCalls struct {
	id    string
	turns int         // that were begun
	last  *callRecord // nil: no call was made
}

// add adds the record of the last call of the run.
func (x *runCalls) add(r *callRecord) { r.run, r.before, x.last = x, x.last, r }

// all yields the records, that of the last call first. The zero pointer has none.
func (x *runCalls) all() iter.Seq[*callRecord] {
	return func(yield func(*callRecord) bool) {
		if x == nil {
			return
		}
		for r := x.last; r != nil; r = r.before {
			if !yield(r) {
				return
			}
		}
	}
}

// A callIndex finds the records of a session by the ids of their calls. It is a hash
// table of chains through the records, which store their hashes. A map of strings takes
// twice the time, most of it to grow, and six times the memory (BenchmarkCallIndex).
// The zero value is empty. The lock of the session guards it.
type callIndex struct {
	seed   maphash.Seed
	chains []*callRecord // a power of two, by the last bits of the hash
	count  int
}

// find returns the record of a call, nil when there is none.
func (x *callIndex) find(id string) *callRecord {
	if x.count == 0 {
		return nil
	}
	return x.lookup(id, maphash.String(x.seed, id))
}

// putIfAbsent adds r, whose id is set, or returns the record that has this id already.
func (x *callIndex) putIfAbsent(r *callRecord) (earlier *callRecord) {
	if x.chains == nil {
		x.seed, x.chains = maphash.MakeSeed(), make([]*callRecord, 8)
	}
	r.hash = maphash.String(x.seed, r.id)
	if earlier = x.lookup(r.id, r.hash); earlier != nil {
		return earlier
	}
	if x.count == len(x.chains) {
		x.grow()
	}
	x.count++
	x.link(r)
	return nil
}

// all yields every record, in no particular order.
func (x *callIndex) all() iter.Seq[*callRecord] {
	return func(yield func(*callRecord) bool) {
		for _, r := range x.chains {
			for ; r != nil; r = r.next {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// lookup is find for a table that is not empty.
func (x *callIndex) lookup(id string, hash uint64) *callRecord {
	r := *x.chain(hash)
	for r != nil && (r.hash != hash || r.id != id) {
		r = r.next
	}
	return r
}

// chain returns the head of the chain of a hash.
func (x *callIndex) chain(hash uint64) **callRecord { return &x.chains[hash&uint64(len(x.chains)-1)] }

// link inserts r at the head of its chain.
func (x *callIndex) link(r *callRecord) {
	first := x.chain(r.hash)
	r.next, *first = *first, r
}

// grow doubles the table.
func (x *callIndex) grow() {
	old := x.chains
	x.chains = make([]*callRecord, 2*len(old))
	for _, r := range old {
		for r != nil {
			next := r.next
			x.link(r)
			r = next
		}
	}
}

// callsOf returns the calls of a run, an empty list when the run is not known. s.mu is held.
func (s *Session) callsOf(run string) *runCalls {
	x := s.byRun[run]
	if x == nil {
		x = &runCalls{id: run}
		s.byRun[run] = x
	}
	return x
}

// openNode returns the node of a new run. s.mu is held.
func (s *Session) openNode(run string, metadata map[string]string) *runNode {
	p := &runNode{calls: s.callsOf(run), metadata: metadata}
	s.nodes[run] = p
	return p
}

// closeNode forgets the node of a run, and the run if no call was made in it. s.mu is held.
func (s *Session) closeNode(run string) {
	delete(s.nodes, run)
	if x := s.byRun[run]; x != nil && x.last == nil {
		delete(s.byRun, run)
	}
}
