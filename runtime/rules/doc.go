// Package rules decides whether a call may run now.
package rules
