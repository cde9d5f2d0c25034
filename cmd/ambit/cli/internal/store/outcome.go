package store

import (
	"encoding/json"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An Outcome is what is shown of one.
type Outcome struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Detail  struct {
		Changed []string `json:"changed,omitempty"` // binding_mismatch: what is not as it was approved
	} `json:"detail,omitzero"`
}

// OutcomeOf returns the outcome in a record, nil when there is none.
func OutcomeOf(r *journal.Record) *Outcome {
	if len(r.Outcome) == 0 {
		return nil
	}
	var out Outcome
	if json.Unmarshal(r.Outcome, &out) != nil {
		return nil
	}
	return &out
}

// Words returns the outcome and its reason, once when they are the same word.
func (o *Outcome) Words() string { return strings.Join(cmdutil.Distinct(o.Outcome, o.Reason), " ") }
