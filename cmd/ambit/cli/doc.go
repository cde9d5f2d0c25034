// Package cli is the command line of ambit. It stands apart from the program so
// that scripts can run it inside a test binary. This package is the root command; the
// verbs are in a package for each group of users:
//
//	internal/author   init, generate, check, schema, docs, policy, import
//	internal/whatif   explain, simulate, replay
//	internal/operate  calls, approvals, grants, undo, cancel, resolve, artifacts
//	internal/audit    audit
//	internal/backup   backup, restore
//	internal/doctor   doctor
//
// A group imports no other one. What groups share is in internal/cmdutil,
// internal/project and internal/store.
//
// # Finding the declaration
//
// A verb that works on a declaration takes the path of the file or of its
// folder. Without one it takes ./tools.yaml, and failing that the only
// tools.yaml one folder below. Flags may be written with one dash or two.
//
// # Output
//
// Data goes to standard output. Everything else goes to standard error, in
// lines that begin with "error:", "hint:" or "note:". Every error that a run
// finds is reported, not the first. Verbs that have data to show take --json.
//
// # Exit codes
//
//	0  done; explain also ends so when the answer is a denial
//	1  something is wrong with a declaration, a policy or an input, or the work could not be done
//	2  the command line is wrong
//	3  the check ran and its answer is no: drift, a failing policy test or scenario, a replay that diverges
//	4  an audit found nothing wrong, and something is not proved
//	5  a command for an executor waits in its inbox
//
// # Stores
//
// Verbs that take --store read the store of an application, also while it runs, and
// never write it. What they want done they put into its inbox, for the executor.
// No verb shows the value of a member that is marked x-sensitive.
//
// # Files
//
// "ambit generate" writes into the folder of the declaration tools.yaml:
//
//	tools_ambit.go            constants, handler interface, tool table
//	tools_codec_ambit.go      types, decoders, encoders
//	schemas/                  the JSON Schemas that a model is shown
//	policy/ambit_gen/         what policies are checked against
//	tools_ambit.files         the list of these files
//
// All of them are meant to be committed. New content is complete on disk before
// the first file is replaced, each file is replaced in one step, and one whose
// content does not change is left alone. A file that is on the list and no
// longer wanted is removed. A file that ambit did not write is never replaced
// or removed: a Go file proves its origin by its first line, any other by the list.
package cli
