// Package policies is the Rego library that every policy directory is compiled
// with: the rules that a call must pass in addition to those of the directory.
//
//	fs.WalkDir(policies.FS, ".", func(name string, _ fs.DirEntry, err error) error {
//		fmt.Println(name)
//		return err
//	})
//
//	package         what it holds
//	ambit           decision: the union of everything below, and of the packages of tools and organizations;
//	                allow for tools of effect read
//	ambit.gating    deny behavior_not_allowed, capability_missing and mode_off, by what tools.yaml declares
//	ambit.consent   ask declared, for a tool that declares consent: {ask: always}
//	ambit.command   starts_with, about the arguments of a tool that runs a program
//
// An organization does not change these files. It writes packages
// ambit.policies.<name>, as many as it has concerns, each with its own tests:
//
//	# METADATA
//	# title: Office hours
//	# description: Owned by the operations team.
//	package ambit.policies.hours
//
//	deny contains {"code": "after_hours", "message": "destructive tools rest at night"} if {
//		input.tool.effect == "destructive"
//		time.clock(input.now_ns)[0] >= 22
//	}
//
// Those packages apply to every tool; package ambit.tools.<tool> applies to one.
// Nothing that either says can hide a denial of the library or of another
// package: rules only add, and a denial wins over everything but an error.
//
// Package runtime/opa describes the form of the rules and the input that they read,
// package policies/lint what is refused when they are checked or loaded. Both take a
// policy directory as an fs.FS, or several as the result of Join, and say what is
// wrong with it by Diagnostics. `ambit policy test` runs the tests.
package policies
