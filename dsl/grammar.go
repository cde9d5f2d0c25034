package dsl

// The types of this file mirror the YAML grammar. Nothing is decoded into them:
// the walker reads nodes. They are the source of the editor schema, of the table
// in docs/declaration.md, and of the test that holds the walker to the same keys.
//
// Tags: yaml is the key; jsonschema:"required" marks what must be there; doc says
// what the key means; default is what holds without it; rules names the
// sections of docs/semantics.md that say what it does.

// grammarFile is the whole file.
type grammarFile struct {
	Ambit    grammarVersion   `yaml:"ambit" jsonschema:"required" doc:"Version of this grammar."`
	Package  grammarPackage   `yaml:"package" jsonschema:"required" doc:"Go package of the generated code."`
	Types    grammarTypes     `yaml:"types" doc:"Schemas to share, referenced as $ref: \"#/types/NAME\"."`
	Reasons  grammarReasons   `yaml:"reasons" doc:"Denial codes that the policies of this set use, each with its description." rules:"2.3"`
	Rules    *grammarSetRules `yaml:"rules" doc:"Rules of the whole set." rules:"4"`
	Defaults *grammarDefaults `yaml:"defaults" doc:"Values for the tools that have none of their own." rules:"8"`
	Tools    grammarTools     `yaml:"tools" jsonschema:"required" doc:"The tools by name."`
}

// grammarDefaults is defaults of the file.
type grammarDefaults struct {
	Deadline grammarDuration        `yaml:"deadline" doc:"Longest time of one attempt." default:"45s" rules:"6.1"`
	Consent  *grammarDefaultConsent `yaml:"consent" doc:"Defaults of tools that declare consent." rules:"5"`
	Dedupe   grammarDedupe          `yaml:"dedupe" doc:"For how long an equal call is answered with the earlier one; true means 5m." default:"never" rules:"4.8"`
	Limits   *grammarLimits         `yaml:"limits" doc:"What one call may use; a tool may declare some of these limits, and inherits the rest." rules:"6.3"`
}

// grammarDefaultConsent is consent in defaults.
type grammarDefaultConsent struct {
	Timeout grammarDuration `yaml:"timeout" doc:"How long a request waits for an answer." default:"5m" rules:"5.4"`
}

// grammarTool is one entry of tools.
type grammarTool struct {
	Version       grammarSemver       `yaml:"version" jsonschema:"required" doc:"Semantic version of the tool."`
	Title         grammarProse        `yaml:"title" doc:"Name for people." default:"none"`
	Description   grammarProse        `yaml:"description" jsonschema:"required" doc:"What the tool does, for the model."`
	Effect        grammarEffect       `yaml:"effect" doc:"What a handler may do outside of the executor." default:"destructive" rules:"6.7"`
	Idempotent    bool                `yaml:"idempotent" doc:"Running the same call twice does what running it once does." default:"false" rules:"6.2"`
	Deterministic bool                `yaml:"deterministic" doc:"Equal input and state give equal output." default:"false"`
	Capabilities  []grammarLabel      `yaml:"capabilities" doc:"Capabilities that the principal must have." default:"none" rules:"2.3"`
	Behaviors     []grammarLabel      `yaml:"behaviors" doc:"Behaviors in which the tool may run; empty means all." default:"all" rules:"2.3"`
	Input         grammarRoot         `yaml:"input" jsonschema:"required" doc:"Schema of the arguments, an object." rules:"7"`
	Output        grammarRoot         `yaml:"output" jsonschema:"required" doc:"Schema of the result, an object." rules:"6.8"`
	Deadline      grammarDuration     `yaml:"deadline" doc:"Longest time of one attempt." default:"45s" rules:"6.1"`
	Limits        *grammarLimits      `yaml:"limits" doc:"What one call may use." rules:"6.3"`
	Retry         *grammarRetry       `yaml:"retry" doc:"How a failed call of an idempotent tool is tried again." default:"no retry" rules:"6.2"`
	SafeErrors    bool                `yaml:"safe_errors" doc:"Every error text of the handler may reach the model; runtime.Public marks a single one." default:"false" rules:"2.4"`
	Modes         grammarModes        `yaml:"modes" doc:"Session modes, each with the values under which the tool may run." default:"any" rules:"2.3"`
	Heartbeat     bool                `yaml:"heartbeat" doc:"Adds the argument request_heartbeat." default:"false" rules:"4.19"`
	Every         grammarDuration     `yaml:"every" doc:"Interval at which the engine runs the tool." default:"never"`
	Args          map[string]any      `yaml:"args" doc:"Complete arguments with which the engine may run the tool itself." default:"none" rules:"4.11, 4.14"`
	Dedupe        grammarDedupe       `yaml:"dedupe" doc:"For how long an equal call is answered with the earlier one; true means 5m." default:"never" rules:"4.8"`
	Idempotency   *grammarIdempotency `yaml:"idempotency" doc:"What identifies an effect, whichever call id it comes with." default:"none" rules:"4.9"`
	Transactional bool                `yaml:"transactional" doc:"All effects of a call go through participants (runtime.PartOf), so that an interrupted call is rolled back." default:"false" rules:"6.7"`
	Reconcile     bool                `yaml:"reconcile" doc:"The handler can find out what an interrupted call did." default:"false" rules:"6.7"`
	Consent       *grammarConsent     `yaml:"consent" doc:"Which approvers to ask before a call, and how." default:"not asked" rules:"5"`
	Undo          *grammarUndo        `yaml:"undo" doc:"How long and with which state the handler can take the effect back." default:"cannot be undone" rules:"4.20"`
	Artifact      *grammarArtifact    `yaml:"artifact" doc:"When the executor stores the output as an artifact and answers with a preview." default:"never" rules:"8"`
	Rules         *grammarRules       `yaml:"rules" doc:"Rules of this tool." default:"none" rules:"4"`
	Deprecated    *grammarDeprecated  `yaml:"deprecated" doc:"Marks a tool that should not be used any more."`
}

// grammarLimits is limits of a tool.
type grammarLimits struct {
	Input       grammarSize  `yaml:"input" doc:"Largest input." default:"64KiB" rules:"7.2"`
	Output      grammarSize  `yaml:"output" doc:"Largest output." default:"1MiB" rules:"8"`
	Memory      grammarSize  `yaml:"memory" doc:"Most memory of a process." default:"no limit"`
	Concurrency grammarCount `yaml:"concurrency" doc:"Most calls at once in one executor." default:"no limit" rules:"6.3"`
	Queue       grammarCount `yaml:"queue" doc:"Most calls that wait for one of these; more are at_capacity at once." default:"4 times concurrency" rules:"6.3"`
}

// grammarRetry is retry of a tool.
type grammarRetry struct {
	Max       grammarCount    `yaml:"max" doc:"Most attempts after the first." default:"3" rules:"6.2"`
	Initial   grammarDelay    `yaml:"initial" doc:"Wait before the first retry; it doubles each time." default:"1s" rules:"6.2"`
	Cap       grammarDuration `yaml:"cap" doc:"Longest wait." default:"30s" rules:"6.2"`
	OnTimeout bool            `yaml:"on_timeout" doc:"A timeout is tried again too." default:"false" rules:"6.2"`
}

// grammarIdempotency is idempotency of a tool.
type grammarIdempotency struct {
	Key    grammarNames    `yaml:"key" jsonschema:"required" doc:"Members of the input that identify the effect." rules:"4.9"`
	Window grammarDuration `yaml:"window" jsonschema:"required" doc:"For how long the key is remembered." rules:"4.9"`
}

// grammarConsent is consent of a tool.
type grammarConsent struct {
	Ask       grammarAsk      `yaml:"ask" jsonschema:"required" doc:"Ask for every call, or when a policy says so." rules:"5.1"`
	Message   grammarProse    `yaml:"message" doc:"What approvers read; {member} stands for a member of the input." default:"none" rules:"5.7"`
	Approvers grammarNames    `yaml:"approvers" doc:"Ids of the approvers that may answer." default:"any approver but the principal" rules:"5.5"`
	Timeout   grammarDuration `yaml:"timeout" doc:"How long a request waits for an answer." default:"5m" rules:"5.4"`
	Quorum    grammarCount    `yaml:"quorum" doc:"How many different approvers must agree." default:"1" rules:"5.5"`
	MaxCover  grammarCover    `yaml:"max_cover" doc:"The widest grant that an approver may give." default:"exact" rules:"5.3"`
	MaxFor    grammarDuration `yaml:"max_for" doc:"The longest time for which an approver may grant." default:"24h" rules:"5.3"`
	Preview   bool            `yaml:"preview" doc:"The handler shows what the call would do; approvers see it and approve it with the call." default:"false" rules:"5.2"`
	AllowEdit bool            `yaml:"allow_edit" doc:"An approver may change the arguments." default:"false" rules:"5.2"`
	AllowSelf bool            `yaml:"allow_self" doc:"The principal may approve its own calls." default:"false" rules:"5.5"`
	Reveal    grammarNames    `yaml:"reveal" doc:"x-sensitive members of the input that approvers see." default:"none" rules:"5.9"`
}

// grammarUndo is undo of a tool.
type grammarUndo struct {
	TTL   grammarDuration `yaml:"ttl" doc:"How long the effect can be taken back." default:"1h" rules:"4.20"`
	State grammarRoot     `yaml:"state" jsonschema:"required" doc:"Schema of what undoing needs to know, an object." rules:"4.20"`
}

// grammarArtifact is artifact of a tool.
type grammarArtifact struct {
	Over grammarCount `yaml:"over" doc:"Characters, of the output as JSON, above which the executor stores it as an artifact." default:"12000" rules:"8"`
	Type grammarMedia `yaml:"type" jsonschema:"required" doc:"Media type of what the output holds, for programs that show it. The store holds the output as JSON."`
}

// grammarDeprecated is deprecated of a tool.
type grammarDeprecated struct {
	Since   grammarSemver `yaml:"since" jsonschema:"required" doc:"Version of the tool from which on it is deprecated."`
	Use     grammarName   `yaml:"use" doc:"The tool to use instead." default:"none"`
	Message grammarProse  `yaml:"message" jsonschema:"required" doc:"What to do instead."`
}

// grammarSetRules is rules of the file.
type grammarSetRules struct {
	MaxCalls grammarMaxCalls `yaml:"max_calls" doc:"Most calls of a run, all tools together; with each: true, of each tool." default:"no limit" rules:"4.2"`
	Cooldown grammarCooldown `yaml:"cooldown" doc:"Pause of all tools after the end of any call; with each: true, of its own tool." default:"none" rules:"4.7"`
}

// grammarRules is rules of a tool.
type grammarRules struct {
	StartConstraint    bool               `yaml:"start_constraint" doc:"Must have succeeded before any other tool runs." default:"false" rules:"4.11"`
	RequiresPreceding  grammarPreceding   `yaml:"requires_preceding" doc:"Tools that must have succeeded before." default:"none" rules:"4.12"`
	MustPrecede        grammarToolNames   `yaml:"must_precede" doc:"Refused once one of these tools has succeeded." default:"none" rules:"4.13"`
	ExclusiveGroup     grammarGroup       `yaml:"exclusive_group" doc:"Only one tool of a group runs in a run." default:"none" rules:"4.10"`
	RequiredBeforeExit bool               `yaml:"required_before_exit" doc:"Must have succeeded before the run may end." default:"false" rules:"4.14"`
	MaxCalls           grammarMaxCalls    `yaml:"max_calls" doc:"Most calls of a run." default:"no limit" rules:"4.2"`
	Cooldown           grammarCooldown    `yaml:"cooldown" doc:"Pause after the end of a call." default:"none" rules:"4.7"`
	ContinueLoop       bool               `yaml:"continue_loop" doc:"After a success the loop goes on." default:"false" rules:"4.17, 4.18"`
	ExitLoop           bool               `yaml:"exit_loop" doc:"After a success the run ends." default:"false" rules:"4.14, 4.17"`
	AllowedOperations  *grammarOperations `yaml:"allowed_operations" doc:"Allowed values of one argument." default:"any" rules:"4.16"`
}

// grammarPrecedingMap is the long form of requires_preceding.
type grammarPrecedingMap struct {
	Any   bool             `yaml:"any" doc:"One of the tools is enough." default:"false" rules:"4.12"`
	Tools grammarToolNames `yaml:"tools" jsonschema:"required" doc:"The tools." rules:"4.12"`
}

// grammarMaxCallsMap is the long form of max_calls.
type grammarMaxCallsMap struct {
	Max  grammarCount `yaml:"max" jsonschema:"required" doc:"Most calls of a run." rules:"4.2"`
	Each bool         `yaml:"each" doc:"Counted for each tool; only in the rules of the whole set." default:"false" rules:"4.2"`
}

// grammarCooldownMap is the long form of cooldown.
type grammarCooldownMap struct {
	For  grammarDelay `yaml:"for" jsonschema:"required" doc:"Pause after the end of a call." rules:"4.7"`
	Each bool         `yaml:"each" doc:"One timer for each tool; only in the rules of the whole set." default:"false" rules:"4.7"`
}

// grammarOperations is allowed_operations.
type grammarOperations struct {
	Arg    string       `yaml:"arg" jsonschema:"required" doc:"The member of the input, a string; a call without it is refused." rules:"4.16"`
	Values grammarNames `yaml:"values" jsonschema:"required" doc:"Its allowed values." rules:"4.16"`
}

// grammarSchema is a JSON Schema, the keywords of draft 2020-12 that are enforced.
type grammarSchema struct {
	Dialect     grammarDialect    `yaml:"$schema" doc:"Dialect, at the root only; draft-07 where it reads the same." default:"draft 2020-12"`
	Ref         grammarRef        `yaml:"$ref" doc:"Another schema: \"#/types/NAME\" or \"#/$defs/NAME\"."`
	Defs        grammarTypes      `yaml:"$defs" doc:"Schemas for references, at the root only."`
	Type        grammarType       `yaml:"type" doc:"A type, or [T, \"null\"]."`
	Title       grammarProse      `yaml:"title" doc:"Name for people."`
	Description grammarProse      `yaml:"description" doc:"What the value means; every property needs one, a $ref may leave it to its target."`
	Deprecated  bool              `yaml:"deprecated" doc:"The member should not be used any more." default:"false"`
	Sensitive   bool              `yaml:"x-sensitive" doc:"Kept out of logs, events and violations. An object or a map is one such value, the names of its members included; violations name declared members only. Under additionalProperties it makes the object around it sensitive." default:"false" rules:"5.9"`
	Examples    []any             `yaml:"examples" doc:"Values that fit."`
	Default     any               `yaml:"default" doc:"What an absent optional member means." rules:"7.4"`
	Enum        grammarValues     `yaml:"enum" doc:"The allowed strings, numbers or booleans; with null when the type allows it." default:"any"`
	Const       any               `yaml:"const" doc:"The only allowed string, number or boolean."`
	OneOf       grammarBranches   `yaml:"oneOf" doc:"Objects told apart by a required member with a const string."`
	Properties  grammarProperties `yaml:"properties" doc:"Members of an object." default:"none"`
	Required    grammarUnique     `yaml:"required" doc:"Members that must be there." default:"none"`
	Additional  grammarAdditional `yaml:"additionalProperties" doc:"Other members: none, any, or those that fit a schema." default:"false" rules:"7.2"`
	MinProps    grammarBound      `yaml:"minProperties" doc:"Fewest members."`
	MaxProps    grammarBound      `yaml:"maxProperties" doc:"Most members."`
	Items       grammarItems      `yaml:"items" doc:"Schema of every element; false beside prefixItems."`
	PrefixItems grammarBranches   `yaml:"prefixItems" doc:"Schemas of the elements of a tuple, all of them required; needs items: false."`
	MinItems    grammarBound      `yaml:"minItems" doc:"Fewest elements."`
	MaxItems    grammarBound      `yaml:"maxItems" doc:"Most elements."`
	UniqueItems bool              `yaml:"uniqueItems" doc:"No two elements are equal." default:"false"`
	MinLength   grammarBound      `yaml:"minLength" doc:"Fewest characters."`
	MaxLength   grammarBound      `yaml:"maxLength" doc:"Most characters."`
	Pattern     string            `yaml:"pattern" doc:"ECMA-262 regular expression that must match somewhere."`
	Format      grammarFormat     `yaml:"format" doc:"Format, enforced."`
	Minimum     float64           `yaml:"minimum" doc:"Lowest number."`
	Maximum     float64           `yaml:"maximum" doc:"Highest number."`
	ExclusiveLo float64           `yaml:"exclusiveMinimum" doc:"The number must be above."`
	ExclusiveHi float64           `yaml:"exclusiveMaximum" doc:"The number must be below."`
	MultipleOf  grammarMultipleOf `yaml:"multipleOf" doc:"The number must be a multiple of it."`
}
