// Package argv makes the arguments of a command from a template and the members of a call's
// input. No shell sees them. A template that it has checked gives an option its place in the
// template only: no value becomes one.
package argv
