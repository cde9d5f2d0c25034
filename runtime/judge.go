package runtime

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// judge asks the policy about the call, applies its rewrites and reports whether
// nothing refuses the call. When it reports false the call has ended.
func (c *call) judge(facts *Facts) bool {
	c.final = c.args
	d, ok := c.ask(facts)
	if !ok {
		return false
	}
	if len(d.Rewrites) > 0 && len(d.Denials) == 0 && d.Effect != EffectDeny {
		if d, ok = c.rejudge(d, facts); !ok {
			return false
		}
	}
	if c.dry {
		c.decision = &Decision{d.Effect, d.Denials, d.Asks, d.Rewrites, d.Obligations, d.Revision}
	}
	c.obligations = d.Obligations
	switch {
	case d.Effect > EffectAllow:
		return c.policyFault("effect", fmt.Errorf("the policy answered %v", d.Effect))
	case len(d.Denials) > 0:
		return c.deny(d.Denials)
	case d.Effect == EffectDeny:
		return c.refuse(ReasonPolicyDenied, Detail{Rule: "no_allow"}, fmt.Sprintf("no policy allows this call of %q", c.in.Tool))
	case d.Effect == EffectAsk, len(d.Asks) > 0:
		return c.refuse(ReasonConsentUnavailable, askDetail(d.Asks), fmt.Sprintf(
			"%q needs somebody's consent and there is nobody to ask", c.in.Tool))
	}
	return c.bound(d.Obligations)
}

// rejudge applies the rewrites of d and asks once more. What the policy then
// wants to rewrite must be as it wants it already.
func (c *call) rejudge(d Decision, facts *Facts) (Decision, bool) {
	encoded, args, err := c.rewrite(d.Rewrites)
	if err != nil {
		return d, c.policyFault("rewrite", err)
	}
	c.final = args
	d, ok := c.ask(facts)
	if !ok || len(d.Rewrites) == 0 || len(d.Denials) > 0 || d.Effect == EffectDeny {
		return d, ok
	}
	again, _, err := c.rewrite(d.Rewrites)
	if err == nil && !bytes.Equal(again, encoded) {
		err = errFurther
	}
	if err != nil {
		return d, c.policyFault("rewrite", fmt.Errorf("rewrite %s, after a first rewrite: %w", d.Rewrites[0].place(), err))
	}
	return d, true
}

// deny ends the call for the denials of the policy.
func (c *call) deny(denials []Denial) bool {
	denials = slices.Clone(denials)
	slices.SortStableFunc(denials, func(a, b Denial) int {
		return cmp.Compare(reasonOfCode(a.Code), reasonOfCode(b.Code))
	})
	out := Outcome{Kind: Denied, Reason: reasonOfCode(denials[0].Code), Denials: denials}
	var messages []string
	for _, d := range denials {
		if r := reasonOfCode(d.Code); !slices.Contains(out.AllReasons, r) {
			out.AllReasons = append(out.AllReasons, r)
		}
		if m := cmp.Or(d.Message, d.Code); !slices.Contains(messages, m) {
			messages = append(messages, m)
		}
	}
	out.Message = strings.Join(messages, "; ")
	out.Detail.At = denials[0].At
	switch out.Reason {
	case ReasonPolicyDenied:
		out.Detail.Rule = denials[0].Code
	case ReasonBehaviorNotAllowed:
		out.Detail.Allowed = c.tool.spec.Behaviors
	}
	return c.end(ending{event: EventDenied, to: StateDenied, outcome: out})
}

// askDetail names the first ask.
func askDetail(asks []Ask) Detail {
	if len(asks) == 0 {
		return Detail{}
	}
	return Detail{Rule: asks[0].ID, At: asks[0].At}
}

// bound refuses the call when it cannot meet what the policy obliges it to.
func (c *call) bound(obligations []Obligation) bool {
	for _, o := range obligations {
		switch o.Code {
		case "notify":
		case "redact_output":
			if _, err := redactions(o); err != nil {
				return c.policyFault("redact_output", fmt.Errorf("obligation redact_output %s: %w", at(o.At), err))
			}
		default:
			return c.refuse(ReasonPolicyDenied, Detail{Rule: "unknown_obligation", At: o.At}, fmt.Sprintf(
				"the policy demands %q, which cannot be met here", o.Code))
		}
	}
	return true
}

// redactions returns the places that a redact_output obligation masks.
func redactions(o Obligation) ([]pointer, error) {
	var args struct {
		Pointers []string `json:"pointers"`
	}
	dec := json.NewDecoder(bytes.NewReader(o.Args))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&args); err != nil {
		return nil, fmt.Errorf("its args are not {\"pointers\": [...]}: %w", err)
	}
	if len(args.Pointers) == 0 {
		return nil, errors.New("it names no pointers")
	}
	places := make([]pointer, 0, len(args.Pointers))
	for _, text := range args.Pointers {
		p, err := parsePointer(text)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}
