package engine

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// use uses up the approval or the grant that allows the call to start, and checks that
// the call is the one that was approved. It returns the result of a call that is not.
// The locks of the call and its session are held.
func (d *approvals) use(c *call) *result {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := c.consent
	changed := runtime.Detail{Changed: []string{"grant"}}
	var ev consent.Event
	var err error
	switch {
	case a.id != "":
		now := a.question
		now.Call = c.consentCall()
		ev, err = d.book.Use(c.now, a.id, &now, a.noLongerAsked)
		changed.Changed = nil
		for _, what := range ev.Changed {
			changed.Changed = append(changed.Changed, what.String())
		}
	case a.grant != "":
		ev, err = d.book.UseGrant(c.now, a.grant, &a.question)
	default: // asking is suspended
		return nil
	}
	if err == nil {
		d.apply(&ev)
	}
	switch {
	case err == nil && ev.Kind != consent.EventMismatch:
		return nil
	case slices.Equal(ev.Changed, []consent.Change{consent.ChangedExpired}):
		return denial(runtime.ReasonConsentExpired, runtime.Detail{}, "the approval is too old: make the call again")
	}
	return denial(runtime.ReasonBindingMismatch, changed, "the call is not what was approved any more: make it again")
}

// consentCall describes the call as it is about to run.
func (c *call) consentCall() consent.Call {
	out := c.consentCallWith(c.final, c.revision)
	out.Preview = c.consent.preview
	return out
}
