// Ambit turns a declaration of tools into Go code, checks the Rego policies
// that bound them, and explains what would happen to a call.
//
//	ambit init DIR            write a small application to start from
//	ambit generate [FILE]     write the Go code, schemas and policy data of a declaration
//	ambit check [FILE]        check a declaration and the policies in its folder
//	ambit schema              print the JSON Schema of declarations, for editors
//	ambit policy test [DIR]   run the tests of policies
//	ambit explain [FILE]      say what would happen to one call, and why
//
// Package [github.com/ambit-tools/ambit/cmd/ambit/cli] describes them and the
// exit codes; so does "ambit help".
package main
