package dsl

// The types of this file mirror the YAML grammar. Nothing is decoded into them:
// the walker reads nodes. They are the source of the editor schema, of the table
// in docs/declaration.md, and of the test that holds the walker to the same keys.
//
// Tags: yaml is the key; jsonschema:"required" marks what must be there; doc says
// what the key means; default is what holds without it; from names the
// requirement that the key answers.

// grammarFile is the whole file.
type grammarFile struct {
	Ambit   grammarVersion   `yaml:"ambit" jsonschema:"required" doc:"Version of this grammar." from:"C1"`
	Package grammarPackage   `yaml:"package" jsonschema:"required" doc:"Go package of the generated code." from:"C2"`
	Types   grammarTypes     `yaml:"types" doc:"Schemas to share, referenced as $ref: \"#/types/NAME\"." from:"F3"`
	Reasons grammarReasons   `yaml:"reasons" doc:"Denial codes that the policies of this set use, each with its description." from:"C5"`
	Rules   *grammarSetRules `yaml:"rules" doc:"Rules of the whole set." from:"R3"`
	Tools   grammarTools     `yaml:"tools" jsonschema:"required" doc:"The tools by name." from:"F2"`
}

// grammarTool is one entry of tools.
type grammarTool struct {
	Version       grammarSemver       `yaml:"version" jsonschema:"required" doc:"Semantic version of the tool." from:"F2"`
	Title         grammarProse        `yaml:"title" doc:"Name for people." default:"none" from:"F2"`
	Description   grammarProse        `yaml:"description" jsonschema:"required" doc:"What the tool does, for the model." from:"F2"`
	Effect        grammarEffect       `yaml:"effect" doc:"What a call may do to the world." default:"destructive" from:"B9"`
	Idempotent    bool                `yaml:"idempotent" doc:"Running the same call twice does what running it once does." default:"false" from:"F2"`
	Deterministic bool                `yaml:"deterministic" doc:"Equal input and state give equal output." default:"false" from:"F15"`
	Capabilities  []grammarLabel      `yaml:"capabilities" doc:"What the caller must have been granted." default:"none" from:"F5"`
	Behaviors     []grammarLabel      `yaml:"behaviors" doc:"Behaviours in which the tool may run; empty means all." default:"all" from:"A1"`
	Input         grammarRoot         `yaml:"input" jsonschema:"required" doc:"Schema of the arguments, an object." from:"F3"`
	Output        grammarRoot         `yaml:"output" jsonschema:"required" doc:"Schema of the result, an object." from:"F4"`
	Deadline      grammarDuration     `yaml:"deadline" doc:"Longest time of one attempt." default:"45s" from:"B1"`
	Limits        *grammarLimits      `yaml:"limits" doc:"What one call may use." from:"F6"`
	Retry         *grammarRetry       `yaml:"retry" doc:"How a failed call of an idempotent tool is tried again." default:"no retry" from:"F12"`
	SafeErrors    bool                `yaml:"safe_errors" doc:"The handler's error text may reach the model." default:"false" from:"F8"`
	Modes         grammarModes        `yaml:"modes" doc:"Session modes, each with the values under which the tool may run." default:"any" from:"B7"`
	Heartbeat     bool                `yaml:"heartbeat" doc:"Adds the argument request_heartbeat." default:"false" from:"R8"`
	Every         grammarDuration     `yaml:"every" doc:"Interval at which the engine runs the tool." default:"never" from:"R4"`
	Args          map[string]any      `yaml:"args" doc:"Complete arguments with which the engine may run the tool itself." default:"none" from:"R7"`
	Dedupe        grammarDedupe       `yaml:"dedupe" doc:"For how long an equal call is answered with the earlier one; true means 5m." default:"never" from:"R5"`
	Idempotency   *grammarIdempotency `yaml:"idempotency" doc:"What identifies an effect, whatever the call id." default:"none" from:"D1"`
	Reconcile     bool                `yaml:"reconcile" doc:"The handler can find out what an interrupted call did." default:"false" from:"D2"`
	Consent       *grammarConsent     `yaml:"consent" doc:"Whom to ask before a call, and how." default:"not asked" from:"R6"`
	Undo          *grammarUndo        `yaml:"undo" doc:"How the effect is taken back." default:"cannot be undone" from:"A3"`
	Artifact      *grammarArtifact    `yaml:"artifact" doc:"When the output is stored aside, with a preview as the answer." default:"never" from:"B5, A7"`
	Rules         *grammarRules       `yaml:"rules" doc:"Rules of this tool." default:"none" from:"R3"`
	Deprecated    *grammarDeprecated  `yaml:"deprecated" doc:"Marks a tool that should not be used any more." from:"F14"`
}

// grammarLimits is limits of a tool.
type grammarLimits struct {
	Input       grammarSize  `yaml:"input" doc:"Largest input." default:"64KiB" from:"F6"`
	Output      grammarSize  `yaml:"output" doc:"Largest output." default:"1MiB" from:"D9"`
	Memory      grammarSize  `yaml:"memory" doc:"Most memory of a process." default:"no limit" from:"D9"`
	Concurrency grammarCount `yaml:"concurrency" doc:"Most calls at once in one executor." default:"no limit" from:"D4"`
}

// grammarRetry is retry of a tool.
type grammarRetry struct {
	Max       grammarCount    `yaml:"max" doc:"Most attempts after the first." default:"3" from:"F12"`
	Initial   grammarDelay    `yaml:"initial" doc:"Wait before the first retry; it doubles each time." default:"1s" from:"D7"`
	Cap       grammarDuration `yaml:"cap" doc:"Longest wait." default:"30s" from:"D7"`
	OnTimeout bool            `yaml:"on_timeout" doc:"A timeout is tried again too." default:"false" from:"B10"`
}

// grammarIdempotency is idempotency of a tool.
type grammarIdempotency struct {
	Key    grammarNames    `yaml:"key" jsonschema:"required" doc:"Members of the input that identify the effect." from:"D1"`
	Window grammarDuration `yaml:"window" jsonschema:"required" doc:"For how long the key is remembered." from:"D1"`
}

// grammarConsent is consent of a tool.
type grammarConsent struct {
	Ask       grammarAsk      `yaml:"ask" jsonschema:"required" doc:"Ask for every call, or when a policy says so." from:"R6"`
	Message   grammarProse    `yaml:"message" doc:"What approvers read; {member} stands for a member of the input." default:"none" from:"A5"`
	Approvers grammarNames    `yaml:"approvers" doc:"Who may answer." default:"anyone but the caller" from:"A6"`
	Timeout   grammarDuration `yaml:"timeout" doc:"How long a request waits for an answer." default:"5m" from:"R6"`
	Quorum    grammarCount    `yaml:"quorum" doc:"How many different approvers must agree." default:"1" from:"A4"`
	MaxCover  grammarCover    `yaml:"max_cover" doc:"The widest grant that an approver may give." default:"exact" from:"N6"`
	Preview   bool            `yaml:"preview" doc:"The handler shows what the call would do; that is approved with it." default:"false" from:"B9"`
	AllowEdit bool            `yaml:"allow_edit" doc:"An approver may change the arguments." default:"false" from:"A4"`
	AllowSelf bool            `yaml:"allow_self" doc:"The caller may approve." default:"false" from:"A6"`
	Reveal    grammarNames    `yaml:"reveal" doc:"x-sensitive members of the input that approvers see." default:"none" from:"A5"`
}

// grammarUndo is undo of a tool.
type grammarUndo struct {
	TTL   grammarDuration `yaml:"ttl" doc:"How long the effect can be taken back." default:"1h" from:"A3"`
	State grammarRoot     `yaml:"state" jsonschema:"required" doc:"Schema of what undoing needs to know, an object." from:"A3"`
}

// grammarArtifact is artifact of a tool.
type grammarArtifact struct {
	Over grammarCount `yaml:"over" doc:"Characters, of the output as JSON, above which it is stored aside." default:"12000" from:"B5"`
	Type grammarMedia `yaml:"type" jsonschema:"required" doc:"Media type of what the output holds, for whoever shows it. What is stored is the output as JSON." from:"A7"`
}

// grammarDeprecated is deprecated of a tool.
type grammarDeprecated struct {
	Since   grammarSemver `yaml:"since" jsonschema:"required" doc:"Version of the tool from which on it is deprecated." from:"F14"`
	Use     grammarName   `yaml:"use" doc:"The tool to use instead." default:"none" from:"F14"`
	Message grammarProse  `yaml:"message" jsonschema:"required" doc:"What to do instead." from:"F14"`
}

// grammarSetRules is rules of the file.
type grammarSetRules struct {
	MaxCalls grammarMaxCalls `yaml:"max_calls" doc:"Most calls of a run, all tools together; with each: true, of each tool." default:"no limit" from:"R3"`
	Cooldown grammarDelay    `yaml:"cooldown" doc:"Pause after the end of any call." default:"none" from:"R3"`
}

// grammarRules is rules of a tool.
type grammarRules struct {
	StartConstraint    bool               `yaml:"start_constraint" doc:"Must have succeeded before any other tool runs." default:"false" from:"R3"`
	RequiresPreceding  grammarPreceding   `yaml:"requires_preceding" doc:"Tools that must have succeeded before." default:"none" from:"R3"`
	MustPrecede        grammarToolNames   `yaml:"must_precede" doc:"Refused once one of these tools has succeeded." default:"none" from:"R3"`
	ExclusiveGroup     grammarGroup       `yaml:"exclusive_group" doc:"Only one tool of a group runs in a run." default:"none" from:"R3"`
	RequiredBeforeExit bool               `yaml:"required_before_exit" doc:"Must have succeeded before the run may end." default:"false" from:"R3"`
	MaxCalls           grammarMaxCalls    `yaml:"max_calls" doc:"Most calls of a run." default:"no limit" from:"R3"`
	Cooldown           grammarDelay       `yaml:"cooldown" doc:"Pause after the end of a call." default:"none" from:"R3"`
	ContinueLoop       bool               `yaml:"continue_loop" doc:"After a success the loop goes on." default:"false" from:"R3"`
	ExitLoop           bool               `yaml:"exit_loop" doc:"After a success the run ends." default:"false" from:"R3"`
	AllowedOperations  *grammarOperations `yaml:"allowed_operations" doc:"Allowed values of one argument." default:"any" from:"R3"`
}

// grammarPrecedingMap is the long form of requires_preceding.
type grammarPrecedingMap struct {
	Any   bool             `yaml:"any" doc:"One of the tools is enough." default:"false" from:"R3"`
	Tools grammarToolNames `yaml:"tools" jsonschema:"required" doc:"The tools." from:"R3"`
}

// grammarMaxCallsMap is the long form of max_calls.
type grammarMaxCallsMap struct {
	Max  grammarCount `yaml:"max" jsonschema:"required" doc:"Most calls of a run." from:"R3"`
	Each bool         `yaml:"each" doc:"Counted for each tool; only in the rules of the whole set." default:"false" from:"R3"`
}

// grammarOperations is allowed_operations.
type grammarOperations struct {
	Arg    string       `yaml:"arg" jsonschema:"required" doc:"The member of the input, a string; absent is not allowed." from:"R3"`
	Values grammarNames `yaml:"values" jsonschema:"required" doc:"What it may be." from:"R3"`
}

// grammarSchema is a JSON Schema, the keywords of draft 2020-12 that are enforced.
type grammarSchema struct {
	Dialect     grammarDialect    `yaml:"$schema" doc:"Dialect, at the root only." default:"draft 2020-12" from:"F13"`
	Ref         grammarRef        `yaml:"$ref" doc:"Another schema: \"#/types/NAME\" or \"#/$defs/NAME\"." from:"F3"`
	Defs        grammarTypes      `yaml:"$defs" doc:"Schemas for references, at the root only." from:"F3"`
	Type        grammarType       `yaml:"type" doc:"A type, or [T, \"null\"]." from:"F13"`
	Title       grammarProse      `yaml:"title" doc:"Name for people." from:"F3"`
	Description grammarProse      `yaml:"description" doc:"What the value means; every property needs one, a $ref may leave it to its target." from:"F13"`
	Deprecated  bool              `yaml:"deprecated" doc:"The member should not be used any more." default:"false" from:"F14"`
	Sensitive   bool              `yaml:"x-sensitive" doc:"Kept out of logs, events and violations." default:"false" from:"A5"`
	Examples    []any             `yaml:"examples" doc:"Values that fit." from:"F3"`
	Default     any               `yaml:"default" doc:"What an absent optional member means." from:"F3"`
	Enum        grammarValues     `yaml:"enum" doc:"The allowed strings, numbers or booleans; with null when the type allows it." default:"any" from:"F3"`
	Const       any               `yaml:"const" doc:"The only allowed string, number or boolean." from:"F3"`
	OneOf       grammarBranches   `yaml:"oneOf" doc:"Objects told apart by a required member with a const string." from:"F3"`
	Properties  grammarProperties `yaml:"properties" doc:"Members of an object." default:"none" from:"F3"`
	Required    grammarUnique     `yaml:"required" doc:"Members that must be there." default:"none" from:"F13"`
	Additional  grammarAdditional `yaml:"additionalProperties" doc:"Other members: none, any, or those that fit a schema." default:"false" from:"F13"`
	MinProps    grammarBound      `yaml:"minProperties" doc:"Fewest members." from:"F3"`
	MaxProps    grammarBound      `yaml:"maxProperties" doc:"Most members." from:"F3"`
	Items       grammarItems      `yaml:"items" doc:"Schema of every element; false beside prefixItems." from:"F3"`
	PrefixItems grammarBranches   `yaml:"prefixItems" doc:"Schemas of the elements of a tuple, all of them required; needs items: false." from:"F3"`
	MinItems    grammarBound      `yaml:"minItems" doc:"Fewest elements." from:"F3"`
	MaxItems    grammarBound      `yaml:"maxItems" doc:"Most elements." from:"F3"`
	UniqueItems bool              `yaml:"uniqueItems" doc:"No two elements are equal." default:"false" from:"F3"`
	MinLength   grammarBound      `yaml:"minLength" doc:"Fewest characters." from:"F3"`
	MaxLength   grammarBound      `yaml:"maxLength" doc:"Most characters." from:"F3"`
	Pattern     string            `yaml:"pattern" doc:"ECMA-262 regular expression that must match somewhere." from:"F3"`
	Format      grammarFormat     `yaml:"format" doc:"Format, enforced." from:"F3"`
	Minimum     float64           `yaml:"minimum" doc:"Lowest number." from:"F3"`
	Maximum     float64           `yaml:"maximum" doc:"Highest number." from:"F3"`
	ExclusiveLo float64           `yaml:"exclusiveMinimum" doc:"The number must be above." from:"F3"`
	ExclusiveHi float64           `yaml:"exclusiveMaximum" doc:"The number must be below." from:"F3"`
	MultipleOf  grammarMultipleOf `yaml:"multipleOf" doc:"The number must be a multiple of it." from:"F3"`
}
