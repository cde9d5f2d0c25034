package console

import (
	"sync"

	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// A verified is the result of a verification.
type verified struct {
	audit.Report
	At    moment
	Words string
	Bad   string // the first thing that is wrong
	First uint64 // its position
}

// A verification is done one at a time. It keeps the last result.
type verification struct {
	running sync.Mutex
	mu      sync.Mutex
	result  *verified
}

func (v *verification) last() *verified {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.result
}

// verdicts say what the verdict of a verification means.
var verdicts = map[string]string{
	audit.VerdictOK:          "Nothing is wrong, and what was anchored elsewhere proves it.",
	audit.VerdictUnproved:    "Nothing wrong was found, but nothing proves the last entries.",
	audit.VerdictNotAnchored: "Nothing wrong was found, but the journal is not anchored: a process that can write it could have cut it off or begun it anew.",
	audit.VerdictRestored:    "The journal was restored from a copy, and entries were given up.",
	audit.VerdictBad:         "The journal is not what was written.",
}
