package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A participant is a Participant with its name.
type participant struct {
	name string
	runtime.Participant
}

// An attemptPart is the part of an attempt at a participant. The mutex of the call guards it.
type attemptPart struct {
	participant *participant
	part        runtime.Part // nil: Begin failed, or returned too late
	err         error
	ready       sched.Event // fired when part and err are set
}
