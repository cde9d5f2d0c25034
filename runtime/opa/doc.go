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
//	ask           id, message, approvers?, quorum?, timeout? ("10m"), max_cover? (exact, when absent, args, tool),
//	              bound? (an object)
//	modify        code, pointer, value              the pointer is a JSON Pointer into the arguments
//	obligations   code, args                        the code is redact_output or notify
//
// Besides functions of OPA there are ambit.url.scheme, host, port, path and
// is_valid: the parts of a URL as net/url reads it. A URL with user info, or that
// clients read in different ways, has none, which is an error of the decision. There are
// ambit.path.below, clean, base, ext and is_valid too, which read a path by its letters. Load
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
// Every member but undo is always there; counts, succeeded, capabilities and modes have
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
//	input.undo       by {id, groups, method}: who undoes the call; absent when it is not about an undo
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
// A typo must not allow a call, so Load, Reload, Test and Inspect refuse what package
// policies/lint finds, which lists the checks. Load also refuses declarations that
// are not those of the program: a generated file that is older or newer than it, or
// that was edited.
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
// A decision is made by OPA's plan of the policies, turned into Go closures when they
// are loaded, and takes a fifth of the time of OPA's evaluator or less. Where the plan
// has no answer, at an error of any kind, OPA's evaluator decides with the same input:
// no decision depends on which of the two made it. WithEvaluator(Reference) sets OPA's
// evaluator alone, WithCheck how often both decide; Stats counts, and OnDifference
// tells of decisions that differ.
//
// The input is built of terms, without JSON, and only the parts of it that a policy
// reads; the facts of a run are kept between calls. The time does not grow with the
// number of tools or of earlier calls. It grows with the rules that apply, since there
// is no index of rules: with it OPA would skip what is an error. Rules about one tool
// belong into the package of the tool, which the decisions of other tools do not
// evaluate. A policy that uses input.run, input.run.counts or input.run.succeeded as a
// whole, as some t, n in input.run.counts does and input.run.counts[t] does not, makes
// every decision after a change rebuild them, which takes time that grows with the
// number of tools.
package opa
