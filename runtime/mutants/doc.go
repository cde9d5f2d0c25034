// Package mutants holds the engine to the sentences of its specification: for
// each of them testdata has a patch of one line that makes the engine break it,
// and some test must notice.
//
// A patch begins with two lines of its own: the sentence that it breaks, and
// the packages whose tests must fail.
//
//	# 4 max_calls: n invocations, n+1 refused
//	# tests: ./runtime/rules
//	--- a/runtime/rules/check.go
//	+++ b/runtime/rules/check.go
//	@@ -157,3 +157,3 @@
//	...
//
// Its name is the key of the sentence in the list of sentences_test.go,
// followed, where a sentence can be broken in several ways, by a dash and the
// way: s4_max_calls_limit.patch, s4_cooldown_status-timeout.patch.
//
// The tests hold at all times that every patch applies to the present code and
// leaves it with types that fit, and that every sentence has a patch or a reason
// why it cannot be broken yet. With
//
//	go test ./runtime/mutants -mutants -timeout 20m
//
// each mutant is built, by an overlay, so that nothing is written to the
// checkout, and its tests are run. A mutant that survives, or does not compile,
// fails the check. The remedy is a test of the sentence, never a lesser patch.
package mutants
