package rules

import "github.com/ambit-tools/ambit/runtime"

// forever is later than any time that matters.
const forever = Instant(1<<63 - 1)

// memory remembers calls under a key until they are no longer held against an
// equal one.
type memory struct {
	entries  map[memoryKey]remembered
	expiring expiring[memoryKey] // of calls that have ended
}

type memoryKey struct {
	tool   int // by its present name
	digest Digest
}

// remembered is a call that an equal one is answered with. While it has not
// ended, until is forever.
type remembered struct {
	call    string
	args    Digest
	live    bool
	until   Instant
	earlier *remembered // equal too, which a Config let run that held nothing against it; nil: there is none
}

// find returns what is held against a call at now. What the call own put there
// itself does not count (SEMANTICS 4.8).
func (m *memory) find(k memoryKey, now Instant, own string) (remembered, bool) {
	e, ok := m.entries[k]
	for ok {
		if now < e.until && (own == "" || e.call != own) {
			return e, true
		}
		if ok = e.earlier != nil; ok {
			e = *e.earlier
		}
	}
	return remembered{}, false
}

// hold remembers a call that has not ended.
func (m *memory) hold(k memoryKey, now Instant, call string, args Digest) {
	if m.entries == nil {
		m.entries = map[memoryKey]remembered{}
	}
	m.sweep(now, sweptAtOnce)
	e := remembered{call: call, args: args, live: true, until: forever}
	if was, ok := m.entries[k]; ok && now < was.until {
		earlier := was
		e.earlier = &earlier
	}
	m.entries[k] = e
}

// keep remembers a call that has ended until a time, which is the end of a window with an
// index among the durations.
func (m *memory) keep(k memoryKey, call string, until Instant, window int) {
	m.expiring.add(window, until, k)
	m.remain(k, call, until)
}

// remain sets until when a call that has ended is remembered.
func (m *memory) remain(k memoryKey, call string, until Instant) {
	e, ok := m.entries[k]
	if ok && e.call == call {
		e.live, e.until = false, until
		m.entries[k] = e
		return
	}
	for at := e.earlier; at != nil; at = at.earlier {
		if at.call == call {
			at.live, at.until = false, until
		}
	}
}

// forget drops a call, unless another one has taken its place.
func (m *memory) forget(k memoryKey, call string) {
	switch e, ok := m.entries[k]; {
	case ok && e.earlier != nil:
		m.filter(k, func(e *remembered) bool { return e.call != call })
	case ok && e.call == call:
		delete(m.entries, k)
	}
}

// filter keeps under k the calls for which keep returns true.
func (m *memory) filter(k memoryKey, keep func(*remembered) bool) {
	e := m.entries[k]
	for at := &e; at.earlier != nil; {
		if keep(at.earlier) {
			at = at.earlier
		} else {
			at.earlier = at.earlier.earlier
		}
	}
	switch {
	case keep(&e):
	case e.earlier == nil:
		delete(m.entries, k)
		return
	default:
		e = *e.earlier
	}
	m.entries[k] = e
}

// sweep drops what is not held against any call, under at most so many keys.
func (m *memory) sweep(now Instant, most int) {
	for range most {
		k, ok := m.expiring.take(now)
		if !ok {
			return
		}
		if _, ok = m.entries[k]; ok {
			m.filter(k, func(e *remembered) bool { return now < e.until })
		}
	}
}

// remembers reports whether a call of t matters to a later one that is equal to it.
func (t *tool) remembers() bool { return t.dedupe != runtime.DedupeNever || t.keyed }

// hold remembers c, for its owner, as a call that an equal one duplicates.
func (c *call) hold(now Instant) {
	if c.tool.dedupe != runtime.DedupeNever {
		c.owner.equal.hold(memoryKey{c.tool.now.index, c.args}, now, c.id, c.args)
	}
	if c.tool.keyed {
		c.owner.keys.hold(memoryKey{c.tool.now.index, c.key}, now, c.id, c.args)
	}
}

// remember notes that c has ended with status. An equal call may run again after
// an error, and after a timeout when its tool is idempotent. Only an error releases
// the idempotency key (SEMANTICS 4.8 and 4.9).
func (c *call) remember(status Status) {
	k := memoryKey{c.tool.now.index, c.args}
	switch {
	case c.tool.dedupe == runtime.DedupeNever:
	case status == StatusError, status == StatusTimeout && c.tool.idempot:
		c.owner.equal.forget(k, c.id)
	case c.tool.dedupe == runtime.DedupeAlways:
		c.owner.equal.remain(k, c.id, forever)
	default:
		c.owner.equal.keep(k, c.id, c.end.Add(c.tool.window), c.tool.windowIndex)
	}
	k.digest = c.key
	switch {
	case !c.tool.keyed:
	case status == StatusError:
		c.owner.keys.forget(k, c.id)
	default:
		c.owner.keys.keep(k, c.id, c.end.Add(c.tool.keyWindow), c.tool.keyIndex)
	}
}

// forget lets an equal call run again.
func (c *call) forget() { c.owner.forget(c.tool, c.id, c.args, c.key) }

// forget lets an equal call run again.
func (o *owner) forget(t *tool, call string, args, key Digest) {
	if o == nil {
		return
	}
	if t.dedupe != runtime.DedupeNever {
		o.equal.forget(memoryKey{t.now.index, args}, call)
	}
	if t.keyed {
		o.keys.forget(memoryKey{t.now.index, key}, call)
	}
}
