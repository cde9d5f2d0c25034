package otel

// The names of what this package reports, in one file. Those that begin with gen_ai follow the semantic
// conventions for generative AI, which OpenTelemetry calls "Development": a release may rename them.
const (
	operation = "execute_tool" // value of gen_ai.operation.name, and the first word of the span's name
	function  = "function"     // value of gen_ai.tool.type

	keyOperation = "gen_ai.operation.name"
	keyTool      = "gen_ai.tool.name"
	keyToolType  = "gen_ai.tool.type"
	keyCall      = "gen_ai.tool.call.id"
	keyError     = "error.type" // the reason of the outcome

	keySession    = "ambit.session.id"
	keyRun        = "ambit.run.id"
	keyTurn       = "ambit.turn"
	keyClient     = "ambit.request_id"         // of the caller, in the metadata of the call
	keyRequest    = "ambit.consent.request.id" // for consent
	keyAgent      = "ambit.agent"
	keyOutcome    = "ambit.outcome"
	keyRevision   = "ambit.policy.revision"
	keyAttempt    = "ambit.attempt"
	keyEvent      = "ambit.event"
	keyRolledBack = "ambit.rolled_back"

	// Of the process that an attempt runs: the first three as the semantic conventions for processes have them.
	keyPID     = "process.pid"
	keyCreated = "process.creation.time"
	keyExit    = "process.exit.code"
	keySignal  = "ambit.process.signal"
	keyDue     = "ambit.process.due"      // when the attempt is over
	keyUser    = "ambit.process.cpu.user" // seconds
	keySystem  = "ambit.process.cpu.system"
	keyMemory  = "ambit.process.memory.peak" // bytes, as are the next two
	keyRead    = "ambit.process.io.read"
	keyWritten = "ambit.process.io.written"

	spanPolicy  = "ambit.policy"
	spanConsent = "ambit.consent"
	spanAttempt = "ambit.handler"

	metricDuration = "gen_ai.execute_tool.duration"
	metricHandler  = "ambit.handler.duration"
	metricPolicy   = "ambit.policy.duration"
	metricQueue    = "ambit.queue.wait"
	metricConsent  = "ambit.consent.wait"
	metricEvents   = "ambit.events"

	unknownTool = "_unknown" // in the place of the names that models invent
)
