// Package httpguard is what every request to a host passes before a handler sees it: the list of
// host names, the check of the origin, deadlines, authentication. It also writes what a refused request
// is told.
package httpguard
