// Package mutants holds the engine to the rules of its specification,
// docs/semantics.md: for each of them testdata has a patch of one line that makes
// the engine break it, and a test that the page names for the rule must notice.
//
// A patch begins with the rule that it breaks, by number and sentence, the packages
// that hold those tests, and the declaration that it changes.
//
//	# 4.2.1: With max_calls: n there are n invocations, and call n+1 is refused
//	# tests: ./runtime/rules
//	@@ (*State).checkCounts
//	-	if n := ...; p.tool.maxCalls > 0 && n >= p.tool.maxCalls {
//	+	if n := ...; p.tool.maxCalls > 0 && n > p.tool.maxCalls {
//
// Its name is the key that the page has for the rule, followed, where a rule can be
// broken in several ways, by a dash and the way: s4_max_calls_limit.patch,
// s4_cooldown_status-timeout.patch.
//
// The tests hold at all times that every patch applies to the present code and
// leaves it with types that fit, that every rule of the page names its tests and has
// a patch or says why it has none, and that code cites no rule that is not there. With
//
//	AMBIT_BATTERY=nightly go test ./runtime/mutants -timeout 60m
//
// each mutant is built, by an overlay, so that nothing is written to the
// checkout, and the tests of its rule are run; with AMBIT_BATTERY=ci a tenth of them, another
// one each day. A mutant that survives, or does not compile,
// fails the check. The remedy is a test of the rule, never a lesser patch.
package mutants
