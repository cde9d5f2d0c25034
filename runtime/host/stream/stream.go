package stream

import (
	"net/http"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

const (
	// patience is for how long a reader may take nothing while its buffer is full.
	patience = 5 * time.Second
	// writeTimeout is how long one message may take. It is longer than patience, so that a reader
	// which goes on in between learns what it missed.
	writeTimeout = 30 * time.Second
	// idle is how often a reader that gets nothing is told that the stream lives.
	idle = 15 * time.Second
	// standstill is for how long a stream waits for an operator policy that fails, and the pauses are those between
	// its questions.
	standstill   = 10 * time.Second
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// An Authenticator finds out who sends a request. Its method is safe for concurrent use. An error
// refuses the request: return ErrUnknown when the request does not say who sends it, or not truly.
type Authenticator = httpguard.Authenticator

// A Caller is who sends a request. Its id, groups and method come from what the Authenticator has
// verified.
type Caller = httpguard.Caller

// ErrUnknown says that a request does not say who sends it, or not truly.
var ErrUnknown = httpguard.ErrUnknown

// CallerOf returns who sends a request that a host has let pass, for handlers that are mounted on it.
func CallerOf(r *http.Request) (Caller, bool) { return httpguard.CallerOf(r.Context()) }

// A Stream serves the events of an executor.
type Stream struct {
	exec  *engine.Executor
	feed  *feed.Feed
	limit httpguard.Limiter // of answers
}

// New returns the stream of an executor and the feed in front of its journal. Its handlers are for
// requests whose caller is known: a host lets only those through.
func New(exec *engine.Executor, f *feed.Feed) *Stream { return &Stream{exec: exec, feed: f} }

// ended is the kind of an event that the journal has none of: entries of any kind end requests.
const ended = "approval.ended"

// kinds are those of the events that readers may get.
var kinds = append(eventKinds(), ended)

func eventKinds() (list []string) {
	for k := runtime.EventInvoked; k <= runtime.EventSinkDropped; k++ {
		if name := k.String(); isPublic(name) {
			list = append(list, name)
		}
	}
	return list
}

func isPublic(kind string) bool {
	return strings.HasPrefix(kind, "tool.") || strings.HasPrefix(kind, "approval.")
}
