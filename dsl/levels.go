package dsl

func newLevels() *levels {
	l := &levels{
		file: fileLevel(), tool: toolLevel(), limits: limitsLevel(), defaults: defaultsLevel(), defaultConsent: defaultConsentLevel(), retry: retryLevel(), idempotency: idempotencyLevel(),
		consent: consentLevel(), undo: undoLevel(), artifact: artifactLevel(), deprecated: deprecatedLevel(),
		setRules: setRulesLevel(), rules: rulesLevel(), maxCalls: maxCallsLevel(), cooldown: cooldownLevel(), preceding: precedingLevel(), operations: operationsLevel(),
		schema: schemaLevel(), command: commandLevel(), element: elementLevel(), shell: shellLevel(), exit: exitLevel(),
		memoryBound: memoryBoundLevel(), sizeBound: boundLevel(sizeBound), countBound: boundLevel(countBound), timeBound: boundLevel(timeBound), homes: make(map[string][]string),
	}
	home(l, l.file)
	home(l, l.tool)
	home(l, l.limits)
	home(l, l.defaults)
	home(l, l.defaultConsent)
	home(l, l.retry)
	home(l, l.idempotency)
	home(l, l.consent)
	home(l, l.undo)
	home(l, l.artifact)
	home(l, l.deprecated)
	home(l, l.setRules)
	home(l, l.rules)
	home(l, l.maxCalls)
	home(l, l.cooldown)
	home(l, l.preceding)
	home(l, l.operations)
	home(l, l.schema)
	home(l, l.command)
	home(l, l.element)
	home(l, l.shell)
	home(l, l.exit)
	home(l, l.memoryBound)
	home(l, l.sizeBound)
	home(l, l.countBound)
	home(l, l.timeBound)
	return l
}

func home[T any](l *levels, of level[T]) {
	for _, key := range of.keys {
		l.homes[key.name] = append(l.homes[key.name], of.what)
	}
}
