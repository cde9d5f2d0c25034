// Package cmdutil holds what every verb of the command line shares: errors with a
// remedy and an exit code, checks of arguments, and the forms of output.
package cmdutil
