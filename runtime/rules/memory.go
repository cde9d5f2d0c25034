package rules

// forever is later than any time that matters.
const forever = Instant(1<<63 - 1)

// minSweep is the size under which stale entries are not looked for.
const minSweep = 64

// memory remembers calls under a key until they are no longer held against an
// equal one.
type memory struct {
	entries map[memoryKey]remembered
	sweepAt int // size at which stale entries are looked for
}

type memoryKey struct {
	tool   int
	digest Digest
}

// remembered is a call that an equal one is answered with. While it has not
// ended until is forever.
type remembered struct {
	call  string
	args  Digest
	live  bool
	until Instant
}

// find returns what is held against a call at now. What the call own put there
// itself does not count.
func (m *memory) find(k memoryKey, now Instant, own string) (remembered, bool) {
	e, ok := m.entries[k]
	return e, ok && now < e.until && (own == "" || e.call != own)
}

// hold remembers a call that has not ended.
func (m *memory) hold(k memoryKey, now Instant, call string, args Digest) {
	if m.entries == nil {
		m.entries = map[memoryKey]remembered{}
		m.sweepAt = minSweep
	}
	if len(m.entries) >= m.sweepAt {
		m.sweep(now)
	}
	m.entries[k] = remembered{call: call, args: args, live: true, until: forever}
}

// keep remembers a call that has ended until a time.
func (m *memory) keep(k memoryKey, call string, until Instant) {
	if e, ok := m.entries[k]; ok && e.call == call {
		e.live, e.until = false, until
		m.entries[k] = e
	}
}

// forget drops a call, unless another one has taken its place.
func (m *memory) forget(k memoryKey, call string) {
	if e, ok := m.entries[k]; ok && e.call == call {
		delete(m.entries, k)
	}
}

// sweep drops what is held against nobody. It is run each time the entries
// have doubled, so that its cost is a constant per entry.
func (m *memory) sweep(now Instant) {
	for k, e := range m.entries {
		if e.until <= now {
			delete(m.entries, k)
		}
	}
	m.sweepAt = max(minSweep, 2*len(m.entries))
}

// remembers reports whether a call of t matters to a later one that is equal to it.
func (t *tool) remembers() bool { return t.dedupe != DedupeNever || t.keyed }

// hold remembers c, for its owner, as a call that an equal one duplicates.
func (c *call) hold(now Instant) {
	if c.tool.dedupe != DedupeNever {
		c.owner.equal.hold(memoryKey{c.tool.index, c.args}, now, c.id, c.args)
	}
	if c.tool.keyed {
		c.owner.keys.hold(memoryKey{c.tool.index, c.key}, now, c.id, c.args)
	}
}

// remember notes that c has ended with status. An equal call may run again after
// an error, and after a timeout when running twice does no harm. The key of an
// effect is given back by an error alone.
func (c *call) remember(status Status) {
	k := memoryKey{c.tool.index, c.args}
	switch {
	case c.tool.dedupe == DedupeNever:
	case status == StatusError, status == StatusTimeout && c.tool.idempot:
		c.owner.equal.forget(k, c.id)
	case c.tool.dedupe == DedupeAlways:
		c.owner.equal.keep(k, c.id, forever)
	default:
		c.owner.equal.keep(k, c.id, c.end.Add(c.tool.window))
	}
	k.digest = c.key
	switch {
	case !c.tool.keyed:
	case status == StatusError:
		c.owner.keys.forget(k, c.id)
	default:
		c.owner.keys.keep(k, c.id, c.end.Add(c.tool.keyWindow))
	}
}

// forget lets an equal call run again.
func (c *call) forget() {
	if c.tool.dedupe != DedupeNever {
		c.owner.equal.forget(memoryKey{c.tool.index, c.args}, c.id)
	}
	if c.tool.keyed {
		c.owner.keys.forget(memoryKey{c.tool.index, c.key}, c.id)
	}
}
