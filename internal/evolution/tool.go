package evolution

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/dsl"
)

// A say notes what a change of a key of a tool breaks.
type say func(key string, whom []string, format string, args ...any)

// keys compares what a tool says besides its name and its schemas.
func keys(was, t *dsl.Tool, add say) {
	version(was, t, add)
	effects(was, t, add)
	gates(was, t, add)
	budgets(was, t, add)
	repeats(was, t, add)
	stored(was, t, add)
	consents(was.Consent, t.Consent, add)
	rules(orRules(was.Rules), orRules(t.Rules), func(whom []string, format string, args ...any) {
		add("rules", whom, "rules."+format, args...)
	})
	if was.Deprecated != nil && t.Deprecated != nil && t.Deprecated.RemoveIn != "" && major(t.Deprecated.RemoveIn) < major(was.Deprecated.RemoveIn) {
		add("deprecated", []string{Callers}, "deprecated.remove_in was %s and is %s", was.Deprecated.RemoveIn, t.Deprecated.RemoveIn)
	}
}

func version(was, t *dsl.Tool, add say) {
	if lower(t.Version, was.Version) {
		add("version", []string{Callers}, "the version was %s and is %s", was.Version, t.Version)
	}
}

func effects(was, t *dsl.Tool, add say) {
	if rank(t.Effect) > rank(was.Effect) {
		add("effect", []string{Policies, Callers}, "the effect was %s and is %s: nothing allows it unless a policy does", was.Effect, t.Effect)
	}
	if was.Idempotent && !t.Idempotent {
		add("idempotent", []string{Callers}, "the tool was idempotent and is not: a call that is made again takes effect again")
	}
	switch {
	case t.Transactional && !was.Transactional:
		add("transactional", []string{Handlers}, "the tool is transactional now: all its effects have to go through participants")
	case was.Transactional && !t.Transactional:
		add("transactional", []string{Callers, Undo}, "the tool is not transactional any more: what is interrupted may have taken effect")
	}
	switch {
	case t.Reconcile && !was.Reconcile:
		add("reconcile", []string{Handlers}, "the handler needs a method that reconciles")
	case was.Reconcile && !t.Reconcile:
		add("reconcile", []string{Callers, Journals}, "interrupted calls are not reconciled any more: they stay unknown")
	}
}

// gates compares who may call the tool, and when.
func gates(was, t *dsl.Tool, add say) {
	for _, name := range without(t.Capabilities, was.Capabilities) {
		add("capabilities", []string{Callers}, "the capability %q is wanted now", name)
	}
	for _, name := range without(was.Capabilities, t.Capabilities) {
		add("capabilities", []string{Policies}, "the capability %q is not declared any more", name)
	}
	whole := func(key string, was, now []string) {
		switch lost := without(was, now); {
		case len(now) > 0 && (len(was) == 0 || len(lost) > 0):
			add(key, []string{Callers, Policies}, "the tool runs in fewer: %q were named and %q are", was, now)
		case len(lost) > 0:
			add(key, []string{Policies}, "%q are not named any more", lost)
		}
	}
	whole("behaviors", was.Behaviors, t.Behaviors)
	for _, m := range t.Modes {
		whole("modes", mode(was, m.Name), m.Values)
	}
	for _, m := range was.Modes {
		if mode(t, m.Name) == nil {
			whole("modes", m.Values, nil)
		}
	}
}

func mode(t *dsl.Tool, name string) []string {
	for _, m := range t.Modes {
		if m.Name == name {
			return m.Values
		}
	}
	return nil
}

// budgets compares what a call may use.
func budgets(was, t *dsl.Tool, add say) {
	if t.Deadline < was.Deadline {
		add("deadline", []string{Handlers}, "the deadline was %s and is %s", was.Deadline, t.Deadline)
	}
	for _, l := range []struct {
		key      string
		whom     string
		was, now int64
	}{
		{"input", Callers, was.Limits.Input, t.Limits.Input},
		{"output", Handlers, was.Limits.Output, t.Limits.Output},
		{"memory", Handlers, was.Limits.Memory, t.Limits.Memory},
		{"concurrency", Callers, int64(was.Limits.Concurrency), int64(t.Limits.Concurrency)},
	} {
		if l.now != 0 && (l.was == 0 || l.now < l.was) {
			add("limits", []string{l.whom}, "limits.%s was %s and is %d", l.key, or(counted(l.was)), l.now)
		}
	}
	if a, b := queue(was.Limits), queue(t.Limits); b < a {
		add("limits", []string{Callers}, "limits.queue was %d and is %d", a, b)
	}
	if t.Heartbeat && !was.Heartbeat {
		add("heartbeat", []string{Callers}, "the input has a member request_heartbeat now")
	}
}

func counted(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// queue is how many calls wait at most.
func queue(l dsl.Limits) int {
	switch {
	case l.Queue == dsl.NoQueue:
		return 0
	case l.Queue == 0:
		return 4 * l.Concurrency
	}
	return l.Queue
}

// repeats compares what becomes of a call that is made again.
func repeats(was, t *dsl.Tool, add say) {
	if was.Dedupe != t.Dedupe {
		add("dedupe", []string{Callers}, "equal calls were deduplicated %s and are %s", deduplicated(was.Dedupe), deduplicated(t.Dedupe))
	}
	switch a, b := was.Idempotency, t.Idempotency; {
	case a != nil && b == nil:
		add("idempotency", []string{Callers}, "calls have no idempotency key any more")
	case b == nil:
	case a == nil:
		add("idempotency", []string{Callers}, "calls of the same %q are one now", b.Key)
	case !slices.Equal(a.Key, b.Key):
		add("idempotency", []string{Callers, Journals}, "idempotency.key was %q and is %q", a.Key, b.Key)
	case a.Window != b.Window:
		add("idempotency", []string{Callers}, "idempotency.window was %s and is %s", a.Window, b.Window)
	}
}

func deduplicated(d dsl.Dedupe) string {
	if d.Window > 0 {
		return "for " + d.Window.String()
	}
	return d.Mode
}

// stored compares what is kept of a call.
func stored(was, t *dsl.Tool, add say) {
	switch a, b := was.Artifact, t.Artifact; {
	case b == nil:
	case a == nil:
		add("artifact", []string{Callers}, "outputs of more than %d characters become artifacts now", b.Over)
	default:
		if b.Over < a.Over {
			add("artifact", []string{Callers}, "artifact.over was %d and is %d", a.Over, b.Over)
		}
		if b.Type != a.Type {
			add("artifact", []string{Callers}, "artifact.type was %s and is %s", or(a.Type), or(b.Type))
		}
	}
	switch a, b := was.Undo, t.Undo; {
	case a == nil && b != nil:
		add("undo", []string{Handlers}, "the handler needs methods that prepare an undo and carry it out")
	case a != nil && b != nil && b.TTL < a.TTL:
		add("undo", []string{Undo}, "undo.ttl was %s and is %s", a.TTL, b.TTL)
	}
}

// consents compares when people are asked, whom, and what they may do.
func consents(was, now *dsl.Consent, add say) {
	key := func(whom []string, format string, args ...any) { add("consent", whom, "consent"+format, args...) }
	if now == nil {
		return
	}
	if was == nil {
		was = &dsl.Consent{MaxCover: now.MaxCover, MaxFor: now.MaxFor, Timeout: now.Timeout, Approvers: now.Approvers, Quorum: now.Quorum}
	}
	if asks(now) > asks(was) {
		key([]string{Callers}, ".ask: calls wait for people who were not asked before")
	}
	if now.Preview && !was.Preview {
		key([]string{Handlers}, ".preview: the handler needs a method that previews")
	}
	if was.Preview && !now.Preview {
		key([]string{Approvals}, ".preview: requests show no preview any more")
	}
	if lost := without(was.Approvers, now.Approvers); len(lost) > 0 {
		key([]string{Approvals}, ".approvers: %q may not answer any more", lost)
	}
	if now.Quorum > was.Quorum {
		key([]string{Approvals, Callers}, ".quorum was %d and is %d", was.Quorum, now.Quorum)
	}
	if now.Timeout < was.Timeout {
		key([]string{Approvals}, ".timeout was %s and is %s", was.Timeout, now.Timeout)
	}
	if covers(now.MaxCover) < covers(was.MaxCover) {
		key([]string{Approvals}, ".max_cover was %s and is %s", was.MaxCover, now.MaxCover)
	}
	if now.MaxFor < was.MaxFor {
		key([]string{Approvals}, ".max_for was %s and is %s", was.MaxFor, now.MaxFor)
	}
	if was.AllowEdit && !now.AllowEdit {
		key([]string{Approvals}, ".allow_edit: arguments may not be edited any more")
	}
	if was.AllowSelf && !now.AllowSelf {
		key([]string{Approvals}, ".allow_self: principals may not approve their own calls any more")
	}
	if lost := without(was.Reveal, now.Reveal); len(lost) > 0 {
		key([]string{Approvals}, ".reveal: approvers do not see %q any more", lost)
	}
}

func asks(c *dsl.Consent) int { return slices.Index([]string{"", "policy", "always"}, c.Ask) }

func covers(cover string) int { return slices.Index([]string{"", "exact", "args", "tool"}, cover) }

func orRules(r *dsl.Rules) *dsl.Rules {
	if r == nil {
		return &dsl.Rules{}
	}
	return r
}

// rules compares the rules of a tool, or of the whole set: what they refuse that they did not.
func rules(was, now *dsl.Rules, add func(whom []string, format string, args ...any)) {
	callers := []string{Callers}
	flag := func(name string, was, now bool) {
		if now && !was {
			add(callers, "%s holds now", name)
		}
	}
	names := func(name string, was, now []string) {
		if more := without(now, was); len(more) > 0 {
			add(callers, "%s names %q now", name, more)
		}
	}
	flag("start_constraint", was.StartConstraint, now.StartConstraint)
	flag("required_before_exit", was.RequiredBeforeExit, now.RequiredBeforeExit)
	flag("exit_loop", was.ExitLoop, now.ExitLoop)
	flag("continue_loop", was.ContinueLoop, now.ContinueLoop)
	switch before, more := was.RequiresPreceding, without(now.RequiresPreceding, was.RequiresPreceding); {
	case len(now.RequiresPreceding) == 0:
	case len(before) == 0, !now.AnyPreceding && len(more) > 0:
		add(callers, "requires_preceding names %q now", more)
	case was.AnyPreceding && !now.AnyPreceding && len(now.RequiresPreceding) > 1, now.AnyPreceding && len(without(before, now.RequiresPreceding)) > 0:
		add(callers, "requires_preceding was %q and is %q", before, now.RequiresPreceding)
	}
	names("must_precede", was.MustPrecede, now.MustPrecede)
	names("exclusive_group", was.ExclusiveGroups, now.ExclusiveGroups)
	if a, b := was.MaxCalls, now.MaxCalls; b > 0 && (a == 0 || b < a || was.MaxCallsEach && !now.MaxCallsEach) {
		add(callers, "max_calls was %s and is %d", or(counted(int64(a))), b)
	}
	if a, b := was.Cooldown, now.Cooldown; b > a || b > 0 && was.CooldownEach && !now.CooldownEach {
		add(callers, "cooldown was %s and is %s", a, b)
	}
	if b := now.AllowedOperations; b != nil {
		if a := was.AllowedOperations; a == nil || a.Arg != b.Arg || len(without(a.Values, b.Values)) > 0 {
			add(callers, "allowed_operations takes %q of %q only", b.Values, b.Arg)
		}
	}
}

// setRules compares the rules of the whole set. A change is allowed where the version of each
// tool announces it.
func (c *comparison) setRules(old *dsl.File) {
	allowed := len(c.now.Tools) > 0
	for _, t := range c.now.Tools {
		if was := find(old, t); was != nil {
			allowed = allowed && newMajor(was.Version, t.Version)
		}
	}
	now := orRules(c.now.Rules)
	pos := c.now.PackagePos
	for _, p := range now.Keys {
		if pos == c.now.PackagePos || p.Line < pos.Line {
			pos = p
		}
	}
	rules(orRules(old.Rules), now, func(whom []string, format string, args ...any) {
		c.breaks = append(c.breaks, Break{Pos: pos, For: whom, Text: "rules." + fmt.Sprintf(format, args...), Allowed: allowed,
			Hint: "raise the major version of each tool, or take the change back"})
	})
}

// Stale returns a note for each tool whose pin is another: no request for consent that waits
// is answered under it.
func Stale(old, now *dsl.File, was, is map[string]string) []Break {
	var stale []Break
	for _, t := range now.Tools {
		if before := find(old, t); before != nil && was[before.Name] != is[t.Name] {
			stale = append(stale, Break{Tool: before.Name, Pos: t.Pos, For: []string{Approvals}, Allowed: true,
				Text: "the declaration has changed: approvals of calls that wait are rejected (changed), and their requests stay open"})
		}
	}
	return stale
}
