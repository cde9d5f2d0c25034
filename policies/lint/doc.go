// Package lint checks Rego policies without running them: in the CI of a policy team,
// or before a program loads them. It finds what type checking finds, and what would
// let a call pass by mistake: a misspelled rule, a path that leads nowhere, a
// denial that vanishes when an argument is absent.
//
//	report, err := lint.Check(os.DirFS("policy")) // your .rego files, with ambit_gen in the same directory
//	if err != nil {
//		log.Fatal(err) // the directory cannot be read
//	}
//	for _, d := range report.Errors {
//		fmt.Printf("%s:%d:%d: %s; %s\n", d.File, d.Line, d.Col, d.Message, d.Hint)
//	}
//
// Several directories that decide together are checked together:
//
//	report, err := lint.Check(policies.Join(
//		policies.Dir{FS: os.DirFS("shop/policy")},
//		policies.Dir{Name: "org", FS: os.DirFS("/etc/acme/policies")},
//	))
//
// Package runtime/opa refuses at Load and Reload what is an error here, with the same
// text, so policies that pass load. It calls Source with what it has read; a program
// outside of this module calls Check. `ambit check` prints the same and also
// runs the tests of the policies, which Check compiles and does not run.
//
// Check needs no Go code of the application and no running engine: the generated folder
// ambit_gen holds the declarations and the schemas. The package links OPA and none of
// the packages that execute calls.
//
// # Errors
//
// A typo must not allow a call, so these are errors, with file and line:
//
//   - what OPA's strict compiler and its type checker find, with the schema of each
//     tool's input; a schemas annotation of an author
//   - a function that policies may not call: no network, no clock, no randomness,
//     nothing exponential in the bytes of its operands
//   - a range of numbers whose bounds are not constant or too far apart; a with of a
//     bounded function
//   - a rule that nothing reaches from the decision
//   - a contract rule of another form, where nothing reads it, or in a file of tests
//   - an entry that may vanish; a member of another form
//   - a package of an unknown tool, or of the library
//   - an undeclared code, or one that is declared twice
//   - an id that is that of another package's ask
//   - asks to which nobody can agree: constant approvers and quorums, of asks that apply
//     to the same calls and of the declaration
//   - a path below data that does not exist; data below data.ambit
//   - a member of the input that the schema rules out; a fact of an unknown tool
//   - a value that an enum does not have, or the tag of a oneOf
//   - a comparison of values of different kinds, which is always the same; with a value that a rule or a function
//     never answers, such as time.weekday, type_name or lower; a pattern that none of these matches
//   - a condition that is always there and never false, such as a set, a count or a text, and the not of one
//   - x != list[_] of a list of policies or data: of two elements one always differs
//   - in of what has no elements; null in data where another kind is wanted
//   - a format with more or fewer verbs than values
//   - an alias or an earlier name of a tool, which policies do not know
//   - a constant of modify that does not fit the argument, or a pointer to an argument
//     that does not exist; args of redact_output of another form
//   - a generated file that is missing, and one that was not generated
//   - a file that nothing reads, such as freeze.reg
//   - a rule in a file of tests that no test uses, and a path of a test that leads
//     nowhere and that no test replaces; a condition of a test that is never false; an
//     input that a test gives with a member that no call has
//
// Check follows every use of a member of the input: in helpers, through a
// local, by a constant as the index, and in functions that are called with the
// input or a part of it. Every call of such a function must pass the same part,
// or the function must take the members themselves. In the package of a tool,
// input.args has the arguments of that tool. Elsewhere it has those of the tools to
// which the body restricts input.tool.name, else those of all tools: an argument that
// only some tools have is undefined in calls of the rest, and the rule does not apply
// to them. A package that several applications share may name tools that are not
// declared here, and use their arguments behind that name; it may ask by object.get
// for arguments that no tool here has. Such a name is a warning; a name that
// is one typing mistake away from a declared one is an error. Names
// below data are resolved through locals and rules too, and through a part that
// varies, as in data.ambit.declared.tools[input.tool.name].effect: at least one of
// the places must have them. Values of input.behavior and input.modes are not
// checked: an application may set values that no tool names.
//
// Check compares names and values against the declaration everywhere: in
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
// # Warnings
//
// A Report without errors has warnings, each with a Code:
//
//	unmatchable_ask    an ask of a tool's package wants a wider cover, or other approvers, than tools.yaml declares
//	foreign_name       a name that is not declared here and may be that of another application
//	optional_member    a denial or an ask does not apply to calls without an optional member
//	never_false        a condition holds whenever its value is there, whatever it is
//	not_equal_in_loop  x != y of some element, which holds for nearly everybody
//	glob_delimiters    a wildcard of glob.match ends at dots, since [] stands for ["."]
//	unanchored_pattern a pattern of hosts matches inside of other hosts
//	constant_condition a condition is the same in every call
//	top_level_iteration a rule has a value for each element, which is an error when two differ
//
// Inspect of package opa also warns of a test in which OPA's plan of the policies gives
// up (plan_gives_up), so that OPA's evaluator decides.
//
// A deny or an ask whose body looks at an optional member does not apply to calls
// without it, and nothing says so. not f(input.args.host) and not input.args.host in
// list are of that kind, since OPA takes input.args.host out of the negation. The
// warning names the member, wherever the rule or what it uses looks at it, unless one
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
package lint
