// Package action has what operators ask of an executor, and what they are told: answers to requests for
// consent, undos, decisions about unknown calls, the codes of errors, and faults. It needs no executor, so
// that pages, commands and clients that only pass these on do not link one.
package action
