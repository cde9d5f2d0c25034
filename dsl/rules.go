package dsl

func rulesLevel() level[Rules] {
	return level[Rules]{def: "rules", what: "the rules of a tool", unknown: movedRule, conditions: ruleConditions, keys: keys[Rules]{
		{name: "start_constraint", is: wordFlag, doc: "Must have succeeded before any other tool runs.", without: "false", rules: "4.11",
			read: func(p *parser, n *node, r *Rules) { r.StartConstraint = p.flag(n, "rules.start_constraint") }},
		{name: "requires_preceding", is: wordPreceding, doc: "Tools that must have succeeded before.", without: "none", rules: "4.12",
			read: (*parser).parsePreceding},
		{name: "must_precede", is: wordToolNames, doc: "Refused once one of these tools has succeeded.", without: "none", rules: "4.13",
			read: func(p *parser, n *node, r *Rules) { r.MustPrecede = p.toolList(n, "rules.must_precede") }},
		{name: "exclusive_group", is: wordGroup, doc: "Only one tool of a group runs in a run.", without: "none", rules: "4.10",
			read: (*parser).parseGroup},
		{name: "required_before_exit", is: wordFlag, doc: "Must have succeeded before the run may end.", without: "false", rules: "4.14",
			read: func(p *parser, n *node, r *Rules) { r.RequiredBeforeExit = p.flag(n, "rules.required_before_exit") }},
		{name: "max_calls", is: wordMaxCalls, doc: "Most calls of a run.", without: "no limit", rules: "4.2",
			read: (*parser).parseMaxCalls},
		{name: "cooldown", is: wordCooldown, doc: "Pause after the end of a call.", without: "none", rules: "4.7",
			read: (*parser).parseCooldown},
		{name: "continue_loop", is: wordFlag, doc: "After a success the loop goes on.", without: "false", rules: "4.17, 4.18",
			read: func(p *parser, n *node, r *Rules) { r.ContinueLoop = p.flag(n, "rules.continue_loop") }},
		{name: "exit_loop", is: wordFlag, doc: "After a success the run ends.", without: "false", rules: "4.14, 4.17",
			read: func(p *parser, n *node, r *Rules) { r.ExitLoop = p.flag(n, "rules.exit_loop") }},
		{name: "allowed_operations", is: mapping("operations"), doc: "Allowed values of one argument.", without: "any", rules: "4.16",
			read: func(p *parser, n *node, r *Rules) {
				r.AllowedOperations = new(AllowedOperations)
				walk(p, n, p.levels.operations, "allowed_operations", n.pos, r.AllowedOperations)
			}},
	}}
}

// setRulesLevel has the rules that mean something for all tools together.
func setRulesLevel() level[Rules] {
	return level[Rules]{def: "setRules", what: "the rules of the whole set", unknown: movedSetRule, keys: keys[Rules]{
		{name: "max_calls", is: wordMaxCalls, doc: "Most calls of a run, all tools together; with each: true, of each tool.", without: "no limit", rules: "4.2",
			read: (*parser).parseMaxCalls},
		{name: "cooldown", is: wordCooldown, doc: "Pause of all tools after the end of any call; with each: true, of its own tool.", without: "none", rules: "4.7",
			read: (*parser).parseCooldown},
	}}
}

// movedSetRule points a rule of one tool to the tools, and is movedRule for any other key.
func movedSetRule(key string) (message, hint string) {
	if rulesLevel().key(key) != nil {
		return key + " is a rule of one tool", "write it under the rules of the tools that it is for"
	}
	return movedRule(key)
}

// movedRule points to the key for a rule of another name.
func movedRule(key string) (message, hint string) {
	switch key {
	case "requires_consent":
		return "consent is not a rule", "use consent: {ask: always} beside rules"
	case "any":
		return `any belongs to requires_preceding`, "write requires_preceding: {any: true, tools: [a, b]}"
	case "each":
		return "each belongs to max_calls or cooldown", "write max_calls: {max: 20, each: true} or cooldown: {for: 2s, each: true}"
	}
	return "", ""
}

// parseSetRules reads the rules of the whole set.
func (p *parser) parseSetRules(n *node, f *File) {
	f.Rules = new(Rules)
	f.Rules.Keys = walk(p, n, p.levels.setRules, "rules", n.pos, f.Rules)
}

// parseRules reads the rules of a tool (SEMANTICS 4.17).
func (p *parser) parseRules(n *node, t *Tool) *Rules {
	r := new(Rules)
	r.Keys = walk(p, n, p.levels.rules, "rules", n.pos, r)
	if r.ContinueLoop && r.ExitLoop {
		p.report(r.Keys["exit_loop"], "keep one of them", "rules: continue_loop and exit_loop exclude each other")
	}
	if r.MaxCallsEach {
		p.report(r.Keys["max_calls"], "write max_calls: n; each is for the rules of the whole set", "rules.max_calls: each says nothing about a single tool")
	}
	if r.CooldownEach {
		p.report(r.Keys["cooldown"], "write cooldown: 2s; each is for the rules of the whole set", "rules.cooldown: each says nothing about a single tool")
	}
	for _, e := range n.pairs {
		switch e.name {
		case "requires_preceding":
			p.later(func() { p.checkPreceding(r, t) })
		case "allowed_operations":
			p.later(func() { p.checkOperations(e.val, r.AllowedOperations, t) })
		}
	}
	return r
}

// toolList is a list of declared tools.
func (p *parser) toolList(n *node, key string) []string {
	out := p.filled(n, key, nil)
	p.later(func() {
		for _, item := range n.items {
			if item.kind == nodeString && item.text != "" {
				p.knownTool(item.pos, key, item.text)
			}
		}
	})
	return out
}

func precedingLevel() level[Rules] {
	return level[Rules]{def: "precedingMap", what: "requires_preceding", keys: keys[Rules]{
		{name: "any", is: wordFlag, doc: "One of the tools is enough.", without: "false", rules: "4.12",
			read: func(p *parser, n *node, r *Rules) { r.AnyPreceding = p.flag(n, "rules.requires_preceding.any") }},
		{name: "tools", required: true, is: wordToolNames, doc: "The tools.", rules: "4.12",
			read: func(p *parser, n *node, r *Rules) { r.RequiresPreceding = p.toolList(n, "rules.requires_preceding") }},
	}}
}

// parsePreceding reads [a, b] or {any: true, tools: [a, b]}.
func (p *parser) parsePreceding(n *node, r *Rules) {
	if n.kind == nodeMap {
		walk(p, n, p.levels.preceding, "requires_preceding", n.pos, r)
		return
	}
	r.RequiresPreceding = p.toolList(n, "rules.requires_preceding")
}

// checkPreceding refuses a tool that waits for itself.
func (p *parser) checkPreceding(r *Rules, t *Tool) {
	for _, name := range r.RequiresPreceding {
		if name == t.Name && (!r.AnyPreceding || len(r.RequiresPreceding) == 1) {
			p.report(r.Keys["requires_preceding"], "remove it from the list", "rules.requires_preceding: tool %s can never run before itself", quote(name))
		}
	}
}

// parseGroup reads one group or a list of them.
func (p *parser) parseGroup(n *node, r *Rules) {
	list := n
	if n.kind == nodeString {
		list = &node{kind: nodeList, pos: n.pos, items: []*node{n}}
	}
	if list.kind != nodeList {
		p.wrong(n, "rules.exclusive_group", "a name or a list of names")
		return
	}
	r.ExclusiveGroups = p.filled(list, "rules.exclusive_group", labelName)
}

func maxCallsLevel() level[Rules] {
	return level[Rules]{def: "maxCallsMap", what: "max_calls", keys: keys[Rules]{
		{name: "max", required: true, is: wordCount, doc: "Most calls of a run.", rules: "4.2",
			read: func(p *parser, n *node, r *Rules) { r.MaxCalls = p.count(n, "rules.max_calls.max", 1) }},
		{name: "each", is: wordFlag, doc: "Counted for each tool; only in the rules of the whole set.", without: "false", rules: "4.2",
			read: func(p *parser, n *node, r *Rules) { r.MaxCallsEach = p.flag(n, "rules.max_calls.each") }},
	}}
}

// parseMaxCalls reads n or {max: n, each: true}.
func (p *parser) parseMaxCalls(n *node, r *Rules) {
	if n.kind == nodeMap {
		walk(p, n, p.levels.maxCalls, "max_calls", n.pos, r)
		return
	}
	r.MaxCalls = p.count(n, "rules.max_calls", 1)
}

func cooldownLevel() level[Rules] {
	return level[Rules]{def: "cooldownMap", what: "cooldown", keys: keys[Rules]{
		{name: "for", required: true, is: wordDelay, doc: "Pause after the end of a call.", rules: "4.7",
			read: func(p *parser, n *node, r *Rules) { r.Cooldown, _ = p.delay(n, "rules.cooldown.for") }},
		{name: "each", is: wordFlag, doc: "One timer for each tool; only in the rules of the whole set.", without: "false", rules: "4.7",
			read: func(p *parser, n *node, r *Rules) { r.CooldownEach = p.flag(n, "rules.cooldown.each") }},
	}}
}

// parseCooldown reads a duration or {for: 2s, each: true}.
func (p *parser) parseCooldown(n *node, r *Rules) {
	if n.kind == nodeMap {
		walk(p, n, p.levels.cooldown, "cooldown", n.pos, r)
		return
	}
	r.Cooldown, _ = p.delay(n, "rules.cooldown")
}

func operationsLevel() level[AllowedOperations] {
	return level[AllowedOperations]{def: "operations", what: "allowed_operations", keys: keys[AllowedOperations]{
		{name: "arg", required: true, is: wordText, doc: "The member of the input, a string; a call without it is refused.", rules: "4.16",
			read: func(p *parser, n *node, a *AllowedOperations) { a.Arg, _ = p.text(n, "rules.allowed_operations.arg") }},
		{name: "values", required: true, is: wordNames, doc: "Its allowed values.", rules: "4.16",
			read: func(p *parser, n *node, a *AllowedOperations) {
				a.Values = p.filled(n, "rules.allowed_operations.values", nil)
			}},
	}}
}

// checkOperations refuses an argument that is not a string of the input, and
// operations that the input does not allow.
func (p *parser) checkOperations(n *node, a *AllowedOperations, t *Tool) {
	in := t.Input.base()
	if in == nil || a.Arg == "" {
		return
	}
	arg := in.property(a.Arg)
	for _, e := range n.pairs {
		switch {
		case e.name == "arg" && arg == nil:
			p.report(e.val.pos, p.didYouMean(a.Arg, in.propertyNames()), "rules.allowed_operations.arg: the input has no member %s", quote(a.Arg))
		case e.name == "arg":
			if s := arg.Schema.base(); s != nil && s.Type != TypeString {
				p.report(e.val.pos, "name a member of type string", "rules.allowed_operations.arg: member %s is not a string", quote(a.Arg))
			}
		case e.name == "values" && arg != nil:
			for _, item := range e.val.items {
				if item.kind == nodeString {
					p.fits(p.value(item), arg.Schema, "rules.allowed_operations.values")
				}
			}
		}
	}
}
