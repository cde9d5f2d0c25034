package metrics

import (
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// Unknown is the label tool of calls of tools that the registry does not have.
const Unknown = "_unknown"

// The sizes of the closed sets that are counted by.
const (
	kinds    = int(runtime.EventSinkDropped) + 1
	outcomes = int(runtime.Unknown) + 1
	reasons  = int(runtime.ReasonRunClosed) + 1
)

// Metrics holds the counts of one executor. Its methods are safe for concurrent use.
type Metrics struct {
	names []string // of the tools, by their position in the registry, and Unknown
	tools []tool
	old   []int // positions of the deprecated tools
}

// A tool holds the counts of the calls of one tool. What few tools have is made when it is first counted.
type tool struct {
	events  [kinds]atomic.Uint64
	calls   [outcomes]atomic.Pointer[[reasons]atomic.Uint64]
	times   [spans]atomic.Pointer[histogram]
	answers [answers]atomic.Uint64

	input, output, artifact, live, dropped atomic.Uint64 // bytes
}

// A span is a period that is measured.
type span uint8

const (
	spanCall span = iota
	spanHandler
	spanPolicy
	spanQueue
	spanConsent
	spanUndo
	spans
)

// scales are the units of the histograms: people take longer than programs.
var scales = [spans]time.Duration{1, 1, 1, 1, 64, 1}

// An answer is what came of an answer to a request for consent.
type answer uint8

const (
	approved answer = iota
	denied
	recorded // more answers are needed
	rejected
	answers
)

// New returns the metrics of an executor of the tools in reg.
func New(reg *runtime.Registry) *Metrics {
	names := append(reg.Names(), Unknown)
	m := &Metrics{names: names, tools: make([]tool, len(names))}
	for i, t := range reg.All() {
		if t.Spec().Deprecated != nil {
			m.old = append(m.old, i)
		}
	}
	return m
}

// Count implements runtime.Counter.
func (m *Metrics) Count(t runtime.Transition) {
	at := len(m.tools) - 1
	if t.Tool >= 0 && t.Tool < at {
		at = t.Tool
	}
	of := &m.tools[at]
	of.events[min(int(t.Kind), kinds-1)].Add(1)
	switch {
	case t.Ended:
		of.ended(&t)
	case t.Kind == runtime.EventInvoked:
		of.input.Add(uint64(t.Input))
	case t.Kind == runtime.EventOutput:
		of.live.Add(uint64(max(t.Output, 0)))
		of.dropped.Add(uint64(max(t.Dropped, 0)))
	case t.Kind == runtime.EventApprovalDecided:
		of.answers[answerOf(&t)].Add(1)
	case t.Kind == runtime.EventUndone, t.Kind == runtime.EventUndoFailed:
		of.observe(spanUndo, t.Duration)
	}
}

// ended counts a call that has its outcome.
func (of *tool) ended(t *runtime.Transition) {
	by := &of.calls[min(int(t.Outcome), outcomes-1)]
	counts := by.Load()
	if counts == nil {
		by.CompareAndSwap(nil, new([reasons]atomic.Uint64))
		counts = by.Load()
	}
	counts[min(int(t.Reason), reasons-1)].Add(1)
	of.observe(spanCall, t.Duration)
	if t.Attempts > 0 {
		of.observe(spanHandler, t.Times.Handler)
	}
	for _, part := range [...]struct {
		span
		time.Duration
	}{{spanPolicy, t.Times.Policy}, {spanQueue, t.Times.Queue}, {spanConsent, t.Times.Consent}} {
		if part.Duration > 0 {
			of.observe(part.span, part.Duration)
		}
	}
	if t.Output > 0 {
		of.output.Add(uint64(t.Output))
	}
	if t.Artifact > 0 {
		of.artifact.Add(uint64(t.Artifact))
	}
}

// observe adds a duration.
func (of *tool) observe(s span, d time.Duration) {
	h := of.times[s].Load()
	if h == nil {
		of.times[s].CompareAndSwap(nil, new(histogram))
		h = of.times[s].Load()
	}
	h.observe(d, scales[s])
}

func answerOf(t *runtime.Transition) answer {
	switch {
	case t.Resolution == runtime.ResolutionRejected:
		return rejected
	case !t.Approved:
		return denied
	case t.Resolution == runtime.ResolutionRecorded:
		return recorded
	}
	return approved
}
