package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
)

// What an op returns: next goes on, a number from 0 is how many blocks to leave besides
// the one that holds the statement. leave and fail are above every depth.
const (
	next  = -1
	leave = 1 << 20 // ends the function
	fail  = 1 << 21 // ends the evaluation; machine.err says why
)

// An op is one statement.
type op func(*frame) int

// A block is statements that run in turn.
type block []op

// An operand is a constant or a local.
type operand struct {
	constant *ast.Term
	local    int
}

// of returns the value of an operand, nil when its local is not set.
func (o operand) of(f *frame) *ast.Term {
	if o.constant != nil {
		return o.constant
	}
	return f.locals[o.local]
}

// A frame is one call of a function.
type frame struct {
	locals []*ast.Term
	m      *machine
	result *ast.Term
}

// A function is a rule or a function of the policies.
type function struct {
	name   string
	index  int
	locals int
	params []ir.Local
	blocks []block
	once   bool // it takes input and data only, so its value is that of the evaluation
}

// checkEvery is after how many steps a machine looks at its context. It is a power of 2.
const checkEvery = 256

// A machine is the memory of one evaluation.
type machine struct {
	stack  []*ast.Term
	top    int
	frames []*frame // of the calls that have not returned, and after them those to be used again
	depth  int
	values []*ast.Term // of the functions with once, by index; absent is undefined
	inWith int         // above 0 the values do not count
	out    []*ast.Term // the results of the query
	err    error       // why the evaluation failed
	named  bool        // err names a function
	ctx    context.Context
	bctx   topdown.BuiltinContext
	cache  builtins.Cache
	found  *ast.Term               // the last result of a built-in function
	find   func(t *ast.Term) error // sets found
	steps  uint
	lax    bool // an error of a built-in function is undefined, as in OPA's tests
}

var (
	absent    = &ast.Term{Value: ast.Null{}}
	emptySet  = ast.SetTerm() // a set that is made is this one until it is filled
	noMetrics = metrics.NoOp()
)

func newMachine(functions int) *machine {
	m := &machine{stack: make([]*ast.Term, 256), values: make([]*ast.Term, functions), cache: builtins.Cache{}}
	m.find = func(t *ast.Term) error { m.found = t; return nil }
	return m
}

// begin prepares a machine for an evaluation.
func (m *machine) begin(ctx context.Context) {
	m.ctx = ctx
	m.bctx = topdown.BuiltinContext{Metrics: noMetrics, Context: ctx, Cancel: stop{ctx}, Cache: m.cache}
}

// clear forgets the evaluation, so that a machine that waits in a pool keeps neither
// arguments nor the context of a call alive.
func (m *machine) clear() {
	clear(m.stack)
	clear(m.values)
	clear(m.out)
	clear(m.cache)
	for _, f := range m.frames {
		*f = frame{m: m}
	}
	*m = machine{stack: m.stack, frames: m.frames, values: m.values, out: m.out[:0], cache: m.cache, find: m.find}
}

// enter returns the frame of a call, whose locals are not set.
func (m *machine) enter(locals int) *frame {
	if m.depth == len(m.frames) {
		m.frames = append(m.frames, &frame{m: m})
	}
	f := m.frames[m.depth]
	m.depth++
	f.locals, f.result = m.alloc(locals), nil
	return f
}

// stop ends a built-in function whose context has ended.
type stop struct{ ctx context.Context }

func (s stop) Cancel()         {}
func (s stop) Cancelled() bool { return s.ctx.Err() != nil }

// alloc returns n locals that are not set. Frames of a stack that was outgrown keep
// their part of it.
func (m *machine) alloc(n int) []*ast.Term {
	if m.top+n > len(m.stack) {
		m.stack, m.top = make([]*ast.Term, 2*(len(m.stack)+n)), 0
	}
	s := m.stack[m.top : m.top+n : m.top+n]
	m.top += n
	clear(s)
	return s
}

// tick counts a step, a loop or a call, and reports whether the evaluation goes on.
func (m *machine) tick() bool {
	if m.steps++; m.steps%checkEvery != 0 {
		return true
	}
	if err := m.ctx.Err(); err != nil {
		m.err = err
		return false
	}
	return true
}

// run runs a block until a statement leaves it.
func run(b block, f *frame) int {
	for _, o := range b {
		if c := o(f); c != next {
			return c
		}
	}
	return next
}

// call returns the value of a function, nil when that is undefined or m.err is set.
func (m *machine) call(fn *function, from *frame, args []operand) *ast.Term {
	once := fn.once && m.inWith == 0
	if once {
		if v := m.values[fn.index]; v == absent {
			return nil
		} else if v != nil {
			return v
		}
	}
	if !m.tick() {
		return nil
	}
	stack, before := len(m.stack), m.top
	f := m.enter(fn.locals)
	for i, param := range fn.params {
		f.locals[param] = args[i].of(from)
	}
	m.blocks(fn, f)
	m.depth--
	if len(m.stack) == stack { // else the locals of the callers are on the old stack
		m.top = before
	}
	if m.err != nil {
		return nil
	}
	if once {
		m.values[fn.index] = f.result
		if f.result == nil {
			m.values[fn.index] = absent
		}
	}
	return f.result
}

// blocks runs the blocks of a function and names the function in which it failed.
func (m *machine) blocks(fn *function, f *frame) {
	for _, b := range fn.blocks {
		if c := run(b, f); c == leave || c == fail {
			break
		}
	}
	if m.err != nil && !m.named && fn.name != "" {
		m.err, m.named = fmt.Errorf("%s: %w", fn.name, m.err), true
	}
}

// failed ends the evaluation.
func (f *frame) failed(err error) int {
	f.m.err = err
	return fail
}

// refused ends the evaluation after an error of a built-in function.
func (f *frame) refused(err error) int {
	var halt topdown.Halt
	if f.m.lax && !errors.As(err, &halt) {
		return 0
	}
	return f.failed(err)
}

// undefined ends a block after a call without a value, or the evaluation when it failed.
func (f *frame) undefined() int {
	if f.m.err != nil {
		return fail
	}
	return 0
}

var (
	errConflict = errors.New("a rule has several values")
	errKeys     = errors.New("an object has several values for a key")
	errOperand  = errors.New("an operand has the wrong type")
)
