// Package mutants breaks this module, one line at a time, to see that a test notices. testdata has a patch for each
// guarantee of a state machine or of durability that is worth it: those that one test alone holds, and a few of each of
// the machines, transactions, the commit log, recovery, the fence, the audit log, the store and the checks of package wire.
//
// A patch names the declaration and the text that it changes, and no file and no line: it survives a move, and one
// that does not fit the code any more fails a plain run. Where the code of a patch is gone, the patch goes too. With
//
//	AMBIT_BATTERY=nightly go test ./internal/mutants -timeout 6h
//
// each mutant is built, by an overlay, so that nothing is written to the checkout, and its tests are run; with
// AMBIT_BATTERY=ci a tenth of them, another one each day. A mutant that survives, or does not compile, fails the
// run. The remedy is a test, never a lesser patch.
package mutants
