package engine

// The calls of one session that have ended are held by reference: about 100 bytes for each, with the kind of the outcome,
// whether it can be undone, the digest of its input, and the positions of its entries in the journal. readEnded reads the
// rest, and refuses entries that are not those of the reference.
//
// The lock of the session guards endedCalls. readEnded needs no lock and is called under none, since it may wait for the disk.

import (
	"encoding/hex"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A callDigest is the first half of the keyed digest of an input. Zero: it is not known.
type callDigest [16]byte

// callDigestOf returns the digest of a recorded MAC of an input, zero for none.
func callDigestOf(mac string) (d callDigest) {
	if len(mac) >= hex.EncodedLen(len(d)) {
		_, _ = hex.Decode(d[:], []byte(mac[:hex.EncodedLen(len(d))]))
	}
	return d
}

// An endedCall is a call that has ended, by reference.
type endedCall struct {
	ID              string
	Tool, Run       string
	Number          int    // in the session
	Opened, Outcome uint64 // positions of its first entry and of that with its outcome
	Kind            runtime.OutcomeKind
	Input           callDigest
	Started         bool // its handler was
	Undone          bool
	Back            bool // what it did was rolled back
	Artifact        *runtime.ArtifactRef
}

// endedCallOf returns the call that a reference of the journal names, as a number of its session.
func endedCallOf(r *journal.EndedCall, number int) endedCall {
	c := endedCall{
		ID: r.Call, Tool: r.Tool, Run: r.Run, Number: number, Opened: r.Opened, Outcome: r.Outcome, Input: callDigestOf(r.InputMAC),
		Started: r.Started, Undone: r.Undone, Back: r.Back, Artifact: r.Artifact,
	}
	_ = c.Kind.UnmarshalText([]byte(r.Kind)) // zero for a text that is none, which no entry confirms
	return c
}

// perChunk is how many calls are allocated at once, in a long session.
const perChunk = 128

// An endedRef is a endedCall without its names.
type endedRef struct {
	opened, outcome    uint64
	input              callDigest
	idEnd              uint32 // in the ids of its chunk
	number, tool, run  uint32
	next, before       uint32 // in the chain of the table; the one that was added before it, of the same run
	kind               runtime.OutcomeKind
	started, back      bool
	undone, held, arti bool
}

// An endedChunk is some calls, one after the other.
type endedChunk struct {
	refs []endedRef
	ids  []byte
}

// An endedRun is the calls of a run, as a list.
type endedRun struct {
	name string
	last uint32
}

// calls are the calls of a session that have ended. The zero value is empty.
type calls struct {
	chunks    []endedChunk
	count     uint32
	seed      maphash.Seed
	heads     []uint32 // of chains, by the last bits of the hash of an id: a place from 1; a power of two
	runs      []endedRun
	runOf     map[string]uint32
	tools     []string
	toolOf    map[string]uint32
	artifacts map[uint32]runtime.ArtifactRef // by place
}

// Len returns how many calls there are, with those that were taken.
func (x *calls) Len() int { return int(x.count) }

// Put adds a call, or replaces what is held of the call with that id, which is not taken any more. An earlier call that had
// the id stays taken.
func (x *calls) Put(c *endedCall) {
	place := x.find(c.ID)
	if place != 0 {
		if r, _ := x.at(place); r.opened != c.Opened {
			r.held, place = true, 0
		}
	}
	if place == 0 {
		place = x.add(c)
	}
	r, _ := x.at(place)
	r.opened, r.outcome, r.input, r.number = c.Opened, c.Outcome, c.Input, uint32(c.Number)
	r.kind, r.started, r.undone, r.back, r.held, r.arti = c.Kind, c.Started, c.Undone, c.Back, false, c.Artifact != nil
	if c.Artifact != nil {
		if x.artifacts == nil {
			x.artifacts = map[uint32]runtime.ArtifactRef{}
		}
		x.artifacts[place] = *c.Artifact
	}
}

// Find returns a call. It reports false where there is none, or it was taken.
func (x *calls) Find(id string) (endedCall, bool) {
	place := x.find(id)
	if place == 0 {
		return endedCall{}, false
	}
	if r, _ := x.at(place); r.held {
		return endedCall{}, false
	}
	return x.call(place), true
}

// Take takes a call out, because the session holds its record again. Put puts it back.
func (x *calls) Take(id string) {
	if place := x.find(id); place != 0 {
		r, _ := x.at(place)
		r.held = true
	}
}

// Run yields the calls of a run, the one that was added last first.
func (x *calls) Run(name string) iter.Seq[endedCall] {
	return func(yield func(endedCall) bool) {
		i, known := x.runOf[name]
		if !known {
			return
		}
		for place := x.runs[i].last; place != 0; {
			r, _ := x.at(place)
			if !r.held && !yield(x.call(place)) {
				return
			}
			place = r.before
		}
	}
}

// All yields all calls.
func (x *calls) All() iter.Seq[endedCall] {
	return func(yield func(endedCall) bool) {
		for place := uint32(1); place <= x.count; place++ {
			if r, _ := x.at(place); !r.held && !yield(x.call(place)) {
				return
			}
		}
	}
}

// ByArtifact returns the artifact with a hash.
func (x *calls) ByArtifact(sha256 string) (ref runtime.ArtifactRef, ok bool) {
	for place, a := range x.artifacts {
		if r, _ := x.at(place); a.SHA256 == sha256 && r.arti && !r.held {
			return a, true
		}
	}
	return ref, false
}

// WithArtifact returns the calls whose artifact has a hash.
func (x *calls) WithArtifact(sha256 string) (list []endedCall) {
	for place, a := range x.artifacts {
		if r, _ := x.at(place); a.SHA256 == sha256 && r.arti && !r.held {
			list = append(list, x.call(place))
		}
	}
	return list
}

// at returns the call at a place, and its chunk.
func (x *calls) at(place uint32) (*endedRef, *endedChunk) {
	c := &x.chunks[(place-1)/perChunk]
	return &c.refs[(place-1)%perChunk], c
}

// id returns the id of the call at a place. It is valid while the ids of the chunk do not change.
func (x *calls) id(place uint32) []byte {
	r, c := x.at(place)
	begin := uint32(0)
	if i := (place - 1) % perChunk; i > 0 {
		begin = c.refs[i-1].idEnd
	}
	return c.ids[begin:r.idEnd]
}

// call returns the call at a place.
func (x *calls) call(place uint32) endedCall {
	r, _ := x.at(place)
	c := endedCall{
		ID: string(x.id(place)), Tool: x.tools[r.tool], Run: x.runs[r.run].name, Number: int(r.number), Opened: r.opened, Outcome: r.outcome,
		Kind: r.kind, Input: r.input, Started: r.started, Undone: r.undone, Back: r.back,
	}
	if r.arti {
		a := x.artifacts[place]
		c.Artifact = &a
	}
	return c
}

// find returns the place of a call, 0 where there is none.
func (x *calls) find(id string) uint32 {
	if x.count == 0 {
		return 0
	}
	place := *x.chain(maphash.String(x.seed, id))
	for place != 0 && string(x.id(place)) != id {
		r, _ := x.at(place)
		place = r.next
	}
	return place
}

// chain returns the head of the chain of a hash.
func (x *calls) chain(hash uint64) *uint32 { return &x.heads[hash&uint64(len(x.heads)-1)] }

// add adds a call and returns its place.
func (x *calls) add(c *endedCall) (place uint32) {
	if x.count == uint32(2*len(x.heads)) {
		x.grow()
	}
	if x.count%perChunk == 0 {
		if n := len(x.chunks); n > 0 {
			x.chunks[n-1].ids = slices.Clone(x.chunks[n-1].ids) // without room for more
		}
		x.chunks = append(x.chunks, endedChunk{})
	}
	x.count++
	place = x.count
	last := &x.chunks[len(x.chunks)-1]
	last.ids = append(last.ids, c.ID...)
	of := x.runIndex(c.Run)
	last.refs = append(last.refs, endedRef{idEnd: uint32(len(last.ids)), tool: x.toolIndex(c.Tool), run: of, before: x.runs[of].last})
	x.runs[of].last = place
	x.link(place)
	return place
}

// link inserts a call at the head of its chain.
func (x *calls) link(place uint32) {
	first := x.chain(maphash.Bytes(x.seed, x.id(place)))
	r, _ := x.at(place)
	r.next, *first = *first, place
}

// grow doubles the table.
func (x *calls) grow() {
	if x.heads == nil {
		x.seed = maphash.MakeSeed()
	}
	x.heads = make([]uint32, max(4, 2*len(x.heads)))
	for place := uint32(1); place <= x.count; place++ {
		x.link(place)
	}
}

// runIndex returns the index of a run, which it adds.
func (x *calls) runIndex(name string) uint32 {
	i, known := x.runOf[name]
	if !known {
		if x.runOf == nil {
			x.runOf = map[string]uint32{}
		}
		i = uint32(len(x.runs))
		x.runs, x.runOf[name] = append(x.runs, endedRun{name: name}), i
	}
	return i
}

// toolIndex returns the index of a tool, which it adds.
func (x *calls) toolIndex(name string) uint32 {
	i, known := x.toolOf[name]
	if !known {
		if x.toolOf == nil {
			x.toolOf = map[string]uint32{}
		}
		i = uint32(len(x.tools))
		x.tools, x.toolOf[name] = append(x.tools, name), i
	}
	return i
}
