package dsl

// A boundKind is a kind of limit: its short form, and its long form.
type boundKind struct {
	def, what string
	max       word
	read      func(p *parser, n *node, key string) int64
}

var (
	sizeBound  = boundKind{"sizeBound", "a limit in bytes", wordSize, (*parser).size}
	countBound = boundKind{"countBound", "a limit of a number", wordCount, func(p *parser, n *node, key string) int64 { return int64(p.count(n, key, 1)) }}
	timeBound  = boundKind{"timeBound", "a limit of time", wordDuration, func(p *parser, n *node, key string) int64 { return int64(p.duration(n, key)) }}
)

func boundLevel(k boundKind) level[Bound] {
	return level[Bound]{def: k.def, what: k.what, keys: keys[Bound]{
		{name: "max", required: true, is: k.max, doc: "The limit.",
			read: func(p *parser, n *node, b *Bound) { b.Max = k.read(p, n, "max") }},
		{name: "enforcement", is: wordEnforcement, doc: "The weakest way in which a host may hold the limit.", without: "watched",
			read: func(p *parser, n *node, b *Bound) { b.Enforcement = p.choice(n, "enforcement", levelNames...) }},
	}}
}

func memoryBoundLevel() level[memoryBound] {
	return level[memoryBound]{def: "memoryBound", what: "limits.memory", keys: keys[memoryBound]{
		{name: "max", required: true, is: wordSize, doc: "The limit.",
			read: func(p *parser, n *node, b *memoryBound) { b.Max = p.size(n, "max") }},
		{name: "shared", is: wordFlag, doc: "The processes of a command may share memory by descriptors and keys.", without: "false",
			read: func(p *parser, n *node, b *memoryBound) { b.shared = p.flag(n, "shared") }},
		{name: "enforcement", is: wordEnforcement, doc: "The weakest way in which a host may hold the limit.", without: "watched",
			read: func(p *parser, n *node, b *memoryBound) { b.Enforcement = p.choice(n, "enforcement", levelNames...) }},
	}}
}

// processLimit reads a limit in its short or its long form.
func (p *parser) processLimit(n *node, k boundKind, key string) (b Bound) {
	if n.kind != nodeMap {
		return Bound{Max: k.read(p, n, key)}
	}
	long := boundLevel(k)
	walk(p, n, long, key, n.pos, &b)
	return b
}

// commandLimits are the keys of limits that only commands have.
func commandLimits() keys[Limits] {
	return keys[Limits]{
		{name: "processes", is: wordCountBound, doc: "Most processes and threads of a command at once.", without: "128",
			read: func(p *parser, n *node, l *Limits) {
				l.Process.Processes = p.processLimit(n, countBound, "limits.processes")
			}},
		{name: "cpu", is: wordTimeBound, doc: "Most CPU time of all processes of a command.", without: "the deadline",
			read: func(p *parser, n *node, l *Limits) { l.Process.CPU = p.processLimit(n, timeBound, "limits.cpu") }},
		{name: "file", is: wordSizeBound, doc: "Largest file that a command writes.", without: "256MiB",
			read: func(p *parser, n *node, l *Limits) { l.Process.File = p.processLimit(n, sizeBound, "limits.file") }},
		{name: "scratch", is: wordSizeBound, doc: "Most bytes in the private folder of a command.", without: "256MiB",
			read: func(p *parser, n *node, l *Limits) {
				l.Process.Scratch = p.processLimit(n, sizeBound, "limits.scratch")
			}},
		{name: "files", is: wordCountBound, doc: "Most descriptors of each process of a command.", without: "256",
			read: func(p *parser, n *node, l *Limits) { l.Process.Files = p.processLimit(n, countBound, "limits.files") }},
		{name: "stop_grace", is: wordDuration, doc: "Time between SIGTERM and SIGKILL of a command, 4s at most.", without: "2s",
			read: (*parser).parseStopGrace},
	}
}

func (p *parser) parseStopGrace(n *node, l *Limits) {
	l.Process.StopGrace = p.duration(n, "limits.stop_grace")
	if l.Process.StopGrace > maxStopGrace {
		p.report(n.pos, "write 4s or less", "limits.stop_grace must be at most %s, not %s", maxStopGrace, l.Process.StopGrace)
	}
}

// parseMemory reads limits.memory, which handlers have too.
func (p *parser) parseMemory(n *node, l *Limits) {
	var b memoryBound
	if n.kind == nodeMap {
		walk(p, n, p.levels.memoryBound, "limits.memory", n.pos, &b)
	} else {
		b.Max = p.size(n, "limits.memory")
	}
	l.Memory, l.Process.MemoryEnforcement, l.Process.SharedMemory = b.Max, b.Enforcement, b.shared
}

// checkProcessLimits refuses limits of processes on a tool that has a handler, in the tool's own limits.
func (p *parser) checkProcessLimits(t *Tool, n *node, places map[string]Pos) {
	if t.Command != nil {
		return
	}
	for _, k := range commandLimits() {
		if at, own := places[k.name]; own {
			p.report(at, "remove it, or declare command", "limits.%s belongs to a command, and tool %s has a handler", k.name, quote(t.Name))
		}
	}
	if memory := n.get("memory"); memory != nil && memory.kind == nodeMap {
		p.report(memory.pos, "write a size, or declare command", "limits.memory: shared and enforcement belong to a command, and tool %s has a handler", quote(t.Name))
	}
}
