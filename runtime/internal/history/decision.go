package history

import (
	"encoding/json"

	"github.com/ambit-tools/ambit/runtime"
)

// A decision is a runtime.Decision as a record holds it. Of a rewrite it has the pointer and not
// the value, which may be sensitive.
type decision struct {
	Effect      runtime.Effect `json:"effect"`
	Denials     []denial       `json:"deny,omitempty"`
	Asks        []ask          `json:"ask,omitempty"`
	Rewrites    []rewrite      `json:"modify,omitempty"`
	Obligations []obligation   `json:"obligations,omitempty"`
}

type ask struct {
	ID      string `json:"id"`
	Message string `json:"message,omitempty"`
	At      string `json:"at,omitempty"`
}

type rewrite struct {
	Code    string `json:"code"`
	Pointer string `json:"pointer"`
	At      string `json:"at,omitempty"`
}

// EncodeDecision returns d as a record holds it.
func EncodeDecision(d *runtime.Decision) ([]byte, error) {
	if len(d.Denials)+len(d.Asks)+len(d.Rewrites)+len(d.Obligations) == 0 {
		return []byte(`{"effect":"` + d.Effect.String() + `"}`), nil
	}
	r := decision{
		Effect: d.Effect, Denials: encodeDenials(d.Denials), Obligations: encodeObligations(d.Obligations),
	}
	for _, a := range d.Asks {
		r.Asks = append(r.Asks, ask{a.ID, a.Message, a.At})
	}
	for _, w := range d.Rewrites {
		r.Rewrites = append(r.Rewrites, rewrite{w.Code, w.Pointer, w.At})
	}
	return json.Marshal(&r)
}
