package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/journal"
)

func newCalls() *cobra.Command {
	return newGroup("calls", "Look at the calls that an application has made",
		newCallsList(), newCallsShow())
}

// An outcome is what is shown of one.
type outcome struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Detail  struct {
		Changed []string `json:"changed,omitempty"` // binding_mismatch: what is not as it was approved
	} `json:"detail,omitzero"`
}

// outcomeOf returns the outcome in a record, nil when there is none.
func outcomeOf(r *journal.Record) *outcome {
	if len(r.Outcome) == 0 {
		return nil
	}
	var out outcome
	if json.Unmarshal(r.Outcome, &out) != nil {
		return nil
	}
	return &out
}

// words returns the outcome and its reason, once when they are the same word.
func (o *outcome) words() string { return strings.Join(distinct(o.Outcome, o.Reason), " ") }

// distinct returns the texts that are neither empty nor what the one before says.
func distinct(list ...string) []string { return slices.Compact(nonEmpty(list...)) }
