package engine

import (
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A runNode is the unit of a run that can be closed: the whole run, or that of a sub-agent. It must not be
// copied.
type runNode struct {
	Workers  sched.Gate        // calls whose goroutines have not ended
	Metadata map[string]string // of the calls; never changed
	Final    *RunStatus        // set when the run is closed

	parent   *runNode // nil: the whole run
	calls    *runCalls
	active   []*call // without an outcome
	children []*runNode
	closing  bool
	closed   *sched.Event // fires when the node is closed; nil: no goroutine waits for that
}

// OpenNode returns the node of a new run, and of its calls that the session knows.
func (m *memory) OpenNode(run string, metadata map[string]string) *runNode {
	n := &runNode{calls: m.Calls(run), Metadata: metadata}
	m.nodes[run] = n
	return n
}

// runNode returns the node of an open run, nil when there is none.
func (m *memory) Node(run string) *runNode { return m.nodes[run] }

// Open returns the ids of the open runs, in order.
func (m *memory) Open() []string { return slices.Sorted(maps.Keys(m.nodes)) }

// OpenChild makes child a part of n, and reports how many parts n has. The child of a node that is closed is
// closed.
func (n *runNode) OpenChild(child *runNode) {
	child.parent, child.calls, child.Metadata, child.closing = n, n.calls, n.Metadata, n.closing
	if child.closing {
		child.Workers.Shut()
	}
	n.children = append(n.children, child)
}

// Root reports whether n is the node of a whole run.
func (n *runNode) Root() bool { return n.parent == nil }

// runCalls returns the calls of the run.
func (n *runNode) Calls() *runCalls { return n.calls }

// Active returns the calls of n itself that have no outcome.
func (n *runNode) Active() []*call { return n.active }

// Closing reports whether n is closed or about to be.
func (n *runNode) Closing() bool { return n.closing }

// Enter adds a call to the active ones and returns its position, from 1.
func (n *runNode) Enter(c *call) (position int) {
	n.active = append(n.active, c)
	return len(n.active)
}

// Leave takes the call at a position out of the active ones. It returns the call that has that position now,
// which may be the same one.
func (n *runNode) Leave(position int) (moved *call) {
	var none *call
	last := len(n.active) - 1
	moved = n.active[last]
	n.active[position-1], n.active[last] = moved, none
	n.active = n.active[:last]
	return moved
}

// Shut closes n and its children for new calls, and returns them appended to list.
func (n *runNode) Shut(s *sched.Scheduler, list []*runNode) []*runNode {
	n.Workers.Shut()
	if n.closed != nil && !n.closing {
		s.Fire(n.closed)
	}
	n.closing = true
	list = append(list, n)
	for _, child := range n.children {
		list = child.Shut(s, list)
	}
	return list
}

// Closed returns an event that fires when n is closed.
func (n *runNode) Closed(s *sched.Scheduler) *sched.Event {
	if n.closed == nil {
		n.closed = sched.NewEvent()
		if n.closing {
			s.Fire(n.closed)
		}
	}
	return n.closed
}
