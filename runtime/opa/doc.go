// Package opa decides calls by policies written in Rego, with Open Policy Agent
// inside the program.
//
//	rules := os.DirFS("filetools/policy")      // your .rego files, with ambit_gen in the same directory
//	policy, err := opa.Load(rules, reg)        // reads, type-checks, lints and compiles all of it
//	if err != nil {
//		log.Fatal(err)                         // every mistake, with file and line
//	}
//	exec, err := engine.NewExecutor(reg, policy)
//	policy.OnReload(func() { exec.RetireGrants(policy.Asks) })
//	go policy.Watch(ctx, "filetools/policy", func(err error) { log.Print("policies: ", err) })
//
// # Writing policies
//
// A file says something about one tool, in package ambit.tools.<tool>, or about
// all of them, in package ambit.policies.<name>. It contributes sets to the
// decision, and each entry is written out as an object:
//
//	package ambit.tools.file_write
//
//	allow contains {"code": "docs", "message": "docs/ is open for writing"} if startswith(input.args.path, "docs/")
//
//	deny contains {"code": "too_big", "message": "more than a page", "detail": {"limit": 4000}} if count(input.args.content) > 4000
//
//	rule          members
//	allow         code, message
//	deny          code, message, detail?            the code is declared under reasons: in tools.yaml, or
//	                                              under custom.reasons in the METADATA of a policy
//	ask           id, message, approvers?, quorum?, timeout? ("10m"), max_cover? (exact, when absent, args, tool)
//	modify        code, pointer, value              the pointer is a JSON Pointer into the arguments
//	obligations   code, args                        the code is redact_output or notify
//
// Besides functions of OPA there are ambit.url.scheme, host, port, path and
// is_valid: the parts of a URL as net/url reads it. A URL with user info, or that
// clients read in different ways, has none, which is an error of the decision. Load
// gives the functions to its own compiler and evaluations. It does not register them
// with OPA for the process as a whole.
//
// Codes and ids are constants; a member with a question mark may be left out.
// The loader adds at: "file:line" to each entry, so every reason says which rule
// gave it. Packages elsewhere hold helpers; data.json files are mounted below
// data at the path of their directory. README files, *.md and hidden files are
// ignored; any other file is refused, since the author of freeze.reg may believe
// that OPA evaluates it. Policies can read data.ambit.declared too, which is what
// tools.yaml declares, and no data file may be mounted over data.ambit.
//
// # The input
//
// Every member is always there; counts, succeeded, capabilities and modes have
// one for everything that is declared.
//
//	input.tool       name, version, effect, idempotent, deterministic, capabilities, behaviors
//	input.args       the decoded arguments
//	input.behavior   "" when there is none
//	input.modes      {"<mode>": "<value>"}, "" when it is not set
//	input.principal  id, capabilities {"<capability>": true or false}
//	input.session    id
//	input.run        id, counts {"<tool>": n}, succeeded {"<tool>": true or false}
//	input.call       id
//	input.now_ns     the time; there is no other clock
//
// An argument that may be null is a plain string, number ... to the type checker,
// which refuses input.args.x == null: ask is_null(input.args.x). An argument that
// may be absent is undefined then, and the rule does not apply: ask for it by
// object.get with a default.
//
// # What a decision is
//
// An error wins over a deny, that over an ask, that over an allow, and a call
// that nothing allows is denied with the code no_allow. The library of package
// policies allows tools of effect read, refuses by behaviors, capabilities and
// modes, and asks for the consent that is declared. Every ask reaches the engine
// whole; there they and the declaration are joined: the approvers that all of
// them name, the highest quorum, the shortest timeout, the narrowest cover. So a
// policy may ask where the declaration does not, and may narrow what it allows,
// never widen it. A policy may ask by what happened in the run:
//
//	ask contains {"id": "third", "message": "more than two writes in one run"} if input.run.counts.file_write >= 2
//
// Rewrites that do not fit together, an entry of another form than above, an
// error of a built-in function, a panic, the end of the context and an undefined
// decision are errors, and the engine denies for an error.
//
// # What Load refuses
//
// A typo must not allow a call, so these stop the load, with file and line: what OPA's
// strict compiler and its type checker find, with the schema of each tool's input; a
// function that is not in builtins.txt (no network, no clock, no randomness, nothing
// exponential in the bytes of its operands); a range of numbers whose bounds are not
// constant or too far apart; a with of a bounded function; a rule that nothing
// reaches from the decision; a contract rule of another form, or where nothing reads
// it; a package of an unknown tool, or of the library; an undeclared code, or one
// that is declared twice; an id that is that of another package's ask; a path below
// data that does not exist; a value that an enum does not have, or the tag of a
// oneOf; a comparison of values of different kinds, which is always the same; a
// regular expression that is none; a fact of an unknown tool; a member of the input
// that the schema rules out; a constant of modify that does not fit the argument;
// args of redact_output of another form; an entry that may vanish; a schemas
// annotation; data below data.ambit; a pointer to an argument that does not exist; a
// generated file that is missing; declarations that are not those of the program.
//
// Load checks every use of a member of the input: in helpers, through a
// local, by a constant as the index, and in functions that are called with the
// input or a part of it. Every call of such a function must pass the same part,
// or the function must take the members themselves. In the package of a tool,
// input.args has the arguments of that tool. Elsewhere it has those of the tools to
// which the body restricts input.tool.name, else those of all tools: an argument that
// only some tools have is undefined in calls of the rest, and the rule does not apply
// to them. A package that several applications share may name tools that are not
// declared here, and use their arguments behind that name; it may ask by object.get
// for arguments that no tool here has. ambit check warns of such a name; a name that
// is one typing mistake away from a declared one is an error. Names
// below data are resolved through locals and rules too, and through a part that
// varies, as in data.ambit.declared.tools[input.tool.name].effect: at least one of
// the places must have them. Values of input.behavior and input.modes are not
// checked: an application may set values that no tool names.
//
// Load checks names and values against the declaration everywhere: in
// constants, in sets, lists and tables, in the heads of functions, in what calls
// pass, and in data.json. A table in data.json may have keys for other
// applications. Constants with which a built-in function fails are refused: a time
// zone, a CIDR, a pattern, a duration, a number or a time that is none. So are the
// members of entries that are constants of another form, and data files in which an
// object has a key twice.
//
// So is what can only end in an error where the values are constants: a rewrite that
// the input schema rules out, or that contradicts another one which applies whenever
// it does; a pointer of redact_output to what the output schema rules out; two rules
// of one name, or two functions, that have different values and hold together; a
// rule without input that fails.
//
// # What check warns of
//
// A deny or an ask whose body looks at an optional member does not apply to calls
// without it, and nothing says so. not f(input.args.host) and not input.args.host in
// list are of that kind, since OPA takes input.args.host out of the negation. ambit
// check names the member, wherever the rule or what it uses looks at it, unless one
// of them says what is then: by object.get with a default, a default or an else, by
// not input.args.host, or by another rule of the same name with that. Members with
// a default in the declaration are always there.
//
// # Entries
//
// An entry is undefined, and a denial lost with it, when a part of it is undefined. So
// it may be made of constants, of what the schema requires or gives a default, of
// what the rest of the body requires, of object.get with a default, of
// comprehensions, of rules and functions that have a default or no condition, and
// of built-in functions of all that. The same holds for a local that the body makes
// only for the entry:
//
//	deny contains {"code": "noted", "message": m} if {
//		input.args.path == "x"
//		m := sprintf("about %s", [object.get(input.args, "note", "nothing")])
//	}
//
// # Tests
//
// Rules named test_* in files named *_test.rego are tests. Test runs them with
// coverage (ambit policy test), Reload before it accepts new policies. They see
// entries as they are written, without at. A rule there that neither is a test nor
// is used by one is refused, so is a path that leads nowhere in a package or below
// data.ambit, unless a test replaces what it is below; a contract rule is refused
// by Load too.
//
// # How fast it is
//
// A decision takes the evaluation of the rules that apply and about two
// microseconds more: the input is built of terms, without JSON, and the facts of
// a run are kept between calls. The time does not grow with the number of tools or of
// earlier calls. It grows with the rules that apply, since the index of rules is
// off: with it OPA would skip what is an error. A policy that uses input.run,
// input.run.counts or input.run.succeeded as a whole, as some t, n in
// input.run.counts does and input.run.counts[t] does not, makes every decision
// after a change rebuild them, which takes time that grows with the number of tools.
package opa
