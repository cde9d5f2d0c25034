// Package clerk is an application with a store that the scripts look into from
// other processes: a few tools, and a program that calls them and then stays until
// it is told to end.
//
//	clerk -store FILE [-key FILE [-anchor FILE]] [-policy FILE] [-only TOOLS] [-commands] [-end] [-host [-deny ACT]] [-serve] < calls.jsonl
//	clerk -await FILE
//	clerk -store FILE -tamper POSITION
//
// Each line of standard input is one call, {"call": ID, "tool": NAME, "input": JSON};
// with "trigger": true the program does not wait for its outcome. Each other call ends
// in one line on standard output. With -serve the program imports commands until it is
// interrupted; with -host a host does that, which archives too. With -await it waits until another process does. With -tamper it acts as
// an attacker that can write the store, and changes what an entry says.
package clerk

//go:generate go run github.com/ambit-tools/ambit/cmd/ambit generate
