// Package sock makes the sockets of package isolate. It does not link package net, with which a program
// that is built with cgo links libc and starts more slowly.
package sock
