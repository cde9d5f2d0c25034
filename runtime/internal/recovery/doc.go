// Package recovery decides what becomes of the calls and undos that had no result when the former owner of a
// journal stopped (docs/semantics.md section 6.7). It rolls back what can be rolled back and finishes decided
// commits; which calls continue [FateOf] says. It knows no executor: what it decides
// follows from the journal, the participants and a few facts.
package recovery
