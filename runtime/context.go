package runtime

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/callctx"
)

// A CallInfo describes a call to its handler.
type CallInfo struct {
	ID, Tool, Session, Run string
	Agent                  string // the sub-agent that calls; empty: none
	Principal              string
	Behavior               string
	Attempt                int               // from 1
	Undo                   bool              // the call is being undone
	Fence                  uint64            // grows with every owner of the journal: a system that has seen a greater one should refuse; 0: no journal
	Metadata               map[string]string // of the call and its run; it must not be changed
	Turn                   int               // of the run, from 1
	ClientRequest          string            // the request_id of Metadata, cut at 256 bytes; empty: none
	Capabilities           []string          // that the tool declares
	Request                string            // for consent that was approved; empty: none
	Grant                  string            // the grant that answered instead; empty: none
	ApprovedBy             []string          // who approved the request, or gave the grant

	effect   [sha256.Size]byte // of the members that the tool declares; zero: it declares none
	deadline time.Time
	now      func() time.Time // tells the time of the deadline; nil: time.Now
}

// FromContext returns the description of the call that ctx was made for. In an undo
// handler that is the call that is undone, with the deadline of the undo: Undo is set,
// and Key is the key with which the effect was made.
func FromContext(ctx context.Context) (CallInfo, bool) {
	h := handleOf(ctx)
	if h == nil {
		return CallInfo{}, false
	}
	return CallInfoOf(h.Info()), true
}

// CallInfoOf returns i as a CallInfo. Only packages of this module can call it.
func CallInfoOf(i callctx.Info) CallInfo {
	return CallInfo{
		ID: i.ID, Tool: i.Tool, Session: i.Session, Run: i.Run, Agent: i.Agent, Principal: i.Principal, Behavior: i.Behavior,
		Attempt: i.Attempt, Undo: i.Undo, Fence: i.Fence, Metadata: i.Metadata, Turn: i.Turn, ClientRequest: i.ClientRequest,
		Capabilities: i.Capabilities, Request: i.Request, Grant: i.Grant, ApprovedBy: i.ApprovedBy, effect: i.Effect, deadline: i.Deadline, now: i.Now,
	}
}

// A handle is the attempt of a call behind the context of its handler.
type handle = callctx.Handle[Participant, Part]

// handleOf returns the attempt that ctx was made for, nil when there is none.
func handleOf(ctx context.Context) handle {
	if ctx == nil {
		return nil
	}
	h, _ := ctx.Value(callctx.Key{}).(handle)
	return h
}

// Deadline returns when the time of the attempt is up.
func (i CallInfo) Deadline() time.Time { return i.deadline }

// Remaining returns how much time the attempt has left, 0 when it is up.
func (i CallInfo) Remaining() time.Duration {
	switch {
	case i.deadline.IsZero():
		return 0
	case i.now == nil:
		return max(time.Until(i.deadline), 0)
	}
	return max(i.deadline.Sub(i.now()), 0)
}
