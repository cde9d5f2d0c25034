package runtime

import "github.com/ambit-tools/ambit/runtime/internal/facts"

// Facts is what happened in a run, as one call saw it: an immutable snapshot. The zero value and
// nil have the facts of no call.
type Facts facts.Snapshot

// ToolFacts is what happened with one tool in a run.
type ToolFacts struct {
	Invocations uint32 // handlers started, and calls that are admitted to start or wait for consent
	Successes   uint32 // calls that completed and were not undone
}

// Version grows with every change of the run's facts. Equal versions of one run
// hold equal facts.
func (f *Facts) Version() uint64 { return (*facts.Snapshot)(f).Version() }

// Tool returns the facts of the tool at position i of the registry.
func (f *Facts) Tool(i int) ToolFacts { return ToolFacts((*facts.Snapshot)(f).Tool(i)) }

// Len returns the number of tools that f has facts of.
func (f *Facts) Len() int { return (*facts.Snapshot)(f).Len() }
