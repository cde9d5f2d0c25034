// Package sqlite keeps a journal in a file, by SQLite: the store of a program
// that runs in one process.
package sqlite
